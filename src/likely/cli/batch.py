"""`likely batch`: many rows of a CSV file, resumable."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from likely._display.progress import progress_bar
from likely.cli import question
from likely.cli.codes import Code
from likely.cli.files import write_file
from likely.cli.folder import add_model, open_explainer, rows_of, source_of
from likely.cli.store import Entry, append, finished_rows, read_entries
from likely.errors import LikelyError, LikelyWarning, ProblemError
from likely.explain import Explainer, Question, audit
from likely.explain.counterfactual import MEASURES
from likely.show import report

#: So many rows are searched before they are written.
CHUNK = 32


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("batch", help="explain many rows; goes on where it was interrupted")
    parser.add_argument("explainer", metavar="EXPLAINER", help="the folder that likely fit wrote")
    parser.add_argument(
        "data", metavar="FILE.csv", nargs="?", help="the rows; those that the explainer was fitted on, if left out"
    )
    parser.add_argument("-o", "--output", metavar="FILE.jsonl", required=True, help="the answers, a line of JSON per row")
    parser.add_argument("--csv", metavar="FILE.csv", help="the answers as a table too")
    parser.add_argument("--report", metavar="FILE.html", help="a page for people too")
    parser.add_argument("--decided", metavar="CLASS", help="only the rows that the model gives this class")
    parser.add_argument("--rows", metavar="FROM:TO", default=":", help="only these rows of the file; the first is 0")
    parser.add_argument("--jobs", metavar="N", type=int, help="on so many threads; one per core, if left out")
    add_model(parser, when="; may be left out if it is no pickle and still where it was")
    question.add(parser)
    parser.add_argument("--json", action="store_true", help="print the summary for machines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain what is not yet in the file, then say what is in it."""
    explainer = open_explainer(options)
    asked = question.question_of(options, explainer)
    table = rows_of(options, explainer.schema_)
    chosen = _chosen(options, explainer, table)
    identity = _identity(options, asked, table)
    done = finished_rows(options.output, identity)
    wanted = [number for number in chosen if number not in done]
    ended = _work(options, explainer, asked, table, wanted)
    finished_rows(options.output, identity)  # takes away a line that was cut off
    entries = read_entries(options.output)
    _show(options, entries, {"new": len(wanted), "interrupted": ended})
    if ended:
        print("likely: interrupted; the same command goes on from here", file=sys.stderr)
    if ended:
        return Code.INTERRUPTED
    return Code.USAGE if entries and all(entry.explanation is None for entry in entries) else Code.ANSWER


def _show(options: argparse.Namespace, entries: Sequence[Entry], more: dict[str, Any]) -> None:
    """Write the table and the page, if they are asked for, and print what the answers say together."""
    explained = {entry.row: entry.explanation for entry in entries if entry.explanation is not None}
    if options.csv:
        write_file(options.csv, as_table(entries).to_csv(index=False))
    if options.report:
        report(explained.values(), options.report, names=list(explained))
    counted = audit(explained.values())
    if options.json:
        counts = {"rows": len(entries), "refused": len(entries) - len(explained), **more}
        print(json.dumps({**counts, "audit": counted.to_dict()}, ensure_ascii=False))
    else:
        left = f", {len(entries) - len(explained):,} refused: {_notes(entries)}" if len(entries) > len(explained) else ""
        print(f"{options.output}: {len(explained):,} rows explained{left}\n\n{counted}")


def _identity(options: argparse.Namespace, asked: Question, table: pd.DataFrame) -> dict[str, Any]:
    """What the answers of a file depend on."""
    folder = [(Path(options.explainer) / name).read_bytes() for name in ("explainer.json", "schema.json", "circuit.json")]
    cells = pd.util.hash_pandas_object(table.astype(str), index=False).to_numpy().tobytes()
    data = options.data or source_of(options.explainer).get("data", "")
    return {
        **asked.to_dict(),
        "data": Path(data).name,
        "explainer": hashlib.sha256(b"".join(folder)).hexdigest()[:16],
        "cells": hashlib.sha256(cells).hexdigest()[:16],
    }


def _chosen(options: argparse.Namespace, explainer: Explainer, table: pd.DataFrame) -> list[int]:
    """The numbers of the rows to explain."""
    numbers = range(len(table))[_slice(options.rows)]
    if options.decided is None:
        return list(numbers)
    label = question.chosen(options.decided, explainer.classes_, "--decided", "one of the model's classes")
    decided = _decided(explainer, table)
    return [number for number in numbers if decided[number] == label]


def _slice(text: str) -> slice:
    first, colon, last = text.partition(":")
    if colon != ":" or not all(end == "" or end.isdigit() for end in (first, last)):
        raise ProblemError("--rows", "be written FROM:TO", repr(text), "0:100 are the first hundred")
    return slice(int(first) if first else None, int(last) if last else None)


def _decided(explainer: Explainer, table: pd.DataFrame) -> list[Any]:
    """What the model decides for each row; None for one that is not complete, or that has a value of which nobody knows."""
    try:
        rows = explainer.schema_.encode(table)
    except LikelyError:
        if len(table) == 1:
            return [None]
        half = len(table) // 2  # where the row is that cannot be read
        return [*_decided(explainer, table.iloc[:half]), *_decided(explainer, table.iloc[half:])]
    known = np.flatnonzero(~np.isnan(rows).any(axis=1))
    labels: list[Any] = [None] * len(rows)
    for number, label in zip(known, explainer.form_.predict(rows[known]).tolist(), strict=True):
        labels[number] = label
    return labels


# -- working -----------------------------------------------------------------------------------------------------------


def _work(options: argparse.Namespace, explainer: Explainer, asked: Question, table: pd.DataFrame, wanted: Sequence[int]) -> bool:
    """Explain rows and write them, chunk by chunk; whether somebody ended it."""
    explainer.set_params(progress=False, n_jobs=options.jobs)
    with progress_bar(not options.json, "Explaining") as move, warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)  # that it was interrupted is said once, at the end
        for start in range(0, len(wanted), CHUNK):
            numbers = wanted[start : start + CHUNK]
            try:
                entries = list(_entries(explainer, table, numbers, asked))
                finished = [entry for entry in entries if entry.explanation is None or not entry.explanation.interrupted]
                append(options.output, finished)
            except KeyboardInterrupt:
                return True
            if len(finished) < len(entries):
                return True
            move((start + len(numbers)) / len(wanted), f"{start + len(numbers):,} of {len(wanted):,} rows")
    return False


def _entries(explainer: Explainer, table: pd.DataFrame, numbers: Sequence[int], asked: Question) -> Iterator[Entry]:
    """The explanations of some rows; row by row, if one of them cannot be explained."""
    try:
        explanations = explainer.explain_many(table.iloc[list(numbers)], asked)
    except LikelyError as error:
        if len(numbers) == 1:
            yield Entry(numbers[0], None, str(error))
            return
        for number in numbers:
            yield from _entries(explainer, table, [number], asked)
    else:
        for number, each in zip(numbers, explanations, strict=True):
            yield Entry(number, None, each.reason.partition(": ")[2]) if each.status == "refused" else Entry(number, each)


# -- showing -----------------------------------------------------------------------------------------------------------


def _notes(entries: Sequence[Entry]) -> str:
    return next(f"row {entry.row}: {entry.note}" for entry in entries if entry.explanation is None)


def as_table(entries: Sequence[Entry]) -> pd.DataFrame:
    """A line per answer (and one per row that has none): the row's number, how strong the claim is, numbers, the new values."""
    lines: list[dict[str, Any]] = []
    for entry in entries:
        explanation = entry.explanation
        if explanation is None:
            lines.append({"row": entry.row, "status": "refused", "sentence": entry.note})
            continue
        whole = {"row": entry.row, "status": explanation.status, "lower_bound": explanation.bounds.lower}
        if not explanation:
            lines.append(whole)
        for i, answer in enumerate(explanation.counterfactuals):
            numbers = {name: getattr(answer, name) for name in MEASURES}
            cells = {f"new {name}": value for name, value in zip(explanation.query.schema.names, answer.values, strict=True)}
            decided = {"answer": i + 1, "from": _class(explanation.query.label), "to": _class(answer.label)}
            lines.append({**whole, **decided, **numbers, "sentence": answer.sentence, **cells})
    return pd.DataFrame(lines)


def _class(label: Any) -> str:
    return "" if label is None else str(label)
