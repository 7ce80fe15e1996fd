"""The notebooks run from top to bottom, and say what is stored in them.

A learner sums in an order that depends on the processor, so circuits and networks differ in their last bits from machine to
machine, and now and then an answer does. What comes before anything is learned is compared word for word and number by number;
after that, the sentences: lines without a number, which say what is claimed and how tables are headed.
"""

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
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


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


def sentences(text: str) -> list[str]:
    """The lines that hold no number and are no items of a list, without spaces and rules around tables."""
    lines = [" ".join(re.sub(r"[─\\]+", " ", line).split()) for line in text.splitlines()]
    return [line for line in lines if line and not NUMBER.search(line) and not line.startswith("- ")]


@pytest.fixture
def _quiet_pictures() -> Iterator[None]:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg", force=True)
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.slow
@pytest.mark.usefixtures("_quiet_pictures")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_say_what_is_stored(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made_with = json.loads(path.read_text(encoding="utf-8"))["metadata"]["made_with"]
    as_printed = version("pandas") == made_with["pandas"]  # another one may set tables otherwise
    names: dict[str, Any] = {"__name__": "__main__"}
    learned, compared = False, {"words": 0, "sentences": 0}
    with warnings.catch_warnings(), pd.option_context("display.width", 80, "display.max_columns", 20):
        warnings.simplefilter("ignore")
        for cell in cells_of(path):
            source = "".join(cell["source"])
            learned = learned or ".fit(" in source
            new, old = run(source, names), stored(cell)
            assert bool(new) == bool(old), source
            if not learned and as_printed:
                assert words_and_numbers(new)[0] == words_and_numbers(old)[0], source
                assert words_and_numbers(new)[1] == pytest.approx(words_and_numbers(old)[1], rel=1e-6), source
                compared["words"] += len(words_and_numbers(old)[0])
            elif learned:
                assert sentences(new) == sentences(old), source
                compared["sentences"] += len(sentences(old))
    assert compared["words"] >= 50 or not as_printed
    assert compared["sentences"] >= 10


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
