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


def agrees(answer: likely.Explanation, wanted: likely.Explanation) -> None:
    """Its answers hold, and its bounds hold the exact optimum, which it reaches where it claims to."""
    assert likely.verify(answer, model_of(), circuit_of())
    assert bool(answer) == bool(wanted)
    if not wanted:
        assert answer.status == "infeasible"
        return
    exact = wanted.best.objective
    others = max(wanted.counterfactuals[-1].objective, wanted.bounds.lower)  # no answer that is left out is below
    assert answer.bounds.lower <= others + 1e-5 * (1 + abs(exact))
    assert answer.best.objective >= exact - 1e-5 * (1 + abs(exact))
    if answer.status == "optimal":
        objectives = [[row.objective for row in rows.counterfactuals] for rows in (answer, wanted)]
        assert objectives[0] == pytest.approx(objectives[1], rel=1e-5, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant",
    [None, likely.Quantile(0.5), likely.Quantile(0.25, given="class"), likely.AtLeastFactual(), likely.Weight(0.1)],
    ids=str,
)
def test_every_variant(mio: likely.Explainer, variant: Any) -> None:
    for i in range(2):
        row = rejected().iloc[i]
        answer = mio.explain(row, plausibility=variant, limits=SHORT)
        agrees(answer, explainer_of().explain(row, plausibility=variant))
        assert answer.query.engine == "mio"
        assert likely.Explanation.from_json(answer.to_json()) == answer


def test_several_answers_and_rules_of_this_question(mio: likely.Explainer) -> None:
    row = rejected().iloc[0]
    question: dict[str, Any] = {"k": 3, "plausibility": None, "locked": ["housing"]}
    answer, wanted = mio.explain(row, **question), explainer_of().explain(row, **question)
    assert len(answer) == len(wanted) == 3
    agrees(answer, wanted)


def test_many_rows_one_after_the_other(mio: likely.Explainer) -> None:
    rows = rejected(3)
    answers = mio.set_params(n_jobs=2).explain_many(rows, plausibility=None)
    for answer, wanted in zip(answers, explainer_of().explain_many(rows, plausibility=None), strict=True):
        agrees(answer, wanted)


def test_front_and_why_not(mio: likely.Explainer) -> None:
    row = rejected().iloc[0]
    front = mio.front(row, by="changes", plausibility=None)
    wanted = explainer_of().front(row, by="changes", plausibility=None)
    costs = [[point.best.cost for point in of_engine.points] for of_engine in (front, wanted)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-5)
    locked = [name for name in row.index if name != "telephone"]
    assert mio.explain(row, plausibility=None, locked=locked).status == "infeasible"
    why = mio.why_not(row, plausibility=None, locked=locked)
    assert why.reasons
    assert {reason.demand for reason in why.reasons} <= {f"{name!r} may not change" for name in locked}


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


def test_what_a_solver_claims_is_not_called_proved(mio: likely.Explainer) -> None:
    row = rejected().iloc[0]
    answer = mio.explain(row, plausibility=None)
    assert "Claimed by highs within its tolerances, not proved: no other answer costs less than " in str(answer)
    assert "Proved" not in str(answer)
    assert "Proved" in str(explainer_of().explain(row, plausibility=None))
