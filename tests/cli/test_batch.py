"""`batch` and `audit`: many rows, resumed where they ended, counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely
from likely.cli import main
from likely.cli.codes import Code
from likely.cli.store import read_entries
from tests.cli.test_commands import one_sentence, said_json
from tests.explain import examples


@pytest.fixture(scope="module")
def answers(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The answers of the first refused rows."""
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    words = ["batch", str(files / "explainer"), str(files / "loans.csv"), "--model", str(files / "model.joblib")]
    assert main([*words, "--decided", "no", "--rows", ":60", "--jobs", "1", "-o", str(path)]) == 0
    return path


def test_batch_is_explain_many(answers: Path, files: Path) -> None:
    entries = read_entries(str(answers))
    X = examples.table_of()[0].head(60)
    rows = X[examples.model_of().predict(X) == "no"]
    assert [entry.row for entry in entries] == list(rows.index)
    explainer = likely.Explainer.load(files / "explainer", examples.model_of())
    assert [entry.explanation for entry in entries] == explainer.explain_many(rows)


def test_it_goes_on_where_it_was_interrupted(
    answers: Path, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.jsonl"
    words = ["batch", *asked, "--decided", "no", "--rows", ":60", "-o", str(path), "--json", "--jobs", "1", "--chunk", "20"]
    explain_many, calls = likely.Explainer.explain_many, []

    def interrupted(self: likely.Explainer, X: pd.DataFrame, *more: Any, **options: Any) -> list[likely.Explanation]:
        calls.append(list(X.index))
        if len(calls) == 3:  # the first is asked about no row, for what is wrong with all of them
            raise KeyboardInterrupt
        return explain_many(self, X, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(likely.Explainer, "explain_many", interrupted)
        assert main(words) == Code.INTERRUPTED
    assert said_json(capsys)["interrupted"] is True
    with path.open("a") as file:
        file.write('{"row": 5')  # killed while it wrote
    assert main(words) == 0
    said = said_json(capsys)
    assert said["interrupted"] is False
    assert said["new"] == said["rows"] - len(calls[1])
    first, second = ([(e.row, e.explanation) for e in read_entries(str(file))] for file in (path, answers))
    assert first == second
    assert main(words) == 0
    assert said_json(capsys)["new"] == 0


def test_another_question_is_refused(answers: Path, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["batch", *asked, "--decided", "no", "-k", "2", "-o", str(answers)]
    one_sentence(
        words, "A batch that goes on must have the question, the rows and the explainer of the file, and its journal; got", capsys
    )


def test_tables_pages_and_rows_that_cannot_be_explained(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X = examples.rejected(4).copy()
    X["income"] = X["income"].where(np.arange(4) != 2)
    X.to_csv(tmp_path / "t.csv", index=False)
    out = {name: str(tmp_path / name) for name in ("a.jsonl", "a.csv", "a.html")}
    words = ["batch", asked[0], str(tmp_path / "t.csv"), *asked[1:], "-k", "2", "-o", out["a.jsonl"]]
    assert main([*words, "--csv", out["a.csv"], "--report", out["a.html"]]) == 0
    said = capsys.readouterr().out
    assert "3 rows explained, 1 refused: row 2: A row to explain without a target must have a value of feature 'income'" in said
    table = pd.read_csv(out["a.csv"])
    assert list(table["row"]) == [0, 0, 1, 1, 2, 3, 3]
    assert list(table["status"]) == ["optimal"] * 4 + ["refused"] + ["optimal"] * 2
    answered = table[table["status"] == "optimal"]
    assert set(answered["from"]) == {"no"}
    rows = answered[[f"new {name}" for name in X.columns]].set_axis(X.columns, axis=1)
    rows = rows.astype({"telephone": bool, "age": int, "months": int})
    assert set(examples.model_of().predict(rows)) == {"yes"}
    assert "Row 3" in Path(out["a.html"]).read_text()


def test_a_table_that_is_interrupted_leaves_the_one_of_before(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "a.csv"
    table.write_text("before")
    words = ["batch", *asked, "--rows", ":2", "-o", str(tmp_path / "a.jsonl"), "--csv", str(table)]
    replaced = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if Path(target).suffix == ".csv":
            raise KeyboardInterrupt
        return replaced(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", interrupted)
        assert main(words) == Code.INTERRUPTED
    assert table.read_text() == "before"
    assert {file.name for file in tmp_path.iterdir()} == {"a.csv", "a.jsonl", "a.jsonl.journal"}
    assert main(words) == Code.ANSWER
    assert list(pd.read_csv(table)["row"]) == [0, 1]


def test_audit_counts(answers: Path, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explanations = [entry.explanation for entry in read_entries(str(answers)) if entry.explanation is not None]
    assert main(["audit", str(answers), "--by", "housing", "--json"]) == 0
    said = said_json(capsys)
    assert said["rows"] == said["answered"] == said["certified"] == said["answers"] == said["keeping"] == len(explanations)
    assert said["cost"]["median"] == pytest.approx(np.median([explanation.best.cost for explanation in explanations]))
    for use in said["features"]:
        moves = [
            explanation.best.changes[use["feature"]] for explanation in explanations if use["feature"] in explanation.best.changes
        ]
        assert use["count"] == len(moves)
        if use["feature"] in ("age", "income", "debt", "months"):
            assert (use["up"], use["down"]) == (sum(a < b for a, b in moves), sum(a > b for a, b in moves))
    assert sum(group["rows"] for group in said["groups"].values()) == len(explanations)
    assert set(said["groups"]) <= set(examples.HOUSING)
    assert main(["audit", str(answers), "--by", "income"]) == 0
    assert "every rule kept" in capsys.readouterr().out
    assert main(["audit", str(answers), "--by", "granted", "--data", str(files / "loans.csv"), "--json"]) == 0
    assert set(said_json(capsys)["groups"]) <= {"yes", "no"}


def test_audit_finds_a_broken_rule(answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, line, *_ = answers.read_text().splitlines()
    data = json.loads(line)
    answer = data["explanation"]["counterfactuals"][0]
    place = examples.schema_of().index("telephone")
    answer["values"][place] = not answer["values"][place]
    (tmp_path / "forged.jsonl").write_text(f"{head}\n{json.dumps(data)}\n")
    assert main(["audit", str(tmp_path / "forged.jsonl")]) == Code.FAILED
    assert "0 of 1 answers" in capsys.readouterr().out


def test_verify_a_batch(answers: Path, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(answers), "--explainer", *asked]) == 0
    count = len(read_entries(str(answers)))
    assert capsys.readouterr().out.strip() == f"{count} of {count} explanations hold"


def test_errors(answers: Path, asked: list[str], files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = str(tmp_path / "new.jsonl")
    one_sentence(["audit", str(answers), "--by", "shoe"], "--by must name a feature; got 'shoe'. Hint: give --data", capsys)
    with_data = ["audit", str(answers), "--by", "shoe", "--data", str(files / "loans.csv")]
    one_sentence(with_data, "--by must name a column; got 'shoe'", capsys)
    one_sentence(["batch", *asked, "--rows", "7", "-o", new], "--rows must be written FROM:TO; got '7'", capsys)
    one_sentence(["batch", *asked, "--decided", "x", "-o", new], "--decided must be one of the model's classes; got 'x'", capsys)
    assert not Path(new).exists()
    one_sentence(["batch", *asked, "-o", str(tmp_path / "no" / "a.jsonl")], "A file to write must be in a folder that", capsys)
    words = ["batch", *asked, "--rows", ":1", "-o", new, "--csv", str(tmp_path)]
    one_sentence(words, "[Errno 21] Is a directory", capsys)
    (tmp_path / "bad.jsonl").write_text("[]\n")
    one_sentence(["audit", str(tmp_path / "bad.jsonl")], "A file of answers must have a JSON object per line; got line 1", capsys)
    (tmp_path / "bad.jsonl").write_text("{}\n")
    one_sentence(["audit", str(tmp_path / "bad.jsonl")], "A file of answers must be one that likely batch wrote; got", capsys)
    (tmp_path / "bad.jsonl").write_text('{"question": {}}\n')
    one_sentence(["audit", str(tmp_path / "bad.jsonl")], "An audit must have rows; got none in", capsys)
    one_sentence(["audit", "nowhere.jsonl"], "A file of answers must exist; got nowhere.jsonl", capsys)


def test_rows_that_cannot_be_read_are_refused_one_by_one(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown category: one record with its reason, and the others are explained."""
    table = examples.table_of()[0].head(12)
    table.loc[5, "housing"] = "a castle"
    table.to_csv(tmp_path / "rows.csv", index=False)
    path = tmp_path / "answers.jsonl"
    words = ["batch", asked[0], str(tmp_path / "rows.csv"), *asked[1:], "-o", str(path), "--json"]
    assert main([*words, "--rows", "4:7"]) == 0
    said = said_json(capsys)
    assert (said["rows"], said["refused"]) == (3, 1)
    entries = {entry.row: entry for entry in read_entries(str(path))}
    assert entries[5].explanation is None
    assert "a castle" in entries[5].note
    assert entries[4].explanation
    assert entries[6].explanation
    decided = tmp_path / "decided.jsonl"
    assert main([*words[:-2], str(decided), "--json", "--decided", "no"]) == 0
    assert 5 not in {entry.row for entry in read_entries(str(decided))}
    capsys.readouterr()


def test_a_batch_of_which_no_row_can_be_read(asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = examples.table_of()[0].head(2)
    table["housing"] = "a castle"
    table.to_csv(tmp_path / "rows.csv", index=False)
    words = ["batch", asked[0], str(tmp_path / "rows.csv"), *asked[1:], "-o", str(tmp_path / "answers.jsonl")]
    assert main(words) == Code.USAGE
    assert (
        "0 rows explained, 2 refused: row 0: Feature 'housing' must have a known value; got 'a castle'" in capsys.readouterr().out
    )
