"""An engine that finds what the search finds, and claims to have proved more than is true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from likely import search
from likely.problem import Bounds, Result


def solve(*problem: Any, **options: Any) -> Result:
    result = search.solve(*problem, **options)
    return replace(result, bounds=Bounds(result.bounds.upper, result.bounds.lower + 1))
