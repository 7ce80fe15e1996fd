"""`likely bench paper`: every table and picture of the paper, with all methods, from data to pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from likely.bench.fit import Fit, best_fits
from likely.bench.methods import METHODS
from likely.bench.networks import SIZES
from likely.bench.page import write_page
from likely.bench.results import TABLE, Results
from likely.bench.running import run as run_benchmark
from likely.bench.supervising import Patience
from likely.bench.tasks import FACTUALS, FOLDS, NAMES, TARGETS, check_available
from likely.bench.verdicts import checked
from likely.cli.codes import Code
from likely.errors import LikelyError, ProblemError

#: Two words, one command: `program` joins them.
NAME = "bench paper"
OUT = "likely-bench-paper"


@dataclass(frozen=True)
class Size:
    """How much is asked."""

    datasets: tuple[str, ...]
    folds: int
    factuals: int
    k: int
    patience: Patience
    refits: int
    most_rows: int | None = None
    #: Methods that work at a time; one after the other, times compare best.
    jobs: int = 1
    #: Circuits per network in the table of fit, and of which networks.
    seeds: int = 5
    networks: tuple[str, ...] = tuple(SIZES)


#: The paper's protocol, and beyond it; and what takes a few minutes on data that are part of the package.
WHOLE = Size(NAMES, FOLDS, FACTUALS, 10, Patience(seconds=60.0), 20)
QUICK = Size(
    ("credit", "adult"),
    1,
    4,
    3,
    Patience(seconds=2.0, fit_seconds=40.0, ends=1),
    4,
    1_500,
    jobs=-1,
    seeds=1,
    networks=("sprinkler",),
)


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser(
        NAME,
        prog=f"likely {NAME}",
        help="every table and picture of the paper, with all methods, from data to pages",
        description="Ask all methods for the same rows, measure what they return, and write tables, pictures and a page. "
        "A run that was ended in any way goes on with --resume.",
    )
    parser.add_argument("--quick", action="store_true", help="a few rows of Credit and Adult, in a few minutes")
    parser.add_argument("--methods", metavar="NAME", nargs="+", help=f"of {', '.join(METHODS)}; all, if left out")
    parser.add_argument(
        "--datasets", metavar="NAME", nargs="+",
        help=f"of {', '.join(NAMES)}; credit:forest has a random forest for a model; all that are there, if left out",
    )  # fmt: skip
    parser.add_argument("--folds", metavar="N", type=int, help=f"the first so many of {FOLDS}; all, if left out")
    parser.add_argument("--factuals", metavar="N", type=int, help=f"rows to explain per fold ({FACTUALS})")
    parser.add_argument("-k", metavar="N", type=int, help="answers to ask for; the likeliest valid one counts (10)")
    parser.add_argument("--seconds", metavar="S", type=float, help="per question, at most (60)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of everything that is drawn (0)")
    parser.add_argument("--jobs", metavar="N", type=int, help="methods that work at a time (1; --quick: one per core)")
    parser.add_argument("--circuits", metavar="N", type=int, help="per network in the table of fit, of which the best counts (5)")
    parser.add_argument("--no-fit", action="store_true", help="leave the table of fit out")
    parser.add_argument("-o", "--out", metavar="FOLDER", default=OUT, help=f"where all of it goes ({OUT})")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder; what failed is tried again")
    parser.add_argument("--page", metavar="FILE.md", help="write the page there, and not into the folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run what is asked for, and write all of it."""
    size = _size(options)
    methods = {name: METHODS[name] for name in _known_methods(options.methods)}
    try:
        results = run_benchmark(
            methods, size.datasets, range(size.folds), size.factuals, options.seed, k=size.k, patience=size.patience,
            most_rows=size.most_rows, refits=size.refits, folder=options.out, resume=options.resume, n_jobs=size.jobs,
        )  # fmt: skip
    except KeyboardInterrupt:
        print(f"likely: interrupted; go on with --resume --out {options.out}", file=sys.stderr)
        return Code.INTERRUPTED
    fits = [] if options.no_fit else _fits(size, results.folder / "cache")
    page = write_page(results, options.page or Path(options.out) / "results.md", _command(options), fits)
    return _said(results, page)


def _said(results: Results, page: Path) -> int:
    """Where everything is, and whether a proof was refuted."""
    table = results.folder / TABLE
    kept = f"{table}" if table.exists() else f"{results.folder}/measures.jsonl (pip install 'likely[bench]' for Parquet)"
    print(f"{page}: tables, pictures and what they show\n{results.folder}/tables: Markdown, LaTeX, CSV\n{kept}: all measures")
    wrong = checked(results.measures).refuting
    if len(wrong):
        print(f"likely: {len(wrong)} answers are closer than one that was proved to be the closest", file=sys.stderr)
        return Code.FAILED
    return Code.ANSWER


def _known_methods(names: Sequence[str] | None) -> list[str]:
    for name in names or ():
        if name not in METHODS:
            raise ProblemError("The name of a method", f"be one of {', '.join(METHODS)}", repr(name), "choose one of them")
    return list(dict.fromkeys(names or METHODS))


def _size(options: argparse.Namespace) -> Size:
    """The protocol, or the quick one, with what is said differently."""
    size = QUICK if options.quick else WHOLE
    datasets = tuple(options.datasets) if options.datasets else tuple(name for name in size.datasets if _is_there(name))
    given = {
        "folds": options.folds,
        "factuals": options.factuals,
        "k": options.k,
        "jobs": options.jobs,
        "seeds": options.circuits,
    }
    seconds = size.patience.seconds if options.seconds is None else options.seconds
    if options.folds is not None and not 1 <= options.folds <= FOLDS:
        raise ProblemError("--folds", f"be from 1 to {FOLDS}", options.folds, "leave it out for all")
    if options.circuits is not None and options.circuits < 1:
        raise ProblemError("--circuits", "be at least 1", options.circuits, "leave it out, or say --no-fit")
    return replace(
        size,
        datasets=datasets,
        patience=replace(size.patience, seconds=seconds),
        **{name: value for name, value in given.items() if value is not None},
    )


def _is_there(name: str) -> bool:
    """Whether a data set can be read; one that cannot is said, and left out."""
    try:
        check_available(name)
    except LikelyError as error:
        print(f"likely: without {name}: {error}", file=sys.stderr)
        return False
    return True


def _fits(size: Size, cache: Path) -> list[Fit]:
    """Circuits of the Bayesian networks that can be read; what was fitted before is in the cache."""
    asked = [name for name in size.networks if name == "sprinkler" or _is_there(next(iter(TARGETS)))]
    return best_fits(asked, size.seeds, cache=cache)


def _command(options: argparse.Namespace) -> str:
    """What was typed, but for places on this machine."""
    words = ["likely", NAME, *(["--quick"] if options.quick else [])]
    for name in ("methods", "datasets"):
        words += [f"--{name}", *getattr(options, name)] if getattr(options, name) else []
    for name in ("folds", "factuals", "k", "seconds", "circuits"):
        value = getattr(options, name)
        words += [f"-{name}" if len(name) == 1 else f"--{name}", f"{value:g}"] if value is not None else []
    return " ".join(words)
