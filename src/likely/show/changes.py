"""What answers change, before and after: a lane for each change, on a track from the least to the greatest value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import ExplainerError
from likely.explain import Explanation
from likely.explain.text import told_apart
from likely.schema import Feature
from likely.schema.values import LARGEST
from likely.show.axis import told

if TYPE_CHECKING:
    from likely.show.canvas import Axes, Figure

#: In inches: a lane, and what is above and below all lanes.
LANE, MARGIN = 0.28, 0.6
#: In inches: the tracks, and a letter of the names and values beside them.
WIDTH, LETTER = 3.6, 0.085


@dataclass(frozen=True)
class Move:
    """One change: of which answer, to what, and where that is on the track."""

    answer: int
    after: str
    #: From 0 (the least value) to 1 (the greatest); None where values have no order.
    place: float | None


@dataclass(frozen=True)
class Track:
    """A feature that some answer changes: its value now, the ends of its track, and its moves."""

    feature: str
    before: str
    place: float | None
    low: str
    high: str
    moves: tuple[Move, ...]


def changes_of(explanation: Explanation) -> tuple[Track, ...]:
    """The features that the answers of an explanation change, in the schema's order.

    Args:
        explanation: One with answers; without any, nothing changes.
    """
    query = explanation.query
    tracks = []
    for j, feature in enumerate(query.schema.features):
        new = [(i, float(a.numbers[j])) for i, a in enumerate(explanation.counterfactuals) if feature.name in a.changes]
        if new:
            now = float(query.factual[j])
            before, after = _texts(feature, now, [number for _, number in new])
            moves = tuple(Move(i, text, _place(feature, number)) for (i, number), text in zip(new, after, strict=True))
            tracks.append(Track(feature.title, before, _place(feature, now), *_ends(feature), moves))
    return tuple(tracks)


def _texts(feature: Feature, now: float, new: list[float]) -> tuple[str, list[str]]:
    """A value and those it becomes, as a table in the terminal has them, but texts without quotes and codes by their labels."""
    before, after = told_apart(feature, now, new)

    def text(number: float, shown: str) -> str:
        if np.isnan(number):
            return "unknown"
        plain = feature.numeric and number > -LARGEST and not isinstance(feature.value(number), str)
        return shown if plain else told(feature, number, 40)

    return text(now, before), [text(number, shown) for number, shown in zip(new, after, strict=True)]


def _place(feature: Feature, number: float) -> float | None:
    """Where a value stands between the least and the greatest; None for a code, an unknown, and where there is no order."""
    if not feature.ordered or np.isnan(number) or number < -LARGEST:
        return None
    low, high = feature.lower, feature.upper
    return float(np.clip((number - low) / (high - low), 0, 1)) if high > low else 0.5


def _ends(feature: Feature) -> tuple[str, str]:
    if not feature.ordered:
        return "", ""
    return told(feature, feature.lower), told(feature, feature.upper)


def plot_changes(explanation: Explanation, *, ax: Axes | None = None) -> Figure:
    """Each change of each answer as an arrow from the value before to the value after, between the feature's bounds.

    A feature whose values have no order has no track: its values are written. Colours tell answers apart.

    Args:
        explanation: One with answers.
        ax: Where to draw; by default, in a new figure.
    """
    from likely.show import canvas

    if not explanation:
        raise ExplainerError("A picture of changes", "have an answer", f"status '{explanation.status}'", "ask why_not(row)")
    tracks = changes_of(explanation)
    lanes = [(track, move) for track in tracks for move in track.moves]
    widest = max(len(track.feature) for track in tracks), max(len(f"{track.before} → {move.after}") for track, move in lanes)
    figure, ax = canvas.figure_of(ax, (WIDTH + LETTER * (widest[0] + widest[1]), LANE * len(lanes) + MARGIN))
    first = 0
    for track in tracks:
        canvas.track_name(ax, track.feature, first)
        first += len(track.moves)
    for lane, (track, move) in enumerate(lanes):
        canvas.track(ax, lane, track.place, move.place, f"{track.before} → {move.after}", move.answer)
    canvas.bare_tracks(ax, len(lanes), len(explanation))
    return figure
