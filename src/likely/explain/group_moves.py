"""The moves that a group may make together: one feature set to a value, or shifted by an amount, the same for everybody.

Which values need to be looked at? A member's answer to a move changes only at certain values of the feature: where a rule, a
tree, a bin of the circuit or the domain begins or ends, and where a linear score crosses its goal. Between two such *breaks*
nothing changes but the cost, which is linear between the members' own values; so of every interval its ends are enough. Where
the breaks are not known (a network, a smooth density), all values of the feature are looked at if they are few, and a choice of
them otherwise: `Moves.exact` says which it was, and a proof holds for the values that were looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from likely.circuit import Circuit
from likely.explain.dtype_rounding import as_held
from likely.explain.text import shown
from likely.predictor import Form, LinearModel, ReluNetwork, TreeEnsemble
from likely.predictor.composite import parts_of
from likely.problem import Problem
from likely.problem.domain import partition, rule_breakpoints
from likely.schema import Feature
from likely.schema.costs import Cost
from likely.schema.grid import SINGLES, first_place, is_multiple, multiples, snap
from likely.schema.rules import LinearRow
from likely.schema.values import LARGEST, Numbers

Kind: TypeAlias = Literal["set", "shift"]

#: A feature with at most so many values is looked at value by value.
_FEW = 1024
#: So many values of a feature are looked at, at most: the ends of its intervals, or a choice of its values.
_MOST, _CHOICE = 4096, 256


@dataclass(frozen=True)
class GroupMove:
    """One feature set to a value (`kind` "set"), or shifted by an amount ("shift"): `number`, as the schema encodes it."""

    feature: Feature
    kind: Kind
    number: float

    def __str__(self) -> str:
        name = f"'{self.feature.title}'"
        if self.kind == "set":
            return f"{name} becomes {shown(self.feature, self.number)}"
        verb = "rises" if self.number > 0 else "falls"
        if not self.feature.numeric:
            steps = round(abs(self.number))
            return f"{name} {verb} by {steps} step{'s' * (steps != 1)}"
        return f"{name} {verb} by {shown(self.feature, abs(self.number))}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        to = self.feature.value(self.number) if self.kind == "set" else self.number
        return {"feature": self.feature.name, "kind": self.kind, "to" if self.kind == "set" else "by": to, "text": str(self)}

    def new(self, numbers: Numbers) -> Numbers:
        """What becomes of the members' values: those that cannot be shifted, or would leave the domain, stay.

        Args:
            numbers: The members' values of the feature, as doubles.
        """
        if self.kind == "set":
            return np.full(len(numbers), self.number)
        grid = self.feature.grid
        known = np.abs(numbers) < LARGEST  # neither unknown nor a code
        moved = np.where(known, numbers, 0.0) + self.number
        moved = _held(self.feature, snap(moved, grid) if grid is not None else moved)
        return np.where(known & self.feature.fits(moved), moved, numbers)


@dataclass(frozen=True, eq=False)
class Moves:
    """The moves of one feature that are looked at."""

    feature: Feature
    moves: tuple[GroupMove, ...]
    #: Whether none that is left out can be cheaper and turn as many: of moves of this feature alone, and beside moves of others.
    exact: bool
    exact_together: bool

    def some(self, most: int) -> Moves:
        """At most so many of them, evenly; then they are a choice.

        Args:
            most: How many.
        """
        if len(self.moves) <= most:
            return self
        places = np.unique(np.linspace(0, len(self.moves) - 1, most).round().astype(np.intp))
        return Moves(self.feature, tuple(self.moves[i] for i in places), False, False)


@dataclass(frozen=True, eq=False)
class Member:
    """A row of a group: the problems that its question is, and what no answer of it can cost less than, as proved."""

    problems: tuple[Problem, ...]
    least: float

    @cached_property
    def factual(self) -> Numbers:
        """The row, as doubles."""
        return self.problems[0].factual


def moves_of(members: Sequence[Member], place: int, feature: Feature, cost: Cost) -> Moves:
    """The moves of one feature that a group may make together.

    Args:
        members: The rows of the group.
        place: The feature's place in the schema.
        feature: The feature itself.
        cost: What a change of it costs.
    """
    values = np.array([member.factual[place] for member in members])
    on_steps = _on_steps(feature, values)
    if not feature.numeric:
        every = np.array([feature.atom_number(k) for k in range(len(feature.atoms))])
        shifts = _steps(values, every) if feature.ordered and len(every) > 2 else np.empty(0)
        return _collected(feature, values, every, shifts, exact=True, together=True)
    if (few := _every_value(feature)) is not None:
        return _collected(feature, values, few, _steps(values, few, feature.grid), exact=on_steps, together=on_steps)
    shared: dict[Any, Numbers] = {}
    breaks = [_breaks(member, place, feature, shared) for member in members]
    known, alone = all(each.known for each in breaks), any(each.alone for each in breaks)
    own = values[np.abs(values) < LARGEST]
    places = np.unique(np.concatenate([own, np.nextafter(own, np.inf), *(each.places for each in breaks)]))
    cells = partition(feature, cost, np.nan, places)
    sets = np.unique(np.concatenate([cells.low, cells.high, cells.atom]))
    shifts = _shifts(feature, values, [each.places for each in breaks])
    exact = known and max(len(sets), len(shifts)) <= _MOST and on_steps
    if not known:
        choice = np.linspace(feature.lower, feature.upper, _CHOICE)
        sets = np.concatenate([_on_grid(feature, choice), cells.atom, own])
        shifts = np.concatenate([shifts, _on_grid(feature, choice - np.median(own))]) if len(own) else shifts
    sets, shifts = (_some(np.unique(numbers), _MOST if known else _CHOICE) for numbers in (sets, shifts))
    return _collected(feature, values, sets, shifts, exact=exact, together=exact and not alone)


def _held(feature: Feature, numbers: Numbers) -> Numbers:
    """The numbers that the feature's dtype holds in the place of these."""
    if "float64" in feature.dtype or not feature.dtype.startswith("float"):
        return numbers
    return np.array([as_held(feature, float(number)) for number in numbers])


def _on_steps(feature: Feature, values: Numbers) -> bool:
    """Whether the feature has a step, and the members' values are multiples of it: then so are the shifts between values."""
    own = values[np.abs(values) < LARGEST]
    return feature.grid is not None and bool(is_multiple(own, feature.grid, SINGLES).all())


def _collected(feature: Feature, values: Numbers, sets: Numbers, shifts: Numbers, *, exact: bool, together: bool) -> Moves:
    """The moves that change something, in the order of their numbers."""
    held = np.unique(_held(feature, sets))
    moves = [GroupMove(feature, "set", float(number)) for number in held[feature.fits(held)]]
    moves += [GroupMove(feature, "shift", float(number)) for number in np.unique(shifts) if number != 0]
    changing = tuple(move for move in moves if (move.new(values) != values).any())
    return Moves(feature, changing, exact, together)


def _every_value(feature: Feature) -> Numbers | None:
    """All values of a numeric feature; None if they are many."""
    if feature.grid is None:
        return None
    first, last = first_place(np.array([feature.lower, np.nextafter(feature.upper, np.inf)]), feature.grid)
    if last - first > _FEW:
        return None
    atoms = [feature.atom_number(k) for k in range(len(feature.atoms))]
    ends = [feature.lower, feature.upper, *feature.off_grid]
    numbers = np.unique(np.concatenate([multiples(np.arange(first, last), feature.grid), ends, atoms]))
    return np.asarray(numbers[feature.fits(numbers)])


def _steps(values: Numbers, every: Numbers, grid: float | None = 1.0) -> Numbers:
    """Every amount by which some member can be shifted from its value to another one."""
    own, numbers = (part[np.abs(part) < LARGEST] for part in (np.unique(values), every))
    shifts = (numbers[None, :] - own[:, None]).ravel()
    return np.unique(shifts if grid is None else snap(shifts, grid))


def _on_grid(feature: Feature, numbers: Numbers) -> Numbers:
    return numbers if feature.grid is None else snap(numbers, feature.grid)


def _some(numbers: Numbers, most: int) -> Numbers:
    """At most so many of them, evenly."""
    if len(numbers) <= most:
        return numbers
    return numbers[np.unique(np.linspace(0, len(numbers) - 1, most).round().astype(np.intp))]


# -- breaks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Breaks:
    """The values of a feature from which on something may be different for one member."""

    places: Numbers
    #: Whether these are all.
    known: bool
    #: Whether they hold only while the other features stay as they are.
    alone: bool


def _breaks(member: Member, place: int, feature: Feature, known: dict[Any, Numbers]) -> _Breaks:
    """The breaks of one member; those of trees and circuits are looked up once for all.

    Args:
        member: The member.
        place: The feature's place in the schema.
        feature: The feature itself.
        known: The breaks of forms and circuits that were looked up already.
    """
    parts = [np.array([feature.lower, np.nextafter(feature.upper, np.inf)])]
    whole, alone = True, False
    for problem in member.problems:
        circuits = [demand.circuit for demand in (problem.plausibility, problem.coherence) if demand is not None]
        owners: list[Form | Circuit] = [problem.form, *circuits]
        for owner in owners:
            if id(owner) not in known:
                known[id(owner)] = _breaks_of(owner, place)
            parts.append(known[id(owner)])
        whole &= all(_in_steps(circuit, place) for circuit in circuits)
        linear = isinstance(problem.form, LinearModel)
        crossings = _crossings(problem, place, feature) if linear else np.empty(0)
        rows = [rule for rule in problem.rules if isinstance(rule, LinearRow) and place in rule.features]
        limits = [crossing for rule in rows for crossing in _row_crossings(rule, member.factual, place, feature)]
        parts += [rule_breakpoints(problem.rules, place), crossings, np.array(limits)]
        alone |= bool(rows) or (linear and _reads(problem.form, place))
        straight = linear and not _curved(problem.form, place) and all(one.share is None for one in problem.goal.alternatives)
        whole &= straight or not _smooth(problem.form, place)
    return _Breaks(np.unique(np.concatenate(parts)), whole, alone)


def _breaks_of(owner: Form | Circuit, place: int) -> Numbers:
    """Where the trees of a form, or the bins of a circuit, begin or have ended."""
    if isinstance(owner, Circuit):
        return owner.cells[place].breaks
    parts = [np.empty(0)]
    for trees in (part for part in parts_of(owner) if isinstance(part, TreeEnsemble)):
        tests = trees.nodes[trees.nodes["feature"] == place]
        parts += [tests["low"], np.nextafter(tests["high"], np.inf)]
    return np.unique(np.concatenate(parts))


def _in_steps(circuit: Circuit, place: int) -> bool:
    """Whether the likelihood is constant between the breaks of a feature: no density of it is smooth."""
    return not circuit.has_blocks and all(part is None for part in circuit.cells[place].parametric)


def _smooth(form: Form, place: int) -> bool:
    """Whether a score may vary with a feature between breaks: a line or a network reads it, or another form might."""
    parts = [part for part in parts_of(form) if not isinstance(part, TreeEnsemble)]
    return any(_reads(part, place) or not isinstance(part, LinearModel | ReluNetwork) for part in parts)


def _reads(form: Form, place: int) -> bool:
    columns: Any = getattr(form, "columns", ())
    return any(column.feature == place for column in columns)


def _curved(form: Form, place: int) -> bool:
    columns: Any = getattr(form, "columns", ())
    return any(column.feature == place and column.curve for column in columns)


def _crossings(problem: Problem, place: int, feature: Feature) -> Numbers:
    """Where the scores of a linear model cross an inequality of the goal while one feature changes; and the values beside."""
    ends = np.tile(problem.factual, (2, 1))
    ends[:, place] = feature.lower, feature.upper
    if feature.lower >= feature.upper or np.isnan(ends).any():
        return np.empty(0)
    low, high = problem.form.score(ends, n_jobs=1)
    found = []
    for alternative in problem.goal.alternatives:
        before, after = alternative.coefficients @ low, alternative.coefficients @ high
        rising = after != before
        share = (alternative.lower[rising] - before[rising]) / (after - before)[rising]
        found.append(feature.lower + share * (feature.upper - feature.lower))
    return _beside(np.concatenate([np.empty(0), *found]), feature)


def _row_crossings(rule: LinearRow, factual: Numbers, place: int, feature: Feature) -> Numbers:
    """Where a linear rule is just kept while one feature changes; and the values beside."""
    weights = dict(zip(rule.features, rule.coefficients, strict=True))
    rest = sum(weight * factual[j] for j, weight in weights.items() if j != place)
    return _beside(np.array([(rule.upper - rest) / weights[place]]), feature)


def _beside(numbers: Numbers, feature: Feature) -> Numbers:
    """Numbers and those a step away on either side: where exactly a sum crosses its end is known up to rounding."""
    step = feature.grid if feature.grid is not None else 0.0
    near = numbers[np.isfinite(numbers) & (np.abs(numbers) < LARGEST)]
    return np.concatenate([near - step, near, near + step])


def _shifts(feature: Feature, values: Numbers, breaks: Sequence[Numbers]) -> Numbers:
    """The least shifts, upwards and downwards, by which a member's value passes one of its breaks."""
    found = [np.empty(0)]
    for value, places in zip(values, breaks, strict=True):
        if not abs(value) < LARGEST:
            continue
        past = places[np.abs(places) < LARGEST]
        if feature.grid is None:
            found += [past[past > value] - value, np.nextafter(past[past <= value], -np.inf) - value]
        else:
            first = multiples(first_place(past, feature.grid), feature.grid)
            below = multiples(first_place(past, feature.grid) - 1, feature.grid)
            found += [first[first > value] - value, below[below < value] - value]
    shifts = np.concatenate(found)
    return np.unique(shifts if feature.grid is None else snap(shifts, feature.grid))
