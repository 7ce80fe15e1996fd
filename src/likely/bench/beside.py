"""Our numbers beside the paper's on the same protocol: better, within the spread that the paper says, or beyond it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from likely.bench.paper import Figure, figure
from likely.bench.summaries import NOTHING, digits, is_exact, is_ours, methods_of, prepared, spread_of_paper
from likely.bench.summaries import mean as mean_and_deviation
from likely.bench.tables import Table
from likely.bench.tasks import TARGETS

#: Better than the paper's mean, or as good; within a standard deviation of it; beyond.
Verdict = Literal["better", "within", "beyond"]
#: Answers fewer than this say nothing of a mean.
FEWEST = 5


@dataclass(frozen=True)
class Measure:
    """A measure of the paper's tables of quality."""

    name: str
    title: str
    more_is_better: bool = False


DISTANCE, CHANGED = Measure("distance", "distance"), Measure("changed", "changed features")
#: Of tables of data, and of tables of Bayesian networks.
ON_DATA = (Measure("nll", "NLL"), DISTANCE, CHANGED)
ON_NETWORKS = (
    Measure("log_likelihood", "log-likelihood", True), Measure("probability", "true probability", True), DISTANCE, CHANGED
)  # fmt: skip
_LIKELIHOODS = (ON_DATA[0], *ON_NETWORKS[:2])


@dataclass(frozen=True)
class Beside:
    """What a method's valid answers measure, and what the paper says of them."""

    dataset: str
    method: str
    measure: Measure
    mean: float
    median: float
    paper: Figure

    @property
    def verdict(self) -> Verdict:
        """Where the worse one of mean and median lies."""
        sign = -1.0 if self.measure.more_is_better else 1.0
        behind = max(sign * self.mean, sign * self.median) - sign * self.paper.mean
        if behind <= 0:
            return "better"
        return "within" if behind <= (self.paper.deviation or 0.0) else "beyond"

    def told(self) -> str:
        """Both, and the verdict, for a cell of a table."""
        verdict = f"**{self.verdict}**" if self.verdict == "beyond" else self.verdict
        return f"{digits(self.mean)}, {digits(self.median)}; paper {spread_of_paper(self.paper)}: {verdict}"


def beside_paper(measures: pd.DataFrame) -> list[Beside]:
    """Every number that the paper has, too.

    Args:
        measures: Of the likeliest valid answers, which the paper counts.
    """
    whole = prepared(measures)
    valid = whole[whole["valid"].astype(bool)]
    return [
        Beside(str(dataset), str(method), measure, float(np.mean(values)), float(np.median(values)), known)
        for (dataset, method), part in valid.groupby(["dataset", "method"], sort=False)
        for measure in _measures_of(str(dataset))
        if (known := _paper(str(dataset), str(method), measure)) is not None
        and len(values := part[measure.name].dropna().to_numpy(dtype=np.float64)) >= FEWEST
    ]


def _measures_of(dataset: str) -> tuple[Measure, ...]:
    return ON_NETWORKS if dataset in TARGETS else ON_DATA


def _paper(dataset: str, method: str, measure: Measure) -> Figure | None:
    """The paper's number: of the ten closest answers, its MIO took the likeliest, as the tables here do."""
    tables = ("networks",) if dataset in TARGETS else ("quality", "variants")
    found = (figure(table, dataset, method, measure.name) for table in tables)
    return next((one for one in found if one is not None), None)


def beside_table(found: Sequence[Beside], name: str, title: str, measures: Sequence[Measure]) -> Table:
    """A line per data set and method, a cell per measure.

    Args:
        found: What `beside_paper` finds, of data or of networks.
        name: Of the table.
        title: Of the table.
        measures: Its columns.
    """
    cells = {(each.dataset, each.method, each.measure.name): each.told() for each in found}
    lines = dict.fromkeys((each.dataset, each.method) for each in found)
    rows = tuple((*line, *(cells.get((*line, each.name), NOTHING) for each in measures)) for line in lines)
    caption = (
        "Of valid answers: our mean, our median; the paper's mean ± standard deviation. The worse one of ours counts: better, "
        "if it is no worse than the paper's mean; within, if it is behind by no more than the paper's standard deviation; "
        "beyond, otherwise."
    )
    return Table(name, title, ("data", "method", *(each.title for each in measures)), rows, caption)


def beside_tables(found: Sequence[Beside]) -> list[Table]:
    """The tables of LiCE and MIO: of data, and of Bayesian networks; none that would be empty.

    Args:
        found: What `beside_paper` finds.
    """
    ours = [each for each in found if is_ours(each.method)]
    data = [each for each in ours if each.dataset not in TARGETS]
    networks = [each for each in ours if each.dataset in TARGETS]
    made = (
        beside_table(data, "beside-data", "LiCE and MIO beside the paper", ON_DATA),
        beside_table(networks, "beside-networks", "LiCE and MIO beside the paper, on Bayesian networks", ON_NETWORKS),
    )
    return [table for table in made if table.rows]


def counted(found: Iterable[Beside], *, named: bool = True) -> str:
    """How many are better, within and beyond, in words.

    Args:
        found: What `beside_paper` finds, or a part.
        named: Whether to say which are beyond.
    """
    every = list(found)
    number = {verdict: sum(each.verdict == verdict for each in every) for verdict in ("better", "within", "beyond")}
    beyond = [f"{each.method} on {each.dataset}, {each.measure.title}" for each in every if each.verdict == "beyond"]
    which = f" ({'; '.join(beyond)})" if beyond and named else ""
    return (
        f"of {len(every)} numbers, {number['better']} are no worse than the paper's mean, {number['within']} within its standard "
        f"deviation, {number['beyond']} beyond{which}"
    )


# -- why numbers differ ------------------------------------------------------------------------------------------------


def demand_table(measures: pd.DataFrame) -> Table:
    """What a demand on likelihood costs: distances with it over those without, ours and the paper's.

    Args:
        measures: Of the likeliest valid answers.
    """
    valid = measures[measures["valid"].astype(bool)]
    rows = []
    for dataset in dict.fromkeys(map(str, measures["dataset"])):
        means = valid[valid["dataset"] == dataset].groupby("method")["distance"].mean()
        for method in ("lice-quartile", "lice-median"):
            without, demanded = (_paper(dataset, name, DISTANCE) for name in ("mio", method))
            if without is not None and demanded is not None and {"mio", method} <= set(means.index):
                ours = float(means[method] / means["mio"])
                rows.append((dataset, method, f"{digits(ours)} times", f"{digits(demanded.mean / without.mean)} times"))
    caption = (
        "The mean distance of answers that are as likely as demanded, over that of answers however likely. The question is the "
        "same; the circuit and its threshold differ, so how often the closest row is likely enough differs, too."
    )
    return Table("demand", "What a demand on likelihood costs", ("data", "method", "here", "paper"), tuple(rows), caption)


def time_table(measures: pd.DataFrame) -> Table:
    """Valid answers and seconds beside the paper's.

    Args:
        measures: Of the likeliest valid answers.
    """
    rows = []
    for dataset in dict.fromkeys(map(str, measures["dataset"])):
        part = measures[measures["dataset"] == dataset]
        for method in filter(is_ours, methods_of(part)):
            own = part[part["method"] == method]
            valid, known = figure("validity", dataset, method, "valid"), figure("time", dataset, method, "seconds")
            valid = valid or figure("networks", dataset, method, "valid")
            known = known or figure("networks", dataset, method, "seconds")
            if valid is None and known is None:
                continue
            impossible = (own["status"] == "none") & own["proved"].astype(bool)
            told = [NOTHING if valid is None else f"{valid.mean:.1f} %", digits(float(own["seconds"].median()))]
            shares = [f"{100 * own['valid'].astype(bool).mean():.1f} %", f"{100 * impossible.mean():.1f} %"]
            rows.append((dataset, method, *shares, *told, NOTHING if known is None else digits(known.mean)))
    head = ("data", "method", "valid", "proved that there is none", "valid, paper", "median seconds", "seconds, paper")
    caption = (
        "The paper's seconds are medians (of networks: means) with 16 processors and a limit of 120 s; ours are with one thread."
    )
    return Table("beside-time", "Answers and time beside the paper", head, tuple(rows), caption)


def error_table(measures: pd.DataFrame) -> Table:
    """Errors of approximation of the paper's programme, here and in the paper, beside those of the exact engine.

    Args:
        measures: Of one choice among answers.
    """
    rows = []
    for dataset in dict.fromkeys(map(str, measures["dataset"])):
        part = measures[(measures["dataset"] == dataset) & measures["valid"].astype(bool)]
        errors = part["approximation_error"].astype(np.float64).abs()
        exact = errors[[is_exact(name) for name in part["method"]]].dropna()
        theirs = errors[[is_ours(name) and not is_exact(name) for name in part["method"]]].dropna()
        known = figure("approximation", dataset, "LiCE (optimize)", "error")
        if len(exact) and (len(theirs) or known is not None):
            told = NOTHING if known is None else spread_of_paper(known)
            rows.append((dataset, digits(float(exact.max())), mean_and_deviation(theirs), told))
    head = ("data", "exact engine, the largest", "the paper's programme, here", "the paper's programme, paper")
    caption = "Between the log-likelihood that a method claims and the circuit's. Mean and standard deviation of the programme's."
    return Table("beside-error", "Errors of approximation", head, tuple(rows), caption)


def differences(found: Sequence[Beside], measures: pd.DataFrame, held: Sequence[Beside] = ()) -> list[str]:
    """Why our numbers are not the paper's: what applies to this run.

    Args:
        found: What `beside_paper` finds.
        measures: Of the likeliest valid answers.
        held: What `beside_paper` finds of the answers that methods hold best.
    """
    ours = [each for each in found if is_ours(each.method)]
    methods, datasets = {each.method for each in ours}, list(dict.fromkeys(each.dataset for each in found))
    asked = measures[measures["dataset"].isin(datasets)].groupby("dataset")[["fold", "place"]].apply(_factuals)
    told = [
        f"**Factuals.** Ours are {_range(asked)} per data set, the paper's 500: chance alone moves a mean of 100 by a tenth of "
        "its standard deviation. Networks and circuits are trained anew, with other first weights.",
        "**Circuits.** A leaf of the paper's gives a value that none of its rows has a density of 2.2e-16, which costs 36 nats; "
        "the leaves here are smoothed. So the paper's NLL and its spread are larger where little likelihood is demanded.",
    ]
    if "lice-quartile" in methods:
        told.append(
            "**Quartile.** The paper says the 25th percentile of likelihoods, and so do we; the authors' code takes the 0.25th, "
            "which demands next to nothing. So our answers of this variant are likelier, and farther."
        )
    if "lice-median" in methods:
        told.append(
            "**Median.** Of ten close answers the likeliest counts, as in the paper. Where the closest is proved, a larger "
            "distance is one of the question - another circuit, another threshold - and not of the search. The table of what a "
            "demand costs has the factor: where the paper's is 1, its threshold changed nothing."
        )
    if "lice-optimize-1" in methods or "lice-optimize" in methods:
        told.append(
            "**Optimize.** Cost and likelihood are traded at the paper's rate, and each may be worse while their sum is the "
            "least."
        )
    return [*told, *(_explained(each, ours, held) for each in ours if each.verdict == "beyond"), *_of_rivals(found, measures)]


def _explained(beyond: Beside, ours: Sequence[Beside], held: Sequence[Beside]) -> str:
    """Why a number of ours is beyond the paper's spread, as far as the other numbers tell."""
    head = f"**{beyond.method} on {beyond.dataset}, {beyond.measure.title}** ({beyond.told()})."
    others = {each.measure: each for each in ours if (each.dataset, each.method) == (beyond.dataset, beyond.method)}
    likelihood = next((each for each in others.values() if each.measure in _LIKELIHOODS), None)
    distance = others.get(DISTANCE)
    if beyond.method == "lice-quartile" and beyond.measure in (DISTANCE, CHANGED):
        free = next(
            (each for each in ours if (each.dataset, each.method, each.measure) == (beyond.dataset, "mio", beyond.measure)), None
        )
        with_ours = "" if free is None else f": our MIO, of which nothing is demanded, has {digits(free.mean)}"
        return f"{head} The paper's quartile demands next to nothing{with_ours}."
    key = (beyond.dataset, beyond.method, beyond.measure)
    best = next((each for each in held if (each.dataset, each.method, each.measure) == key), None)
    if best is not None and best.verdict != "beyond":
        return f"{head} It is of the likeliest of ten answers; the one that is held best has {best.told()}."
    if beyond.measure in _LIKELIHOODS and distance is not None and distance.verdict == "better":
        return f"{head} Ours are as likely as demanded, and closer: {distance.told()}."
    if beyond.measure in (DISTANCE, CHANGED) and likelihood is not None and likelihood.verdict == "better":
        return f"{head} Ours are likelier: {likelihood.told()}; another threshold or rate was kept."
    return f"{head} What we computed does not say why."


def _of_rivals(found: Sequence[Beside], measures: pd.DataFrame) -> list[str]:
    """Why rivals' numbers are not the paper's."""
    beyond = dict.fromkeys((each.dataset, each.method) for each in found if each.verdict == "beyond" and not is_ours(each.method))
    told = []
    for dataset, method in beyond:
        part = measures[(measures["dataset"] == dataset) & (measures["method"] == method)]
        known = figure("validity", dataset, method, "valid") or figure("networks", dataset, method, "valid")
        paper = NOTHING if known is None else f"{known.mean:.1f} %"
        told.append(f"{method} on {dataset} ({100 * part['valid'].astype(bool).mean():.1f} %, paper {paper})")
    if not told:
        return []
    return [
        "**Rivals** were written anew from their papers, and are asked for both classes. The paper's leave many factuals "
        "without a valid answer, several of them exactly as many, as if they explained rows of one class only; so its means are "
        f"of other factuals. Some measure is beyond the paper's spread for these (valid answers): {', '.join(told)}."
    ]


def _factuals(part: pd.DataFrame) -> int:
    return len(part.drop_duplicates())


def _range(numbers: pd.Series) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
