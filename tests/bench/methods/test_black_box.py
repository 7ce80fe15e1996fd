"""What defines the methods that only ask the model: the nearest row, NICE, Growing Spheres, FACE."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from likely.bench.methods import METHODS
from likely.bench.methods.growing_spheres import sparser
from tests.bench.methods.examples import asked, fitted, loans, moons


def question_of(method: Any, example: Any, place: int, k: int = 1) -> Any:
    return method.known.question(asked(example, place, k))


def test_the_nearest_row_is_the_cheapest_of_its_class() -> None:
    data, model, _ = loans()
    for place in (0, 3, 8):
        question = asked(loans(), place)
        factual, rows = data.schema.encode(question.factual)[0], data.schema.encode(data.X)
        could = data.schema.admits(factual, rows) & (model.predict(data.X) == question.target)
        found = data.schema.encode(fitted("nearest-row", loans).generate(question).rows)
        assert data.schema.prices(factual, found)[0] == data.schema.prices(factual, rows[could]).min()


def test_nice_takes_values_of_one_training_row() -> None:
    method: Any = fitted("nice-sparse", loans)
    data = loans()[0]
    rows = data.schema.encode(data.X)
    for place in (0, 3, 8):
        question = question_of(method, loans(), place)
        for row in method.search(question):
            changed = row != question.row
            assert (rows[:, changed] == row[changed]).all(axis=1).any()
            assert question.reached(row[None])[0]


def test_growing_spheres_takes_changes_back() -> None:
    """What is left is a part of what was found, still an answer, and the last change that was kept is needed."""
    method: Any = fitted("growing-spheres", loans)
    for place in (0, 3):
        question = question_of(method, loans(), place)
        found = method._answers(question, 0.0, 1.5)[0]
        less = sparser(question, found)
        assert question.reached(less[None])[0]
        assert ((less == found) | (less == question.row)).all()
        needed = []
        for j in np.flatnonzero(less != question.row):
            without = less.copy()
            without[j] = question.row[j]
            needed.append(not question.reached(without[None])[0])
        assert any(needed)


def test_spheres_grow_from_the_row() -> None:
    """On two reals, the answer is about as near as the nearest of a fine grid, in the distance of points."""
    method: Any = fitted("growing-spheres", moons)
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 80), np.linspace(0, 1, 80)), axis=-1).reshape(-1, 2)
    for place in (0, 3):
        question = question_of(method, moons(), place)
        nearest = np.linalg.norm(grid[question.reached(question.decode(grid))] - question.point, axis=1).min()
        found = method.known.encoding.encode(method._answers(question, 0.0, 1.2 * nearest + 0.05))
        far = np.linalg.norm(found - question.point, axis=1)
        assert far[0] <= 1.2 * nearest + 0.06
        assert (np.diff(far) >= 0).all()


def test_face_ends_at_training_rows_on_paths_of_dense_edges() -> None:
    for name in ("face-knn", "face-epsilon"):
        method: Any = fitted(name, moons)
        question = question_of(method, moons(), 4)
        lengths, before = method.paths(question)
        rows = method.search(question)
        assert len(rows)
        logs = method._kernel.score_samples(method.points)
        assert (logs >= method._least).all()
        ends = [int(np.flatnonzero((method.known.rows[method.places] == row).all(axis=1))[0]) for row in rows[:5]]
        assert (np.diff(lengths[ends]) >= 0).all()
        for end in ends:
            total, at = 0.0, end
            while at >= 0:
                here, previous = method.points[at], int(before[at])
                there = question.point if previous < 0 else method.points[previous]
                far = float(np.linalg.norm(here - there))
                if name == "face-epsilon":
                    assert far <= method.radius + 1e-9
                total += max(far, 1e-9) * float(method._price((here + there)[None] / 2)[0])
                at = previous
            assert np.isclose(total, lengths[end], rtol=1e-6)


def test_face_goes_the_shortest_way() -> None:
    """Against Floyd and Warshall on the same edges."""
    method: Any = fitted("face-knn", moons)
    question = question_of(method, moons(), 4)
    size = len(method.points)
    graph = np.full((size + 1, size + 1), np.inf)
    for block, offset in ((method.graph, 0), (method._edges(question.point[None]), size)):
        coo = block.tocoo()
        graph[coo.row + offset, coo.col] = coo.data
    graph = np.minimum(graph, graph.T)
    for middle in range(size + 1):
        graph = np.minimum(graph, graph[:, [middle]] + graph[[middle]])
    np.testing.assert_allclose(method.paths(question)[0], graph[size, :size], rtol=1e-9)


def test_face_goes_past_rows_that_are_equal() -> None:
    """Where every row is there thirty times, its twenty neighbours would be its equals: no path led anywhere."""
    data, model, form = moons()
    once: Any = fitted("face-knn", moons)
    often: Any = METHODS["face-knn"]()
    rows = np.tile(np.arange(60), 30)
    often.fit(replace(data, X=data.X.iloc[rows], y=data.y.iloc[rows]), model, form)
    assert len(often.points) <= 60
    assert len(once.points) == 190  # none of 200 is another's equal; the least dense are left out
    assert len(often.generate(asked(moons(), 4)).rows)
