"""Searches that end early: by a limit, by the caller, by Ctrl-C. What they say holds then too; and it is always the same."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likely.predictor import Column, Link, ReluNetwork
from likely.problem import Limits, Plausibility, Problem, Progress, Result, to_class
from likely.schema import Integer, Schema
from likely.schema.costs import MoveCost
from likely.search import solve
from tests.oracles.search import Answers, answers_of, cell_keys, changed_keys, space_of
from tests.search.instances import variants
from tests.search.judging import LIMITS, check_solution, judge, rounding
from tests.strategies import generators, hard_problems, problems, some_mixture


def judge_early(problem: Problem, result: Result, answers: Answers) -> None:
    """What a search for one answer says at any time: lower <= optimum <= upper."""
    bounds = result.bounds
    assert bounds.lower <= answers.best + rounding(answers.best)
    assert bounds.upper >= answers.least - rounding(bounds.upper)
    assert result.status in ("feasible", "unknown")
    assert len(result.solutions) == (result.status == "feasible")
    for solution in result.solutions:
        check_solution(problem, solution)
        assert bounds.upper == solution.objective
    if result.status == "unknown":
        assert bounds.upper == math.inf


@given(hard_problems(rows=3000), generators(), st.integers(1, 20))
def test_limit_of_nodes(problem: Problem, rng: np.random.Generator, nodes: int) -> None:
    limits = replace(LIMITS, nodes=nodes)
    for asked in variants(problem, rng, 4):
        result, answers = solve(asked, limits), answers_of(asked)
        assert result.statistics.nodes <= nodes
        if result.status in ("optimal", "infeasible"):
            judge(asked, result, answers)
        else:
            assert result.statistics.nodes == nodes
            judge_early(asked, result, answers)


@pytest.mark.slow
@given(hard_problems(rows=2000), generators(), st.sampled_from([2, 5, 20]), st.booleans())
def test_limit_of_nodes_with_several_answers(
    problem: Problem, rng: np.random.Generator, solutions: int, other_features: bool
) -> None:
    """Nothing that is not in the list is below what is proved; and the list has no answer twice."""
    limits = replace(LIMITS, nodes=int(rng.integers(1, 10)), solutions=solutions, other_features=other_features)
    keys_of = changed_keys if other_features else cell_keys
    others = 0
    for asked in variants(problem, rng, 3):
        result, answers = solve(asked, limits), answers_of(asked)
        for solution in result.solutions:
            check_solution(asked, solution)
        objectives = [solution.objective for solution in result.solutions]
        assert objectives == sorted(objectives)
        listed = set(keys_of(asked, np.array([solution.row for solution in result.solutions]))) if objectives else set()
        assert len(listed) == len(objectives)
        if result.status in ("optimal", "infeasible"):
            judge(asked, result, answers, limits)
        for key, objective, sure in zip(keys_of(asked, answers.rows), answers.objective, answers.sure, strict=True):
            if sure and key not in listed:
                others += 1
                assert result.bounds.lower <= objective + rounding(objective)
    assume(others)  # a problem of which all answers are listed shows nothing


@given(problems(rows=600), generators())
def test_limit_of_time(problem: Problem, rng: np.random.Generator) -> None:
    """However short it is, what is said holds."""
    for asked in variants(problem, rng, 4):
        result = solve(asked, Limits(seconds=1e-9))
        assert result.statistics.nodes <= 1
        (judge if result.status in ("optimal", "infeasible") else judge_early)(asked, result, answers_of(asked))


@given(hard_problems(rows=1000), generators())
def test_a_known_answer_is_never_lost(problem: Problem, rng: np.random.Generator) -> None:
    tried = 0
    for asked in variants(problem, rng, 4):
        answers = answers_of(asked)
        if not answers.sure.any():
            continue
        tried += 1
        rows = answers.rows[answers.sure]
        known = rows[[rng.integers(len(rows))]]
        value = answers.objective[answers.sure & (answers.rows == known).all(axis=1)].min()
        result = solve(asked, replace(LIMITS, nodes=1), starts=known)
        assert result.bounds.upper <= value + rounding(value)
        judge(asked, solve(asked, LIMITS, starts=known), answers)
    assume(tried)


@given(problems(rows=200), generators())
def test_starts_that_are_no_answers_do_no_harm(problem: Problem, rng: np.random.Generator) -> None:
    space = space_of(problem)
    wild = np.array([math.nan, math.inf, -math.inf, 1e300, -(2.0**1000), 0.5])
    starts = np.concatenate([rng.choice(wild, (20, len(problem.schema))), space[rng.integers(len(space), size=20)]])
    starts[10:20, 0] = space[rng.integers(len(space), size=10), 0]
    judge(problem, solve(problem, LIMITS, starts=starts), answers_of(problem))


# -- a search that takes long -----------------------------------------------------------------------------------------


@cache
def long_problem(count: int = 16) -> Problem:
    """Far too many rows to be done with in the time of a test."""
    rng = np.random.default_rng(1)
    features = tuple(Integer(name, 0, 40) for name in "abcdefghijklmnopqrst"[:count])
    columns = tuple(Column(j, 0.1, -2.0) for j in range(len(features)))
    widths = [len(features), 24, 24, 1]
    layers = tuple(
        (rng.normal(size=(width, before)) / math.sqrt(before), rng.normal(size=width)) for before, width in pairwise(widths)
    )
    form = ReluNetwork(Link("logistic"), ("no", "yes"), columns, layers)
    factual = rng.integers(0, 41, len(features)).astype(float)
    score = form.score(factual[None])[0, 0]
    schema = Schema(features, (), tuple(MoveCost(*rng.uniform(0.5, 2, 2)) for _ in features))
    circuit = some_mixture(rng, features, None, 30)
    goal = to_class(form, "no" if score > 0 else "yes", margin=1.0)
    return Problem(schema, factual, form, goal, Plausibility(circuit, weight=1.0))


def ended_early(result: Result) -> bool:
    return result.status in ("feasible", "unknown") and result.bounds.lower <= result.bounds.upper


def test_long_searches_end_in_time() -> None:
    problem = long_problem()
    began = time.perf_counter()
    result = solve(problem, Limits(seconds=0.2))
    assert ended_early(result)
    assert time.perf_counter() - began >= 0.2  # putting the problem together is part of it
    assert not result.interrupted


def test_nothing_is_said_to_be_proved_while_starts_are_tried() -> None:
    problem = long_problem()
    starts = np.repeat(problem.factual[None], 300_000, axis=0)
    told: list[Progress] = []

    def listen(moment: Progress) -> bool:
        told.append(moment)
        return len(told) < 2

    result = solve(problem, Limits(seconds=60), starts=starts, callback=listen)
    assert told[0].nodes == 0
    assert told[0].lower == -math.inf
    assert ended_early(result)


def test_trace_and_callback_tell_the_same_story() -> None:
    told: list[Progress] = []

    def listen(moment: Progress) -> bool:
        told.append(moment)
        return len(told) < 4

    result = solve(long_problem(), Limits(seconds=60), callback=listen)
    assert ended_early(result)
    assert not result.interrupted
    assert len(told) == 4
    trace = result.statistics.trace
    assert trace[:4] == tuple(told)
    assert (trace[-1].upper, trace[-1].lower) == (result.bounds.upper, result.bounds.lower)
    for before, after in pairwise(trace):
        assert before.seconds <= after.seconds
        assert before.nodes <= after.nodes
        assert before.upper >= after.upper
        assert before.lower <= after.lower + rounding(after.lower)


def test_an_error_of_the_callback_is_raised() -> None:
    def fail(moment: Progress) -> bool:
        raise RuntimeError(f"after {moment.nodes} nodes")

    with pytest.raises(RuntimeError, match=r"after \d+ nodes"):
        solve(long_problem(), Limits(seconds=60), callback=fail)


def press() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def interrupts() -> None:
    """Python's own answer to Ctrl-C, as in a user's session."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_from_outside() -> None:
    timer = threading.Timer(0.1, press)
    timer.start()
    result = solve(long_problem(), Limits(seconds=60))
    timer.join()
    assert result.interrupted
    assert ended_early(result)
    assert result.statistics.seconds < 60
    assert len(result.statistics.trace) >= 1


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("pressed", [press, lambda: _in_a_thread(press)])
def test_ctrl_c_while_the_callback_runs(pressed: Callable[[], None]) -> None:
    calls = []

    def listen(moment: Progress) -> bool:
        calls.append(moment.nodes)
        if len(calls) == 3:
            pressed()
        return True

    result = solve(long_problem(), Limits(seconds=60), callback=listen)
    assert result.interrupted
    assert ended_early(result)
    assert len(calls) == 3
    assert result.statistics.nodes == calls[-1], "it ends there and then"


def _in_a_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


# -- always the same --------------------------------------------------------------------------------------------------


def essence(result: Result) -> tuple[object, ...]:
    """All but the time."""
    solutions = tuple(
        (tuple(answer.row), answer.objective, answer.cost, answer.log_likelihood, answer.class_index)
        for answer in result.solutions
    )
    return result.status, solutions, result.bounds, result.statistics.nodes, result.statistics.tested


@given(hard_problems(rows=2000), generators(), st.sampled_from([1, 3]))
def test_same_answer_every_time_and_in_threads(problem: Problem, rng: np.random.Generator, solutions: int) -> None:
    limits = replace(LIMITS, solutions=solutions)
    asked = list(variants(problem, rng, 3))
    once = [essence(solve(variant, limits)) for variant in asked]
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda variant: essence(solve(variant, limits)), asked * 3))
    assert again == once * 3


def test_long_searches_run_side_by_side() -> None:
    limits = Limits(seconds=60, nodes=300)
    once = essence(solve(long_problem(), limits))
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: essence(solve(long_problem(), limits)), range(4))) == {once}
