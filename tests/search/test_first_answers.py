"""A first answer where no known row is one: few rows reach goal and likelihood, and rules shut all that are known out."""

from __future__ import annotations

import numpy as np
import pytest

import likely
from likely.circuit import Categories, Circuit, Product, Sum
from likely.predictor import Column, Link, ReluNetwork
from likely.problem import Limits, Plausibility, Problem, between
from likely.schema import Schema
from likely.schema.values import Numbers
from likely.search import solve

COUNT, VALUES, PARTS, FIXED = 16, 6, 24, 3
ROWS = 4_000
#: So many nodes are looked at before an answer is sought.
BEFORE = 64


@pytest.mark.parametrize("seed", range(16))
def test_a_first_answer_is_sought(seed: int) -> None:
    """There is an answer, nobody brings one, and a search of few nodes has it."""
    problem, known, hidden = narrow_problem(seed)
    assert problem.admits(hidden[None]).all()
    assert not problem.admits(known).any()
    result = solve(problem, Limits(nodes=4 * BEFORE), starts=known)
    assert result.solutions
    assert problem.admits(result.solutions[0].row[None]).all()
    assert result.bounds.lower <= problem.schema.prices(problem.factual, hidden[None])[0]


def test_nothing_is_claimed_where_there_is_none() -> None:
    """A likelihood that no row has: whatever is sought, no answer comes out."""
    problem, known, _ = narrow_problem(0)
    assert problem.plausibility is not None
    impossible = Problem(
        problem.schema, problem.factual, problem.form, problem.goal, Plausibility(problem.plausibility.circuit, 0.0)
    )
    result = solve(impossible, Limits(nodes=4 * BEFORE), starts=known)
    assert not result.solutions
    assert result.status in ("infeasible", "unknown")


def narrow_problem(seed: int) -> tuple[Problem, Numbers, Numbers]:
    """A network and a mixture of products; rows that reach both, but have other values of what is fixed; and an answer."""
    rng = np.random.default_rng(seed)
    features = tuple(likely.Categorical(f"c{j}", tuple(map(str, range(VALUES)))) for j in range(COUNT))
    tables = rng.dirichlet(np.full(VALUES, 0.35), (PARTS, COUNT))
    shares = rng.dirichlet(np.full(PARTS, 3.0))
    leaves = [Categories(j, tuple(tables[k, j])) for k in range(PARTS) for j in range(COUNT)]
    products = [Product(tuple(range(k * COUNT, (k + 1) * COUNT))) for k in range(PARTS)]
    top = Sum(tuple(range(len(leaves), len(leaves) + PARTS)), tuple(shares))
    circuit = Circuit(features, (*leaves, *products, top))
    form = network(rng)
    part = rng.choice(PARTS, ROWS, p=shares)
    rows = (rng.random((ROWS, COUNT, 1)) > np.cumsum(tables[part], axis=2)[:, :, :-1]).sum(axis=2).astype(np.float64)
    score, log = form.score(rows)[:, 0], circuit.log_likelihood(rows)
    wanted, least = np.quantile(score, 0.97), np.quantile(log, 0.6)
    reach = rows[(score >= wanted) & (log >= least)]
    hidden, factual = reach[0], rows[np.argmin(score)].copy()
    factual[:FIXED] = hidden[:FIXED]
    known = reach[(reach[:, :FIXED] != hidden[:FIXED]).any(axis=1)]
    schema = Schema(features, [likely.Immutable(f"c{j}") for j in range(FIXED)])
    goal = between(form, float(wanted), np.inf)
    return Problem(schema, factual, form, goal, Plausibility(circuit, float(least))), known, hidden


def network(rng: np.random.Generator) -> ReluNetwork:
    """One hidden layer over all values of all features."""
    columns = tuple(Column(j, table=tuple(np.eye(VALUES)[v]), discrete=True) for j in range(COUNT) for v in range(VALUES))
    first = (rng.normal(size=(12, len(columns))), rng.normal(size=12))
    return ReluNetwork(Link("sign"), (0, 1), columns, (first, (rng.normal(size=(1, 12)), np.zeros(1))))
