"""Methods in another interpreter: what they are told, what comes back, and what happens if nothing does."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likely.bench.methods import METHODS
from likely.bench.wide import Columns, forest_of
from likely.bench.worker import Worker
from likely.errors import ExplainerError, PredictorError
from tests.bench.methods.examples import asked, fitted, forest, loans

NEAREST = """
def fit(task):
    print("packages print")
    return task

def generate(task, question):
    def far(row):
        return sum(c["weight"] * abs(a - b) for c, a, b in zip(task["columns"], row, question["row"]))

    def value(row):
        return task["base"] + sum(leaf(tree, 0, row) for tree in task["trees"])

    def leaf(tree, at, row):
        if len(tree[at]) == 1:
            return tree[at][0]
        column, threshold, strict, left, right = tree[at]
        below = row[column] < threshold if strict else row[column] <= threshold
        return leaf(tree, left if below else right, row)

    up = 1 if question["target"] == 1 else -1
    could = [row for row in task["rows"] if up * value(row) >= task["least"]
             and all(a - 1e-9 <= x <= b + 1e-9 for a, x, b in zip(question["low"], row, question["high"]))]
    return {"rows": sorted(could, key=far)[: question["k"]]}
"""


def worker(path: Path, code: str) -> Worker:
    path.write_text(code, encoding="utf-8")
    return Worker("own", "json", sys.executable, path)


def test_an_adapter_of_twenty_lines(tmp_path: Path) -> None:
    """It evaluates the plain trees itself: its answers are of the class, and the nearest rows that keep the rules."""
    data, model, _ = forest()
    method = worker(tmp_path / "adapter.py", NEAREST)
    method.fit(*forest())
    rows = data.schema.encode(data.X)

    for place in (0, 3, 5):
        question = asked(forest(), place, k=2)
        found = method.generate(question)
        assert (model.predict(found.rows) == question.target).all()
        factual = data.schema.encode(question.factual)[0]
        could = (model.predict(data.X) == question.target) & (rows[:, 0] >= factual[0]) & (rows[:, 5] == factual[5])
        if could.any():
            costs = np.sort(data.schema.prices(factual, rows[could]))
            np.testing.assert_allclose(data.schema.prices(factual, data.schema.encode(found.rows))[0], costs[0])
        assert not found.proved


def test_plain_trees_are_the_forest() -> None:
    data, _, form = forest()
    columns = Columns(data.schema)
    plain = forest_of(form, columns)

    def leaf(tree: list[Any], row: list[float]) -> float:
        at = 0
        while len(tree[at]) > 1:
            column, threshold, strict, left, right = tree[at]
            at = left if (row[column] < threshold if strict else row[column] <= threshold) else right
        return float(tree[at][0])

    rows = data.schema.encode(data.X)[:60]
    scores = [plain["base"] + sum(leaf(tree, columns.expanded(row)) for tree in plain["trees"]) for row in rows]
    (labels,) = [form.predict(rows)]
    np.testing.assert_array_equal(np.array(scores) > 0, labels == form.classes[1])
    np.testing.assert_array_equal([columns.contracted(columns.expanded(row)) for row in rows], rows)


def test_what_goes_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExplainerError, match="ZeroDivisionError"):
        worker(tmp_path / "a.py", "def fit(task): return 1 / 0").fit(*forest())
    method = worker(tmp_path / "b.py", "import time\ndef fit(task): pass\ndef generate(f, q): time.sleep(60)")
    method.fit(*forest())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("likely.bench.worker.GRACE", 0.1)
        with pytest.raises(ExplainerError, match="answer within"):
            method.generate(asked(forest(), 0, seconds=0.2))
    with pytest.raises(ExplainerError, match="LIKELY_PYTHON_NO_SUCH_PACKAGE"):
        Worker("own", "no_such_package")
    with pytest.raises(PredictorError, match="sum of trees"):
        worker(tmp_path / "c.py", NEAREST).fit(*loans())


#: OCEAN needs an interpreter of its own: tests ask it where one is named.
FORESTS = ["treecf", *(["ocean"] if "LIKELY_PYTHON_OCEAN" in os.environ else [])]


@pytest.mark.parametrize("rival", FORESTS)
def test_rivals_of_forests_and_the_engine_agree(rival: str) -> None:
    if rival == "treecf" and find_spec("treecf") is None:
        pytest.skip("needs treecf")
    data, model, _ = forest()
    ours: Any = METHODS["mio"]()
    ours.fit(*forest())
    for place in (0, 3, 5):
        question = asked(forest(), place)
        factual = data.schema.encode(question.factual)[0]
        theirs, own = fitted(rival, forest).generate(question), ours.generate(question)
        assert theirs.proved
        assert own.proved
        assert (model.predict(theirs.rows) == question.target).all()
        costs = [data.schema.prices(factual, data.schema.encode(each.rows))[0] for each in (theirs, own)]
        kept = data.schema.admits(factual, data.schema.encode(theirs.rows))[0]
        assert costs[0] <= costs[1] + 1e-3  # it does not know rules between features
        assert not kept or costs[0] == pytest.approx(costs[1], rel=1e-2, abs=1e-2)
