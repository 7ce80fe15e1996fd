"""DACE (Kanamori et al. 2020): the row with the least Mahalanobis distance plus local outlier factor, by integer programming.

Minimised is |U (x' - x)|_1, with U' U the inverse of the covariance of the training points, plus a weight times the 1-LOF of x'
among reference rows of the wanted class: with n the reference row nearest to x' (in l1), d(n) the distance of n to its own
nearest, and lrd(n) the inverse of the distance that its nearest has at least,

    1-LOF(x') = lrd(n) * max(d(n), |x' - n|_1).

The paper has linear models and forests; a ReLU network is linear between its kinks, and becomes part of the same programme. Its
size grows with the square of the number of reference rows, so a few are drawn, as in the paper. Where no row is found in time,
the answer is the best training row by the same cost.

It gets the rules about one feature, as bounds of the programme.
"""

from __future__ import annotations

import numpy as np

from likely.bench.methods.rival import Question, Rival
from likely.bench.programme import Places, Programme, of_point
from likely.problem import to_class
from likely.schema.values import Numbers

#: Reference rows per class, the weight of the outlier factor, and the ridge of the covariance.
REFERENCES, WEIGHT, RIDGE = 10, 0.1, 1e-2
#: What one programme may take, and by how much more the score must be beyond the border if rounding undid an answer.
SECONDS, BEYOND, ROUNDS = 5.0, 0.2, 3


class Dace(Rival):
    """A programme per question."""

    name = "dace"

    def prepare(self) -> None:
        """Measure the covariance, draw the reference rows, and how dense each is."""
        known = self.known
        self.layers = known.encoding.layers(known.form)
        covariance = np.cov(known.points, rowvar=False) + RIDGE * np.eye(known.encoding.width)
        self.root = np.linalg.cholesky(np.linalg.inv(covariance)).T
        rng = np.random.default_rng(known.data.seed)
        self.references = [self._references(rng, k) for k in range(len(known.form.classes))]

    def _references(self, rng: np.random.Generator, target: int) -> tuple[Numbers, Numbers, Numbers]:
        """Points of a class, the distance of each to its nearest, and its local reachability density."""
        points = self.known.points[self.known.decided == target]
        points = points[rng.permutation(len(points))[:REFERENCES]]
        if len(points) < 2:
            return points, np.zeros(len(points)), np.ones(len(points))
        apart = np.abs(points[:, None] - points[None]).sum(axis=2) + np.diag(np.full(len(points), np.inf))
        nearest = apart.argmin(axis=1)
        own = np.maximum(apart.min(axis=1), 1e-3)
        return points, own, 1 / np.maximum(own, own[nearest])

    def cost(self, point: Numbers, other: Numbers, target: int) -> float:
        """What is minimised, of another point.

        Args:
            point: Where the question begins.
            other: Where it ends.
            target: The place of the wanted class.
        """
        points, own, density = self.references[target]
        far = np.abs(points - other).sum(axis=1)
        nearest = int(far.argmin())
        outlier = density[nearest] * max(own[nearest], far[nearest])
        return float(np.abs(self.root @ (other - point)).sum() + WEIGHT * outlier)

    def search(self, question: Question) -> Numbers:
        """The row of the best point; if rounding took it out of the class, that of one further inside.

        Args:
            question: What is asked.
        """
        known, target = self.known, question.target
        for round_ in range(ROUNDS):
            point = self._solve(question, round_ * BEYOND)
            if point is None:
                break
            rows = question.decode(point[None])
            if question.reached(rows)[0]:
                return rows
        wanted = known.decided == target
        costs = [self.cost(question.point, point, target) for point in known.points[wanted]]
        return np.asarray(known.rows[wanted][np.argsort(costs, kind="stable")])

    def _solve(self, question: Question, beyond: float) -> Numbers | None:
        form, target = self.known.form, question.target
        programme, places = of_point(self.known.encoding, *question.box)
        (alternative,) = to_class(form, form.classes[target]).alternatives
        programme.network(places, self.layers, alternative.coefficients, alternative.lower + beyond)
        far = programme.distances(places, self.root, self.root @ question.point)
        programme.price(far, np.ones(len(far)))
        self._outlier_factor(programme, places, target)
        found = programme.solve(min(SECONDS, question.left))
        return None if found is None else found[places]

    def _outlier_factor(self, programme: Programme, places: Places, target: int) -> None:
        """The 1-LOF of the point as part of the objective."""
        points, own, density = self.references[target]
        count, most = len(points), float(len(self.known.encoding.numbers) + 2 * len(self.known.encoding.groups))
        is_nearest = programme.variables(np.zeros(count), np.ones(count), whole=True)
        programme.require(is_nearest, np.ones(count), 1.0, 1.0)
        reach = programme.variables(np.zeros(count), np.full(count, np.inf))
        programme.price(reach, WEIGHT * density)
        terms = [self._l1(programme, places, point) for point in points]
        for n in range(count):
            programme.require(np.array([reach[n], is_nearest[n]]), np.array([1.0, -own[n]]), least=0.0)
            joined, factors, shift = terms[n]
            here = np.concatenate([[reach[n]], joined, [is_nearest[n]]])
            programme.require(here, np.concatenate([[1.0], -factors, [-most]]), least=shift - most)
            for m in range(count):
                if m != n:
                    others, other_factors, other_shift = terms[m]
                    pair = np.concatenate([joined, others, [is_nearest[n]]])
                    programme.require(pair, np.concatenate([factors, -other_factors, [most]]), most=most + other_shift - shift)

    def _l1(self, programme: Programme, places: Places, point: Numbers) -> tuple[Places, Numbers, float]:
        """The l1 distance to a point as a sum over variables, and what is added: one-hot columns need no further variables."""
        numbers = self.known.encoding.numbers
        far = programme.exact_distances(places[numbers], point[numbers])
        one_hot = np.setdiff1d(np.arange(len(places)), numbers)
        signs = np.where(point[one_hot] > 0.5, -1.0, 1.0)
        return np.concatenate([far, places[one_hot]]), np.concatenate([np.ones(len(far)), signs]), float((signs < 0).sum())
