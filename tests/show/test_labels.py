from __future__ import annotations

import numpy as np
import pytest

from likely.show.labels import label_corners

FRAME = np.array([0.0, 0.0, 400.0, 300.0])
ROOM = 5.0


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    width, height = (min(a[2 + k], b[2 + k]) - max(a[k], b[k]) for k in (0, 1))
    return max(width, 0.0) * max(height, 0.0)


def boxes(points: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    corners = label_corners(points, sizes, FRAME, ROOM)
    return [np.concatenate([corner, corner + size]) for corner, size in zip(corners, sizes, strict=True)]


def test_a_label_alone_is_on_the_right() -> None:
    (box,) = boxes(np.array([[100.0, 100.0]]), np.array([[50.0, 10.0]]))
    assert box[0] == pytest.approx(100 + 1.3 * ROOM)
    assert (box[1] + box[3]) / 2 == pytest.approx(100)


def test_at_the_right_edge_it_is_on_the_left() -> None:
    (box,) = boxes(np.array([[395.0, 100.0]]), np.array([[50.0, 10.0]]))
    assert box[2] == pytest.approx(395 - 1.3 * ROOM)


@pytest.mark.parametrize("seed", range(20))
def test_labels_cover_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    points = random.uniform([20, 20], [380, 280], size=(8, 2))
    sizes = np.column_stack([random.uniform(20, 80, 8), np.full(8, 11.0)])
    placed = boxes(points, sizes)
    for i, box in enumerate(placed):
        assert overlap(box, FRAME) == pytest.approx((box[2] - box[0]) * (box[3] - box[1]))
        assert all(overlap(box, other) == 0 for other in placed[:i])
        # only what is closer together than two labels can be told apart may touch
        assert sum(overlap(box, np.concatenate([point - 3, point + 3])) for point in points) < 1


def test_no_points_no_labels() -> None:
    assert label_corners(np.empty((0, 2)), np.empty((0, 2)), FRAME, ROOM).shape == (0, 2)
