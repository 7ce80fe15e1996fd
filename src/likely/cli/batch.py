"""`likely batch`: the rows of a file of any length, resumable."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from likely._files import replacing
from likely.batch import Summary, read
from likely.batch import run as run_batch
from likely.batch.running import CHUNK
from likely.batch.table import records_of, table_of
from likely.batch.tasks import loaded, whole_names
from likely.cli import question
from likely.cli.codes import Code
from likely.cli.folder import add_model, data_of, refuse_unnamed
from likely.errors import ProblemError
from likely.schema import Schema
from likely.show import report

#: So many rows of a table are written at a time.
_PIECE = 1024


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("batch", help="explain many rows; goes on where it was interrupted or killed")
    parser.add_argument("explainer", metavar="EXPLAINER", help="the folder that likely fit wrote")
    parser.add_argument(
        "data", metavar="FILE", nargs="?",
        help="the rows, CSV or Parquet, of any length; those that the explainer was fitted on, if left out",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="FILE.jsonl", required=True,
        help="the answers: a line of JSON per row; or a folder of Parquet files, if it ends in .parquet",
    )  # fmt: skip
    parser.add_argument("--csv", metavar="FILE.csv", help="the answers as a table too")
    parser.add_argument("--report", metavar="FILE.html", help="a page for people too")
    parser.add_argument("--decided", metavar="CLASS", help="only the rows that the model gives this class")
    parser.add_argument("--rows", metavar="FROM:TO", default=":", help="only these rows of the file; the first is 0")
    parser.add_argument("--jobs", metavar="N", type=int, help="in so many processes; one per core, if left out")
    parser.add_argument(
        "--chunk", metavar="N", type=int, default=CHUNK,
        help=f"so many rows are searched before they are written, and the model is asked for so many at once ({CHUNK})",
    )  # fmt: skip
    add_model(parser, when="; may be left out if it is no pickle and still where it was")
    question.add(parser)
    parser.add_argument("--json", action="store_true", help="print the summary for machines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain what is not yet in the file, then say what is in it."""
    refuse_unnamed(options)
    explainer = loaded(*whole_names(options.explainer, options.model, options.encoder))
    decided = options.decided
    if decided is not None:
        decided = question.chosen(decided, explainer.classes_, "--decided", "one of the model's classes")
    summary = run_batch(
        options.explainer,
        data_of(options),
        options.output,
        question.question_of(options, explainer),
        model=options.model,
        encoder=options.encoder,
        decided=decided,
        rows=_slice(options.rows),
        chunk=options.chunk,
        n_jobs=options.jobs,
        progress=not options.json,
    )
    _show(options, summary, explainer.schema_)
    if summary.interrupted:
        print("likely: interrupted; the same command goes on from here", file=sys.stderr)
        return Code.INTERRUPTED
    return Code.USAGE if summary.rows and summary.refused == summary.rows else Code.ANSWER


def _slice(text: str) -> slice:
    first, colon, last = text.partition(":")
    if colon != ":" or not all(end == "" or end.isdigit() for end in (first, last)):
        raise ProblemError("--rows", "be written FROM:TO", repr(text), "0:100 are the first hundred")
    return slice(int(first) if first else None, int(last) if last else None)


# -- showing -----------------------------------------------------------------------------------------------------------


def _show(options: argparse.Namespace, summary: Summary, schema: Schema) -> None:
    """Write the table and the page, if they are asked for, and print how many rows have which status."""
    if options.csv:
        _write_csv(options.csv, options.output, schema)
    if options.report:
        explained = {entry.row: entry.explanation for entry in read(options.output) if entry.explanation is not None}
        report(explained.values(), options.report, names=list(explained))
    if options.json:
        counts = {"rows": summary.rows, "refused": summary.refused, "certified": summary.certified}
        more = {"new": summary.new, "interrupted": summary.interrupted, "statuses": dict(summary.statuses)}
        print(json.dumps({**counts, **more}, ensure_ascii=False))
        return
    left = f", {summary.refused:,} refused: {_first_note(options.output)}" if summary.refused else ""
    print(f"{options.output}: {summary.rows - summary.refused:,} rows explained{left}")
    others = {status: count for status, count in summary.statuses.items() if status != "refused"}
    if others:
        print(", ".join(f"{count:,} {status}" for status, count in others.items()))
        print(f"likely audit {options.output} tells what the answers cost and change")


def _first_note(path: str) -> str:
    return next(f"row {entry.row}: {entry.note}" for entry in read(path) if entry.explanation is None)


def _write_csv(path: str, answers: str, schema: Schema) -> None:
    """The answers as a table, some rows at a time."""
    if not Path(path).parent.is_dir():
        raise ProblemError("--csv", "be in a folder that exists", path, "make the folder first")
    with replacing(path) as file:
        for number, table in enumerate(_tables(answers, schema)):
            table.to_csv(file, index=False, header=number == 0)


def _tables(answers: str, schema: Schema) -> Iterator[pd.DataFrame]:
    entries = read(answers)
    piece = list(islice(entries, _PIECE))
    yield table_of((line for entry in piece for line in records_of(entry)), schema, explanations=False)
    while piece := list(islice(entries, _PIECE)):
        yield table_of((line for entry in piece for line in records_of(entry)), schema, explanations=False)
