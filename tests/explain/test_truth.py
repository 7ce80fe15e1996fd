"""Answers against enumeration: every row of a small table, judged by the model's own predict and by the circuit."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import likely

VALUES = {"n": range(8), "c": ["a", "b", "d"], "m": range(5)}
CLASSES = ("high", "low", "middle")


def all_rows() -> pd.DataFrame:
    return pd.DataFrame(list(product(*VALUES.values())), columns=list(VALUES))


@cache
def case(classes: int, seed: int) -> tuple[likely.Explainer, Any, pd.DataFrame, pd.Series[Any]]:
    rng = np.random.default_rng(seed)
    X = all_rows().sample(250, replace=True, random_state=seed, weights=rng.random(120)).reset_index(drop=True)
    merit = X["n"] - X["m"] + 3 * (X["c"] == "b") + rng.normal(0, 1, len(X))
    edges = np.quantile(merit, np.linspace(0, 1, classes + 1)[1:-1])
    y = pd.Series(np.array(CLASSES)[np.digitize(merit, edges)], name="rank")
    X["c"] = X["c"].astype("category")
    codes = X.assign(c=X["c"].cat.codes)
    tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(codes.to_numpy(), y)
    schema = likely.Schema.infer(
        X,
        increasing=["m"],
        immutable=["c"] if seed % 2 else [],
        rules=[likely.Implies(likely.when.decreases("n"), likely.when.changes("m"))],
    )
    encoder = [likely.predictor.Raw("n"), likely.predictor.Rank("c"), likely.predictor.Raw("m")]
    circuit = likely.circuit.learn(X, y, schema, nodes=20, progress=False).circuit
    return likely.Explainer(tree, schema, circuit, encoder=encoder, progress=False).fit(X, y), tree, X, y


def answers(
    explainer: likely.Explainer, row: pd.Series[Any], least: dict[str, float], weight: float, given: tuple[str, ...]
) -> pd.DataFrame:
    """Every answer there is: its class, cost, log-likelihood and objective."""
    schema, rows = explainer.schema_, all_rows()
    codes = rows.assign(c=rows["c"].map(VALUES["c"].index))
    labels, shares = explainer.model.predict(codes.to_numpy()), np.sort(explainer.model.predict_proba(codes.to_numpy()), axis=1)
    clear = shares[:, -1] - shares[:, -2] >= 1e-4  # by the margin of score that is asked for
    logs = log_of(explainer, given, rows, labels)
    every = []
    for i, label in enumerate(labels):
        if label in least and clear[i] and logs[i] >= least[label] - 1e-8 and not schema.violations(row, rows.iloc[i]):
            cost = schema.cost(row, rows.iloc[i])
            changed = tuple(name for name in rows.columns if rows[name][i] != row[name])
            every.append({"label": label, "cost": cost, "log": logs[i], "objective": cost - weight * logs[i], "changed": changed})
    return pd.DataFrame(every, columns=["label", "cost", "log", "objective", "changed"])


VARIANTS = [
    (None, 0.0),
    (likely.Quantile(0.5), 0.0),
    (likely.Quantile(0.75, of="all"), 0.2),
    (likely.AtLeastFactual(), 0.0),
    (likely.AtLeastFactual(0.9, of="all"), 0.0),
    (likely.Threshold(-5.5), 0.0),
    (likely.Weight(0.7), 0.0),
    (likely.Quantile(0.4, given="class"), 0.0),
    (likely.Quantile(0.4, given=("immutable", "class")), 0.0),
    (likely.Quantile(0.4, given="immutable", of="all"), 0.3),
]


def unlike(expected: pd.DataFrame) -> list[float]:
    """The objectives of answers none of which changes all that a better one changes."""
    kept: list[tuple[set[str], float]] = []
    for changed, objective in expected.groupby("changed")["objective"].min().sort_values().items():
        if not any(better <= set(changed) for better, _ in kept):
            kept.append((set(changed), float(objective)))
    return [objective for _, objective in kept]


def log_of(explainer: likely.Explainer, given: tuple[str, ...], rows: pd.DataFrame, labels: Any) -> np.ndarray[Any, Any]:
    """log p(row, class | given), from marginals of the circuit."""
    circuit = explainer.circuit_
    fixed = [rule.feature for rule in explainer.schema_.constraints if isinstance(rule, likely.Immutable)]
    known = [name for name in fixed if "immutable" in given]
    joint = circuit.log_likelihood(rows, labels)
    if not known and "class" not in given:
        return joint
    blank = np.full((len(rows), len(circuit.features)), np.nan)
    encoded = circuit.encode(rows, labels)
    for name in known:
        blank[:, circuit.index(name)] = encoded[:, circuit.index(name)]
    return joint - circuit.log_likelihood(blank, labels if "class" in given else None)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("variant", "weight"), VARIANTS, ids=str)
def test_equals_enumeration(classes: int, variant: Any, weight: float) -> None:
    for seed in range(2):
        explainer, tree, X, y = case(classes, seed)
        given = () if variant is None else variant.given
        logs = log_of(explainer, given, X, y)
        for i in range(0, 60, 20):
            row = X.iloc[i]
            before = tree.predict(X.iloc[[i]].assign(c=X["c"].cat.codes[i]).to_numpy())[0]
            least = {}
            for label in set(tree.classes_) - {before}:
                least[label] = -np.inf
                if isinstance(variant, likely.Quantile):
                    least[label] = np.quantile(logs[y == label] if variant.of == "class" else logs, variant.q)
                elif isinstance(variant, likely.AtLeastFactual):
                    cap = np.quantile(logs[y == label] if variant.of == "class" else logs, variant.most)
                    least[label] = min(log_of(explainer, given, X.iloc[[i]], before)[0], cap)
                elif isinstance(variant, likely.Threshold):
                    least[label] = variant.log_likelihood
            total = variant.weight if isinstance(variant, likely.Weight) else weight
            expected = answers(explainer, row, least, total, given)
            answer = explainer.explain(row, k=4, plausibility=variant, weight=weight)
            assert answer.query.label == before
            assert answer.status == ("optimal" if len(expected) else "infeasible")
            best = unlike(expected)[:4]
            assert [counterfactual.objective for counterfactual in answer.counterfactuals] == pytest.approx(best, abs=1e-6)
            for counterfactual in answer.counterfactuals:
                near = expected[(expected["label"] == counterfactual.label) & np.isclose(expected["cost"], counterfactual.cost)]
                assert np.isclose(near["log"], counterfactual.log_likelihood).any()
                among = logs if variant is not None and variant.of == "all" else logs[y == counterfactual.label]
                assert counterfactual.percentile == pytest.approx(100 * np.mean(among <= counterfactual.log_likelihood + 1e-8))
            assert likely.verify(answer, tree, explainer.circuit_, encoder=explainer.encoder)


def test_front_by_likelihood() -> None:
    """No row is both cheaper and likelier than a point; and each quantile has its cheapest row among the points."""
    for seed in range(2):
        explainer, tree, X, y = case(2, seed)
        logs = explainer.circuit_.log_likelihood(X, y)
        row = X.iloc[3]
        label = "low" if tree.predict(X.iloc[[3]].assign(c=X["c"].cat.codes[3]).to_numpy())[0] == "high" else "high"
        everything = answers(explainer, row, {label: -np.inf}, 0.0, ())
        front = explainer.front(row)
        frame = front.to_frame()
        assert (frame["status"] == "optimal").all()
        assert frame["cost"].is_monotonic_increasing
        assert frame["log_likelihood"].is_monotonic_increasing
        for q in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95):
            threshold = np.quantile(logs[y == label], q)
            cheapest = everything["cost"][everything["log"] >= threshold].min()
            reached = frame["cost"][frame["log_likelihood"] >= threshold].min()
            assert reached == pytest.approx(cheapest, abs=1e-6, nan_ok=True)
        assert (front.beyond is None) == (everything["log"].max() >= np.quantile(logs[y == label], 0.95))
        assert str(front).count("\n") == len(front) + 2


def test_front_by_changes() -> None:
    explainer, _, X, _ = case(2, 0)
    for i in range(5):
        front = explainer.front(X.iloc[i], by="changes", plausibility=likely.Quantile(0.3))
        changes = [point.best.number_of_changes for point in front.points]
        costs = [point.best.cost for point in front.points]
        assert changes == sorted(set(changes))
        assert costs == sorted(costs, reverse=True)
        for point in front.points:
            most = likely.MaxChanges(point.best.number_of_changes)
            direct = explainer.explain(X.iloc[i], plausibility=likely.Quantile(0.3), constraints=[most])
            assert direct.best.cost == pytest.approx(point.best.cost, abs=1e-6)


def test_why_not_asks_for_one_class() -> None:
    explainer, tree, X, _ = case(3, 0)
    locked = list(X.columns)
    row = X.iloc[0]
    with pytest.raises(
        likely.errors.ProblemError, match=r"why_not must be asked about one class; got any of 2. Hint: give target="
    ):
        explainer.why_not(row, locked=locked)
    other = next(c for c in tree.classes_ if c != explainer.explain(row).query.label)
    conflict = explainer.why_not(row, target=other, locked=locked)
    assert conflict.reasons
