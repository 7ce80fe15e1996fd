"""An engine that finds what the search finds, and claims to have proved more than is true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from likely import search
from likely.problem import Bounds, Result


def solve(*problem: Any, **options: Any) -> Result:
    found = search.solve(*problem, **options)
    return replace(found, bounds=Bounds(found.bounds.upper, found.bounds.lower + 1))
