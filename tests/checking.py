"""A test that checked nothing fails: count the checks of a loop over data that may turn out to be empty.

with checked() as count:
    for row in rows:
        if worth_it(row):
            assert holds(row)
            count()
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Count:
    """How many checks were made; call it after each one."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> None:
        self.made += 1


@contextmanager
def checked(least: int = 1) -> Iterator[Count]:
    """Counts the checks of a block, and fails if they were fewer than `least`."""
    count = Count()
    yield count
    assert count.made >= least, f"{count.made} checks were made, of at least {least}: the data shows nothing"
