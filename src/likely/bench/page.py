"""All that a run shows, in files: tables, pictures, and a page that has both and says where a rival is better."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from likely._files import write_text
from likely.bench import summaries, verdicts
from likely.bench.fit import Fit, fit_table
from likely.bench.results import Results
from likely.bench.tables import Table
from likely.bench.tasks import Task, task
from likely.errors import MissingExtraError

if TYPE_CHECKING:
    from likely.show.canvas import Figure

#: The data set of the motivating picture.
MOTIVATING = "credit"


def write_tables(results: Results, folder: str | Path, fits: Sequence[Fit] = ()) -> list[Table]:
    """Every table of a run as Markdown, LaTeX and CSV.

    Args:
        results: The run.
        folder: Where they are written.
        fits: Circuits of Bayesian networks, for the table of fit.

    Returns:
        The tables, in the order of the page.
    """
    likeliest, first = results.chosen("likeliest"), results.chosen("first")
    made = [
        verdicts.claim_table(first),
        verdicts.win_table(verdicts.wins(likeliest)),
        *summaries.tables_of(likeliest),
        summaries.rank_table(likeliest),
        summaries.rank_table(likeliest, only_common=True),
        *([fit_table(fits)] if fits else []),
    ]
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
                    title = f"{dataset}: mean ranks of likelihood on {which}"
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


def page_of(results: Results, tables: Sequence[Table], figures: Sequence[tuple[str, str]], pictures: str, command: str) -> str:
    """The page of a run, in Markdown.

    Args:
        results: The run.
        tables: What `write_tables` made.
        figures: What `write_figures` made.
        pictures: Where the pictures are, from the page.
        command: What made the run.
    """
    refuted = verdicts.refutations(results.chosen("first"))
    found = verdicts.wins(results.chosen("likeliest"))
    parts = [
        "# Results",
        "This page was written by `likely bench paper` from one run: every number on it is computed.",
        f"```text\n{command}\n```",
        _made_by(results),
        "## What is promised",
        _refuted(refuted),
        _wins_in_words(found, results.measures),
        *(_shown(table) for table in tables),
        "## Pictures" if figures else "",
        *(f"### {title}\n\n![{title}]({pictures}/{name}.svg)" for name, title in figures),
        _notes(results.chosen("first")),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _shown(table: Table) -> str:
    if not table.rows:
        return f"## {table.title}\n\n{table.caption} There is none in this run."
    return f"## {table.title}\n\n{table.to_markdown()}\n{table.caption}"


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


def _refuted(found: pd.DataFrame) -> str:
    if not len(found):
        return "No method found an answer that is closer than one that was proved to be the closest, and as likely."
    return (
        f"**{len(found)} answers are closer than one that was proved to be the closest, and as likely: a proof does not hold.** "
        f"The first: {found.iloc[0].to_dict()}"
    )


def _wins_in_words(found: list[verdicts.Win], measures: pd.DataFrame) -> str:
    """Where rivals are better; and if none is, whether that could have been seen."""
    if not any(map(summaries.is_ours, measures["method"])):
        return "Neither LiCE nor MIO was part of this run."
    asked = measures.groupby("dataset")[["fold", "place"]].apply(lambda part: len(part.drop_duplicates()))
    if not found and asked.max() < verdicts.FEWEST:
        return f"Whether a rival is better cannot be told: that takes {verdicts.FEWEST} factuals of a data set at least."
    if not found:
        return "No rival is better than every variant of LiCE and MIO at anything that is measured."
    by: dict[str, list[str]] = {}
    for win in found:
        by.setdefault(win.criterion.title, [])
        if win.rival not in by[win.criterion.title]:
            by[win.criterion.title].append(win.rival)
    told = "; ".join(f"at {title}: {', '.join(rivals)}" for title, rivals in by.items())
    return f"A rival is better than every variant of LiCE and MIO on some data set {told}. The second table below has them all."


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
    """Write tables, pictures and the page of a run.

    Args:
        results: The run; tables and pictures go into its folder, too.
        page: The Markdown file.
        command: What made the run.
        fits: Circuits of Bayesian networks.
    """
    tables = write_tables(results, results.folder / "tables", fits)
    place = Path(page)
    place.parent.mkdir(parents=True, exist_ok=True)
    pictures = results.folder / "figures" if place.parent == results.folder else place.parent / "pictures" / place.stem
    figures = write_figures(results, pictures, fits)
    beside = Path(os.path.relpath(pictures, place.parent)).as_posix()
    write_text(place, page_of(results, tables, figures, beside, command))
    return place
