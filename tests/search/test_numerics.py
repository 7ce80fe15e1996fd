"""Rounding of all the terms of a score: what is claimed allows for it, and models that are nothing but rounding are refused."""

from __future__ import annotations

import itertools
import signal
import sys
import time

import numpy as np
import pytest

import likely
from likely.errors import ProblemError
from likely.predictor import Column, LinearModel, Link, ReluNetwork, TreeEnsemble
from likely.predictor.forms import NODE
from likely.problem import Limits, Problem, between, to_class
from likely.schema import Schema
from likely.schema.costs import MoveCost
from likely.search import solve

LIMITS = Limits(seconds=20)


def stump(leaves: list[tuple[float, float]], base: float = 0.0) -> TreeEnsemble:
    """A tree per pair of leaves: the first for a value of at most t, the number of the tree."""
    nodes = np.zeros(3 * len(leaves), dtype=NODE)
    for t in range(len(leaves)):
        nodes[3 * t] = (-np.inf, float(t), 0, 3 * t + 1, 3 * t + 2, 0)
        nodes[3 * t + 1] = (0, 0, -1, 2 * t, 0, 0)
        nodes[3 * t + 2] = (0, 0, -1, 2 * t + 1, 0, 0)
    roots = 3 * np.arange(len(leaves))
    return TreeEnsemble(Link("identity"), (), nodes, roots, np.zeros(len(leaves)), np.ravel(leaves), [base])


def linear(weights: list[float], bias: float) -> LinearModel:
    columns = tuple(Column(j, 1.0) for j in range(len(weights)))
    return LinearModel(Link("logistic"), (0, 1), columns, np.array([weights]), np.array([bias]))


def test_a_constant_column_with_a_huge_weight_is_refused_by_name() -> None:
    form = linear([1.0, 4e17], -4e17 * 0.02)
    schema = Schema((likely.Integer("n", 0, 5), likely.Continuous("constant", 0.02, 0.023)))
    with pytest.raises(ProblemError, match=r"weight of feature 'constant' .* drop 'constant'"):
        solve(Problem(schema, np.array([1.0, 0.02]), form, to_class(form, 1)))


def test_a_huge_weight_is_no_matter_where_its_terms_are_small() -> None:
    columns = (Column(0, 1.0), Column(1, 1.0, center=0.02))
    form = LinearModel(Link("logistic"), (0, 1), columns, np.array([[1.0, 4e17]]), np.array([-2.5]))
    schema = Schema((likely.Integer("n", 0, 5), likely.Continuous("constant", 0.02, 0.02)))
    result = solve(Problem(schema, np.array([1.0, 0.02]), form, to_class(form, 1)), LIMITS)
    assert result.status == "optimal"
    assert result.solutions[0].row.tolist() == [3, 0.02]


def test_huge_leaves_everywhere_are_refused() -> None:
    form = stump([(3e17, 3e17 + 1e3), (-3e17, -3e17 + 1e3)])
    schema = Schema((likely.Integer("n", 0, 5),))
    with pytest.raises(ProblemError, match="The leaves of the trees"):
        solve(Problem(schema, np.zeros(1), form, between(form, 0.5)))


@pytest.mark.parametrize("size", [3e14, 1e16])
def test_huge_leaves_elsewhere_hide_no_answer(size: float) -> None:
    """Bounds that pass over leaves of -size, which are added and subtracted on the way, must not lose the small ones."""
    rng = np.random.default_rng(0)
    leaves = [(-size, 0.25), (-size / 3, 0.125), *((float(a), float(b)) for a, b in rng.integers(-8, 8, (6, 2)) / 8)]
    form = stump(leaves)
    schema = Schema((likely.Integer("n", -3, 9),), (), (MoveCost(1.0, 1.0),))
    rows = np.arange(-3.0, 10.0)[:, None]
    for low in np.unique(form.score(rows)[:, 0]):
        if low < -1e9:
            continue
        problem = Problem(schema, np.array([-3.0]), form, between(form, float(low)))
        answers = [solution.objective for solution in problem.solutions(rows) if solution is not None]
        result = solve(problem, LIMITS)
        assert result.status == "optimal"
        assert result.solutions[0].objective == min(answers)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_an_end_that_a_prediction_attains_is_reached(offset: float) -> None:
    """In whatever order the prediction was added up."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=7) * 10.0 ** rng.integers(-3, 4, 7)
    columns = tuple(Column(j, 0.1) for j in range(7))
    form = LinearModel(Link("identity"), (), columns, weights[None], np.array([offset]))
    schema = Schema(tuple(likely.Integer(f"b{j}", 0, 1) for j in range(7)))
    rows = np.array(list(itertools.product([0.0, 1.0], repeat=7)))
    for row in rows[rng.choice(len(rows), 12, replace=False)]:
        for order in (np.arange(7), np.arange(7)[::-1], rng.permutation(7)):
            total = 0.0
            for j in order:
                total += weights[j] * (0.1 * row[j])
            end = float(total + offset)
            goal = between(form, end, end)
            result = solve(Problem(schema, np.zeros(7), form, goal), LIMITS)
            assert result.status == "optimal"
            assert abs(form.score(result.solutions[0].row[None])[0, 0] - end) <= 1e-12 * (1 + abs(end))


def test_what_double_precision_cannot_decide_is_not_claimed() -> None:
    """The terms of x cancel, but for rounding, which is more than the margin unless x is near 0: nobody can tell there."""
    columns = (Column(0, 1e13), Column(0, -1e13), Column(1, 1.0))
    form = LinearModel(Link("logistic"), (0, 1), columns, np.array([[1.0, 1.0, 1e-5]]), np.array([0.0]))
    schema = Schema((likely.Integer("x", 0, 3), likely.Integer("n", 0, 9)), (), (MoveCost(1.0, 1.0), MoveCost(1.0, 1.0)))
    result = solve(Problem(schema, np.zeros(2), form, to_class(form, 1)), LIMITS)  # at n = 9 the margin is just missed
    assert result.status == "unknown"
    assert result.bounds.lower <= 1
    nearer = Schema((likely.Integer("x", 0, 0), *schema.features[1:]), (), schema.costs)
    assert solve(Problem(nearer, np.zeros(2), form, to_class(form, 1)), LIMITS).status == "infeasible"


def test_seconds_are_honoured_while_starting() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(64, 40)), rng.normal(size=64)), (rng.normal(size=(1, 64)), rng.normal(size=1))]
    form = ReluNetwork(Link("logistic"), (0, 1), tuple(Column(j, 1.0) for j in range(40)), tuple(layers))
    schema = Schema(tuple(likely.Continuous(f"x{j}", -1, 1) for j in range(40)))
    starts = rng.uniform(-1, 1, (200_000, 40))
    began = time.perf_counter()
    solve(Problem(schema, np.zeros(40), form, to_class(form, 1, margin=5.0)), Limits(seconds=0.3), starts=starts)
    assert time.perf_counter() - began < 5


class TimeoutOfTheCaller(Exception):
    """What a handler of signals raises."""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGALRM")
def test_what_a_handler_of_signals_raises_reaches_the_caller() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(60, 20)), rng.normal(size=60)), (rng.normal(size=(1, 60)), rng.normal(size=1) - 30)]
    form = ReluNetwork(Link("logistic"), (0, 1), tuple(Column(j, 1.0) for j in range(20)), tuple(layers))
    schema = Schema(tuple(likely.Continuous(f"x{j}", -2, 2) for j in range(20)))

    def alarm(number: int, frame: object) -> None:
        raise TimeoutOfTheCaller

    before = signal.signal(signal.SIGALRM, alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutOfTheCaller):
            solve(Problem(schema, np.zeros(20), form, to_class(form, 1)), Limits(seconds=20))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_shared_successors_stay_shared() -> None:
    """Tests for sets of values, one under the other on both sides: a node per test, not a path per combination of them."""
    depth, values = 24, 12
    nodes, after = [], [depth * values // 2, depth * values // 2 + 1]  # the leaves
    for level in range(depth):
        start = level * values // 2
        left, right = (start + values // 2,) * 2 if level + 1 < depth else after
        for i in range(values // 2):
            following = start + i + 1 if i + 1 < values // 2 else right
            nodes.append((2.0 * i, 2.0 * i, level % 3, left, following, 0))
    nodes += [(0, 0, -1, 0, 0, 0), (0, 0, -1, 1, 0, 0)]
    form = TreeEnsemble(Link("logistic"), (0, 1), np.array(nodes, dtype=NODE), [0], [0], [1.0, -1.0], [0.0])
    schema = Schema(tuple(likely.Categorical(f"c{j}", [f"v{k}" for k in range(values)]) for j in range(3)))
    problem = Problem(schema, np.ones(3), form, to_class(form, 1))
    rows = np.array(list(itertools.product(range(values), repeat=3)), dtype=np.float64)
    answers = [solution.objective for solution in problem.solutions(rows) if solution is not None]
    began = time.perf_counter()
    result = solve(problem, LIMITS)
    assert time.perf_counter() - began < 5
    assert result.solutions[0].objective == pytest.approx(min(answers))


def test_a_tree_may_be_as_deep_as_it_has_rows() -> None:
    count = 50_000
    chain = [(k, k, 0, count + k % 2, k + 1, 0) for k in range(count)]
    nodes = np.array([*chain, (0, 0, -1, 0, 0, 0), (0, 0, -1, 1, 0, 0)], dtype=NODE)
    form = TreeEnsemble(Link("logistic"), (0, 1), nodes, [0], [0], [-1.0, 1.0], [0.0])
    schema = Schema((likely.Integer("n", 0, count),))
    result = solve(Problem(schema, np.zeros(1), form, to_class(form, 1)), LIMITS)
    assert result.solutions[0].row.tolist() == [1]
