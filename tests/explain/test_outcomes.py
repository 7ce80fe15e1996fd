"""Questions for a probability, a prediction, a few features only, against enumeration through the model's own methods."""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import likely
from likely._display.numbers import number_text
from likely.errors import CircuitError, ProblemError

VALUES = {"n": range(8), "s": range(4), "m": range(5)}
MODELS: dict[str, Any] = {
    "forest": RandomForestClassifier(8, max_depth=4, random_state=0),
    "logistic": LogisticRegression(),
    "softmax": LogisticRegression(),
    "forest_regressor": RandomForestRegressor(8, max_depth=4, random_state=0),
    "linear_regressor": LinearRegression(),
}
CLASSIFIERS = ("forest", "logistic", "softmax")
REGRESSORS = ("forest_regressor", "linear_regressor")


def all_rows() -> pd.DataFrame:
    return pd.DataFrame(list(product(*VALUES.values())), columns=list(VALUES))


@cache
def case(kind: str) -> likely.Explainer:
    rng = np.random.default_rng(3)
    X = all_rows().sample(250, replace=True, random_state=3).reset_index(drop=True)
    merit = X["n"] - X["m"] + X["s"] ** 2 / 3 + rng.normal(0, 1, len(X))
    classes = 3 if kind == "softmax" else 2
    edges = np.quantile(merit, np.linspace(0, 1, classes + 1)[1:-1])
    y = merit if kind in REGRESSORS else pd.Series(np.array(["bad", "good", "great"])[np.digitize(merit, edges)])
    model = MODELS[kind].fit(X, y)
    schema = likely.Schema.infer(X, increasing=["m"], features={"s": "ordinal"})
    return likely.Explainer(model, schema, nodes=10, progress=False, n_jobs=1).fit(X, y)


def least_cost(explainer: likely.Explainer, row: pd.Series[Any], wanted: np.ndarray, rules: tuple[Any, ...] = ()) -> float:
    """The cheapest of all rows that the model's own method says to be wanted; plausibility aside."""
    rows, schema = all_rows(), explainer.schema_.with_constraints(*rules)
    costs = [schema.cost(row, other) for i, other in rows.iterrows() if wanted[i] and not schema.violations(row, other)]
    return min(costs, default=math.inf)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("asked", [0.8, (0.4, 0.6), (0.0, 0.25), 0.625])
def test_probabilities_equal_enumeration(kind: str, asked: Any) -> None:
    explainer = case(kind)
    low, high = asked if isinstance(asked, tuple) else (asked, 1.0)
    shares = explainer.model.predict_proba(all_rows())[:, 1]
    wanted = (shares >= low) & (shares <= high)
    for i in (0, 37, 81, 159):
        row = all_rows().iloc[i]
        if wanted[i]:
            with pytest.raises(ProblemError, match="which it has already"):
                explainer.explain(row, target="good", probability=asked, plausibility=None)
            continue
        answer = explainer.explain(row, target="good", probability=asked, plausibility=None, rounding=0, gap=0)
        assert (answer.best.cost if answer else math.inf) == pytest.approx(least_cost(explainer, row, wanted), rel=1e-6)
        if answer:
            share = explainer.model.predict_proba(answer.to_frame())[0, 1]
            assert low <= share <= high
            assert answer.best.label == "good"
            assert likely.verify(answer, explainer).ok
        assert likely.Explanation.from_json(answer.to_json()) == answer


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("asked", [(4.0, None), (None, -1.0), (1.0, 1.5)])
def test_predictions_equal_enumeration(kind: str, asked: Any) -> None:
    explainer = case(kind)
    low, high = (-math.inf if asked[0] is None else asked[0]), (math.inf if asked[1] is None else asked[1])
    predicted = explainer.model.predict(all_rows())
    wanted = (predicted >= low) & (predicted <= high)
    for i in (0, 37, 81, 159):
        row = all_rows().iloc[i]
        if wanted[i]:
            continue
        answer = explainer.explain(row, prediction=asked, plausibility=None, rounding=0, gap=0)
        assert (answer.best.cost if answer else math.inf) == pytest.approx(least_cost(explainer, row, wanted), rel=1e-6)
        if answer:
            assert low <= explainer.model.predict(answer.to_frame())[0] <= high
            assert likely.verify(answer, explainer).ok
            assert answer.best.prediction == pytest.approx(float(explainer.model.predict(answer.to_frame())[0]))
            shown = number_text(float(answer.best.prediction))
            assert f"the model would predict {shown} ({answer.best.label})" in answer.best.sentence
            assert any(line.split()[:1] == ["prediction"] and line.split()[-1] == shown for line in str(answer).splitlines())
            assert f">{shown}</td>" in answer._repr_html_()
            data = answer.to_dict()
            assert data["counterfactuals"][0]["prediction"] == answer.best.prediction
            data["counterfactuals"][0]["prediction"] += 1
            assert not likely.verify(likely.Explanation.from_dict(data), explainer).ok


def test_likely_predictions_and_files(tmp_path: Any) -> None:
    explainer = case("forest_regressor")
    row = all_rows().iloc[0]
    answer = explainer.explain(row, prediction=(3, None))
    assert (answer.best.percentile or 0) >= 49
    assert math.isnan(explainer.accuracy_)
    explainer.save(tmp_path / "saved")
    again = likely.Explainer.load(tmp_path / "saved", explainer.model)
    assert again.explain(row, prediction=(3, None)) == answer
    assert [each.status for each in again.explain_many(all_rows().iloc[:2], prediction=(3, None))] == ["optimal", "optimal"]
    path = tmp_path / "proof"
    answer = explainer.explain(row, prediction=(3, None), certificate=path)
    assert likely.verify(answer, explainer, certificate=path).ok


@pytest.mark.parametrize("kind", ["forest", "logistic"])
def test_only_and_relative_limits_equal_enumeration(kind: str) -> None:
    explainer = case(kind)
    decided = explainer.model.predict(all_rows())
    for i in (37, 81, 120):
        row = all_rows().iloc[i]
        limits = [
            likely.MaxChange("n", up=50, down=25, unit="percent"),
            likely.MaxChange("s", up=1, unit="steps"),
            likely.MaxChange("m", down=1),
        ]
        for rules, only in ((limits, None), ([], ["n"]), (limits[1:], ["s", "m"])):
            answer = explainer.explain(row, constraints=rules, only=only, plausibility=None, rounding=0, gap=0)
            locked = [likely.Immutable(name) for name in VALUES if only is not None and name not in only]
            least = least_cost(explainer, row, decided != decided[i], (*rules, *locked))
            assert (answer.best.cost if answer else math.inf) == pytest.approx(least, rel=1e-6)
            assert only is None or not answer or set(answer.best.changes) <= set(only)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probability": 1.2}, "must be a number between 0 and 1, or two of them"),
        ({"probability": (0.6, 0.4)}, "the smaller one first"),
        ({"prediction": (1, 2)}, "must be asked of a regressor"),
        ({"prediction": 5}, "must be two numbers"),
        ({"probability": 0.8, "prediction": (1, 2)}, "a probability or for a prediction"),
        ({"only": ["height"]}, "height"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(likely.LikelyError, match=message):
        case("forest").explain(all_rows().iloc[0], **options)


def test_refusals_by_model() -> None:
    with pytest.raises(ProblemError, match="say which prediction is wanted"):
        case("linear_regressor").explain(all_rows().iloc[0])
    with pytest.raises(ProblemError, match="be that of a class"):
        case("softmax").explain(all_rows().iloc[0], probability=0.7)
    regressor = case("linear_regressor")
    with pytest.raises(CircuitError, match="be of the features alone"):
        likely.Explainer(regressor.model, regressor.schema_, case("forest").circuit_).fit(all_rows())
