"""PlaCE (Artelt and Hammer 2020): the nearest point that has the class and is dense under a mixture of Gaussians of that class.

The density is at least delta, the median of the training rows of the class, if one component alone is: for component j,

    (x - m_j)' P_j (x - m_j) + c_j <= d    with precision P_j, c_j = -2 log w_j - log det P_j + n log 2 pi, d = -2 log delta,

a convex set. So one programme is solved per component - least |x' - x|_1, by the schema's cost of each column - and the nearest
answer is taken. For a linear model the programme is convex, as in the paper. A ReLU network is not: there, sequential quadratic
programming finds a local optimum. Points are relaxed where features are discrete: the mixture takes one-hot columns as numbers,
values are then rounded, and the numbers solved again with the rounded values.

It gets the rules about one feature, as bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from sklearn.mixture import GaussianMixture

from likely.bench.methods.rival import Question, Rival
from likely.predictor.forms import Layers
from likely.problem import Alternative, to_class
from likely.schema.values import Numbers

#: Components at most, rows that one needs, the ridge of their covariances, and how dense an answer is, as a quantile.
COMPONENTS, ROWS_EACH, RIDGE, DENSE = 3, 50, 1e-2, 0.5
#: By how much more the score shall be beyond the border, if rounding undid an answer.
BEYOND, ROUNDS = 0.5, 4


@dataclass(frozen=True, eq=False)
class Component:
    """One Gaussian of a mixture: distance' precision distance + constant is at most `most` where it is dense enough."""

    mean: Numbers
    precision: Numbers
    constant: float
    most: float

    def excess(self, points: Numbers) -> Numbers:
        """By how much each point misses the density; at most 0 if it does not.

        Args:
            points: Row x column.
        """
        far = points - self.mean
        return np.asarray(np.einsum("ij,jk,ik->i", far, self.precision, far) + self.constant - self.most)


class Place(Rival):
    """A mixture per class, and a programme per component."""

    name = "place"

    def prepare(self) -> None:
        """Fit the mixtures, and measure what is dense."""
        known = self.known
        self.layers = known.encoding.layers(known.form)
        self.components = [self._mixture(known.points[known.decided == k]) for k in range(len(known.form.classes))]

    def _mixture(self, points: Numbers) -> list[Component]:
        if len(points) < 2:
            return []
        count = int(np.clip(len(points) // ROWS_EACH, 1, COMPONENTS))
        mixture = GaussianMixture(count, reg_covar=RIDGE, random_state=self.known.data.seed).fit(points)
        parts = []
        for weight, mean, precision in zip(mixture.weights_, mixture.means_, mixture.precisions_, strict=True):
            log_det = float(np.linalg.slogdet(precision)[1])
            constant = -2 * np.log(weight) - log_det + len(mean) * np.log(2 * np.pi)
            parts.append(Component(mean, precision, constant, 0.0))
        best = np.min([part.excess(points) for part in parts], axis=0)  # -2 log of the densest component of each row
        most = float(np.quantile(best, 1 - DENSE))
        return [Component(part.mean, part.precision, part.constant, most) for part in parts]

    def dense(self, points: Numbers, target: int) -> Numbers:
        """By how much each point misses the density of a class, at its best component; at most 0 if it does not.

        Args:
            points: Row x column.
            target: The place of the class.
        """
        return np.asarray(np.min([part.excess(points) for part in self.components[target]], axis=0))

    def search(self, question: Question) -> Numbers:
        """The rows that were found for each component: first those that are dense enough, cheapest first.

        Args:
            question: What is asked.
        """
        found = [row for part in self.components[question.target] for row in self._row(question, part)]
        rows = question.by_cost(np.array(found).reshape(-1, len(question.row)))
        if not len(rows):
            return rows
        sparse = self.dense(self.known.encoding.encode(rows), question.target) > 1e-6
        return rows[np.argsort(sparse, kind="stable")]

    def _row(self, question: Question, part: Component) -> list[Numbers]:
        """The row of the nearest point under one component; none if rounding undid it every time."""
        numbers = self.known.encoding.numbers
        low, high = question.box
        for round_ in range(ROUNDS):
            if question.left <= 0:
                break
            point = self._solve(question, part, low, high, round_ * BEYOND)
            rounded = self.known.encoding.encode(question.decode(point[None]))[0]
            ends = rounded.copy(), rounded.copy()
            ends[0][numbers], ends[1][numbers] = low[numbers], high[numbers]
            rows = question.decode(np.array([self._solve(question, part, *ends, 0.0), rounded, point]))
            reached = question.reached(rows)
            if reached.any():
                return list(rows[reached])
        return []

    def _solve(self, question: Question, part: Component, low: Numbers, high: Numbers, beyond: float) -> Numbers:
        """The nearest point within a box that has the class, by so much, and is dense; or the last one that was tried.

        Moves up and down have variables of their own, so that the distance is linear.
        """
        form = self.known.form
        (alternative,) = to_class(form, form.classes[question.target]).alternatives
        free = np.flatnonzero(high - low > 1e-9)
        origin = np.clip(question.point, low, high)
        weights = np.maximum(self.known.encoding.weights[free], 1e-3)
        if not len(free):
            return origin

        def at(moves: Numbers) -> Numbers:
            made = origin.copy()
            made[free] += moves[: len(free)] - moves[len(free) :]
            return made

        def dense(moves: Numbers) -> float:
            return float(-part.excess(at(moves)[None])[0])

        def dense_slope(moves: Numbers) -> Numbers:
            slope = (-2 * part.precision @ (at(moves) - part.mean))[free]
            return np.concatenate([slope, -slope])

        def inside(moves: Numbers) -> float:
            return _margin(self.layers, alternative, at(moves))[0] - beyond

        def inside_slope(moves: Numbers) -> Numbers:
            slope = _margin(self.layers, alternative, at(moves))[1][free]
            return np.concatenate([slope, -slope])

        scale, start = weights.mean(), np.clip(part.mean, low, high)[free] - origin[free]
        moves = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)])
        prices = np.concatenate([weights, weights]) / scale
        bounds = [*zip(np.zeros(len(free)), high[free] - origin[free], strict=True)]
        bounds += [*zip(np.zeros(len(free)), origin[free] - low[free], strict=True)]
        found = minimize(
            lambda moves: float(prices @ moves), moves, jac=lambda moves: prices, method="SLSQP", bounds=bounds,
            constraints=[
                {"type": "ineq", "fun": dense, "jac": dense_slope}, {"type": "ineq", "fun": inside, "jac": inside_slope},
            ],
            options={"maxiter": 60, "ftol": 1e-5},
        )  # fmt: skip
        return np.clip(at(found.x), low, high)


def _margin(layers: Layers, alternative: Alternative, point: Numbers) -> tuple[float, Numbers]:
    """By how much a point is within a class, and the gradient of that."""
    values, slopes = point, np.eye(len(point))
    for i, (weights, bias) in enumerate(layers):
        if i:
            on = values > 0
            values, slopes = values * on, slopes * on[:, None]
        values, slopes = weights @ values + bias, weights @ slopes
    margins = alternative.coefficients @ values - alternative.lower
    least = int(margins.argmin())
    return float(margins[least]), alternative.coefficients[least] @ slopes
