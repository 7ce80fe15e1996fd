"""The command line, as a person types it."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import likely
from likely.cli import main

LOANS = Path(__file__).parents[2] / "examples" / "loans.csv"


def test_version_as_a_command() -> None:
    run = subprocess.run([sys.executable, "-m", "likely", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == f"likely {likely.__version__}"


def test_infer_prints_yaml_that_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "infer", str(LOANS), "--drop", "granted", "--immutable", "sex"]) == 0
    file = tmp_path / "loans.yaml"
    file.write_text(capsys.readouterr().out)
    schema = likely.Schema.load(file)
    assert likely.Immutable("sex") in schema.constraints
    assert schema["customer_since"].describe().startswith("20")
    assert main(["schema", "check", str(file), str(LOANS)]) == 0
    assert "400 rows fit the schema" in capsys.readouterr().out


def test_infer_with_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "loans.json"
    options = ["--codes", "late_payments=-9", "--ordinal", "school=none,secondary,bachelor,master", "--max-changes", "3"]
    moves = ["--increasing", "age", "--decreasing", "amount"]
    assert main(["schema", "infer", str(LOANS), "--drop", "granted", *options, *moves, "-o", str(file)]) == 0
    assert "may not decrease" in capsys.readouterr().out
    schema = likely.Schema.load(file)
    assert schema["late_payments"].kind == "mixed"
    assert schema["school"].values == ("none", "secondary", "bachelor", "master")
    assert likely.MaxChanges(3) in schema.constraints
    assert main(["schema", "show", str(file)]) == 0
    assert "late_payments" in capsys.readouterr().out


def test_check_says_no(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.read_csv(LOANS).drop(columns=["granted", "customer_since"])
    schema = likely.Schema.infer(table, rules=[likely.LinearConstraint.ordered("months", "amount")])
    schema.save(tmp_path / "s.yaml")
    table.loc[0, ["age", "housing"]] = [130, "castle"]
    table.loc[1, "amount"] = 5
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["schema", "check", str(tmp_path / "s.yaml"), str(tmp_path / "t.csv")]) == 1
    said = capsys.readouterr().out
    assert "'age': 1 row outside 19 to 75, first 130" in said
    assert "'housing': 1 row without a value of the feature, first 'castle'" in said
    assert "1 of 400 rows break the rule: 'months' <= 'amount'" in said
    assert main(["schema", "check", str(tmp_path / "s.yaml"), str(tmp_path / "t.csv"), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert report["broken"] == [{"rule": "'months' <= 'amount'", "rows": 1}]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["schema", "infer", "nowhere.csv"], "A data file must exist; got nowhere.csv"),
        (["schema", "infer", str(LOANS), "--drop", "shoe"], "--drop must name a column; got 'shoe'"),
        (["schema", "infer", str(LOANS), "--codes", "late_payments"], "An option must be written COLUMN=VALUE,VALUE"),
        (["schema", "infer", str(LOANS), "--immutable", "shoe"], "A feature must be in the schema; got 'shoe'"),
        (["schema", "infer", str(LOANS), "--max-changes", "0"], "MaxChanges must be a whole number of at least 1; got 0"),
        (["schema", "show", "nowhere.yaml"], "A schema file must exist; got nowhere.yaml"),
    ],
)
def test_one_sentence_and_exit_code_2(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"likely: {sentence}")
    assert said.err.count("\n") == 1


def test_an_incomplete_command_shows_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["schema"])
    assert stop.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_example_data_is_what_its_script_makes() -> None:
    made = runpy.run_path(str(LOANS.parent / "make_loans.py"), run_name="make")["make_loans"]()
    assert made.to_csv(index=False) == LOANS.read_text()
