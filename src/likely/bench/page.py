"""All that a run shows, in files: tables, pictures, a page that people read, and one with all of every data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from likely._files import write_text
from likely.bench import beside, summaries, verdicts
from likely.bench.brief import in_short
from likely.bench.fit import Fit, fit_table
from likely.bench.results import Results
from likely.bench.tables import Table
from likely.bench.tasks import TARGETS, Task, task
from likely.errors import MissingExtraError

if TYPE_CHECKING:
    from likely.show.canvas import Figure

#: The data set of the motivating picture.
MOTIVATING = "credit"


@dataclass(frozen=True)
class Tables:
    """Every table of a run, by the part of the page that it belongs to."""

    #: Beside the paper's numbers.
    paper: tuple[Table, ...]
    #: Where rivals are better, measure by measure.
    rivals: Table
    #: Over all data sets.
    overview: tuple[Table, ...]
    #: Data set by data set, and the longest ones.
    details: tuple[Table, ...]
    #: What they were made from: where rivals are better, and what the paper has, too.
    wins: tuple[verdicts.Win, ...] = ()
    besides: tuple[beside.Beside, ...] = ()

    def __iter__(self) -> Iterator[Table]:
        return iter((*self.paper, self.rivals, *self.overview, *self.details))


def write_tables(results: Results, folder: str | Path, fits: Sequence[Fit] = ()) -> Tables:
    """Every table of a run as Markdown, LaTeX and CSV.

    Args:
        results: The run.
        folder: Where they are written.
        fits: Circuits of Bayesian networks, for the table of fit.

    Returns:
        The tables, in the order of the page.
    """
    likeliest, first = results.chosen("likeliest"), results.chosen("first")
    found = verdicts.wins(results.measures)
    besides = beside.beside_paper(likeliest)
    paper = (
        *beside.beside_tables(besides),
        beside.demand_table(likeliest),
        beside.time_table(likeliest),
        beside.error_table(likeliest),
        summaries.paper_rank_table(likeliest),
    )
    made = Tables(
        paper=(*(table for table in paper if table.rows), *([fit_table(fits)] if fits else [])),
        rivals=verdicts.win_summary(found, likeliest["dataset"].nunique()),
        overview=(
            verdicts.promise_table(first),
            summaries.usable_table(likeliest),
            summaries.rank_table(likeliest),
            summaries.rank_table(likeliest, only_common=True),
        ),
        details=(*summaries.tables_of(likeliest), verdicts.claim_table(first), verdicts.win_table(found)),
        wins=tuple(found),
        besides=tuple(besides),
    )
    for table in made:
        table.save(folder)
    return made


def write_figures(results: Results, folder: str | Path, fits: Sequence[Fit] = ()) -> list[tuple[str, str]]:
    """Every picture of a run as SVG and PNG; none if matplotlib is not installed.

    Args:
        results: The run.
        folder: Where they are written.
        fits: Circuits of Bayesian networks, for the picture of fit.

    Returns:
        Name of the file (without its ending) and title of each.
    """
    from likely.bench import figures
    from likely.show import canvas

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    made: list[tuple[str, str]] = []

    def keep(name: str, title: str, draw: Callable[[], Figure]) -> None:
        canvas.saved(draw(), home / name)
        made.append((name, title))

    measures = results.chosen("likeliest")
    try:
        fold = _motivating_task(results)
        if fold is not None:
            title = "One applicant, and what each method would change"
            keep("motivating", title, lambda: figures.motivating(fold, measures))
        for dataset in dict.fromkeys(measures["dataset"]):
            part = measures[measures["dataset"] == dataset]
            name = str(dataset).replace(":", "-")
            for only_common, which in ((False, "all factuals"), (True, "common factuals")):
                found = summaries.ranking_of(part, only_common=only_common)
                if found is not None:
                    judge = "true probability" if dataset in TARGETS else "likelihood"
                    title = f"{dataset}: mean ranks of {judge} on {which}"
                    file = f"{name}-ranks-{'common' if only_common else 'all'}"
                    keep(file, title, lambda found=found, title=title: figures.critical_differences(found, title))  # type: ignore[misc]
            if part["valid"].any():
                title = f"{dataset}: answers within a distance"
                keep(f"{name}-distance", title, lambda p=part, t=title: figures.validity_after_distance(p, t))  # type: ignore[misc]
                title = f"{dataset}: distance and likelihood"
                keep(f"{name}-trade-off", title, lambda p=part, t=title: figures.trade_off(p, t))  # type: ignore[misc]
        if fits:
            keep("fit", "How well circuits know Bayesian networks", lambda: figures.fits_of(fits))
    except MissingExtraError:
        return made
    return made


def _motivating_task(results: Results) -> Task | None:
    """The first fold of Credit that was run, learned again as it was."""
    run = results.sittings[-1]["run"]
    folds = results.measures.loc[results.measures["dataset"] == MOTIVATING, "fold"]
    if not len(folds):
        return None
    return task(MOTIVATING, int(folds.iloc[0]), int(run["factuals"]), int(run["seed"]), run["most_rows"])


def page_of(
    results: Results, tables: Tables, figures: Sequence[tuple[str, str]], pictures: str, command: str, more: str = ""
) -> str:
    """The page of a run, in Markdown: what it shows in short, beside the paper, where rivals are better.

    Args:
        results: The run.
        tables: What `write_tables` made.
        figures: What `write_figures` made.
        pictures: Where the pictures are, from the page.
        command: What made the run.
        more: The page with the tables and pictures of every data set, from this one.
    """
    short = in_short(results, tables.wins, tables.besides)
    parts = [
        "# Results",
        "This page was written by `likely bench paper` from one run: every number on it is computed. "
        "[Methods beside each other](bench.md) has the protocol, and what each measure is.",
        f"```text\n{command}\n```",
        _made_by(results),
        "## In short",
        "\n".join(f"- {sentence}" for sentence in short),
        f"[The tables and pictures of every data set]({more}) are on a page of their own." if more else "",
        *_beside_paper(tables, results),
        _shown(tables.rivals),
        "## All data sets",
        *(_shown(table, "###") for table in tables.overview),
        "## Pictures" if _general(figures) else "",
        *(_picture(each, pictures) for each in _general(figures)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def details_of(results: Results, tables: Tables, figures: Sequence[tuple[str, str]], pictures: str, back: str) -> str:
    """The page with the tables and pictures of every data set.

    Args:
        results: The run.
        tables: What `write_tables` made.
        figures: What `write_figures` made.
        pictures: Where the pictures are, from the page.
        back: The page of the run, from this one.
    """
    parts = [
        "# Results, data set by data set",
        f"Every table and picture of the run that [Results]({back}) is about; every number is computed.",
    ]
    for dataset in dict.fromkeys(map(str, results.measures["dataset"])):
        parts.append(f"## {dataset}")
        parts += [_shown(table, "###") for table in tables.details if table.title.startswith(f"{dataset}: ")]
        parts += [_picture(each, pictures, "####") for each in figures if each[1].startswith(f"{dataset}: ")]
    parts += [_shown(table) for table in tables.details if ": " not in table.title]
    parts.append(_notes(results.chosen("first")))
    return "\n\n".join(part for part in parts if part) + "\n"


def _beside_paper(tables: Tables, results: Results) -> list[str]:
    """What the paper has, too, and why the numbers differ."""
    if not tables.paper:
        return []
    parts = ["## Beside the paper", *(_shown(table, "###") for table in tables.paper)]
    if tables.besides:
        held = beside.beside_paper(results.chosen("first"))
        why = "\n".join(f"- {reason}" for reason in beside.differences(tables.besides, results.chosen("likeliest"), held))
        parts.append(f"### Why numbers differ\n\n{why}")
    return parts


def _general(figures: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pictures that are of no data set in particular."""
    return [each for each in figures if ": " not in each[1]]


def _picture(figure: tuple[str, str], pictures: str, level: str = "###") -> str:
    name, title = figure
    return f"{level} {title}\n\n![{title}]({pictures}/{name}.svg)"


def _shown(table: Table, level: str = "##") -> str:
    if not table.rows:
        return f"{level} {table.title}\n\n{table.caption} There is none in this run."
    return f"{level} {table.title}\n\n{table.to_markdown()}\n{table.caption}"


def _made_by(results: Results) -> str:
    last = results.sittings[-1]
    run, machine = last["run"], last["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in last["versions"].items())
    rows = "" if run["most_rows"] is None else f", learned from at most {run['most_rows']:,} rows"
    return (
        f"Seed {run['seed']}, {run['factuals']} factuals per fold, {run['k']} answers asked for, at most {run['seconds']:g} s "
        f"each{rows}; {run['refits']} models retrained per fold. {machine['processor']}, {machine['cores']} "
        f"cores; sittings: {len(results.sittings)}. {versions}."
    )


def _notes(first: pd.DataFrame) -> str:
    """Why methods failed, each reason once."""
    if "error" not in first or not first["error"].notna().any():
        return ""
    failed = first[first["error"].notna()]
    lines = [
        f"- {method} on {dataset}, {len(part):,} times: {_first_line(part)}"
        for (dataset, method), part in failed.groupby(["dataset", "method"], sort=False)
    ]
    return "\n".join(["## What did not answer\n", *lines])


def _first_line(part: pd.DataFrame) -> Any:
    return str(part["error"].mode().iloc[0])


def write_page(results: Results, page: str | Path, command: str, fits: Sequence[Fit] = ()) -> Path:
    """Write tables, pictures and the pages of a run: the one that is named, and beside it one with all data sets.

    Args:
        results: The run; tables and pictures go into its folder, too.
        page: The Markdown file.
        command: What made the run.
        fits: Circuits of Bayesian networks.
    """
    tables = write_tables(results, results.folder / "tables", fits)
    place = Path(page)
    place.parent.mkdir(parents=True, exist_ok=True)
    figures = write_figures(results, results.folder / "figures", fits)
    pictures = results.folder / "figures"
    if place.parent != results.folder:
        pictures = _copied(figures, pictures, place.parent / "pictures" / place.stem)
    there = Path(os.path.relpath(pictures, place.parent)).as_posix()
    details = place.with_name(f"{place.stem}_all.md")
    write_text(place, page_of(results, tables, figures, there, command, details.name))
    write_text(details, details_of(results, tables, figures, there, place.name))
    return place


def _copied(figures: Sequence[tuple[str, str]], home: Path, place: Path) -> Path:
    """The pictures that a page shows, beside it."""
    place.mkdir(parents=True, exist_ok=True)
    for name, _ in figures:
        write_text(place / f"{name}.svg", (home / f"{name}.svg").read_text(encoding="utf-8"))
    return place
