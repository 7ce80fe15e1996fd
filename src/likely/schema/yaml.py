"""YAML as people mean it, and written so that the comments of a file that is saved again stay where they are.

The scalars are those of YAML 1.2's core schema, less what few people know of: `yes`, `2026-01-31`, `01` and `1_000` are texts.
"""

from __future__ import annotations

import io
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

__all__ = ["YAMLError", "dumped", "loaded", "updated"]

#: tag, pattern, and the characters that it may begin with
_SCALARS = (
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(0|[1-9]\d*)", list("-+0123456789")),
    ("float", r"(?![-+]?0\d)[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", list("-+.0123456789")),
)
#: first character -> tags and patterns
_TABLE: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
for _tag, _pattern, _first in _SCALARS:
    for _character in _first:
        _TABLE.setdefault(_character, []).append((f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$")))
#: Lines are about this long.
_WIDTH = 110


class _Resolver(VersionedResolver):
    """What an unquoted scalar is; the writer asks, too, and quotes a text that would be read as something else."""

    @property
    def versioned_resolver(self) -> dict[str, list[tuple[str, re.Pattern[str]]]]:
        return _TABLE


class _Representer(RoundTripRepresenter):
    """Missing values as `null`, which is a value in a list on one line, too."""

    def represent_none(self, data: None) -> ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:null", "null")


_Representer.add_representer(type(None), _Representer.represent_none)


def _yaml(kind: str) -> YAML:
    yaml = YAML(typ=kind, pure=True)
    yaml.Resolver = _Resolver
    yaml.Representer = _Representer if kind == "rt" else yaml.Representer
    yaml.width, yaml.allow_unicode, yaml.preserve_quotes = _WIDTH, True, True
    return yaml


def loaded(text: str) -> Any:
    """The plain data in a YAML text; raises `YAMLError` for what is none.

    Args:
        text: YAML.
    """
    return _yaml("safe").load(text)


def dumped(data: dict[str, Any], header: str = "") -> str:
    """Plain data as YAML for people: features and rules as blocks, what is inside them on one line.

    Args:
        data: A schema's plain data.
        header: Comments to begin with.
    """
    return header + _written(_node(data))


def updated(text: str, data: dict[str, Any]) -> str | None:
    """A YAML text with other data: what is as it was keeps its comments, order and quotes; None if that cannot be done.

    Args:
        text: What a file holds.
        data: What it shall hold.
    """
    try:
        tree = _yaml("rt").load(text)
        if not isinstance(tree, CommentedMap):
            return None
        result = _written(_merged(tree, data))
        return result if _same(loaded(result), data) else None
    except YAMLError:
        return None


def _written(tree: Any) -> str:
    stream = io.StringIO()
    _yaml("rt").dump(tree, stream)
    return stream.getvalue()


def _node(data: Any, flat: bool = False) -> Any:
    """Plain data as a tree to be written; `flat`: on one line, as a part of something that is."""
    node: Any = data
    if isinstance(data, dict):
        flat = flat or "test" in data or not {"name", "rule", "features"} & set(data)
        node = CommentedMap({key: _node(value, flat) for key, value in data.items()})
    elif isinstance(data, list):
        flat = flat or all(not isinstance(item, dict) or "test" in item for item in data)
        node = CommentedSeq([_node(item, flat) for item in data])
    elif isinstance(data, str) and not data.isprintable():
        return DoubleQuotedScalarString(data)  # which escapes, where other quotes would lose a line end or an odd space
    if flat and isinstance(data, (dict, list)):
        node.fa.set_flow_style()
    return node


def _same(one: Any, other: Any) -> bool:
    """Whether two pieces of plain data are equal, with 1, 1.0 and True told apart."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    kinds = [(isinstance(value, bool), isinstance(value, float)) for value in (one, other)]
    return kinds[0] == kinds[1] and bool(one == other)


def _merged(tree: Any, data: Any) -> Any:
    """The tree with the data in it, changed as little as possible."""
    if _same(tree, data):
        return tree
    if isinstance(tree, CommentedMap) and isinstance(data, dict):
        for key in [key for key in tree if key not in data]:
            del tree[key]
        for key, value in data.items():
            tree[key] = _merged(tree[key], value) if key in tree else _node(value, bool(tree.fa.flow_style()))
        return tree
    if isinstance(tree, CommentedSeq) and isinstance(data, list) and any(isinstance(item, dict) for item in data):
        return _merged_items(tree, data)
    return _node(data)


def _merged_items(tree: CommentedSeq, data: list[Any]) -> CommentedSeq:
    """A list of features or rules: each is the item before that has its name, or is equal to it."""
    flat = bool(tree.fa.flow_style())
    kept = {id(item) for new in data for item in [_counterpart(tree, new)] if item is not None}
    for place in reversed(range(len(tree))):
        if id(tree[place]) not in kept:
            del tree[place]
    for place, new in enumerate(data):
        before = _counterpart(tree, new)
        if place < len(tree) and before is tree[place]:
            tree[place] = _merged(before, new)
            continue
        if before is not None:  # in another order than before
            tree.remove(before)
        tree.insert(place, _node(new, flat) if before is None else _merged(before, new))
    return tree


def _counterpart(tree: CommentedSeq, new: Any) -> Any:
    """The item of a list that a new one stands for; None if there is none."""
    if isinstance(new, dict) and "name" in new:
        return next((item for item in tree if isinstance(item, dict) and _same(item.get("name"), new["name"])), None)
    return next((item for item in tree if _same(item, new)), None)
