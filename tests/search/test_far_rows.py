"""Rows far from all density, where score and likelihood are both just reached: few nodes are enough for the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import likely
from likely.circuit import Circuit, GaussianBlock, Sum, Warp
from likely.predictor import Column, LinearModel, Link
from likely.problem import Limits, Plausibility, Problem, between
from likely.schema import Schema
from likely.schema.values import Numbers
from likely.search import solve

COUNT = 8


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [None, 0.001])
def test_few_nodes_are_enough_and_another_optimiser_finds_nothing_better(seed: int, step: float | None) -> None:
    problem = hilly_problem(seed, step)
    starts = np.round(np.random.default_rng(seed).normal(0.5, 0.8, (5_000, COUNT)), 3)
    result = solve(problem, Limits(nodes=300, relative_gap=1e-4), starts=starts)
    (solution,) = result.solutions
    assert result.status == "optimal" or step is not None
    assert result.bounds.gap <= 5e-3 * solution.cost
    assert problem.admits(solution.row[None]).all()
    assert solution.cost <= improved(problem, solution.row) * (1 + 1e-3)


def hilly_problem(seed: int, step: float | None) -> Problem:
    """A linear score that is to be reached over a mixture of two warped Gaussians."""
    rng = np.random.default_rng(seed)
    features = tuple(likely.Continuous(f"x{j}", -6, 6, step=step) for j in range(COUNT))
    warp = Warp((-4.0, -1.0, 1.0, 4.0), (-3.5, -1.2, 1.0, 3.6))
    nodes = (*(_block(rng, warp, mean) for mean in (0.0, 1.0)), Sum((0, 1), (0.7, 0.3)))
    circuit = Circuit(features, nodes)
    weights = rng.normal(size=(1, COUNT))
    form = LinearModel(Link("sign"), (0, 1), tuple(Column(j, 1.0) for j in range(COUNT)), weights, np.array([-2.0]))
    factual = np.round(2 * rng.normal(size=COUNT), 3)
    threshold = float(circuit.log_likelihood(np.zeros((1, COUNT)))[0]) - 2
    return Problem(Schema(features), factual, form, between(form, 0.0, np.inf), Plausibility(circuit, threshold))


def _block(rng: np.random.Generator, warp: Warp, mean: float) -> GaussianBlock:
    mixing = rng.normal(size=(COUNT, COUNT)) / np.sqrt(COUNT) + np.eye(COUNT)
    factor = np.linalg.cholesky(mixing @ mixing.T)
    return GaussianBlock(tuple(range(COUNT)), (warp,) * COUNT, (mean,) * COUNT, [row[: i + 1] for i, row in enumerate(factor)])


def improved(problem: Problem, row: Numbers) -> float:
    """The cost of the best reals near a row that scipy finds: changes as ups and downs, so that the cost is linear."""
    prices = np.array([cost.up for cost in problem.schema.costs])
    circuit, threshold = problem.plausibility.circuit, problem.plausibility.lower

    def moved(parts: Numbers) -> Numbers:
        return (problem.factual + parts[:COUNT] - parts[COUNT:])[None]

    change = row - problem.factual
    found = minimize(
        lambda parts: np.tile(prices, 2) @ parts,
        np.concatenate([np.maximum(change, 0), np.maximum(-change, 0)]),
        bounds=[(0, 6 - x) for x in problem.factual] + [(0, 6 + x) for x in problem.factual],
        constraints=[
            {"type": "ineq", "fun": lambda parts: circuit.log_likelihood(moved(parts))[0] - threshold},
            {"type": "ineq", "fun": lambda parts: problem.form.score(moved(parts))[0, 0]},
        ],
        method="SLSQP",
    )  # fmt: skip
    feasible = circuit.log_likelihood(moved(found.x))[0] >= threshold - 1e-6
    return float(found.fun) if found.success and feasible else np.inf
