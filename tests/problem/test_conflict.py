"""Why there is no answer: the smallest conflict, by trying every set of demands; and what giving one up brings."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import likely
from likely.circuit import Categories, Circuit, Histogram, Product
from likely.errors import ProblemError
from likely.predictor import Column, LinearModel, Link
from likely.problem import Conflict, Limits, Plausibility, Problem, likeliest, to_class, why
from likely.problem.conflict import LikelihoodWords, kept
from likely.problem.hitting_sets import hitting_sets, least_size, smallest_hitting_set
from likely.search import solve
from tests.oracles.search import answers_of
from tests.search.instances import variants
from tests.search.judging import rounding
from tests.search.test_solve import circuit_of
from tests.strategies import generators, problems


def demands_of(problem: Problem) -> list[int]:
    plausibility = problem.plausibility
    return list(range(len(problem.schema.constraints) + (plausibility is not None and plausibility.counts)))


def smallest_conflicts(problem: Problem) -> list[set[int]]:
    """All smallest sets of demands that no row meets."""
    demands = demands_of(problem)
    for size in range(len(demands) + 1):
        subsets = combinations(demands, size)
        conflicts = [set(subset) for subset in subsets if not len(answers_of(kept(problem, subset)).rows)]
        if conflicts:
            return conflicts
    return []


def named(problem: Problem, conflict: Conflict) -> set[int]:
    """The demands of a conflict by number."""
    constraints = problem.schema.constraints
    return {
        len(constraints) if reason.constraint is None else constraints.index(reason.constraint) for reason in conflict.reasons
    }


def clearly_infeasible(problem: Problem) -> bool:
    """Whether no row meets all demands, and rounding decides of no set of them whether a row meets it."""
    demands = demands_of(problem)
    sets = (subset for size in range(len(demands) + 1) for subset in combinations(demands, size))
    return solve(problem).status == "infeasible" and all(answers_of(kept(problem, subset)).sure.all() for subset in sets)


@given(problems(rows=150, features=3), generators())
def test_smallest_conflict(problem: Problem, rng: np.random.Generator) -> None:
    without_answer = [asked for asked in variants(problem, rng, 12) if clearly_infeasible(asked)]
    assume(without_answer)
    for asked in without_answer[:4]:
        conflict = why(asked, solve)
        wanted = smallest_conflicts(asked)
        assert conflict.smallest
        assert named(asked, conflict) in wanted
        for reason, demand in zip(conflict.reasons, sorted(named(asked, conflict)), strict=True):
            answers = answers_of(kept(asked, set(demands_of(asked)) - {demand}))
            assert (reason.without is None) == (not len(answers.rows))
            if reason.without is not None:
                assert reason.without == pytest.approx(answers.best, abs=1e-6 + rounding(answers.best))
        judge_way_out(asked, conflict)


def judge_way_out(problem: Problem, conflict: Conflict) -> None:
    """The fewest demands to give up, and the cheapest answer that this brings, by trying every set of demands."""
    demands = demands_of(problem)
    for size in range(len(demands) + 1):
        sets = [set(demands) - set(given_up) for given_up in combinations(demands, size)]
        answers = [answers_of(kept(problem, left)) for left in sets]
        costs = [found.best for found in answers if len(found.rows)]
        if costs:
            assert conflict.way_out is not None
            assert conflict.way_out.proved
            assert len(conflict.way_out.demands) == size
            assert conflict.way_out.cost == pytest.approx(min(costs), abs=1e-6 + rounding(min(costs)))
            return
    assert conflict.way_out is None
    assert not conflict.reasons


def loan(*rules: likely.schema.Constraint, least: float = -math.inf) -> Problem:
    """Granted if n + 2 m >= 8; now n is 1, m is 0 and c is 'a'."""
    features = (likely.Integer("n", 0, 6), likely.Categorical("c", ("a", "b", "d")), likely.Integer("m", 0, 4))
    schema = likely.Schema(features, rules)
    columns = (Column(0, 1.0), Column(2, 2.0))
    form = LinearModel(Link("logistic"), ("no", "yes"), columns, np.array([[1.0, 1.0]]), np.array([-7.5]))
    circuit = circuit_of(np.random.default_rng(0), schema)
    plausibility = Plausibility(circuit, lower=least) if least > -math.inf else None
    return Problem(schema, np.array([1.0, 0.0, 0.0]), form, to_class(form, "yes"), plausibility)


def test_in_words() -> None:
    conflict = why(loan(likely.Immutable("n"), likely.Range("m", upper=2), likely.Immutable("c")), solve)
    assert [reason.demand for reason in conflict.reasons] == ["'n' may not change", "'m' must be at most 2"]
    lines = str(conflict).splitlines()
    assert lines[0] == "These demands cannot be met together:"
    assert lines[1].startswith("- 'n' may not change: without this, there is an answer at cost ")
    assert len(lines) == 3


def test_a_threshold_says_what_can_be_reached() -> None:
    problem = loan(least=-1.0)
    (reason,) = why(problem, solve).reasons
    most = likeliest(problem, solve)
    assert reason.constraint is None
    assert reason.reachable == most
    assert str(reason).startswith("an answer must be likely enough (a log-likelihood of at least -1.00): without this, there is ")
    assert str(reason).endswith(f"; the likeliest row that meets all the other demands has {most:.2f}")


def test_possible_is_a_demand_where_likelihood_only_has_a_weight() -> None:
    """Without another n, m must be at least 4, and the circuit gives no mass to more than 1."""
    problem = loan(likely.Immutable("n"), likely.Immutable("c"))
    leaves = Histogram(0, (0, 7), (1 / 7,)), Categories(1, (0.5, 0.25, 0.25)), Histogram(2, (0, 2, 5), (0.5, 0.0))
    circuit = Circuit(problem.schema.features, (*leaves, Product((0, 1, 2))), floor=0.0)
    weighted = replace(problem, plausibility=Plausibility(circuit, weight=0.5))
    assert solve(weighted).status == "infeasible"
    conflict = why(weighted, solve)
    possible = "an answer must be possible: its values, taken together, must not have a likelihood of zero"
    assert [reason.demand for reason in conflict.reasons] == ["'n' may not change", possible]
    assert conflict.reasons[1].reachable is None
    assert conflict.reasons[1].without == 4
    assert str(conflict.reasons[1]) == f"{possible}: without this, there is an answer at cost 4"


def test_a_goal_beyond_every_row_needs_no_demand() -> None:
    form = LinearModel(Link("logistic"), ("no", "yes"), (Column(0, 1.0),), np.array([[1.0]]), np.array([-100.0]))
    problem = Problem(likely.Schema((likely.Integer("n", 0, 6),)), np.array([1.0]), form, to_class(form, "yes"))
    assert str(why(problem, solve)) == "Whatever the rules, the model decides no row within the features' bounds as wanted."


def test_a_problem_with_an_answer_is_refused() -> None:
    with pytest.raises(ProblemError, match="A problem to explain must have no answer; got one that has"):
        why(loan(), solve)
    with pytest.raises(ProblemError, match="A problem must have a circuit to ask for likelihoods"):
        likeliest(loan(), solve)


def test_undecided_is_not_called_smallest() -> None:
    def never(problem: Problem, limits: Limits) -> likely.problem.Result:
        full = len(problem.schema.constraints) == 3
        result = solve(problem, limits)
        return result if full else likely.problem.Result("unknown", (), result.bounds)

    conflict = why(loan(likely.Immutable("n"), likely.Range("m", upper=2), likely.Immutable("c")), never)
    assert not conflict.smallest
    assert len(conflict.reasons) == 3


def test_a_problem_that_is_not_decided_is_refused() -> None:
    """Whether nothing is known at all, or nothing in time."""

    def never(problem: Problem, limits: Limits) -> likely.problem.Result:
        return likely.problem.Result("unknown", (), likely.problem.Bounds(math.inf, -math.inf))

    with pytest.raises(
        ProblemError, match=r"must be decided in time; got neither an answer nor the proof .* Hint: raise the limits"
    ):
        why(loan(likely.Immutable("n")), never)


def test_several_demands_to_give_up_together() -> None:
    """None alone helps, because each of the others excludes every answer too."""
    rules = [likely.Range("m", upper=1), likely.Immutable("n"), likely.Immutable("m"), likely.Immutable("c")]
    problem = loan(*rules)
    conflict = why(problem, solve)
    assert all(reason.without is None and reason.decided for reason in conflict.reasons)
    assert conflict.way_out is not None
    assert conflict.way_out.proved
    assert set(conflict.way_out.constraints) == {rules[0], rules[2]}
    assert conflict.way_out.cost == 4
    assert conflict.way_out.row.tolist() == [1.0, 0.0, 4.0]
    assert str(conflict).splitlines()[-3:] == [
        "The cheapest way out is to give up these 2 demands together; then there is an answer at cost 4:",
        "- 'm' must be at most 1",
        "- 'm' may not change",
    ]


def test_likelihoods_in_the_words_of_the_caller() -> None:
    problem = loan(least=-1.0)
    words = LikelihoodWords("at least as likely as half of the loans", lambda log: f"likelier than {log:.0f} of them")
    (reason,) = why(problem, solve, words=words).reasons
    assert str(reason).startswith("an answer must be at least as likely as half of the loans: without this, ")
    assert str(reason).endswith(
        f"; the likeliest row that meets all the other demands is likelier than {reason.reachable:.0f} of them"
    )


def granted(count: int) -> Problem:
    """Granted if one of many switches is on; none of them may change."""
    schema = likely.Schema(
        [likely.Integer(f"n{i}", 0, 1) for i in range(count)], [likely.Immutable(f"n{i}") for i in range(count)]
    )
    columns = tuple(Column(i, 1.0) for i in range(count))
    form = LinearModel(Link("logistic"), ("no", "yes"), columns, np.ones((1, count)), np.array([-0.5]))
    return Problem(schema, np.zeros(count), form, to_class(form, "yes"))


def test_a_conflict_of_many_demands_takes_few_questions() -> None:
    """All of them are in the one conflict: sets of all sizes would be 2 ** 24."""
    asked = 0

    def counted(problem: Problem, limits: Limits) -> likely.problem.Result:
        nonlocal asked
        asked += 1
        return solve(problem, limits)

    conflict = why(granted(24), counted)
    assert conflict.smallest
    assert len(conflict.reasons) == 24
    assert conflict.way_out is not None
    assert len(conflict.way_out.demands) == 1
    assert asked < 24 * 24


@pytest.mark.parametrize("seed", range(3))
def test_questions_are_linear_in_the_number_of_demands(seed: int) -> None:
    """Overlapping rules have exponentially many conflicts and ways out: what is not proved is said, and there is a way out."""
    problem, asked = many_rules(seed), 0

    def counted(problem: Problem, limits: Limits) -> likely.problem.Result:
        nonlocal asked
        asked += 1
        return solve(problem, limits)

    conflict = why(problem, counted)
    demands = len(problem.schema.constraints)
    assert demands >= 15
    assert asked <= 2 * 30 + 6 * demands
    assert conflict.way_out is not None
    left = set(range(demands)) - {problem.schema.constraints.index(rule) for rule in conflict.way_out.constraints if rule}
    assert kept(problem, left).admits(conflict.way_out.row[None])[0]
    assert solve(kept(problem, named(problem, conflict))).status == "infeasible"


def many_rules(seed: int) -> Problem:
    """Ten numbers that a linear model reads, and rules that each keep one or two of them from where it wants them."""
    rng, count = np.random.default_rng(seed), 10
    factual, weights = rng.integers(2, 6, count).astype(float), rng.normal(size=count)
    rules: list[likely.schema.Constraint] = [likely.MaxChanges(2), *(likely.Immutable(f"n{i}") for i in range(0, count, 2))]
    for i, (weight, value) in enumerate(zip(weights, factual, strict=True)):
        end = "upper" if weight > 0 else "lower"
        rules.append(likely.Range(f"n{i}", **{end: int(value + np.sign(weight))}))
        other = (i + 1) % count
        a, b = float(np.sign(weight)), float(np.sign(weights[other]))
        rules.append(likely.LinearConstraint({f"n{i}": a, f"n{other}": b}, a * value + b * factual[other] + 1))
    room = sum(abs(weight) * (9 - value if weight > 0 else value) for weight, value in zip(weights, factual, strict=True))
    columns = tuple(Column(i, 1.0) for i in range(count))
    form = LinearModel(Link("logistic"), ("no", "yes"), columns, weights[None], np.array([-(weights @ factual) - 0.5 * room]))
    return Problem(
        likely.Schema([likely.Integer(f"n{i}", 0, 9) for i in range(count)], rules), factual, form, to_class(form, "yes")
    )


def test_the_limit_of_time_is_for_all_questions_together() -> None:
    def slow(problem: Problem, limits: Limits) -> likely.problem.Result:
        time.sleep(min(0.02, limits.seconds))
        return solve(problem, limits)

    started = time.perf_counter()
    conflict = why(granted(30), slow, Limits(seconds=0.5))
    assert time.perf_counter() - started < 2  # a busy machine
    assert not conflict.smallest


def test_hitting_sets_end_in_time() -> None:
    """Disjoint pairs have 2 ** 30 smallest hitting sets; that none is smaller than them is seen at once."""
    pairs = [frozenset({2 * i, 2 * i + 1}) for i in range(30)]
    assert smallest_hitting_set(pairs, 29) is None
    with pytest.raises(TimeoutError):
        list(hitting_sets(pairs, 30, time.perf_counter() + 0.05))


@given(st.lists(st.frozensets(st.integers(0, 7), min_size=1, max_size=4), max_size=8))
def test_hitting_sets(sets: list[frozenset[int]]) -> None:
    by_size = [[frozenset(c) for c in combinations(range(8), n) if all(s & set(c) for s in sets)] for n in range(9)]
    smallest = next(found for found in by_size if found)
    size = len(smallest[0])
    assert {found for found in hitting_sets(sets, 8) if len(found) == size} == set(smallest)
    assert all(found in by_size[len(found)] for found in hitting_sets(sets, 8))
    assert smallest_hitting_set(sets, size) in smallest
    assert smallest_hitting_set(sets, size - 1) is None
    assert least_size(sets) <= size
