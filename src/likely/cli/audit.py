"""`likely audit`: many answers as numbers, for all rows and per group."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from likely.cli.codes import Code
from likely.cli.store import Entry, read_entries
from likely.errors import ExplainerError
from likely.explain import audit
from likely.schema.files import read_table


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("audit", help="what the answers of a batch cost and change, for all rows and per group")
    parser.add_argument("answers", metavar="ANSWERS.jsonl", help="the file that likely batch wrote")
    parser.add_argument("--by", metavar="COLUMN", help="per group too: a feature, or a column of --data")
    parser.add_argument("--data", metavar="FILE.csv", help="the file whose rows were explained, for a column that is no feature")
    parser.add_argument("--json", action="store_true", help="print for machines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, count, print."""
    entries = [entry for entry in read_entries(options.answers) if entry.explanation is not None]
    if not entries:
        raise ExplainerError("An audit", "have rows", f"none in {options.answers}", "run likely batch first")
    explanations = [explanation for entry in entries if (explanation := entry.explanation) is not None]
    counted = audit(explanations, _groups(options, entries))
    print(json.dumps(counted.to_dict(), ensure_ascii=False) if options.json else counted)
    return Code.ANSWER if counted.keeping == counted.answers else Code.FAILED


def _groups(options: argparse.Namespace, entries: Sequence[Entry]) -> list[Any] | None:
    """The value of each row in the column that tells groups apart."""
    if options.by is None:
        return None
    if options.data:
        table = read_table(options.data)
        if options.by not in table.columns:
            raise ExplainerError("--by", "name a column", repr(options.by), f"the file has {list(table.columns)}")
        return list(table[options.by].iloc[[entry.row for entry in entries]])
    queries = [entry.explanation.query for entry in entries if entry.explanation is not None]
    names = [str(name) for name in queries[0].schema.names]
    if options.by not in names:
        raise ExplainerError("--by", "name a feature", repr(options.by), "give --data for another column of the file")
    return [query.values[names.index(options.by)] for query in queries]
