"""The tables of the paper and further ones, computed from measures, with the paper's number beside ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from likely.bench import statistics
from likely.bench.paper import Figure, figure
from likely.bench.tables import Table
from likely.bench.tasks import TARGETS

#: What there is nothing to say about.
NOTHING = "\N{EN DASH}"
#: Of every table's caption.
LIKELIEST = "Of a method's answers, the likeliest valid one counts."
VALID = "Means and standard deviations over valid answers."


@dataclass(frozen=True)
class Column:
    """A column of a table: what is computed of a method's measures, and where the paper has it."""

    title: str
    measure: str
    show: Callable[[pd.Series[Any]], str]
    #: The paper's tables to look in, in this order, and what they call it.
    paper: tuple[str, ...] = ()
    called: str | None = None
    show_paper: Callable[[Figure], str] | None = None

    @property
    def titles(self) -> list[str]:
        """Its own and that of the paper's number."""
        return [self.title, f"{self.title}, paper"] if self.paper else [self.title]

    def cells(self, part: pd.DataFrame, dataset: str, method: str) -> list[str]:
        """What stands in the line of a method."""
        values = part[self.measure].dropna() if self.measure in part else pd.Series(dtype=float)
        own = [self.show(values)]
        if not self.paper:
            return own
        found = [figure(table, dataset, method, self.called or self.measure) for table in self.paper]
        known = next((one for one in found if one is not None), None)
        return [*own, NOTHING if known is None else (self.show_paper or spread_of_paper)(known)]


# -- numbers as texts --------------------------------------------------------------------------------------------------


def digits(number: float) -> str:
    """A number with as many digits as matter.

    Args:
        number: Any; NaN is nothing.
    """
    if not math.isfinite(number):
        return NOTHING if math.isnan(number) else str(number)
    size = abs(number)
    if number == 0 or 0.01 <= size < 1e5:
        return f"{number:.{1 if size >= 10 else 2 if size >= 1 else 3}f}"
    return f"{number:.1e}"


def mean(values: pd.Series[Any]) -> str:
    """Mean and standard deviation.

    Args:
        values: Numbers.
    """
    if not len(values):
        return NOTHING
    numbers = values.to_numpy(dtype=np.float64)
    return f"{digits(float(numbers.mean()))} ± {digits(float(numbers.std()))}"


def median(values: pd.Series[Any]) -> str:
    """The median.

    Args:
        values: Numbers.
    """
    return digits(float(np.median(values.to_numpy(dtype=np.float64)))) if len(values) else NOTHING


def percent(values: pd.Series[Any]) -> str:
    """The mean of shares, or the share of what is true.

    Args:
        values: Numbers from 0 to 1, or booleans.
    """
    return f"{100 * float(values.to_numpy(dtype=np.float64).mean()):.1f} %" if len(values) else NOTHING


def count(values: pd.Series[Any]) -> str:
    """How many there are.

    Args:
        values: Anything.
    """
    return f"{len(values):,}"


def spread_of_paper(known: Figure) -> str:
    """As `mean` writes it.

    Args:
        known: A number of the paper.
    """
    return digits(known.mean) if known.deviation is None else f"{digits(known.mean)} ± {digits(known.deviation)}"


def _percent_of_paper(known: Figure) -> str:
    return f"{known.mean:.1f} %"


# -- tables ------------------------------------------------------------------------------------------------------------


def methods_of(measures: pd.DataFrame) -> list[str]:
    """The methods, in the order in which they were asked.

    Args:
        measures: A row per answer.
    """
    return list(dict.fromkeys(measures["method"]))


def is_ours(method: str) -> bool:
    """Whether a method is one of the paper's own: LiCE or MIO.

    Args:
        method: Its name.
    """
    return method.lower().startswith(("lice", "mio"))


def is_exact(method: str) -> bool:
    """Whether a method is LiCE or MIO by this package's engine, and not the paper's programme for a solver.

    Args:
        method: Its name.
    """
    return is_ours(method) and not method.lower().endswith("milp")


def _made(
    name: str, title: str, part: pd.DataFrame, columns: Sequence[Column], caption: str, methods: Sequence[str] | None = None
) -> Table:
    """A line per method of one data set."""
    dataset = str(part["dataset"].iloc[0]) if len(part) else ""
    lines = []
    for method in methods_of(part) if methods is None else methods:
        own = part[part["method"] == method]
        lines.append((method, *(cell for column in columns for cell in column.cells(own, dataset, method))))
    head = ("method", *(text for column in columns for text in column.titles))
    told = [i for i, text in enumerate(head) if not text.endswith(", paper") or any(line[i] != NOTHING for line in lines)]
    rows = tuple(tuple(line[i] for i in told) for line in lines)
    return Table(name, title, tuple(head[i] for i in told), rows, caption)


SUCCESS = (
    Column("factuals", "place", count),
    Column("valid", "valid", percent, ("validity", "networks"), None, _percent_of_paper),
    Column("valid and actionable", "usable", percent, ("validity",), "actionable", _percent_of_paper),
    Column("proved", "proved", percent),
    Column("proved that there is none", "impossible", percent),
    Column("overtime", "overtime", percent),
    Column("failed", "failed", percent),
    Column("median seconds", "seconds", median, ("time",)),
)
QUALITY = (
    Column("answers", "place", count),
    Column("NLL", "nll", mean, ("quality", "variants")),
    Column("distance", "distance", mean, ("quality", "variants")),
    Column("changed", "changed", mean, ("quality", "variants")),
)
COMMON = tuple(Column(each.title, each.measure, each.show, ("common",) if each.paper else ()) for each in QUALITY)
NETWORKS = (
    Column("log-likelihood", "log_likelihood", mean, ("networks",)),
    Column("true probability", "probability", mean, ("networks",)),
    Column("distance", "distance", mean, ("networks",)),
    Column("changed", "changed", mean, ("networks",)),
    Column("seconds", "seconds", mean, ("networks",)),
)
PLAUSIBILITY = (
    Column("answers", "place", count),
    Column("LOF (median)", "lof", median),
    Column("isolation forest", "isolation", mean),
    Column("flow (log-density)", "flow", median),
    Column("nearest row", "nearest", mean),
)
ROBUSTNESS = (
    Column("answers", "place", count),
    Column("valid with noise", "noise", percent),
    Column("valid after retraining", "retraining", percent),
    Column("valid when rounded", "rounded", percent),
    Column("answers per question", "answers", mean),
    Column("diversity", "diversity", mean),
)
APPROXIMATION = (
    Column("log-likelihood", "log_likelihood", mean, ("approximation",), "true"),
    Column("as the method has it", "claimed", mean, ("approximation",), "claimed"),
    Column("error", "approximation_error", mean, ("approximation",), "error"),
)


def prepared(measures: pd.DataFrame) -> pd.DataFrame:
    """Measures with what tables need beside them.

    Args:
        measures: Of one choice among answers.
    """
    made = measures.copy()
    made["usable"] = made["valid"].astype(bool) & made["actionable"].astype(bool)
    made["impossible"] = (made["status"] == "none") & made["proved"].astype(bool)
    made["overtime"] = made["status"] == "overtime"
    made["failed"] = made["status"] == "failed"
    if "nll" in made:
        made["log_likelihood"] = -made["nll"]
    return made


def tables_of(measures: pd.DataFrame) -> list[Table]:
    """Every table that the measures allow, data set by data set.

    Args:
        measures: Of one choice among answers, of any number of data sets and folds.
    """
    made = []
    for dataset in dict.fromkeys(measures["dataset"]):
        made += _of_dataset(prepared(measures[measures["dataset"] == dataset]), str(dataset))
    return made


def _of_dataset(part: pd.DataFrame, dataset: str) -> list[Table]:
    name = dataset.replace(":", "-")
    valid = part[part["valid"].astype(bool)]
    methods = methods_of(part)
    made = [
        _made(f"{name}-success", f"{dataset}: who answers", part, SUCCESS, "Shares of all factuals. " + LIKELIEST),
        _made(f"{name}-quality", f"{dataset}: how good valid answers are", valid, QUALITY, f"{VALID} {LIKELIEST}", methods),
    ]
    variants = [method for method in methods if is_ours(method)]
    if variants and dataset not in TARGETS:
        made.append(_made(f"{name}-variants", f"{dataset}: variants of LiCE", valid, QUALITY, VALID, variants))
    shared = common_answers(valid)
    if len(shared):
        left = [method for method in methods if method not in set(shared["method"])]
        without = f" Without {', '.join(left)}, which would leave too few." if left else ""
        number = shared.groupby("method").size().iloc[0]
        told = f"The {number} factuals for which all have a valid answer.{without} {LIKELIEST}"
        made.append(_made(f"{name}-common", f"{dataset}: on common factuals", shared, COMMON, told))
    if dataset in TARGETS:
        told = f"{VALID} The probability is that of the Bayesian network. {LIKELIEST}"
        made.append(_made(f"{name}-truth", f"{dataset}: how probable answers truly are", valid, NETWORKS, told, methods))
    told = (
        "Valid answers, judged by densities of training rows of the wanted class that no method optimises; less is better, but "
    )
    made.append(
        _made(f"{name}-plausibility", f"{dataset}: other judges", valid, PLAUSIBILITY, told + "of the flow more is.", methods)
    )
    told = (
        "Of valid answers. Noise of a twentieth of a standard deviation; models retrained on bootstrap samples and other seeds."
    )
    made.append(_made(f"{name}-robustness", f"{dataset}: what holds", valid, ROBUSTNESS, told, methods))
    claims = [method for method in methods if valid.loc[valid["method"] == method, "claimed"].notna().any()]
    if claims:
        told = "The circuit's log-likelihood of valid answers, and what the method believed it to be."
        made.append(_made(f"{name}-approximation", f"{dataset}: errors of approximation", valid, APPROXIMATION, told, claims))
    return made


def usable_table(measures: pd.DataFrame) -> Table:
    """For which share of the factuals each method has a valid and actionable answer, a column per data set.

    Args:
        measures: Of one choice among answers.
    """
    whole = prepared(measures)
    datasets = list(dict.fromkeys(map(str, whole["dataset"])))
    shares = without_failing(whole).pivot_table("usable", "method", "dataset", "mean").reindex(columns=datasets)
    numbers = dict(zip(shares.index, shares.to_numpy(dtype=np.float64).tolist(), strict=True))
    lines = [(name, *map(_share, numbers[name])) for name in methods_of(whole) if name in numbers]
    caption = f"The share of the factuals, in percent. {NOTHING}: it does not explain this model, or was not asked. {LIKELIEST}"
    return Table("usable", "Who has a valid and actionable answer", ("method", *datasets), tuple(lines), caption)


def without_failing(measures: pd.DataFrame) -> pd.DataFrame:
    """Without methods that failed on every factual of a data set, as those for trees do where the model is a network.

    Args:
        measures: Of one choice among answers.
    """
    return measures[~(measures["status"] == "failed").groupby([measures["dataset"], measures["method"]]).transform("all")]


def _share(number: float) -> str:
    return NOTHING if math.isnan(number) else f"{100 * number:.0f}"


# -- ranks -------------------------------------------------------------------------------------------------------------


def common_answers(valid: pd.DataFrame) -> pd.DataFrame:
    """The answers to the factuals for which all methods have a valid one, but for methods that would leave too few.

    Args:
        valid: Valid answers to the questions of one data set.
    """
    if not len(valid):
        return valid
    shared = statistics.common(scores_of(valid, "distance"))
    if shared.shape[1] < 2:
        return valid.iloc[:0]
    kept = valid["method"].isin(shared.columns) & pd.MultiIndex.from_frame(valid[["fold", "place"]]).isin(shared.index)
    return valid[kept]


def scores_of(part: pd.DataFrame, measure: str, *, more_is_better: bool = False) -> pd.DataFrame:
    """A row per factual and a column per method, NaN where there is no valid answer; less is better.

    Args:
        part: The answers to the questions of one data set.
        measure: Which score.
        more_is_better: Whether to turn it around.
    """
    valid = part[part["valid"].astype(bool)]
    table = valid.pivot_table(index=["fold", "place"], columns="method", values=measure, aggfunc="first")
    every = pd.MultiIndex.from_frame(part[["fold", "place"]].drop_duplicates())
    table = table.reindex(index=every, columns=methods_of(part)).astype(np.float64)
    return -table if more_is_better else table


def ranking_of(part: pd.DataFrame, *, only_common: bool = False) -> statistics.Comparison | None:
    """Methods compared by how probable their answers are: truly where that is known, else by the circuit.

    Args:
        part: The answers to the questions of one data set.
        only_common: Whether only factuals count for which all methods have a valid answer.
    """
    truth = "probability" in part and bool(part["probability"].notna().any())
    measure = "probability" if truth else "nll"
    if measure not in part:
        return None
    scores = scores_of(without_failing(part), measure, more_is_better=truth)
    if only_common:
        scores = statistics.common(scores)
    if len(scores) < 1 or scores.shape[1] < 2:
        return None
    return statistics.compare(scores)


def rank_table(measures: pd.DataFrame, *, only_common: bool = False) -> Table:
    """The mean ranks of methods on every data set.

    Args:
        measures: Of one choice among answers.
        only_common: Whether only factuals count for which all methods have a valid answer.
    """
    methods, columns = methods_of(measures), {}
    for dataset in map(str, dict.fromkeys(measures["dataset"])):
        found = ranking_of(measures[measures["dataset"] == dataset], only_common=only_common)
        if found is not None:
            columns[dataset] = _rank_cells(found, methods)
    which = "common factuals" if only_common else "all factuals"
    return _ranks(f"ranks-{'common' if only_common else 'all'}", f"Mean ranks on {which}", methods, columns)


def paper_rank_table(measures: pd.DataFrame) -> Table:
    """The mean ranks among the methods that the paper ranks, with its own beside.

    Args:
        measures: Of one choice among answers.
    """
    columns: dict[str, list[str]] = {}
    ranked = {name for dataset in TARGETS for name in methods_of(measures) if figure("ranks", dataset, name, "rank")}
    methods = [name for name in methods_of(measures) if name in ranked]
    part = measures[measures["method"].isin(methods) & measures["dataset"].isin(list(TARGETS))]
    for dataset in map(str, dict.fromkeys(part["dataset"])):
        found = ranking_of(part[part["dataset"] == dataset])
        if found is not None:
            columns[dataset] = _rank_cells(found, methods)
            beside = [figure("ranks", dataset, method, "rank") for method in methods]
            told = [NOTHING if one is None else digits(one.mean) for one in beside]
            columns[f"{dataset}, paper"] = [*told, NOTHING, NOTHING, NOTHING]
    return _ranks("ranks-paper", "Mean ranks of true probability, among the paper's methods", methods, columns)


def _ranks(name: str, title: str, methods: Sequence[str], columns: dict[str, list[str]]) -> Table:
    lines = zip([*methods, "factuals", "p of Friedman", "critical difference"], *columns.values(), strict=True)
    caption = (
        "By true probability, where it is known, else by the circuit's; no valid answer is last. Methods that failed on every "
        "factual are left out."
    )
    return Table(name, title, ("method", *columns), tuple(lines) if columns else (), caption)


def _rank_cells(found: statistics.Comparison, methods: Sequence[str]) -> list[str]:
    ranks = dict(zip(found.methods, found.ranks, strict=True))
    cells = [digits(ranks[method]) if method in ranks else NOTHING for method in methods]
    p_value = "< 0.001" if found.p_value < 0.001 else f"{found.p_value:.3f}"
    return [*cells, f"{found.factuals:,}", p_value, digits(found.critical_difference)]
