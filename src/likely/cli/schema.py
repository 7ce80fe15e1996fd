"""`likely schema`: describe a table and its rules."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from likely.cli.codes import Code
from likely.errors import SchemaError
from likely.schema import Schema
from likely.schema.files import read_table


def add(commands: Any) -> None:
    """The commands below `schema`."""
    schema = commands.add_parser("schema", help="describe a table and its rules").add_subparsers(
        title="schema commands", required=True, metavar="COMMAND"
    )
    _add_infer(schema)
    _add_check(schema)
    _add_show(schema)


def _add_infer(commands: Any) -> None:
    infer = commands.add_parser("infer", help="a first schema of a CSV file, as YAML to edit")
    infer.add_argument("data", metavar="FILE.csv", help="a CSV file with a header line (.gz is fine)")
    for option, shape, meaning in (
        ("--drop", "COLUMN", "leave a column out: the class, an identifier"),
        ("--immutable", "COLUMN", "a feature that may not change"),
        ("--increasing", "COLUMN", "a feature that may not decrease"),
        ("--decreasing", "COLUMN", "a feature that may not increase"),
        ("--codes", "COLUMN=CODE,...", "special codes: --codes risk=-9,-8"),
        ("--ordinal", "COLUMN=LOW,...", "ranked values, lowest first"),
    ):
        infer.add_argument(option, metavar=shape, action="append", default=[], help=f"{meaning}; may be repeated")
    infer.add_argument("--no-steps", action="store_true", help="take every number, whatever step the data were recorded to")
    infer.add_argument("--max-changes", metavar="N", type=int, help="at most so many features may change")
    infer.add_argument("-o", "--output", metavar="SCHEMA", help="write this file (.yaml or .json) and print a table instead")
    infer.set_defaults(run=_infer)


def _add_check(commands: Any) -> None:
    check = commands.add_parser("check", help="does a CSV file fit a schema?")
    check.add_argument("schema", metavar="SCHEMA", help="a schema file, YAML or JSON")
    check.add_argument("data", metavar="FILE.csv", help="a CSV file with a header line")
    check.add_argument("--json", action="store_true", help="print the report for machines")
    check.set_defaults(run=_check)


def _add_show(commands: Any) -> None:
    show = commands.add_parser("show", help="a schema file as a table")
    show.add_argument("schema", metavar="SCHEMA", help="a schema file, YAML or JSON")
    show.set_defaults(run=_show)


def _infer(options: argparse.Namespace) -> int:
    codes = dict(map(_assignment, options.codes))
    table = read_table(options.data, mixed=list(codes))
    for name in options.drop:
        if name not in table.columns:
            raise SchemaError("--drop", "name a column", repr(name), f"the file has {list(table.columns)}", feature=name)
    overrides: dict[Any, Any] = {}
    for column, values in codes.items():
        overrides[column] = {"codes": [_cell(value) for value in values]}
    for column, values in map(_assignment, options.ordinal):
        overrides[column] = {"kind": "ordinal", "values": [_like(table, column, value) for value in values]}
    schema = Schema.infer(
        table.drop(columns=options.drop),
        features=overrides,
        steps=None if options.no_steps else "detect",
        immutable=options.immutable,
        increasing=options.increasing,
        decreasing=options.decreasing,
        max_changes=options.max_changes,
    )
    if options.output:
        schema.save(options.output)
        print(schema)
        print(f"\nwritten to {options.output}")
    else:
        print(schema.to_yaml(), end="")
    return Code.ANSWER


def _assignment(text: str) -> tuple[str, list[str]]:
    column, equals, values = text.partition("=")
    if not equals or not values:
        raise SchemaError("An option", "be written COLUMN=VALUE,VALUE", repr(text), "use --codes risk=-9,-8")
    return column, values.split(",")


def _cell(text: str) -> Any:
    """A code as a CSV file would hold it: a number, nothing for missing, or text."""
    if text in ("", "missing"):
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and "." not in text else number


def _like(table: Any, column: str, text: str) -> Any:
    """A value in the type that the column has."""
    return text if column not in table.columns or table[column].dtype.kind in "OUT" else _cell(text)


def _check(options: argparse.Namespace) -> int:
    schema = Schema.load(options.schema)
    report = schema.validate(read_table(options.data, schema))
    if options.json:
        print(json.dumps(report.to_dict(), ensure_ascii=False))
    else:
        print(f"{Path(options.data).name}: {report}")
    return Code.ANSWER if report.ok else Code.NO


def _show(options: argparse.Namespace) -> int:
    print(Schema.load(options.schema))
    return Code.ANSWER
