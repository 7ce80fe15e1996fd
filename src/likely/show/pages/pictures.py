"""Small pictures inside a page, as SVG that takes the page's colours."""

from __future__ import annotations

import math
from collections.abc import Sequence

from likely._display.markup import Html, el
from likely._display.numbers import cost_text
from likely.explain import Front, Spread
from likely.show.changes import Move, Track
from likely.show.front import front_axis
from likely.show.ticks import number_ticks

#: Of a front: width, height, and room on the left, right, top and bottom.
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 460.0, 268.0, 44.0, 16.0, 30.0, 46.0
#: Points nearer than this would have their numbers over each other.
_NEAR = 34.0


def track_picture(track: Track, move: Move) -> Html | None:
    """A change on the track of its feature; None where values have no order."""
    if track.place is None or move.place is None:
        return None
    before, after = (f"{100 * place:.1f}%" for place in (track.place, move.place))
    left, right = sorted((track.place, move.place))
    parts = [
        el("rect", x="0", y="6", width="100%", height="4", rx="2", class_="track"),
        el("rect", x=f"{100 * left:.1f}%", y="6", width=f"{100 * (right - left):.1f}%", height="4", class_="move"),
        el("circle", cx=before, cy="8", r="5", class_="now"),
        el("circle", cx=after, cy="8", r="6", class_="then"),
    ]
    said = f"{track.feature}: from {track.before} to {move.after}, between {track.low} and {track.high}"
    return el("svg", *parts, class_="tracks", role="img", aria_label=said)


def share_picture(before: float | None, after: float) -> Html:
    """Two shares between 0 and 1 as dots on one bar, or one."""
    ends = [after] if before is None else [before, after]
    left = min(ends) if len(ends) > 1 else 0.0
    parts = [
        el("rect", x="0", y="6", width="100%", height="4", rx="2", class_="track"),
        el("rect", x=f"{100 * left:.1f}%", y="6", width=f"{100 * (max(ends) - left):.1f}%", height="4", class_="move"),
        None if before is None else el("circle", cx=f"{100 * before:.1f}%", cy="8", r="5", class_="now"),
        el("circle", cx=f"{100 * after:.1f}%", cy="8", r="6", class_="then"),
    ]
    said = f"{100 * after:.0f} %" if before is None else f"from {100 * before:.0f} % to {100 * after:.0f} %"
    return el("svg", *parts, class_="tracks", role="img", aria_label=said)


def bar_picture(share: float) -> Html:
    """A share between 0 and 1 as a bar."""
    parts = [
        el("rect", x="0", y="4", width="100%", height="8", rx="4", class_="track"),
        el("rect", x="0", y="4", width=f"{100 * share:.1f}%", height="8", rx="4", class_="bar"),
    ]
    return el("svg", *parts, class_="tracks", role="img", aria_label=f"{100 * share:.0f} %")


def outcome_picture(parts: Sequence[tuple[str, float]]) -> Html:
    """Shares that add up to 1 as parts of one bar.

    Args:
        parts: The class of the colour of each, and the share.
    """
    pieces, before = [], 0.0
    for colour, share in parts:
        if share > 0:
            pieces.append(
                el("rect", x=f"{100 * before:.2f}%", y="2", width=f"{100 * share:.2f}%", height="12", class_=f"part {colour}")
            )
        before += share
    said = ", ".join(f"{100 * share:.0f} %" for _, share in parts)
    return el("svg", *pieces, class_="tracks", role="img", aria_label=said)


def spread_picture(spread: Spread, low: float, high: float) -> Html:
    """Quantiles as a line with a box, the median as a dot, and the interval of the median around it.

    Args:
        spread: The quantiles at 0, 5, ..., 100 %.
        low: What is on the left.
        high: What is on the right.
    """

    def place(number: float) -> float:
        return 100 * min(max((number - low) / (high - low), 0.0), 1.0)

    def bar(ends: tuple[float, float], y: float, height: float, kind: str) -> Html:
        left, right = map(place, ends)
        return el("rect", x=f"{left:.2f}%", y=y, width=f"{max(right - left, 0.2):.2f}%", height=height, rx="1.5", class_=kind)

    parts = [
        bar((spread.quantiles[1], spread.quantiles[-2]), 7, 2, "whisker"),
        bar((spread.lower, spread.upper), 3, 10, "box"),
        None if spread.interval is None else bar(spread.interval, 5.5, 5, "move"),
        el("circle", cx=f"{place(spread.median):.2f}%", cy="8", r="4.5", class_="then"),
    ]
    said = f"median {cost_text(spread.median)}, half of the rows from {cost_text(spread.lower)} to {cost_text(spread.upper)}"
    return el("svg", *parts, class_="tracks", role="img", aria_label=said)


def front_picture(front: Front) -> Html:
    """Cost against likelihood, or number of changes."""
    column, label = front_axis(front)
    table = front.table()
    x, cost = table[column].to_list(), table["cost"].to_list()
    low, high = (0.0, 100.0) if column == "percentile" else (min(x) - 0.5, max(x) + 0.5)
    highest = max(cost) * 1.12 or 1.0

    def place(a: float, b: float) -> tuple[float, float]:
        across = _LEFT + (a - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)
        return round(across, 1), round(_HEIGHT - _BOTTOM - b / highest * (_HEIGHT - _TOP - _BOTTOM), 1)

    points = [place(a, b) for a, b in zip(x, cost, strict=True)]
    lines, texts = [], []
    for at, text in number_ticks(0.0, highest, None):
        y = place(low, at)[1]
        lines.append(el("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_="grid"))
        texts.append(el("text", text, x=_LEFT - 8, y=y + 4, text_anchor="end"))
    for at, text in number_ticks(low, high, 1.0 if column == "changes" else None):
        texts.append(el("text", text, x=place(at, 0)[0], y=_HEIGHT - _BOTTOM + 18, text_anchor="middle"))
    texts.append(el("text", label, x=(_LEFT + _WIDTH - _RIGHT) / 2, y=_HEIGHT - 8, text_anchor="middle"))
    texts.append(el("text", "cost", x=_LEFT - 8, y=12, text_anchor="end"))
    line = el("polyline", points=" ".join(f"{a},{b}" for a, b in points), class_="curve")
    dots = [
        el("circle", cx=a, cy=b, r="5.5", class_="then" if proved else "now")
        for (a, b), proved in zip(points, table["status"] == "optimal", strict=True)
    ]
    values = [
        _value(cost_text(number), point, (*points, (math.inf, 0.0))[i + 1])
        for i, (point, number) in enumerate(zip(points, cost, strict=True))
    ]
    return el(
        "svg",
        *lines,
        line,
        *dots,
        *texts,
        *values,
        class_="front",
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        role="img",
        aria_label=label,
    )


def _value(text: str, point: tuple[float, float], following: tuple[float, float]) -> Html:
    """A number above its point; to the left of it, where the next point is near."""
    near = following[0] - point[0] < _NEAR
    x, y = (point[0] - 10, point[1] + 1) if near else (point[0], point[1] - 11)
    return el("text", text, x=x, y=y, text_anchor="end" if near else "middle", class_="value")
