"""`fit`, `explain`, `verify`, `demo`: what they print, write and return."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import likely
from likely.cli import main, question
from likely.cli.codes import Code
from tests.explain import examples


def said_json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def refused_row() -> int:
    """The number of a row that the model refuses."""
    return int(examples.rejected().index[0])


# -- the question --------------------------------------------------------------------------------------------------------


def test_what_is_asked_beside_the_rules(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", *asked, "--row", str(refused_row()), "--json"]

    def question(*more: str) -> Any:
        assert main([*words, *more]) == 0
        return said_json(capsys)["query"]["question"]

    usual = question()
    assert (usual["unread"], usual["may_become_missing"], usual["rounding"]) == ("keep", [], 1e-4)
    other = question("--unread", "free", "--may-become-missing", "income", "--may-become-missing", "debt", "--rounding", "0")
    assert (other["unread"], other["may_become_missing"], other["rounding"]) == ("free", ["income", "debt"], 0.0)
    assert question("--may-become-missing", "all")["may_become_missing"] is True
    assert main([*words, "--may-become-missing", "shoe"]) == Code.USAGE
    assert "--may-become-missing must be a feature; got 'shoe'" in capsys.readouterr().err
    assert main([*words, "--rounding", "-1"]) == Code.USAGE
    assert "What round numbers may cost (rounding) must be a number of at least 0; got -1.0" in capsys.readouterr().err


# -- fit ---------------------------------------------------------------------------------------------------------------


def test_fit_for_machines_with_an_inferred_schema(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fit", str(files / "loans.csv"), "--target", "granted", "--model", str(files / "model.joblib"), "--nodes", "15"]
    assert main([*words, "-o", str(tmp_path / "made"), "--json"]) == 0
    said = said_json(capsys)
    assert said["rows"] == examples.ROWS
    assert said["classes"] == ["no", "yes"]
    again = likely.Explainer.load(tmp_path / "made", examples.model_of())
    assert again.schema_.names == examples.schema_of().names


def test_fit_with_a_circuit(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    circuit = files / "explainer" / "circuit.json"
    words = ["fit", str(files / "loans.csv"), "--target", "granted", "--schema", str(files / "schema.yaml")]
    assert main([*words, "--model", str(files / "model.joblib"), "--circuit", str(circuit), "-o", str(tmp_path / "made")]) == 0
    assert f"written to {tmp_path / 'made'}" in capsys.readouterr().out
    assert (tmp_path / "made" / "circuit.json").read_text() == circuit.read_text()


def test_a_model_that_is_no_pickle_is_found_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = examples.table_of()
    X = X.drop(columns=["housing", "telephone"])
    xgboost.XGBClassifier(n_estimators=5, max_depth=2).fit(X, y == "yes").get_booster().save_model(tmp_path / "model.json")
    X.assign(granted=y).to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", str(tmp_path / "t.csv"), "--target", "granted", "--model", str(tmp_path / "model.json"), "--nodes", "15"]
    assert main([*words, "--classes", "no,yes", "-o", str(tmp_path / "made")]) == 0
    kept = str(tmp_path / "answer.json")
    assert main(["explain", str(tmp_path / "made"), "--row", "0", "-o", kept]) == 0
    assert main(["verify", kept, "--explainer", str(tmp_path / "made")]) == 0
    capsys.readouterr()
    assert main(["verify", kept, "--model", str(tmp_path / "model.json"), "--classes", "no,yes", "--json"]) == 0
    checks = said_json(capsys)["checks"]
    assert any(check["claim"] == "it is as likely as claimed" and check["holds"] is None for check in checks)


# -- explain -----------------------------------------------------------------------------------------------------------


def test_explain_a_row_of_the_data(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *asked, "--row", str(refused_row()), "-k", "2", "--lock", "age"]) == Code.ANSWER
    said = capsys.readouterr().out
    assert said.startswith("The model says 'no'. What would make it say 'yes'?\nThese are the 2 best answers.\nProved: ")
    assert "the model would decide 'yes' instead of 'no'." in said
    assert "nodes were searched in" in said


def test_explain_says_what_python_says(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    row = refused_row()
    explainer = likely.Explainer.load(asked[0], examples.model_of())
    options = [
        "--target",
        "yes",
        "--lock",
        "debt",
        "--max-changes",
        "2",
        "--plausibility",
        "0.3",
        "--of",
        "all",
        "--weight",
        "0.1",
    ]
    assert main(["explain", *asked, "--row", str(row), "--json", *options]) == 0
    printed = said_json(capsys)
    assert printed.pop("why_not") is None
    wanted = explainer.explain(
        examples.table_of()[0].iloc[row], target="yes", plausibility=likely.Quantile(0.3, of="all"), weight=0.1,
        constraints=[likely.MaxChanges(2)], locked=["debt"],
    )  # fmt: skip
    assert likely.Explanation.from_dict(printed) == wanted


def test_ends_and_limits_say_what_python_says(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    row = refused_row()
    explainer = likely.Explainer.load(asked[0], examples.model_of())
    options = ["--probability", "0.6:0.9", "--only", "income", "--only", "debt", "--only", "months", "--plausibility", "none"]
    limits = ["--limit", "income=+80%", "--limit", "months=-12steps", "--limit", "debt=5000"]
    assert main(["explain", *asked, "--row", str(row), "--json", *options, *limits]) == 0
    printed = said_json(capsys)
    assert printed.pop("why_not") is None
    wanted = explainer.explain(
        examples.table_of()[0].iloc[row], probability=(0.6, 0.9), plausibility=None, only=["income", "debt", "months"],
        constraints=[
            likely.MaxChange("income", up=80, unit="percent"),
            likely.MaxChange("months", down=12, unit="steps"),
            likely.MaxChange("debt", up=5000, down=5000),
        ],
    )  # fmt: skip
    assert likely.Explanation.from_dict(printed) == wanted


@pytest.mark.parametrize(
    ("word", "variant"), [("none", None), ("factual", likely.AtLeastFactual()), ("quartile", likely.Quantile(0.25))]
)
def test_plausibility_by_name(asked: list[str], word: str, variant: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *asked, "--row", str(refused_row()), "--plausibility", word, "--json"]) == 0
    printed = said_json(capsys)
    printed.pop("why_not")
    assert likely.Explanation.from_dict(printed).query.plausibility == variant


def test_coherence_is_a_field_of_the_question() -> None:
    parser = argparse.ArgumentParser()
    question.add(parser)
    explainer = examples.explainer_of()
    assert question.question_of(parser.parse_args(["--coherence", "0.3"]), explainer) == likely.Question(coherence=0.3)
    assert question.question_of(parser.parse_args([]), explainer) == likely.Question()


def test_a_row_in_a_file_and_on_the_input(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = examples.table_of()[0].iloc[refused_row()]
    text = row.to_json()
    (tmp_path / "row.json").write_text(text)
    assert main(["explain", *asked, "--row", str(tmp_path / "row.json")]) == 0
    assert "The model says 'no'." in capsys.readouterr().out
    assert main(["explain", *asked, "--json", str(tmp_path / "row.json")]) == 0
    by_file = said_json(capsys)
    values = list(json.loads(text).values())  # in the order of the features
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(values)))
    assert main(["explain", *asked, "--json", "-"]) == 0
    by_input = said_json(capsys)
    assert by_file["counterfactuals"] == by_input["counterfactuals"]


def test_no_counterfactual_and_why(asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    locks = [word for name in examples.schema_of().names if name != "telephone" for word in ("--lock", name)]
    page = tmp_path / "none.html"
    command = ["explain", *asked, "--row", str(refused_row()), *locks, "--report", str(page)]
    assert main(command) == Code.NONE_EXISTS
    said = capsys.readouterr().out
    assert "There is no answer." in said
    assert "These demands cannot be met together:" in said
    assert "may not change" in page.read_text()
    assert main([*command, "--json"]) == Code.NONE_EXISTS
    assert said_json(capsys)["why_not"]


def test_not_decided(asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    explain = likely.Explainer.explain

    def nothing(*words: Any, **more: Any) -> likely.Explanation:
        return replace(explain(*words, **more), status="unknown", counterfactuals=())

    monkeypatch.setattr(likely.Explainer, "explain", nothing)
    assert main(["explain", *asked, "--row", "0"]) == Code.UNDECIDED
    assert "No answer yet: the search stopped early." in capsys.readouterr().out


def test_ctrl_c(asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*words: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(likely.Explainer, "explain", interrupted)
    assert main(["explain", *asked, "--row", "0"]) == Code.INTERRUPTED
    assert capsys.readouterr().err == "likely: interrupted\n"


def test_warnings_are_lines(asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import warnings

    explain = likely.Explainer.explain

    def warned(*words: Any, **more: Any) -> likely.Explanation:
        warnings.warn("Mind the step.", likely.LikelyWarning, stacklevel=2)
        warnings.warn("a matter of some library", FutureWarning, stacklevel=2)
        return explain(*words, **more)

    monkeypatch.setattr(likely.Explainer, "explain", warned)
    assert main(["explain", *asked, "--row", "0"]) == 0
    assert capsys.readouterr().err == "likely: Mind the step.\n"


# -- verify ------------------------------------------------------------------------------------------------------------


def test_verify_and_a_forgery(asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "answer.json"
    assert main(["explain", *asked, "--row", str(refused_row()), "-o", str(kept)]) == 0
    circuit = str(Path(asked[0]) / "circuit.json")
    capsys.readouterr()
    assert main(["verify", str(kept), *asked[1:], "--circuit", circuit]) == Code.ANSWER
    assert "0 fail" in capsys.readouterr().out
    data = json.loads(kept.read_text())
    data["counterfactuals"][0]["cost"] /= 2
    kept.write_text(json.dumps(data))
    assert main(["verify", str(kept), "--explainer", *asked]) == Code.FAILED
    assert "FAILS: answer 1: the cost is the schema's" in capsys.readouterr().out
    assert main(["verify", str(kept), "--explainer", *asked, "--json"]) == Code.FAILED
    assert said_json(capsys)["ok"] is False


# -- errors ------------------------------------------------------------------------------------------------------------


def one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == Code.USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"likely: {sentence}")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "The row to explain must be given once; got none. Hint: --row 17, or --json row.json."),
        (["--row", "1", "--json", "row.json"], "The row to explain must be given once; got two"),
        (["--row", "999"], "--row must be below the number of rows, 300; got 999. Hint: the first row is 0."),
        (["--row", "nowhere.json"], "A row's file must exist; got nowhere.json"),
        (
            ["--row", "0", "--target", "maybe"],
            "The target must be one of the model's classes; got 'maybe'. Hint: there are no, yes.",
        ),
        (
            ["--row", "0", "--limit", "income=+36hours"],
            "The limit of a change of feature 'income' must be counted in numbers where values are no times; got 36 hours",
        ),
        (["--row", "0", "--limit", "income"], "--limit must be a feature and how far it may go; got 'income'"),
        (["--row", "0", "--prediction", "5"], "--prediction must be two numbers with a colon between; got '5'"),
        (["--row", "0", "--lock", "shoe"], "--lock must be a feature; got 'shoe'. Hint: there are age, income"),
        (["--row", "0", "--plausibility", "2"], "--plausibility must be median, quartile, factual, none, or a share between"),
        (["--row", "0", "--data", "nowhere.csv"], "A data file must exist; got nowhere.csv"),
        (["--row", "0", "-o", "no/such/folder.json"], "A file to write must be in a folder that exists; got no/such"),
        (["--row", "0", "--report", "no/such/folder.html"], "A report must be written into a folder that exists; got no/such"),
        (["--row", "0", "--encoder", "nowhere.joblib"], "An encoder file must exist; got nowhere.joblib"),
        (["--row", "0", "-k", "0"], "k, the number of answers, must be a whole number of at least 1; got 0"),
    ],
)
def test_errors_of_explain(asked: list[str], options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    one_sentence(["explain", *asked, *options], sentence, capsys)


def test_a_pickle_must_be_named(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    sentence = (
        f"The model of {asked[0]} must be named, because a pickle may run any code; got no --model. Hint: --model {asked[2]}."
    )
    one_sentence(["explain", asked[0], "--row", "0"], sentence, capsys)


def test_errors_of_files(files: Path, asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    one_sentence(["explain", *asked, "--row", str(bad)], "A row's file must be JSON; got", capsys)
    one_sentence(["verify", str(bad), *asked[1:]], "An explanation's text must be JSON; got", capsys)
    bad.write_bytes(b"\xff\xfe")
    one_sentence(["verify", str(bad), *asked[1:]], "An explanation's file must be UTF-8 text; got bad.json", capsys)
    stray = tmp_path / "stray.joblib"
    stray.write_text("no pickle")
    one_sentence(
        ["explain", asked[0], "--model", str(stray), "--row", "0"], "A model file must be one that joblib can load", capsys
    )
    one_sentence(
        ["explain", asked[0], "--model", "nowhere.pkl", "--row", "0"], "A model file must exist; got nowhere.pkl", capsys
    )
    one_sentence(["explain", str(tmp_path), "--row", "0"], "A saved explainer must be a folder that Explainer.save wrote", capsys)
    examples.explainer_of().save(tmp_path / "python")
    words = ["explain", str(tmp_path / "python"), *asked[1:], "--row", "0"]
    one_sentence(words, "The rows to explain must be in a file; got none. Hint: name it with --data.", capsys)
    (tmp_path / "python" / "source.json").write_text("{")
    one_sentence(words, "The source of a saved explainer must be JSON; got", capsys)
    (tmp_path / "e.json").write_text(examples.explainer_of().explain(examples.rejected().iloc[0]).to_json())
    one_sentence(["verify", str(tmp_path / "e.json")], "An explanation must be checked with its model; got none", capsys)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--target", "shoe"], "--target must name a column; got 'shoe'"),
        (["--target", "granted", "--drop", "shoe"], "--drop must name a column; got 'shoe'"),
        (["--target", "age"], "A schema must be without the target; got 'age'. Hint: likely schema infer --drop age."),
        (["--target", "granted", "--classes", "0,1"], "--classes must be values of the target; got '0'"),
    ],
)
def test_errors_of_fit(
    files: Path, tmp_path: Path, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fit", str(files / "loans.csv"), "--schema", str(files / "schema.yaml"), "--model", str(files / "model.joblib")]
    one_sentence([*words, *options, "-o", str(tmp_path / "made")], sentence, capsys)


def test_help_says_what_a_pickle_implies_and_what_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    for words, sentence in ((["fit", "--help"], "a pickle may run any code when it is loaded"), (["--help"], "exit codes:")):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 0
        assert sentence in " ".join(capsys.readouterr().out.split())


# -- demo --------------------------------------------------------------------------------------------------------------


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--nodes", "30", "--save", "demo"]) == 0
    said = capsys.readouterr().out
    assert "Proved: every other answer costs at least" in said
    assert "0 fail" in said
    assert "likely-demo.html" in said
    assert "the model would decide" in (tmp_path / "likely-demo.html").read_text()
    assert main(["explain", "demo/explainer", "--model", "demo/model.joblib", "--json", "demo/row.json", "--lock", "amount"]) == 0
    printed = said_json(capsys)
    assert all("amount" not in answer["changes"] for answer in printed["counterfactuals"])
    assert pd.read_csv("demo/train.csv").shape == (800, 21)


def test_as_a_command() -> None:
    words = [sys.executable, "-m", "likely", "explain", "nowhere", "--row", "0"]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == Code.USAGE
    assert run.stderr.startswith("likely: A saved explainer must be a folder")
    assert "Traceback" not in run.stderr
