"""Small mixed-integer programmes over points, for rivals that need one: solved by the HiGHS of scipy.

Variables are numbered as they are added; the first ones are the coordinates of the point that is looked for. One-hot columns are
whole, numbers are not: who decodes the point has to look whether the rounded row still does what it should.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from likely.bench.encoding import Encoding
from likely.predictor.forms import Layers
from likely.schema.values import Numbers

Places = NDArray[np.intp]


@dataclass(eq=False)
class Programme:
    """Minimise a linear function under linear inequalities."""

    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    prices: dict[int, float] = field(default_factory=dict)
    _entries: list[tuple[int, int, float]] = field(default_factory=list)
    _least: list[float] = field(default_factory=list)
    _most: list[float] = field(default_factory=list)

    def variables(self, low: Numbers, high: Numbers, *, whole: bool = False) -> Places:
        """New variables between ends; their numbers.

        Args:
            low: Their lower ends.
            high: Their upper ends.
            whole: Whether they are whole numbers.
        """
        first = len(self.low)
        self.low += low.tolist()
        self.high += high.tolist()
        self.whole += [whole] * len(low)
        return np.arange(first, len(self.low))

    def require(self, places: Places, factors: Numbers, least: float = -np.inf, most: float = np.inf) -> None:
        """The sum of factors times variables lies between two numbers.

        Args:
            places: The variables.
            factors: One per variable.
            least: The lower end.
            most: The upper end.
        """
        row = len(self._least)
        self._entries += [(row, int(place), float(factor)) for place, factor in zip(places, factors, strict=True) if factor]
        self._least.append(least)
        self._most.append(most)

    def price(self, places: Places, prices: Numbers) -> None:
        """What a unit of each variable costs, on top of what it did.

        Args:
            places: The variables.
            prices: One per variable.
        """
        for place, each in zip(places, prices, strict=True):
            self.prices[int(place)] = self.prices.get(int(place), 0.0) + float(each)

    def distances(self, places: Places, factors: Numbers, origins: Numbers) -> Places:
        """Variables that are at least |factors @ variables - origin|, one per row of factors.

        Args:
            places: The variables.
            factors: Row x variable.
            origins: One per row.
        """
        far = self.variables(np.zeros(len(origins)), np.full(len(origins), np.inf))
        for one, row, origin in zip(far, factors, origins, strict=True):
            joined = np.append(places, one)
            self.require(joined, np.append(row, -1.0), most=float(origin))
            self.require(joined, np.append(row, 1.0), least=float(origin))
        return far

    def exact_distances(self, places: Places, origins: Numbers) -> Places:
        """Variables that are |variable - origin|: a whole variable says on which side it is, where it can be on both.

        Args:
            places: The variables.
            origins: One per variable.
        """
        far = self.distances(places, np.eye(len(places)), origins)
        for one, place, origin in zip(far, places, origins, strict=True):
            below, above = float(origin) - self.low[place], self.high[place] - float(origin)
            pair = np.array([one, place])
            if below <= 0:
                self.require(pair, np.array([1.0, -1.0]), most=-float(origin))
            elif above <= 0:
                self.require(pair, np.array([1.0, 1.0]), most=float(origin))
            else:
                side = self.variables(np.zeros(1), np.ones(1), whole=True)
                self.require(np.append(pair, side), np.array([1.0, -1.0, -2 * below]), most=-float(origin))
                self.require(np.append(pair, side), np.array([1.0, 1.0, 2 * above]), most=float(origin) + 2 * above)
        return far

    def network(self, places: Places, layers: Layers, coefficients: Numbers, lower: Numbers) -> None:
        """A ReLU network of variables has scores with coefficients @ scores >= lower.

        Args:
            places: Its inputs.
            layers: Weights and bias of each layer.
            coefficients: Inequality x score.
            lower: One per inequality.
        """
        low, high = (np.array(ends)[places] for ends in (self.low, self.high))
        for weights, bias in layers[:-1]:
            least, most = interval(weights, bias, low, high)
            places = self.relu(places, weights, bias, least, most)
            low, high = np.maximum(least, 0.0), np.maximum(most, 0.0)
        weights, bias = layers[-1]
        for row, least_score in zip(coefficients, lower, strict=True):
            self.require(places, row @ weights, least=float(least_score - row @ bias))

    def relu(self, places: Places, weights: Numbers, bias: Numbers, least: Numbers, most: Numbers) -> Places:
        """Variables that are max(0, weights @ variables + bias), which lies between two numbers.

        Args:
            places: The variables.
            weights: Unit x variable.
            bias: One per unit.
            least: The lower ends.
            most: The upper ends.
        """
        units = self.variables(np.maximum(least, 0.0), np.maximum(most, 0.0))
        for unit, row, shift, low, high in zip(units, weights, bias, least, most, strict=True):
            if high <= 0:
                continue
            joined = np.append(places, unit)
            self.require(joined, np.append(row, -1.0), most=float(-shift))
            if low >= 0:
                self.require(joined, np.append(row, -1.0), least=float(-shift))
                continue
            on = self.variables(np.zeros(1), np.ones(1), whole=True)
            self.require(np.append(joined, on), np.concatenate([row, [-1.0], [low]]), least=float(low - shift))
            self.require(np.append(unit, on), np.array([1.0, -high]), most=0.0)
        return units

    def solve(self, seconds: float) -> Numbers | None:
        """The best values of all variables that were found; None if there are none.

        Args:
            seconds: When to stop.
        """
        if seconds <= 0:
            return None
        costs = np.zeros(len(self.low))
        for place, each in self.prices.items():
            costs[place] = each
        rows, columns, factors = zip(*self._entries, strict=True) if self._entries else ((), (), ())
        matrix = csr_matrix((factors, (rows, columns)), shape=(len(self._least), len(self.low)))
        found = milp(
            costs, integrality=np.array(self.whole, dtype=np.float64), bounds=Bounds(self.low, self.high),
            constraints=[LinearConstraint(matrix, self._least, self._most)] if self._least else [],
            options={"time_limit": seconds, "mip_rel_gap": 1e-3},
        )  # fmt: skip
        return None if found.x is None else np.asarray(found.x)


def interval(weights: Numbers, bias: Numbers, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """The least and the greatest values of weights @ x + bias over a box of x.

    Args:
        weights: Output x input.
        bias: One per output.
        low: The lower ends of the box.
        high: The upper ends of the box.
    """
    up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
    return up @ low + down @ high + bias, up @ high + down @ low + bias


def of_point(encoding: Encoding, low: Numbers, high: Numbers) -> tuple[Programme, Places]:
    """A programme with the coordinates of a point within a box: one-hot columns are whole, and each group has one.

    Args:
        encoding: It knows the groups.
        low: The lower ends of the box.
        high: The upper ends of the box.
    """
    programme = Programme()
    places = programme.variables(low, high)
    for group in encoding.groups:
        programme.require(places[group], np.ones(group.stop - group.start), 1.0, 1.0)
        for place in places[group]:
            programme.whole[place] = True
    return programme, places
