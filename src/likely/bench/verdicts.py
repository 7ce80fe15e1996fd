"""What a run shows, computed from its measures: where LiCE holds what it says, and where a rival is better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from likely.bench.summaries import NOTHING, digits, is_exact, is_ours, methods_of, scores_of
from likely.bench.tables import Table
from likely.problem.tolerances import SAME_OBJECTIVE, rounding
from likely.schema.values import Numbers

#: Fewer common factuals tell nothing.
FEWEST = 5
#: Variants of LiCE and MIO whose first answer is not the closest, by the end of their name.
_NOT_CLOSEST = ("optimize", "optimize-1", "likeliest")
#: The method that answers however likely its answer is.
ANY_LIKELIHOOD = "mio"
#: Differences that chance makes more often than this are none.
LEVEL = 0.05


@dataclass(frozen=True)
class Criterion:
    """What methods may be better at, and why one may be that does not search for the best."""

    measure: str
    title: str
    why: str
    more_is_better: bool = False

    @property
    def choice(self) -> str:
        """Which of several answers is compared: the one held best where being close is the aim, else the likeliest."""
        return "first" if self.measure in ("distance", "changed") else "likeliest"


CRITERIA = (
    Criterion(
        "distance", "distance", "its answers break rules, or lie closer to the border than the margin that LiCE and MIO keep"
    ),
    Criterion("changed", "number of changes", "LiCE minimises the distance, which one large change may cost more than two small"),
    Criterion("nll", "likelihood under the circuit", "it goes as far as it likes, and LiCE no further than it must"),
    Criterion("probability", "true probability", "it goes as far as it likes, and LiCE no further than it must", True),
    Criterion("lof", "local outlier factor", "rows of the data, or means of them, are as dense as their neighbours"),
    Criterion("isolation", "isolation forest", "it goes to where training rows are many, however far that is"),
    Criterion("flow", "density of the flow", "it goes to where training rows are many, however far that is", True),
    Criterion("nearest", "distance to the nearest training row", "a method that returns training rows has 0, or next to it"),
    Criterion(
        "noise", "validity with noise", "the closest row lies at the border of the class, where a little noise undoes it", True
    ),
    Criterion("retraining", "validity after retraining", "the closest row lies at the border, which another model moves", True),
    Criterion("diversity", "diversity of answers", "the closest ten rows are close to each other", True),
    Criterion("seconds", "time", "it proves nothing, and stops at what it has", False),
)


@dataclass(frozen=True)
class Win:
    """A rival that is better than every variant of LiCE and MIO at something."""

    dataset: str
    rival: str
    criterion: Criterion
    #: The best of ours on the factuals for which both have valid answers.
    best: str
    factuals: int
    theirs: float
    ours: float
    #: The share of all factuals for which the rival has a valid and actionable answer.
    usable: float
    #: The mean distance of its answers over that of the best of ours, on these factuals.
    farther: float


def wins(measures: pd.DataFrame) -> list[Win]:
    """Where a rival is better than each of ours, beyond chance (the signed-rank test of Wilcoxon on common factuals).

    Args:
        measures: Of both choices among answers.
    """
    found = []
    for dataset in dict.fromkeys(map(str, measures["dataset"])):
        whole = measures[measures["dataset"] == dataset]
        for criterion in CRITERIA:
            part = whole[whole["choice"] == criterion.choice]
            if criterion.measure in part and part.loc[part["valid"].astype(bool), criterion.measure].notna().any():
                found += _wins_at(part, criterion)
    return found


def _wins_at(part: pd.DataFrame, criterion: Criterion) -> list[Win]:
    """Of one data set, at one measure."""
    valid = part[part["valid"].astype(bool)]
    ours = [name for name in methods_of(part) if is_ours(name) and (valid["method"] == name).any()]
    rivals = [name for name in methods_of(part) if not is_ours(name)] if ours else []
    scores, distances = scores_of(part, criterion.measure), scores_of(part, "distance")
    return [win for name in rivals if (win := _win(part, scores, distances, name, ours, criterion)) is not None]


def _win(
    part: pd.DataFrame, scores: pd.DataFrame, distances: pd.DataFrame, rival: str, ours: list[str], criterion: Criterion
) -> Win | None:
    """Of one data set: its measures, and a row per factual and a column per method of a measure and of distances."""
    sign = -1.0 if criterion.more_is_better else 1.0
    compared = []
    for name in ours:
        theirs, own = _paired(scores, rival, name)
        if len(own) < FEWEST or not _less(sign * theirs, sign * own):
            return None
        compared.append((sign * float(own.mean()), name, len(own), float(theirs.mean()), float(own.mean())))
    _, best, count, mean_theirs, mean_ours = min(compared)
    asked = part[part["method"] == rival]
    usable = float((asked["valid"].astype(bool) & asked["actionable"].astype(bool)).mean())
    far, near = (float(side.mean()) for side in _paired(distances, rival, best))
    farther = far / near if near else np.inf
    return Win(str(part["dataset"].iloc[0]), rival, criterion, best, count, mean_theirs, mean_ours, usable, farther)


def _paired(scores: pd.DataFrame, one: str, other: str) -> tuple[Numbers, Numbers]:
    """A measure of two methods on the factuals for which both have a valid answer."""
    both = scores[[one, other]].to_numpy(dtype=np.float64)
    both = both[~np.isnan(both).any(axis=1)]
    return both[:, 0], both[:, 1]


def _less(first: Numbers, second: Numbers) -> bool:
    """Whether numbers are smaller than their partners, on average and beyond chance."""
    from scipy.stats import wilcoxon

    difference = first - second
    if not np.any(difference) or difference.mean() >= 0:
        return False
    return bool(wilcoxon(difference, alternative="less").pvalue < LEVEL)


def win_table(found: list[Win]) -> Table:
    """Where rivals are better, and why that is so.

    Args:
        found: What `wins` finds.
    """
    rows = tuple(
        (
            win.dataset,
            win.criterion.title,
            win.rival,
            digits(win.theirs),
            f"{digits(win.ours)} ({win.best})",
            f"{win.factuals:,}",
            f"{100 * win.usable:.0f} %",
            win.criterion.why,
        )
        for win in found
    )
    head = ("data", "better at", "method", "its mean", "the best of ours", "common factuals", "valid and actionable", "why")
    caption = (
        "Better than every variant of LiCE and MIO on common factuals, by the signed-rank test of Wilcoxon at 0.05, "
        "not corrected for many tests. A rival that is better than some variants, but not than all, is not listed. "
        "Why: what we expect, not what was tested."
    )
    return Table("rivals-better", "Where a rival is better", head, rows, caption)


def win_summary(found: list[Win], datasets: int) -> Table:
    """A line per measure: on how many data sets some rival is better, who, how far they go for it, and why that is so.

    Args:
        found: What `wins` finds.
        datasets: How many data sets were asked about.
    """
    rows = []
    for criterion in CRITERIA:
        these = [win for win in found if win.criterion == criterion]
        if these:
            usable = [100 * win.usable for win in these]
            rows.append(
                (
                    criterion.title,
                    f"{len({win.dataset for win in these})} of {datasets}",
                    _named(these),
                    f"{np.median([win.farther for win in these]):.2f} times",
                    _between(usable),
                    criterion.why,
                )
            )
    head = ("better at", "data sets", "who, and on how many", "their distance is (median)", "valid and actionable", "why")
    caption = (
        "Better than every variant of LiCE and MIO on the factuals that both answer, by the signed-rank test of Wilcoxon at "
        "0.05, not corrected for many tests. At distance and number of changes the answer that a method holds best is compared, "
        "else its likeliest. Distances are over those of the best of ours at this measure. Why: what we expect, not what was "
        "tested."
    )
    return Table("rivals-by-measure", "Where rivals are better", head, tuple(rows), caption)


def _between(shares: list[float]) -> str:
    """The least and the greatest of some percentages."""
    low, high = f"{min(shares):.0f}", f"{max(shares):.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def _named(these: list[Win]) -> str:
    """The rivals of some wins, those of most data sets first."""
    counts = pd.Series([win.rival for win in these]).value_counts(sort=True)
    return ", ".join(f"{name} {number}" for name, number in counts.items())


# -- what is claimed ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Checked:
    """Proofs compared with all that anybody found."""

    #: How many answers keep all rules and are at least as likely as one that was proved to be the closest.
    compared: int
    #: Those of them that are closer.
    refuting: pd.DataFrame


def checked(measures: pd.DataFrame) -> Checked:
    """Compare answers that were proved to be the closest with those that are as likely, of every method.

    Whatever is at least as likely as a proved answer keeps the threshold that this kept; MIO's had none to keep. So it cannot be
    closer, if it is of the class by the same margin, keeps all rules, and the proof holds. (Variants that weigh likelihood are
    left out.)

    Args:
        measures: Of both choices among answers: what methods hold best is compared with either.
    """
    usable = measures[measures["by_margin"].eq(True) & measures["possible"].eq(True)]
    held = usable[usable["choice"].eq("first") & usable["proved"].eq(True)]
    proved = held[np.array([is_exact(name) and not name.endswith(_NOT_CLOSEST) for name in held["method"]], dtype=bool)]
    key = ["dataset", "fold", "place"]
    both = proved.merge(usable, on=key, suffixes=("", "_other"))
    kept = (both["nll_other"] <= both["nll"]) | (both["method"] == ANY_LIKELIHOOD)
    both = both[(both["method"] != both["method_other"]) & kept]
    slack = np.array([rounding(distance, SAME_OBJECTIVE) for distance in both["distance"]], dtype=np.float64)
    closer = both["distance_other"] < both["distance"] - slack
    shown = [*key, "method", "method_other", "distance", "distance_other", "nll", "nll_other"]
    return Checked(len(both), both.loc[closer, shown])


@dataclass(frozen=True)
class Promise:
    """What LiCE and MIO by the exact engine promise, counted over all questions."""

    questions: int
    answered: int
    #: Answers that are valid and keep all rules.
    kept: int
    #: Answers that were proved to be the best.
    closest: int
    #: Questions that were proved to have no answer, and those that were left open.
    impossible: int
    left: int
    #: The largest difference between claimed and true log-likelihood.
    error: float


def promise(first: pd.DataFrame) -> Promise:
    """Count what is promised.

    Args:
        first: The measures of the answers that methods hold best.
    """
    part = first[[is_exact(name) for name in first["method"]]]
    answered = part["status"] == "answered"
    proved = part["proved"].astype(bool)
    impossible = (part["status"] == "none") & proved
    kept = answered & part["valid"].astype(bool) & part["possible"].astype(bool)
    errors = part["approximation_error"].dropna().astype(np.float64)
    return Promise(
        questions=len(part),
        answered=int(answered.sum()),
        kept=int(kept.sum()),
        closest=int((answered & proved).sum()),
        impossible=int(impossible.sum()),
        left=int((~answered & ~impossible).sum()),
        error=float(errors.abs().max()) if len(errors) else np.nan,
    )


def claim_table(first: pd.DataFrame) -> Table:
    """What LiCE and MIO promise, counted: answers that are valid and keep all rules, and proofs where there is none.

    Args:
        first: The measures of the answers that methods hold best.
    """
    rows = []
    for dataset in dict.fromkeys(first["dataset"]):
        for method in [name for name in methods_of(first) if is_ours(name)]:
            part = first[(first["dataset"] == dataset) & (first["method"] == method)]
            if len(part):
                rows.append((str(dataset), method, *_claims(part)))
    head = (
        "data", "method", "factuals", "answered", "of these valid and possible", "proved to be the best", "proved that there is "
        "none", "open",
        "error",
    )  # fmt: skip
    caption = "Possible: a row of the schema that keeps all rules. Error: the largest between claimed and true log-likelihood."
    return Table("claims", "What is promised, method by method", head, tuple(rows), caption)


def promise_table(first: pd.DataFrame) -> Table:
    """What the exact engine promises, a line per data set.

    Args:
        first: The measures of the answers that methods hold best.
    """
    rows = []
    for dataset in dict.fromkeys(map(str, first["dataset"])):
        held = promise(first[first["dataset"] == dataset])
        if held.questions:
            counts = (held.questions, held.answered, held.kept, held.closest, held.impossible, held.left)
            rows.append((dataset, *(f"{each:,}" for each in counts), NOTHING if np.isnan(held.error) else f"{held.error:.2g}"))
    head = (
        "data", "questions", "answered", "valid and actionable", "proved to be the best", "proved that there is none", "open",
        "error",
    )  # fmt: skip
    caption = "All variants of LiCE and MIO by the exact engine. Error: the largest between claimed and true log-likelihood."
    return Table("promises", "What is promised", head, tuple(rows), caption)


def _claims(part: pd.DataFrame) -> list[str]:
    answered = part["status"] == "answered"
    kept = part["valid"].astype(bool) & part["possible"].astype(bool)
    none = (part["status"] == "none") & part["proved"].astype(bool)
    errors = part["approximation_error"].dropna() if "approximation_error" in part else part["nll"].iloc[:0]
    share = f"{100 * float(kept[answered].mean()):.1f} %" if answered.any() else NOTHING
    best = int((answered & part["proved"].astype(bool)).sum())
    counts = [f"{len(part):,}", f"{int(answered.sum()):,}", share, f"{best:,}"]
    counts += [f"{int(none.sum()):,}", f"{int((~answered & ~none).sum()):,}"]
    return [*counts, f"{float(errors.max()):.1e}" if len(errors) else NOTHING]
