"""What a run shows, computed from its measures: where LiCE holds what it says, and where a rival is better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from likely.bench.summaries import NOTHING, digits, is_ours, methods_of
from likely.bench.tables import Table
from likely.problem.tolerances import SAME_OBJECTIVE, rounding

#: Fewer common factuals tell nothing.
FEWEST = 5
#: Variants of LiCE and MIO whose first answer is not the closest, by the end of their name.
_NOT_CLOSEST = ("optimize", "optimize-1", "likeliest")
#: Differences that chance makes more often than this are none.
LEVEL = 0.05


@dataclass(frozen=True)
class Criterion:
    """What methods may be better at, and why one may be that does not search for the best."""

    measure: str
    title: str
    why: str
    more_is_better: bool = False


CRITERIA = (
    Criterion("distance", "distance", "it may change what the rules forbid, or be less likely than was demanded of LiCE"),
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


def wins(measures: pd.DataFrame) -> list[Win]:
    """Where a rival is better than each of ours, beyond chance (the signed-rank test of Wilcoxon on common factuals).

    Args:
        measures: Of one choice among answers.
    """
    found = []
    for dataset in dict.fromkeys(measures["dataset"]):
        part = measures[measures["dataset"] == dataset]
        names = methods_of(part)
        ours = [name for name in names if is_ours(name) and part.loc[part["method"] == name, "valid"].any()]
        for criterion in CRITERIA if ours else ():
            if criterion.measure in part and part[criterion.measure].notna().any():
                rivals = [name for name in names if not is_ours(name)]
                found += [win for name in rivals if (win := _win(part, str(dataset), name, ours, criterion)) is not None]
    return found


def _win(part: pd.DataFrame, dataset: str, rival: str, ours: list[str], criterion: Criterion) -> Win | None:
    sign = -1.0 if criterion.more_is_better else 1.0
    compared = []
    for name in ours:
        theirs, own = _paired(part, rival, name, criterion.measure)
        if len(own) < FEWEST or not _less(sign * theirs, sign * own):
            return None
        compared.append((sign * float(own.mean()), name, len(own), float(theirs.mean()), float(own.mean())))
    _, best, count, mean_theirs, mean_ours = min(compared)
    asked = part[part["method"] == rival]
    usable = float((asked["valid"].astype(bool) & asked["actionable"].astype(bool)).mean())
    return Win(dataset, rival, criterion, best, count, mean_theirs, mean_ours, usable)


def _paired(part: pd.DataFrame, one: str, other: str, measure: str) -> tuple[pd.Series, pd.Series]:
    """A measure of two methods on the factuals for which both have a valid answer."""
    valid = part[part["valid"].astype(bool)]
    sides = [valid[valid["method"] == name].set_index(["fold", "place"])[measure].astype(np.float64) for name in (one, other)]
    both = pd.concat(sides, axis=1, join="inner").dropna()
    return both.iloc[:, 0], both.iloc[:, 1]


def _less(first: pd.Series, second: pd.Series) -> bool:
    """Whether numbers are smaller than their partners, on average and beyond chance."""
    from scipy.stats import wilcoxon

    difference = (first - second).to_numpy()
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


# -- what is claimed ---------------------------------------------------------------------------------------------------


def refutations(first: pd.DataFrame) -> pd.DataFrame:
    """Answers that are closer than one that was proved to be the closest, and as likely: none, unless something is wrong.

    Whatever is at least as likely as a proved answer keeps the threshold that this kept. So it cannot be closer, if it is of the
    class by the same margin, keeps all rules, and the proof holds. (Variants that weigh likelihood too are left out.)

    Args:
        first: The measures of the answers that methods hold best.
    """
    usable = first[first["by_margin"].eq(True) & first["possible"].eq(True)]
    closest = np.array([is_ours(name) and not name.endswith(_NOT_CLOSEST) for name in usable["method"]], dtype=bool)
    proved = usable[usable["proved"].eq(True).to_numpy() & closest]
    key = ["dataset", "fold", "place"]
    both = proved.merge(usable, on=key, suffixes=("", "_other"))
    slack = np.array([rounding(distance, SAME_OBJECTIVE) for distance in both["distance"]], dtype=np.float64)
    closer = both["distance_other"] < both["distance"] - slack
    likely = both["nll_other"] <= both["nll"]
    shown = [*key, "method", "method_other", "distance", "distance_other", "nll", "nll_other"]
    found: pd.DataFrame = both.loc[closer & likely, shown]
    return found


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
    head = ("data", "method", "factuals", "answered", "of these valid and possible", "proved that there is none", "open", "error")
    caption = "Possible: a row of the schema that keeps all rules. Error: the largest between claimed and true log-likelihood."
    return Table("claims", "What is promised, counted", head, tuple(rows), caption)


def _claims(part: pd.DataFrame) -> list[str]:
    answered = part["status"] == "answered"
    kept = part["valid"].astype(bool) & part["possible"].astype(bool)
    none = (part["status"] == "none") & part["proved"].astype(bool)
    errors = part["approximation_error"].dropna() if "approximation_error" in part else part["nll"].iloc[:0]
    share = f"{100 * float(kept[answered].mean()):.1f} %" if answered.any() else NOTHING
    counts = [f"{len(part):,}", f"{int(answered.sum()):,}", share, f"{int(none.sum()):,}", f"{int((~answered & ~none).sum()):,}"]
    return [*counts, f"{float(errors.max()):.1e}" if len(errors) else NOTHING]
