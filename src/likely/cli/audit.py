"""`likely audit`: many answers as numbers, for all rows and per group, with what the engine proves of them together."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from likely._files import replacing
from likely.cli.codes import Code
from likely.cli.files import write_file
from likely.cli.folder import add_model, open_explainer
from likely.cli.store import Entry, read_entries
from likely.errors import ExplainerError
from likely.explain import Audit, audit
from likely.schema.files import read_table
from likely.show import audit_report

#: What a file of numbers may end with.
_DATA = (".json", ".csv", ".parquet")


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("audit", help="what the answers of a batch cost and change, for all rows and per group")
    parser.add_argument("answers", metavar="ANSWERS.jsonl", help="the file that likely batch wrote")
    parser.add_argument("--by", metavar="COLUMN", help="per group too: a feature, or a column of --data")
    parser.add_argument("--data", metavar="FILE.csv", help="the file whose rows were explained, for a column that is no feature")
    parser.add_argument(
        "--explainer", metavar="EXPLAINER",
        help="the folder that likely fit wrote: with it, the engine is asked which rules block rows without an answer, and for"
        " the cheapest change that, made by everybody, turns a share of all rows and of each group",
    )  # fmt: skip
    add_model(parser, when="; for --explainer, may be left out if it is no pickle and still where it was")
    parser.add_argument("--share", metavar="Q", type=float, default=0.5, help="which share of the rows that change turns (0.5)")
    parser.add_argument("--features", metavar="N", type=int, default=1, help="of how many features it has moves, up to 3 (1)")
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=float,
        default=60.0,
        help="at most so long for the rules, and for each group (60)",
    )
    parser.add_argument("--report", metavar="FILE.html", help="write a page for people")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the numbers: .json, .csv or .parquet")
    parser.add_argument("--json", action="store_true", help="print for machines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, count, ask, print."""
    if options.output and Path(options.output).suffix not in _DATA:
        raise ExplainerError("The file of an audit", f"end with {' or '.join(_DATA)}", options.output, "write audit.csv")
    entries = read_entries(options.answers)
    if not any(entry.explanation is not None for entry in entries):
        raise ExplainerError("An audit", "have rows", f"none in {options.answers}", "run likely batch first")
    explainer = open_explainer(options) if options.explainer else None
    explanations = [entry.explanation for entry in entries]
    counted = audit(
        explanations, _groups(options, entries), by=options.by or "", explainer=explainer, share=options.share,
        features=options.features, seconds=options.seconds,
    )  # fmt: skip
    if options.report:
        audit_report(counted, options.report)
    if options.output:
        _write(options.output, counted)
    print(json.dumps(counted.to_dict(), ensure_ascii=False, allow_nan=False) if options.json else counted)
    return Code.ANSWER if counted.keeping == counted.answers else Code.FAILED


def _write(path: str, counted: Audit) -> None:
    """The numbers as a file; what it ends with says which."""
    if path.endswith(".json"):
        write_file(path, json.dumps(counted.to_dict(), ensure_ascii=False, allow_nan=False, indent=1))
    elif path.endswith(".csv"):
        write_file(path, counted.to_frame().to_csv(index=False))
    else:
        try:
            with replacing(path) as file:
                counted.to_frame().to_parquet(file, index=False)
        except ImportError:
            raise ExplainerError("A Parquet file", "be written by pyarrow", "none installed", "pip install pyarrow") from None


def _groups(options: argparse.Namespace, entries: Sequence[Entry]) -> list[Any] | None:
    """The value of each row in the column that tells groups apart; None where it is not known."""
    if options.by is None:
        return None
    if options.data:
        table = read_table(options.data)
        if options.by not in table.columns:
            raise ExplainerError("--by", "name a column", repr(options.by), f"the file has {list(table.columns)}")
        return list(table[options.by].iloc[[entry.row for entry in entries]])
    queries = [None if entry.explanation is None else entry.explanation.query for entry in entries]
    names = next([str(name) for name in query.schema.names] for query in queries if query is not None)
    if options.by not in names:
        raise ExplainerError("--by", "name a feature", repr(options.by), "give --data for another column of the file")
    place = names.index(options.by)
    return [None if query is None else query.values[place] for query in queries]
