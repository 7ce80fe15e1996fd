"""The decomposition of trees: the same answers as by enumeration and by mixed-integer programming, from the first node on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import likely
from likely import certificate, mio
from likely.problem import Limits, Plausibility, Problem, Result, not_class
from likely.schema import LinearConstraint
from likely.search import SearchSession, solve
from tests.oracles.search import answers_of
from tests.search.instances import variants
from tests.search.judging import LIMITS, judge
from tests.strategies import generators, hard_problems, problems


def decomposed(problem: Problem, limits: Limits = LIMITS, **options: Any) -> Result:
    """What the engine answers if it does not wait for the search to take long."""
    session = SearchSession(problem)
    session._core.nodes_before_trees = 0
    return session.solve(limits, **options)


@given(problems(kinds=["forest", "composite of trees"], plausible=False, rows=600), generators())
def test_enumeration(problem: Problem, rng: np.random.Generator) -> None:
    for asked in variants(problem, rng, 8):
        answers = answers_of(asked)
        best = answers.rows[answers.sure][answers.objective[answers.sure].argmin()] if answers.sure.any() else None
        judge(asked, decomposed(asked, follow=best), answers)


@given(problems(kinds=["forest", "composite of trees"], plausible=True, rows=600), generators())
def test_enumeration_with_a_likelihood(problem: Problem, rng: np.random.Generator) -> None:
    for asked in variants(problem, rng, 8):
        answers = answers_of(asked)
        best = answers.rows[answers.sure][answers.objective[answers.sure].argmin()] if answers.sure.any() else None
        judge(asked, decomposed(asked, follow=best), answers)


@pytest.mark.slow
@given(hard_problems(kinds=["forest", "composite of trees"], plausible=True, rows=2000), generators())
def test_no_likely_answer_is_lost(problem: Problem, rng: np.random.Generator) -> None:
    for asked in variants(problem, rng, 3):
        answers = answers_of(asked)
        for row in rng.permutation(answers.rows[answers.sure])[:5]:
            decomposed(asked, follow=row)


@pytest.mark.slow
@given(
    hard_problems(kinds=["forest", "composite of trees"], plausible=False, rows=2000),
    generators(),
    st.sampled_from([1, 3, 1000]),
    st.booleans(),
)
def test_no_answer_is_lost(problem: Problem, rng: np.random.Generator, solutions: int, other_features: bool) -> None:
    limits = replace(LIMITS, solutions=solutions, other_features=other_features)
    followed = 0
    for asked in variants(problem, rng, 3):
        answers = answers_of(asked)
        for row in rng.permutation(answers.rows[answers.sure])[:5]:
            decomposed(asked, limits, follow=row)
            followed += 1
    assume(followed)


@given(problems(kinds=["forest"], plausible=False, rows=600), generators(), st.sampled_from([2, 5]))
def test_several_answers(problem: Problem, rng: np.random.Generator, solutions: int) -> None:
    limits = replace(LIMITS, solutions=solutions)
    for asked in variants(problem, rng, 3):
        here, there = decomposed(asked, limits), solve(asked, limits)
        assert here.status == there.status
        assert [each.objective for each in here.solutions] == pytest.approx(
            [each.objective for each in there.solutions], abs=2e-6
        )


def forest_of(rng: np.random.Generator, model: Any, reals: int, classes: int) -> tuple[Problem, np.ndarray[Any, Any]]:
    """Any other class than a row of reals has, and training rows that are answers."""
    X = rng.normal(size=(300, reals))
    scores = X @ rng.normal(size=(reals, classes)) + np.sin(2 * X) @ rng.normal(size=(reals, classes))
    model.fit(X, scores.argmax(axis=1))
    schema = likely.Schema(tuple(likely.Continuous(f"x{j}", -5, 5) for j in range(reals)))
    form = likely.predictor.read(model, schema)
    said = model.predict(X)
    return Problem(schema, X[0], form, not_class(form, said[0])), X[said != said[0]]


MODELS = {
    "forest": lambda seed: RandomForestClassifier(10, max_depth=4, random_state=seed),
    "boosting": lambda seed: GradientBoostingClassifier(n_estimators=12, max_depth=2, random_state=seed),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", MODELS)
def test_mixed_integer_programming(kind: str, classes: int) -> None:
    for seed in range(3):
        problem, starts = forest_of(np.random.default_rng(seed), MODELS[kind](seed), 5, classes)
        theirs = mio.solve(problem, Limits(seconds=60), starts=starts)
        assert theirs.status == "optimal"
        ours = decomposed(problem, starts=starts, follow=theirs.solutions[0].row)
        assert ours.status == "optimal"
        assert ours.bounds.upper == pytest.approx(theirs.bounds.upper, abs=1e-5)


def test_many_reals() -> None:
    """What bounds of single trees leave open after thousands of nodes is closed after a few more."""
    model = RandomForestClassifier(60, max_depth=5, random_state=0)
    problem, starts = forest_of(np.random.default_rng(0), model, 12, 2)
    result = solve(problem, Limits(nodes=1500), starts=starts)
    assert result.status == "optimal"
    again = solve(problem, Limits(nodes=1500), starts=starts)
    assert again.statistics.nodes == result.statistics.nodes
    assert again.solutions[0].row.tolist() == result.solutions[0].row.tolist()


def test_a_limit_keeps_what_is_proved() -> None:
    """The bound does not fall when the search begins anew."""
    model = RandomForestClassifier(60, max_depth=5, random_state=0)
    problem, starts = forest_of(np.random.default_rng(0), model, 12, 3)
    proved = [solve(problem, Limits(nodes=nodes), starts=starts).bounds.lower for nodes in (499, 500, 501, 520)]
    assert proved == sorted(proved)


def likely_forest_of(seed: int, method: Any, classes: int, *, ordered: bool) -> tuple[Problem, np.ndarray[Any, Any]]:
    """The same with a likelihood, perhaps with a rule; and rows, of which some are answers."""
    rng = np.random.default_rng(seed)
    model = GradientBoostingClassifier(n_estimators=12, max_depth=2, random_state=seed)
    problem, starts = forest_of(rng, model, 4, classes)
    rows = np.vstack([starts, problem.factual])
    rules = (LinearConstraint.ordered("x0", "x1"),) if ordered else ()
    circuit = likely.circuit.learn(rows, None, problem.schema, method=method, progress=False).circuit
    lower = float(np.median(circuit.log_likelihood(rows)))
    schema = replace(problem.schema, constraints=rules)
    return replace(problem, schema=schema, plausibility=Plausibility(circuit, lower=lower)), starts


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["mixture", "blocks"])
def test_many_reals_with_a_likelihood(method: Any, classes: int, ordered: bool) -> None:
    """An answer that the search finds by itself is found again, and none of those that are known is lost."""
    limits = Limits(nodes=1000, relative_gap=1e-4)
    problem, starts = likely_forest_of(classes + ordered, method, classes, ordered=ordered)
    there = solve(problem, limits, starts=starts)
    known = there.solutions[0].row if there.solutions else None
    here = decomposed(problem, limits, starts=starts, follow=known)
    assert here.bounds.lower <= there.bounds.upper + 1e-6
    assert there.bounds.lower <= here.bounds.upper + 1e-6
    for row in starts[problem.admits(starts)][:3]:
        decomposed(problem, replace(limits, nodes=200), follow=row)


@pytest.mark.parametrize("method", ["mixture", "blocks"])
def test_threads_with_a_likelihood(method: Any) -> None:
    """As many nodes, the same bounds and the same row on any number of threads."""
    problem, starts = likely_forest_of(0, method, 3, ordered=False)
    results = []
    for threads in (1, 3):
        session = SearchSession(problem, threads)
        session._core.nodes_before_trees = 0
        session._core.nodes_before_rounds = 0
        results.append(session.solve(Limits(nodes=300), starts=starts))
    assert results[0].statistics.nodes == results[1].statistics.nodes
    assert results[0].bounds == results[1].bounds
    assert results[0].solutions[0].row.tolist() == results[1].solutions[0].row.tolist()


@pytest.mark.parametrize("method", ["mixture", "blocks"])
def test_the_local_search_finds_likely_rows(method: Any) -> None:
    """From no start at all, the first node with decomposed trees has an answer that is not far from the best."""
    problem, _ = likely_forest_of(1, method, 2, ordered=False)
    best = solve(problem, Limits(seconds=60, relative_gap=1e-4)).bounds.upper
    assert decomposed(problem, Limits(nodes=1)).bounds.upper <= 1.5 * best


def test_certificates_with_a_likelihood(tmp_path: Path) -> None:
    """No checker derives what decomposed trees say of a likelihood: a search that is recorded does without it."""
    for seed in range(3):
        problem, starts = likely_forest_of(seed, "mixture", 2, ordered=False)
        result = decomposed(problem, Limits(seconds=60, nodes=600), starts=starts, certificate=tmp_path / "proof")
        assert certificate.load(tmp_path / "proof")[0].check(problem).holds
        assert result.solutions
