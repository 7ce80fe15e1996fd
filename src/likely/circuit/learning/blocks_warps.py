"""Warps of columns: the curve that makes a column Gaussian within each group of rows, chosen on held-out rows.

Between knots at quantiles of the column a warp is linear, so that z = B s with the slopes s of its pieces and a design B of
the column. Within a group g of rows (a class, a component) z is Gaussian, and its log-likelihood with the best mean and
variance,

    sum_p n_p log s_p  -  sum_g n_g / 2 log(s' C_g s),        C_g the covariance of B in the group,

needs the rows only for the counts n_p and the C_g: curves are tried at a cost that does not grow with the table.

The candidates, the plainest first: a line; the power curve (Yeo and Johnson 2000; for heavy tails on both sides the modulus
transformation, John and Draper 1980; Box and Cox 1964 from either end) that is likeliest; and curves in between these and the
quantiles, whose log-slopes have the prior that neighbours differ from those of the power curve by a deviation. A later one is
taken if held-out rows gain more by it than chance explains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from likely.circuit.learning.bins import Indices
from likely.circuit.model.warps import Warp
from likely.schema import Feature
from likely.schema.values import Numbers

#: The most knots, and the rows that a piece should have.
MOST_KNOTS, ROWS_OF_A_PIECE = 24, 12
#: The share of the rows in each tail, the pieces of a tail, how far it goes beyond what was seen (if the domain does), in
#: ranges of the others, and the least piece, in deviations.
BEYOND, TAIL_PIECES, FAR, LEAST_PIECE = 0.02, 2, 0.5, 1e-3
#: Deviations of the log-slopes of neighbouring pieces from the power curve's.
DEVIATIONS = (0.1, 0.3, 1.0)
#: Folds that the candidates are compared in, and the standard errors by which a plainer curve may be behind.
FOLDS, ERRORS = 5, 1.0
#: Rows of the whole table that the variance of a group is shrunk towards.
PRIOR_ROWS = 5.0
#: Of the powers that are tried: of Yeo and Johnson's, of the modulus, of Box and Cox's, and where the latter begin, in
#: deviations.
POWERS, MODULI = np.linspace(-3.0, 5.0, 33), np.linspace(-0.5, 2.0, 11)
ROOTS, OFFSETS = np.linspace(-1.0, 2.0, 13), (0.01, 0.1, 0.5, 2.0)
#: The least distance of a knot from the end of a warp, in deviations: they may be neighbouring doubles.
LEAST_ROOM = 1e-15
#: How far a bound may be from the outermost rows, in deviations: a row beyond is as good as impossible anyway.
REACH = 1e6
#: The least variance of z in a group.
LEAST_VARIANCE = 1e-300
#: Rounds of Newton's method, and the gain in nats that ends them.
ROUNDS, NO_GAIN = 50, 1e-6
#: A warp is judged on at most as many rows.
MOST_ROWS = 5_000


@dataclass(frozen=True)
class Curve:
    """Which kind of warp a column has: a line or a power curve, bent by log-slopes of this deviation (0: not at all)."""

    power: bool = False
    deviation: float = 0.0
    tails: bool = True  # whether the power curve may draw in both tails at once; if not, it takes out skewness only


CURVES = (Curve(), Curve(power=True), *(Curve(power=True, deviation=deviation) for deviation in DEVIATIONS))
#: Those that leave heavy tails as they are.
SKEWED = (Curve(), Curve(power=True, tails=False))


@dataclass(frozen=True)
class Column:
    """The known values of a column, in deviations from its median, and the groups they belong to."""

    values: Numbers
    weights: Numbers
    groups: Indices
    centre: float
    scale: float
    bounds: tuple[float, float]  # the feature's, in units
    ends: tuple[float, float]  # of the warp, in units

    @classmethod
    def of(cls, feature: Feature, values: Numbers, weights: Numbers, groups: Indices) -> Column:
        """The column of a feature; unknown values are left out."""
        known = ~np.isnan(values)
        numbers = values[known]
        centre = float(np.median(numbers))
        middle = float(np.subtract(*np.quantile(numbers, [0.841, 0.159]))) / 2
        scale = middle or float(numbers.std()) or abs(centre) or 1.0
        bounds = feature.lower, feature.upper
        inside = np.clip(numbers, *bounds)  # as bins take a value outside all for the nearest one
        return cls((inside - centre) / scale, weights[known], groups[known], centre, scale, bounds, ends(feature))

    @property
    def lower(self) -> float:
        """The lower bound, in deviations."""
        return (self.bounds[0] - self.centre) / self.scale

    @property
    def upper(self) -> float:
        """The upper bound, in deviations."""
        return (self.bounds[1] - self.centre) / self.scale

    def room(self, knot: float, *, up: bool) -> float:
        """How far an outer knot is from the end of the warp, in deviations."""
        away = (self.ends[1] - self.centre) / self.scale - knot if up else knot - (self.ends[0] - self.centre) / self.scale
        return max(away, LEAST_ROOM)

    def some(self, which: Indices) -> Column:
        """Some of its rows."""
        return replace(self, values=self.values[which], weights=self.weights[which], groups=self.groups[which])

    @cached_property
    def knots(self) -> Numbers:
        """Quantiles, or next to them, then some in each tail up to the ends of the domain or far beyond what was seen."""
        count = int(np.clip(len(self.values) // ROWS_OF_A_PIECE, 2, MOST_KNOTS))
        inner = _between(np.unique(self.values), np.quantile(self.values, np.linspace(BEYOND, 1 - BEYOND, count)))
        low, high = self.values.min() - FAR * (inner[-1] - inner[0]), self.values.max() + FAR * (inner[-1] - inner[0])
        below = np.linspace(max(low, self.lower), inner[0], TAIL_PIECES, endpoint=False)
        over = np.linspace(min(high, self.upper), inner[-1], TAIL_PIECES, endpoint=False)[::-1]
        least = max(LEAST_PIECE, 64 * float(np.spacing(abs(self.centre) / self.scale)))
        first, last = float(below[0]), float(over[-1])
        if last - first < 2 * least:
            return np.array([first, first + least]) if first + least <= self.upper else np.array([last - least, last])
        kept = [first]
        kept += [float(knot) for knot in np.concatenate([below, inner, over]) if first + least <= knot <= last - least]
        apart = np.concatenate([[True], np.diff(kept) >= least])
        return np.append(np.array(kept)[apart], last)


def _between(values: Numbers, knots: Numbers) -> Numbers:
    """Knots midway between the two values that they lie between or on: on which piece a row is must not be an accident."""
    place = np.clip(np.searchsorted(values, knots), 1, len(values) - 1)
    return np.unique((values[place - 1] + values[place]) / 2) if len(values) > 1 else knots


def ends(feature: Feature) -> tuple[float, float]:
    """The ends of a warp, where its density is 0: half a step beyond the feature's, or for reals the next doubles.

    A warp is straight up to the bounds of the feature, which often are the least and the greatest value seen; what a
    Gaussian has beyond lies between them and the ends.
    """
    if feature.grid is None:
        return math.nextafter(feature.lower, -math.inf), math.nextafter(feature.upper, math.inf)
    return feature.lower - feature.grid / 2, feature.upper + feature.grid / 2


@dataclass(frozen=True)
class _Design:
    """A column by the pieces of its warp."""

    spans: Numbers  # row x piece: z is their sum times the slopes
    piece: Indices
    beyond: Numbers  # the log of how much steeper than its piece the warp is in a row

    @classmethod
    def of(cls, column: Column, knots: Numbers) -> _Design:
        x, wide = column.values, np.diff(knots)
        spans = np.clip(x[:, None] - knots[:-1], 0.0, wide)
        piece = np.clip(np.searchsorted(knots, x) - 1, 0, len(wide) - 1)
        above, log_above = _tail(x - knots[-1], column.room(knots[-1], up=True))
        below, log_below = _tail(knots[0] - x, column.room(knots[0], up=False))
        spans[:, -1] += above
        spans[:, 0] -= below
        return cls(spans, piece, log_above + log_below)


def _tail(past: Numbers, room: float) -> tuple[Numbers, Numbers]:
    """How far a warp of slope 1 goes beyond its last knot, and the log of its slope there."""
    past = np.maximum(past, 0.0)
    if math.isinf(room):
        return past, np.zeros(len(past))
    logs = -np.log1p(-np.minimum(past / room, 1 - 1e-12))
    return room * logs, logs


@dataclass(frozen=True)
class _Moments:
    """What a fit needs of some rows: rows per piece; per group their number, and mean and covariance of the spans."""

    counts: Numbers
    rows: Numbers
    mean: Numbers
    covariance: Numbers

    @classmethod
    def of(cls, design: _Design, column: Column, which: Indices, groups: int) -> _Moments:
        weights, group = column.weights[which], column.groups[which]
        spans = design.spans[which]
        counts = np.bincount(design.piece[which], weights=weights, minlength=spans.shape[1]).astype(np.float64)
        rows = np.bincount(group, weights=weights, minlength=groups).astype(np.float64)
        whole, scatter = _covariance(spans, weights)
        mean, covariance = np.empty((groups, len(whole))), np.empty((groups, len(whole), len(whole)))
        for g in range(groups):
            mean[g], inside = _covariance(spans[group == g], weights[group == g]) if rows[g] > 0 else (whole, scatter)
            covariance[g] = (rows[g] * inside + PRIOR_ROWS * scatter) / (rows[g] + PRIOR_ROWS)
        return cls(counts, rows, mean, covariance)

    def values(self, curves: Numbers) -> Numbers:
        """The log-likelihood of the rows under the log-slopes of each curve (curve x piece), but for a constant."""
        return np.asarray(curves @ self.counts - np.log(self.variances(np.exp(curves))) @ self.rows / 2)

    def variances(self, slopes: Numbers) -> Numbers:
        """The variance of z in each group (curve x group)."""
        spread = np.stack([((slopes @ inside) * slopes).sum(axis=1) for inside in self.covariance], axis=1)
        return np.asarray(np.maximum(spread, LEAST_VARIANCE))


def _covariance(rows: Numbers, weights: Numbers) -> tuple[Numbers, Numbers]:
    mean = np.average(rows, axis=0, weights=weights)
    centred = rows - mean
    return mean, (centred * weights[:, None]).T @ centred / weights.sum()


def power_logs(column: Column, knots: Numbers, *, tails: bool = True) -> Numbers:
    """The log-slopes of power curves (curve x piece), of which the likeliest is taken."""
    return _limited(np.array(list(_power_curves(column, knots, tails))), column, knots)


def _limited(curves: Numbers, column: Column, knots: Numbers) -> Numbers:
    """The curves (curve x piece) without the steepness that no rows speak for, near the pole of a logarithm for one.

    Beyond all but a few of the rows a curve is no steeper than where they begin: a value that is a little less than the
    least seen must not be impossible.
    """
    ordered = np.sort(column.values)
    few = min(ROWS_OF_A_PIECE, len(ordered) - 1) // 2
    first, last = np.clip(np.searchsorted(knots, [ordered[few], ordered[-1 - few]]) - 1, 0, len(knots) - 2)
    curves[:, :first] = np.minimum(curves[:, :first], curves[:, first : first + 1])
    curves[:, last + 1 :] = np.minimum(curves[:, last + 1 :], curves[:, last : last + 1])
    return curves


def _power_curves(column: Column, knots: Numbers, tails: bool) -> Iterator[Numbers]:
    middle = (knots[1:] + knots[:-1]) / 2
    yield np.zeros(len(middle))
    sign = np.sign(middle)
    yield from (sign * (power - 1) * np.log1p(np.abs(middle)) for power in POWERS)
    yield from ((power - 1) * np.log1p(np.abs(middle)) for power in MODULI if tails)
    low, high = float(column.values.min()), float(column.values.max())
    for offset in OFFSETS:
        for away in (middle - low, high - middle):
            distance = np.log(np.maximum(away, 0.0) + offset)
            yield from ((root - 1) * distance for root in ROOTS)


def _bent(moments: _Moments, logs: Numbers, deviation: float) -> Numbers:
    """The likeliest log-slopes if neighbours differ from those of a curve by this deviation, by Newton's method."""
    start, pieces = logs, len(logs)
    steps = np.diff(np.eye(pieces), axis=0)
    prior = steps.T @ steps / deviation**2 + 1e-6 * np.eye(pieces)

    def objective(at: Numbers) -> float:
        return float(moments.values(at[None])[0] - (at - start) @ prior @ (at - start) / 2)

    value = objective(logs)
    for _ in range(ROUNDS):
        slopes = np.exp(logs)
        variances = moments.variances(slopes[None])[0]
        pulls = slopes * (moments.covariance @ slopes) / variances[:, None]  # group x piece
        gradient = moments.counts - moments.rows @ pulls - prior @ (logs - start)
        bend = np.einsum("g,gpq->pq", moments.rows / variances, moments.covariance)
        hessian = slopes[:, None] * bend * slopes + np.diag(moments.rows @ pulls) + prior
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while (there := objective(logs + length * step)) < value and length > 1e-4:
            length /= 2
        if there - value < NO_GAIN:
            break
        logs, value = logs + length * step, there
    return np.asarray(logs - logs.mean())


def _log_slopes(curves: Sequence[Curve], powers: Numbers, moments: _Moments) -> list[Numbers]:
    """The likeliest log-slopes of each kind of curve, given those of the power curves that there are."""
    power = powers[int(np.argmax(moments.values(powers)))]
    starts = [power if curve.power else np.zeros(len(power)) for curve in curves]
    return [
        _bent(moments, logs, curve.deviation) if curve.deviation else logs for curve, logs in zip(curves, starts, strict=True)
    ]


def choose(column: Column, rng: np.random.Generator, curves: Sequence[Curve] = CURVES) -> Curve:
    """The plainest curve that is not worse than the best on held-out rows of the column; the first is the plainest."""
    if len(column.values) > MOST_ROWS:
        column = column.some(np.sort(rng.choice(len(column.values), MOST_ROWS, replace=False)))
    knots = column.knots
    if len(knots) == 2 or len(column.values) < 2 * FOLDS:
        return curves[0]
    design, groups = _Design.of(column, knots), int(column.groups.max()) + 1
    powers = power_logs(column, knots, tails=all(curve.tails for curve in curves))
    order = rng.permutation(len(column.values))
    scores = np.zeros((len(curves), len(order)))
    for fold in range(FOLDS):
        judged = np.sort(order[fold::FOLDS])
        moments = _Moments.of(design, column, np.setdiff1d(order, judged), groups)
        for place, logs in enumerate(_log_slopes(curves, powers, moments)):
            scores[place, judged] = _score(design, column, moments, judged, logs)
    means = np.average(scores, axis=1, weights=column.weights)
    best = int(np.argmax(means))
    behind = means[best] - means
    spread = np.average((scores[best] - scores - behind[:, None]) ** 2, axis=1, weights=column.weights)
    return curves[int(np.argmax(behind <= ERRORS * np.sqrt(spread / len(order))))]


def _score(design: _Design, column: Column, moments: _Moments, judged: Indices, logs: Numbers) -> Numbers:
    """The log-likelihood of each held-out row."""
    slopes, group = np.exp(logs), column.groups[judged]
    variances = moments.variances(slopes[None])[0]
    away = design.spans[judged] @ slopes - (moments.mean @ slopes)[group]
    return np.asarray(
        logs[design.piece[judged]] + design.beyond[judged] - (away**2 / variances[group] + np.log(variances[group])) / 2
    )


def warp_of(curve: Curve, column: Column) -> Warp:
    """The warp of a kind that is likeliest in a column; of mean 0 and variance 1 in all.

    Its outermost knots are the bounds of the feature, if they are within reach: what a Gaussian has beyond lies past them. Were
    it drawn in before, a row at a bound would have a density of its own, the higher the wider a component.
    """
    knots = column.knots
    design = _Design.of(column, knots)
    moments = _Moments.of(design, column, np.arange(len(column.values)), int(column.groups.max()) + 1)
    slopes = np.exp(_log_slopes([curve], power_logs(column, knots, tails=curve.tails), moments)[0])
    z = design.spans @ slopes
    mean = float(np.average(z, weights=column.weights))
    deviation = float(np.sqrt(np.average((z - mean) ** 2, weights=column.weights))) or 1.0
    at = np.concatenate([[0.0], np.cumsum(slopes * np.diff(knots))])
    raw = np.clip(column.centre + column.scale * knots, *column.bounds)
    if 0 <= (far := knots[0] - column.lower) < REACH:
        at[0], raw[0] = at[0] - far * slopes[0], column.bounds[0]
    if 0 <= (far := column.upper - knots[-1]) < REACH:
        at[-1], raw[-1] = at[-1] + far * slopes[-1], column.bounds[1]
    return Warp(tuple(raw.tolist()), tuple(((at - mean) / deviation).tolist()), *column.ends)
