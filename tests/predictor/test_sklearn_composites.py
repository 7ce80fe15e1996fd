"""Ensembles of scikit-learn whose members are any readable models: voting, bagging, calibration, stacking, one against one."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsOneClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from likely.errors import PredictorError
from likely.predictor import Composite, Form, LinearModel, TreeEnsemble, read
from likely.predictor.reading import feed, random_rows
from likely.schema import Schema
from tests.contracts.reader import Case, ReaderContract, mixed_table

TABLE, TWO, THREE = mixed_table()
TABLE["debt"] = np.where(np.arange(len(TABLE)) % 7 == 0, np.nan, np.round(TABLE["amount"] / 7, 1))  # with missing values
TABLE["branch"] = 3  # constant
SCHEMA = Schema.infer(TABLE, features={"school": {"kind": "ordinal", "values": ["none", "middle", "high"]}})
TARGET = np.exp(TABLE["rate"]) + TABLE["age"] / 30
NUMBERS, TEXTS = ["age", "amount", "rate", "debt", "branch"], ["job", "school", "owner"]


def encoder():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_column_transformer((numbers, NUMBERS), (OneHotEncoder(), TEXTS), sparse_threshold=0)


def piped(model):
    return make_pipeline(encoder(), model)


def linear():
    return piped(LogisticRegression())


def boosting():
    return piped(GradientBoostingClassifier(n_estimators=8, random_state=0))


def forest():
    return piped(RandomForestClassifier(7, max_depth=5, random_state=0))


def network():
    return piped(MLPClassifier((5,), activation="tanh", max_iter=20, random_state=0))


def members(*makers):
    return [(f"member {i}", make()) for i, make in enumerate(makers)]


MODELS = {
    "soft": lambda: VotingClassifier(members(linear, boosting), voting="soft"),
    "soft, weights": lambda: VotingClassifier(members(linear, forest, network), voting="soft", weights=[1, 2, 0.5]),
    "soft, dropped": lambda: VotingClassifier([*members(forest, boosting), ("gone", "drop")], voting="soft"),
    "hard": lambda: VotingClassifier(members(linear, boosting, lambda: piped(RidgeClassifier()))),
    "hard, weights": lambda: VotingClassifier(members(linear, boosting, network), weights=[2, 1, 1.5]),
    "bagged linear": lambda: piped(BaggingClassifier(LogisticRegression(), 4, max_features=0.7, random_state=0)),
    "bagged trees": lambda: piped(BaggingClassifier(DecisionTreeClassifier(max_depth=4), 5, random_state=0)),
    "bagged votes": lambda: piped(BaggingClassifier(RidgeClassifier(), 4, random_state=0)),
    "sigmoid, one": lambda: CalibratedClassifierCV(boosting(), cv=3, ensemble=False),
    "sigmoid, one forest": lambda: CalibratedClassifierCV(forest(), cv=3, ensemble=False),
    "sigmoid": lambda: CalibratedClassifierCV(forest(), cv=3),
    "sigmoid of votes": lambda: CalibratedClassifierCV(VotingClassifier(members(linear, forest), voting="soft"), cv=2),
    "isotonic": lambda: CalibratedClassifierCV(linear(), cv=3, method="isotonic"),
    "isotonic, one": lambda: CalibratedClassifierCV(piped(LinearSVC()), cv=3, method="isotonic", ensemble=False),
    "stacking": lambda: StackingClassifier(members(linear, boosting, forest), cv=3),
    "stacking, decisions": lambda: StackingClassifier(members(linear, boosting), cv=3, stack_method="decision_function"),
    "stacking, classes": lambda: StackingClassifier(members(linear, forest), cv=3, stack_method="predict"),
    "stacking under trees": lambda: StackingClassifier(
        members(linear, boosting), final_estimator=GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0), cv=3
    ),
    "stacking under a forest": lambda: StackingClassifier(
        members(linear, forest), final_estimator=RandomForestClassifier(3, max_depth=2, random_state=0), cv=3
    ),
    "stacking, passed through": lambda: make_pipeline(
        encoder(),
        StackingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=3))], cv=3, passthrough=True),
    ),
    "one vs one": lambda: piped(OneVsOneClassifier(LogisticRegression())),
    "one vs one, trees": lambda: piped(OneVsOneClassifier(DecisionTreeClassifier(max_depth=3))),
    "histogram and huber": lambda: VotingClassifier(
        members(
            lambda: piped(HistGradientBoostingClassifier(max_iter=5)),
            lambda: piped(SGDClassifier(loss="modified_huber", random_state=0)),
        ),
        voting="soft",
    ),
}  # fmt: skip


@functools.cache
def fitted(name: str, classes: int):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]().fit(TABLE, TWO if classes == 2 else THREE)


#: Of three classes, those that are read another way than for two.
SEVERAL = ("soft, weights", "hard", "bagged votes", "sigmoid", "isotonic", "stacking", "stacking under trees", "one vs one")
#: Whose votes are counted: of equal ones, the first class has it, and no rounding comes in.
COUNTED = ("hard", "hard, weights", "bagged votes", "stacking, classes")


class TestClassifiers(ReaderContract):
    @pytest.fixture(params=[*((name, 2) for name in MODELS), *((name, 3) for name in SEVERAL)], ids=str)
    def case(self, request):
        model = fitted(*request.param)
        probabilities = model.predict_proba if hasattr(model, "predict_proba") else None
        scores = None if probabilities is not None else lambda X: own_scores(model, X)
        tie = 0.0 if request.param[0] in COUNTED else 1e-9
        return Case(model, SCHEMA, scores, probabilities, model.predict, tolerance=1e-8, tie=tie)


def own_scores(model, X):
    """What a model without probabilities says of each class."""
    if isinstance(model, VotingClassifier):
        votes = model.transform(X)
        weights = np.ones(votes.shape[1]) if model.weights is None else np.array(model.weights)
        return np.stack([(votes == k) @ weights for k in range(len(model.classes_))], axis=1)
    if len(model.classes_) == 2:
        member, inputs = model[-1].estimators_[0], model[:-1].transform(X)
        if hasattr(member, "decision_function"):
            return member.decision_function(inputs)
        return member.predict_proba(inputs)[:, 1] - 0.5
    return model.decision_function(X)


REGRESSORS = {
    "voting": lambda: VotingRegressor(
        members(lambda: piped(LinearRegression()), lambda: piped(RandomForestRegressor(4, max_depth=4)))
    ),
    "bagging": lambda: piped(BaggingRegressor(LinearRegression(), 3, max_features=0.6)),
    "stacking": lambda: StackingRegressor(
        members(lambda: piped(LinearRegression()), lambda: piped(HistGradientBoostingRegressor(max_iter=4))), cv=3
    ),
}  # fmt: skip


class TestRegressors(ReaderContract):
    @pytest.fixture(params=REGRESSORS)
    def case(self, request):
        model = REGRESSORS[request.param]().fit(TABLE, TARGET)
        return Case(model, SCHEMA, predict=model.predict, scores=model.predict, tolerance=1e-8)


def kind_of(name: str) -> type[Form]:
    return type(read(fitted(name, 2), SCHEMA))


def test_a_form_is_as_simple_as_can_be():
    assert kind_of("bagged trees") is TreeEnsemble
    assert kind_of("sigmoid, one") is TreeEnsemble
    assert kind_of("sigmoid, one forest") is TreeEnsemble
    assert kind_of("soft") is Composite
    two = CalibratedClassifierCV(linear(), cv=2, ensemble=False).fit(TABLE, TWO)
    assert type(read(two, SCHEMA)) is LinearModel
    trees = VotingClassifier(members(forest, forest), voting="soft").fit(TABLE, TWO)
    assert type(read(trees, SCHEMA)) is TreeEnsemble


def test_soft_votes_of_what_has_no_probabilities():
    model = fitted("hard", 2)
    soft = VotingClassifier(model.estimators, voting="soft")
    soft.__dict__.update({**model.__dict__, "voting": "soft"})
    with pytest.raises(PredictorError, match="have probabilities where they are combined"):
        read(soft, SCHEMA)


def test_a_threshold_of_a_calibrated_model():
    inner = CalibratedClassifierCV(forest(), cv=2)
    model = FixedThresholdClassifier(inner, threshold=0.3, response_method="predict_proba").fit(TABLE, TWO)
    form = read(model, SCHEMA)
    rows = random_rows(SCHEMA, 500)
    assert (form.predict(rows) == model.predict(feed(SCHEMA, rows))).all()
