"""An explainer as people of scikit-learn expect one: fitted, asked for a new fit, cloned, saved, loaded, pickled."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import likely
from likely.errors import (
    ExplainerError,
    NotFittedError,
    PredictorError,
)
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


def test_save_and_load_without_pickle(tmp_path: Path) -> None:
    explainer_of().save(tmp_path / "kept")
    again = likely.Explainer.load(tmp_path / "kept", model_of())
    rows = rejected(3)
    assert again.explain_many(rows, k=2) == explainer_of().explain_many(rows, k=2)
    density = likely.Quantile(0.3, of="all", given=("class", "immutable"))
    assert again.explain(rows.iloc[0], plausibility=density) == explainer_of().explain(rows.iloc[0], plausibility=density)
    X, y = table_of()
    other = pipeline(LogisticRegression(C=0.1)).fit(X, y)
    with pytest.raises(PredictorError, match=r"The model of a saved explainer must be the one it was fitted with"):
        likely.Explainer.load(tmp_path / "kept", other)
    with pytest.raises(ExplainerError, match=r"must be loaded with its model, a sklearn.pipeline.Pipeline; got none"):
        likely.Explainer.load(tmp_path / "kept")
    with pytest.raises(
        ExplainerError, match=r"A saved explainer must be a folder that Explainer.save wrote; got .* without explainer.json"
    ):
        likely.Explainer.load(tmp_path)
    (tmp_path / "kept" / "explainer.json").write_text('{"version": 99}')
    with pytest.raises(ExplainerError, match=r"The version of a saved explainer must be 4 or less; got 99"):
        likely.Explainer.load(tmp_path / "kept", model_of())
    (tmp_path / "kept" / "explainer.json").write_text("no")
    with pytest.raises(ExplainerError, match=r"A saved explainer must be JSON"):
        likely.Explainer.load(tmp_path / "kept", model_of())


def test_a_model_file_is_found_again(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    table = loans(200)
    X, y = table[["age", "income", "months"]], (table["granted"] == "yes").astype(int)
    lightgbm.train({"objective": "binary", "verbose": -1, "num_leaves": 7}, lightgbm.Dataset(X, y), 5).save_model(
        tmp_path / "m.txt"
    )
    explainer = fitted(str(tmp_path / "m.txt"), X, y, classes=[0, 1])
    row = next(
        X.iloc[i] for i in range(len(X)) if explainer._known.user_model.labels(explainer.schema_.encode(X.iloc[[i]]))[0] == 0
    )
    answer = explainer.explain(row)
    booster = lightgbm.Booster(model_file=tmp_path / "m.txt")
    assert booster.predict(answer.to_frame())[0] > 0.5
    explainer.save(tmp_path / "kept")
    assert likely.Explainer.load(tmp_path / "kept").explain(row) == answer
    assert likely.verify(answer, tmp_path / "m.txt", explainer.circuit_)


def test_clones_keep_the_model_and_forget_the_fit() -> None:
    explainer = likely.Explainer(model_of(), schema_of(), circuit_of(), random_state=3)
    again = clone(explainer.fit(*table_of()))
    assert again.get_params() == explainer.get_params()
    assert again.model is explainer.model
    with pytest.raises(ExplainerError, match=r"An Explainer must be fitted; got one that is not. Hint: call fit\(X, y\) first"):
        again.explain(rejected().iloc[0])
    assert again.set_params(random_state=5).random_state == 5
    with pytest.raises(ExplainerError, match=r"A parameter of Explainer must be one of model, schema, .*; got 'sed'"):
        again.set_params(sed=5)
    assert repr(again) == "Explainer(model=<Pipeline>, schema=<Schema>, circuit=<Circuit>, random_state=5)"


def test_names_that_scikit_learn_expects() -> None:
    X, _ = table_of()
    assert explainer_of().feature_names_in_.tolist() == list(X.columns)
    assert explainer_of().n_features_in_ == X.shape[1]
    assert explainer_of().accuracy_ == pytest.approx(model_of().score(*table_of()))
    new = likely.Explainer(model_of())
    assert not hasattr(new, "n_features_in_")
    with pytest.raises(NotFittedError, match=r"An Explainer must be fitted; got one that is not"):
        _ = new.feature_names_in_
    assert explainer_of().__sklearn_is_fitted__()
    assert not new.__sklearn_is_fitted__()


def test_parameters_that_fit_depends_on_ask_for_a_new_fit() -> None:
    row, (X, y) = rejected().iloc[0], table_of()
    explainer = likely.Explainer(model_of(), schema_of(), circuit_of(), progress=False).fit(X, y)
    answer = explainer.explain(row)
    assert explainer.set_params(n_jobs=1, progress=False, engine="search", solver=None).explain(row) == answer
    other = pipeline(LogisticRegression(C=0.1)).fit(X, y)
    changes = {
        "model": other,
        "schema": likely.Schema.infer(X),
        "circuit": None,
        "encoder": 3,
        "classes": ["a"],
        "random_state": 9,
    }
    for name, value in changes.items():
        before = getattr(explainer, name)
        message = f"An Explainer must be fitted with the parameters that it has; got one that was fitted with another {name}"
        for use in (lambda: explainer.explain(row), lambda: explainer.schema_, lambda: explainer.save("nowhere")):
            setattr(explainer, name, value)
            with pytest.raises(NotFittedError, match=message):
                use()
        assert not explainer.__sklearn_is_fitted__()
        assert explainer.set_params(**{name: before}).explain(row) == answer
    assert explainer.set_params(model=other).fit(X, y).explain(row).evidence.model != answer.evidence.model
    assert pickle.loads(pickle.dumps(explainer)).explain(row) == explainer.explain(row)


def test_a_table_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = loans(60).drop(columns="granted"), loans(60)["granted"]
    model = pipeline(LogisticRegression()).fit(X, y)
    encode, calls = likely.Schema.encode, []
    monkeypatch.setattr(likely.Schema, "encode", lambda self, table: calls.append(len(table)) or encode(self, table))
    likely.Explainer(model, schema_of(), progress=False).fit(X, y)
    assert calls == [60]


def test_pickles() -> None:
    again = pickle.loads(pickle.dumps(explainer_of()))
    assert again.explain(rejected().iloc[0]) == explainer_of().explain(rejected().iloc[0])
