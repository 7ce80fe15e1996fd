"""`MaxChange`: how far a feature may rise or fall from the value that the row has."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from likely._display.numbers import number_text
from likely.errors import SchemaError
from likely.schema.constraint import Constraint
from likely.schema.region import Region, below
from likely.schema.rules import Clause, Rule
from likely.schema.times import Clock, clock_of, holds_moments, is_time, time_text
from likely.schema.values import LARGEST, Name, Numbers, plain_name
from likely.schema.wording import name_in_words

if TYPE_CHECKING:
    from likely.schema.features import Feature
    from likely.schema.schema import Schema

#: In what a `MaxChange` counts.
ChangeUnit: TypeAlias = Literal["value", "percent", "steps"]
#: What rounding may do to an end, relative to it: 1.1 and 10 % of it are 1.21, and not an ulp less.
_END_ROUNDING = 1e-14


@dataclass(frozen=True)
class MaxChange(Constraint):
    """The feature rises by at most `up` and falls by at most `down`, counted from the factual's value.

    The unit says what is counted: "value" is what the column counts in, "percent" is percent of the factual's value, "steps" are
    places of an ordinal feature or steps of a feature of numbers. A direction that is left out has no limit. Codes of a mixed
    feature are not affected, and an unknown value sets no limit. Times are limited by a duration, or in the feature's unit.

    `MaxChange("income", up=10, unit="percent")`: at most +10 %. `MaxChange("school", up=2, down=0, unit="steps")`.
    `MaxChange("paid_at", up="36 hours")`.
    """

    rule: ClassVar[str] = "max_change"
    feature: Name
    up: float | str | None = None
    down: float | str | None = None
    unit: ChangeUnit = "value"

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature", plain_name(self.feature))
        if self.unit not in get_args(ChangeUnit):
            raise self._error(f"be counted in one of {', '.join(get_args(ChangeUnit))}", repr(self.unit), "leave unit= out")
        if self.up is None and self.down is None:
            raise self._error("have an end", "neither up= nor down=", "give how far it may rise or fall")
        for name in ("up", "down"):
            object.__setattr__(self, name, self._size(name))

    def _size(self, name: str) -> float | str | None:
        size = getattr(self, name)
        if size is None:
            return None
        if isinstance(size, str) or is_time(size):
            return self._duration(size)
        if isinstance(size, bool) or not isinstance(size, (int, float, np.number)) or not 0 <= size < math.inf:
            raise self._error(f"have a number of at least 0 as {name}", repr(size), "write up=10 for at most 10 more")
        return float(size)

    def _duration(self, given: Any) -> str:
        """A duration as text; refuses what is none, or less than nothing."""
        try:
            length = Clock("timedelta64[ns]", "nanoseconds", self.feature).number(given)
        except SchemaError:
            length = math.nan
        if not length >= 0 or self.unit != "value":
            percent = isinstance(given, str) and "%" in given
            hint = "write up=10, unit='percent'" if percent else "write up='36 hours'"
            raise self._error("have a number or a duration of at least 0", repr(given), hint)
        return given if isinstance(given, str) else time_text(given)

    def _error(self, rule: str, got: object, hint: str) -> SchemaError:
        return SchemaError(f"The limit of a change of feature {self.feature!r}", rule, got, hint, feature=self.feature)

    def sentence(self, schema: Schema | None = None) -> str:
        ends = [("rise", self.up), ("fall", self.down)]
        shown = [f"{verb} by at most {self._in_words(size, schema)}" for verb, size in ends if size is not None]
        return f"'{name_in_words(self.feature, schema)}' may {' and '.join(shown)}"

    def _in_words(self, size: float | str, schema: Schema | None) -> str:
        if isinstance(size, str):
            return size
        if self.unit != "value" or schema is None:
            return number_text(size) + {"value": "", "percent": " %", "steps": " steps"}[self.unit]
        feature = schema[self.feature]
        clock = clock_of(feature)
        return f"{number_text(size)} {feature.unit}".rstrip() if clock is None else clock.length(size)

    @property
    def features(self) -> tuple[Name, ...]:
        return (self.feature,)

    def check(self, schema: Schema) -> None:
        feature = schema[self.feature]
        if not feature.ordered:
            raise self._error("be of a feature with an order", f"a {feature.kind} feature", "use AllowedValues")
        if self.unit == "steps" and feature.grid is None:
            raise self._error("be counted in steps of the feature", "a feature without a step", "give the feature a step")
        if self.unit != "steps" and not feature.numeric:
            raise self._error("be counted in steps where values are no numbers", self.unit, "write unit='steps'")
        if self.unit == "percent" and holds_moments(feature.dtype):
            raise self._error("be a duration where values are moments", self.unit, "write up='36 hours'")
        if any(isinstance(size, str) for size in (self.up, self.down)) and clock_of(feature) is None:
            raise self._error("be counted in numbers where values are no times", self.up or self.down, "write up=10")

    def compile(self, schema: Schema, factual: Numbers) -> tuple[Rule, ...]:
        j = schema.index(self.feature)
        before = float(factual[j])
        if math.isnan(before) or before < -LARGEST:
            return ()
        low, high = (self._end(schema.features[j], before, sign) for sign in (-1.0, 1.0))
        codes = Region.between(-math.inf, below(-LARGEST))
        return (Clause(((j, Region.between(low, high) | codes),)),)

    def _end(self, feature: Feature, before: float, sign: float) -> float:
        size = self.up if sign > 0 else self.down
        if size is None:
            return sign * LARGEST
        clock = clock_of(feature)
        if clock is not None and self.unit == "value":  # whole units, exactly
            return before + sign * math.floor(clock.span(size) if isinstance(size, str) else size)
        assert not isinstance(size, str), "`check` has refused it"
        far = (
            size * abs(before) / 100 if self.unit == "percent" else size * (feature.grid or 1.0 if self.unit == "steps" else 1.0)
        )
        return before + sign * (far + _END_ROUNDING * (abs(before) + far)) if far else before
