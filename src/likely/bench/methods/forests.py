"""The nearest row of a forest by other packages, each in an environment of its own if need be."""

from __future__ import annotations

from likely.bench.worker import Worker


def treecf() -> Worker:
    """The exact backend of treecf, with our cost as its distance."""
    return Worker("treecf", "treecf")


def ocean() -> Worker:
    """The constraint programme of OCEAN, with our cost as its distance."""
    return Worker("ocean", "ocean")
