"""The proof that nothing is better than the best answer, as a file, and its check without the engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from likely.certificate import TOLERANCE, Certificate, Replay, fingerprint, load, save
from likely.circuit import Circuit
from likely.errors import CertificateError, ExplainerError, UnknownBoundError
from likely.explain.check import Check
from likely.explain.concluding import allowed_gap
from likely.explain.explanation import Explanation
from likely.explain.solving import problems_with
from likely.predictor import Form
from likely.problem import Problem


def problems_of_explanation(explanation: Explanation, form: Form, circuit: Circuit) -> list[Problem]:
    """What was searched for the best answer of an explanation: one problem per different threshold of a class.

    Args:
        explanation: The explanation.
        form: Of its model.
        circuit: Its circuit.
    """
    query = explanation.query
    labels = query.reachable(form.classes)
    thresholds = {**dict.fromkeys(labels, -math.inf), **dict(explanation.thresholds)}
    coherences = {**dict.fromkeys(labels, -math.inf), **dict(explanation.coherence_thresholds)}
    return problems_with(form, circuit, query, max(explanation.margin, query.question.margin), thresholds, coherences)


def certify(explanation: Explanation, form: Form, circuit: Circuit, path: str | Path) -> None:
    """Search once more for what is better than the best answer of an explanation, and write down the proof that there is nothing.

    Args:
        explanation: The explanation; its answers are where the search begins.
        form: Of its model.
        circuit: Its circuit.
        path: Of the file.
    """
    from likely.search import SearchSession

    if explanation.status == "refused":
        raise ExplainerError("A certificate", "be of a question that could be asked", explanation.reason, "leave it out")
    limits = replace(explanation.query.limits, solutions=1, other_features=False, pool_gap=math.inf)
    starts = np.array([answer.numbers for answer in explanation.counterfactuals]).reshape(-1, len(explanation.query.schema))
    made: list[Certificate] = []
    for problem in problems_of_explanation(explanation, form, circuit):
        SearchSession(problem).solve(limits, starts=starts, certificate=path)
        made += load(path)
    save(path, made)


def certificate_checks(explanation: Explanation, form: Form, circuit: Circuit | None, path: str | Path) -> Iterator[Check]:
    """What a certificate proves of an explanation, derived again without the engine.

    Args:
        explanation: What it is of.
        form: Of the model.
        circuit: The circuit; None if it was not given.
        path: Of the file.
    """
    claim = _claim(explanation)
    if circuit is None:
        yield Check(claim, None, "give the circuit")
        return
    try:
        problems, certificates = problems_of_explanation(explanation, form, circuit), load(path)
        by_problem = {certificate.problem: certificate for certificate in certificates}
        missing = [problem for problem in problems if fingerprint(problem) not in by_problem]
        if missing:
            raise CertificateError("A certificate", "be of the question of the explanation", "another one", "give the one of it")
        replays = [by_problem[fingerprint(problem)].check(problem) for problem in problems]
    except UnknownBoundError as error:
        yield Check(claim, None, str(error))
        return
    except CertificateError as error:
        yield Check(claim, False, str(error))
        return
    yield _verdict(explanation, claim, replays)


def _claim(explanation: Explanation) -> str:
    if explanation.status == "infeasible":
        return "that no answer exists was derived without the engine"
    return "that nothing is better than the best answer was derived without the engine"


def _verdict(explanation: Explanation, claim: str, replays: list[Replay]) -> Check:
    proved = min(replay.proved for replay in replays)
    nodes = sum(replay.nodes for replay in replays)
    told = f"the proof of {nodes:,} nodes was derived again: " + (
        "there is no answer" if proved == math.inf else f"no answer has an objective below {proved:.6g}"
    )
    if explanation.status == "infeasible" or not explanation:
        return Check(claim, proved == math.inf if explanation.status == "infeasible" else None, told)
    best = explanation.best.objective
    slack = allowed_gap(explanation.query, best) + 2 * TOLERANCE * (1 + abs(best))
    if explanation.status != "optimal":
        return Check(claim, None, told)
    return Check(claim, proved >= best - slack, told)
