"""What the model says of a row as it is; an explainer that asks it about the same row once; and searches that are ended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely
from likely.explain import Explanation, remembering
from likely.problem import Progress
from tests.explain.examples import circuit_of, explainer_of, fitted, model_of, rejected, table_of


def test_a_decision_is_the_models_own() -> None:
    X, _ = table_of()
    for _, row in X.head(5).iterrows():
        decision = explainer_of().decide(row)
        assert decision.label == model_of().predict(row.to_frame().T.astype(X.dtypes))[0]
        shares = model_of().predict_proba(row.to_frame().T.astype(X.dtypes))[0]
        assert decision.probabilities is not None
        assert [label for label, _ in decision.probabilities] == list(model_of().classes_)
        np.testing.assert_allclose([share for _, share in decision.probabilities], shares)


def test_a_decision_says_how_likely_the_row_is() -> None:
    X, _ = table_of()
    logs = np.array([explainer_of().decide(row).log_likelihood for _, row in X.head(20).iterrows()])
    labels = model_of().predict(X.head(20))
    whole = np.column_stack([explainer_of().schema_.encode(X.head(20)), [circuit_of().target.number(label) for label in labels]])  # type: ignore[union-attr]
    np.testing.assert_allclose(logs, likely.circuit.log_likelihood(circuit_of(), whole))
    percentiles = [explainer_of().decide(row).percentile for _, row in X.head(20).iterrows()]
    order = [np.argsort(values, kind="stable") for values in (logs[labels == "no"], np.array(percentiles)[labels == "no"])]
    np.testing.assert_array_equal(*order)


def test_a_row_with_an_unknown_has_a_likelihood_alone() -> None:
    decision = explainer_of().decide({**table_of()[0].iloc[0], "age": None})
    assert (decision.label, decision.probabilities, decision.percentile) == (None, None, None)
    assert decision.log_likelihood > explainer_of().decide(table_of()[0].iloc[0]).log_likelihood


def test_a_regressor_has_a_prediction() -> None:
    from sklearn.linear_model import LinearRegression

    X, _ = table_of()
    numbers = X[["age", "income", "months"]]
    model = LinearRegression().fit(numbers, X["debt"])
    circuit = likely.circuit.learn(numbers, method="histograms", nodes=10, progress=False).circuit
    explainer = likely.Explainer(model, likely.Schema.infer(numbers), circuit, progress=False).fit(numbers)
    decision = explainer.decide(numbers.iloc[0])
    assert decision.label == pytest.approx(model.predict(numbers.head(1))[0])
    assert decision.probabilities is None
    assert decision.percentile is not None


class Counting:
    """A model that counts the rows it is asked about."""

    def __init__(self, model: Any) -> None:
        self.asked = 0
        self._model, self._predict = model, model.predict

    def __call__(self, rows: Any) -> Any:
        self.asked += len(rows)
        return self._predict(rows)


def without_time(explanation: Explanation) -> dict[str, Any]:
    return {key: value for key, value in explanation.to_dict().items() if key not in ("seconds", "statistics", "digest", "nodes")}


def test_who_remembers_says_the_same() -> None:
    quick = explainer_of().remembering()
    for _, row in rejected(4).iterrows():
        for options in ({"k": 2}, {"locked": ["age"]}, {"probability": 0.7}, {"k": 2}):
            assert without_time(quick.explain(row, **options)) == without_time(explainer_of().explain(row, **options))
        assert quick.decide(row) == explainer_of().decide(row) == quick.decide(row)


def test_who_remembers_asks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = table_of()
    numbers = X[["age", "income", "debt"]]
    model = LogisticRegression(max_iter=1000).fit(numbers, y)
    quick = fitted(model, numbers, y).remembering()
    counting = Counting(model)
    monkeypatch.setattr(model, "predict", counting)
    row = numbers[model.predict(numbers) == "no"].iloc[0]
    quick.explain(row)
    asked = counting.asked
    assert quick.explain(row).status == "optimal"
    assert counting.asked == asked
    monkeypatch.setattr(remembering, "MOST", 1)
    for _, other in numbers.tail(3).iterrows():
        quick.decide(other)
    quick.decide(row)
    assert counting.asked == asked + 4, "what was not asked for longest is forgotten"


def test_a_trade_off_and_a_reason_end_when_they_are_told_to() -> None:
    asked: list[Progress] = []

    def end(progress: Progress) -> bool:
        asked.append(progress)
        return False

    def on(progress: Progress) -> bool:
        return True

    row = rejected(1).iloc[0]
    assert len(explainer_of().front(row, callback=on)) == len(explainer_of().front(row))
    assert str(explainer_of().why_not(row, only=["age"], callback=on)) == str(explainer_of().why_not(row, only=["age"]))
    front = explainer_of().front(row, callback=end)
    assert len(front) <= len(explainer_of().front(row))
    assert not asked or front.beyond is None or front.beyond.status in ("unknown", "infeasible")


@pytest.mark.parametrize(
    ("part", "value"),
    [("seconds", "inf"), ("nodes", None), ("margin", True), ("reason", 3), ("interrupted", 1), ("thresholds", [[[], 0.0]])],
)
def test_parts_of_other_kinds_are_refused(part: str, value: Any) -> None:
    data = {**explainer_of().explain(rejected(1).iloc[0]).to_dict(), part: value}
    with pytest.raises(likely.LikelyError, match="must have all its parts and no others"):
        Explanation.from_dict(data)
