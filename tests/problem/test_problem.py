"""A problem is plain data, and refuses what is none."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from likely.circuit import Categories, Circuit, GaussianBlock, Product, Warp
from likely.errors import CircuitError, ProblemError
from likely.mio import solve as mio_solve
from likely.problem import Bounds, Limits, Plausibility, Problem, to_class
from likely.search import solve
from tests.search.test_solve import all_rows, circuit_of, network_of, schema_of


def some_problem() -> Problem:
    rng = np.random.default_rng(3)
    schema, form = schema_of(), network_of(rng)
    factual = all_rows()[17]
    label = "no" if form.predict(factual[None])[0] == "yes" else "yes"
    return Problem(schema, factual, form, to_class(form, label), Plausibility(circuit_of(rng, schema), weight=0.1))


def test_it_can_be_sent_elsewhere() -> None:
    problem = some_problem()
    before = solve(problem)
    for asked in (problem, pickle.loads(pickle.dumps(problem))):
        after = solve(asked)
        assert after.status == before.status
        assert after.bounds == before.bounds
        assert [solution.row.tolist() for solution in after.solutions] == [solution.row.tolist() for solution in before.solutions]
    assert pickle.loads(pickle.dumps(before)).bounds == before.bounds


def test_a_factual_has_a_value_of_each_feature_within_its_domain() -> None:
    problem = some_problem()
    with pytest.raises(ProblemError, match=r"A factual must have 3 values; got \(2,\)\. Hint: use schema\.encode_row"):
        Problem(problem.schema, np.zeros(2), problem.form, problem.goal)
    with pytest.raises(
        ProblemError, match=r"The factual's 'n' must lie within 0 to 6; got 9\. Hint: use schema\.widened"
    ) as caught:
        Problem(problem.schema, np.array([9.0, 0, 0]), problem.form, problem.goal)
    assert caught.value.feature == "n"


def test_both_engines_take_blocks_and_the_papers_formulation_refuses_them() -> None:
    problem = some_problem()
    plain = Warp.identity()
    nodes = (
        GaussianBlock((0, 2), (plain, plain), (3.0, 2.0), ((1.0,), (0.5, 1.0))),
        Categories(1, (0.2, 0.3, 0.5)),
        Product((0, 1)),
    )
    circuit = Circuit(problem.schema.features, nodes)
    here = to_class(problem.form, str(problem.form.predict(problem.factual[None])[0]))
    problem = replace(problem, goal=here, plausibility=Plausibility(circuit, -1e3))
    exact = solve(problem)
    assert exact.status == "optimal"
    pytest.importorskip("pyomo")
    pytest.importorskip("highspy")
    result = mio_solve(problem, Limits(seconds=30))
    assert (result.status, result.solutions[0].objective) == ("optimal", pytest.approx(exact.solutions[0].objective, abs=1e-5))
    refused = r"paper's formulation must have leaves of one variable each; got 1 Gaussian block.*Hint: use formulation='hull'"
    with pytest.raises(CircuitError, match=refused):
        mio_solve(problem, formulation="paper")


@pytest.mark.parametrize(("least", "weight"), [(math.nan, 0.0), (0.0, -1.0), (0.0, math.inf)])
def test_plausibility_is_numbers(least: float, weight: float) -> None:
    with pytest.raises(ProblemError, match="Plausibility must have a threshold and a weight of at least 0"):
        Plausibility(circuit_of(np.random.default_rng(0), schema_of()), least, weight)


def test_limits_are_sensible() -> None:
    for wrong in ({"seconds": 0}, {"seconds": -math.inf}, {"seconds": math.nan}, {"nodes": 0}, {"solutions": 0}):
        with pytest.raises(ProblemError, match="Limits must be positive"):
            Limits(**wrong)  # type: ignore[arg-type]
    for wrong in ({"absolute_gap": -1.0}, {"relative_gap": math.nan}, {"pool_gap": -0.1}):
        with pytest.raises(ProblemError, match="Gaps and `pool_gap` must not be negative"):
            Limits(**wrong)


@pytest.mark.parametrize("name", ["seconds", "absolute_gap", "relative_gap", "pool_gap"])
@pytest.mark.parametrize("wrong", ["5", None, True, 1j])
def test_limits_are_numbers(name: str, wrong: object) -> None:
    with pytest.raises(ProblemError, match=rf"Limits\({name}=\.\.\.\) must be a number; got .*: leave it out, or give math\.inf"):
        Limits(**{name: wrong})  # type: ignore[arg-type]


def test_nodes_have_no_infinity() -> None:
    with pytest.raises(ProblemError, match=r"Limits\(nodes=\.\.\.\) must be a whole number; got inf"):
        Limits(nodes=math.inf)  # type: ignore[arg-type]


def test_infinite_seconds_are_no_limit() -> None:
    problem = some_problem()
    assert solve(problem, Limits(seconds=math.inf)).bounds == solve(problem).bounds


def test_a_gap_is_never_negative() -> None:
    assert Bounds(1.0, 0.25).gap == 0.75
    assert Bounds(1.0, 1.5).gap == 0.0
