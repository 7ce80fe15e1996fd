"""What the engine proves is derived again without it; what was tampered with proves no more than follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.certificate import Certificate, load
from likely.problem import Limits, Problem
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
    """Whether the checker knows all bounds of a problem: no price of likelihood, no blocks, no coherence."""
    asked = problem.plausibility
    return problem.coherence is None and (asked is None or not (asked.weight or asked.circuit.has_blocks))


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
