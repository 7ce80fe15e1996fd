"""The same problem in other units and from other origins: the optimum, in the feature's own scale, is the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import likely
from likely.predictor import Column, LinearModel, Link, ReluNetwork
from likely.problem import Limits, Problem, to_class
from likely.schema import Schema
from likely.schema.costs import MoveCost
from likely.search import solve

LIMITS = Limits(seconds=20)
#: (unit, origin in units): origins are large beside what values vary by, which is one unit.
SCALES = [(1.0, 0.0), (1e-12, 0.0), (1e12, 0.0), (1.0, 1e8), (1e-6, 1e6), (3600.0, -5e5), (1e12, 1e6)]


def diamond(unit: float, origin: float, units: float = 1.0) -> ReluNetwork:
    """Class 1 where |a - 0.5| + |b - 0.37| < 0.03, both in units from the origin."""
    scale = 1 / (unit * units)
    columns = tuple(Column(j, scale, 0.0, center=unit * origin) for j in range(2))
    first = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), np.array([-0.5, 0.5, -0.37, 0.37])
    return ReluNetwork(Link("logistic"), (0, 1), columns, (first, (-np.ones((1, 4)), np.array([0.03]))))


def spacing(unit: float, origin: float) -> float:
    """How far two neighbouring doubles are apart there, in units."""
    return float(np.spacing(unit * (abs(origin) + 1)) / unit)


@pytest.mark.parametrize(("unit", "origin"), SCALES)
def test_reals(unit: float, origin: float) -> None:
    form = diamond(unit, origin)
    ends = unit * origin, unit * (origin + 1)
    schema = Schema(
        (likely.Continuous("a", *ends), likely.Continuous("b", *ends)),
        (),
        (MoveCost(1 / unit, 1 / unit), MoveCost(2 / unit, 2 / unit)),
    )
    factual = unit * (origin + 0.9) * np.ones(2)
    result = solve(Problem(schema, factual, form, to_class(form, 1)), LIMITS)
    # Down to the diamond: b, the costlier, as far as it must, and a to its middle.
    best = 0.4 + 2 * (0.9 - 0.37 - 0.03 + 1e-4)
    assert result.status == "optimal"
    assert result.solutions[0].objective == pytest.approx(best, abs=2e-6 + 10 * spacing(unit, origin))
    assert result.bounds.lower <= best + 10 * spacing(unit, origin)


@pytest.mark.parametrize("origin", [0, 10**10, 1_700_000_000_000, -(10**14)])
def test_whole_numbers_far_from_0(origin: int) -> None:
    count = 41
    form = diamond(1.0, float(origin), units=count - 1.0)
    schema = Schema(
        tuple(likely.Integer(name, origin, origin + count - 1) for name in "ab"), (), (MoveCost(1.0, 1.0), MoveCost(1.3, 1.3))
    )
    rows = np.array(list(itertools.product(range(count), repeat=2)), dtype=np.float64) + origin
    rng = np.random.default_rng(0)
    for factual in rows[rng.choice(len(rows), 6, replace=False)]:
        problem = Problem(schema, factual, form, to_class(form, 1))
        answers = [solution.objective for solution in problem.solutions(rows) if solution is not None]
        result = solve(problem, LIMITS)
        assert result.status == "optimal"
        assert result.solutions[0].objective == pytest.approx(min(answers), abs=1e-9)


def test_neighbouring_doubles_are_different_numbers() -> None:
    """Only one double in the middle of a row of a few is an answer."""
    low = 1.0
    values = [low]
    for _ in range(6):
        values.append(float(np.nextafter(values[-1], 2.0)))
    width = values[1] - values[0]
    columns = (Column(0, 1 / width, 0.0, center=values[3]),)
    layers = (np.array([[1.0], [-1.0]]), np.zeros(2)), (-np.ones((1, 2)), np.array([0.5]))
    form = ReluNetwork(Link("logistic"), (0, 1), columns, layers)
    schema = Schema((likely.Continuous("a", values[0], values[-1]),), (), (MoveCost(1 / width, 1 / width),))
    result = solve(Problem(schema, np.array([values[0]]), form, to_class(form, 1)), LIMITS)
    assert result.status == "optimal"
    assert result.solutions[0].row.tolist() == [values[3]]
    assert result.solutions[0].objective == pytest.approx(3)


def test_a_costly_far_end_takes_no_digits() -> None:
    form = LinearModel(Link("logistic"), (0, 1), (Column(0, -1.0),), np.ones((1, 1)), np.array([-2.0]))
    schema = Schema((likely.Continuous("a", -1e18, 1e18),), (), (MoveCost(1.0, 1.0),))
    result = solve(Problem(schema, np.zeros(1), form, to_class(form, 1)), LIMITS)
    assert result.solutions[0].objective == pytest.approx(2.0001, abs=2e-6)
    assert result.bounds.lower <= 2.0001 + 1e-9


def test_a_scaler_that_cancels_is_computed_as_it_computes() -> None:
    """x / 7 + 1e9 / 7, as a MinMaxScaler has it, rounds to 1e-8: but always in the same way, and that is what counts."""
    columns = (Column(0, -0.2), Column(1, 1 / 7, 1e9 / 7))
    form = LinearModel(Link("logistic"), (0, 1), columns, np.array([[4.0, 12.0]]), np.array([-9.0]))
    features = likely.Continuous("x", -3.0, 3.0), likely.Integer("n", -(10**9), -(10**9) + 7)
    schema = Schema(features, (), (MoveCost(1.2, 1.2), MoveCost(0.5, 0.5)))
    result = solve(Problem(schema, np.array([1.0, -1e9 + 1]), form, to_class(form, 1)), LIMITS)
    candidates = []
    for n in -1e9 + np.arange(8):
        read = 12.0 * float(columns[1].at(n))
        needed = min(1.0, (read - 9.0 - 1e-4) / 0.8)
        if needed >= -3:
            candidates.append(1.2 * (1.0 - needed) + 0.5 * abs(n - (-1e9 + 1)))
    assert result.status == "optimal"
    assert result.solutions[0].objective == pytest.approx(min(candidates), abs=2e-6)
