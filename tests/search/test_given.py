"""Likelihoods that are conditional on what may not change, or on the new class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import likely
from likely.circuit import conditional
from likely.errors import ProblemError
from likely.problem import Plausibility, Problem, likeliest, not_class, to_class, why
from likely.search import solve
from tests.search.test_solve import all_rows, circuit_of, network_of, schema_of


def fixed_schema() -> likely.Schema:
    return schema_of().with_constraints(likely.Immutable("c"))


def answerable(rng: np.random.Generator) -> tuple[Problem, str]:
    """A problem that some row answers, and the class that it asks for."""
    schema, rows = fixed_schema(), all_rows()
    for _ in range(1000):
        form, factual = network_of(rng), rows[rng.integers(len(rows))]
        label = "no" if form.predict(factual[None])[0] == "yes" else "yes"
        goal = to_class(form, label)
        if (schema.keeps(factual, rows) & goal.met(form.score(rows))).any():
            return Problem(schema, factual, form, goal, Plausibility(circuit_of(rng, schema), weight=0.3)), label
    raise AssertionError("no problem has an answer")


@pytest.mark.parametrize("given", [("y",), ("c",), ("c", "y")])
@pytest.mark.parametrize("seed", range(10))
def test_it_is_what_the_conditional_circuit_says(seed: int, given: tuple[str, ...]) -> None:
    problem, label = answerable(np.random.default_rng(seed))
    assert problem.plausibility is not None
    asked = replace(problem, plausibility=replace(problem.plausibility, given=given))
    (solution,) = solve(asked).solutions
    known = {"c": ("a", "b", "d")[int(problem.factual[1])], "y": label}
    others = conditional(problem.plausibility.circuit, {name: known[name] for name in given})
    row = np.array([[*solution.row, float(label == "yes")]])
    left = row[:, [name not in given for name in ("n", "c", "m", "y")]]
    expected = float(likely.circuit.log_likelihood(others, left)[0])
    assert solution.log_likelihood == pytest.approx(expected, abs=1e-9)
    assert solution.objective == pytest.approx(solution.cost - 0.3 * expected, abs=1e-9)


def test_of_a_class_that_never_occurs_nothing_is_likely() -> None:
    rng = np.random.default_rng(0)
    schema, form = fixed_schema(), network_of(rng)
    leaves = circuit_of(rng, schema).nodes[:3]
    never = likely.circuit.Categories(3, (1.0, 0.0))
    circuit = likely.circuit.Circuit(
        schema.features, (*leaves, never, likely.circuit.Product((0, 1, 2, 3))), likely.Binary("y", ("no", "yes")), floor=0.0
    )
    plausibility = Plausibility(circuit, lower=-1e9, given=("y",))
    rows = all_rows()
    refused = rows[form.predict(rows) == "no"][0]
    assert solve(Problem(schema, refused, form, not_class(form, "no"), plausibility)).status == "infeasible"


def test_what_is_given_is_a_feature_or_the_class() -> None:
    rng = np.random.default_rng(0)
    circuit = circuit_of(rng, fixed_schema())
    with pytest.raises(ProblemError, match=r"What likelihood is given must be a feature or the target of the circuit; got 'z'\."):
        Plausibility(circuit, given=("z",))


def test_why_with_what_is_given() -> None:
    """Without the rule that keeps it, what was given still counts as it was."""
    rng = np.random.default_rng(4)
    schema, form = fixed_schema(), network_of(rng)
    circuit = circuit_of(rng, schema)
    factual = all_rows()[0]
    label = "no" if form.predict(factual[None])[0] == "yes" else "yes"
    problem = Problem(schema, factual, form, to_class(form, label), Plausibility(circuit, lower=5.0, given=("c",)))
    (reason,) = why(problem, solve).reasons
    assert reason.reachable == likeliest(problem, solve)
