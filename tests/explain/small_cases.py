"""Small tables of which every change can be gone through, with models of them; and the oracle that goes through them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import likely
from likely.explain.group_moves import GroupMove

KINDS = ("a", "b", "c")
ENCODER = [likely.predictor.Raw("amount"), likely.predictor.Raw("years"), likely.predictor.Rank("kind")]


@cache
def case(model: str, seed: int, amounts: int = 12) -> tuple[likely.Explainer, pd.DataFrame]:
    """An explainer and its table: an amount (many values or few), years that may only rise, a kind."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"amount": rng.integers(0, amounts, 160), "years": rng.integers(0, 7, 160), "kind": rng.choice(KINDS, 160)})
    X.iloc[:3] = [[0, 0, "a"], [amounts - 1, 6, "b"], [0, 3, "c"]]  # the whole domain
    merit = -4 * X["amount"] / amounts + 0.6 * X["years"] + X["kind"].map({"a": 0.0, "b": 1.2, "c": -0.7})
    y = np.where(merit + rng.normal(0, 0.8, len(X)) > merit.median() + 0.5, "yes", "no")
    codes = X.assign(kind=X["kind"].map(KINDS.index)).to_numpy(dtype=float)
    classifiers: dict[str, Any] = {
        "tree": DecisionTreeClassifier(max_depth=5, random_state=seed),
        "linear": LogisticRegression(C=10.0, max_iter=1000),
        "network": MLPClassifier((4,), max_iter=80, random_state=seed, learning_rate_init=0.02),
    }
    X["kind"] = X["kind"].astype("category")
    weights = dict(zip(X.columns, rng.uniform(0.5, 2.0, 3), strict=True))
    rule = likely.Implies(likely.when.changes("kind"), likely.when.at_least("years", 1))
    schema = likely.Schema.infer(X, increasing=["years"], rules=[rule], weights=weights)
    fitted = classifiers[model].fit(codes / (1 if model == "tree" else [amounts, 7, 3]), y)
    if model != "tree":
        fitted = _Scaled.of(fitted, amounts)
    circuit = likely.circuit.learn(X, y, schema, method="histograms", nodes=15, progress=False).circuit
    explainer = likely.Explainer(fitted, schema, circuit, encoder=ENCODER, progress=False, n_jobs=1)
    return explainer.fit(X, pd.Series(y, name="granted")), X


class _Scaled:
    """Models that were trained on scaled inputs, as pipelines of their scaler."""

    @staticmethod
    def of(model: Any, amounts: int) -> Any:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler(with_mean=False)
        scaler.fit(np.ones((2, 3)))
        scaler.scale_, scaler.var_ = np.array([amounts, 7.0, 3.0]), np.array([amounts, 7.0, 3.0]) ** 2
        return make_pipeline(scaler, model)


def rejected(explainer: likely.Explainer, X: pd.DataFrame, count: int) -> pd.DataFrame:
    """Some rows that the model refuses."""
    labels = explainer.model.predict(codes_of(X))
    return X[labels == "no"].head(count)


def codes_of(X: pd.DataFrame) -> Any:
    return np.column_stack([X["amount"], X["years"], X["kind"].map(KINDS.index).astype(float)]).astype(float)


def scores_of(explainer: likely.Explainer, codes: Any) -> Any:
    """How much more probable "yes" is than not, by the model itself; 0 is the boundary."""
    shares = explainer.model.predict_proba(codes)[:, list(explainer.model.classes_).index("yes")]
    if hasattr(explainer.model, "tree_"):
        return 2 * shares - 1
    return np.log(shares) - np.log1p(-shares)


# -- changes of a whole group -------------------------------------------------------------------------------------------


def every_move(explainer: likely.Explainer) -> Iterator[GroupMove]:
    """Every value that a feature may be set to, every amount that it may be shifted by."""
    for feature in explainer.schema_.features:
        last = int(feature.upper)
        for value in range(int(feature.lower), last + 1):
            yield GroupMove(feature, "set", float(value))
        if feature.numeric:
            for by in range(-last, last + 1):
                if by:
                    yield GroupMove(feature, "shift", float(by))


def all_turned(
    explainer: likely.Explainer, rows: pd.DataFrame, changes: Sequence[tuple[GroupMove, ...]], least: float | None
) -> tuple[Any, Any, float]:
    """What each change costs the members on average, how many it turns, and how near to the boundary some row is.

    By the model's own predict_proba, the schema's rules and prices, and the circuit's likelihood.
    """
    schema, before = explainer.schema_, explainer.schema_.encode(rows)
    after = np.tile(before, (len(changes), 1, 1))
    for i, moves in enumerate(changes):
        for move in moves:
            j = schema.index(move.feature.name)
            new = np.full(len(rows), move.number) if move.kind == "set" else before[:, j] + move.number
            inside = (new >= move.feature.lower) & (new <= move.feature.upper)
            after[i, :, j] = np.where(inside, new, before[:, j])
    flat = after.reshape(-1, len(schema))
    scores = scores_of(explainer, flat)
    turned = (scores > 1e-4).reshape(len(changes), len(rows))
    if least is not None:
        logs = explainer.circuit_.log_likelihood(schema.decode(flat), ["yes"] * len(flat))
        turned &= (logs >= least - 1e-8).reshape(turned.shape)
    for i, factual in enumerate(before):
        turned[:, i] &= schema.keeps(factual, after[:, i])
    costs = np.mean([schema.prices(factual, after[:, i]) for i, factual in enumerate(before)], axis=0)
    return costs, turned.sum(axis=1), float(np.abs(scores - 1e-4).min())


# -- changes of one row -------------------------------------------------------------------------------------------------


def costs_of_sets(explainer: likely.Explainer, row: pd.Series[Any]) -> dict[frozenset[str], float]:
    """The cost of the cheapest change of nothing but each set of features that turns the decision; only rules of rows count."""
    schema = explainer.schema_
    factual = schema.encode_row(row)
    values = [range(int(feature.lower), int(feature.upper) + 1) for feature in schema.features]
    every = np.array(list(product(*values)), dtype=float)
    scores = scores_of(explainer, every)
    if np.abs(scores - 1e-4).min() < 1e-6:
        return {}
    rows = every[scores > 1e-4]
    rules = [rule for rule in schema.constraints if rule.row_wise]
    for rule in rules:
        rows = rows[[bool(all(one.satisfied(each[None])[0] for one in rule.compile(schema, factual))) for each in rows]]
    prices = schema.prices(factual, rows)
    changed = rows != factual
    costs = {}
    for size in (1, 2, 3):
        for places in combinations(range(3), size):
            others = [j for j in range(3) if j not in places]
            fitting = prices[~changed[:, others].any(axis=1)]
            costs[frozenset(str(schema.names[j]) for j in places)] = float(fitting.min()) if len(fitting) else np.inf
    return costs
