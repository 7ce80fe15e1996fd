"""Hitting sets: sets that have a member of each of some sets, the smallest first, by branch and bound."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

#: Members of what is hit, and of what hits.
Members = frozenset[int]


def hitting_sets(sets: Sequence[Members], most: int, moment: float = math.inf) -> Iterator[Members]:
    """All smallest hitting sets, then larger ones without a member that hits nothing alone of what was left, by size.

    Args:
        sets: What to hit; an empty one cannot be.
        most: Larger ones are not looked for.
        moment: When to give up, by `time.perf_counter`: there may be exponentially many sets to look at. Then it raises
            TimeoutError.
    """
    for size in range(least_size(sets), most + 1):
        ordered = sorted(set(sets), key=lambda members: (len(members), sorted(members)))
        yield from _of_size(ordered, size, frozenset(), frozenset(), moment)


def smallest_hitting_set(sets: Sequence[Members], most: int, moment: float = math.inf) -> Members | None:
    """A smallest hitting set; None if there is none of at most so many members.

    Args:
        sets: What to hit; an empty one cannot be.
        most: Larger ones are not looked for.
        moment: When to give up, by `time.perf_counter`: there may be exponentially many sets to look at. Then it raises
            TimeoutError.
    """
    return next(hitting_sets(sets, most, moment), None)


def least_size(sets: Sequence[Members]) -> int:
    """What no hitting set has fewer members than: sets without a common member need one each.

    Args:
        sets: What to hit.
    """
    count, taken = 0, set[int]()
    for members in sorted(sets, key=len):
        if taken.isdisjoint(members):
            count += 1
            taken |= members
    return count


def _of_size(sets: Sequence[Members], size: int, chosen: Members, refused: Members, moment: float) -> Iterator[Members]:
    """Hitting sets of exactly this size that have the chosen members and none of the refused ones."""
    if time.perf_counter() > moment:
        raise TimeoutError
    left = [members - refused for members in sets if chosen.isdisjoint(members)]
    if not left:
        if len(chosen) == size:
            yield chosen
        return
    if len(chosen) + least_size(left) > size:
        return
    branch = min(left, key=len)
    for member in sorted(branch):
        yield from _of_size(sets, size, chosen | {member}, refused, moment)
        refused |= {member}
