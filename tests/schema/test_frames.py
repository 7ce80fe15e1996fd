"""Tables of polars go in wherever tables of pandas do; and a column that has no home is told the way to one."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import likely
from likely.errors import SchemaError


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


def test_the_way_out_of_periods() -> None:
    X = pd.DataFrame({"t": pd.period_range("2020-01", periods=40, freq="M")})
    with pytest.raises(SchemaError, match=r"X\['t'\].dt.to_timestamp\(\)"):
        likely.Schema.infer(X)
    assert likely.Schema.infer(pd.DataFrame({"t": X["t"].dt.to_timestamp()}))["t"].ordered
