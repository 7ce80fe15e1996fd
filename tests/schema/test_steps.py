"""The step that a column was recorded to: it is detected where it is there, and nowhere else."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import SchemaError
from likely.schema import Continuous, Integer, Mixed, Schema
from likely.schema.grid import multiples
from likely.schema.steps import FEWEST, FEWEST_WHOLE, MOST_STEPS

SEEDS = st.integers(0, 2**32)
DECIMALS = st.sampled_from([0.001, 0.01, 0.02, 0.025, 0.05, 0.1, 0.2, 0.25, 0.5, 0.125, 2.5])
UNITS = st.sampled_from([2.0, 5.0, 10.0, 25.0, 50.0, 1000.0, 2500.0])


def infer(column: Any, **settings: Any) -> Any:
    """The feature of a table with this column, which fits it."""
    table = pd.DataFrame({"f": column})
    schema = Schema.infer(table, **settings)
    assert schema.validate(table).ok
    assert Schema.from_json(schema.to_json()) == schema
    return schema["f"]


def on_grid(seed: int, step: float, count: int = 300, first: int = -200) -> np.ndarray:
    """Multiples of a step, drawn from 600 neighbours."""
    return multiples(np.random.default_rng(seed).integers(first, first + 600, count).astype(float), step)


@given(SEEDS, DECIMALS, st.integers(-4, 4))
def test_a_step_is_detected_through_the_noise_of_sums(seed: int, step: float, ulps: int) -> None:
    values = on_grid(seed, step)
    feature = infer(values + ulps * np.spacing(values))
    assert (feature.kind, feature.step, feature.exceptions) == ("continuous", step, ())


@given(SEEDS, st.sampled_from([0.01, 0.1, 0.5]))
def test_singles_have_their_step(seed: int, step: float) -> None:
    feature = infer(on_grid(seed, step).astype(np.float32))
    assert (feature.step, feature.exceptions, feature.dtype) == (step, (), "float32")


@given(SEEDS, st.sampled_from([0.01, 0.1]))
def test_singles_among_doubles_are_no_multiples(seed: int, step: float) -> None:
    assert infer(on_grid(seed, step).astype(np.float32).astype(np.float64)).step is None


@given(SEEDS, UNITS)
def test_whole_numbers_in_larger_units(seed: int, unit: float) -> None:
    feature = infer(on_grid(seed, unit).astype("int64"))
    assert feature == Continuous("f", feature.lower, feature.upper, step=unit, dtype="int64")


@given(SEEDS, UNITS.filter(lambda unit: unit > 2))
def test_multiples_count_from_zero(seed: int, unit: float) -> None:
    assert isinstance(infer((on_grid(seed, unit) + 1).astype("int64")), Integer)
    shifted = infer(on_grid(seed, 0.1) + 0.03)
    assert shifted.step == 0.01


@given(SEEDS, st.sampled_from([0.01, 0.1, 0.5, 1.0]), st.integers(1, 3))
def test_a_few_values_from_elsewhere_stay_values(seed: int, step: float, count: int) -> None:
    odd = np.random.default_rng(seed).normal(size=count)
    feature = infer(np.concatenate([on_grid(seed, step), np.repeat(odd, 5)]))
    assert (feature.step, feature.exceptions) == (step, tuple(sorted(odd)))
    assert not feature.fits(np.nextafter(odd, np.inf)).any()


def test_a_significant_digit_more_is_no_step() -> None:
    feature = infer([*on_grid(0, 0.01), 0.906])
    assert (feature.step, feature.exceptions) == (0.01, (0.906,))


@given(SEEDS, st.integers(1, 400), st.sampled_from(["normal", "standardised", "log", "uniform", "share"]))
def test_reals_have_no_step(seed: int, count: int, law: str) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.integers(1, 60, count).astype(float)
    column = {
        "normal": rng.normal(size=count),
        "standardised": (whole - whole.mean() - 0.1234567) / (whole.std() + 1),
        "log": np.log(whole + 1.5),
        "uniform": 1e6 * rng.random(count),
        "share": whole / 59 * 0.977,
    }[law]
    assert infer(column).step is None


def test_a_step_takes_evidence() -> None:
    assert infer(np.arange(1, FEWEST) / 10).step is None
    assert infer(np.arange(1, FEWEST + 1) / 10).step == 0.1
    assert isinstance(infer(10 * np.arange(FEWEST_WHOLE)), Integer), "0 is a multiple of everything"
    assert infer(10 * np.arange(FEWEST_WHOLE + 1)).step == 10


def test_a_step_that_is_too_fine_says_nothing() -> None:
    places = np.unique(np.random.default_rng(0).integers(0, int(4 * MOST_STEPS), 500))
    assert infer(places / 1e9 + 1).step is None
    assert infer(places[places < MOST_STEPS / 2] / 1e6).step == 1e-6


def test_numbers_beside_codes_have_a_step_and_days_have_theirs() -> None:
    assert infer([*np.arange(30) / 2, None]) == Mixed("f", 0, 14.5, [None], step=0.5)
    assert infer([*10 * np.arange(30), -9], features={"f": {"codes": [-9]}}).step == 10
    days = pd.to_datetime("2026-01-05") + pd.to_timedelta(10 * np.arange(40), unit="D")
    assert isinstance(infer(days), Integer)


@pytest.mark.parametrize(
    ("settings", "step"),
    [
        ({"steps": None}, None),
        ({"features": {"f": {"step": None}}}, None),
        ({"features": {"f": "continuous"}}, None),
        ({"features": {"f": {"step": 0.05}}}, 0.05),
        ({"features": {"f": {"upper": 50}}}, 0.1),
    ],
)
def test_a_way_to_say_no(settings: dict[str, Any], step: float | None) -> None:
    assert infer(np.arange(40) / 10, **settings).step == step


def test_what_was_detected_is_said() -> None:
    table = pd.DataFrame({f"c{j}": np.arange(40) / 10 for j in range(7)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = Schema.infer(table, features={"c0": {"step": 0.1}})
    said = "steps read off the data: 'c1', 'c2', 'c3', 'c4', 'c5' and 1 more (`steps=None` takes every number)"
    assert schema.notes == (said,)
    assert repr(schema).endswith("\n\n" + said)
    assert f"# {said}\n" in schema.to_yaml()
    assert "steps read off the data" in schema._repr_html_()
    assert Schema.infer(table, steps=None).notes == ()
    assert Schema.infer(table, steps=None) != schema


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Continuous("f", 0, 1, exceptions=[0.5]), r"Feature 'f' must have a step to have exceptions; got \[0\.5\]"),
        (lambda: Continuous("f", 0, 1, step=0.1, exceptions=["x"]), r"Feature 'f' must have a list of numbers as exceptions"),
        (lambda: Continuous("f", 0, 1, step=0.1, exceptions=5e400), r"Feature 'f' must have a list of numbers as exceptions"),
        (lambda: infer([1.5], steps={"f": 0.1}), r"'steps' must be 'detect' or None; got .* Hint: write features="),
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        make()
