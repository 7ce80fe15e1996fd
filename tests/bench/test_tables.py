"""Tables, verdicts, pictures and the page, from measures that were made up."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely.bench import summaries, verdicts
from likely.bench.figures import critical_differences
from likely.bench.fit import MEASURES, Fit
from likely.bench.journal import Journal
from likely.bench.page import page_of, write_page, write_tables
from likely.bench.paper import Figure, figure, plain_name
from likely.bench.results import Results
from likely.bench.statistics import compare
from likely.bench.tables import Table
from likely.show import canvas

FACTUALS = 12


def line(method: str, place: int, **more: Any) -> dict[str, Any]:
    """The measures of one answer."""
    plain = {
        "dataset": "adult", "fold": 0, "method": method, "place": place, "choice": "likeliest", "status": "answered",
        "seconds": 0.5, "proved": False, "answers": 1, "valid": True, "actionable": True, "possible": True, "by_margin": True,
        "nll": 20.0 + place, "distance": 10.0 + place, "changed": 3, "lof": 1.0 + place / 100, "isolation": 0.5, "flow": 1.0,
        "nearest": 4.0, "noise": 0.9, "retraining": 0.8, "rounded": True, "diversity": np.nan, "claimed": None,
        "approximation_error": None, "error": None, "row": [0.0],
    }  # fmt: skip
    return {**plain, **more}


@pytest.fixture
def measures() -> pd.DataFrame:
    ours = [
        line("lice-median", p, nll=12.0, distance=5.0 + p / 10, proved=True, claimed=-12.0, approximation_error=0.0)
        for p in range(FACTUALS - 1)
    ]
    ours.append(line("lice-median", FACTUALS - 1, status="none", valid=False, actionable=False, possible=False, proved=True))
    near = [line("nearest-row", p, nearest=0.0, actionable=p > 2, possible=p > 2) for p in range(FACTUALS)]
    poor = [line("vae", p, valid=p < 4, nll=30.0) for p in range(FACTUALS - 1)]
    poor.append(line("vae", FACTUALS - 1, status="overtime", valid=False, actionable=False, error="no answer after 6 s"))
    return pd.DataFrame([*ours, *near, *poor])


def cells(table: Table, method: str) -> dict[str, str]:
    rows = {row[0]: row for row in table.rows}
    return dict(zip(table.head, rows[method], strict=True))


def by_name(tables: list[Table]) -> dict[str, Table]:
    return {table.name: table for table in tables}


def test_success_is_counted(measures: pd.DataFrame) -> None:
    table = by_name(summaries.tables_of(measures))["adult-success"]
    lice, near, vae = (cells(table, name) for name in ("lice-median", "nearest-row", "vae"))
    assert lice["valid"] == "91.7 %"
    assert lice["proved that there is none"] == "8.3 %"
    assert near["valid"] == "100.0 %"
    assert near["valid and actionable"] == "75.0 %"
    assert vae["overtime"] == "8.3 %"
    # The paper's numbers stand beside: its tables of validity and time.
    row = next(row for row in table.rows if row[0] == "lice-median")
    assert "90.6 %" in row
    assert "17.7" in row


def test_quality_is_of_valid_answers(measures: pd.DataFrame) -> None:
    tables = by_name(summaries.tables_of(measures))
    row = next(row for row in tables["adult-quality"].rows if row[0] == "vae")
    assert row[1:3] == ("4", "30.0 ± 0.000")
    assert row[3] == "18.4 ± 3.61"  # the paper's
    lice = next(row for row in tables["adult-variants"].rows if row[0] == "lice-median")
    assert lice[2] == "12.0 ± 0.000"
    assert lice[4] == summaries.mean(pd.Series([5.0 + p / 10 for p in range(FACTUALS - 1)]))
    assert [row[0] for row in tables["adult-variants"].rows] == ["lice-median"]


def test_common_factuals(measures: pd.DataFrame) -> None:
    table = by_name(summaries.tables_of(measures))["adult-common"]
    assert {row[0]: row[1] for row in table.rows} == {"lice-median": "4", "nearest-row": "4", "vae": "4"}
    never = measures.assign(valid=measures["valid"] & (measures["method"] != "vae"))
    table = by_name(summaries.tables_of(never))["adult-common"]
    assert {row[0]: row[1] for row in table.rows} == {"lice-median": str(FACTUALS - 1), "nearest-row": str(FACTUALS - 1)}
    assert "Without vae" in table.caption


def test_errors_of_approximation(measures: pd.DataFrame) -> None:
    table = by_name(summaries.tables_of(measures))["adult-approximation"]
    assert [row[0] for row in table.rows] == ["lice-median"]
    assert cells(table, "lice-median")["error"] == "0.000 ± 0.000"


def test_truth_and_ranks() -> None:
    drawn = [
        line(name, p, dataset="asia", probability=0.1 * (rank + 1) + p / 1000)
        for p in range(FACTUALS)
        for rank, name in enumerate(("vae", "lice-median"))
    ]
    measures = pd.DataFrame(drawn)
    tables = by_name(summaries.tables_of(measures))
    assert "adult-variants" not in tables
    row = next(row for row in tables["asia-truth"].rows if row[0] == "lice-median")
    assert row[2] == "-1.33 ± 0.150"
    assert summaries.rank_table(measures).head == ("method", "asia")
    ranks = summaries.paper_rank_table(measures)
    assert ranks.head == ("method", "asia", "asia, paper")
    assert ranks.rows[:3] == (("vae", "2.00", "4.87"), ("lice-median", "1.00", "2.35"), ("factuals", "12", summaries.NOTHING))
    assert ranks.rows[3][1] == "< 0.001"
    assert summaries.ranking_of(measures) == compare(pd.DataFrame({"vae": [2.0] * FACTUALS, "lice-median": [1.0] * FACTUALS}))


def test_numbers_of_the_paper() -> None:
    assert figure("quality", "adult", "LiCE (median)", "nll") == Figure(12.8637, 1.02033)
    assert figure("quality", "adult", "lice-median", "nll") == figure("quality", "adult", "LiCE (median)", "nll")
    assert figure("fit", "andes", "LearnSPN", "pearson") == Figure(0.792762)
    assert figure("quality", "adult", "nice", "nll") is None
    assert figure("quality", "adult", "dice-gradient", "nll") == figure("quality", "adult", "DiCE", "nll") is not None
    assert plain_name("FACE (epsilon)") == plain_name("face-epsilon") == "faceepsilon"


def test_where_a_rival_is_better(measures: pd.DataFrame) -> None:
    found = verdicts.wins(pd.concat([measures, measures.assign(choice="first")]))
    assert [(win.rival, win.criterion.measure) for win in found] == [("nearest-row", "nearest")]
    assert (found[0].theirs, found[0].ours, found[0].factuals, found[0].usable) == (0.0, 4.0, FACTUALS - 1, 0.75)
    summary = verdicts.win_summary(found, 3)
    assert summary.rows[0][:3] == ("distance to the nearest training row", "1 of 3", "nearest-row 1")
    assert summary.rows[0][3:5] == ("2.73 times", "75 %")
    assert found[0].farther == pytest.approx(15.0 / 5.5)
    table = verdicts.win_table(found)
    assert table.rows[0][:4] == ("adult", "distance to the nearest training row", "nearest-row", "0.000")


def test_what_is_promised(measures: pd.DataFrame) -> None:
    row = verdicts.claim_table(measures).rows[0]
    assert row == ("adult", "lice-median", "12", "11", "100.0 %", "11", "1", "0", "0.0e+00")
    assert verdicts.promise(measures) == verdicts.Promise(12, 11, 11, 11, 1, 0, 0.0)
    assert verdicts.promise_table(measures).rows == (("adult", "12", "11", "11", "11", "1", "0", "0"),)


def test_proofs_are_checked(measures: pd.DataFrame) -> None:
    held = measures.assign(choice="first")
    found = verdicts.checked(held)
    assert (found.compared, len(found.refuting)) == (0, 0)  # the others are less likely than the proved answers
    far = pd.concat([held, pd.DataFrame([line("nice", 3, nll=11.0, distance=6.0)])])
    assert (verdicts.checked(far).compared, len(verdicts.checked(far).refuting)) == (1, 0)
    closer = pd.concat([held, pd.DataFrame([line("nice", 3, nll=11.0, distance=5.0)])])
    assert verdicts.checked(closer).refuting["method_other"].tolist() == ["nice"]
    # Whoever breaks a rule, is less likely or misses the margin refutes nothing.
    for more in ({"possible": False}, {"nll": 12.5}, {"by_margin": False}):
        harmless = pd.concat([held, pd.DataFrame([line("nice", 3, **{"nll": 11.0, "distance": 5.0, **more})])])
        assert not len(verdicts.checked(harmless).refuting)
    # MIO demands no likelihood, and the paper's own programme for a solver proves nothing to us.
    unlikely = pd.concat([held.replace("lice-median", "mio"), pd.DataFrame([line("nice", 3, nll=50.0, distance=5.0)])])
    assert verdicts.checked(unlikely).refuting["method_other"].tolist() == ["nice"]
    assert not verdicts.checked(closer.replace("lice-median", "lice-median-milp")).compared


def test_who_fails_always_is_not_ranked(measures: pd.DataFrame) -> None:
    trees = [line("treecf", p, status="failed", valid=False, actionable=False, possible=False) for p in range(FACTUALS)]
    found = summaries.ranking_of(pd.concat([measures, pd.DataFrame(trees)]))
    assert found == summaries.ranking_of(measures)
    rows = dict(row for row in summaries.usable_table(pd.concat([measures, pd.DataFrame(trees)])).rows)
    assert rows == {"lice-median": "92", "nearest-row": "75", "vae": "33"}


def test_three_forms_of_a_table(tmp_path: Path) -> None:
    table = Table("t", "A title", ("method", "a_b"), (("x & y", "1.0 ± 0.5"), ("p|q", "10 %")), "Said.")
    assert table.to_markdown().splitlines() == ["| method | a_b |", "| --- | ---: |", "| x & y | 1.0 ± 0.5 |", "| p\\|q | 10 % |"]
    texts = Table("t", "", ("method", "why"), (("a", "3 reasons that are too long to be read as numbers"), ("b", "1")))
    assert texts.to_markdown().splitlines()[1] == "| --- | --- |"
    assert list(csv.reader(io.StringIO(table.to_csv()))) == [list(table.head), *map(list, table.rows)]
    latex = table.to_latex()
    for text in (r"x \& y & 1.0 $\pm$ 0.5 \\", r"10 \% \\", r"a\_b", r"\label{tab:t}", "A title. Said."):
        assert text in latex
    table.save(tmp_path / "tables")
    assert sorted(file.name for file in (tmp_path / "tables").iterdir()) == ["t.csv", "t.md", "t.tex"]


def results_of(measures: pd.DataFrame, folder: Path) -> Results:
    run = {
        "datasets": ["adult"],
        "methods": ["lice-median", "nearest-row"],
        "seed": 0,
        "factuals": 12,
        "k": 10,
        "seconds": 60.0,
        "most_rows": None,
        "refits": 20,
    }
    Journal(folder / "answers.jsonl").append({"run": run, "versions": {"numpy": "2"}, "machine": {"processor": "P", "cores": 2}})
    first = measures.assign(choice="first")
    lines = pd.concat([measures, first]).to_dict("records")
    Journal(folder / "measures.jsonl").append(*({**each, "of": ""} for each in lines))
    return Results.load(folder)


def test_the_page(measures: pd.DataFrame, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = results_of(measures, tmp_path)
    fit = Fit("asia", np.array([-3.0, -1.0]), np.array([-2.5, -1.0]), {**dict.fromkeys(MEASURES, 0.5), "exact": False})
    page = write_page(results, tmp_path / "docs" / "results.md", "likely bench paper", [fit])
    text = page.read_text(encoding="utf-8")
    assert "answered 11 of 12 questions; every one of them is valid and actionable" in text
    assert "For 1 of the others it is proved that there is no answer; none stayed open." in text
    assert "Of the answers, all are proved to be the best." in text
    assert "claims and the circuit's: 0, for every answer." in text
    assert "on some data set at distance to the nearest training row." in text
    assert "LiCE and MIO on data: of 3 numbers, 2 are no worse than the paper's mean, 1 within" in text
    assert "[The tables and pictures of every data set](results_all.md)" in text
    assert "| asia | 0.500 | 0.990 | 0.500 | 0.992 | 0.500 | 1.000 | ~0.500 | 0.073 |" in text
    details = page.with_name("results_all.md").read_text(encoding="utf-8")
    assert "- vae on adult, 1 times: no answer after 6 s" in details
    pictures = sorted(file.name for file in (tmp_path / "docs" / "pictures" / "results").iterdir())
    expected = ["adult-distance", "adult-ranks-all", "adult-ranks-common", "adult-trade-off", "fit"]
    assert pictures == sorted(f"{name}.svg" for name in expected)
    both = sorted(file.name for file in (tmp_path / "figures").iterdir())
    assert both == sorted(f"{name}.{ending}" for name in expected for ending in ("png", "svg"))
    for name in expected:
        assert (f"(pictures/results/{name}.svg)" in text) == (name == "fit")
        assert (f"(pictures/results/{name}.svg)" in details) == (name != "fit")
    for table in write_tables(results, tmp_path / "tables"):
        assert table.title in text + details


def test_a_picture_is_the_same_file_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = compare(pd.DataFrame({"a": [1.0, 2.0, 1.0], "b": [2.0, 1.0, 2.0], "lice": [3.0, 3.0, 3.0]}))
    for name in ("one", "two"):
        canvas.saved(critical_differences(found, "a $ sign"), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert b"critical difference" in (tmp_path / "one.svg").read_bytes()


def test_nobody_answers(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run = {"datasets": ["adult"], "methods": ["lice-median", "vae"], "seed": 0, "factuals": 2, "k": 1, "seconds": 1.0}
    head = {"run": {**run, "most_rows": 10, "refits": 0}, "versions": {}, "machine": {"processor": "P", "cores": 1}}
    Journal(tmp_path / "answers.jsonl").append(head)
    nothing = {
        "status": "failed",
        "valid": False,
        "actionable": False,
        "possible": False,
        "proved": False,
        "answers": 0,
        "of": "",
    }
    for method in run["methods"]:  # type: ignore[union-attr]
        for place in range(2):
            key = {"dataset": "adult", "fold": 0, "method": method, "place": place}
            lines = ({**key, **nothing, "choice": choice, "error": "it broke"} for choice in ("first", "likeliest"))
            Journal(tmp_path / "measures.jsonl").append(*lines)
    page = write_page(Results.load(tmp_path), tmp_path / "results.md", "likely bench paper")
    assert "Whether a rival is better cannot be told" in page.read_text(encoding="utf-8")
    details = page.with_name("results_all.md").read_text(encoding="utf-8")
    assert "- vae on adult, 2 times: it broke" in details
    assert "| vae | 2 | 0.0 % |" in details


def test_a_page_without_ours_and_one_with_a_refutation(measures: pd.DataFrame, tmp_path: Path) -> None:
    for name in ("rivals", "wrong"):
        (tmp_path / name).mkdir()
    rivals = results_of(measures[measures["method"] == "vae"], tmp_path / "rivals")
    assert "Neither LiCE nor MIO was part of this run" in page_of(rivals, write_tables(rivals, tmp_path / "tables"), [], "", "")
    wrong = pd.concat([measures, pd.DataFrame([line("nice", 3, nll=11.0, distance=5.0)])])
    results = results_of(wrong, tmp_path / "wrong")
    assert "a proof does not hold" in page_of(results, write_tables(results, tmp_path / "tables"), [], "", "")
