"""How rules speak of features and their values: in the words of a schema, or by the names of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.schema.times import holds_times
from likely.schema.values import Name, Value, show_value

if TYPE_CHECKING:
    from likely.schema.schema import Schema


def name_in_words(name: Name, schema: Schema | None) -> str:
    """What people call a feature.

    Args:
        name: The name of its column.
        schema: It may have a label for it; None for the name itself.
    """
    return str(name) if schema is None else schema[name].title


def value_in_words(value: Value, name: Name, schema: Schema | None) -> str:
    """A value of a feature as people read it.

    Args:
        value: As the user writes it.
        name: The name of the feature's column.
        schema: It has the feature's step and unit; None for the value alone.
    """
    if schema is None or value is None:
        return show_value(value)
    feature = schema[name]
    if isinstance(value, str) and not holds_times(feature.dtype):
        return show_value(value)
    return feature.show_with_unit(feature.number(value))
