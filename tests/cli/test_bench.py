"""`bench`: what it prints is what the answers are."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.cli import main
from likely.cli.bench import VARIANTS
from likely.cli.codes import Code
from likely.explain.engines import ENGINES
from likely.problem import Engine, StatelessSession
from tests.cli import boasting
from tests.cli.test_commands import one_sentence, said_json
from tests.explain import examples


def spread_rows(count: int, of: int) -> list[int]:
    return np.unique(np.linspace(0, of - 1, count).round().astype(int)).tolist()


def test_numbers_are_those_of_explain(asked: list[str], files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *asked, "--rows", "7", "--plausibility", "0.3", "--plausibility", "optimize", "--json"]) == 0
    said = said_json(capsys)
    assert (said["rows"], said["seconds"], said["interrupted"]) == (7, 10.0, False)
    assert said["data"].startswith("loans.csv: 7 of 300 rows, ")
    explainer = likely.Explainer.load(files / "explainer", examples.model_of())
    X = examples.table_of()[0]
    for line, variant in zip(said["measurements"], (likely.Quantile(0.3), likely.Weight(0.1)), strict=True):
        answers = explainer.explain_many(X.iloc[spread_rows(7, len(X))], plausibility=variant)
        assert (line["rows"], line["answered"], line["certified"]) == (7, 7, 7)
        assert line["cost"] == pytest.approx(np.mean([answer.best.cost for answer in answers]))
        assert line["changes"] == np.mean([answer.best.number_of_changes for answer in answers])
        assert line["percentile"] == pytest.approx(np.mean([answer.best.percentile for answer in answers]))
        assert (line["refuted"], line["times_as_long"]) == (0, None)
        assert line["nearest_over_ours"] >= 1
    assert [line["plausibility"] for line in said["measurements"]] == ["0.3", "optimize"]


def test_table_for_people(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *asked, "--rows", "3", "--seconds", "5"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0].endswith("at most 5 s per row")
    head = ("plausibility", "engine", "rows", "answered", "certified", "median", "slowest", "cost", "changes")
    assert re.split("  +", lines[2]) == [*head, "likelier than", "nearest row"]
    assert [line.split()[:5] for line in lines[4:9]] == [[word, "search", "3", "100%", "100%"] for word in VARIANTS]
    assert "nearest row: what the cheapest training row that answers the same question costs" in said.out


def test_other_rows_than_the_training_data(
    asked: list[str], files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The nearest rows stay those of the training data, while the file is there."""
    rows = examples.rejected(5).copy()
    rows.loc[rows.index[1], "income"] = np.nan  # is left out
    rows.to_csv(tmp_path / "new.csv", index=False)
    words = ["--data", str(tmp_path / "new.csv"), "--plausibility", "none", "--json"]
    assert main(["bench", *asked, *words]) == 0
    said = said_json(capsys)
    assert said["data"].startswith("new.csv: 4 of 5 rows")
    assert said["measurements"][0]["nearest"] == 4
    shutil.copytree(files / "explainer", tmp_path / "moved")
    (tmp_path / "moved" / "source.json").unlink()
    assert main(["bench", str(tmp_path / "moved"), *asked[1:], *words]) == 0
    assert said_json(capsys)["measurements"][0]["nearest"] == 0  # no refused row answers for another
    one_sentence(["bench", str(tmp_path / "moved"), *asked[1:]], "The rows to explain must be in a file; got none", capsys)


def test_embedded_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--rows", "2", "--plausibility", "median"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("German Credit: 2 of 200 rows, ")
    assert said.err == ""


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine(engine: str, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if engine == "mio":
        pytest.importorskip("highspy")
    code = main(["bench", *asked, "--rows", "2", "--engine", engine, "--plausibility", "none", "--json"])
    (line,) = said_json(capsys)["measurements"]
    assert (code, line["engine"], line["answered"], line["refuted"]) == (0, engine, 2, 0)


def test_a_proof_that_does_not_hold_is_seen(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(
        ENGINES,
        "boasting",
        Engine("boasting", lambda solver, threads: partial(StatelessSession, solve_problem=boasting.solve), threads=True),
    )
    words = ["bench", *asked, "--rows", "4", "--plausibility", "none", "--engine", "search", "--engine", "boasting"]
    assert main(words) == Code.FAILED
    said = capsys.readouterr().out
    assert "4 answers are worse than another that is known: a proof does not hold." in said
    assert "time / search" in said
    assert main([*words, "--engine", "search", "--json"]) == Code.FAILED
    measurements = said_json(capsys)["measurements"]
    assert [line["engine"] for line in measurements] == ["search", "boasting"]
    assert [line["refuted"] for line in measurements] == [0, 4]
    assert measurements[0]["times_as_long"] is None
    assert measurements[1]["times_as_long"] == pytest.approx(
        measurements[1]["median_seconds"] / measurements[0]["median_seconds"]
    )


@pytest.mark.parametrize("finished", [0, 5])
def test_ctrl_c_prints_what_there_is(
    finished: int, asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    explain, calls = likely.Explainer.explain, []

    def interrupted(self: likely.Explainer, *row: Any, **options: Any) -> likely.Explanation:
        calls.append(1)
        if len(calls) > finished:
            raise KeyboardInterrupt
        return explain(self, *row, **options)

    monkeypatch.setattr(likely.Explainer, "explain", interrupted)
    words = ["bench", *asked, "--rows", "3", "--json"]
    assert main(words) == Code.INTERRUPTED
    said = capsys.readouterr()
    assert said.err == "likely: interrupted; these are the rows that were finished\n"
    assert [line["rows"] for line in json.loads(said.out)["measurements"]] == ([3, 2] if finished else [])
    calls.clear()
    assert main(words[:-1]) == Code.INTERRUPTED
    said = capsys.readouterr()
    assert ("none " in said.out) == bool(said.out) == bool(finished)


def test_requests_that_make_no_sense(asked: list[str], files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in [
        (["--model", "m.joblib"], "--model, --data and --encoder must come with an explainer; got none. Hint: name its folder"),
        ([*asked, "--rows", "0"], "--rows must be at least 1; got 0. Hint: leave it out for 50"),
        ([*asked, "--seconds", "0"], "Limits must be positive; got"),
        ([*asked, "--engine", "guess"], "--engine must be an engine; got 'guess'. Hint: there are search"),
        ([*asked, "--plausibility", "very"], "--plausibility must be median, quartile, factual, none, or a share between"),
        ([asked[0]], f"The model of {asked[0]} must be named, because a pickle may run any code; got no --model"),
        (["nowhere"], "A saved explainer must be a folder that Explainer.save wrote; got"),
    ]:
        one_sentence(["bench", *words], message, capsys)
    empty = examples.rejected(3).assign(income=np.nan)
    empty.to_csv(tmp_path / "empty.csv", index=False)
    one_sentence(
        ["bench", *asked, "--data", str(tmp_path / "empty.csv")], "The rows to explain must be complete; got none that is", capsys
    )
