"""Tables of many reals: how many questions are certified, how soon answers are good, and what others do with the same questions.

    python benchmarks/frontier.py OUT.jsonl [--data wine sonar] [--models logistic 20-10] [--densities none blocks] [--rows 6]
                                  [--limit-seconds 10] [--mio-rows 1] [--mio-seconds 5] [--rivals PYTHON ...] [--circuits FOLDER]
    python benchmarks/frontier.py OUT.jsonl --table        prints what is in the file
    python benchmarks/frontier.py OUT.jsonl --picture P    draws it

Every question (frontier_questions.py) asks for the nearest row (costs of 1 / MAD) of another class. Our exact engine begins with
training rows; so does our mixed-integer programme with HiGHS, in the same run, on one thread, for the first rows of each table.
With --rivals, interpreters that have them (this one may be among them) ask treecf, dtai-veritas and OCEAN about the forests,
without a likelihood. A record is appended per question: what is in the file is not asked again, so a run may be ended and
repeated.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import frontier_questions as questions
import frontier_rivals
import numpy as np
import rivals
from summary import Column, head, line, one_thread, share

from likely import mio, search
from likely.predictor import Form
from likely.problem import Limits

Record = dict[str, Any]
Key = tuple[str, ...]

#: engine -> what it is called
PEERS = {"mio": "HiGHS", "treecf": "treecf", "veritas": "veritas", "ocean": "OCEAN"}
KEY = ("engine", "data", "model", "density", "row")


def key_of(record: Record) -> Key:
    """What tells questions and engines apart."""
    return tuple(str(record[name]) for name in KEY)


def read(path: Path) -> list[Record]:
    """The records of a file; a line that was cut off is none."""
    records = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            records.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return records


class Book:
    """The file of records: what is in it is known."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known = {key_of(record) for record in read(path)}

    def lacks(self, engine: str, data: str, model: str, density: str, row: int) -> bool:
        """Whether a question was not answered yet."""
        return (engine, data, model, density, str(row)) not in self.known

    def add(self, record: Record) -> None:
        """One more line."""
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        self.known.add(key_of(record))


# -- measuring ----------------------------------------------------------------------------------------------------------


def measure(book: Book, options: argparse.Namespace) -> None:
    """Asks everything that is not in the book."""
    for data in options.data:
        for family in dict.fromkeys(questions.MODELS[model][0] for model in options.models):
            table = questions.Table(data, "forests" if family == "forests" else "others", options.rows)
            models = [model for model in options.models if questions.MODELS[model][0] == family]
            for density in options.densities:
                some = [model for model in models if not answered(book, table, model, density, options)]
                if some:
                    measure_table(book, table, some, density, options)


def answered(book: Book, table: questions.Table, model: str, density: str, options: argparse.Namespace) -> bool:
    """Whether all that is asked about a model is in the book."""
    asked = [(engine, row) for engine, rows in engines(options) for row in range(rows)]
    if rivals_know(model, density, options):
        asked += [(rival, 0) for rival in rivals.ASKS]
    return not any(book.lacks(engine, table.name, model, density, row) for engine, row in asked)


def rivals_know(model: str, density: str, options: argparse.Namespace) -> bool:
    """Whether rivals are asked about a model."""
    return bool(options.rivals) and density == "none" and questions.MODELS[model][0] == "forests"


def engines(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Our engines, and how many rows each is asked about."""
    yield "search", options.rows
    if options.mio_rows > 0:
        yield "mio", options.mio_rows


def measure_table(book: Book, table: questions.Table, models: list[str], density: str, options: argparse.Namespace) -> None:
    """One table and one likelihood, all models of a family."""
    with one_thread():
        likelihood = questions.likelihood_of(table, density, options.circuits)
        for name in models:
            model, form = questions.fitted(table, name)
            about = {"data": table.name, "reals": len(table.schema), "model": name, "density": density}
            asked = list(questions.asked(table, model, form, likelihood, options.rows))
            search.solve(asked[0].problem, Limits(nodes=1))  # what is loaded once
            for question in asked:
                ask(book, question, about, options)
            if rivals_know(name, density, options):
                ask_rivals(book, table, form, about, options)


def ask_rivals(book: Book, table: questions.Table, form: Form, about: Record, options: argparse.Namespace) -> None:
    """The rivals about one forest: those that are not in the book, of the interpreters that have them."""
    for python in options.rivals:
        wanted = [rival for rival in rivals.ASKS if book.lacks(rival, table.name, about["model"], "none", 0)]
        theirs = frontier_rivals.of_trees(table, form, table.rows, options.limit_seconds, python, wanted)
        for rival, records in theirs.items():
            for record in records:
                book.add({"engine": rival, **about, "limit": options.limit_seconds, **record})


def ask(book: Book, question: questions.Question, about: Record, options: argparse.Namespace) -> None:
    """One question to our engines."""
    limits = {"search": options.limit_seconds, "mio": options.mio_seconds}
    solve = {"search": search.solve, "mio": mio.solve}
    for engine, rows in engines(options):
        if question.row >= rows or not book.lacks(engine, about["data"], about["model"], about["density"], question.row):
            continue
        record = frontier_rivals.solved(solve[engine], question, limits[engine])
        book.add({"engine": engine, **about, "limit": limits[engine], **record})
        upper, lower = record["upper"] or np.inf, record["lower"] or 0
        print(
            f"{about['data']:14} {about['model']:14} {about['density']:19} {question.row:3} {engine:6} {record['status']:10}"
            f" {upper:10.4f} {lower:10.4f} {record['nodes']:7} {record['processor_seconds']:7.2f} s",
            flush=True,
        )


# -- the table ----------------------------------------------------------------------------------------------------------


def gap(record: Record) -> float:
    """How much of an answer's cost is not proved."""
    if record["certified"]:
        return 0.0
    if record["upper"] is None:
        return 1.0
    return (record["upper"] - (record["lower"] or 0)) / max(abs(record["upper"]), 1e-12)


def summed_up(records: list[Record]) -> list[Record]:
    """A line per model, table and likelihood; what peers did with the same rows is beside it."""
    groups: dict[Key, dict[str, dict[int, Record]]] = {}
    for record in records:
        group = groups.setdefault((record["model"], record["density"], record["data"]), {})
        group.setdefault(record["engine"], {})[record["row"]] = record
    lines = []
    for model in questions.MODELS:
        for density in questions.DENSITIES:
            lines += [
                one_line(model, density, data, groups[model, density, data])
                for data in questions.DATA
                if "search" in groups.get((model, density, data), {})
            ]
    return lines


def one_line(model: str, density: str, data: str, by_engine: dict[str, dict[int, Record]]) -> Record:
    """What one group of questions came to."""
    ours = by_engine["search"]
    best = {
        row: min((of[row]["upper"] for name, of in by_engine.items() if row in of and of[row]["upper"] is not None), default=None)
        for row in ours
    }
    with_answer = [row for row in ours if best[row] is not None]
    near = [frontier_rivals.near_seconds(ours[row], best[row] or 0) <= ours[row]["limit"] / 10 for row in with_answer]
    peers = {name: compared(ours, of) for name, of in by_engine.items() if name != "search"}
    return {
        "model": model, "density": density, "data": data, "reals": next(iter(ours.values()))["reals"], "questions": len(ours),
        "certified": share(record["certified"] for record in ours.values()),
        "gap": float(np.mean([gap(record) for record in ours.values()])),
        "seconds": float(np.median([record["processor_seconds"] for record in ours.values()])),
        "most": max(record["processor_seconds"] for record in ours.values()),
        "nodes": float(np.median([record["nodes"] for record in ours.values()])),
        "near": share(near) if near else None, "peers": peers,
    }  # fmt: skip


def compared(ours: dict[int, Record], theirs: dict[int, Record]) -> Record:
    """A peer's share of certified answers, ours of the same rows, and its median seconds."""
    rows = [row for row in theirs if row in ours]
    return {
        "certified": share(theirs[row]["certified"] for row in rows), "ours": share(ours[row]["certified"] for row in rows),
        "seconds": float(np.median([theirs[row]["processor_seconds"] for row in rows])),
    }  # fmt: skip


def peer_cell(peer: str, record: Record) -> str:
    """The share that a peer certified, beside ours of the same rows, and its median seconds."""
    if peer not in record["peers"]:
        return "-"
    beside = record["peers"][peer]
    return f"{beside['certified']:.0%} of {beside['ours']:.0%}, {beside['seconds']:.2f} s"


COLUMNS: list[Column] = [
    ("model", -13, lambda record: record["model"]),
    ("likelihood", -19, lambda record: record["density"]),
    ("data", -13, lambda record: record["data"]),
    ("reals", 5, lambda record: str(record["reals"])),
    ("certified", 9, lambda record: f"{record['certified']:.0%}"),
    ("gap", 5, lambda record: f"{record['gap']:.0%}"),
    ("s: median", 9, lambda record: f"{record['seconds']:.3f}"),
    ("max", 6, lambda record: f"{record['most']:.2f}"),
    ("nodes", 7, lambda record: f"{record['nodes']:.0f}"),
    ("soon near", 9, lambda record: "-" if record["near"] is None else f"{record['near']:.0%}"),
    *((name, 20, partial(peer_cell, peer)) for peer, name in PEERS.items()),
]


def print_table(records: list[Record]) -> None:
    """All lines, and for each model and likelihood what they come to together."""
    print(head(COLUMNS))
    for record in summed_up(records):
        print(line(COLUMNS, record))
    print()
    for model in questions.MODELS:
        for density in questions.DENSITIES:
            ours = [r for r in records if (r["engine"], r["model"], r["density"]) == ("search", model, density)]
            if ours:
                seconds = np.median([record["processor_seconds"] for record in ours])
                certified = share(record["certified"] for record in ours)
                print(f"{model:13}  {density:19}  {len(ours):3} questions  {certified:4.0%} certified  median {seconds:.3f} s")
    for family in dict.fromkeys(family for family, _ in questions.MODELS.values()):
        for peer, name in PEERS.items():
            theirs = [
                r for r in records if (r["engine"], r["density"]) == (peer, "none") and questions.MODELS[r["model"]][0] == family
            ]
            if theirs:
                certified = sum(record["certified"] for record in theirs)
                print(f"{family}, without a likelihood: {name} certifies {certified} of {len(theirs)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--data", nargs="*", default=questions.DATA, choices=questions.DATA, metavar="NAME")
    parser.add_argument("--models", nargs="*", default=tuple(questions.MODELS), choices=tuple(questions.MODELS), metavar="MODEL")
    parser.add_argument("--densities", nargs="*", default=questions.DENSITIES, choices=questions.DENSITIES, metavar="NAME")
    parser.add_argument("--rows", type=int, default=6, help="test rows of each table (6)")
    parser.add_argument("--limit-seconds", type=float, default=10.0, help="per question, of our engine and rivals (10)")
    parser.add_argument("--mio-rows", type=int, default=0, help="of these, those that HiGHS is asked about (0)")
    parser.add_argument("--mio-seconds", type=float, default=10.0, help="per question, of HiGHS (10)")
    parser.add_argument(
        "--rivals", nargs="*", type=Path, metavar="PYTHON", help="interpreters with treecf, dtai-veritas, oceanpy"
    )
    parser.add_argument("--circuits", type=Path, metavar="FOLDER", help="keeps circuits that were learned")
    parser.add_argument("--table", action="store_true", help="only print what is in the file")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="only draw what is in the file")
    options = parser.parse_args()
    if not (options.table or options.picture):
        measure(Book(options.out), options)
    records = read(options.out)
    if options.picture:
        import frontier_picture

        frontier_picture.draw(records, options.picture)
    else:
        print_table(records)


if __name__ == "__main__":
    main()
