"""Rows as points and back, on random schemas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.bench.encoding import Encoding
from likely.errors import PredictorError
from likely.schema import Decreasing, Immutable, Increasing, Schema
from likely.schema.costs import SwitchCost
from tests.bench.methods.examples import forest
from tests.strategies.finite import asked_factuals, finite_schemas, real_schemas, rows_of
from tests.strategies.predictor import linear_forms, networks

SCHEMAS = st.one_of(finite_schemas(), real_schemas())


def points_of(encoding: Encoding, seed: int, count: int = 30) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.5, 1.5, (count, encoding.width))


@given(st.data(), SCHEMAS)
def test_rows_come_back(data: st.DataObject, schema: Schema) -> None:
    rows, encoding = data.draw(rows_of(schema)), Encoding(schema)
    points = encoding.encode(rows)
    assert points.shape == (len(rows), encoding.width)
    assert ((points >= -1e-12) & (points <= 1 + 1e-12)).all()
    back = encoding.decode(points, rows[0])
    reals = np.array([feature.numeric and feature.grid is None for feature in schema.features])
    np.testing.assert_array_equal(back[:, ~reals], rows[:, ~reals])
    spans = [part.span for part in encoding.parts]
    assert (np.abs(back - rows)[:, reals] <= 2e-6 * np.array(spans)[reals]).all()


@given(st.data(), SCHEMAS, st.integers(0, 1000))
def test_every_point_becomes_a_row_that_the_schema_holds(data: st.DataObject, schema: Schema, seed: int) -> None:
    factual = data.draw(rows_of(schema, count=1))[0]
    encoding = Encoding(schema)
    rows = encoding.decode(points_of(encoding, seed), factual)
    for j, feature in enumerate(schema.features):
        assert (feature.fits(rows[:, j]) | (rows[:, j] == factual[j])).all()
    np.testing.assert_array_equal(schema.encode(schema.decode(rows)), rows)


@given(st.data(), SCHEMAS, st.integers(0, 1000))
def test_what_is_inside_the_box_keeps_the_rules_about_one_feature(data: st.DataObject, schema: Schema, seed: int) -> None:
    ways = [
        data.draw(st.sampled_from([Increasing, Decreasing, Immutable] if feature.ordered else [Immutable]))(feature.name)
        for feature in schema.features
        if data.draw(st.booleans())
    ]
    schema = Schema(schema.features, tuple(ways), schema.costs)
    factual = data.draw(rows_of(schema, count=1))[0]
    encoding = Encoding(schema)
    rows = encoding.decode(np.clip(points_of(encoding, seed), *encoding.box(factual)), factual)
    assert schema.admits(factual, rows).all()


@given(st.data(), SCHEMAS)
def test_what_may_not_change_stays(data: st.DataObject, schema: Schema) -> None:
    schema = Schema(schema.features, tuple(Immutable(name) for name in schema.names), schema.costs)
    factual = data.draw(asked_factuals(schema).filter(lambda row: not np.isnan(row).any()))
    encoding = Encoding(schema)
    rows = encoding.decode(np.clip(points_of(encoding, 0), *encoding.box(factual)), factual)
    np.testing.assert_array_equal(rows, np.repeat(factual[None], len(rows), axis=0))


@given(st.data(), SCHEMAS)
def test_a_network_of_rows_is_one_of_points(data: st.DataObject, schema: Schema) -> None:
    form = data.draw(st.one_of(linear_forms(schema.features), networks(schema.features)))
    rows, encoding = data.draw(rows_of(schema)), Encoding(schema)
    if not hasattr(form, "layers") or form.curved:
        return
    values = encoding.encode(rows)
    for i, (weights, bias) in enumerate(encoding.layers(form)):
        values = (np.maximum(values, 0) if i else values) @ weights.T + bias
    np.testing.assert_allclose(values, form.score(rows), rtol=1e-7, atol=1e-6)


@given(st.data(), finite_schemas(rules=0))
def test_weights_are_the_costs_of_columns(data: st.DataObject, schema: Schema) -> None:
    """Of discrete features without tables and fees, the cost of a row is the weighted distance of its point."""
    rows, encoding = data.draw(rows_of(schema)), Encoding(schema)
    for j, (feature, cost) in enumerate(zip(schema.features, schema.costs, strict=True)):
        if isinstance(cost, SwitchCost) and not cost.table and not cost.fee:
            own = encoding.feature_of == j
            moved = np.abs(encoding.encode(rows) - encoding.encode(rows[:1]))[:, own]
            np.testing.assert_allclose(moved @ encoding.weights[own], cost.price(feature, rows[0, j], rows[:, j]))


def test_trees_have_no_layers() -> None:
    data, _, form = forest()
    with pytest.raises(PredictorError, match="must be a linear function or a ReLU network"):
        Encoding(data.schema).layers(form)
