"""The engine against enumeration of all rows, on small random problems."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import likely
from likely.circuit import Categories, Circuit, Histogram, Product, Sum
from likely.predictor import Column, Link, ReluNetwork
from likely.problem import Limits, Plausibility, Problem, likeliest, to_class, why
from likely.schema.values import Numbers
from likely.search import solve


def schema_of() -> likely.Schema:
    features = (likely.Integer("n", 0, 6), likely.Categorical("c", ("a", "b", "d")), likely.Integer("m", 0, 4))
    return likely.Schema(features, (likely.Increasing("m"), likely.Implies(likely.when.changes("c"), likely.when.increases("n"))))


def network_of(rng: np.random.Generator) -> ReluNetwork:
    tables = np.eye(3)
    columns = (Column(0, 0.3, -1.0), *(Column(1, table=tuple(row), discrete=True) for row in tables), Column(2, 0.5, 0.0))
    layers = ((rng.normal(size=(6, 5)), rng.normal(size=6)), (rng.normal(size=(1, 6)), rng.normal(size=1)))
    return ReluNetwork(Link("logistic"), ("no", "yes"), columns, layers)


def circuit_of(rng: np.random.Generator, schema: likely.Schema) -> Circuit:
    def leaves() -> list[Histogram | Categories]:
        n, m = rng.dirichlet(np.ones(7)), rng.dirichlet(np.ones(5))
        return [
            Histogram(0, tuple(range(8)), tuple(n)),
            Categories(1, tuple(rng.dirichlet(np.ones(3)))),
            Histogram(2, tuple(range(6)), tuple(m)),
            Categories(3, tuple(rng.dirichlet(np.ones(2)))),
        ]

    nodes = (*leaves(), *leaves(), Product((0, 1, 2, 3)), Product((4, 5, 6, 7)), Sum((8, 9), (0.3, 0.7)))
    return Circuit(schema.features, nodes, likely.Binary("y", ("no", "yes")))


def all_rows() -> Numbers:
    return np.array(list(product(range(7), range(3), range(5))), dtype=np.float64)


def judged(problem: Problem) -> tuple[Numbers, Numbers]:
    """The rows that are answers, and their objectives."""
    rows = all_rows()
    (alternative,) = problem.goal.alternatives
    holds = problem.schema.keeps(problem.factual, rows) & problem.goal.met(problem.form.score(rows))
    objective = problem.schema.prices(problem.factual, rows)
    plausibility = problem.plausibility
    assert plausibility is not None
    assert alternative.class_index is not None
    logs = plausibility.circuit.log_likelihood(rows, problem.form.classes[alternative.class_index])
    holds &= logs >= plausibility.lower
    return rows[holds], (objective - plausibility.weight * logs)[holds]


@pytest.mark.parametrize("seed", range(120))
def test_equals_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    schema = schema_of()
    form, circuit = network_of(rng), circuit_of(rng, schema)
    factual = all_rows()[rng.integers(105)]
    goal = to_class(form, "no" if form.predict(factual[None])[0] == "yes" else "yes")
    least = float(np.quantile(circuit.log_likelihood(all_rows()), rng.random())) - 1
    problem = Problem(schema, factual, form, goal, Plausibility(circuit, least, weight=float(rng.choice([0.0, 0.3]))))
    rows, objectives = judged(problem)
    result = solve(problem)
    if not len(rows):
        assert result.status == "infeasible"
        conflict = why(problem, solve)
        assert conflict.smallest
        assert likeliest(problem, solve) is None or likeliest(problem, solve) < least  # type: ignore[operator]
        return
    assert result.status == "optimal"
    assert result.solutions[0].objective == pytest.approx(objectives.min(), abs=1e-6)
    assert result.bounds.lower <= objectives.min() + 1e-6
    several = solve(problem, Limits(solutions=5))
    assert [answer.objective for answer in several.solutions] == pytest.approx(np.sort(objectives)[:5].tolist(), abs=1e-6)
    assert {tuple(answer.row) for answer in several.solutions} <= {tuple(row) for row in rows}
