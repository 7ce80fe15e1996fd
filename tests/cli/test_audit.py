"""`likely audit`, and the reasons of `likely explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from likely.cli import main
from tests.cli.test_commands import one_sentence
from tests.explain import examples


@pytest.fixture(scope="module")
def batch(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers to a hard question about a few rows, one of which has a value that is missing."""
    folder = tmp_path_factory.mktemp("batch")
    rows = examples.rejected(12).copy()
    rows["income"] = rows["income"].where(rows.index != rows.index[3])
    rows.assign(branch=["north", "south"] * 6).to_csv(folder / "rows.csv", index=False)
    words = ["batch", str(files / "explainer"), str(folder / "rows.csv"), "--model", str(files / "model.joblib")]
    assert main([*words, "--max-changes", "1", "--lock", "months", "-o", str(folder / "answers.jsonl")]) == 0
    return folder


def test_numbers_pages_and_files(batch: Path, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["audit", str(batch / "answers.jsonl"), "--by", "branch", "--data", str(batch / "rows.csv")]
    engine = ["--explainer", *asked, "--share", "0.2", "--seconds", "30"]
    assert main([*words, *engine, "--report", str(batch / "audit.html"), "-o", str(batch / "audit.csv"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["rows"], said["asked"], said["by"]) == (12, 11, "branch")
    assert set(said["groups"]) == {"north", "south"}
    assert said["blocking"]["whole"]
    assert said["group_counterfactual"]["status"] in ("optimal", "infeasible")
    assert "Which rules block it" in (batch / "audit.html").read_text(encoding="utf-8")
    table = pd.read_csv(batch / "audit.csv")
    assert set(table["group"].dropna()) == {"north", "south"}
    assert main([*words, "-o", str(batch / "audit.parquet")]) == 0
    assert pd.read_parquet(batch / "audit.parquet")["measure"].iloc[0] == "certified answer"
    assert main([*words, "-o", str(batch / "audit.json")]) == 0
    assert json.loads((batch / "audit.json").read_text())["rows"] == 12


def test_a_row_that_was_refused_is_not_dropped(batch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(batch / "answers.jsonl"), "--by", "housing"]) == 0
    said = capsys.readouterr().out
    assert "1 refused" in said
    assert "missing" in said


def test_what_audit_refuses(batch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["audit", str(batch / "answers.jsonl")]
    one_sentence([*words, "-o", "audit.xlsx"], "The file of an audit must end with .json or .csv or .parquet; got", capsys)
    one_sentence([*words, "--by", "branch"], "--by must name a feature; got 'branch'", capsys)


def test_reasons_on_the_command_line(asked: list[str], tmp_path: Path, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words.yaml").write_text("months:\n  high: Loan term of {value} months too long\nincome: Income insufficient\n")
    row = tmp_path / "row.json"
    row.write_text(examples.rejected(1).iloc[0].to_json())
    words: list[Any] = ["explain", *asked, "--row", str(row)]
    assert main([*words, "--reasons", "2", "--words", str(tmp_path / "words.yaml")]) == 0
    said = capsys.readouterr().out
    assert "1.  Loan term of 72 months too long" in said
    assert "2.  Income insufficient" in said
    assert main(["explain", *asked, "--json", str(row), "--reasons"]) == 0
    plain = json.loads(capsys.readouterr().out)["reasons"]
    assert plain["reasons"][0]["feature"] == "months"
    assert plain["proved"]
    one_sentence([*words, "--words", str(tmp_path / "words.yaml")], "--words must be given with --reasons", capsys)
    (tmp_path / "list.yaml").write_text("- a\n")
    more = ["--reasons", "--words", str(tmp_path / "list.yaml")]
    one_sentence([*words, *more], "A file of words must have features and sentences; got", capsys)
