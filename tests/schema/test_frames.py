"""Tables of polars go in wherever tables of pandas do; and a column that has no home is told the way to one."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import likely
from likely.errors import SchemaError
from likely.schema.frames import as_pandas


def test_polars_tables_go_in() -> None:
    polars = pytest.importorskip("polars")
    random = np.random.default_rng(0)
    n = 120
    table = {
        "age": random.integers(18, 80, n).tolist(),
        "rate": [None if i % 11 == 0 else float(x) for i, x in enumerate(random.normal(size=n).round(2))],
        "job": random.choice(["a", "b", "c"], n).tolist(),
        "owner": random.choice([True, False], n).tolist(),
        "since": [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(k)) for k in random.integers(0, 300, n)],
    }
    theirs, ours = polars.DataFrame(table), pd.DataFrame(table)
    ours["since"] = pd.to_datetime(ours["since"])
    ranked = theirs.with_columns(polars.col("job").cast(polars.Enum(["c", "a", "b"])))
    assert likely.Schema.infer(ranked)["job"].kind == "ordinal"
    schema = likely.Schema.infer(theirs)
    assert [(f.name, f.kind) for f in schema.features] == [(f.name, f.kind) for f in likely.Schema.infer(ours).features]
    np.testing.assert_array_equal(schema.encode(theirs), schema.encode(ours))
    np.testing.assert_array_equal(schema.encode(theirs.lazy()), schema.encode(theirs))
    np.testing.assert_array_equal(schema.encode_row(theirs[3]), schema.encode(theirs)[3])
    y = polars.Series("y", ["yes" if age > 45 else "no" for age in table["age"]])
    numbers = theirs.select("age", "owner")
    model = DecisionTreeClassifier(max_depth=3).fit(numbers.to_numpy(), y.to_list())
    explainer = likely.Explainer(model, likely.Schema.infer(numbers), nodes=5, progress=False).fit(numbers, y)
    answers = explainer.explain_many(numbers[:3])
    assert all(answers)
    assert explainer.explain(numbers[0]) == answers[0]
    front = explainer.front(numbers[0], by="changes", plausibility=None)
    assert isinstance(front.to_frame(), polars.DataFrame)
    assert front.to_frame()["cost"].to_list() == front.table()["cost"].to_list()


def theirs_of_every_kind(polars, n=160):
    random = np.random.default_rng(3)
    start = datetime.datetime(2024, 3, 1)
    return polars.DataFrame(
        {
            "age": random.integers(18, 80, n).astype(np.int8),
            "rate": [None if i % 11 == 0 else float(x) for i, x in enumerate(random.normal(size=n).round(2))],
            "job": polars.Series(random.choice(["a", "b", "c"], n).tolist(), dtype=polars.Enum(["c", "a", "b"])),
            "town": random.choice(["x", "y", "z"], n).tolist(),
            "owner": random.choice([True, False], n).tolist(),
            "since": [start.date() + datetime.timedelta(days=int(k)) for k in random.integers(0, 300, n)],
            "at": [start + datetime.timedelta(minutes=int(k)) for k in random.integers(0, 9000, n)],
            "waited": [datetime.timedelta(hours=int(k)) for k in random.integers(0, 99, n)],
        }
    ).with_columns(there=polars.col("at").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin"))


def test_answers_come_back_as_tables_of_polars() -> None:
    polars = pytest.importorskip("polars")
    X = theirs_of_every_kind(polars)
    schema = likely.Schema.infer(X)
    kinds = [schema[name].kind for name in ("job", "since", "at", "waited", "there")]
    assert kinds == ["ordinal", "integer", "integer", "integer", "integer"]
    y = ["yes" if age > 45 else "no" for age in X["age"]]
    model = make_pipeline(make_column_transformer(("passthrough", ["age", "owner"])), DecisionTreeClassifier(max_depth=3)).fit(
        X, y
    )
    explainer = likely.Explainer(model, nodes=5, progress=False).fit(X, y)
    for answer in (explainer.explain(X[0]), *explainer.explain_many(X[:2]), explainer.explain(X.row(0, named=True))):
        assert isinstance(answer.to_frame(), polars.DataFrame)
        assert answer.to_frame().schema == X.schema
        assert isinstance(answer.measures(), polars.DataFrame)
    again = model.predict(explainer.explain(X[0]).to_frame())
    assert again[0] != model.predict(X[:1])[0]
    assert isinstance(explainer.explain(schema.decode(schema.encode(X[:1])).iloc[0]).to_frame(), pd.DataFrame)


def test_densities_of_tables_of_polars() -> None:
    polars = pytest.importorskip("polars")
    X = theirs_of_every_kind(polars)
    density = likely.circuit.Density(nodes=5).fit(X)
    ours = likely.circuit.Density(nodes=5).fit(as_pandas(X))
    np.testing.assert_allclose(density.score_samples(X), ours.score_samples(as_pandas(X)))
    drawn = density.sample(20, random_state=0)
    assert isinstance(drawn, polars.DataFrame)
    assert drawn.schema == X.schema
    assert str(density.explain_row(X[0])) == str(ours.explain_row(as_pandas(X[0])))
    some = X[:3].drop("job", "at")
    completed = likely.circuit.complete(density.circuit_, some)
    assert completed.rows.schema == {name: X.schema[name] for name in completed.rows.columns}
    assert completed.rows.select(some.columns).equals(some)


def test_the_way_out_of_periods() -> None:
    X = pd.DataFrame({"t": pd.period_range("2020-01", periods=40, freq="M")})
    with pytest.raises(SchemaError, match=r"X\['t'\].dt.to_timestamp\(\)"):
        likely.Schema.infer(X)
    assert likely.Schema.infer(pd.DataFrame({"t": X["t"].dt.to_timestamp()}))["t"].ordered
