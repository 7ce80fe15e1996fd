"""Schemas as files that people edit (YAML or JSON), and tables as files that schemas describe (CSV)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd
from pandas.api import types

from likely._files import write_text
from likely.errors import SchemaError
from likely.schema.times import holds_times
from likely.schema.values import Name

if TYPE_CHECKING:
    from likely.schema.features import Feature
    from likely.schema.schema import Schema

_HEADER = """\
# What a row may be, which rules a counterfactual must keep, and what a change costs.
# Edit freely; `likely schema check THIS_FILE DATA.csv` tells whether it still fits the data.
"""


def to_yaml(data: dict[str, Any], notes: Sequence[str] = ()) -> str:
    """The schema's plain data as YAML with a word of explanation.

    Args:
        data: What `Schema.to_dict` says.
        notes: Lines to write as comments at its head.
    """
    from likely.schema import yaml

    return yaml.dumped(data, _HEADER + "".join(f"# {note}\n" for note in notes))


def save_yaml(data: dict[str, Any], path: str | Path, notes: Sequence[str] = ()) -> None:
    """Write a YAML file; if there is one, the comments and the order of what has not changed stay.

    Args:
        data: What `Schema.to_dict` says.
        path: The file.
        notes: Lines to write as comments at the head of a new file.
    """
    from likely.schema import yaml

    file = Path(path)
    text = None
    if file.is_file():
        try:
            text = yaml.updated(file.read_bytes().decode("utf-8-sig"), data)
        except UnicodeDecodeError:
            text = None
    write_text(file, to_yaml(data, notes) if text is None else text)


def read_text(path: str | Path) -> Any:
    """The plain data in a YAML or JSON file.

    Args:
        path: The file; JSON if its name ends in `.json`.
    """
    from likely.schema import yaml

    file = Path(path)
    if not file.is_file():
        raise SchemaError("A schema file", "exist", str(file), "check the path")
    try:
        text = file.read_bytes().decode("utf-8-sig")
        return json.loads(text) if file.suffix == ".json" else yaml.loaded(text)
    except (ValueError, yaml.YAMLError) as error:
        raise SchemaError("A schema file", "be YAML or JSON", _said(file, error), "correct the line it names") from None


def _said(file: Path, error: Exception) -> str:
    """An error of a parser in one line."""
    return f"{file.name}: {' '.join(str(error).split())}"


_MOMENT_OF_ZONE = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[-+]\d\d:?\d\d)"
_MOMENT = rf"\d{{4}}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?|{_MOMENT_OF_ZONE}"
#: As pandas writes them.
_DURATION = r"-?\d+ days( [+-]?\d\d:\d\d:\d\d(\.\d+)?)?"
_FLOAT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
#: How a file is compressed, by the end of its name.
_COMPRESSIONS: dict[str, Any] = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zip": "zip"}
#: What stands in a CSV file for a missing value, unless the schema has it as a value.
_MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A"})


def read_table(path: str | Path, schema: Schema | None = None, *, mixed: Collection[Name] = ()) -> pd.DataFrame:
    """A CSV file as a DataFrame, with the schema's dtypes where a column fits its feature.

    Args:
        path: The file, with a header line.
        schema: What its columns hold. Without one, and of other columns, those of ISO dates and moments, and of durations as
            pandas writes them, are such.
        mixed: The names of columns without a feature that hold numbers beside texts.
    """
    file = Path(path)
    if not file.is_file():
        raise SchemaError("A data file", "exist", str(file), "check the path")
    try:
        table = pd.read_csv(file) if schema is None else _with_texts(file, {str(name) for name in schema.names})
    except ValueError as error:
        raise SchemaError("A data file", "be CSV with a header line", _said(file, error), "correct the file") from None
    if schema is None:
        return table.apply(lambda cells: _guessed(cells, cells.name in mixed))
    table = table.rename(columns={str(name): name for name in schema.names})
    features = {feature.name: feature for feature in schema.features}
    for name in table.columns:
        cells = table[name]
        table[name] = _read_cells(cells, features[name]) if name in features else _guessed(cells, name in mixed)
    return table


def read_frames(path: str | Path, schema: Schema, size: int, opened: BinaryIO | None = None) -> Iterator[pd.DataFrame]:
    """The columns of a schema in a CSV file, some rows at a time: `read_table` for a file of any length.

    Args:
        path: The file, with a header line.
        schema: What its columns hold; others are not read.
        size: So many rows at a time.
        opened: The same file, if it is open already.
    """
    file = Path(path)
    if not file.is_file():
        raise SchemaError("A data file", "exist", str(file), "check the path")
    return _frames(file, schema, size, opened)


def _frames(file: Path, schema: Schema, size: int, opened: BinaryIO | None) -> Iterator[pd.DataFrame]:
    names = {str(name): name for name in schema.names}
    features = {feature.name: feature for feature in schema.features}
    try:
        reader = pd.read_csv(
            file if opened is None else opened, dtype=dict.fromkeys(names, "str"), keep_default_na=False, chunksize=size,
            usecols=lambda name: name in names, compression=_COMPRESSIONS.get(file.suffix.lower()),
        )  # fmt: skip
        with reader as texts:
            for table in texts:
                known = {names[name]: table[name] for name in table.columns}
                yield pd.DataFrame({name: _read_cells(cells, features[name]) for name, cells in known.items()}, index=table.index)
    except ValueError as error:
        raise SchemaError("A data file", "be CSV with a header line", _said(file, error), "correct the file") from None


def _with_texts(file: Path, names: Collection[str]) -> pd.DataFrame:
    """A CSV file in which the cells of some columns are kept as the texts that they are."""
    others = [name for name in pd.read_csv(file, nrows=0).columns if name not in names]
    missing = {name: list(_MISSING) for name in others}
    return pd.read_csv(file, dtype=dict.fromkeys(names, "str"), keep_default_na=False, na_values=missing)


def _guessed(cells: pd.Series[Any], mixed: bool) -> pd.Series[Any]:
    if not types.is_string_dtype(cells.dtype) or cells.isna().all():
        return cells
    if mixed:
        return cells.map(_number)
    return _times(cells)


def _times(cells: pd.Series[Any]) -> pd.Series[Any]:
    """A column of texts that are all ISO dates, moments or durations of pandas, as such; any other as it is."""
    known = cells.dropna()
    if known.str.fullmatch(_DURATION).all():
        return pd.to_timedelta(cells)
    if not known.str.fullmatch(_MOMENT).all():
        return cells
    zones = bool(known.str.fullmatch(_MOMENT_OF_ZONE).all())
    moments = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=zones)
    return moments if (moments.notna() == cells.notna()).all() else cells


def _read_cells(cells: pd.Series[Any], feature: Feature) -> pd.Series[Any]:
    """A column of texts as the feature's values, in its dtype; what is none of them stays as it is, for `validate`."""
    values = {cell: _value(cell, feature) for cell in cells.unique()}
    column = pd.Series([values[cell] for cell in cells], index=cells.index, dtype=object)
    try:
        return feature.decode(feature.encode(column)).set_axis(cells.index)
    except SchemaError:
        return column


def _value(cell: str, feature: Feature) -> Any:
    if cell in feature.atoms:
        return cell
    if cell in _MISSING:
        return None
    if cell.lower() in ("true", "false") and True in feature.atoms:
        return cell.lower() == "true"
    texts = not feature.numeric and all(isinstance(atom, str) for atom in feature.atoms if atom is not None)
    return cell if texts or holds_times(feature.dtype) else _number(cell)


def _number(cell: Any) -> Any:
    """A text as the number that it is; other cells as they are."""
    if not isinstance(cell, str) or not _FLOAT.fullmatch(cell.strip()):
        return cell
    return int(cell) if re.fullmatch(r"[-+]?\d+", cell.strip()) else float(cell)
