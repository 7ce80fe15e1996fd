"""What answers change, before and after: a lane for each change, on a track from the least to the greatest value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import ExplainerError
from likely.explain import Explanation
from likely.schema import Feature
from likely.schema.values import LARGEST
from likely.show.axis import told

if TYPE_CHECKING:
    from likely.show.canvas import Axes, Figure

#: In inches: a lane, and what is above and below all lanes.
LANE, MARGIN = 0.28, 0.6


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
        moves = tuple(
            Move(i, told(feature, float(answer.numbers[j]), 40), _place(feature, float(answer.numbers[j])))
            for i, answer in enumerate(explanation.counterfactuals)
            if feature.name in answer.changes
        )
        if moves:
            now = float(query.factual[j])
            before = "unknown" if np.isnan(now) else told(feature, now, 40)
            tracks.append(Track(str(feature.name), before, _place(feature, now), *_ends(feature), moves))
    return tuple(tracks)


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
    figure, ax = canvas.figure_of(ax, (7.2, LANE * len(lanes) + MARGIN))
    first = 0
    for track in tracks:
        canvas.track_name(ax, track.feature, first)
        first += len(track.moves)
    for lane, (track, move) in enumerate(lanes):
        canvas.track(ax, lane, track.place, move.place, f"{track.before} → {move.after}", move.answer)
    canvas.bare_tracks(ax, len(lanes), len(explanation))
    return figure
