"""`Constraint`: what every rule about a counterfactual can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from likely.errors import SchemaError
from likely.schema.conditions import Condition
from likely.schema.rules import Literal, Rule, all_satisfied
from likely.schema.values import Name, Numbers

if TYPE_CHECKING:
    from likely.schema.schema import Schema


@dataclass(frozen=True)
class Constraint(ABC):
    """A rule about a counterfactual, or about a counterfactual and its factual."""

    rule: ClassVar[str]

    @abstractmethod
    def sentence(self, schema: Schema | None = None) -> str:
        """The rule in words.

        Args:
            schema: Its labels and units are used, for people; left out, the names of columns.
        """

    def __str__(self) -> str:
        return self.sentence()

    @property
    @abstractmethod
    def features(self) -> tuple[Name, ...]:
        """The features that the rule names."""

    @property
    def row_wise(self) -> bool:
        """Whether a row breaks or keeps the rule whatever the factual is."""
        return False

    @abstractmethod
    def check(self, schema: Schema) -> None:
        """Refuse a rule that the schema's features cannot have.

        Args:
            schema: The features, rules and costs.
        """

    @abstractmethod
    def compile(self, schema: Schema, factual: Numbers) -> tuple[Rule, ...]:
        """The rule for one factual (doubles, NaN where unknown), as the engines know it.

        Args:
            schema: The features, rules and costs.
            factual: The row to start from, as doubles; NaN where a value is unknown.
        """

    def holds(self, factual: Any, row: Any, schema: Schema) -> bool:
        """Whether `row` keeps the rule for `factual` (a dict, Series or one-row DataFrame each).

        Args:
            factual: The row to start from: a dict, Series, one-row DataFrame, or values in the order of the features.
            row: The row to judge, in the same way.
            schema: The features, rules and costs.
        """
        rules = self.compile(schema, schema.encode_row(factual))
        return bool(all_satisfied(rules, schema.encode_row(row, complete=True)[None, :])[0])

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `constraint_from_dict` reads back."""
        plain_fields: dict[str, Any] = {"rule": self.rule}
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None:
                plain_fields[item.name] = _plain_field(value)
        return plain_fields

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Constraint:
        """The constraint with these fields.

        Args:
            data: The fields, by name.
        """
        return cls(**data)


def _plain_field(value: Any) -> Any:
    if isinstance(value, Condition):
        return value.to_dict()
    return [_plain_field(item) for item in value] if isinstance(value, tuple) else value


def refusal(constraint: Constraint, rule: str, got: object, hint: str, feature: Name | None = None) -> SchemaError:
    """The refusal of a rule that cannot be.

    Args:
        constraint: The rule.
        rule: What it must be.
        got: What it is.
        hint: What to do.
        feature: The feature at fault.
    """
    return SchemaError(f"Rule '{constraint}'", rule, got, hint, feature=feature)


def literal(condition: Condition, schema: Schema, factual: Numbers) -> Literal:
    """A condition as a literal of a clause, for one factual.

    Args:
        condition: On one feature.
        schema: It has the feature.
        factual: The row to start from, as doubles; NaN where a value is unknown.
    """
    j = schema.index(condition.feature)
    return j, condition.region(schema.features[j], float(factual[j]))
