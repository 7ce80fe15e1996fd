"""Constraints: the rules a counterfactual must keep, each a frozen value.

Every constraint can say itself in a sentence (`str`), test a pair of rows (`holds`), turn into plain data and back
(`to_dict`, `constraint_from_dict`), and compile, given a factual, to the few kinds of rule that the engines know
(`likely.schema.rules`). That compiled form is also what `holds` tests: there is one meaning, not two.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pandas.api import types

from likely._display.numbers import number_text
from likely.errors import SchemaError
from likely.schema.conditions import Condition, changes, condition_from_dict, decreases, increases
from likely.schema.constraint import Constraint, literal, refusal
from likely.schema.max_change import MaxChange
from likely.schema.region import EVERYTHING, Region, below
from likely.schema.rules import AtMost, Clause, LinearRow, Rule
from likely.schema.times import clock_of
from likely.schema.values import LARGEST, Name, Numbers, Value, plain, plain_name, show_number
from likely.schema.wording import name_in_words, value_in_words

if TYPE_CHECKING:
    from likely.schema.features import Feature
    from likely.schema.schema import Schema


@dataclass(frozen=True)
class _OneFeature(Constraint):
    """A rule that a condition on one feature must hold."""

    feature: Name

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature", plain_name(self.feature))

    @property
    def features(self) -> tuple[Name, ...]:
        return (self.feature,)

    @property
    @abstractmethod
    def condition(self) -> Condition:
        """What must hold."""

    def check(self, schema: Schema) -> None:
        self.condition.check(schema[self.feature])

    def compile(self, schema: Schema, factual: Numbers) -> tuple[Rule, ...]:
        return (Clause((literal(self.condition, schema, factual),)),)


@dataclass(frozen=True)
class Immutable(_OneFeature):
    """The feature keeps the factual's value."""

    rule: ClassVar[str] = "immutable"

    @property
    def condition(self) -> Condition:
        return ~changes(self.feature)

    def sentence(self, schema: Schema | None = None) -> str:
        return f"'{name_in_words(self.feature, schema)}' may not change"


@dataclass(frozen=True)
class Increasing(_OneFeature):
    """The feature may rise or stay, not fall."""

    rule: ClassVar[str] = "increasing"

    @property
    def condition(self) -> Condition:
        return ~decreases(self.feature)

    def sentence(self, schema: Schema | None = None) -> str:
        return f"'{name_in_words(self.feature, schema)}' may not decrease"


@dataclass(frozen=True)
class Decreasing(_OneFeature):
    """The feature may fall or stay, not rise."""

    rule: ClassVar[str] = "decreasing"

    @property
    def condition(self) -> Condition:
        return ~increases(self.feature)

    def sentence(self, schema: Schema | None = None) -> str:
        return f"'{name_in_words(self.feature, schema)}' may not increase"


@dataclass(frozen=True)
class Range(Constraint):
    """The feature lies between two values, both included; the codes of a mixed feature are not affected."""

    rule: ClassVar[str] = "range"
    feature: Name
    lower: Value = None
    upper: Value = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature", plain_name(self.feature))
        object.__setattr__(self, "lower", plain(self.lower, self.feature))
        object.__setattr__(self, "upper", plain(self.upper, self.feature))
        if self.lower is None and self.upper is None:
            raise refusal(self, "have a lower or an upper end", "neither", "give lower= or upper=", self.feature)

    def sentence(self, schema: Schema | None = None) -> str:
        ends = [("at least", self.lower), ("at most", self.upper)]
        shown = [f"{word} {value_in_words(end, self.feature, schema)}" for word, end in ends if end is not None]
        return f"'{name_in_words(self.feature, schema)}' must be {' and '.join(shown)}"

    @property
    def features(self) -> tuple[Name, ...]:
        return (self.feature,)

    @property
    def row_wise(self) -> bool:
        return True

    def check(self, schema: Schema) -> None:
        feature = schema[self.feature]
        for test, end in (("at_least", self.lower), ("at_most", self.upper)):
            if end is not None:
                Condition(test, self.feature, end).check(feature)
        low, high = self._ends(feature)
        if low > high:
            raise refusal(self, "have lower <= upper", f"{self.lower!r} > {self.upper!r}", "exchange them", self.feature)

    def _ends(self, feature: Feature) -> tuple[float, float]:
        low = -LARGEST if self.lower is None else feature.number(self.lower)
        return low, LARGEST if self.upper is None else feature.number(self.upper)

    def compile(self, schema: Schema, factual: Numbers) -> tuple[Rule, ...]:
        j = schema.index(self.feature)
        low, high = self._ends(schema.features[j])
        codes = Region.between(-math.inf, below(-LARGEST))
        return (Clause(((j, Region.between(low, high) | codes),)),)


@dataclass(frozen=True, init=False)
class AllowedValues(Constraint):
    """The feature takes one of `values`; or, from the values named in `transitions`, moves only as they say.

    `AllowedValues("status", transitions={"single": ["married"]}, unless=increases("age"))`: from "single" only to
    "married" (staying is always allowed), unless the age increases. From a value that `transitions` does not name,
    every move is allowed.
    """

    rule: ClassVar[str] = "allowed_values"
    feature: Name
    values: tuple[Value, ...] | None = None
    transitions: tuple[tuple[Value, tuple[Value, ...]], ...] | None = None
    unless: Condition | None = None

    def __init__(
        self,
        feature: Name,
        values: Iterable[Value] | None = None,
        transitions: Mapping[Any, Iterable[Value]] | Iterable[tuple[Value, Iterable[Value]]] | None = None,
        *,
        unless: Condition | None = None,
    ) -> None:
        object.__setattr__(self, "feature", plain_name(feature))
        if (values is None) == (transitions is None):
            raise self._error("have either values or transitions", "both or neither", "give one of them")
        object.__setattr__(self, "values", None if values is None else self._values(values))
        object.__setattr__(self, "transitions", None if transitions is None else self._moves(transitions))
        if unless is not None and not isinstance(unless, Condition):
            raise self._error("have a condition as unless", repr(unless), "use unless=increases('age')")
        object.__setattr__(self, "unless", unless)

    def _moves(self, given: Any) -> tuple[tuple[Value, tuple[Value, ...]], ...]:
        pairs = tuple(given.items()) if isinstance(given, Mapping) else given
        listed = isinstance(pairs, (tuple, list))
        if not listed or not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
            raise self._error("have transitions from values to lists of values", repr(given), "write {'single': ['married']}")
        moves = tuple((plain(old, self.feature), self._values(new)) for old, new in pairs)
        if len({old for old, _ in moves}) < len(moves):
            raise self._error("name each value once in its transitions", repr(given), "put its moves in one list")
        return moves

    def _values(self, given: Any) -> tuple[Value, ...]:
        if not types.is_list_like(given) or isinstance(given, Mapping):
            raise self._error("have a list of values", repr(given), "write ['married']")
        return tuple(plain(value, self.feature) for value in given)

    def _error(self, rule: str, got: object, hint: str) -> SchemaError:
        return SchemaError(f"The allowed values of feature {self.feature!r}", rule, got, hint, feature=self.feature)

    def sentence(self, schema: Schema | None = None) -> str:
        name = name_in_words(self.feature, schema)
        unless = f", unless {self.unless.sentence(schema)}" if self.unless else ""

        def listed(values: Sequence[Value]) -> str:
            return ", ".join(value_in_words(value, self.feature, schema) for value in values) or "nothing"

        if self.values is not None:
            return f"'{name}' must be one of {listed(self.values)}{unless}"
        moves = "; ".join(f"from {listed([old])} only to {listed(new)}" for old, new in self.transitions or ())
        return f"'{name}' may change {moves}{unless}"

    @property
    def features(self) -> tuple[Name, ...]:
        return (self.feature,) if self.unless is None else (self.feature, self.unless.feature)

    @property
    def row_wise(self) -> bool:
        return self.values is not None and (self.unless is None or self.unless.row_wise)

    def check(self, schema: Schema) -> None:
        named = [*(self.values or ()), *(v for old, new in self.transitions or () for v in (old, *new))]
        for value in named:
            Condition("equals", self.feature, value).check(schema[self.feature])
        if self.unless is not None:
            self.unless.check(schema[self.unless.feature])

    def compile(self, schema: Schema, factual: Numbers) -> tuple[Rule, ...]:
        j = schema.index(self.feature)
        number = schema.features[j].number
        allowed = EVERYTHING
        if self.values is not None:
            allowed = Region.points(number(v) for v in self.values)
        for old, new in self.transitions or ():
            if number(old) == factual[j]:
                allowed = Region.points([number(old), *(number(v) for v in new)])
        unless = () if self.unless is None else (literal(self.unless, schema, factual),)
        return (Clause(((j, allowed), *unless)),)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Constraint:
        unless = data.get("unless")
        return cls(**{**data, "unless": None if unless is None else condition_from_dict(unless)})


def _conditions(given: Any, rule: str, part: str) -> tuple[Condition, ...]:
    conditions = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not conditions or not all(isinstance(c, Condition) for c in conditions):
        raise SchemaError(f"The {part} of a rule '{rule}'", "be one or more conditions", repr(given), "use increases('age')")
    return conditions


def _read_conditions(data: Any) -> tuple[Condition, ...]:
    """One condition or a list of them, as `Condition.to_dict` wrote them."""
    return tuple(condition_from_dict(c) for c in (data if isinstance(data, list) else [data]))


def _both(conditions: Sequence[Condition], schema: Schema | None) -> str:
    return " and ".join(condition.sentence(schema) for condition in conditions)


@dataclass(frozen=True, init=False)
class Implies(Constraint):
    """If the condition holds (all of them, where several are given), the consequence must (all of them)."""

    rule: ClassVar[str] = "implies"
    condition: tuple[Condition, ...]
    consequence: tuple[Condition, ...]

    def __init__(self, condition: Condition | Sequence[Condition], consequence: Condition | Sequence[Condition]) -> None:
        object.__setattr__(self, "condition", _conditions(condition, self.rule, "condition"))
        object.__setattr__(self, "consequence", _conditions(consequence, self.rule, "consequence"))

    def sentence(self, schema: Schema | None = None) -> str:
        return f"if {_both(self.condition, schema)}, then {_both(self.consequence, schema)}"

    @property
    def features(self) -> tuple[Name, ...]:
        return tuple(c.feature for c in self.condition + self.consequence)

    @property
    def row_wise(self) -> bool:
        return all(c.row_wise for c in self.condition + self.consequence)

    def check(self, schema: Schema) -> None:
        for condition in self.condition + self.consequence:
            condition.check(schema[condition.feature])

    def compile(self, schema: Schema, factual: Numbers) -> tuple[Rule, ...]:
        unless = tuple(literal(~c, schema, factual) for c in self.condition)
        return tuple(Clause((*unless, literal(c, schema, factual))) for c in self.consequence)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Constraint:
        return cls(**{part: _read_conditions(data[part]) for part in data})


@dataclass(frozen=True, init=False)
class Forbid(Constraint):
    """These conditions may not all hold together: `Forbid(equals("housing", "own"), at_most("age", 20))`."""

    rule: ClassVar[str] = "forbid"
    conditions: tuple[Condition, ...]

    def __init__(self, *conditions: Condition) -> None:
        object.__setattr__(self, "conditions", _conditions(conditions, self.rule, "condition"))

    def sentence(self, schema: Schema | None = None) -> str:
        return f"it may not be that {_both(self.conditions, schema)}"

    @property
    def features(self) -> tuple[Name, ...]:
        return tuple(c.feature for c in self.conditions)

    @property
    def row_wise(self) -> bool:
        return all(c.row_wise for c in self.conditions)

    def check(self, schema: Schema) -> None:
        for condition in self.conditions:
            condition.check(schema[condition.feature])

    def compile(self, schema: Schema, factual: Numbers) -> tuple[Rule, ...]:
        return (Clause(tuple(literal(~c, schema, factual) for c in self.conditions)),)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Constraint:
        return cls(*_read_conditions(data["conditions"]))


@dataclass(frozen=True, init=False)
class LinearConstraint(Constraint):
    """sum of coefficient * feature <= upper, over numeric features; it does not bind where one of them is a code.

    `LinearConstraint({"rent": 12, "income": -1}, 0)`: a year's rent is at most the income.
    `LinearConstraint.ordered("a", "b")`: a <= b.
    """

    rule: ClassVar[str] = "linear"
    coefficients: tuple[tuple[Name, float], ...]
    upper: float

    def __init__(self, coefficients: Mapping[Any, float] | Iterable[tuple[Name, float]], upper: float) -> None:
        try:
            items = coefficients.items() if isinstance(coefficients, Mapping) else coefficients
            pairs, end = tuple((plain_name(name), float(a)) for name, a in items), float(upper)
        except (TypeError, ValueError):
            raise SchemaError(
                "A linear rule", "have a number per feature and an upper end", f"{coefficients!r}, {upper!r}",
                "write LinearConstraint({'rent': 12, 'income': -1}, 0)",
            ) from None  # fmt: skip
        object.__setattr__(self, "coefficients", pairs)
        object.__setattr__(self, "upper", end)
        names = self.features
        if not names or len(set(names)) < len(names):
            raise SchemaError("A linear rule", "name each of its features once", list(names), "add up their coefficients")
        if not np.isfinite([end, *(a for _, a in pairs)]).all():
            raise SchemaError("A linear rule", "have finite numbers", f"{coefficients!r}, {end!r}", "drop the infinite one")

    @classmethod
    def ordered(cls, smaller: Name, larger: Name) -> LinearConstraint:
        """One column is at most another: `smaller <= larger`.

        Args:
            smaller: The name of a feature of numbers.
            larger: The name of another.
        """
        return cls(((smaller, 1.0), (larger, -1.0)), 0.0)

    def sentence(self, schema: Schema | None = None) -> str:
        less = [(n, a) for n, a in self.coefficients if a > 0]
        more = [(n, -a) for n, a in self.coefficients if a < 0]
        return f"{_sum(less, -self.upper, schema)} <= {_sum(more, self.upper, schema)}"

    @property
    def features(self) -> tuple[Name, ...]:
        return tuple(name for name, _ in self.coefficients)

    @property
    def row_wise(self) -> bool:
        return True

    def check(self, schema: Schema) -> None:
        for name in self.features:
            if not schema[name].numeric:
                raise refusal(self, "be over numeric features", f"{name!r}, {schema[name].kind}", "use Implies or Forbid", name)
        units = {clock.size: clock.unit or "days" for name in self.features if (clock := clock_of(schema[name])) is not None}
        if len(units) > 1:
            hint = f"count them in one: features={{{self.features[0]!r}: {{'unit': {units[min(units)]!r}}}, ...}}"
            raise refusal(self, "be over times in one unit", " and ".join(units.values()), hint)
        sizes = [abs(a) * max(abs(schema[name].lower), abs(schema[name].upper)) for name, a in self.coefficients]
        if not math.isfinite(8 * sum(sizes)):
            raise refusal(self, "have terms that add up to a finite number", f"{sum(sizes):.2g}", "divide it by a number")

    def compile(self, schema: Schema, factual: Numbers) -> tuple[Rule, ...]:
        places = tuple(schema.index(name) for name in self.features)
        return (LinearRow(places, tuple(a for _, a in self.coefficients), self.upper),)


def _sum(pairs: Sequence[tuple[Name, float]], constant: float, schema: Schema | None) -> str:
    """Terms and a constant, which is left out on the side where it is negative."""
    show = show_number if schema is None else number_text
    named = [(name_in_words(name, schema), factor) for name, factor in pairs]
    terms = [f"'{name}'" if factor == 1 else f"{show(factor)} '{name}'" for name, factor in named]
    return " + ".join([*terms, *([show(constant)] if constant > 0 else [])]) or "0"


@dataclass(frozen=True)
class MaxChanges(Constraint):
    """At most `count` features differ from the factual."""

    rule: ClassVar[str] = "max_changes"
    count: int

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, (int, np.integer)) or self.count < 1:
            raise SchemaError("MaxChanges", "be a whole number of at least 1", repr(self.count), "give how many may change")
        object.__setattr__(self, "count", int(self.count))

    def sentence(self, schema: Schema | None = None) -> str:
        return f"at most {self.count} feature{'s' if self.count > 1 else ''} may change"

    @property
    def features(self) -> tuple[Name, ...]:
        return ()

    def check(self, schema: Schema) -> None:
        """Nothing can be wrong with it.

        Args:
            schema: The features, rules and costs.
        """

    def compile(self, schema: Schema, factual: Numbers) -> tuple[Rule, ...]:
        return (AtMost(tuple(literal(changes(name), schema, factual) for name in schema.names), self.count),)


RULES: dict[str, type[Constraint]] = {
    kind.rule: kind
    for kind in (
        Immutable,
        Increasing,
        Decreasing,
        Range,
        AllowedValues,
        Implies,
        Forbid,
        LinearConstraint,
        MaxChanges,
        MaxChange,
    )
}


def constraint_from_dict(data: Mapping[str, Any]) -> Constraint:
    """The constraint that `Constraint.to_dict` described; refuses unknown rules and keys by name.

    Args:
        data: As `Constraint.to_dict` wrote it.
    """
    settings = dict(data) if isinstance(data, Mapping) else {"rule": data}
    rule = settings.pop("rule", None)
    if not isinstance(rule, str) or rule not in RULES:
        raise SchemaError("A constraint", "have a known rule", repr(rule), f"use one of {', '.join(RULES)}")
    kind = RULES[rule]
    known = [item.name for item in fields(kind)]
    for key in settings:
        if key not in known:
            raise SchemaError(f"A rule '{rule}'", "have only its own settings", repr(key), f"use {', '.join(known)}")
    try:
        return kind.from_dict(settings)
    except (TypeError, KeyError) as error:
        raise SchemaError(f"A rule '{rule}'", "be complete", str(error), f"it has {', '.join(known)}") from None
