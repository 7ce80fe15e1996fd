"""Where labels go: beside their points, on no other point and no other label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.schema.values import Numbers

#: Directions in which a label may lie from its point, the better ones first.
_SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)], dtype=np.float64)
#: How far off it may be moved if nearer places are taken, in heights of the label.
_FARTHEST = 8


def label_corners(points: Numbers, sizes: Numbers, frame: Numbers, room: float) -> Numbers:
    """The lower left corners of labels of these sizes, one for each point, in the points' units.

    Each label in turn takes the place near its point that covers the least of other points (with `room` around them), of
    labels placed before and of what lies outside `frame` (left, bottom, right, top); nearer places win among equals.
    """
    taken = np.column_stack([points - room, points + room])
    corners = np.empty_like(points)
    for i, (point, size) in enumerate(zip(points, sizes, strict=True)):
        offers = _offers(point, size, room)
        boxes = np.column_stack([offers, offers + size])
        outside = size.prod() - _overlap(boxes, frame[None, :])[:, 0]
        cost = _overlap(boxes, taken).sum(axis=1) + 2 * outside
        corners[i] = offers[np.argmin(np.round(cost, 6))]
        taken = np.vstack([taken, np.concatenate([corners[i], corners[i] + size])])
    return corners


def _offers(point: Numbers, size: Numbers, room: float) -> Numbers:
    """Candidate corners around a point, nearest first."""
    centres = [point + _SIDES * (size / 2 + 1.3 * room + k * size[1]) for k in range(_FARTHEST)]
    return np.vstack(centres) - size / 2


def _overlap(boxes: Numbers, others: Numbers) -> NDArray[np.float64]:
    """The area that each box shares with each of the others."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    return np.asarray(np.maximum(high - low, 0.0).prod(axis=2))
