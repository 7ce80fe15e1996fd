"""A problem as a file for a solver of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from likely.errors import ProblemError
from likely.mio.modelling import write
from likely.mio.programme import Programme
from likely.problem import Problem

ENDINGS = (".lp", ".mps", ".nl")


def export(problem: Problem, path: str | Path, **settings: Any) -> Programme:
    """Write a problem to a `.lp`, `.mps` or `.nl` file; returns its programme, to decode a solution with.

    Args:
        problem: What is asked.
        path: The file; its ending says the format.
        **settings: Those of `Programme`: `formulation`, `side`, `big_m`.
    """
    if Path(path).suffix not in ENDINGS:
        raise ProblemError("A file for a programme", f"end in {', '.join(ENDINGS)}", repr(Path(path).name), "rename it")
    circuit = problem.plausibility.circuit if problem.plausibility is not None else None
    programme = Programme(problem.schema, problem.form, circuit, **settings)
    programme.ask(problem)
    write(programme.model, str(path))
    return programme
