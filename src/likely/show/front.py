"""What plausibility costs, or what few changes cost: the points of a front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.errors import ExplainerError
from likely.explain import Front
from likely.explain.query import rows_named
from likely.show.ticks import number_ticks

if TYPE_CHECKING:
    from likely.show.canvas import Axes, Figure


def front_axis(front: Front) -> tuple[str, str]:
    """The column of `Front.to_frame` from left to right, and what it is called."""
    if front.by == "changes":
        return "changes", "features changed"
    if any(point.best.percentile is None for point in front.points):
        return "log_likelihood", "log-likelihood (nats)"
    labels = {point.best.label for point in front.points}
    query = front.points[0].query
    rows = query.peers_named(labels.pop()) if query.of_class and len(labels) == 1 else rows_named(query.rows)
    return "percentile", f"likelier than … % of {rows}"


def plot_front(front: Front, *, ax: Axes | None = None) -> Figure:
    """Cost against likelihood (or number of changes): a point per demand, filled where it is proved that none is cheaper.

    Args:
        front: One with a point.
        ax: Where to draw; by default, in a new figure.
    """
    from likely.show import canvas

    if not front.points:
        raise ExplainerError("A picture of a front", "have a point", "none", "ask why_not(row)")
    column, label = front_axis(front)
    table = front.table()
    figure, ax = canvas.figure_of(ax, (6.4, 4.2))
    canvas.front(ax, table[column].to_numpy(), table["cost"].to_numpy(), (table["status"] == "optimal").to_numpy())
    if column == "changes":
        counts = sorted(set(table[column]))
        ax.set_xlim(counts[0] - 0.5, counts[-1] + 0.5)
        ax.set_xticks(*zip(*number_ticks(counts[0] - 0.5, counts[-1] + 0.5, 1.0), strict=True))
    ax.set_xlabel(canvas.literal(label))
    ax.set_ylabel("cost")
    return figure
