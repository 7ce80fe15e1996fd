"""Everything that touches matplotlib: figures, heat maps, dots, labels, nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely._display.numbers import cost_text
from likely.errors import MissingExtraError
from likely.schema.values import Numbers
from likely.show.labels import label_corners
from likely.show.ticks import MINUS

if TYPE_CHECKING:
    from matplotlib import axes, figure

    from likely.show.axis import Axis
    from likely.show.density import Density

    Axes: TypeAlias = axes.Axes
    Figure: TypeAlias = figure.Figure

#: Even to the eye from dark to light, in grey and for the colour-blind too.
COLOURS = "viridis"
#: From white, for what is more than an absence.
PALE_COLOURS = "Blues"
INK, PAPER, GREY, PALE, PALEST = "#1b1b1f", "#ffffff", "#9aa0a8", "#d5d9de", "#f3f4f6"
#: Of sums and of products: told apart by everybody, and from grey.
NODE_COLOURS = {"sum": "#e07b39", "product": "#2b6ca3"}
LEAF_COLOUR = "#4f8f6b"
NODE_SIGNS = {"sum": "+", "product": "\N{MULTIPLICATION SIGN}"}
_LABEL: dict[str, Any] = {"fontsize": "small", "va": "bottom"}
_MARKERS = "XosD^vP*"


def figure_of(ax: Axes | None, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """The figure of some axes; a new one of this size (in inches), that keeps its parts apart, if there are none."""
    if ax is not None:
        whole: Any = ax.figure
        return whole, ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "draw pictures") from None
    made: tuple[Figure, Axes] = pyplot.subplots(figsize=size, layout="constrained")
    return made


def panels(count: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A new figure of so many axes, three in a row, each of this size (in inches)."""
    figure, first = figure_of(None, (size[0] * min(count, 3), size[1] * -(-count // 3)))
    first.remove()
    across = min(count, 3)
    return figure, [figure.add_subplot(-(-count // across), across, place + 1) for place in range(count)]


def saved(figure: Figure, place: Path) -> None:
    """Write a figure as SVG and PNG, and let it go; the same picture is the same file.

    Args:
        figure: The figure.
        place: The files, without their endings.
    """
    import matplotlib
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "likely", "svg.fonttype": "none"}):  # texts are texts: small, and found
        figure.savefig(place.with_name(f"{place.name}.svg"), metadata={"Date": None})
    figure.savefig(place.with_name(f"{place.name}.png"), dpi=130)
    pyplot.close(figure)


# -- heat maps --------------------------------------------------------------------------------------------------------


def heat_map(ax: Axes, density: Density, lowest: float) -> None:
    """Cells coloured by log-likelihood, with named axes and a colour bar."""
    logs = density.log_likelihood
    highest = float(np.nanmax(logs))
    if not lowest < highest:  # one colour is no scale
        lowest = highest - 1
    mesh = ax.pcolormesh(
        density.x.edges, density.y.edges, np.ma.masked_invalid(logs), cmap=COLOURS, vmin=lowest, vmax=highest,
        shading="flat", rasterized=True,
    )  # fmt: skip
    clipped = bool(np.nanmin(logs) < lowest)
    _colour_bar(ax, mesh, "log-likelihood (nats)", extend="min" if clipped else "neither", pad=0.02, aspect=28)
    name_axis(ax, density.x, "x")
    name_axis(ax, density.y, "y")
    if density.given:
        told = ", ".join(f"{name} = {value}" for name, value in density.given)
        ax.set_title(literal(f"given {told}"), loc="left", fontsize="medium", color=INK)


def _colour_bar(ax: Axes, coloured: Any, label: str, **settings: Any) -> None:
    bar: Any = ax.figure.colorbar(coloured, ax=ax, **settings)
    bar.set_label(label)
    bar.outline.set_visible(False)


def literal(text: str) -> str:
    """A text that is not taken for a formula."""
    return text.replace("$", r"\$")


def name_axis(ax: Axes, axis: Axis, side: str) -> None:
    """The name, ticks and limits of one axis."""
    places, texts = [place for place, _ in axis.ticks], [literal(text) for _, text in axis.ticks]
    getattr(ax, f"set_{side}label")(literal(axis.label))
    getattr(ax, f"set_{side}lim")(axis.edges[0], axis.edges[-1])
    getattr(ax, f"set_{side}ticks")(places, texts)
    if side == "x" and _crowded(axis, ax.bbox.width / ax.figure.dpi * 72):
        turned = len(axis.feature.atoms)  # the codes of a mixed feature come before its numbers
        for text in ax.get_xticklabels()[:turned]:
            text.set(rotation=40, horizontalalignment="right", rotation_mode="anchor")


def _crowded(axis: Axis, width: float) -> bool:
    """Whether texts below an axis of this width (in points) would run into each other."""
    room = np.diff([place for place, _ in axis.ticks]) / (axis.edges[-1] - axis.edges[0]) * width
    letters = np.array([len(text) for _, text in axis.ticks])
    return bool((room < 3.2 * (letters[:-1] + letters[1:]) + 6).any())


def dots(ax: Axes, x: Numbers, y: Numbers) -> None:
    """Rows as dots, fainter the more there are."""
    alpha = float(np.clip(12 / np.sqrt(len(x) + 1), 0.3, 0.9))
    ax.scatter(x, y, s=7, c=PAPER, alpha=alpha, linewidths=0.35, edgecolors=INK, zorder=3)


def cell_texts(ax: Axes, density: Density) -> None:
    """The log-likelihood of each cell, written into it."""
    low, high = ax.collections[0].get_clim()
    for j, b in enumerate(density.y.values):
        for i, a in enumerate(density.x.values):
            value = density.log_likelihood[j, i]
            dark = value < low + 0.6 * (high - low)
            ax.text(
                a, b, f"{value:.1f}".replace("-", MINUS), ha="center", va="center", fontsize="small", color=PAPER if dark else INK
            )


def labelled_points(ax: Axes, places: Numbers, labels: Sequence[str]) -> None:
    """A marker for each place, and its label where it covers no other; a label that has to be far off gets a line."""
    labels = [literal(label) for label in labels]
    for i, (x, y) in enumerate(places):
        marker, above = _MARKERS[i % len(_MARKERS)], 5 - i / 1000  # the first is on top
        ax.scatter(x, y, s=75, marker=marker, c=PAPER, edgecolors=INK, linewidths=1.1, zorder=above, clip_on=False)
    box = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.85}
    for place, label, offset, far in zip(places, labels, *_label_offsets(ax, places, labels), strict=True):
        line = {"arrowstyle": "-", "color": INK, "lw": 0.8, "shrinkA": 0, "shrinkB": 5} if far else None
        ax.annotate(
            label, place, offset, textcoords="offset points", arrowprops=line, **_LABEL, color=INK, bbox=box, zorder=6
        )  # fmt: skip


def _label_offsets(ax: Axes, places: Numbers, labels: Sequence[str]) -> tuple[Numbers, list[bool]]:
    """How far (in points) the corner of each label lies from its place, and whether that is far."""
    trial = [ax.annotate(label, place, **_LABEL) for place, label in zip(places, labels, strict=True)]
    whole: Any = ax.figure.canvas.figure  # of a subfigure's axes too
    whole.draw_without_rendering()  # sizes and scales are known only then
    point = whole.dpi / 72
    sizes = np.array([text.get_window_extent().size for text in trial]) / point
    for text in trial:
        text.remove()
    at = ax.transData.transform(places) / point
    offsets = label_corners(at, sizes + 3, np.array(ax.bbox.extents) / point, 6.0) + 1.5 - at
    apart = np.abs(offsets + sizes / 2) - sizes / 2
    return offsets, (apart > 14).any(axis=1).tolist()


# -- graphs -----------------------------------------------------------------------------------------------------------


def edges(ax: Axes, starts: Numbers, ends: Numbers, widths: Numbers | float, colour: str = GREY) -> None:
    """Straight lines."""
    from matplotlib.collections import LineCollection

    ax.add_collection(LineCollection(list(np.stack([starts, ends], axis=1)), linewidths=widths, colors=colour, zorder=1))


def nodes(ax: Axes, kind: str, places: Numbers, size: float, *, signs: bool) -> None:
    """Sums or products as discs, with their sign if there is room."""
    ax.scatter(
        places[:, 0],
        places[:, 1],
        s=size,
        c=NODE_COLOURS[kind],
        edgecolors=PAPER,
        linewidths=size**0.5 / 12,
        zorder=3,
        label=kind,
    )
    for x, y in places if signs else ():
        ax.text(x, y, NODE_SIGNS[kind], ha="center", va="center_baseline", color=PAPER, fontsize="large", zorder=4)


def notes(ax: Axes, places: Numbers, texts: Sequence[str]) -> None:
    """Small texts that cover the edges they stand on."""
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}
    for (x, y), text in zip(places, texts, strict=True):
        ax.text(x, y, text, ha="center", va="center", fontsize="x-small", color=INK, bbox=box, zorder=2)


def steps(ax: Axes, breaks: Numbers, heights: Numbers, base: float) -> None:
    """A filled outline of bars on a base line."""
    ax.fill_between(np.repeat(breaks, 2)[1:-1], base, base + np.repeat(heights, 2), color=LEAF_COLOUR, linewidth=0, zorder=3)
    ax.plot(breaks[[0, -1]], [base, base], color=INK, linewidth=0.7, zorder=3, solid_capstyle="butt")


def hanging_texts(ax: Axes, places: Numbers, texts: Sequence[str], size: str = "x-small") -> None:
    """Texts that run down from their places."""
    for (x, y), text in zip(places, texts, strict=True):
        ax.text(x, y, literal(text), rotation=90, ha="center", va="top", fontsize=size, color=INK)


def boxes(ax: Axes, centres: Numbers, size: tuple[float, float]) -> None:
    """Pale rectangles behind leaves."""
    from matplotlib.collections import PolyCollection

    ax.add_collection(PolyCollection(_rectangles(centres, size), facecolors=PALEST, edgecolors=PALE, linewidths=0.6, zorder=2))


def tiles(ax: Axes, centres: Numbers, values: Numbers, size: tuple[float, float], label: str) -> None:
    """Rectangles coloured by values from 0 to 1, and a colour bar."""
    from matplotlib import colormaps
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import ListedColormap

    seen = ListedColormap(colormaps[PALE_COLOURS](np.linspace(0.12, 1, 256)))  # 0 is not white, which is no leaf
    cells = PolyCollection(_rectangles(centres, size), array=values, cmap=seen, clim=(0, 1), zorder=2)
    ax.add_collection(cells)
    _colour_bar(ax, cells, label, pad=0.01, aspect=24, shrink=0.6, anchor=(0, 0))


def _rectangles(centres: Numbers, size: tuple[float, float]) -> list[Numbers]:
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]) * size
    return list(centres[:, None, :] + corners)


def guides(ax: Axes, rows: Numbers) -> None:
    """Faint lines from the names of rows to their tiles."""
    for row in rows:
        ax.axhline(row, color=PALEST, linewidth=0.8, zorder=0)


def disc_size(ax: Axes, width: int) -> float:
    """The area (in square points) of discs that do not touch when `width` of them stand side by side."""
    return float(np.clip(0.8 * ax.bbox.width / ax.figure.dpi * 72 / (width + 1), 3, 9)) ** 2


def bare(ax: Axes, title: str, ticks: Sequence[tuple[float, str]] = ()) -> None:
    """No frame and no ticks but these on the left; a title above, the kinds of nodes in the corner."""
    ax.set_title(title, loc="left", fontsize="medium", color=INK)
    ax.set_xticks([])
    ax.set_yticks([place for place, _ in ticks], [literal(text) for _, text in ticks], fontsize="small")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    handles, kinds = ax.get_legend_handles_labels()
    if handles:
        legend = ax.legend(handles, kinds, loc="upper left", frameon=False, fontsize="small", borderaxespad=0, handletextpad=0.2)
        marks: Any = legend.legend_handles
        for mark in marks:
            mark.set_sizes([45])


# -- explanations -----------------------------------------------------------------------------------------------------

#: Of answers, in their order; told apart by the colour-blind too.
ANSWER_COLOURS = ("#0f7b6c", "#2b6ca3", "#b4531f", "#7a5195", "#6b6a66")


def _answer_colour(number: int) -> str:
    return ANSWER_COLOURS[number % len(ANSWER_COLOURS)]


def track(ax: Axes, lane: int, before: float | None, after: float | None, text: str, answer: int) -> None:
    """One change in one lane: a pale track, an arrow from before to after, and both values beside it."""
    colour = _answer_colour(answer)
    if after is not None:
        ax.plot([0, 1], [lane, lane], color=PALE, linewidth=3, solid_capstyle="round", zorder=1)
    if after is not None and before is not None:
        ax.plot([before, after], [lane, lane], color=colour, linewidth=3, alpha=0.45, solid_capstyle="butt", zorder=2)
        ax.scatter(before, lane, s=42, facecolors=PAPER, edgecolors=INK, linewidths=1.2, zorder=3, clip_on=False)
    if after is not None:
        ax.scatter(after, lane, s=52, c=colour, edgecolors=PAPER, linewidths=0.8, zorder=4, clip_on=False)
    ax.text(-0.02 if after is None else 1.05, lane, literal(text), ha="left", va="center", fontsize="small", color=colour)


def track_name(ax: Axes, name: str, lane: int) -> None:
    """The name of a feature left of its first lane, and a line above it."""
    ax.text(-0.05, lane, literal(name), ha="right", va="center", color=INK)
    if lane:
        ax.axhline(lane - 0.5, color=PALEST, linewidth=0.8, zorder=0)


def bare_tracks(ax: Axes, lanes: int, answers: int) -> None:
    """No frame and no ticks, the first lane on top; a dot and a number for each answer, if there are several."""
    ax.set_xlim(0, 1)
    ax.set_ylim(lanes - 0.4, -0.6)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.scatter([], [], s=42, facecolors=PAPER, edgecolors=INK, linewidths=1.2, label="now")
    for i in range(answers):
        ax.scatter([], [], s=52, c=_answer_colour(i), label=f"answer {i + 1}" if answers > 1 else "answer")
    ax.legend(
        loc="lower left", bbox_to_anchor=(-0.03, 1.0), ncols=answers + 1, frameon=False, fontsize="small", handletextpad=0.2,
        columnspacing=1.2,
    )  # fmt: skip


def front(ax: Axes, x: Numbers, cost: Numbers, proved: Any) -> None:
    """Points with a thin line; hollow where nothing is proved."""
    colour = ANSWER_COLOURS[0]
    ax.plot(x, cost, color=colour, linewidth=1.2, alpha=0.5, zorder=2)
    ax.scatter(
        x, cost, s=52, c=[colour if certified else PAPER for certified in proved], edgecolors=colour, linewidths=1.4, zorder=3
    )
    near = np.append(np.diff(x) < 0.07 * np.ptp(x), False)  # the number of the next point would cover this one's
    for place, height, left in zip(x, cost, near, strict=True):
        offset, side = ((-8, -3), "right") if left else ((0, 8), "center")
        ax.annotate(
            cost_text(height),
            (place, height),
            offset,
            textcoords="offset points",
            ha=side,
            fontsize="small",
            color=INK,
        )
    ax.set_ylim(0, float(np.max(cost)) * 1.15 or 1)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.grid(axis="y", color=PALEST)
    ax.set_axisbelow(True)
