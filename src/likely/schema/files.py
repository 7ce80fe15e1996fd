"""Schemas as files that people edit (YAML or JSON), and tables as files that schemas describe (CSV)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import yaml

from likely.errors import SchemaError
from likely.schema.values import DATE, holds_dates

if TYPE_CHECKING:
    from likely.schema.schema import Schema

_HEADER = """\
# What a row may be, which rules a counterfactual must keep, and what a change costs.
# Edit freely; `likely schema check THIS_FILE DATA.csv` tells whether it still fits the data.
"""


class _Dumper(yaml.SafeDumper):
    """Features and rules as blocks, what is inside them on one line."""


def _short_list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.Node:
    flat = all(not isinstance(item, dict) or "test" in item for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=flat)


def _short_dict(dumper: yaml.SafeDumper, items: dict[str, Any]) -> yaml.Node:
    flat = "test" in items or not {"name", "rule", "features"} & set(items)
    return dumper.represent_mapping("tag:yaml.org,2002:map", items, flow_style=flat)


_Dumper.add_representer(list, _short_list)
_Dumper.add_representer(dict, _short_dict)


def to_yaml(data: dict[str, Any]) -> str:
    """The schema's plain data as YAML with a word of explanation."""
    return _HEADER + yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def read_text(path: str | Path) -> dict[str, Any]:
    """The plain data in a YAML or JSON file."""
    file = Path(path)
    if not file.is_file():
        raise SchemaError("A schema file", "exist", str(file), "check the path")
    text = file.read_text(encoding="utf-8")
    try:
        data = json.loads(text) if file.suffix == ".json" else yaml.load(text, Loader=_Loader)
    except (ValueError, yaml.YAMLError) as error:
        raise SchemaError("A schema file", "be YAML or JSON", f"{file.name}: {error}", "correct the line it names") from None
    if not isinstance(data, dict):
        raise SchemaError("A schema file", "hold 'features'", f"{file.name}: {type(data).__name__}", "see `likely schema infer`")
    return data


class _Loader(yaml.SafeLoader):
    """YAML without its dates: a date stays the text it is, as in JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_table(path: str | Path, schema: Schema | None = None) -> pd.DataFrame:
    """A CSV file as a DataFrame: with the schema's dtypes, or else with ISO dates read as dates."""
    file = Path(path)
    if not file.is_file():
        raise SchemaError("A data file", "exist", str(file), "check the path")
    texts = {} if schema is None else {f.name: str for f in schema.features if _is_text(f)}
    try:
        table = pd.read_csv(file, dtype=texts)  # type: ignore[arg-type]
    except (ValueError, pd.errors.ParserError) as error:
        raise SchemaError("A data file", "be CSV with a header line", f"{file.name}: {error}", "correct the file") from None
    for name in table.columns:
        dated = schema[name] if schema is not None and name in schema.names else None
        if dated is not None and holds_dates(str(getattr(dated, "dtype", ""))):
            table[name] = pd.to_datetime(table[name], errors="coerce").astype(
                "datetime64[ns]" if getattr(dated, "dtype", "") == DATE else getattr(dated, "dtype", "")
            )
        elif schema is None and _looks_dated(table[name]):
            table[name] = pd.to_datetime(table[name])
    return table


def _is_text(feature: Any) -> bool:
    """Whether a column's cells are text even where they look like numbers (codes such as '01')."""
    values = [value for value in feature.atoms if value is not None]
    return not feature.numeric and bool(values) and all(isinstance(value, str) for value in values)


def _looks_dated(column: pd.Series[Any]) -> bool:
    if not pd.api.types.is_string_dtype(column.dtype) or column.isna().all():
        return False
    return bool(column.dropna().astype(str).str.fullmatch(r"\d{4}-\d{2}-\d{2}").all())
