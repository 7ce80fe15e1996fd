"""FACE (Poyiadzi et al. 2020): the training row at the end of the shortest path through dense regions.

Rows are nodes; an edge joins two that are within `epsilon` of each other (Euclidean, on points of [0, 1]^n), or of which one is
among the `neighbours` nearest of the other. Its length is its distance times -log of the density at its middle, relative to the
densest row; rows below the `density` quantile are no nodes, so that every path stays where data are. Equal rows are one node. The
answer is the nearest row by path that the model rightly gives the wanted class.

It gets all rules: a row that breaks one for this factual is no end of a path, if there is another.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from sklearn.neighbors import KernelDensity, NearestNeighbors

from likely.bench.methods.rival import Question, Rival
from likely.schema.values import Numbers

#: Of more rows than that, as many are drawn: CARLA's implementation takes 40 %, the paper half of the 1,000 of Credit.
MOST_ROWS = 2000
#: What the middle of an edge is at most, as a share of the density of the densest row: no edge is free.
_DENSEST = 0.99


def _apart(points: Numbers, classes: NDArray[np.intp], places: NDArray[np.intp]) -> NDArray[np.intp]:
    """The places of rows that differ in a number or the class: equal ones would have nobody but each other for neighbours."""
    first = np.unique(np.column_stack([points, classes]), axis=0, return_index=True)[1]
    return places[np.sort(first)]


class Face(Rival):
    """The graph of the training rows.

    Args:
        mode: Which rows an edge joins.
        neighbours: For "knn".
        epsilon: For "epsilon"; left out, the median distance to the `neighbours`-th nearest row.
        density: The share of the rows, the least dense ones, that is left out.
    """

    def __init__(
        self, mode: Literal["knn", "epsilon"] = "knn", neighbours: int = 20, epsilon: float | None = None, density: float = 0.05
    ) -> None:
        self.name, self.mode = f"face-{mode}", mode
        self.neighbours, self.epsilon, self.density = neighbours, epsilon, density

    def prepare(self) -> None:
        """Estimate densities and join the rows."""
        known = self.known
        rng = np.random.default_rng(known.data.seed)
        places = np.sort(rng.permutation(len(known.rows))[:MOST_ROWS])
        drawn = known.points[places]
        places = _apart(drawn, known.true[places], places)
        points = known.points[places]
        count = min(self.neighbours + 1, len(points))
        self._near = NearestNeighbors(n_neighbors=count).fit(points)
        far = self._near.kneighbors(points)[0][:, -1]
        self.radius = self.epsilon if self.epsilon is not None else float(np.median(far))
        self._kernel = KernelDensity(bandwidth=max(float(np.median(far)) / 2, 1e-3)).fit(drawn)
        logs = self._kernel.score_samples(points)
        self._least, self._top = float(np.quantile(logs, self.density)), float(logs.max())
        self.places = places[logs >= self._least]
        self.points = known.points[self.places]
        self._near.fit(self.points)
        self.graph = self._edges(self.points)

    def _edges(self, points: Numbers) -> csr_matrix:
        """From each point to the rows that it is joined with, as lengths."""
        if self.mode == "knn":
            graph = self._near.kneighbors_graph(points, min(self.neighbours, len(self.points)), mode="distance")
        else:
            graph = self._near.radius_neighbors_graph(points, self.radius, mode="distance")
        graph = graph.tocoo()
        middles = (points[graph.row] + self.points[graph.col]) / 2
        # a length of 0 would be no edge: the same row twice is still one step
        lengths = np.maximum(graph.data, 1e-9) * self._price(middles)
        return csr_matrix((lengths, (graph.row, graph.col)), shape=graph.shape)

    def _price(self, points: Numbers) -> Numbers:
        if not len(points):
            return np.empty(0)
        logs = self._kernel.score_samples(points) - self._top
        return np.asarray(-np.minimum(logs, np.log(_DENSEST)))

    def paths(self, question: Question) -> tuple[Numbers, NDArray[np.intp]]:
        """The length of the shortest path to each row of the graph, and the row before it on the path (-1: the factual).

        Args:
            question: What is asked.
        """
        first = self._edges(question.point[None])
        size = len(self.points)
        whole = csr_matrix(
            (
                np.concatenate([self.graph.data, first.data]),
                np.concatenate([self.graph.indices, first.indices]),
                np.concatenate([self.graph.indptr, [self.graph.nnz + first.nnz]]),
            ),
            shape=(size + 1, size + 1),
        )
        lengths, before = dijkstra(whole, directed=False, indices=size, return_predecessors=True)
        return lengths[:size], np.where(before[:size] == size, -1, before[:size])

    def search(self, question: Question) -> Numbers:
        """The rows of the wanted class that a path leads to, nearest first.

        Args:
            question: What is asked.
        """
        lengths, _ = self.paths(question)
        known = self.known
        wanted = (known.decided == question.target) & (known.true == question.target)
        ends = np.flatnonzero(np.isfinite(lengths) & wanted[self.places])
        ends = ends[np.argsort(lengths[ends], kind="stable")]
        return np.asarray(known.rows[self.places[ends]])
