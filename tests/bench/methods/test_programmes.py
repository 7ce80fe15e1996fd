"""What defines the methods that solve a programme: PROPLACE, DACE, PlaCE."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from likely.bench.methods.dace import WEIGHT
from likely.bench.methods.proplace import as_network, surely_robust, worst
from likely.bench.programme import Programme
from likely.problem import to_class
from tests.bench.methods.examples import asked, fitted, line, loans, moons


def question_of(method: Any, example: Any, place: int) -> Any:
    return method.known.question(asked(example, place))


def shaken(form: Any, delta: float, rng: np.random.Generator) -> Any:
    """A model whose weights and biases differ by up to delta: at random, or by all of it."""
    size = rng.choice([0.5, 1.0])
    layers = [
        (
            w + delta * np.clip(rng.uniform(-1, 1, w.shape) / size, -1, 1),
            b + delta * np.clip(rng.uniform(-1, 1, b.shape) / size, -1, 1),
        )
        for w, b in form.layers
    ]
    return replace(form, layers=tuple(layers))


def margin(form: Any, row: np.ndarray, alternative: Any) -> float:
    return float((alternative.coefficients @ form.score(row[None])[0] - alternative.lower).min())


@pytest.mark.parametrize("example", [loans, moons])
def test_the_worst_model_is_the_worst(example: Any) -> None:
    data, _, form = example()
    network, rng = as_network(form), np.random.default_rng(0)
    rows = data.schema.encode(data.X)[:6]
    for row in rows:
        (alternative,) = to_class(form, form.predict(row[None])[0]).alternatives
        found = worst(network, row, alternative, 0.05)
        assert margin(found.form, row, alternative) == pytest.approx(found.margin, abs=1e-6)
        for (w, b), (v, c) in zip(found.form.layers, network.layers, strict=True):
            assert max(np.abs(w - v).max(), np.abs(b - c).max()) <= 0.05 + 1e-12
        tried = [margin(shaken(network, 0.05, rng), row, alternative) for _ in range(60)]
        assert min(tried) >= found.margin - 1e-3
        assert surely_robust(network, row[None], alternative, 0.05)[0] <= found.margin + 1e-3


@pytest.mark.parametrize("example", [loans, moons])
def test_proplace_stays_valid(example: Any) -> None:
    method: Any = fitted("proplace", example)
    form, rng = method.form, np.random.default_rng(1)
    for place in (0,):
        question = question_of(method, example(), place)
        (alternative,) = to_class(form, question.goal_label).alternatives
        rows = method.search(question)
        assert len(rows)
        delta = method.deltas[question.target]
        assert delta > 0
        for _ in range(60):
            assert margin(shaken(form, delta, rng), rows[0], alternative) >= -1e-6


def lof_cost(points: np.ndarray, origin: np.ndarray, other: np.ndarray, root: np.ndarray) -> float:
    """DACE's objective by its definition, with k = 1."""

    def nearest(x: np.ndarray, own: int | None = None) -> int:
        far = np.abs(points - x).sum(axis=1)
        return int(np.argmin([np.inf if n == own else d for n, d in enumerate(far)]))

    def k_distance(n: int) -> float:
        return float(max(np.abs(points[n] - points[nearest(points[n], n)]).sum(), 1e-3))

    def reach(x: np.ndarray, n: int) -> float:
        return max(k_distance(n), float(np.abs(x - points[n]).sum()))

    n = nearest(other)
    density = 1 / max(reach(points[n], nearest(points[n], n)), 1e-3)
    return float(np.abs(root @ (other - origin)).sum() + WEIGHT * density * reach(other, n))


def test_dace_minimises_distance_and_outlier_factor() -> None:
    method: Any = fitted("dace", moons)
    inverse = np.linalg.inv(np.cov(method.known.points, rowvar=False) + 1e-2 * np.eye(2))
    np.testing.assert_allclose(method.root.T @ method.root, inverse, rtol=1e-9)
    for place in (0, 3):
        question = question_of(method, moons(), place)
        target = question.target
        found = method._solve(question, 0.0)
        points = method.references[target][0]
        own = method.cost(question.point, found, target)
        assert own == pytest.approx(lof_cost(points, question.point, found, method.root))
        grid = np.stack(np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60)), axis=-1).reshape(-1, 2)
        rows = question.decode(grid)
        reached = question.reached(rows)
        costs = [method.cost(question.point, point, target) for point in grid[reached]]
        assert own <= min(costs) * (1 + 2e-3) + 1e-6


def test_place_is_dense_and_near() -> None:
    method: Any = fitted("place", moons)
    for place in (0, 3, 5):
        question = question_of(method, moons(), place)
        target = question.target
        rows = method.search(question)
        point = method.known.encoding.encode(rows[:1])
        assert method.dense(point, target)[0] <= 1e-4
        # the same as the density of a component, in the words of scipy, against the median of the class
        own = method.known.points[method.known.decided == target]

        def densest(points: np.ndarray, target: int = target) -> np.ndarray:
            parts = [
                -0.5 * part.constant
                + multivariate_normal(part.mean, np.linalg.inv(part.precision)).logpdf(points)
                - multivariate_normal(part.mean, np.linalg.inv(part.precision)).logpdf(part.mean)
                for part in method.components[target]
            ]
            return np.max(np.atleast_2d(parts), axis=0).ravel()

        assert densest(point)[0] >= np.median(densest(own)) - 1e-3


def test_place_is_the_nearest_for_a_linear_model() -> None:
    method: Any = fitted("place", line)
    for place in (0, 3, 5):
        question = question_of(method, line(), place)
        rows, target = method.search(question), question.target
        grid = np.stack(np.meshgrid(np.linspace(0, 1, 50), np.linspace(0, 1, 50)), axis=-1).reshape(-1, 2)
        could = question.reached(question.decode(grid)) & (method.dense(grid, target) <= 0)
        assert question.costs(rows[:1])[0] <= question.costs(question.decode(grid[could])).min() * 1.05 + 1e-6


def test_a_programme_with_a_relu() -> None:
    """The least |x| with max(0, x - 1) + max(0, -x - 2) >= 1 is 2."""
    programme = Programme()
    places = programme.variables(np.array([-5.0]), np.array([5.0]))
    layers = ((np.array([[1.0], [-1.0]]), np.array([-1.0, -2.0])), (np.array([[1.0, 1.0]]), np.array([0.0])))
    programme.network(places, layers, np.array([[1.0]]), np.array([1.0]))
    programme.price(programme.distances(places, np.eye(1), np.zeros(1)), np.ones(1))
    found = programme.solve(5.0)
    assert found is not None
    assert found[0] == pytest.approx(2.0)
