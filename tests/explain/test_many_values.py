"""A text column of more values than an identifier may have, because the user means it: against every row that there is."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import likely
from likely.errors import SchemaError


def test_hundreds_of_texts() -> None:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"town": [f"town {k:03d}" for k in random.integers(0, 400, 900)], "age": random.integers(20, 60, 900)})
    y = np.where(X["age"] / 20 + (X["town"].str[-1].astype(int) > 5) + random.normal(0, 0.2, 900) > 2.6, "yes", "no")
    with pytest.raises(SchemaError, match=r"Feature 'town' must have at most 256 different values; got 3.. different texts"):
        likely.Schema.infer(X)
    long = pd.concat([X] * 10, ignore_index=True)  # as many texts, but more than twenty rows of each
    assert likely.Schema.infer(long)["town"].kind == "categorical"
    schema = likely.Schema.infer(X, features={"town": "categorical"})
    encoder = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression(max_iter=300)).fit(X, y)
    explainer = likely.Explainer(model, schema, nodes=3, progress=False).fit(X, y)
    rows = np.array(list(itertools.product(range(len(schema["town"].atoms)), np.arange(20.0, 60.0))), dtype=np.float64)
    rows = rows[model.predict(schema.decode(rows)) == "yes"]
    for factual in X[model.predict(X) == "no"].iloc[:3].to_dict("records"):
        answer = explainer.explain(factual, plausibility=None, gap=0, rounding=0)
        assert answer.best.cost == pytest.approx(schema.prices(schema.encode_row(factual), rows).min(), rel=1e-9)
