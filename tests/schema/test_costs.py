"""Costs: the paper's from the data, the user's on top, against plain Python."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import SchemaError
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed, Ordinal, Schema, yaml
from likely.schema.costs import MixedCost, MoveCost, SwitchCost, check_cost, cost_from_dict, fit_cost, inverse_spread, unit_cost
from likely.schema.values import code_number
from tests import strategies
from tests.oracles import costs as oracle

# -- from the data ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "weight"),
    [
        ([1, 2, 3, 4, 100], 1.0),  # MAD 1
        ([1, 2, 4, 9], 1 / 1.5),
        ([0, 0, 0, 0, 10], 1 / (1.48 * 4)),  # MAD 0: the standard deviation
        ([5, 5, 5], 1.0),  # that is 0 too
        ([5], 1.0),
        ([349526.1620701676] * 3, 1.0),  # whose mean is not quite their value
        ([], 1.0),
        ([0, 1e-305, 2e-305], 1.0),  # too small to divide by
        ([0.0] * 9 + [1e200], 1.0),  # too large to square
    ],
)
def test_inverse_spread(numbers: list[float], weight: float) -> None:
    assert inverse_spread(np.array(numbers, dtype=float)) == pytest.approx(weight)


@given(st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6).map(lambda x: round(x, 9))), max_size=12))
def test_inverse_spread_is_the_paper_s(numbers: list[float]) -> None:
    assert inverse_spread(np.array(numbers)) == pytest.approx(oracle.inverse_spread(numbers), rel=1e-6)


@given(st.data())
def test_costs_from_data_are_the_oracle_s(data: st.DataObject) -> None:
    feature = data.draw(strategies.features())
    schema = Schema((feature,))
    table = data.draw(strategies.rows(schema, most=7))[:, 0]
    weight = data.draw(weights(feature))
    fee = data.draw(strategies.prices())
    table_of_prices = data.draw(price_tables(feature)) if feature.atoms else None
    cost = fit_cost(feature, table, weight, fee, table_of_prices)
    check_cost(feature, cost)
    cells = schema.decode(table[:, None])[feature.name].tolist()
    factual, numbers = data.draw(strategies.factuals(schema))[0], data.draw(strategies.rows(schema, least=1))[:, 0]
    old, *new = schema.decode(np.append(factual, numbers)[:, None])[feature.name].tolist()
    expected = [oracle.cost(feature, cells, old, value, weight, fee, table_of_prices) for value in new]
    np.testing.assert_allclose(cost.price(feature, factual, numbers), expected, rtol=1e-6, atol=1e-9)


def weights(feature: Any) -> st.SearchStrategy[Any]:
    ways = st.dictionaries(st.sampled_from(["up", "down"]), strategies.prices())
    return st.one_of(strategies.prices(), ways) if feature.numeric else strategies.prices()


@st.composite
def price_tables(draw: st.DrawFn, feature: Any) -> dict[Any, dict[Any, float]]:
    moves = [(old, new) for old in feature.atoms for new in feature.atoms if old is not new]
    table: dict[Any, dict[Any, float]] = {}
    for old, new in draw(st.lists(st.sampled_from(moves), max_size=3)) if moves else []:
        table.setdefault(old, {})[new] = draw(strategies.prices())
    return table


# -- what every price list promises -----------------------------------------------------------------------------------


@given(st.data())
def test_prices_add_up_and_staying_is_free(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas(priced=True))
    factual, rows = data.draw(strategies.factuals(schema)), data.draw(strategies.rows(schema, least=1))
    prices = schema.prices(factual, rows)
    assert (prices >= 0).all()
    stayed = np.where(np.isnan(factual), rows[0], factual)
    assert schema.prices(factual, stayed[None, :])[0] == 0
    assert schema.prices(np.full(len(schema), math.nan), rows).tolist() == [0] * len(rows)
    apart = np.zeros(len(rows))
    for j in range(len(schema)):
        moved = np.tile(stayed, (len(rows), 1))
        moved[:, j] = rows[:, j]
        apart += schema.prices(factual, moved)
    np.testing.assert_allclose(prices, apart)
    user = strategies.user_row(schema, factual)
    for row, price in zip(rows, prices, strict=True):
        assert schema.cost(user, strategies.user_row(schema, row)) == price


@given(st.data())
def test_json_and_yaml_keep_everything(data: st.DataObject) -> None:
    feature = data.draw(strategies.features())
    cost = data.draw(strategies.costs(feature))
    for plain in (json.loads(json.dumps(cost.to_dict(), allow_nan=False)), yaml.loaded(yaml.dumped(cost.to_dict()))):
        again = cost_from_dict(feature, plain)
        assert again == cost
        assert hash(again) == hash(cost)
        check_cost(feature, again)


# -- by hand ----------------------------------------------------------------------------------------------------------


def test_directions_and_fee_of_a_number() -> None:
    cost = MoveCost(up=2, down=0.5, fee=10)
    assert cost.price(Continuous("x", 0, 9), 4.0, np.array([4.0, 5.0, 2.0])).tolist() == [0, 12, 11]


def test_switching_and_its_table() -> None:
    cost = SwitchCost((1, 2, 4), ((0, 2, 0.5),), fee=10)
    feature = Categorical("c", ["a", "b", "c"])
    assert cost.price(feature, 0.0, np.array([0.0, 1.0, 2.0])).tolist() == [0, 13, 10.5]
    assert cost.price(feature, 2.0, np.array([0.0, 1.0, 2.0])).tolist() == [15, 16, 0]


def test_a_binary_is_one_column() -> None:
    cost = fit_cost(Binary("b"), np.array([0, 0, 0, 1.0]))
    flip = 1 / (1.48 * np.std([0, 0, 0, 1]))
    assert cost.price(Binary("b"), 0.0, np.array([1.0]))[0] == pytest.approx(flip)
    assert cost.price(Binary("b"), 1.0, np.array([0.0]))[0] == pytest.approx(flip)


def test_numbers_and_codes() -> None:
    feature = Mixed("m", 0, 100, [-9, None])
    numbers = np.array([10.0, 20, 30, code_number(0)])
    cost = fit_cost(feature, numbers, {"up": 2, "down": 1}, fee=5, table={None: {-9: 0.25}})
    spread, code, rare = 1 / 10, 1 / (1.48 * np.std([0, 0, 0, 1])), 1.0
    to = np.array([10.0, 40.0, code_number(0), code_number(1)])
    np.testing.assert_allclose(cost.price(feature, 20.0, to), [10 * spread + 5, 2 * 20 * spread + 5, code + 5, rare + 5])
    np.testing.assert_allclose(
        cost.price(feature, code_number(0), to), [code + 10 * spread + 5, code + 40 * spread + 5, 0, code + rare + 5]
    )
    np.testing.assert_allclose(
        cost.price(feature, code_number(1), to), [rare + 10 * spread + 5, rare + 40 * spread + 5, 0.25 + 5, 0]
    )


def test_without_data_every_weight_is_one() -> None:
    assert unit_cost(Integer("n", 0, 9)) == MoveCost()
    assert unit_cost(Ordinal("o", [1, 2, 3])) == SwitchCost((1, 1, 1))
    assert unit_cost(Binary("b")) == SwitchCost((0.5, 0.5))
    assert unit_cost(Mixed("m", 0, 10, [-9])) == MixedCost(MoveCost(), (1,), 5)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (MoveCost(), "1 per unit"),
        (MoveCost(1 / 3, 1 / 3, 2), "0.333333 per unit + 2 per change"),
        (MoveCost(1, 2), "up 1, down 2 per unit"),
        (SwitchCost((1, 1)), "1 per value"),
        (SwitchCost((1, 2.34567), fee=0.5), "1-2.35 per value + 0.5 per change"),
        (MixedCost(MoveCost(2, 2), (3,), 0), "2 per unit; code 3"),
    ],
)
def test_prices_in_words(cost: Any, words: str) -> None:
    assert cost.describe() == words


def test_numpy_s_own_numbers_reach_no_file() -> None:
    for cost in (MoveCost(np.float64(2), np.float32(0.5)), SwitchCost(np.array([1.0, 2.0]), [[0, 1, np.float64(3)]])):  # type: ignore[arg-type]
        assert yaml.loaded(yaml.dumped(cost.to_dict()))
        assert hash(cost) == hash(type(cost)(**{**cost.__dict__}))


# -- what is refused --------------------------------------------------------------------------------------------------

TABLE = pd.DataFrame({"f": [1.0, 2.5, 4.0], "c": ["a", "b", "c"]})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"fees": {"f": -1}},
            r"The fee of feature 'f' must be a finite number of at least 0; got -1\. Hint: use Immutable to forbid a change\.",
        ),
        ({"fees": -1.0}, r"The fee of feature 'f' must be a finite number of at least 0; got -1\.0"),
        ({"fees": {"f": "2"}}, r"The fee of feature 'f' must be a finite number of at least 0; got '2'"),
        ({"weights": {"f": math.inf}}, r"The weight of feature 'f' must be a finite number of at least 0; got inf"),
        ({"weights": {"f": math.nan}}, r"The weight of feature 'f' must be a finite number of at least 0; got nan"),
        ({"weights": {"f": True}}, r"The weight of feature 'f' must be a finite number of at least 0; got True"),
        ({"weights": {"f": {"up": -1}}}, r"The weight 'up' of feature 'f' must be a finite number of at least 0; got -1"),
        (
            {"weights": {"f": {"sideways": 1}}},
            r"The weight of feature 'f' must be a number, or 'up' and 'down' of a numeric feature; got \{'sideways': "
            r"1\}\. Hint: use a table for the prices between values\.",
        ),
        (
            {"tables": {"f": {1: {2: 3}}}},
            r"Feature 'f' must have values to have a cost table; got a continuous feature\. Hint: use a weight\.",
        ),
    ],
)
def test_prices_that_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.infer(TABLE, **settings)
    assert caught.value.feature == "f"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": {"c": {"up": 1}}}, r"The weight of feature 'c' must be a number, or 'up' and 'down' of a numeric feature"),
        (
            {"tables": {"c": {"z": {"a": 1}}}},
            r"The cost table of feature 'c' must name known values; got 'z'\. Hint: use 'a', 'b', 'c'\.",
        ),
        ({"tables": {"c": {"a": {"z": 1}}}}, r"The cost table of feature 'c' must name known values; got 'z'"),
        ({"tables": {"c": {"a": {"b": -1}}}}, r"The cost table of feature 'c' must be a finite number of at least 0; got -1"),
        (
            {"tables": {"c": {"a": {"a": 1}}}},
            r"The cost table of feature 'c' must price moves between different values; got 'a' to itself\. Hint: "
            r"staying is free\.",
        ),
        (
            {"tables": {"c": {"a": 1}}},
            r"The cost table of feature 'c' must be \{old value: \{new value: price\}\}; got 1\. Hint: give a dict for "
            r"each old value\.",
        ),
    ],
)
def test_prices_of_values_that_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.infer(TABLE, **settings)
    assert caught.value.feature == "c"


NUMBER, TEXT, BOTH = Continuous("f", 0, 9), Categorical("f", ["a", "b"]), Mixed("f", 0, 9, [-9, -8])


@pytest.mark.parametrize(
    ("feature", "cost", "message"),
    [
        (
            NUMBER,
            SwitchCost((1, 1)),
            r"The cost of feature 'f' must be a MoveCost; got SwitchCost\(.*\)\. Hint: leave costs out, or use Schema\.infer\.",
        ),
        (TEXT, MoveCost(), r"The cost of feature 'f' must be a SwitchCost; got MoveCost"),
        (BOTH, MoveCost(), r"The cost of feature 'f' must be a MixedCost; got MoveCost"),
        (NUMBER, 3.0, r"The cost of feature 'f' must be a MoveCost; got 3\.0"),
        (NUMBER, MoveCost(up=-1), r"The cost 'up' of feature 'f' must be a finite number of at least 0; got -1"),
        (NUMBER, MoveCost(fee=math.nan), r"The cost 'fee' of feature 'f' must be a finite number of at least 0; got nan"),
        (TEXT, SwitchCost((1, 1), fee=-2), r"The cost 'fee' of feature 'f' must be a finite number of at least 0; got -2"),
        (
            TEXT,
            SwitchCost((1, 2, 3)),
            r"The cost of feature 'f' must have 2 weights; got \(1, 2, 3\)\. Hint: give one per value\.",
        ),
        (TEXT, SwitchCost(5), r"The cost of feature 'f' must have 2 weights; got 5"),
        (TEXT, SwitchCost((1, -1)), r"The cost of feature 'f' must be a finite number of at least 0; got -1"),
        (
            TEXT,
            SwitchCost((1, 1), ((0, 1),)),
            r"The cost of feature 'f' must have a table of \[old place, new place, price\]; got \(0, 1\)\. Hint: count "
            r"the 2 values from 0\.",
        ),
        (TEXT, SwitchCost((1, 1), ((0, 2, 1.0),)), r"must have a table of \[old place, new place, price\]; got \(0, 2, 1\.0\)"),
        (TEXT, SwitchCost((1, 1), ((1, 1, 1.0),)), r"must have a table of \[old place, new place, price\]; got \(1, 1, 1\.0\)"),
        (
            TEXT,
            SwitchCost((1, 1), (([0], 1, 1.0),)),
            r"must have a table of \[old place, new place, price\]; got \(\(0,\), 1, 1\.0\)",
        ),
        (TEXT, SwitchCost((1, 1), 5), r"must have a table of \[old place, new place, price\]; got 5"),
        (
            TEXT,
            SwitchCost((1, 1), ((0, 1, -1.0),)),
            r"The cost table of feature 'f' must be a finite number of at least 0; got -1\.0",
        ),
        (
            BOTH,
            MixedCost(MoveCost(), (1, 1), math.nan),
            r"The cost of feature 'f' must have a number as anchor; got nan\. Hint: give the median of the data\.",
        ),
        (BOTH, MixedCost(MoveCost(), (1, 1), "5"), r"The cost of feature 'f' must have a number as anchor; got '5'"),
        (
            BOTH,
            MixedCost(1.0, (1, 1), 5),
            r"The cost of feature 'f' must have a MoveCost as move; got 1\.0\. Hint: give up, down and fee\.",
        ),
        (
            BOTH,
            MixedCost(MoveCost(down=-1), (1, 1), 5),
            r"The cost 'down' of feature 'f' must be a finite number of at least 0; got -1",
        ),
        (BOTH, MixedCost(MoveCost(), (1,), 5), r"The cost of feature 'f' must have 2 weights; got \(1,\)"),
    ],
)
def test_costs_that_are_refused(feature: Any, cost: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        Schema((feature,), (), (cost,))
    assert caught.value.feature == "f"


@pytest.mark.parametrize(
    ("feature", "data", "message"),
    [
        (
            NUMBER,
            {"weights": [1]},
            r"The cost of feature 'f' must have the settings up, down, fee; got \{'weights': \[1\]\}\. Hint: correct the file\.",
        ),
        (NUMBER, 5, r"The cost of feature 'f' must have the settings up, down, fee; got 5"),
        (NUMBER, "ab", r"The cost of feature 'f' must have the settings up, down, fee; got 'ab'"),
        (TEXT, {}, r"The cost of feature 'f' must have the settings weights, table, fee; got \{\}"),
        (
            BOTH,
            {"move": 1, "weights": [1, 1], "anchor": 2},
            r"The cost of feature 'f' must have the settings move, weights, anchor, table; got",
        ),
    ],
)
def test_costs_in_files_that_are_refused(feature: Any, data: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        cost_from_dict(feature, data)
    assert caught.value.feature == "f"


def test_zeros_come_back_from_a_file():
    """A zero is a price like any other, and an anchor at 0 is not a missing one."""
    schema = Schema((Mixed("f", -5, 5, [None]),), costs=(MixedCost(MoveCost(0.0, 0.0), (0.0,), 0.0),))
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.to_dict()["features"][0]["cost"] == {"move": {"up": 0.0, "down": 0.0}, "weights": [0.0], "anchor": 0.0}
