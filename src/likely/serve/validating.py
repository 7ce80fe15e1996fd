"""A request held against its JSON Schema, with one clear sentence if it is not as that says.

Only the keywords that `bodies.py` uses are known; they mean what JSON Schema says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likely.errors import RequestError
from likely.serve.bodies import JsonSchema

#: Longer values are cut in a sentence.
_SHOWN = 60
_HINT = "see /openapi.json"
_KINDS = {
    "object": "an object", "array": "a list", "string": "a text", "number": "a number", "integer": "a whole number",
    "boolean": "true or false", "null": "null",
}  # fmt: skip


def check(value: Any, schema: JsonSchema, thing: str = "A request") -> None:
    """Refuse a value that is not as its schema says.

    Args:
        value: What came as JSON.
        schema: What it must be.
        thing: What it is, as the subject of a sentence.
    """
    if "anyOf" in schema:
        return _check_any(value, schema["anyOf"], thing)
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        raise RequestError(thing, f"be one of {_cut(', '.join(map(_json, schema['enum'])), 300)}", _got(value), _HINT)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise RequestError(thing, f"be {' or '.join(_KINDS[kind] for kind in kinds)}", _got(value), _HINT)
    if _is(value, "number"):
        _check_number(value, schema, thing)
    elif isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        raise RequestError(thing, f"have at most {schema['maxLength']:,} letters", f"{len(value):,}", _HINT)
    elif isinstance(value, list):
        _check_list(value, schema, thing)
    elif isinstance(value, dict):
        _check_object(value, schema, thing)
    return None


def _check_any(value: Any, schemas: list[JsonSchema], thing: str) -> None:
    """One of several must fit; the sentence is that of the one for values of this kind, or of the first."""
    refusals = []
    for schema in schemas:
        try:
            return check(value, schema, thing)
        except RequestError as error:
            refusals.append((schema, error))
    raise next((error for schema, error in refusals if _of_kind(value, schema)), refusals[0][1])


def _of_kind(value: Any, schema: JsonSchema) -> bool:
    return isinstance(schema.get("type"), str) and _is(value, schema["type"])


def _check_number(value: float, schema: JsonSchema, thing: str) -> None:
    least, above, most = (schema.get(word) for word in ("minimum", "exclusiveMinimum", "maximum"))
    if least is not None and value < least:
        raise RequestError(thing, f"be at least {least:,}", _got(value), _HINT)
    if above is not None and value <= above:
        raise RequestError(thing, f"be greater than {above:,}", _got(value), _HINT)
    if most is not None and value > most:
        raise RequestError(thing, f"be at most {most:,}", _got(value), _HINT)


def _check_list(value: list[Any], schema: JsonSchema, thing: str) -> None:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not least <= len(value) <= most:
        rule = f"have {least:,} items" if least == most else f"have {least:,} to {most:,} items"
        raise RequestError(thing, rule, f"{len(value):,}", _HINT)
    for i, item in enumerate(value):
        check(item, schema.get("items", {}), f"Item {i + 1} of {_in_sentence(thing)}")


def _check_object(value: Mapping[str, Any], schema: JsonSchema, thing: str) -> None:
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", []) if name not in value]
    if missing:
        raise RequestError(thing, f"have {missing[0]!r}", "none", _HINT)
    strangers = [name for name in value if name not in properties]
    if strangers and schema.get("additionalProperties", True) is False:
        hint = f"it has {_cut(', '.join(properties), 300)}"
        raise RequestError(thing, "have no keys but its own", repr(_cut(strangers[0], _SHOWN)), hint)
    if len(value) < schema.get("minProperties", 0):
        raise RequestError(thing, f"have one of {', '.join(properties)}", "none", _HINT)
    for name, inner in value.items():
        if name in properties:
            check(inner, properties[name], f"{name!r} of {_in_sentence(thing)}")


def _is(value: Any, kind: str) -> bool:
    """Whether a value is of a kind of JSON: true is no number, 1.0 is a whole number."""
    if kind in ("number", "integer"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (kind == "number" or value == int(value))
    kinds: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[kind])


def _same(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same: 1 is 1.0, and not true."""
    return (type(one) is type(other) and one == other) or (_is(one, "number") and _is(other, "number") and one == other)


def _json(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def _got(value: Any) -> str:
    return _cut(_json(value), _SHOWN)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _in_sentence(thing: str) -> str:
    return thing[0].lower() + thing[1:] if thing.startswith(("A ", "Item ")) else thing
