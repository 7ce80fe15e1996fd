"""What a run shows in a few sentences, each computed: what ran, whether what is promised held, and how it is beside others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from likely.bench.beside import Beside, counted
from likely.bench.results import Results
from likely.bench.summaries import digits, is_exact, is_ours
from likely.bench.tasks import NAMES, TARGETS
from likely.bench.verdicts import FEWEST, Checked, Promise, Win, checked, promise


def in_short(results: Results, wins: Sequence[Win], beside: Sequence[Beside]) -> list[str]:
    """The sentences at the head of a page.

    Args:
        results: The run.
        wins: Where rivals are better.
        beside: What the paper has, too.
    """
    first = results.chosen("first")
    told = [_ran(results)]
    if any(map(is_exact, first["method"])):
        told += _promised(promise(first), checked(results.measures))
    if beside:
        told.append(_beside(beside))
    return [*told, rivals_in_words(wins, results.measures)]


def _ran(results: Results) -> str:
    first = results.chosen("first")
    datasets = list(dict.fromkeys(map(str, first["dataset"])))
    missing = [name for name in NAMES if name not in {word.partition(":")[0] for word in datasets}]
    left = f" Not run: {', '.join(missing)}." if missing else ""
    hours = results.seconds / 3600
    took = f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"
    return (
        f"**What ran.** {first['method'].nunique()} methods were asked {len(first):,} questions on {len(datasets)} data sets "
        f"({', '.join(datasets)}), in {took} of one thread.{_parts(first)}{left}"
    )


def _parts(first: pd.DataFrame) -> str:
    """Which data sets have not all methods."""
    whole = first["method"].nunique()
    counts = first.groupby("dataset", sort=False)["method"].nunique()
    parts = [f"{dataset} ({number} methods)" for dataset, number in counts.items() if number < whole]
    return f" Not complete: {', '.join(parts)}." if parts else ""


def _promised(held: Promise, proofs: Checked) -> list[str]:
    """Validity, proofs and errors of the exact engine."""
    kept = "every one of them is" if held.kept == held.answered else f"**only {held.kept:,} of them are**"
    open_ = "; none stayed open" if not held.left else f"; **{held.left:,} stayed open** within the time limit"
    error = (
        "nothing to compare"
        if np.isnan(held.error)
        else "0, for every answer"
        if held.error == 0
        else f"up to {digits(held.error)}"
    )
    best = "all" if held.closest == held.answered else f"{held.closest:,}"
    return [
        f"**Valid and actionable.** LiCE and MIO by the exact engine answered {held.answered:,} of {held.questions:,} "
        f"questions; {kept} valid and actionable. For {held.impossible:,} of the others it is proved that there is no "
        f"answer{open_}.",
        f"**Optimal.** Of the answers, {best} are proved to be the best. {_refuted(proofs)}",
        f"**Error of approximation**, between the log-likelihood that a method claims and the circuit's: {error}.",
    ]


def _refuted(proofs: Checked) -> str:
    if not len(proofs.refuting):
        return (
            f"{proofs.compared:,} answers of other methods keep all rules and are at least as likely as one that was proved to "
            "be the closest: none of them is closer."
        )
    return (
        f"**{len(proofs.refuting)} answers are closer than one that was proved to be the closest, and as likely: a proof does "
        f"not hold.** The first: {proofs.refuting.iloc[0].to_dict()}"
    )


def _beside(found: Sequence[Beside]) -> str:
    ours = [each for each in found if is_ours(each.method)]
    data = [each for each in ours if each.dataset not in TARGETS]
    networks = [each for each in ours if each.dataset in TARGETS]
    rivals = [each for each in found if not is_ours(each.method)]
    parts = [("LiCE and MIO on data", data), ("on Bayesian networks", networks), ("rivals, as written here", rivals)]
    told = "; ".join(f"{name}: {counted(part, named=part is not rivals)}" for name, part in parts if part)
    return f"**Beside the paper's own figures.** {told}."


def rivals_in_words(found: Sequence[Win], measures: pd.DataFrame) -> str:
    """Where rivals are better; and if none is, whether that could have been seen.

    Args:
        found: Where rivals are better.
        measures: Of any choice.
    """
    if not any(map(is_ours, measures["method"])):
        return "Neither LiCE nor MIO was part of this run."
    asked = measures.groupby("dataset")[["fold", "place"]].apply(lambda part: len(part.drop_duplicates()))
    if not found and asked.max() < FEWEST:
        return f"Whether a rival is better cannot be told: that takes {FEWEST} factuals of a data set at least."
    if not found:
        return "**Rivals.** None is better than every variant of LiCE and MIO at anything that is measured."
    titles = ", ".join(dict.fromkeys(win.criterion.title for win in found))
    return f"**Rivals** are better than every variant of LiCE and MIO on some data set at {titles}."
