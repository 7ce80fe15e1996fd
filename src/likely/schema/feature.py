"""`Feature`: what every kind of feature can do."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from likely._display.numbers import DIGITS, number_text
from likely.errors import SchemaError
from likely.schema.region import Region
from likely.schema.values import (
    LARGEST,
    Name,
    Numbers,
    Value,
    plain_name,
    show_value,
)


@dataclass(frozen=True)
class Feature(ABC):
    """One column of the user's table."""

    name: Name
    kind: ClassVar[str]
    #: What people call it, where the name of the column is none of their words.
    label: str = field(default="", kw_only=True)
    #: What its numbers count: "EUR", "months", "%".
    unit: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", plain_name(self.name))
        if not isinstance(self.name, (str, int)) or isinstance(self.name, bool) or self.name == "":
            raise SchemaError(
                "A feature's name", "be text or a whole number", repr(self.name), "rename the column", feature=self.name
            )
        for what in ("label", "unit"):
            words = getattr(self, what)
            if not isinstance(words, str) or words != words.strip() or not words.isprintable():
                raise self._error(f"have a line of text as {what}", repr(words), f"leave {what} out")
        if self.unit and not self.numeric:
            raise self._error("have numbers to have a unit", repr(self.unit), "write it into the label")

    @property
    def title(self) -> str:
        """What people call it: its label, or the name of the column."""
        return self.label or str(self.name)

    @property
    @abstractmethod
    def dtype(self) -> str:
        """The dtype of the user's column; "date" and "category[ordered]" where pandas has no name for it."""

    @property
    @abstractmethod
    def region(self) -> Region:
        """Every double that may stand for a value (steps aside)."""

    @property
    @abstractmethod
    def grid(self) -> float | None:
        """The distance between neighbouring doubles that stand for values (codes aside), or None if every real is a value.

        Values are multiples of it: see `likely.schema.grid`. That of a discrete feature is 1.
        """

    @property
    def off_grid(self) -> tuple[float, ...]:
        """The doubles that stand for values although they are no multiples of `grid`, in order."""
        return ()

    if TYPE_CHECKING:  # fields of numeric features: a property in a base class would become the default of such a field

        @property
        def lower(self) -> float:
            """The least double that stands for a value, codes aside."""

        @property
        def upper(self) -> float:
            """The greatest double that stands for a value."""

    @property
    def ordered(self) -> bool:
        """Whether values can increase and decrease."""
        return True

    @property
    def numeric(self) -> bool:
        """Whether values are numbers (the codes of a mixed feature aside)."""
        return False

    @property
    @abstractmethod
    def atoms(self) -> tuple[Value, ...]:
        """The values that are not numbers: all of a discrete feature, the codes of a mixed one."""

    @abstractmethod
    def atom_number(self, k: int) -> float:
        """The double that stands for `atoms[k]`.

        Args:
            k: A place in `atoms`.
        """

    @abstractmethod
    def encode(self, column: pd.Series[Any]) -> Numbers:
        """A column of user's values as doubles; a missing value that is not a value of the feature becomes NaN.

        Args:
            column: A column of the user's table.
        """

    @abstractmethod
    def decode(self, numbers: Numbers) -> pd.Series[Any]:
        """Doubles as a column in the user's own dtype (the inverse of `encode`).

        Args:
            numbers: Doubles.
        """

    @abstractmethod
    def number(self, value: Any) -> float:
        """One user's value as a double; it may lie outside the bounds.

        Args:
            value: A value, as the user writes it.
        """

    @abstractmethod
    def value(self, number: float) -> Value:
        """The user's value that a double stands for (a date as ISO text).

        Args:
            number: A double.
        """

    @abstractmethod
    def describe(self) -> str:
        """The domain in a few words."""

    def fits(self, numbers: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which doubles stand for a value of this feature.

        Args:
            numbers: Doubles.
        """
        return self.region.contains(numbers)

    def widened(self, number: float) -> Feature:
        """This feature with a domain that also holds `number`.

        Args:
            number: A double.
        """
        raise self._error("be one of its values in a factual", number, "use schema.encode_row(factual)")

    def reachable(self, region: Region) -> Region:
        """The intervals of `region` that hold a value of this feature, cut to its bounds.

        Args:
            region: A set of doubles.
        """
        return region & self.region

    def show(self, number: float) -> str:
        """A double as a person would write the value.

        Args:
            number: A double.
        """
        return "unknown" if math.isnan(number) else show_value(self.value(number))

    def show_with_unit(self, number: float, digits: int = DIGITS) -> str:
        """A double as people read it: no more decimals than the step has (or few digits), thousands apart, with the unit.

        Args:
            number: A double.
            digits: Of a number without a step: how many digits are shown at least.
        """
        if not self.numeric or not number > -LARGEST or isinstance(self.value(number), str):
            return self.show(number)
        text = number_text(number, self.grid, digits)
        return f"{text} {self.unit}" if self.unit else text

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `feature_from_dict` reads back."""
        plain_fields: dict[str, Any] = {"name": self.name, "kind": self.kind}
        for item in fields(self):
            value = getattr(self, item.name)
            # (0, 1) equals Binary's (False, True): values are always written, so that their types come back
            if item.name != "name" and (value != item.default or item.name == "values"):
                plain_fields[item.name] = list(value) if isinstance(value, tuple) else value
        return plain_fields

    def _error(self, rule: str, got: object, hint: str) -> SchemaError:
        return SchemaError(f"Feature {self.name!r}", rule, got, hint, feature=self.name)
