"""What the engine proves is derived again without it; what was tampered with proves no more than follows."""

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

import likely
from likely.certificate import Certificate, load, save
from likely.certificate.domain import Domain
from likely.errors import CertificateError, ProblemError
from likely.predictor import Column, LinearModel, Link
from likely.problem import Limits, Problem, between, to_class
from likely.schema.costs import MoveCost
from likely.search import solve
from tests.oracles.search import answers_of
from tests.search.instances import variants
from tests.strategies import generators, hard_problems, problems, problems_over, real_schemas

LIMITS = Limits(seconds=20, nodes=400)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates") / "proof.jsonl.gz"


def proof(problem: Problem, path: Path, limits: Limits = LIMITS) -> tuple[float, Certificate]:
    result = solve(problem, limits, certificate=path)
    return result.bounds.lower, load(path)[0]


def checkable(problem: Problem) -> bool:
    """Whether the checker knows all bounds of a problem: all but those of the coherence of Gaussian blocks."""
    return problem.coherence is None or not problem.coherence.circuit.has_blocks


@pytest.mark.parametrize("kind", ["linear", "network", "forest"])
@given(data=st.data())
def test_what_is_proved_is_derived_again(kind: str, path: Path, data: st.DataObject) -> None:
    problem = data.draw(problems(kinds=[kind], rows=400))
    for asked in filter(checkable, variants(problem, data.draw(generators()), 4)):
        lower, certificate = proof(asked, path)
        replay = certificate.check(asked)
        assert replay.holds, (lower, replay)
        answers = answers_of(asked)
        if answers.sure.any():
            assert replay.proved <= answers.objective[answers.sure].min() + 1e-9


@given(problem=hard_problems(rows=800), rng=generators())
def test_searches_that_split_boxes(path: Path, problem: Problem, rng: np.random.Generator) -> None:
    for asked in filter(checkable, variants(problem, rng, 3)):
        _, certificate = proof(asked, path)
        assert certificate.check(asked).holds


@given(data=st.data())
def test_reals(path: Path, data: st.DataObject) -> None:
    schema = data.draw(real_schemas(reals=3, others=1))
    problem = data.draw(problems_over(schema, kinds=["linear", "network"]))
    if checkable(problem):
        _, certificate = proof(problem, path)
        assert certificate.check(problem).holds


def test_numbers_that_two_duals_remove_together(path: Path) -> None:
    """b < 0.45 costs too much, b > 0.45 misses the goal at less cost than is left: no single bound removes both."""
    features = (likely.Continuous("a", 0, 1), likely.Continuous("b", 0, 1), likely.Continuous("c", -1, 3))
    columns = (Column(0, -0.5), Column(1, 2.625), Column(2, -0.375))
    form = LinearModel(Link("sign"), (0, 1), columns, np.array([[1.0, 1.0, 1.0]]), np.array([0.0]))
    costs = (MoveCost(0.0, 0.0), MoveCost(0.0, 1.0, fee=1.0), MoveCost(0.0, 0.0, fee=2.0))
    schema = likely.Schema(features, costs=costs)
    problem = Problem(schema, np.array([math.nan, 1.0, -1.0]), form, between(form, 0.04, 1.065))
    lower, certificate = proof(problem, path)
    assert lower > 1.5
    assert certificate.check(problem).holds


# -- tampering ---------------------------------------------------------------------------------------------------------


def loans() -> Problem:
    """Granted if 1.1 n + 2.3 m + 0.7 k >= 15: splits, and values that reduced costs remove."""
    features = (likely.Integer("n", 0, 9), likely.Integer("m", 0, 9), likely.Continuous("k", 0, 9))
    columns = (Column(0, 1.1), Column(1, 2.3), Column(2, 0.7))
    form = LinearModel(Link("logistic"), ("no", "yes"), columns, np.array([[1.0, 1.0, 1.0]]), np.array([-15.0]))
    schema = likely.Schema(features, (likely.LinearConstraint({"n": 1.0, "m": 1.0}, 7),))
    return Problem(schema, np.array([1.0, 0.0, 2.0]), form, to_class(form, "yes"))


@pytest.fixture(scope="module")
def proved(path: Path) -> tuple[Problem, Certificate]:
    problem = loans()
    _, certificate = proof(problem, path)
    assert certificate.check(problem).holds
    return problem, certificate


def changed(certificate: Certificate, change: Any) -> Certificate:
    """The certificate with its lines changed."""
    lines = [json.loads(line) for line in certificate.text.splitlines()]
    change(lines)
    return replace(certificate, text="\n".join(map(json.dumps, lines)))


def best(problem: Problem) -> float:
    result = solve(problem, LIMITS)
    return result.solutions[0].objective


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.99, 1.01, 2.0, 1e12, -1.0, math.nan, math.inf])
def test_other_multipliers_prove_no_more_than_follows(proved: tuple[Problem, Certificate], factor: float) -> None:
    problem, certificate = proved

    def scale(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            for step in line.get("steps", ()):
                if step[0] == "cost bound":
                    step[3] = [[goal * factor, rule * factor, index] for goal, rule, index in step[3]]

    replay = changed(certificate, scale).check(problem)
    assert replay.proved <= best(problem)


def test_a_higher_claim_is_not_proved(proved: tuple[Problem, Certificate]) -> None:
    problem, certificate = proved
    replay = replace(certificate, lower=certificate.lower + 0.5).check(problem)
    assert not replay.holds
    assert replay.proved <= best(problem) + 1e-9


def test_a_claim_that_there_is_no_answer_is_not_proved(proved: tuple[Problem, Certificate]) -> None:
    problem, certificate = proved
    assert not replace(certificate, lower=math.inf).check(problem).holds


def test_a_child_that_is_missing_is_seen(proved: tuple[Problem, Certificate]) -> None:
    problem, certificate = proved

    def drop(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line.get("children"):
                line["children"] = line["children"][1:]

    assert not changed(certificate, drop).check(problem).holds


def test_a_removal_that_is_widened_is_seen(proved: tuple[Problem, Certificate]) -> None:
    problem, certificate = proved

    def widen(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            for step in line.get("steps", ()):
                if step[0] == "rules":
                    step[2] = [[j, None, []] for j in range(3)]

    assert not changed(certificate, widen).check(problem).holds


def test_steps_in_another_order_prove_no_more_than_follows(proved: tuple[Problem, Certificate]) -> None:
    problem, certificate = proved

    def turn(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if "steps" in line:
                line["steps"] = line["steps"][::-1]

    assert changed(certificate, turn).check(problem).proved <= best(problem) + 1e-9


def test_nodes_that_are_missing_are_open(proved: tuple[Problem, Certificate]) -> None:
    problem, certificate = proved
    replay = changed(certificate, lambda lines: lines.__delitem__(slice(1, None))).check(problem)
    assert replay.proved == -math.inf
    assert replay.nodes == 0


def test_another_problem_is_refused(proved: tuple[Problem, Certificate]) -> None:
    problem, certificate = proved
    for other in (
        replace(problem, factual=np.array([1.0, 0.0, 2.5])),
        replace(problem, goal=to_class(problem.form, "yes", margin=0.5)),
        replace(problem, schema=problem.schema.with_constraints(likely.Immutable("n"))),
    ):
        with pytest.raises(CertificateError, match="of the problem that it is checked for"):
            certificate.check(other)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "no JSON", '{"roots": [0, 1, 2]}', '{"roots": [-1]}\n{"node": -1}'])
def test_what_is_no_certificate_is_refused(proved: tuple[Problem, Certificate], text: str) -> None:
    problem, certificate = proved
    with pytest.raises(CertificateError):
        replace(certificate, text=text).check(problem)


# -- files -------------------------------------------------------------------------------------------------------------


def test_files_come_back_as_they_were(proved: tuple[Problem, Certificate], tmp_path: Path) -> None:
    _, certificate = proved
    save(tmp_path / "two.jsonl.gz", [certificate, replace(certificate, lower=math.inf, truncated=True)])
    first, second = load(tmp_path / "two.jsonl.gz")
    assert first.lower == certificate.lower
    assert first.text.splitlines() == certificate.text.splitlines()
    assert second.truncated
    assert second.lower == math.inf


@pytest.mark.parametrize("content", [b"", b"no gzip", b"\x1f\x8b\x08\x00"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "none").write_bytes(content)
    with pytest.raises(CertificateError):
        load(tmp_path / "none")


def test_a_certificate_is_of_one_answer(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="one answer"):
        solve(loans(), Limits(solutions=2), certificate=tmp_path / "proof")


def test_parts_of_boxes_hold_every_row() -> None:
    domain = Domain(loans())
    whole = domain.whole()
    part = domain.changed(whole, [[0, [2.0, 4.0], []], [2, [1.5, 3.0], []]])
    removed = [box for _, box in domain.removed(whole, part)]
    rows = np.random.default_rng(0).uniform(0, 9, (500, 3))
    rows[:, :2] = rows[:, :2].round()
    inside = [((box.low <= rows) & (rows <= box.high)).all(axis=1) for box in [part, *removed]]
    assert np.any(inside, axis=0).all()
    assert not (inside[0] & np.any(inside[1:], axis=0)).any()


def test_ends_off_a_grid_hide_no_number() -> None:
    """A tampered range may end anywhere: what is beyond it begins with the next whole number."""
    domain = Domain(loans())
    whole = domain.whole()
    for low, high in [(2.9, 5.1), (2.1, 4.9), (3.0, 5.0)]:
        part = domain.changed(whole, [[0, [low, high], []]])
        kept = [part, *(box for _, box in domain.removed(whole, part))]
        for n in range(10):
            assert any(box.low[0] <= n <= box.high[0] for box in kept)
