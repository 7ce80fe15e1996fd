"""One search on several threads, and one that keeps few nodes in memory: the same answers, the same proof."""

from __future__ import annotations

import math
import signal
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import EngineError
from likely.problem import Limits, Problem, Progress, Result
from likely.search import SearchSession, solve
from tests.oracles.search import answers_of
from tests.search.instances import variants
from tests.search.judging import LIMITS, judge
from tests.search.test_blocks import block_problems, problems_of_reals
from tests.search.test_coherence import demanding_problems
from tests.search.test_follow import loan
from tests.search.test_limits import essence, long_problem, press
from tests.search.test_units import wide_problems
from tests.strategies import generators, hard_problems

#: A round of nodes is longer than that.
FEW = Limits(seconds=60, nodes=120)


def in_rounds(problem: Problem, limits: Limits = LIMITS, threads: int = 1, **options: Any) -> Result:
    """What the engine answers if it looks at nodes in rounds from the first one on, and soon decomposes trees."""
    session = SearchSession(problem, threads)
    session._core.nodes_before_rounds = 0
    session._core.nodes_before_trees = 5
    return session.solve(limits, **options)


def everything(result: Result) -> tuple[object, ...]:
    """All but the time."""
    return (*essence(result), result.statistics.filtered, result.statistics.most_open)


def check_same(problem: Problem, limits: Limits = LIMITS) -> Result:
    """The same on one to four threads."""
    alone = in_rounds(problem, limits)
    for threads in (2, 3, 4):
        assert everything(in_rounds(problem, limits, threads)) == everything(alone)
    return alone


@pytest.mark.parametrize("kind", ["linear", "network", "forest"])
@given(data=st.data())
def test_the_same_on_any_number_of_threads(kind: str, data: st.DataObject) -> None:
    problem = data.draw(hard_problems(kinds=[kind], rows=1000))
    limits = replace(LIMITS, solutions=data.draw(st.sampled_from([1, 3])))
    for asked in variants(problem, data.draw(generators()), 3):
        judge(asked, check_same(asked, limits), answers_of(asked), limits)


@given(hard_problems(kinds=["forest"], plausible=False, rows=1000), generators())
def test_trees_that_are_decomposed(problem: Problem, rng: np.random.Generator) -> None:
    for asked in variants(problem, rng, 3):
        judge(asked, check_same(asked), answers_of(asked))


@given(wide_problems())
def test_units_that_are_split(problem: Problem) -> None:
    judge(problem, check_same(problem), answers_of(problem))


@given(block_problems())
def test_blocks(problem: Problem) -> None:
    judge(problem, check_same(problem), answers_of(problem))


@given(problems_of_reals(codes=True))
def test_blocks_of_reals(problem: Problem) -> None:
    check_same(problem, FEW)


@given(demanding_problems())
def test_coherence(problem: Problem) -> None:
    judge(problem, check_same(problem), answers_of(problem))


def test_a_search_that_takes_long() -> None:
    """Not begun in rounds, but they come: with the nodes that are usual before them."""
    limits = Limits(seconds=60, nodes=400)
    alone = solve(long_problem(), limits)
    assert alone.statistics.nodes == 400
    for threads in (2, 4):
        assert everything(solve(long_problem(), limits, n_jobs=threads)) == everything(alone)


@given(hard_problems(rows=1000), generators(), st.integers(1, 40), st.sampled_from([1, 3]))
def test_a_limit_of_nodes_within_a_round(problem: Problem, rng: np.random.Generator, nodes: int, threads: int) -> None:
    for asked in variants(problem, rng, 3):
        result, answers = in_rounds(asked, replace(LIMITS, nodes=nodes), threads), answers_of(asked)
        assert result.statistics.nodes <= nodes
        assert result.bounds.lower <= answers.best + 1e-9 * (1 + abs(answers.best) if answers.best < math.inf else 0)
        if result.status in ("optimal", "infeasible"):
            judge(asked, result, answers)
        else:
            assert result.statistics.nodes == nodes


# -- who calls whom -----------------------------------------------------------------------------------------------------


def test_a_followed_answer_is_kept_on_threads() -> None:
    row = np.array([1.0, 0.0, 4.0])
    assert in_rounds(loan(), Limits(solutions=1000), 3, follow=row).status == "optimal"
    with pytest.raises(EngineError, match="lost in"):
        in_rounds(loan(), Limits(solutions=1000), 3, follow=np.array([1.0, 0.0, 3.0]))


@given(hard_problems(rows=600), generators())
def test_the_optimum_is_followed_in_rounds(problem: Problem, rng: np.random.Generator) -> None:
    for asked in variants(problem, rng, 3):
        answers = answers_of(asked)
        if answers.sure.any():
            best = answers.rows[answers.sure][answers.objective[answers.sure].argmin()]
            judge(asked, in_rounds(asked, threads=2, follow=best), answers)


def test_only_the_calling_thread_is_asked_and_may_end_the_search() -> None:
    callers: list[int] = []

    def listen(moment: Progress) -> bool:
        callers.append(threading.get_ident())
        return len(callers) < 5

    result = in_rounds(long_problem(), Limits(seconds=60), 3, callback=listen)
    assert result.status in ("feasible", "unknown")
    assert set(callers) == {threading.get_ident()}
    assert len(callers) == 5


def test_an_error_of_the_callback_is_raised_when_all_threads_rest() -> None:
    before = threading.active_count()

    def fail(moment: Progress) -> bool:
        if moment.nodes > 3:
            raise RuntimeError("enough")
        return True

    with pytest.raises(RuntimeError, match="enough"):
        in_rounds(long_problem(), Limits(seconds=60), 3, callback=fail)
    assert threading.active_count() == before


def test_ctrl_c_ends_all_threads() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    timer = threading.Timer(0.2, press)
    timer.start()
    result = in_rounds(long_problem(), Limits(seconds=60), 3)
    timer.join()
    assert result.interrupted
    assert result.status in ("feasible", "unknown")
    assert result.bounds.lower <= result.bounds.upper


def test_a_limit_of_time_is_kept_on_threads() -> None:
    result = in_rounds(long_problem(), Limits(seconds=0.2), 3)
    assert result.status in ("feasible", "unknown")
    assert result.statistics.seconds >= 0.2
    assert result.bounds.lower <= result.bounds.upper


# -- memory -------------------------------------------------------------------------------------------------------------


@given(hard_problems(rows=2000), generators(), st.sampled_from([1, 4, 20]), st.booleans())
def test_few_nodes_in_memory(problem: Problem, rng: np.random.Generator, open_nodes: int, rounds: bool) -> None:
    """The same optimum, and no more nodes in memory than the limit and what is beside the way to a leaf.

    A feature is cut at most as often as it has values (a hundred, say, for all features together), into three parts at most.
    """
    limits = replace(LIMITS, open_nodes=open_nodes)
    for asked in variants(problem, rng, 3):
        result = in_rounds(asked, limits) if rounds else solve(asked, limits)
        judge(asked, result, answers_of(asked), limits)
        assert result.statistics.most_open <= open_nodes + 100 * (16 if rounds else 1)


def test_a_long_search_plunges() -> None:
    """A search that would have hundreds of nodes open has few; its bound rises no further than theirs."""
    limits = Limits(seconds=60, nodes=600)
    wide, deep = solve(long_problem(20), limits), solve(long_problem(20), replace(limits, open_nodes=10))
    assert wide.statistics.most_open > 300
    assert deep.statistics.most_open < 150
    assert deep.bounds.lower <= wide.bounds.upper + 1e-9
    assert wide.bounds.lower <= deep.bounds.upper + 1e-9
    assert deep.bounds.lower <= deep.bounds.upper
