"""`n_jobs`: how many threads it asks for, and what it refuses."""

from __future__ import annotations

import os
from typing import Any

import pytest

from likely._jobs import thread_count
from likely.errors import CircuitError


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 4), (-1, 4), (-2, 3), (-4, 1), (-9, 1), (1, 1), (3, 3), (9, 9)])
def test_threads_of_four_cores(monkeypatch: pytest.MonkeyPatch, n_jobs: int | None, expected: int) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert thread_count(n_jobs, CircuitError) == expected


def test_where_the_number_of_cores_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert thread_count(None, CircuitError) == thread_count(-2, CircuitError) == 1


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2"])
def test_what_is_no_number_of_threads(n_jobs: Any) -> None:
    with pytest.raises(CircuitError, match="n_jobs must be None, a number of threads, or -1 for all cores"):
        thread_count(n_jobs, CircuitError)
