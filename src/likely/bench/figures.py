"""The pictures of a run: the motivating one, critical differences, what is valid within which distance, and the trade-off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from likely.bench.fit import Fit
from likely.bench.statistics import Comparison
from likely.bench.summaries import is_ours, methods_of
from likely.bench.tasks import Task
from likely.show import canvas, plot_density

if TYPE_CHECKING:
    from likely.show.canvas import Axes, Figure

#: The axes of the paper's Figure 1.
AMOUNT, DURATION = "amount", "duration"
_STYLES, _MARKERS = ("-", "--", ":", "-."), "os^D"
#: The rivals of the paper's Figure 1; more would hide each other.
_SHOWN = ("lice-median", "lice-optimize", "mio", "dice-gradient", "vae", "c-chvae", "face-knn", "face-epsilon", "proplace")


def motivating(task: Task, measures: pd.DataFrame, place: int | None = None) -> Figure:
    """One factual of Credit and every method's answer over the marginal log-likelihood of amount and duration.

    Args:
        task: A fold of Credit.
        measures: Of one choice among answers.
        place: Of the factual; left out, the first of those that most methods explain, and whose answers differ most.
    """
    mine = measures[(measures["dataset"] == task.word) & (measures["fold"] == task.fold) & measures["valid"].astype(bool)]
    if mine["method"].isin(_SHOWN).any():
        mine = mine[mine["method"].isin(_SHOWN)]
    if place is None:
        place = _telling(task, mine)
    points = {"factual": task.factuals.iloc[place]}
    for answer in mine[mine["place"] == place].itertuples(index=False):
        points[str(answer.method)] = task.data.schema.decode(np.array([answer.row], dtype=np.float64)).iloc[0]
    return plot_density(task.data.circuit, AMOUNT, DURATION, points=points)


def _telling(task: Task, answers: pd.DataFrame) -> int:
    """The place of the first factual that most methods explain, and of these with most answers that lie apart."""
    columns = [task.data.schema.index(name) for name in (AMOUNT, DURATION)]
    best, found = (0, 0), 0
    for place, part in answers.groupby("place"):
        apart = {tuple(row[column] for column in columns) for row in part["row"]}
        if (len(part), len(apart)) > best:
            best, found = (len(part), len(apart)), int(str(place))
    return found


def critical_differences(found: Comparison, title: str = "") -> Figure:
    """Mean ranks on a line; methods that the test of Nemenyi cannot tell apart are joined (after Demšar 2006, Figure 1a).

    Args:
        found: What the tests say.
        title: What was compared.
    """
    order = np.argsort(found.ranks, kind="stable")
    ranks, names = np.array(found.ranks)[order], [found.methods[place] for place in order]
    groups = found.groups()
    left, low, high = (len(names) + 1) // 2, 1.0, float(len(names))
    deepest = left + len(groups) * 0.35 + 1
    figure, ax = canvas.figure_of(None, (8.0, 1.2 + 0.28 * deepest))
    ax.set_xlim(low - 0.45 * (high - low), high + 0.45 * (high - low))
    ax.set_ylim(-deepest - 0.4, 1.9)
    ax.axis("off")
    ax.plot([low, high], [0, 0], color=canvas.INK, linewidth=1)
    for rank in range(1, len(names) + 1):
        ax.plot([rank, rank], [0, 0.15], color=canvas.INK, linewidth=1)
        ax.text(rank, 0.25, str(rank), ha="center", va="bottom", fontsize="small")
    _bar(ax, low, low + found.critical_difference, 1.15, canvas.INK)
    ax.text(low, 1.3, f"critical difference {found.critical_difference:.2f}", ha="left", va="bottom", fontsize="small")
    for place, (rank, name) in enumerate(zip(ranks, names, strict=True)):
        on_left = place < left
        depth = (place if on_left else len(names) - 1 - place) + len(groups) * 0.35 + 0.8
        end = low - 0.04 * (high - low) if on_left else high + 0.04 * (high - low)
        ax.plot([rank, rank, end], [0, -depth, -depth], color=canvas.GREY, linewidth=0.8)
        side = "right" if on_left else "left"
        ax.text(end, -depth, f" {name} ({rank:.2f}) ", ha=side, va="center", fontsize="small", weight=_weight(name))
    for depth, group in enumerate(groups, 1):
        places = [ranks[names.index(name)] for name in group]
        _bar(ax, min(places) - 0.03, max(places) + 0.03, -0.35 * depth, canvas.NODE_COLOURS["sum"])
    ax.set_title(title, loc="left", fontsize="medium")
    return figure


def _bar(ax: Axes, start: float, end: float, height: float, colour: str) -> None:
    ax.plot([start, end], [height, height], color=colour, linewidth=3, solid_capstyle="butt")


def _weight(name: str) -> str:
    return "bold" if is_ours(name) else "normal"


def validity_after_distance(part: pd.DataFrame, title: str = "") -> Figure:
    """The share of factuals that have a valid and actionable answer within a distance, a line per method.

    Args:
        part: The answers to the questions of one data set.
        title: What was compared.
    """
    figure, ax = canvas.figure_of(None, _size(part))
    usable = part[part["valid"].astype(bool) & part["actionable"].astype(bool)]
    farthest = float(usable["distance"].quantile(0.98)) if len(usable) else 1.0
    for name, look in _looks(methods_of(part)).items():
        distances = np.sort(usable.loc[usable["method"] == name, "distance"].to_numpy(dtype=np.float64))
        asked = max(1, int((part["method"] == name).sum()))
        x = np.concatenate([[0.0], distances, [max(farthest, distances[-1] if len(distances) else 0.0)]])
        y = np.concatenate([[0.0], np.arange(1, len(distances) + 1), [len(distances)]]) / asked
        ax.step(x, 100 * y, where="post", label=name, **look)
    ax.set_xlim(0, farthest)
    _named(ax, "distance (sum of changes, each in deviations of its feature)", "factuals with an answer within it (%)", title)
    ax.set_ylim(0, 101)
    return figure


def trade_off(part: pd.DataFrame, title: str = "") -> Figure:
    """Distance and negative log-likelihood of every method: medians of valid answers, and where the middle half of them lies.

    Args:
        part: The answers to the questions of one data set.
        title: What was compared.
    """
    figure, ax = canvas.figure_of(None, _size(part))
    valid = part[part["valid"].astype(bool)]
    for place, (name, look) in enumerate(_looks(methods_of(part)).items()):
        own = valid[valid["method"] == name]
        if not len(own):
            continue
        (x, y), (x_low, y_low), (x_high, y_high) = (
            own[["distance", "nll"]].quantile(share).to_numpy(dtype=np.float64) for share in (0.5, 0.25, 0.75)
        )
        spread = [[x - x_low], [x_high - x]], [[y - y_low], [y_high - y]]
        edge, size = (canvas.INK, 9.0) if is_ours(name) else (look["color"], 6.0)
        ax.errorbar(
            [x], [y], xerr=spread[0], yerr=spread[1], fmt=_MARKERS[place // 10 % len(_MARKERS)], color=look["color"],
            markeredgecolor=edge, markersize=size, elinewidth=0.6, label=name,
        )  # fmt: skip
    _named(ax, "distance", "negative log-likelihood (nats)", title)
    return figure


def fits_of(fits: Sequence[Fit]) -> Figure:
    """The log-likelihood of a circuit beside the true log-probability of new rows, a panel per Bayesian network.

    Args:
        fits: One per network.
    """
    figure, axes = canvas.panels(len(fits), (3.0, 2.8))
    for ax, fit in zip(axes, fits, strict=True):
        ends = [min(fit.true.min(), fit.logs.min()), max(fit.true.max(), fit.logs.max())]
        ax.plot(ends, ends, color=canvas.GREY, linewidth=0.8)
        ax.scatter(fit.true, fit.logs, s=4, alpha=0.35, linewidths=0, color="C0")
        ax.set_title(fit.network, loc="left", fontsize="medium")
        ax.set_xlabel("true log-probability")
        ax.set_ylabel("log-likelihood")
    return figure


def _named(ax: Axes, x: str, y: str, title: str) -> None:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title, loc="left", fontsize="medium")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _size(part: pd.DataFrame) -> tuple[float, float]:
    """In inches: high enough for the names of all methods, one below another."""
    return 9.0, max(4.6, 0.8 + 0.2 * len(methods_of(part)))


def _looks(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A colour and a style per method; our own are thick."""
    return {
        name: {
            "color": f"C{place % 10}",
            "linestyle": _STYLES[place // 10 % len(_STYLES)],
            "linewidth": 2.4 if is_ours(name) else 1.2,
        }
        for place, name in enumerate(names)
    }
