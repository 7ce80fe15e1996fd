"""Ensembles, thresholds, kernels and the transformers before them: on random tables, against the model's own methods."""

from __future__ import annotations

import functools
import math
import warnings
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import FeatureAgglomeration
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSSVD, PLSCanonical, PLSRegression
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, TruncatedSVD
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import (
    BayesianRidge,
    GammaRegressor,
    Lars,
    LassoLars,
    LinearRegression,
    LogisticRegression,
    OrthogonalMatchingPursuit,
    PoissonRegressor,
    QuantileRegressor,
    RANSACRegressor,
    Ridge,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import likely
from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import read
from tests.contracts.reader import Case, ReaderContract


def table(seed: int = 0, rows: int = 240, *, missing: bool = False) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Numbers with ties, a constant column, categories, truth values; missing values where asked for."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "n": random.integers(0, 9, rows).astype(float),
            "x": np.round(random.gamma(2, 2, rows), 2),
            "flat": np.full(rows, 3.0),
            "job": random.choice(["clerk", "farmer", "nurse", "pilot"], rows),
            "owner": random.choice([True, False], rows),
        }
    )
    merit = X["n"] - X["x"] + 2 * (X["job"] == "nurse") + X["owner"] + random.normal(0, 1, rows)
    if missing:
        X.loc[random.random(rows) < 0.15, "n"] = np.nan
        X.loc[random.random(rows) < 0.1, "job"] = None
    two = pd.Series(np.where(merit > merit.median(), "yes", "no"), name="y")
    three = pd.Series(np.array(["a", "b", "c"])[np.digitize(merit, merit.quantile([0.3, 0.7]))], name="y")
    return X, two, three


X, TWO, THREE = table()
SCHEMA = likely.Schema.infer(X)
RARE = THREE.where(THREE.index != 17, "z")
FOUR = THREE.where(X["owner"] | (THREE != "b"), "d")
HOLED, HOLED_TWO, _ = table(1, missing=True)
HOLED_SCHEMA = likely.Schema.infer(HOLED)
NUMBERS = ["n", "x", "flat"]


def quiet(model: Any, X: pd.DataFrame, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


def encoded(last: Any, numbers: Any = "passthrough") -> Any:
    return make_pipeline(make_column_transformer((numbers, NUMBERS), (OneHotEncoder(), ["job", "owner"])), last)


def case_of(
    model: Any, y: Any = TWO, *, scores: bool = True, tie: float = 1e-6, X: pd.DataFrame = X, schema: Any = SCHEMA
) -> Case:
    """A model and what its own methods say, the form being compared by whatever the model has."""
    fitted = quiet(model, X, y)
    probabilities = fitted.predict_proba if hasattr(fitted, "predict_proba") else None
    form = read(fitted, schema)
    if not (form.link.classifies and form.link.has_probabilities):
        probabilities = None
    decision = getattr(fitted, "decision_function", None) if scores else None
    says = decision or (probabilities if form.link.kind == "shares" else None)
    if says is None and probabilities is None and form.link.classifies:
        says = lambda rows: form.score(schema.encode(rows))  # noqa: E731 - the decision is what is compared
    return Case(fitted, schema, says, probabilities, fitted.predict, tolerance=1e-7, tie=tie)


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=4, random_state=0)


def forest() -> RandomForestClassifier:
    return RandomForestClassifier(6, max_depth=3, random_state=0)


NUMBER_TREE = DecisionTreeClassifier(max_depth=6, random_state=1)
CASES = {
    "svc_votes": lambda: case_of(encoded(SVC(kernel="linear"), StandardScaler()), FOUR, scores=False, tie=0.0),
    "svc_ties": lambda: case_of(encoded(SVC(kernel="linear", break_ties=True), StandardScaler()), FOUR),
    "nu_svc_votes": lambda: case_of(
        encoded(NuSVC(nu=0.2, kernel="linear", decision_function_shape="ovo"), StandardScaler()), THREE, scores=False, tie=0.0
    ),
    "centroid": lambda: case_of(encoded(NearestCentroid(), StandardScaler()), THREE, scores=False),
    "centroid_shrunken": lambda: case_of(encoded(NearestCentroid(shrink_threshold=0.3), StandardScaler()), scores=False),
    "centroid_priors": lambda: case_of(encoded(NearestCentroid(priors=[0.2, 0.3, 0.5]), StandardScaler()), THREE, scores=False),
    "centroid_manhattan": lambda: case_of(encoded(NearestCentroid("manhattan"), StandardScaler()), THREE, scores=False),
    "svc": lambda: case_of(encoded(SVC(kernel="linear"), StandardScaler())),
    "nu_svc": lambda: case_of(encoded(NuSVC(kernel="linear"), StandardScaler())),
    "linear_svc_3": lambda: case_of(encoded(LinearSVC(), StandardScaler()), THREE),
    "one_vs_rest_svc": lambda: case_of(encoded(OneVsRestClassifier(SVC(kernel="linear")), StandardScaler()), THREE),
    "one_vs_rest_logistic": lambda: case_of(encoded(OneVsRestClassifier(LogisticRegression(max_iter=999))), THREE),
    "one_vs_rest_two": lambda: case_of(encoded(OneVsRestClassifier(LogisticRegression(max_iter=999)))),
    "one_vs_rest_huber": lambda: case_of(encoded(OneVsRestClassifier(SGDClassifier("modified_huber")), StandardScaler()), THREE),
    "one_vs_rest_forest": lambda: case_of(encoded(OneVsRestClassifier(forest())), THREE, scores=False),
    "one_vs_rest_forest_two": lambda: case_of(encoded(OneVsRestClassifier(forest()))),
    "one_vs_rest_boosting": lambda: case_of(encoded(OneVsRestClassifier(GradientBoostingClassifier(n_estimators=5))), THREE),
    "bagging": lambda: case_of(encoded(BaggingClassifier(tree(), 7, max_features=0.6, random_state=0)), THREE),
    "bagging_bootstrapped_columns": lambda: case_of(encoded(BaggingClassifier(tree(), 5, bootstrap_features=True)), TWO),
    "bagging_rare_class": lambda: case_of(encoded(BaggingClassifier(tree(), 7, max_samples=30, random_state=3)), RARE),
    "bagging_forests": lambda: case_of(encoded(BaggingClassifier(forest(), 3, random_state=0)), THREE),
    "bagging_regressor": lambda: case_of(encoded(BaggingRegressor(DecisionTreeRegressor(max_depth=3), 5)), X["x"] + X["n"]),
    "bagging_linear": lambda: case_of(encoded(BaggingRegressor(Ridge(), 4, max_features=0.7)), X["x"] + X["n"]),
    "voting_soft": lambda: case_of(
        encoded(
            VotingClassifier([("t", tree()), ("f", forest()), ("e", ExtraTreesClassifier(4))], voting="soft", weights=[2, 1, 1])
        ),
        THREE,
    ),
    "voting_hard": lambda: case_of(
        encoded(VotingClassifier([(f"t{i}", DecisionTreeClassifier(max_depth=i, random_state=i)) for i in (1, 3, 5)])),
        THREE,
        scores=False,
    ),
    "voting_weighted": lambda: case_of(
        encoded(VotingClassifier([(f"t{i}", DecisionTreeClassifier(max_depth=i)) for i in (1, 3)], weights=[3, 1])), scores=False
    ),
    **{
        type(model).__name__: (lambda model=model: case_of(encoded(model, StandardScaler()), X["x"] + X["n"] + 1))
        for model in (
            Lars(),
            LassoLars(0.01),
            BayesianRidge(),
            OrthogonalMatchingPursuit(),
            QuantileRegressor(),
            PoissonRegressor(),
            GammaRegressor(),
            RANSACRegressor(random_state=0),
            SVR(kernel="linear"),
            PLSRegression(2),
            PLSCanonical(1),
        )
    },
    "voting_regressor": lambda: case_of(
        encoded(VotingRegressor([("a", LinearRegression()), ("b", Ridge())], weights=[1, 3])), X["x"] + X["n"]
    ),
    "fixed_logistic": lambda: case_of(
        FixedThresholdClassifier(encoded(LogisticRegression(max_iter=999)), threshold=0.3), scores=False
    ),
    "fixed_first": lambda: case_of(
        FixedThresholdClassifier(encoded(LogisticRegression(max_iter=999)), threshold=0.7, pos_label="no"), scores=False
    ),
    "fixed_forest": lambda: case_of(FixedThresholdClassifier(encoded(forest()), threshold=0.35), scores=False),
    "fixed_forest_first": lambda: case_of(
        FixedThresholdClassifier(encoded(forest()), threshold=0.6, pos_label="no"), scores=False
    ),
    "fixed_decision": lambda: case_of(
        FixedThresholdClassifier(encoded(LinearSVC()), threshold=0.2, response_method="decision_function"), scores=False
    ),
    "fixed_hist": lambda: case_of(
        FixedThresholdClassifier(encoded(HistGradientBoostingClassifier(max_iter=8)), threshold=0.8), scores=False
    ),
    "fixed_exponential": lambda: case_of(
        FixedThresholdClassifier(
            encoded(GradientBoostingClassifier(loss="exponential", n_estimators=6)),
            threshold=0.4,
            response_method="predict_proba",
        ),
        scores=False,
    ),
    "fixed_network": lambda: case_of(
        FixedThresholdClassifier(encoded(MLPClassifier((5,), max_iter=50), StandardScaler()), threshold=0.6), scores=False
    ),
    "tuned": lambda: case_of(
        TunedThresholdClassifierCV(encoded(LogisticRegression(max_iter=999)), scoring="balanced_accuracy", cv=3), scores=False
    ),
    "rfe": lambda: case_of(encoded(RFE(LogisticRegression(max_iter=999), n_features_to_select=3))),
    "multinomial": lambda: case_of(encoded(MultinomialNB()), THREE),
    "complement": lambda: case_of(encoded(ComplementNB()), THREE),
    "bernoulli": lambda: case_of(
        make_pipeline(make_column_transformer((OneHotEncoder(), ["job", "owner"])), BernoulliNB()), THREE
    ),
    "categorical": lambda: case_of(
        make_pipeline(make_column_transformer((OrdinalEncoder(), ["job", "owner"])), CategoricalNB()), THREE
    ),
    "variance": lambda: case_of(encoded(make_pipeline(VarianceThreshold(), forest()))),
    "k_best": lambda: case_of(encoded(make_pipeline(SelectKBest(k=3), LogisticRegression(max_iter=999)))),
    "from_model": lambda: case_of(encoded(make_pipeline(SelectFromModel(forest()), HistGradientBoostingClassifier(max_iter=5)))),
    "bins_ordinal": lambda: case_of(
        encoded(tree(), KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf"))
    ),
    "bins_onehot": lambda: case_of(encoded(forest(), KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf"))),
    "bins_dense_scaled": lambda: case_of(
        encoded(
            forest(),
            make_pipeline(StandardScaler(), KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), MinMaxScaler()),
        )
    ),
    "bins_before_hist": lambda: case_of(
        encoded(HistGradientBoostingClassifier(max_iter=5), KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform"))
    ),
    "scorecard": lambda: case_of(encoded(LogisticRegression(max_iter=999), KBinsDiscretizer(4, strategy="uniform")), THREE),
    "scorecard_scaled": lambda: case_of(
        encoded(
            LogisticRegression(max_iter=999),
            make_pipeline(StandardScaler(), KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), StandardScaler()),
        )
    ),
    "bins_before_a_network": lambda: case_of(
        encoded(MLPClassifier((5,), max_iter=50), KBinsDiscretizer(4, encode="ordinal", strategy="uniform"))
    ),
    "binarizer": lambda: case_of(encoded(forest(), Binarizer(threshold=2.5))),
    "target": lambda: case_of(
        make_pipeline(
            make_column_transformer((TargetEncoder(), ["job", "owner"]), ("passthrough", NUMBERS)),
            LogisticRegression(max_iter=999),
        )
    ),
    "target_3": lambda: case_of(
        make_pipeline(make_column_transformer((TargetEncoder(), ["job", "owner"]), ("passthrough", NUMBERS)), forest()), THREE
    ),
    "quantile": lambda: case_of(encoded(NUMBER_TREE, QuantileTransformer(n_quantiles=30))),
    "quantile_normal": lambda: case_of(
        encoded(NUMBER_TREE, QuantileTransformer(n_quantiles=30, output_distribution="normal")), THREE
    ),
    "yeo_johnson": lambda: case_of(encoded(NUMBER_TREE, PowerTransformer())),
    "box_cox": lambda: case_of(
        make_pipeline(make_column_transformer((PowerTransformer("box-cox"), ["z"])), NUMBER_TREE),
        X=X.assign(z=X["x"] + 0.5)[["z"]],
        schema=likely.Schema.infer(X.assign(z=X["x"] + 0.5)[["z"]]),
    ),
    "log1p": lambda: case_of(encoded(NUMBER_TREE, FunctionTransformer(np.log1p))),
    "sqrt_negative": lambda: case_of(
        encoded(forest(), make_pipeline(FunctionTransformer(np.sqrt), FunctionTransformer(np.negative)))
    ),
    "pca": lambda: case_of(encoded(LogisticRegression(max_iter=999), make_pipeline(StandardScaler(), PCA(2)))),
    "pca_whitened_network": lambda: case_of(
        encoded(MLPClassifier((6,), max_iter=60, random_state=0), make_pipeline(PCA(2, whiten=True), StandardScaler()))
    ),
    "svd_of_all": lambda: case_of(encoded(make_pipeline(TruncatedSVD(3), LogisticRegression(max_iter=999))), THREE),
    "ica_union": lambda: case_of(
        encoded(
            LogisticRegression(max_iter=999),
            make_union(FastICA(2, random_state=0), make_pipeline(StandardScaler(), FactorAnalysis(1))),
        )
    ),
    "agglomerated": lambda: case_of(encoded(LogisticRegression(), make_pipeline(StandardScaler(), FeatureAgglomeration(2)))),
    "pca_selected": lambda: case_of(encoded(LogisticRegression(), make_pipeline(PCA(3), VarianceThreshold()))),
    "interactions": lambda: case_of(
        encoded(LogisticRegression(max_iter=999), "drop").set_params(
            logisticregression=make_pipeline(PolynomialFeatures(2, interaction_only=True), LogisticRegression(max_iter=999))
        )
    ),
    "cubes_of_indicators": lambda: case_of(
        encoded(make_pipeline(PolynomialFeatures(3), MLPClassifier((4,), max_iter=40, random_state=0)), "drop"), THREE
    ),
    "missing_indicator": lambda: case_of(
        make_pipeline(
            make_column_transformer((MissingIndicator(), ["n"]), (SimpleImputer(), ["n", "x"]), remainder="drop"), forest()
        ),
        HOLED_TWO,
        X=HOLED,
        schema=HOLED_SCHEMA,
    ),
    "bagging_missing": lambda: case_of(
        make_pipeline(make_column_transformer(("passthrough", ["n", "x"])), BaggingClassifier(tree(), 5)),
        HOLED_TWO,
        X=HOLED,
        schema=HOLED_SCHEMA,
    ),
    "quantile_missing": lambda: case_of(
        make_pipeline(make_column_transformer((QuantileTransformer(n_quantiles=20), ["n", "x"])), NUMBER_TREE),
        HOLED_TWO,
        X=HOLED,
        schema=HOLED_SCHEMA,
    ),
    "target_missing": lambda: case_of(
        make_pipeline(make_column_transformer((TargetEncoder(), ["job", "owner"])), LogisticRegression()),
        HOLED_TWO,
        X=HOLED,
        schema=HOLED_SCHEMA,
    ),
    "neighbours_of_complete_rows": lambda: case_of(encoded(forest(), KNNImputer(add_indicator=True))),
}


@functools.cache
def made(name: str) -> Case:
    return CASES[name]()


class TestReading(ReaderContract):
    @pytest.fixture(params=CASES)
    def case(self, request: pytest.FixtureRequest) -> Case:
        return made(request.param)


# -- what is refused, and the way out -------------------------------------------------------------------------------------

REFUSED = [
    (encoded(SVC()), TWO, r"must have kernel='linear'; got kernel='rbf'\. Hint: .*explain that"),
    (encoded(NearestCentroid("manhattan", priors=[0.3, 0.7])), TWO, r"must add distances up; .*Hint: use priors='uniform'"),
    (encoded(LogisticRegression(), FeatureAgglomeration(2, pooling_func=np.max)), TWO, r"pool features by their mean; got .*max"),
    (encoded(make_pipeline(PCA(2), tree())), TWO, r"inputs that PCA makes of several\. Hint: leave PCA out"),
    (
        encoded(LogisticRegression(max_iter=999), FunctionTransformer(np.arctan)),
        TWO,
        r"np\.arctan of it\. Hint: use a model of trees",
    ),
    (encoded(tree(), FunctionTransformer(np.sin)), TWO, r"func=sin\. Hint: use one of numpy's"),
    (encoded(tree(), FunctionTransformer(np.log)), TWO, r"have bounds between which np\.log is finite"),
    (encoded(LogisticRegression(max_iter=999), PolynomialFeatures(2)), TWO, r"multiply columns of 0 and 1; got a product with"),
]


@pytest.mark.parametrize(("model", "y", "message"), REFUSED, ids=[message[:30] for *_, message in REFUSED])
def test_refusals(model: Any, y: Any, message: str) -> None:
    above = (X["x"] > 0) & (X["n"] > 0)
    fitted = quiet(model, X[above], y[above])
    with pytest.raises((UnsupportedModelError, PredictorError), match=message):
        read(fitted, SCHEMA)


def test_neighbours_fill_no_hole() -> None:
    model = make_pipeline(make_column_transformer((KNNImputer(), ["n", "x"])), tree())
    with pytest.raises(UnsupportedModelError, match="from all columns of a row"):
        read(quiet(model, HOLED, HOLED_TWO), HOLED_SCHEMA)


def test_components_of_partial_least_squares_as_an_encoder() -> None:
    schema, y = likely.Schema(SCHEMA.features[:2]), (TWO == "yes").astype(int)
    for encoder in (PLSRegression(2).fit(X[["n", "x"]], y), PLSSVD(1).fit(X[["n", "x"]], y)):
        model = LogisticRegression().fit(encoder.transform(X[["n", "x"]]), TWO)
        form = read(model, schema, encoder=encoder)
        theirs = model.decision_function(encoder.transform(X[["n", "x"]]))
        np.testing.assert_allclose(form.score(schema.encode(X[["n", "x"]]))[:, 0], theirs, rtol=1e-9, atol=1e-9)


def test_what_an_svc_votes_is_not_its_decision_function() -> None:
    inner = encoded(SVC(kernel="linear"), StandardScaler())
    model = quiet(CalibratedClassifierCV(inner, cv=2), X, THREE)
    with pytest.raises(UnsupportedModelError, match="An SVC of 3 classes within another model must predict by its decision_fun"):
        read(model, SCHEMA)
    model = quiet(CalibratedClassifierCV(inner.set_params(svc__break_ties=True), cv=2), X, THREE)
    np.testing.assert_allclose(read(model, SCHEMA).score(SCHEMA.encode(X)), model.predict_proba(X), rtol=1e-7, atol=1e-7)


# -- explaining, against enumeration ----------------------------------------------------------------------------------------

SMALL = {"n": range(7), "m": range(6), "c": ["a", "b", "d"]}


def all_rows() -> pd.DataFrame:
    return pd.DataFrame(list(product(*SMALL.values())), columns=list(SMALL))


def small(last: Any, numbers: Any = "passthrough") -> Any:
    return make_pipeline(make_column_transformer((numbers, ["n", "m"]), (OneHotEncoder(), ["c"])), last)


EXPLAINED = {
    "svc": small(SVC(kernel="linear")),
    "svc_votes": small(SVC(kernel="linear")),
    "centroid_manhattan": small(NearestCentroid("manhattan")),
    "agglomerated": small(make_pipeline(FeatureAgglomeration(3), LogisticRegression())),
    "bagging": small(BaggingClassifier(tree(), 5, random_state=0)),
    "voting": small(VotingClassifier([("t", tree()), ("f", forest())], voting="soft")),
    "threshold": FixedThresholdClassifier(small(forest()), threshold=0.3),
    "tuned": TunedThresholdClassifierCV(small(LogisticRegression()), scoring="f1", cv=3),
    "quantile": small(forest(), QuantileTransformer(n_quantiles=20)),
    "log1p": small(tree(), FunctionTransformer(np.log1p)),
    "bins": small(forest(), KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")),
    "scorecard": small(LogisticRegression(), KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")),
    "pca": small(make_pipeline(PCA(3), LogisticRegression())),
    "target": make_pipeline(make_column_transformer((TargetEncoder(), ["c"]), ("passthrough", ["n", "m"])), LogisticRegression()),
    "one_vs_rest": small(OneVsRestClassifier(LogisticRegression())),
    "interactions": make_pipeline(
        make_column_transformer((OneHotEncoder(), ["c"]), (Binarizer(threshold=2), []), remainder="drop"),
        PolynomialFeatures(2, interaction_only=True),
        LogisticRegression(),
    ),
}


@pytest.mark.parametrize("kind", EXPLAINED)
def test_explained_as_by_enumeration(kind: str) -> None:
    random = np.random.default_rng(4)
    table = all_rows().sample(220, replace=True, random_state=4).reset_index(drop=True)
    merit = table["n"] - table["m"] + 2 * (table["c"] == "b") + random.normal(0, 1, len(table))
    y = np.where(merit > 0.5, 1, 0) if kind == "tuned" else np.where(merit > 0.5, "yes", "no")
    if kind == "svc_votes":
        y = np.array(["low", "mid", "top"])[np.digitize(merit, [-1.0, 1.5])]
    model = quiet(EXPLAINED[kind], table, y)
    schema = likely.Schema.infer(table, increasing=["m"])
    explainer = likely.Explainer(model, schema, nodes=8, progress=False, n_jobs=1).fit(table, y)
    rows = all_rows()
    decided = model.predict(rows)
    for i in (0, 29, 61, 97, 125):
        row = rows.iloc[i]
        answer = explainer.explain(row, plausibility=None, rounding=0, gap=0)
        least = min(
            (
                schema.cost(row, other)
                for j, other in rows.iterrows()
                if decided[j] != decided[i] and not schema.violations(row, other)
            ),
            default=math.inf,
        )
        assert (answer.best.cost if answer else math.inf) == pytest.approx(least, rel=1e-6)
        if answer:
            assert model.predict(answer.to_frame())[0] != decided[i]
            assert likely.verify(answer, explainer).ok


@pytest.mark.parametrize(
    "model",
    [
        FixedThresholdClassifier(small(LogisticRegression()), threshold=0.7),
        FixedThresholdClassifier(small(forest()), threshold=0.6, pos_label="no", response_method="predict_proba"),
    ],
    ids=["logistic", "forest"],
)
def test_a_probability_is_asked_of_a_model_with_a_threshold(model: Any) -> None:
    """The probability is the model's own; its threshold decides the class, and nothing else."""
    table = all_rows().sample(220, replace=True, random_state=4).reset_index(drop=True)
    y = np.where(table["n"] - table["m"] + 2 * (table["c"] == "b") > 0.5, "yes", "no")
    fitted = quiet(model, table, y)
    schema, rows = likely.Schema.infer(table), all_rows()
    explainer = likely.Explainer(fitted, schema, nodes=8, progress=False, n_jobs=1).fit(table, y)
    shares = fitted.predict_proba(rows)[:, 1]
    for i, asked in ((0, (0.55, 0.65)), (29, (0.0, 0.2)), (61, (0.8, 1.0)), (97, (0.4, 0.62))):
        if asked[0] <= shares[i] <= asked[1]:
            continue
        answer = explainer.explain(rows.iloc[i], target="yes", probability=asked, plausibility=None, gap=0)
        met = (shares >= asked[0]) & (shares <= asked[1])
        encoded_rows = schema.encode(rows)
        least = schema.prices(encoded_rows[i], encoded_rows[met]).min(initial=math.inf)
        assert (answer.best.cost if answer else math.inf) == pytest.approx(least, rel=1e-6)
        if answer:
            assert asked[0] - 1e-6 <= fitted.predict_proba(answer.to_frame())[0, 1] <= asked[1] + 1e-6
