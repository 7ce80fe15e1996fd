"""How many threads an `n_jobs` asks for, as scikit-learn's people know it, and processes of one. Every room may use it."""

from __future__ import annotations

import operator
import os

from likely.errors import LikelyError


def thread_count(n_jobs: int | None, error: type[LikelyError]) -> int:
    """The number of threads to work on, at least 1.

    Args:
        n_jobs: None or -1 for one thread per core, -2 for all cores but one and so on, or a positive number of threads.
        error: The error to raise, of the room that was asked.
    """
    try:
        asked = -1 if n_jobs is None else operator.index(n_jobs)
    except TypeError:
        asked = 0
    if asked == 0:
        hint = "leave it out for one thread per core"
        raise error("n_jobs", "be None, a number of threads, or -1 for all cores", repr(n_jobs), hint)
    return asked if asked > 0 else max(1, (os.cpu_count() or 1) + 1 + asked)  # asking the system takes longer than a short task


#: What libraries read, as they are loaded, of how many threads they may work on.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread() -> dict[str, str]:
    """Variables for a process whose libraries work on one thread each, also those that are loaded late, with a model."""
    return dict.fromkeys(_THREADS, "1")
