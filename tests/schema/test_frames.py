"""Tables of polars go in wherever tables of pandas do; and columns that have no home are told the way to one."""

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


@pytest.mark.parametrize(
    ("column", "hint", "way"),
    [
        (pd.to_timedelta(np.arange(40) * 977, unit="s"), r"X\['t'\] / pd.Timedelta\('1h'\)", lambda c: c / pd.Timedelta("1h")),
        (pd.period_range("2020-01", periods=40, freq="M"), r"X\['t'\].dt.to_timestamp\(\)", lambda c: c.dt.to_timestamp()),
        (pd.cut(np.linspace(0, 1, 40), 4), "rename_categories", lambda c: c.cat.rename_categories(str)),
        (
            pd.Series(pd.arrays.IntervalArray.from_breaks(np.arange(41))),
            "rename_categories",
            lambda c: c.astype("category").cat.as_ordered().cat.rename_categories(str),
        ),
        (
            pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(40) * 977, unit="s"),
            r"pd.Timestamp\('2000-01-01'\)\) / pd.Timedelta\('1h'\)",
            lambda c: (c - pd.Timestamp("2000-01-01")) / pd.Timedelta("1h"),
        ),
    ],
    ids=["timedelta", "period", "category of intervals", "interval", "time of day"],
)
def test_the_way_out_is_one(column, hint, way) -> None:
    X = pd.DataFrame({"t": column})
    with pytest.raises(SchemaError, match=hint):
        likely.Schema.infer(X)
    assert likely.Schema.infer(pd.DataFrame({"t": way(X["t"])}))["t"].ordered
