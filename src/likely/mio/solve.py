"""`solve`: a problem's best rows by mixed-integer programming, in the contract of the exact engine."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal

from likely.errors import ProblemError
from likely.mio.circuit import Formulation
from likely.mio.claims import held_against_rows
from likely.mio.incumbents import Incumbents
from likely.mio.modelling import OutOfTimeError, until
from likely.mio.programme import Programme, beside_steps, refuse_coherence
from likely.mio.run import Run
from likely.mio.solvers import Solver, make_solver
from likely.mio.tolerances import START_SHARE
from likely.mio.warm_start import warm_start
from likely.problem import Callback, Limits, Problem, Result, Solution
from likely.schema.values import Numbers


def solve(
    problem: Problem,
    limits: Limits | None = None,
    *,
    solver: str = "highs",
    formulation: Formulation = "hull",
    side: Literal["under", "over", "both"] | None = None,
    big_m: float | None = None,
    options: Mapping[str, Any] | None = None,
    starts: Numbers | None = None,
    callback: Callback | None = None,
    test: bool = True,
) -> Result:
    """The best rows of a problem, by the method of the LiCE paper, made exact.

    Every answer is decoded and tested with the form and the circuit themselves. Status and lower bound are what the solver claims
    under its tolerances, and no proof: `Result.proof` is "solver". What it claims depends on `side`:

    - `Plausibility(approximate=True)`, or no likelihood asked for: "under" (the default) is the problem itself; the answer is
      the optimum.
    - Otherwise likelihoods are exact. "under" finds answers and proves nothing. "over" bounds the optimum from below; its row
      is the optimum if it is an answer, and is cut off if it is none. "both" (the default) does the one for an answer and then
      the other for the proof: `bounds` bracket the exact optimum.

    Gaussian blocks are bounded from above by tangents, and more of them are added where a solver's rows are above the blocks,
    until its answer is one. So "under", too, relaxes blocks; what it claims is the same. Of a factual whose number in a block
    lies beside the step of its feature, nothing is claimed.

    Args:
        problem: What is asked.
        limits: When to stop, and how many answers; its nodes are those of the solver.
        solver: One of `SOLVERS`.
        formulation: Of the circuit: "hull" or "paper", see `encode_circuit`.
        side: "under", "over" or "both"; None for what proves most.
        big_m: For `formulation="paper"`: one constant for all nodes, instead of bounds of each.
        options: The solver's own, by its names.
        starts: Rows that may be answers.
        callback: Called before every solve, and by HiGHS and SCIP now and then during it; if it returns False, the search ends
            there, as it does at Ctrl-C, and what is known is returned.
        test: Whether the exact engine searches a little for a row that refutes the claim. If it finds one, the result is that of
            the exact engine (`Result.proof` is "exact"): a solver that erred once is not asked again.
    """
    if side not in (None, "under", "over", "both"):
        raise ProblemError("side", "be 'under', 'over' or 'both'", repr(side), "leave it out")
    refuse_coherence(problem)
    incumbents = Incumbents(problem, limits or Limits(), callback)
    exact = incumbents.counts and problem.plausibility is not None and not problem.plausibility.approximate
    wanted = (side or ("both" if exact else "under")) if incumbents.counts else "under"
    settings = {"solver": solver, "formulation": formulation, "big_m": big_m, "options": options or {}}
    try:
        incumbents.start = warm_start(problem, starts, time.perf_counter() + START_SHARE * incumbents.limits.seconds)
        for each in ("under", "over") if wanted == "both" else (wanted,):
            proves = wanted != "both" or each == "over"
            claims = (not exact or each == "over") and not beside_steps(problem)
            _run(incumbents, each, settings, claims=claims, once=not proves)
    except OutOfTimeError:  # the model was not built in time
        pass
    except KeyboardInterrupt:
        incumbents.interrupted = True
    incumbents.keep_start()
    result = incumbents.result()
    return held_against_rows(problem, incumbents.limits, result, starts) if test else result


def _run(incumbents: Incumbents, side: str, settings: Mapping[str, Any], *, claims: bool, once: bool) -> None:
    """Solve the programme of one side, until it is proved; `once`: until there is an answer, in half of the time."""
    if incumbents.interrupted or not incumbents.within_limits:
        return
    known = incumbents.best or incumbents.start
    with until(incumbents.ends):
        programme, engine = _programme(incumbents.problem, incumbents.counts, side, settings)
        programme.ask(incumbents.problem, _cutoff(incumbents, known))
    run = Run(incumbents, programme, engine, claims=claims, once=once, start=known)
    run.seconds = incumbents.limits.seconds * (0.5 if once else 1.0)
    run.go()


def _cutoff(incumbents: Incumbents, known: Solution | None) -> float:
    """What the best answer costs at most, if it alone is asked for and cost is all that counts."""
    plausibility = incumbents.problem.plausibility
    alone = incumbents.limits.solutions == 1 and (plausibility is None or not plausibility.weight)
    return math.inf if known is None or not alone else known.objective


# -- one programme per schema, form and circuit -------------------------------------------------------------------------

_KEPT = 4
_made = threading.local()


def _programme(problem: Problem, counts: bool, side: str, settings: Mapping[str, Any]) -> tuple[Programme, Solver]:
    """The programme of a problem and a solver bound to it, made before for another factual, if it was."""
    made: OrderedDict[Any, Any] = _made.__dict__.setdefault("programmes", OrderedDict())
    circuit = problem.plausibility.circuit if problem.plausibility is not None and counts else None
    said = tuple((key, repr(value)) for key, value in settings.items())
    key = (problem.schema.features, id(problem.form), id(circuit), side, said)
    if key not in made:
        programme = Programme(
            problem.schema, problem.form, circuit,
            formulation=settings["formulation"], side="over" if side == "over" else "under", big_m=settings["big_m"],
        )  # fmt: skip
        engine = make_solver(settings["solver"], programme.model, settings["options"])
        made[key] = programme, engine, problem.form, circuit  # the last two, so that their ids stay theirs
    made.move_to_end(key)
    while len(made) > _KEPT:
        made.popitem(last=False)
    return made[key][0], made[key][1]
