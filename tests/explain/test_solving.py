"""What happens when a model disagrees with its form, when several problems are one question, and when Ctrl-C comes."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import likely
from likely._params import Params
from likely.errors import LikelyWarning, PredictorError
from likely.explain import batch
from likely.explain.dtype_rounding import rounded_rows
from likely.explain.merging import in_turn, merged, total
from likely.predictor import LinearModel, Link, ModelInputs, Reader, register, registry
from likely.problem import Bounds, Limits, Progress, Result, Solution, Statistics
from likely.problem.result import Status
from likely.schema import Constraint
from tests.explain.examples import explainer_of, rejected, table_of


class Stubborn:
    """A model whose form says yes where x > 5, and that says so itself only from `border` on, and only if z is 1."""

    classes_ = ("no", "yes")

    def __init__(self, border: float) -> None:
        self.border = border

    def predict(self, X: pd.DataFrame) -> np.ndarray[Any, Any]:
        if not np.isfinite(self.border):
            raise RuntimeError("out of order.")
        said = X["x"] > self.border
        return np.where(said & (X["z"] == 1) if "z" in X else said, "yes", "no")


WEIGHTS = {1: [[1.0]], 2: [[1.0, 0.0]]}


@pytest.fixture(autouse=True)
def _reader() -> Iterator[None]:
    name = f"{__name__.split('.', maxsplit=1)[0]}.Stubborn"

    def form(model: Stubborn, inputs: ModelInputs) -> LinearModel:
        return LinearModel(Link("logistic"), model.classes_, inputs.columns("Stubborn"), WEIGHTS[len(inputs)], [-5.0])

    register(name, Reader(form, lambda model, X: X[["x"]].to_numpy() - 5.0))
    yield
    del registry._readers[("tests", "Stubborn")]


def stubborn(border: float, table: pd.DataFrame | None = None) -> likely.Explainer:
    X = pd.DataFrame({"x": np.linspace(0, 10, 41)}) if table is None else table
    schema = likely.Schema.infer(X, steps=None)  # every number is a value, however near the border
    return likely.Explainer(Stubborn(border), schema, progress=False).fit(X, np.where(X["x"] > 5, "yes", "no"))


def test_the_margin_is_raised_until_the_model_agrees() -> None:
    answer = stubborn(5.005).explain({"x": 1.0}, plausibility=None)
    assert answer.status == "optimal"
    assert answer.margin == pytest.approx(0.01)
    claim = str(answer).splitlines()[1:4]
    assert claim[0] == "This is the best answer."
    assert claim[1].startswith("Proved: no other answer costs less than ")
    assert claim[2].startswith("Only rows that the model decides clearly count, by a score of 0.01: ")
    assert 5.005 < answer.best.row["x"] <= 5.011
    assert stubborn(5.005).explain_many(pd.DataFrame({"x": [1.0, 2.0]}), plausibility=None)[0] == answer


def test_a_model_that_never_agrees_is_disputed() -> None:
    answer = stubborn(9.0).explain({"x": 1.0}, plausibility=None)
    assert (answer.status, len(answer)) == ("disputed", 0)
    assert "No answer holds: the model itself rejects the rows that were found." in str(answer)
    assert likely.Explanation.from_json(answer.to_json()) == answer


def test_answers_that_the_model_accepts_are_kept() -> None:
    """Of several answers, the model rejects the cheapest ones at every margin."""
    table = pd.DataFrame({"x": [*range(11), *range(11)], "z": [0] * 11 + [1] * 11})
    answer = stubborn(5, table).explain({"x": 1, "z": 0}, k=8, plausibility=None, diversity="values", unread="free")
    assert answer.status == "feasible"
    assert [counterfactual.row.to_dict() for counterfactual in answer.counterfactuals] == [{"x": x, "z": 1} for x in (6, 7, 8)]
    assert answer.bounds.upper == answer.counterfactuals[-1].objective
    assert answer.bounds.lower <= answer.query.schema.cost({"x": 1, "z": 0}, {"x": 6, "z": 0}) < answer.best.cost


def test_where_the_model_rejects_all_that_keep_what_it_does_not_read_others_are_tried() -> None:
    table = pd.DataFrame({"x": [*range(11), *range(11)], "z": [0] * 11 + [1] * 11})
    answer = stubborn(5, table).explain({"x": 1, "z": 0}, k=8, plausibility=None, diversity="values")
    assert answer.status == "feasible"
    assert [counterfactual.row.to_dict() for counterfactual in answer.counterfactuals] == [{"x": x, "z": 1} for x in (6, 7, 8)]
    assert (answer.query.question.unread, answer.query.kept) == ("keep", ())
    assert "Changes z although the model does not read it: no answer was found that leaves it as it is." in str(answer)
    assert likely.Explanation.from_json(answer.to_json()) == answer


def test_an_error_of_the_model_is_told() -> None:
    explainer = stubborn(5.0)
    explainer.model.border = math.nan
    with pytest.raises(
        PredictorError, match=r"A Stubborn must predict rows of the schema; got RuntimeError: out of order. Hint:"
    ):
        explainer.explain({"x": 1.0})


# -- several results as one -------------------------------------------------------------------------------------------


def result(status: Status, objectives: list[float], proven: float) -> Result:
    rows = tuple(Solution(np.array([objective, 0.0]), objective, objective, 0.0) for objective in objectives)
    return Result(status, rows, Bounds(objectives[-1] if objectives else math.inf, proven), Statistics(nodes=3))


def test_the_best_of_several_results() -> None:
    parts = [result("optimal", [2.0, 5.0], 5.0), result("optimal", [1.0, 4.0], 4.0), result("infeasible", [], math.inf)]
    both = merged(parts, Limits(solutions=2))
    assert [solution.objective for solution in both.solutions] == [1.0, 2.0]
    assert both.status == "optimal"
    assert both.bounds == Bounds(2.0, 4.0)
    assert both.statistics.nodes == 9
    assert merged(parts[:1], Limits(solutions=2)) is parts[0]


def test_what_is_left_out_bounds_what_is_proved() -> None:
    parts = [result("optimal", [2.0, 3.0], math.inf), result("feasible", [1.0], 0.5)]
    both = merged(parts, Limits(solutions=2))
    assert both.status == "feasible"
    assert both.bounds == Bounds(2.0, 0.5)
    within = merged(parts, Limits(solutions=3, pool_gap=1.0))
    assert [solution.objective for solution in within.solutions] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("optimal", "unknown", "feasible"),
        ("infeasible", "infeasible", "infeasible"),
        ("infeasible", "unknown", "unknown"),
        ("feasible", "infeasible", "feasible"),
    ],
)
def test_the_claim_of_both(one: Status, other: Status, both: Status) -> None:
    parts = [result(status, [] if status in ("unknown", "infeasible") else [1.0], 0.0) for status in (one, other)]
    assert merged(parts, Limits()).status == both


def test_a_search_that_cannot_bring_a_better_answer_need_not_be_finished() -> None:
    best, late = result("optimal", [1.0], 1.0), result("feasible", [3.0], 2.0)
    assert merged([best, late], Limits()).status == "optimal"
    assert merged([best, late], Limits(solutions=2)).status == "feasible"
    assert merged([best, result("unknown", [], 1.0)], Limits()).status == "optimal"
    assert merged([best, result("unknown", [], 0.9)], Limits()).status == "feasible"
    assert (
        merged([result("optimal", [1.0], math.inf), result("infeasible", [], math.inf)], Limits(solutions=2)).status == "optimal"
    )


def test_the_search_for_a_class_ends_once_it_cannot_bring_a_better_answer() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    explainer = likely.Explainer(model, likely.Schema.infer(X), progress=False).fit(X, y)
    row = X.iloc[60]
    any_class = explainer.explain(row)
    targets = [explainer.explain(row, target=label) for label in (0, 2)]
    assert any_class.status == "optimal"
    assert any_class.best.objective == min(answer.best.objective for answer in targets)
    assert any_class.nodes <= sum(answer.nodes for answer in targets)


# -- dtypes -------------------------------------------------------------------------------------------------------------


def test_rows_as_singles_hold_them() -> None:
    schema = likely.Schema(
        (likely.Continuous("a", 0, 1, dtype="float32"), likely.Continuous("b", 0, 1), likely.Integer("c", 0, 9))
    )
    third = 1 / 3
    rows = rounded_rows(schema, np.array([third, third, 4.0]))
    assert (rows[:, 1:] == [third, 4.0]).all()
    assert (rows[:, 0] == rows[:, 0].astype(np.float32)).all()
    assert rows[:, 0].min() < third < rows[:, 0].max()
    assert np.diff(np.sort(rows[:, 0].astype(np.float32))) == np.spacing(np.float32(third))
    for number in np.random.default_rng(0).uniform(0, 1, 200):  # the nearest single is above half of them, below the others
        singles = rounded_rows(schema, np.array([number, third, 4.0]))[:, 0]
        assert singles.min() < number < singles.max()
    assert (rounded_rows(schema, np.array([0.5, third, 4.0])) == [[0.5, third, 4.0]]).all()
    many_singles = likely.Schema(tuple(likely.Continuous(f"x{j}", 0, 1, dtype="float32") for j in range(9)))
    assert len(rounded_rows(many_singles, np.full(9, third))) == 64


# -- Ctrl-C -------------------------------------------------------------------------------------------------------------


def test_ctrl_c_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes while the third row is searched."""
    begun = threading.Semaphore(0)
    searched = []
    original = batch.drafted

    def slow(fitted: Any, query: Any, margin: float, callback: Any) -> Any:
        if len(searched) == 3:
            threading.Timer(0.05, signal.raise_signal, (signal.SIGINT,)).start()
            begun.acquire(timeout=0.3)
        searched.append(query)
        return original(fitted, query, margin, callback)

    monkeypatch.setattr(batch, "drafted", slow)
    rows = rejected(8)
    with pytest.warns(LikelyWarning, match=r"Explaining was interrupted: \d of 8 rows are finished"):
        explanations = clone(explainer_of()).set_params(n_jobs=1).fit(*table_of()).explain_many(rows)
    assert len(explanations) == 8
    assert [explanation.status for explanation in explanations[:3]] == ["optimal"] * 3
    assert explanations[-1].status == "unknown"
    assert explanations[-1].interrupted
    assert explanations[:3] == explainer_of().explain_many(rows.head(3))


def test_an_error_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("no")

    monkeypatch.setattr(batch, "drafted", broken)
    with pytest.raises(ValueError, match=r"no"):
        explainer_of().explain_many(rejected(4))


def test_no_rows() -> None:
    assert explainer_of().explain_many(rejected(0)) == []


def test_params_of_any_class() -> None:
    class Own(Params):
        def __init__(self, a: int, b: str = "x" * 90) -> None:
            self.a, self.b = a, b

    assert repr(Own(1)) == "Own(a=1)"
    assert repr(Own(1, "y" * 90)) == "Own(a=1, b=<str>)"


def test_what_several_searches_took_is_added_up() -> None:
    parts = [
        Statistics(3, 5, 7, 0.5, 0.1, 0.2, (Progress(0.1, 1, 9.0, 0.0), Progress(0.5, 3, 4.0, 2.0))),
        Statistics(2, 1, 1, 0.25, 0.1, 0.1, (Progress(0.2, 2, 8.0, 1.0),)),
    ]
    both = total(parts)
    assert (both.nodes, both.tested, both.filtered, both.seconds) == (5, 6, 8, 0.75)
    assert (both.seconds_score, both.seconds_likelihood) == (pytest.approx(0.2), pytest.approx(0.3))
    assert both.trace == (*parts[0].trace, Progress(0.7, 5, 8.0, 1.0))


def test_an_explanation_has_what_its_searches_took() -> None:
    answer = explainer_of().explain(rejected().iloc[0], k=3)
    assert answer.statistics.nodes == answer.nodes > 0
    assert answer.statistics.tested > 0
    assert answer.statistics.filtered > 0
    assert answer.statistics.trace
    assert likely.Explanation.from_json(answer.to_json()).statistics == answer.statistics
    several = explainer_of().explain_many(rejected(1), k=3)[0]
    assert (several.statistics.nodes, several.statistics.filtered) == (answer.statistics.nodes, answer.statistics.filtered)


def test_the_list_of_answers_ends_if_an_engine_does_not_keep_to_what_is_excluded() -> None:
    query = explainer_of().explain(rejected().iloc[0], k=5).query
    same = Solution(query.factual + 1.0, 1.0, 1.0, 0.0)
    asked: list[bool] = []

    def search(limits: Limits, further: Constraint | None = None) -> Result:
        asked.append(further is not None)
        return Result("optimal", (same,), Bounds(1.0, 1.0))

    assert len(in_turn(search, query).solutions) == 1
    assert asked == [False, True]
