"""`likely bench`: how fast, how certain and how good the answers are, beside the nearest row of the training data."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from likely._display.progress import progress_bar
from likely.bench import Measurement, Pool, Trial, measure
from likely.cli import demo
from likely.cli.codes import Code
from likely.cli.folder import add_model, open_explainer, rows_of, source_of
from likely.cli.question import chosen, plausibility_of
from likely.errors import ExplainerError, ProblemError
from likely.explain import Explainer, Weight
from likely.explain.engines import ENGINES
from likely.explain.plausibility import Variant
from likely.problem import Limits
from likely.schema.files import read_table

#: The paper's variants (its "sample" is `factual`), and the weight of likelihood in the last of them.
VARIANTS = ("none", "quartile", "median", "factual", "optimize")
WEIGHT = 0.1


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("bench", help="how fast, certain and good the answers are, on your explainer or on our data")
    parser.add_argument(
        "explainer", metavar="EXPLAINER", nargs="?", help="the folder that likely fit wrote; German Credit, if left out"
    )
    parser.add_argument("--data", metavar="FILE.csv", help="the rows to explain, if not those that the explainer was fitted on")
    add_model(parser, when="; those that are no pickles are found again")
    parser.add_argument("--rows", metavar="N", type=int, default=50, help="explain so many, spread over the file (50)")
    parser.add_argument("--seconds", metavar="S", type=float, default=10.0, help="per row, at most (10)")
    parser.add_argument(
        "--engine", metavar="NAME", action="append",
        help=f"{' or '.join(ENGINES)}; the explainer's own, if left out; repeatable: times are compared with those of the first",
    )  # fmt: skip
    parser.add_argument(
        "--plausibility", metavar="HOW", action="append",
        help=f"as likely explain says it, or optimize (weight {WEIGHT}); repeatable; {', '.join(VARIANTS)}, if left out",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print for machines")
    parser.set_defaults(run=run)


@dataclass(frozen=True, eq=False)
class Setting:
    """What is measured: an explainer, rows to explain, and rows that may be answers already."""

    explainer: Explainer
    rows: pd.DataFrame
    pool: Pool
    title: str


def run(options: argparse.Namespace) -> int:
    """Explain the rows with every engine and plausibility, and print what came out; after Ctrl-C, what there is."""
    variants = {word: _variant(word) for word in options.plausibility or VARIANTS}
    engines = [chosen(name, ENGINES, "--engine", "an engine") for name in dict.fromkeys(options.engine or ())]
    limits = Limits(seconds=options.seconds)
    setting = _own(options) if options.explainer else _embedded(options)
    trials = _trials(options, setting, engines or [setting.explainer.engine], variants, limits)
    found = [
        Measurement.of(trial, word, [own for own in of if own is not trial], None if trial is of[0] else of[0])
        for word, of in trials.items()
        for trial in of
        if len(trial)
    ]
    ended = any(trial.interrupted for of in trials.values() for trial in of)
    if options.json:
        print(json.dumps(_plain(setting, options, found, ended), ensure_ascii=False))
    elif found:
        print(f"{setting.title}; at most {options.seconds:g} s per row\n\n{as_text(found)}")
    if ended:
        print("likely: interrupted; these are the rows that were finished", file=sys.stderr)
        return Code.INTERRUPTED
    return Code.FAILED if any(own.refuted for own in found) else Code.ANSWER


def _variant(word: str) -> Variant | None:
    return Weight(WEIGHT) if word == "optimize" else plausibility_of(word, "class")


def _plain(setting: Setting, options: argparse.Namespace, found: Sequence[Measurement], ended: bool) -> dict[str, Any]:
    asked = {"data": setting.title, "rows": len(setting.rows), "seconds": options.seconds, "interrupted": ended}
    return {**asked, "measurements": [own.to_dict() for own in found]}


# -- what is measured --------------------------------------------------------------------------------------------------


def _embedded(options: argparse.Namespace) -> Setting:
    """The model and the applicants of `likely demo`; those that the model has not seen are explained."""
    if options.model or options.data or options.encoder:
        raise ExplainerError("--model, --data and --encoder", "come with an explainer", "none", "name its folder first")
    scene = demo.scene_of()
    progress = not options.json and sys.stderr.isatty()
    explainer = Explainer(scene.model, scene.schema, progress=progress).fit(scene.X, scene.y)
    return _setting(explainer, scene.unseen, scene.X, "German Credit", options.rows)


def _own(options: argparse.Namespace) -> Setting:
    """The user's explainer and rows; the table that it was fitted on, where it is still there, has the nearest rows."""
    explainer = open_explainer(options)
    rows = rows_of(options, explainer.schema_)
    source = source_of(options.explainer).get("data", "")
    table = read_table(source, explainer.schema_) if Path(source).is_file() else rows
    return _setting(explainer, rows, table, Path(options.data or source).name, options.rows)


def _setting(explainer: Explainer, rows: pd.DataFrame, table: pd.DataFrame, name: str, count: int) -> Setting:
    """So many complete rows, spread evenly over the table: a file may be sorted."""
    if count < 1:
        raise ProblemError("--rows", "be at least 1", count, "leave it out for 50")
    complete = np.flatnonzero(~np.isnan(explainer.schema_.encode(rows)).any(axis=1))
    if not len(complete):
        raise ExplainerError("The rows to explain", "be complete", "none that is", "fill in what is missing")
    places = complete[np.unique(np.linspace(0, len(complete) - 1, min(count, len(complete))).round().astype(np.intp))]
    title = f"{name}: {len(places):,} of {len(rows):,} rows, {len(explainer.circuit_):,} nodes of the circuit"
    return Setting(explainer, rows.iloc[places], Pool.of(explainer, table), title)


# -- measuring ---------------------------------------------------------------------------------------------------------


def _trials(
    options: argparse.Namespace, setting: Setting, engines: Sequence[str], variants: dict[str, Variant | None], limits: Limits
) -> dict[str, list[Trial]]:
    """The trial of every engine, per plausibility; nothing is begun after Ctrl-C."""
    found: dict[str, list[Trial]] = {word: [] for word in variants}
    total = len(setting.rows) * len(engines) * len(variants)
    done = 0
    with progress_bar(not options.json and sys.stderr.isatty(), "Measuring") as move:
        for word, variant in variants.items():
            for engine in engines:
                setting.explainer.set_params(engine=engine)

                def moved(what: str = f"{word}, {engine}") -> None:
                    nonlocal done
                    done += 1
                    move(done / total, what)

                trial = measure(setting.explainer, setting.rows, setting.pool, variant, limits, after_each=moved)
                found[word].append(trial)
                if trial.interrupted:
                    return found
    return found


# -- showing -----------------------------------------------------------------------------------------------------------

LEGEND = """\
certified: proved that nothing better exists, or nothing at all. cost, changes, likelier than: means of the answers.
nearest row: what the cheapest training row that answers the same question costs, times ours (for how many rows there is one)."""


def as_text(found: Sequence[Measurement]) -> str:
    """A line per plausibility and engine."""
    several = len({own.engine for own in found}) > 1
    head = ["plausibility", "engine", "rows", "answered", "certified", "median", "slowest"]
    head += ["cost", "changes", "likelier than", "nearest row", *([f"time / {found[0].engine}"] if several else [])]
    rows = [head, *(_cells(own, several) for own in found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    text = ["  ".join(_aligned(cell, width, i) for i, (cell, width) in enumerate(zip(row, widths, strict=True))) for row in rows]
    rule = "─" * len(text[0])
    refuted = sum(own.refuted for own in found)
    wrong = [f"{refuted:,} answers are worse than another that is known: a proof does not hold."] if refuted else []
    return "\n".join([text[0].rstrip(), rule, *(line.rstrip() for line in text[1:]), "", LEGEND, *wrong])


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column < 2 else cell.rjust(width)


def _cells(own: Measurement, several: bool) -> list[str]:
    parts = [own.plausibility, own.engine, f"{own.rows:,}", _percent(own.answered, own.rows), _percent(own.certified, own.rows)]
    parts += [_time(own.median_seconds), _time(own.slowest_seconds), _number(own.cost, ".3g"), _number(own.changes, ".1f")]
    parts.append("" if own.percentile is None else f"{own.percentile:.0f}%")
    parts.append("" if own.nearest_over_ours is None else f"{own.nearest_over_ours:.1f}x ({own.nearest:,})")
    ratio = "" if own.times_as_long is None else f"{own.times_as_long:.3g}x"
    return [*parts, ratio] if several else parts


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%"


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
