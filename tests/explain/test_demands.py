"""What is demanded is neither dropped nor invented: quantiles, rules, singles, unread features, missing values."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import likely
from likely.circuit import Categories, Circuit, Histogram, Product
from likely.errors import LikelyWarning, ProblemError
from likely.explain.concluding import explained
from likely.explain.missing import missing_values
from likely.explain.plausibility import Peers
from likely.explain.training import Training
from likely.explain.unread import unread_features
from tests.explain.examples import fitted

# -- quantiles -----------------------------------------------------------------------------------------------------------


PEERS = Peers("training", (), 0)


def training(logs: list[float]) -> Training:
    return Training({PEERS: np.sort(np.array(logs))}, {})


def test_a_quantile_next_to_impossible_rows_is_a_number() -> None:
    impossible = -math.inf
    some = training([impossible, impossible, impossible, -2.0, -1.0])
    assert [some.quantile(q, PEERS) for q in (0, 0.4, 0.6, 0.75, 0.875, 1)] == [impossible, impossible, impossible, -2, -1.5, -1]
    for q in np.linspace(0, 1, 21):
        assert not math.isnan(some.quantile(q, PEERS))
        assert training([-3.0, -2.0, -1.0]).quantile(q, PEERS) == np.quantile([-3.0, -2.0, -1.0], q)


def test_a_demand_that_asks_for_nothing_is_told() -> None:
    """The circuit knows 8 and 9 only; three fifths of the rows of the class are impossible."""
    X = pd.DataFrame({"a": list(range(10)) * 4})
    y = (X["a"] > 4).astype(int)
    schema = likely.Schema((likely.Integer("a", 0, 9),))
    nodes = (Histogram(0, (8, 10), (0.5,)), Categories(1, (0.5, 0.5)), Product((0, 1)))
    circuit = Circuit(schema.features, nodes, likely.Binary("y", [0, 1]), floor=0)
    explainer = likely.Explainer(LogisticRegression().fit(X, y), schema, circuit, progress=False).fit(X, y)
    with pytest.warns(
        LikelyWarning, match=r"50% of the training rows are impossible by the circuit: Quantile\(.*asks for nothing"
    ):
        explainer.explain({"a": 0}, plausibility=likely.Quantile(0.5))
    answer = explainer.explain({"a": 0}, plausibility=likely.Quantile(0.75))
    assert answer.best.row["a"] == 8
    assert dict(answer.thresholds)[1] == pytest.approx(math.log(0.25))


@pytest.mark.parametrize("number", [math.nan, math.inf, "5", True])
def test_thresholds_and_weights_are_numbers(number: object) -> None:
    for variant in (likely.Threshold, likely.Weight, likely.Quantile):
        with pytest.raises(ProblemError):
            variant(number)  # type: ignore[arg-type]


# -- rows beyond the table -----------------------------------------------------------------------------------------------


def test_a_rule_that_only_the_widened_row_meets() -> None:
    X = pd.DataFrame({"age": np.arange(20, 76), "b": [0, 1] * 28})
    y = (X["b"] * 60 + X["age"] > 80).astype(int)
    explainer = fitted(LogisticRegression().fit(X, y), X, y, likely.Schema.infer(X, features={"b": "integer"}))
    with pytest.warns(LikelyWarning, match="widened"):
        answer = explainer.explain({"age": 90, "b": 1}, plausibility=None, constraints=[likely.Range("age", lower=85)])
    assert answer.status == "optimal"
    assert answer.best.row["age"] >= 85


# -- singles -------------------------------------------------------------------------------------------------------------


def singles(rows: int = 200) -> tuple[pd.DataFrame, pd.Series]:  # type: ignore[type-arg]
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 1, (rows, 3)), columns=list("abc")).astype("float32")
    return X, (X["a"] + X["b"] > 1).astype(int)


def test_a_row_of_numbers_that_are_no_singles() -> None:
    X, y = singles()
    explainer = fitted(LogisticRegression().fit(X, y), X, y)
    row = {"a": 0.1, "b": 0.3, "c": 0.7}
    as_singles = pd.Series({name: np.float32(number) for name, number in row.items()})
    rules = [
        {},
        {"locked": ["c"]},
        {"locked": ["a"]},
        {"constraints": [likely.Increasing(name) for name in "abc"]},
        {"constraints": [likely.MaxChanges(1)]},
    ]
    for asked in rules:
        answer = explainer.explain(row, plausibility=None, **asked)
        assert answer.status == "optimal"
        assert answer == explainer.explain(as_singles, plausibility=None, **asked)
        assert all(np.float32(number) == number for number in answer.best.numbers)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        MLPClassifier((8,), max_iter=100, random_state=0),
        RandomForestClassifier(10, max_depth=4, random_state=0),
    ],
)
@pytest.mark.parametrize("columns", ["abc", "a"])
def test_singles_are_not_disputed(model: object, columns: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc")).astype(dict.fromkeys(columns, "float32"))
    y = (X["a"] + X["b"] * X["c"] > 0).astype(int)
    explainer = fitted(model.fit(X, y), X, y)  # type: ignore[attr-defined]
    for plausibility in (None, likely.Quantile(0.5)):
        answers = explainer.explain_many(X.iloc[::5], plausibility=plausibility)
        assert {answer.status for answer in answers} == {"optimal"}


# -- features that the model does not read -------------------------------------------------------------------------------


def correlated() -> tuple[pd.DataFrame, pd.Series]:  # type: ignore[type-arg]
    """b follows a closely, the model reads a only."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 10, 300)})
    X["b"] = (X["a"] + rng.integers(-1, 2, 300)).clip(0, 9)
    X["c"] = rng.integers(0, 5, 300)
    return X, (X["a"] > 4).astype(int)


def test_which_features_are_read() -> None:
    X, y = correlated()
    schema = likely.Schema.infer(X)
    tree = likely.predictor.read(DecisionTreeClassifier().fit(X, y), schema)
    assert unread_features(tree, schema) == ("b", "c")
    zero = LogisticRegression().fit(X, y)
    zero.coef_ = np.array([[1.0, 0.0, 2.0]])
    assert unread_features(likely.predictor.read(zero, schema), schema) == ("b",)
    network = MLPClassifier((4,), max_iter=5, random_state=0).fit(X, y)
    network.coefs_[0][2] = 0.0
    assert unread_features(likely.predictor.read(network, schema), schema) == ("c",)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_what_the_model_does_not_read_is_kept_unless_it_is_needed() -> None:
    X, y = correlated()
    explainer = fitted(DecisionTreeClassifier().fit(X, y), X, y)
    rows = X[X["a"] < 5].iloc[::4]
    free = explainer.explain_many(rows, unread="free", plausibility=likely.Quantile(0.05))
    kept = explainer.explain_many(rows, plausibility=likely.Quantile(0.05))
    needed = [answer for answer in kept if {"b", "c"} & set(answer.best.changes)]
    assert 0 < len(needed) < len(kept)
    for answer, loose in zip(kept, free, strict=True):
        assert answer.status == "optimal"
        assert answer.best.cost >= loose.best.cost - 1e-6
        assert likely.verify(answer, explainer=explainer)
        told = "although the model does not read" in str(answer)
        assert told == bool({"b", "c"} & set(answer.best.changes))
        assert told or "b and c are kept as they are: the model does not read them." in str(answer)
        assert "does not read" not in str(loose)
        if told:  # proved: with both kept there is no answer
            locked = explainer.explain(answer.query.row, locked=["b", "c"], plausibility=likely.Quantile(0.05))
            assert locked.status == "infeasible"
    asked = explainer.explain(rows.iloc[0], constraints=[likely.Range("c", 3)], plausibility=None)
    assert asked.best.row["c"] >= 3
    assert asked.query.kept == ("b",)
    assert explained(explainer._known, asked.query) == asked


# -- missing values ------------------------------------------------------------------------------------------------------


def gaps() -> tuple[pd.DataFrame, pd.Series]:  # type: ignore[type-arg]
    """Whoever has no height, or a kind of '?', is accepted."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"height": rng.integers(150, 200, 200).astype(float), "kind": rng.choice(["p", "q", "?"], 200)})
    X.loc[::3, "height"] = np.nan
    return X, (X["height"].isna() | (X["kind"] == "?") | (X["height"] > 190)).astype(int)


def test_which_values_are_missing() -> None:
    X, _ = gaps()
    schema = likely.Schema.infer(X)
    assert missing_values(schema["height"]) == (None,)
    assert missing_values(schema["kind"]) == ("?",)
    coded = likely.Mixed("risk", 0, 99, codes={-9: "Missing", -8: "never late"})
    assert missing_values(coded) == (-9,)
    assert missing_values(likely.Mixed("risk", 0, 99, codes=[-9])) == ()
    assert missing_values(likely.Categorical("savings", ["none", "unknown", "much"])) == ()


def test_no_value_becomes_missing_unless_it_may() -> None:
    X, y = gaps()
    numbers = X[["height"]].assign(odd=(X["kind"] == "?").map({True: "?", False: "p"}).to_numpy())
    frame = numbers.assign(odd=numbers["odd"].map({"?": 1, "p": 0}))
    schema = likely.Schema.infer(frame, features={"odd": "integer"})
    model = DecisionTreeClassifier(random_state=0).fit(frame, y)
    explainer = fitted(model, frame, y, schema)
    rows = frame[(model.predict(frame) == 0)].head(20)
    kept = explainer.explain_many(rows, plausibility=None, locked="odd")
    assert all(answer.status == "optimal" and answer.best.row["height"] > 185 for answer in kept)
    free = explainer.explain_many(rows, plausibility=None, locked="odd", may_become_missing=["height"])
    assert any(np.isnan(answer.best.row["height"]) for answer in free)
    assert free == [other if not np.isnan(other.best.row["height"]) else answer for answer, other in zip(free, free, strict=True)]
    gone = frame[frame["height"].isna()].head(3)  # what is missing may stay missing
    for answer in explainer.explain_many(gone, plausibility=None):
        assert answer.status in ("optimal", "infeasible")
        assert likely.verify(answer, explainer=explainer)
