"""The paper's mixed-integer programme behind the explainer: all that the explainer does, and the exact engine's answers."""

from __future__ import annotations

from typing import Any

import pytest

import likely
from likely.errors import MissingExtraError, ProblemError
from likely.problem import Limits, Progress
from tests.explain.examples import circuit_of, explainer_of, model_of, rejected, schema_of, table_of

#: Bounds and answers are judged, proved or not: no need to wait for every proof.
SHORT = Limits(seconds=4)


@pytest.fixture(scope="module")
def mio() -> likely.Explainer:
    pytest.importorskip("pyomo")
    pytest.importorskip("highspy")
    return likely.Explainer(model_of(), schema_of(), circuit_of(), engine="mio", progress=False).fit(*table_of())


def agrees(found: likely.Explanation, wanted: likely.Explanation) -> None:
    """Its answers hold, and its bounds hold the exact optimum, which it reaches where it claims to."""
    assert likely.verify(found, model_of(), circuit_of())
    assert bool(found) == bool(wanted)
    if not wanted:
        assert found.status == "infeasible"
        return
    exact = wanted.best.objective
    assert found.bounds.lower <= exact + 1e-5 * (1 + abs(exact)) or len(found) > 1
    assert found.best.objective >= exact - 1e-5 * (1 + abs(exact))
    if found.status == "optimal":
        objectives = [[own.objective for own in answer.counterfactuals] for answer in (found, wanted)]
        assert objectives[0] == pytest.approx(objectives[1], rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    "variant",
    [None, likely.Quantile(0.5), likely.Quantile(0.25, given="class"), likely.AtLeastFactual(), likely.Weight(0.1)],
    ids=str,
)
def test_every_variant(mio: likely.Explainer, variant: Any) -> None:
    for i in range(2):
        row = rejected().iloc[i]
        found = mio.explain(row, plausibility=variant, limits=SHORT)
        agrees(found, explainer_of().explain(row, plausibility=variant))
        assert found.query.engine == "mio"
        assert likely.Explanation.from_json(found.to_json()) == found


def test_several_answers_and_rules_of_this_question(mio: likely.Explainer) -> None:
    row = rejected().iloc[0]
    question: dict[str, Any] = {"k": 3, "plausibility": None, "locked": ["housing"]}
    found, wanted = mio.explain(row, **question), explainer_of().explain(row, **question)
    assert len(found) == len(wanted) == 3
    agrees(found, wanted)


def test_many_rows_one_after_the_other(mio: likely.Explainer) -> None:
    rows = rejected(3)
    found = mio.set_params(n_jobs=2).explain_many(rows, plausibility=None)
    for own, wanted in zip(found, explainer_of().explain_many(rows, plausibility=None), strict=True):
        agrees(own, wanted)


def test_front_and_why_not(mio: likely.Explainer) -> None:
    row = rejected().iloc[0]
    front = mio.front(row, by="changes", plausibility=None)
    wanted = explainer_of().front(row, by="changes", plausibility=None)
    costs = [[point.best.cost for point in own.points] for own in (front, wanted)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-5)
    locked = [name for name in row.index if name != "telephone"]
    assert mio.explain(row, plausibility=None, locked=locked).status == "infeasible"
    why = mio.why_not(row, plausibility=None, locked=locked)
    assert why.reasons
    assert {own.demand for own in why.reasons} <= {f"{name!r} may not change" for name in locked}


def test_ended_by_the_callback(mio: likely.Explainer) -> None:
    """Nothing is lost: the row that the search started from is an answer."""
    seen: list[Progress] = []
    answer = mio.explain(rejected().iloc[0], callback=lambda moment: len(seen) < 3 and not seen.append(moment))
    assert answer.interrupted
    assert answer.status == "feasible"
    assert likely.verify(answer, model_of(), circuit_of())


def test_the_solver_by_its_name(mio: likely.Explainer) -> None:
    pytest.importorskip("pyscipopt")
    scip = likely.Explainer(model_of(), schema_of(), circuit_of(), engine="mio", solver="scip").fit(*table_of())
    row = rejected().iloc[1]
    agrees(scip.explain(row), explainer_of().explain(row))


def test_saved_with_its_solver(mio: likely.Explainer, tmp_path: Any) -> None:
    mio.set_params(solver="highs").save(tmp_path)
    again = likely.Explainer.load(tmp_path, model_of())
    assert (again.engine, again.solver) == ("mio", "highs")


def test_solvers_that_cannot_be_had() -> None:
    def fitted(**settings: Any) -> likely.Explainer:
        return likely.Explainer(model_of(), schema_of(), circuit_of(), **settings).fit(*table_of())

    with pytest.raises(ProblemError, match=r"A solver must be left out for engine='search', which drives none; got 'highs'"):
        fitted(solver="highs")
    pytest.importorskip("pyomo")
    with pytest.raises(ProblemError, match=r"A solver must be 'highs', 'scip', 'gurobi'; got 'abacus'"):
        fitted(engine="mio", solver="abacus")
    with pytest.raises(MissingExtraError, match=r"pip install 'likely\[gurobi\]'"):
        fitted(engine="mio", solver="gurobi")
