"""Files of answers: whatever stands in values, a line is a line; what was cut off is left out; what is written is whole."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import likely
from likely._files import read_text, replacing, write_text
from likely.batch.outputs import Lines
from likely.batch.tasks import Done
from likely.cli import main
from likely.cli.store import Entry, read_entries
from likely.errors import ExplainerError

#: Ends of lines for `str.splitlines`, but not for JSON.
ENDS = "a\u2028b", "a\u2029b", "a\u0085b", "a\x0bb", "a\x0cb", "a\x1cb", "a\nb", "a\rb"


@pytest.mark.parametrize("text", ENDS, ids=ascii)
def test_ends_of_lines_in_values(text: str, tmp_path: Path) -> None:
    X = pd.DataFrame({"city": [text, "x"] * 20, "n": list(range(40))})
    y = ["no" if n < 20 else "yes" for n in X.n]
    encoder = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(X, y)
    explainer = likely.Explainer(model, progress=False).fit(X, y)
    made = [Entry(0, explainer.explain(X.iloc[0], plausibility=None)), Entry(1, None, f"a note: {text}")]
    path = str(tmp_path / "answers.jsonl")
    write(path, made, why=text)
    assert read_entries(path) == made


@given(st.lists(st.text(), max_size=4), st.integers(0, 400))
def test_a_line_that_was_cut_off_is_left_out(notes: list[str], cut: int) -> None:
    """At any byte, within a character too."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/answers.jsonl"
        write(path, [])
        begun = len(Path(path).read_bytes())
        write(path, [Entry(i, None, note or "-") for i, note in enumerate(notes)])
        content = Path(path).read_bytes()
        Path(path).write_bytes(content[: max(begun, len(content) - cut)])
        left = [entry.row for entry in read_entries(path)]
        assert left == list(range(len(left)))
        assert len(notes) - len(left) <= content[max(begun, len(content) - cut) :].count(b"\n") + 1


def write(path: str, entries: list[Entry], **question: str) -> None:
    """A file of answers."""
    output = Lines(Path(path), question)
    output.begin(None)
    output.append(Done(tuple(entry.to_json() for entry in entries)))


def test_an_audit_of_a_batch_that_was_killed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(json.dumps({"question": {}}).encode() + b'\n{"row": 1, "note": "\xc3')
    assert main(["audit", str(path)]) == 2
    assert "An audit must have rows" in capsys.readouterr().err


def test_a_line_in_the_middle_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"question": {}}\n{"row": 1\n{"row": 2, "note": "x"}\n', encoding="utf-8")
    with pytest.raises(ExplainerError, match="must have a JSON object per line; got line 2 of"):
        read_entries(str(path))


def test_a_file_that_is_not_written_to_the_end_is_the_one_of_before(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_text(path, "before")

    def killed() -> None:
        with replacing(path) as file:
            file.write(b"aft")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        killed()
    assert read_text(path) == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["file.txt"]


def test_what_windows_writes(tmp_path: Path) -> None:
    """A mark before the text, and two characters at the end of a line."""
    schema = likely.Schema([likely.Categorical("Größe", ("klein", "groß"))])
    for name, text in (("schema.json", schema.to_json()), ("schema.yaml", schema.to_yaml().replace("\n", "\r\n"))):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert likely.Schema.load(tmp_path / name) == schema
