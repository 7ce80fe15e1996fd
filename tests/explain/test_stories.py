"""What users do, from their own table and model to an answer."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import likely
from likely.errors import (
    CircuitError,
    ExplainerError,
    LikelyWarning,
    PredictorError,
    ProblemError,
    SchemaError,
)
from likely.explain.plausibility import Peers
from likely.problem import SCORE_MARGIN, Limits, Progress
from tests.explain.examples import (
    circuit_of,
    explainer_of,
    fitted,
    loans,
    model_of,
    pipeline,
    rejected,
    schema_of,
    table_of,
)


def test_pipeline_with_one_hot_and_scaler() -> None:
    answer = explainer_of().explain(rejected().iloc[0])
    assert answer.status == "optimal"
    assert answer.bounds.upper == answer.best.cost
    assert model_of().predict(answer.to_frame())[0] == "yes"
    assert likely.verify(answer, model_of(), circuit_of())


def test_everything_is_inferred_and_learned() -> None:
    X, y = table_of()
    explainer = likely.Explainer(model_of(), progress=False).fit(X.head(80), y.head(80))
    assert explainer.schema_ == likely.Schema.infer(X.head(80))
    assert explainer.circuit_.target is not None
    assert explainer.classes_ == ("no", "yes")
    assert model_of().predict(explainer.explain(rejected().iloc[0]).to_frame())[0] == "yes"


def test_without_y_the_models_decisions_are_the_classes() -> None:
    X, _ = table_of()
    explainer = likely.Explainer(model_of(), schema_of(), circuit_of()).fit(X)
    count = (model_of().predict(X) == "yes").sum()
    assert len(explainer._known.training.logs_of(Peers("training", (), 1))) == count


@pytest.mark.slow
def test_xgboost_with_missing_values() -> None:
    """Rows with a gap are explained, answers may have one, and the model itself agrees about both."""
    xgboost = pytest.importorskip("xgboost")
    table = loans(200)
    X, y = table[["age", "income", "debt"]].astype({"income": "float64"}), (table["granted"] == "yes").astype(int)
    X.loc[::7, "income"] = np.nan
    model = xgboost.XGBClassifier(n_estimators=10, max_depth=3).fit(X, y)
    explainer = fitted(model, X, y)
    before = model.predict(X)
    ways = set()
    for i, answer in enumerate(explainer.explain_many(X, plausibility=likely.Quantile(0.1), may_become_missing=True)):
        assert answer.status == "optimal"
        frame = answer.to_frame()
        assert model.predict(frame)[0] == answer.best.label == 1 - before[i]
        assert likely.Explanation.from_json(answer.to_json()) == answer
        gaps = bool(pd.isna(X["income"].iloc[i])), bool(pd.isna(frame["income"].iloc[0]))
        assert gaps[0] == gaps[1] or (None in answer.best.changes["income"])
        ways.add(gaps)
        if gaps[0] != gaps[1] or i < 5:
            assert likely.verify(answer, model, explainer.circuit_)
    assert ways == {(False, False), (False, True), (True, True), (True, False)}


@pytest.mark.slow
def test_torch_with_several_classes() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=150), "b": rng.normal(size=150), "n": rng.integers(0, 9, 150)})
    classes = ["low", "middle", "high"]
    y = pd.Series(np.array(classes)[np.digitize(X["a"] + X["b"], [-0.6, 0.6])])
    scaler = StandardScaler().fit(X)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    inputs, labels = torch.tensor(scaler.transform(X), dtype=torch.float32), torch.tensor(y.map(classes.index).to_numpy())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
    explainer = fitted(model, X, y, encoder=scaler, classes=classes)
    with torch.no_grad():
        before = np.array(classes)[model(inputs).argmax(dim=1).numpy()]
    for i in range(4):
        answer = explainer.explain(X.iloc[i], plausibility=likely.Quantile(0.2), k=2)
        assert answer.query.label == before[i]
        rows = torch.tensor(scaler.transform(answer.to_frame()), dtype=torch.float32)
        with torch.no_grad():
            after = np.array(classes)[model(rows).argmax(dim=1).numpy()]
        assert (after != before[i]).all()
        assert [counterfactual.label for counterfactual in answer.counterfactuals] == after.tolist()
        assert likely.verify(answer, model, explainer.circuit_, encoder=scaler, classes=classes)


@pytest.mark.slow
def test_what_is_frozen_never_changes() -> None:
    """Two hundred factuals of both classes; without what is forbidden, many of the answers would do it."""
    rows = table_of()[0].head(200)
    answers = explainer_of().explain_many(rows, locked=["months"], plausibility=likely.Quantile(0.1))
    for (_, row), answer in zip(rows.iterrows(), answers, strict=True):
        for counterfactual in answer.counterfactuals:
            assert counterfactual.row["telephone"] == row["telephone"]
            assert counterfactual.row["months"] == row["months"]
            assert counterfactual.row["age"] >= row["age"]
    assert sum(bool(answer) for answer in answers) > 190
    free = fitted(model_of(), *table_of()).explain_many(rows, plausibility=likely.Quantile(0.1))
    assert all(
        answer.status == "optimal" and answer.margin == SCORE_MARGIN for answer in free
    )  # real numbers, at the boundary itself
    assert sum("months" in answer.best.changes for answer in free) > 50
    assert sum(answer.best.row["age"] < answer.query.row["age"] for answer in free) > 0


def test_one_column_is_at_most_another() -> None:
    """The least and the greatest offer: what the model rewards is the least one, so the rule is in the way of most answers."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"least": rng.integers(0, 50, 250)})
    X["most"], X["rate"] = X["least"] + rng.integers(0, 6, 250), rng.normal(size=250).round(2)
    y = np.where(X["least"] + 4 * X["rate"] > 25, "yes", "no")
    model = pipeline(LogisticRegression(), ()).fit(X, y)
    schema = likely.Schema.infer(X, rules=[likely.LinearConstraint.ordered("least", "most")])
    bound, free = fitted(model, X, y, schema), fitted(model, X, y)
    rows = X[model.predict(X) == "no"]
    broken = 0
    for with_rule, without in zip(
        bound.explain_many(rows, k=2, plausibility=None), free.explain_many(rows, plausibility=None), strict=True
    ):
        frame = with_rule.to_frame()
        assert with_rule.status == "optimal"
        assert (frame["least"] <= frame["most"]).all()
        assert (model.predict(frame) == "yes").all()
        best = without.best.row
        broken += best["least"] > best["most"]
        if best["least"] <= best["most"]:  # the rule is not in its way
            assert with_rule.best.cost == pytest.approx(without.best.cost, rel=1e-6)
        else:
            assert with_rule.best.cost > without.best.cost
    assert broken > len(rows) / 2 > 50


def test_dtypes_stay() -> None:
    """Whole numbers stay whole, cents stay cents, and every column has the dtype that it had."""
    X, _ = table_of()
    answers = explainer_of().explain_many(rejected(40), k=2, plausibility=likely.Quantile(0.25))
    moved = {name for answer in answers for counterfactual in answer.counterfactuals for name in counterfactual.changes}
    assert moved >= {"age", "months", "income", "debt"}
    for answer in answers:
        frame = answer.to_frame()
        assert (frame.dtypes == X.dtypes).all()
        for counterfactual in answer.counterfactuals:
            assert all(type(value) in (int, float, str, bool) for pair in counterfactual.changes.values() for value in pair)
            assert all(type(value) is int for name in ("age", "months") for value in counterfactual.changes.get(name, ()))
            cents = [100 * value for name in ("income", "debt") for value in counterfactual.changes.get(name, ())]
            assert np.allclose(cents, np.round(cents), rtol=0, atol=1e-6)
        written = json.loads(answer.to_json())["counterfactuals"]
        assert all(type(value) is int for counterfactual in written for value in counterfactual["changes"].get("age", ()))


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("last", [LogisticRegression(), DecisionTreeClassifier(max_depth=4), MLPClassifier((8,), max_iter=200)])
def test_points_at_the_boundary_of_singles(last: object) -> None:
    """The answer lies as close to the boundary as it can, in a column that holds few digits."""
    table = loans(150)
    X, y = table[["income", "debt", "age"]].astype({"income": "float32", "debt": "float32"}), table["granted"]
    X["income"] *= np.float32(1000)
    model = (
        pipeline(last, ()).set_params(mlpclassifier__random_state=0) if isinstance(last, MLPClassifier) else pipeline(last, ())
    )
    model.fit(X, y)
    explainer = fitted(model, X, y)
    rows = X[model.predict(X) == "no"].head(15)
    closer_rows = 0
    for i, answer in enumerate(explainer.explain_many(rows, plausibility=None, rounding=0)):
        assert answer.status == "optimal"
        frame = answer.to_frame()
        assert frame.dtypes["income"] == np.float32
        assert model.predict(frame)[0] == "yes"
        assert likely.verify(answer, model, explainer.circuit_)
        for name in {"income", "debt"} & answer.best.changes.keys():  # closer in one of them, it is refused, but for the margin
            closer = frame.assign(**{name: np.float32(frame[name] + 0.01 * (rows[name].iloc[i] - frame[name]))})
            assert model.predict_proba(closer)[0][1] < 0.5 + SCORE_MARGIN
            closer_rows += 1
    assert closer_rows >= len(rows) / 2


@pytest.mark.parametrize("labels", [["refused", "granted"], [False, True], [0, 1], [7, -1]])
def test_labels_of_any_kind(labels: list[object]) -> None:
    X, y = table_of()
    y = y.map(dict(zip(["no", "yes"], labels, strict=True)))
    model = pipeline(LogisticRegression()).fit(X, y)
    explainer = fitted(model, X, y, schema_of())
    row = X[model.predict(X) == labels[0]].iloc[0]
    answer = explainer.explain(row)
    assert answer.query.label == labels[0]
    assert answer.best.label == labels[1]
    assert type(answer.best.label) is type(labels[1])
    assert explainer.explain(row, target=labels[1]) == answer


def test_an_unseen_category() -> None:
    row = {**rejected().iloc[0], "housing": "houseboat"}
    with pytest.raises(
        SchemaError, match=r"Feature 'housing' must have a known value; got 'houseboat'. Hint: use one of 'for free'"
    ):
        explainer_of().explain(row)


def test_a_row_without_a_feature() -> None:
    row = rejected().iloc[0].drop("age")
    with pytest.raises(SchemaError, match=r"A row must have a value of feature 'age'; got none"):
        explainer_of().explain(row)
    with pytest.raises(SchemaError, match=r"A feature must be in the schema; got 'agee'"):
        explainer_of().explain(rejected().iloc[0], locked="agee")


def test_an_unknown_value_of_a_row() -> None:
    row = {**rejected().iloc[0], "income": np.nan}
    message = "A row to explain without a target must have a value of feature 'income'; got an unknown. Hint: fill it in"
    with pytest.raises(SchemaError, match=message):
        explainer_of().explain(row)
    answer = explainer_of().explain(row, target="yes")
    assert answer.query.label is None
    assert answer.best.changes["income"][0] is None
    assert answer.best.probability_before is None
    assert "(unknown now)" in answer.best.sentence
    assert model_of().predict(answer.to_frame())[0] == "yes"
    assert likely.verify(answer, model_of(), circuit_of())
    assert likely.Explanation.from_json(answer.to_json()) == answer
    with pytest.raises(ProblemError, match=r"A row for AtLeastFactual must be complete; got an unknown value"):
        explainer_of().explain(row, target="yes", plausibility=likely.AtLeastFactual())


def test_a_value_outside_the_domain_widens_it() -> None:
    row = {**rejected().iloc[0], "age": 101}
    with pytest.warns(LikelyWarning, match=r"Feature 'age' of the factual is 101, outside 19 to 74"):
        answer = explainer_of().explain(row, plausibility=None)
    assert answer.best.row["age"] >= 101


def test_a_model_of_one_class() -> None:
    X, y = table_of()
    model = DecisionTreeClassifier().fit(X[["age"]], np.full(len(X), "yes"))
    with pytest.raises(
        PredictorError, match=r"must have at least two classes; got \['yes'\]. Hint: train it on rows of both classes"
    ):
        likely.Explainer(model).fit(X[["age"]], y)


def test_a_regressor() -> None:
    X = table_of()[0][["age", "months"]]
    explainer = likely.Explainer(LinearRegression().fit(X, X["age"]), nodes=10).fit(X)
    with pytest.raises(ProblemError, match=r"A question to a regressor must say which prediction is wanted"):
        explainer.explain(X.iloc[0])


def test_locked_features_that_leave_no_way_and_the_reason() -> None:
    row = rejected().iloc[0]
    locked = [name for name in row.index if name != "debt"]
    answer = explainer_of().explain(row, locked=locked)
    assert answer.status == "infeasible"
    assert not answer
    assert "There is no answer.\nProved: no row meets all that is asked, not counting rows within" in str(answer)
    with pytest.raises(ExplainerError, match=r"An explanation must have an answer to have a best one; got status 'infeasible'"):
        _ = answer.best
    conflict = explainer_of().why_not(row, locked=locked)
    assert conflict.smallest
    assert {str(reason.constraint) for reason in conflict.reasons} <= {f"'{name}' may not change" for name in locked}
    with pytest.raises(ProblemError, match=r"A row to ask why_not of must have no answer; got one that has"):
        explainer_of().why_not(row)


def test_a_rule_of_this_question_alone() -> None:
    row = rejected().iloc[0]
    free = explainer_of().explain(row)
    bound = explainer_of().explain(row, constraints=[likely.Range("income", upper=float(row["income"]))], locked="age")
    assert bound.best.row["income"] <= row["income"]
    assert bound.best.row["age"] == row["age"]
    assert bound.best.cost >= free.best.cost
    assert explainer_of().explain(row) == free


def test_same_answers_twice_and_on_any_number_of_threads() -> None:
    rows = rejected(12)
    explainer = clone(explainer_of()).fit(*table_of())
    one = explainer.set_params(n_jobs=1).explain_many(rows, k=2)
    for n_jobs in (2, 5, -1, None):
        assert one == explainer.set_params(n_jobs=n_jobs).explain_many(rows, k=2)
    assert one == [explainer_of().explain(rows.iloc[i], k=2) for i in range(len(rows))]


def test_a_row_may_be_written_in_many_ways() -> None:
    frame = rejected(1)
    row = frame.iloc[0]
    answer = explainer_of().explain(frame)
    for same in (row, row.to_dict(), row.tolist(), {**row, "some other column": 3}):
        assert explainer_of().explain(same) == answer


def test_arrays_with_a_schema() -> None:
    X, y = loans(100)[["age", "months", "income"]], loans(100)["granted"]
    model = DecisionTreeClassifier(max_depth=3).fit(X.to_numpy(), y)
    schema = likely.Schema.infer(X.astype("float64"))
    explainer = fitted(model, X.astype("float64"), y, schema)
    again = likely.Explainer(model, schema, explainer.circuit_).fit(X.to_numpy(), y)
    rows = X.to_numpy()[model.predict(X.to_numpy()) == "no"][:3]
    assert again.explain_many(rows) == explainer.explain_many(pd.DataFrame(rows, columns=X.columns))
    assert again.explain(rows[0]) == again.explain_many(rows)[0]
    with pytest.raises(
        SchemaError, match=r"A table must be a DataFrame, or an array with a schema .*; got ndarray of shape \(3, 2\)"
    ):
        again.explain_many(rows[:, :2])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_interrupted_after_the_first_answers() -> None:
    """Thousands of answers of a network take a while."""
    X, y = table_of()
    model = pipeline(MLPClassifier((24, 24), max_iter=100, random_state=0)).fit(X, y)
    explainer = likely.Explainer(model, schema_of(), circuit_of()).fit(X, y)
    row = X[model.predict(X) == "no"].iloc[0]
    seen = []
    answer = explainer.explain(row, k=5000, diversity="values", callback=lambda moment: seen.append(moment) or len(seen) < 4)
    assert answer.interrupted
    assert answer.status == "feasible"
    assert answer
    assert "interrupted" in str(answer)
    assert answer.bounds.lower <= answer.bounds.upper
    assert (model.predict(answer.to_frame()) == "yes").all()
    assert likely.verify(answer, model, circuit_of())


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_interrupted_after_the_first_incumbent() -> None:
    """The moment that something is found it is ended; what is claimed then is weak, and true."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 12)), columns=list("abcdefghijkl"))
    y = np.where(np.sin(2 * X).sum(axis=1) > 0, "yes", "no")
    model = MLPClassifier((40, 40), max_iter=100, random_state=0).fit(X, y)
    explainer = fitted(model, X, y)
    row = X[model.predict(X) == "no"].iloc[0]
    seen: list[Progress] = []
    answer = explainer.explain(row, callback=lambda moment: seen.append(moment) or moment.upper == np.inf)
    assert seen[-1].upper < np.inf
    assert all(moment.upper == np.inf for moment in seen[:-1])
    assert (answer.status, answer.interrupted, len(answer)) == ("feasible", True, 1)
    assert answer.bounds.lower < answer.bounds.upper == answer.best.cost
    assert model.predict(answer.to_frame())[0] == "yes"
    assert likely.verify(answer, model, explainer.circuit_)
    assert likely.Explanation.from_json(answer.to_json()) == answer
    assert "Here is an answer; a better one may exist." in str(answer)
    assert "The search was interrupted." in str(answer)


def test_ended_before_it_began() -> None:
    answer = explainer_of().explain(rejected().iloc[0], callback=lambda moment: False)
    assert (answer.status, answer.interrupted, len(answer)) == ("unknown", True, 0)
    assert likely.Explanation.from_json(answer.to_json()) == answer


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_limit_comes_first() -> None:
    X, y = table_of()
    model = pipeline(MLPClassifier((24, 24), max_iter=100, random_state=0)).fit(X, y)
    explainer = likely.Explainer(model, schema_of(), circuit_of()).fit(X, y)
    rows = X[model.predict(X) == "no"].head(5)
    answers = explainer.explain_many(rows, limits=Limits(nodes=1))
    assert {answer.status for answer in answers} & {"feasible", "unknown"}
    for answer in answers:
        assert answer.status in ("feasible", "optimal", "unknown")
        assert not answer.interrupted
        assert likely.verify(answer, model, circuit_of())


def test_targets_that_make_no_sense() -> None:
    row = rejected().iloc[0]
    with pytest.raises(
        ProblemError, match=r"The target must be one of the model's classes; got 'maybe'. Hint: it has 'no', 'yes'"
    ):
        explainer_of().explain(row, target="maybe")
    with pytest.raises(
        ProblemError, match=r"The target must differ from the row's class; got 'no', which the model decides already"
    ):
        explainer_of().explain(row, target="no")


def test_circuits_that_do_not_fit() -> None:
    X, y = table_of()
    other = likely.circuit.learn(X[["age", "months"]], y, nodes=10, progress=False).circuit
    with pytest.raises(CircuitError, match=r"A circuit must have the schema's features, in order; got 'age', 'months'"):
        likely.Explainer(model_of(), schema_of(), other).fit(X, y)
    renamed = replace(circuit_of(), target=replace(circuit_of().target, values=("good", "bad")))
    with pytest.raises(CircuitError, match=r"The classes of a circuit must be those of the model; got .* without 'no'"):
        likely.Explainer(model_of(), schema_of(), renamed).fit(X, y)
    features = tuple(
        replace(feature, values=("own", "rent", "for free")) if feature.name == "housing" else feature
        for feature in circuit_of().features
    )
    with pytest.raises(CircuitError, match=r"Feature 'housing' of a circuit must be categorical with the schema's values"):
        likely.Explainer(model_of(), schema_of(), replace(circuit_of(), features=features)).fit(X, y)


def test_an_engine_that_is_not_there() -> None:
    with pytest.raises(ProblemError, match=r"An engine must be 'search' or 'mio'; got 'guess'"):
        likely.Explainer(model_of(), schema_of(), circuit_of(), engine="guess").fit(*table_of())


@pytest.mark.parametrize("count", [0, 299])
def test_as_many_classes_as_rows(count: int) -> None:
    X, y = table_of()
    with pytest.raises(SchemaError, match=r"y must have one class per row \(300\)"):
        likely.Explainer(model_of(), schema_of(), circuit_of()).fit(X, y.head(count))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(
    "last",
    [
        RandomForestClassifier(10, max_depth=4, random_state=0),
        HistGradientBoostingClassifier(max_iter=8, random_state=0),
        MLPClassifier((8,), max_iter=150, random_state=0),
    ],
)
def test_every_family_of_models_agrees(last: object) -> None:
    X, y = table_of()
    model = pipeline(last).fit(X, y)
    explainer = likely.Explainer(model, schema_of(), circuit_of(), progress=False).fit(X, y)
    rows = X[model.predict(X) == "no"].head(15)
    answers = explainer.explain_many(rows, k=3, plausibility=likely.Quantile(0.25))
    assert sum(bool(answer) for answer in answers) >= len(rows) / 2 > 5
    for i, answer in enumerate(answers):
        assert answer.status in ("optimal", "infeasible")
        frame = answer.to_frame()
        assert not len(frame) or (model.predict(frame) == "yes").all()
        assert len({frozenset(counterfactual.changes) for counterfactual in answer.counterfactuals}) == len(answer)
        for counterfactual in answer.counterfactuals:
            assert not schema_of().violations(rows.iloc[i], counterfactual.row)
        assert likely.verify(answer, model, circuit_of())
