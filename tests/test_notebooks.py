"""The notebooks run from top to bottom, and say what is stored in them."""

from __future__ import annotations

import ast
import io
import json
import re
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def cells_of(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


def stored(cell: dict[str, Any]) -> str:
    """What a cell printed, and what its last line was, without pictures."""
    parts = [output.get("text") or output["data"]["text/plain"] for output in cell["outputs"] if "image/png" not in str(output)]
    return "\n".join("".join(part) for part in parts)


def run(source: str, names: dict[str, Any]) -> str:
    """What a cell prints, and what its last line is, unless a semicolon follows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    shown = "" if value is None or source.rstrip().endswith(";") else repr(value)
    return printed.getvalue() + shown


def words_and_numbers(text: str) -> tuple[list[str], list[float]]:
    """The text without spaces and lines around tables, and its numbers."""
    return re.sub(r"[\s\\]+", " ", NUMBER.sub("#", text)).split(), [float(number) for number in NUMBER.findall(text)]


@pytest.fixture
def _quiet_pictures() -> Iterator[None]:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg", force=True)
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.usefixtures("_quiet_pictures")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_say_what_is_stored(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Word for word; numbers to one in a hundred, and only where the libraries are those that it was made with."""
    monkeypatch.chdir(tmp_path)
    made_with = json.loads(path.read_text(encoding="utf-8"))["metadata"]["made_with"]
    same = all(version(name) == own for name, own in made_with.items())
    names: dict[str, Any] = {"__name__": "__main__"}
    with warnings.catch_warnings(), pd.option_context("display.width", 80, "display.max_columns", 20):
        warnings.simplefilter("ignore")
        for cell in cells_of(path):
            words, numbers = words_and_numbers(run("".join(cell["source"]), names))
            if same:
                expected = words_and_numbers(stored(cell))
                assert words == expected[0], "".join(cell["source"])
                assert numbers == pytest.approx(expected[1], rel=0.01, abs=0.002)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_stored(path: Path) -> None:
    """All cells were run in order and without complaints; nothing of the machine is in it, and it is not large."""
    cells = cells_of(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"stream", "execute_result", "display_data"}
    assert all(output.get("name", "stdout") == "stdout" for output in outputs)
    assert sum("image/png" in output.get("data", ()) for output in outputs) >= 2
    assert sum("text/html" in output.get("data", ()) for output in outputs) >= 2
    assert not re.search(r"/(home|root|tmp|work|Users)/", " ".join(stored(cell) for cell in cells))
    assert path.stat().st_size < 500_000


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["credit", "multiclass"]
