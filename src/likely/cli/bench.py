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

from likely._display.numbers import cost_text
from likely._display.progress import progress_bar
from likely._display.tables import aligned, ruled
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
    add_model(parser, when="; may be left out if it is no pickle and still where it was")
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
    setting = _of_user(options) if options.explainer else _embedded(options)
    trials = _trials(options, setting, engines or [setting.explainer.engine], variants, limits)
    measurements = [measurement for word, rivals in trials.items() for measurement in _measurements(word, rivals)]
    ended = any(trial.interrupted for rivals in trials.values() for trial in rivals)
    if options.json:
        print(json.dumps(_plain(setting, options, measurements, ended), ensure_ascii=False))
    elif measurements:
        print(f"{setting.title}; at most {options.seconds:g} s per row\n\n{as_text(measurements)}")
    if ended:
        print("likely: interrupted; these are the rows that were finished", file=sys.stderr)
        return Code.INTERRUPTED
    return Code.FAILED if any(measurement.refuted for measurement in measurements) else Code.ANSWER


def _measurements(word: str, rivals: Sequence[Trial]) -> list[Measurement]:
    """The trials of all engines under one plausibility in numbers; times are compared with those of the first."""
    made = []
    for i, trial in enumerate(rivals):
        if len(trial):
            others = [rival for rival in rivals if rival is not trial]
            made.append(Measurement.of(trial, word, others, rivals[0] if i else None))
    return made


def _variant(word: str) -> Variant | None:
    return Weight(WEIGHT) if word == "optimize" else plausibility_of(word, "class")


def _plain(setting: Setting, options: argparse.Namespace, measurements: Sequence[Measurement], ended: bool) -> dict[str, Any]:
    asked = {"data": setting.title, "rows": len(setting.rows), "seconds": options.seconds, "interrupted": ended}
    return {**asked, "measurements": [measurement.to_dict() for measurement in measurements]}


# -- what is measured --------------------------------------------------------------------------------------------------


def _embedded(options: argparse.Namespace) -> Setting:
    """The model and the applicants of `likely demo`; those that the model has not seen are explained."""
    if options.model or options.data or options.encoder:
        raise ExplainerError("--model, --data and --encoder", "come with an explainer", "none", "name its folder first")
    scene = demo.scene_of()
    progress = not options.json
    explainer = Explainer(scene.model, scene.schema, progress=progress).fit(scene.X, scene.y)
    return _setting(explainer, scene.unseen, scene.X, "German Credit", options.rows)


def _of_user(options: argparse.Namespace) -> Setting:
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
    trials: dict[str, list[Trial]] = {word: [] for word in variants}
    total = len(setting.rows) * len(engines) * len(variants)
    done = 0
    with progress_bar(not options.json, "Measuring") as move:
        for word, variant in variants.items():
            for engine in engines:
                setting.explainer.set_params(engine=engine)

                def moved(what: str = f"{word}, {engine}") -> None:
                    nonlocal done
                    done += 1
                    move(done / total, what)

                trial = measure(setting.explainer, setting.rows, setting.pool, variant, limits, after_each=moved)
                trials[word].append(trial)
                if trial.interrupted:
                    return trials
    return trials


# -- showing -----------------------------------------------------------------------------------------------------------

LEGEND = """\
certified: proved that there is no better answer, or none at all. cost, changes, likelier than: means of the answers.
nearest row: what the cheapest training row that answers the same question costs, times ours (for how many rows there is one).
The same question: the same rules, class and likelihood; what the model does not read stays as in the row, as in our answers."""


def as_text(measurements: Sequence[Measurement]) -> str:
    """A line per plausibility and engine."""
    several = len({measurement.engine for measurement in measurements}) > 1
    head = ["plausibility", "engine", "rows", "answered", "certified", "median", "slowest"]
    head += ["cost", "changes", "likelier than", "nearest row", *([f"time / {measurements[0].engine}"] if several else [])]
    lines = aligned([head, *(_cells(measurement, several) for measurement in measurements)], right=range(2, len(head)))
    refuted = sum(measurement.refuted for measurement in measurements)
    wrong = [f"{refuted:,} answers are worse than another that is known: a proof does not hold."] if refuted else []
    return "\n".join([*ruled(lines, 0), "", LEGEND, *wrong])


def _cells(measured: Measurement, several: bool) -> list[str]:
    shares = [_percent(count, measured.rows) for count in (measured.answered, measured.certified)]
    times = [_time(seconds) for seconds in (measured.median_seconds, measured.slowest_seconds)]
    means = ["" if measured.cost is None else cost_text(measured.cost)]
    means += ["" if measured.changes is None else f"{measured.changes:.1f}"]
    likelier = "" if measured.percentile is None else f"{measured.percentile:.0f}%"
    nearest = "" if measured.nearest_over_ours is None else f"{measured.nearest_over_ours:.1f}x ({measured.nearest:,})"
    ratio = "" if measured.times_as_long is None else f"{measured.times_as_long:.3g}x"
    parts = [measured.plausibility, measured.engine, f"{measured.rows:,}", *shares, *times, *means, likelier, nearest]
    return [*parts, ratio] if several else parts


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%"


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
