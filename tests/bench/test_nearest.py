"""The nearest row of a table, against a loop over its rows with nothing but the public face."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import likely
from likely.bench import Pool, nearest_row
from likely.explain.plausibility import Variant
from tests.explain.examples import circuit_of, explainer_of, fitted, loans, model_of, rejected, schema_of, table_of

VARIANTS = [None, likely.Quantile(0.5), likely.Quantile(0.7, of="all"), likely.AtLeastFactual(), likely.Weight(0.3)]


def by_hand(explanation: likely.Explanation, row: pd.Series, X: pd.DataFrame) -> tuple[int, float] | None:
    """The place and the objective of the best row of a table."""
    thresholds, best = dict(explanation.thresholds), None
    said = model_of().predict(X)
    for place in range(len(X)):
        if said[place] == explanation.query.label or schema_of().violations(row, X.iloc[place]):
            continue
        log = float(circuit_of().log_likelihood(X.iloc[[place]], [said[place]])[0])
        if log < thresholds.get(said[place], -math.inf):
            continue
        objective = schema_of().cost(row, X.iloc[place]) - explanation.query.total_weight * log
        if best is None or objective < best[1] - 1e-12:
            best = place, objective
    return best


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_it_is_the_best_row_of_the_table(variant: Variant | None) -> None:
    X = table_of()[0].head(120)
    pool, checked = Pool.of(explainer_of(), X), 0
    for i in range(6):
        row = rejected().iloc[i]
        explanation = explainer_of().explain(row, plausibility=variant)
        nearest, expected = nearest_row(explanation, pool), by_hand(explanation, row, X)
        assert (nearest is None) == (expected is None)
        if nearest is not None:
            checked += 1
            assert (nearest.place, nearest.label) == (expected[0], "yes")
            assert nearest.objective == pytest.approx(expected[1], abs=1e-9)
            assert nearest.cost == pytest.approx(schema_of().cost(row, X.iloc[nearest.place]))
            assert nearest.objective >= explanation.best.objective - 1e-9
    assert checked


def test_what_likelihood_is_given() -> None:
    """Given the class and the telephone, as the definition says: p(row, class) / p(class, telephone)."""
    X, row = table_of()[0], rejected().iloc[0]
    explanation = explainer_of().explain(row, plausibility=likely.Quantile(0.6, given=("class", "immutable")))
    nearest = nearest_row(explanation, Pool.of(explainer_of(), X))
    holds = []
    for place in np.flatnonzero(model_of().predict(X) == "yes"):
        known = X.iloc[[place]].copy()
        log = circuit_of().log_likelihood(known, ["yes"])[0]
        encoded = circuit_of().encode(known, ["yes"])
        given = np.where([name in ("telephone", circuit_of().target.name) for name in circuit_of().names], encoded, np.nan)
        log -= likely.circuit.log_likelihood(circuit_of(), given)[0]
        if log >= dict(explanation.thresholds)["yes"] and not schema_of().violations(row, X.iloc[place]):
            holds.append((schema_of().cost(row, X.iloc[place]), place))
    assert nearest is not None
    assert nearest.place == min(holds)[1]
    assert len(holds) < (model_of().predict(X) == "yes").sum()


def test_rows_that_are_not_complete_or_not_allowed() -> None:
    X = table_of()[0].copy()
    row = rejected().iloc[0]
    explanation = explainer_of().explain(row, plausibility=None)
    first = nearest_row(explanation, Pool.of(explainer_of(), X))
    X.loc[X.index[first.place], "income"] = np.nan
    second = nearest_row(explanation, Pool.of(explainer_of(), X))
    assert second.place != first.place
    assert second.cost >= first.cost
    X.loc[X.index[second.place], "age"] = 300  # no value of the feature
    third = nearest_row(explanation, Pool.of(explainer_of(), X))
    assert third.place not in (first.place, second.place)
    assert nearest_row(explanation, Pool.of(explainer_of(), rejected())) is None


def test_several_classes_and_no_target_of_the_circuit() -> None:
    table = loans(200)
    X = table[["age", "months", "income"]]
    y = pd.cut(table["income"], [0, 2000, 3500, np.inf], labels=["low", "middle", "high"]).astype(str)
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    explainer = fitted(model, X, y)
    pool = Pool.of(explainer, X)
    row = X[model.predict(X) == "low"].iloc[0]
    costs = {place: explainer.schema_.cost(row, X.iloc[place]) for place in range(len(X))}
    said = model.predict(X)
    for target, labels in ((None, ("middle", "high")), ("high", ("high",))):
        nearest = nearest_row(explainer.explain(row, target=target, plausibility=None, unread="free"), pool)
        assert nearest.cost == pytest.approx(min(cost for place, cost in costs.items() if said[place] in labels))
        assert nearest.label == said[nearest.place]
    circuit = likely.circuit.learn(X, schema=explainer.schema_, nodes=10, progress=False).circuit
    plain = likely.Explainer(model, explainer.schema_, circuit).fit(X, y)
    explanation = plain.explain(row, target="high", plausibility=likely.Quantile(0.5), unread="free")
    nearest = nearest_row(explanation, Pool.of(plain, X))
    logs = circuit.log_likelihood(X)
    least = dict(explanation.thresholds)["high"]
    assert nearest.cost == pytest.approx(min(costs[i] for i in range(len(X)) if said[i] == "high" and logs[i] >= least))


def test_what_the_model_does_not_read_stays_as_in_the_answers() -> None:
    """The tree reads the income alone: every known value but that stays as the row has it, in answers and in the nearest row."""
    X = loans(200)[["age", "months", "income"]]
    y = np.where(X["income"] > 2500, "yes", "no")
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    explainer = fitted(model, X, y)
    said, row = model.predict(X), X[model.predict(X) == "no"].iloc[0]
    for variant in (None, likely.Quantile(0.3)):
        explanation = explainer.explain(row, plausibility=variant)
        assert set(explanation.query.kept) == {"age", "months"}
        moved = X.assign(age=row["age"], months=row["months"])
        logs = explainer.circuit_.log_likelihood(moved, said)
        least = dict(explanation.thresholds).get("yes", -math.inf)
        costs = [explainer.schema_.cost(row, moved.iloc[i]) for i in np.flatnonzero((said == "yes") & (logs >= least))]
        nearest = nearest_row(explanation, Pool.of(explainer, X))
        assert nearest.cost == pytest.approx(min(costs))
        assert nearest.cost >= explanation.best.cost - 1e-9
