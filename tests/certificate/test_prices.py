"""The price of likelihood: no row is below a bound that is derived from prices, whatever they are; what the engine proves."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.certificate import Certificate, load
from likely.certificate.blocks import Rewards, kept_curvature
from likely.certificate.bounds import Checker, Node
from likely.certificate.domain import Box, Domain
from likely.certificate.likelihood import Likelihood
from likely.certificate.prices import Priced, Pricing
from likely.circuit.model.nodes import Sum
from likely.problem import Coherence, Limits, Problem
from likely.schema.values import Numbers
from likely.search import SearchSession, solve
from tests.oracles.search import answers_of, space_of
from tests.search.test_blocks import block_problems, problems_of_reals, some_rows
from tests.search.test_coherence import demanding_problems
from tests.search.test_prices import mixed_problems
from tests.strategies import generators
from tests.strategies.blocks import block_circuits

LIMITS = Limits(seconds=20, nodes=200)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates") / "proof.jsonl.gz"


# -- no row is above a bound of the likelihood, or below one of the objective ----------------------------------------------------


def some_box(domain: Domain, rng: np.random.Generator) -> Box:
    """A part of all rows: some numbers, and some atoms, of every feature."""
    whole = domain.whole()
    low, high, atoms = whole.low.copy(), whole.high.copy(), whole.atoms.copy()
    for j in range(domain.size):
        if rng.random() < 0.7 and low[j] <= high[j]:
            ends = np.sort(rng.choice(np.concatenate([[low[j], high[j]], rng.uniform(low[j], high[j], 2)]), 2))
            low[j], high[j] = ends
        mine = domain.atoms_of(whole, j)
        if len(mine) and rng.random() < 0.5:
            atoms[domain.first_atom[j] : domain.first_atom[j + 1]] = rng.random(len(mine)) < 0.5
    return Box(low, high, atoms)


def inside(domain: Domain, box: Box, rows: Numbers) -> np.ndarray:
    """Which rows a box has."""
    met = np.ones(len(rows), dtype=bool)
    for j, part in enumerate(domain.parts):
        atoms = np.isin(rows[:, j], part.atom[domain.atoms_of(box, j)])
        codes = np.isin(rows[:, j], part.atom)
        met &= atoms | (~codes & (box.low[j] <= rows[:, j]) & (rows[:, j] <= box.high[j]))
    return met


def rewards_of(domain: Domain, rewards: Rewards, rows: Numbers) -> Numbers:
    """What rows are worth to the first part."""
    total = np.zeros(len(rows))
    for j, part in enumerate(domain.parts):
        for r, value in enumerate(rows[:, j]):
            atom = np.flatnonzero(part.atom == value)
            if len(atom):
                total[r] += rewards.atoms[0, domain.first_atom[j] + atom[0]]
                continue
            low, high, at_low, at_high = next(s for s in part.segments if s[0] <= value <= s[1])
            cost = at_low + (at_high - at_low) * ((value - low) / (high - low) if high > low else 0.0)
            total[r] += rewards.slope[0, j] * (value - domain.anchor[j]) + rewards.level[0, j] - rewards.cost[0] * cost
    return total


@given(data=st.data(), rng=generators())
def test_no_row_is_likelier_than_the_bound_of_a_box(data: st.DataObject, rng: np.random.Generator) -> None:
    real = data.draw(st.booleans())
    problem = data.draw(problems_of_reals(codes=True) if real else block_problems(codes=True))
    assert problem.plausibility is not None
    problem = replace(problem, plausibility=replace(problem.plausibility, lower=0.0, approximate=False))
    assert problem.plausibility is not None
    domain = Domain(problem)
    likelihood = Likelihood(problem, problem.plausibility, domain)
    pricing = Pricing(likelihood, domain)
    parts = pricing.parts(1)
    box = some_box(domain, rng)
    scale = 10.0 ** rng.uniform(-2, 1)
    shape = (1, domain.size)
    rewards = Rewards(
        np.abs(rng.normal(0, scale, 1)), rng.normal(0, scale, shape), rng.normal(0, 1, shape),
        rng.normal(0, scale, (1, int(domain.first_atom[-1]))),
    )  # fmt: skip
    points = rng.normal(0, 2, parts.blocks.size) if rng.random() < 0.7 else parts.blocks.nearest(box)
    priced = Priced(likelihood, parts, domain, rewards, parts.blocks.tangents(points))
    rows = some_rows(problem, rng, 300) if real else space_of(problem)
    rows = rows[inside(domain, box, rows)]
    if not len(rows):
        return
    bound = priced.log_values(box, 0)[0]
    logs = problem.plausibility.circuit.log_likelihood(rows) + rewards_of(domain, rewards, rows)
    assert logs.max() <= bound + 1e-9 * (1 + abs(bound))
    for row in rows[rng.integers(len(rows), size=3)]:  # of a single row, with a tangent there, it is what it is
        numbers = np.array([not np.isin(value, part.atom) for value, part in zip(row, domain.parts, strict=True)])
        atoms = np.concatenate([part.atom == value for value, part in zip(row, domain.parts, strict=True)]).astype(bool)
        single = Box(np.where(numbers, row, 1.0), np.where(numbers, row, 0.0), atoms)
        exact = problem.plausibility.circuit.log_likelihood(row[None])[0]
        at = pricing.unpriced(single, None).log_values(single, 0)
        assert np.isclose(np.logaddexp.reduce(at), exact, rtol=1e-7, atol=1e-6)


@given(circuit=block_circuits(least=2, most=4, real=True))
def test_the_curvature_that_tangents_keep_is_not_too_much(circuit: Any) -> None:
    for block in circuit.nodes:
        if hasattr(block, "warps"):
            left = block.precision - np.diag(kept_curvature(block))
            assert np.linalg.eigvalsh(left)[0] >= -1e-9 * np.abs(block.precision).max()


@given(data=st.data(), rng=generators())
def test_no_row_has_an_objective_below_the_bound_of_prices(data: st.DataObject, rng: np.random.Generator) -> None:
    problem = data.draw(st.one_of(block_problems(codes=True), mixed_problems()))
    assert problem.plausibility is not None
    root = problem.plausibility.circuit.nodes[-1]
    answers = answers_of(problem)
    rows, objective = answers.rows[answers.sure], answers.objective[answers.sure]
    checker = Checker(problem, math.inf)
    count = len(root.children) if isinstance(root, Sum) and not problem.plausibility.approximate else 1
    count = count if problem.plausibility.weight == 0 or problem.plausibility.circuit.has_blocks else 1
    for _ in range(4):
        box = some_box(checker.domain, rng)
        met = inside(checker.domain, box, rows)
        for alternative in range(len(problem.goal.alternatives)):
            node = Node(box, alternative, (), -math.inf)
            checker.relax(node)
            size = 3 * len(problem.schema)
            prices = [
                [*np.abs(rng.normal(0, 10.0 ** rng.uniform(-2, 2), 1)), *(list(np.abs(rng.normal(0, 3, n))) for n in (2, 2))]
                for _ in range(count)
            ]
            points = [rng.normal(0, 3, rng.integers(0, size)).tolist() for _ in range(count)]
            checker.take_multipliers("joint bound", node, [[*each, at] for each, at in zip(prices, points, strict=True)])
            bound = checker.bound("joint bound", node, box)
            scores = problem.form.score(rows[met]) if met.any() else np.empty((0, problem.form.outputs))
            mine = problem.goal.alternatives[alternative].met(scores)
            least = objective[met][mine].min(initial=math.inf)
            assert bound <= least + 1e-7 * (1 + abs(least))


# -- what the engine proves ------------------------------------------------------------------------------------


def at_once(problem: Problem, path: Path) -> Certificate:
    """The proof of a search with prices of histograms from the first node on."""
    session = SearchSession(problem)
    session._core.nodes_before_prices = 0
    session.solve(LIMITS, certificate=path)
    return load(path)[0]


def proof(problem: Problem, path: Path) -> Certificate:
    """The proof of a search."""
    solve(problem, LIMITS, certificate=path)
    return load(path)[0]


@given(problem=block_problems(codes=True))
def test_blocks_and_weights(path: Path, problem: Problem) -> None:
    replay = proof(problem, path).check(problem)
    assert replay.holds
    answers = answers_of(problem)
    if answers.sure.any():
        assert replay.proved <= answers.objective[answers.sure].min() + 1e-9


@given(problem=problems_of_reals(codes=True))
def test_blocks_of_reals(path: Path, problem: Problem) -> None:
    assert proof(problem, path).check(problem).holds


@given(problem=mixed_problems())
def test_prices_of_histograms(path: Path, problem: Problem) -> None:
    certificate = at_once(problem, path)
    assert certificate.check(problem).holds


@given(problem=demanding_problems())
def test_coherence(path: Path, problem: Problem) -> None:
    assert proof(problem, path).check(problem).holds


@given(problem=mixed_problems())
def test_prices_of_coherence(path: Path, problem: Problem) -> None:
    assert problem.plausibility is not None
    circuit = problem.plausibility.circuit
    asked = replace(problem, plausibility=None, coherence=Coherence(circuit, 0.1))
    assert at_once(asked, path).check(asked).holds


@given(data=st.data(), rng=generators())
def test_given_numbers_of_blocks(path: Path, data: st.DataObject, rng: np.random.Generator) -> None:
    problem = data.draw(block_problems())
    assert problem.plausibility is not None
    name = problem.schema.features[0].name
    asked = replace(problem, plausibility=replace(problem.plausibility, given=(name,)))
    assert proof(asked, path).check(asked).holds


# -- tampering -------------------------------------------------------------------------------------------------


def tampered(certificate: Certificate, rng: np.random.Generator) -> Certificate:
    """The certificate with other prices and points."""
    factors = [0.0, 0.5, 0.9, 1.1, 2.0, 1e6, -1.0, math.nan, math.inf]

    def other(values: Any) -> Any:
        if isinstance(values, list):
            return [other(value) for value in values]
        return values * float(rng.choice(factors)) if rng.random() < 0.5 else values

    lines = [json.loads(line) for line in certificate.text.splitlines()]
    for line in lines:
        for step in line.get("steps", ()):
            if step[0] in ("joint bound", "joint coherence", "likelihood") and len(step) > 3:
                step[3] = other(step[3])
    return replace(certificate, text="\n".join(map(json.dumps, lines)))


@given(problem=st.one_of(block_problems(codes=True), mixed_problems()), rng=generators())
def test_other_prices_prove_no_more_than_follows(path: Path, problem: Problem, rng: np.random.Generator) -> None:
    certificate = at_once(problem, path)
    answers = answers_of(problem)
    best = answers.objective[answers.sure].min(initial=math.inf)
    for _ in range(3):
        assert tampered(certificate, rng).check(problem).proved <= best + 1e-9 * (1 + abs(best))
