"""The answers of small problems, by looking at every row there is; and of problems over reals, by linear programmes.

Slow, and written without the code it judges: no boxes, no cells but where the meaning of "different answers" is theirs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from likely.circuit import Leaf
from likely.circuit.queries.evaluate import max_log_likelihood
from likely.predictor import Composite, LinearModel, LinearTrees, TreeEnsemble
from likely.problem import Alternative, Problem
from likely.problem.domain import Partition, partitions
from likely.schema.rules import LinearRow
from tests.oracles.circuits import breaks_of, values_of

#: Two computations of one score, or of one log-likelihood, may differ by this much, relative to their size.
ROUNDING = 1e-9
#: What one operation on doubles is off by, relative to its result.
ROUNDOFF = 2.0**-53


@dataclass(frozen=True, eq=False)
class Answers:
    """Every row that may reach an alternative of the goal, the best first; one that may reach two is there twice.

    So a row is of one of three kinds. It is `sure` if it is an answer whichever way its terms are added up. It is here without
    being sure if the rounding of those terms decides: an engine may take it or leave it. All others are no answers.
    """

    rows: np.ndarray
    objective: np.ndarray
    cost: np.ndarray
    log_likelihood: np.ndarray
    alternative: np.ndarray
    sure: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def best(self) -> float:
        """The optimum, as far as is sure; infinite if there is no answer."""
        return float(self.objective[self.sure].min(initial=math.inf))

    @property
    def least(self) -> float:
        """What no answer is below, whichever way roundings go."""
        return float(self.objective.min(initial=math.inf))


def values_with(feature: Any, factual: float) -> list[float]:
    """Every value of a feature for a factual, which may stay as it is; and a bound is a value where its multiple lies beyond it.

    Of two that a column of singles cannot tell apart, the factual's or bound's is the value.
    """
    values = values_of(feature)
    if not feature.numeric:
        return values
    step = feature.grid
    numbers = [factual] if factual > -(2.0**999) else []
    for end in (feature.lower, feature.upper):
        if feature.fits(np.array([end]))[0] and all(abs(end - v) > step / 2 for v in [*values, *numbers]):
            numbers.append(end)
    if feature.dtype == "float32":
        values = [v for v in values if all(np.float32(v) != np.float32(number) for number in numbers)]
    return values + [number for number in numbers if number not in values]


def rows_over(features: Sequence[Any], factual: np.ndarray) -> np.ndarray:
    """Every row of features that have finitely many values, the factual's among them."""
    parts = zip(features, factual, strict=True)
    return np.array(list(itertools.product(*(values_with(feature, float(value)) for feature, value in parts))))


def space_of(problem: Problem) -> np.ndarray:
    """Every row of a problem whose features have finitely many values."""
    return rows_over(problem.schema.features, problem.factual)


def log_likelihoods(problem: Problem, rows: np.ndarray, alternative: Alternative) -> np.ndarray:
    """How likely each row is together with the alternative's class, and given what it is given; 0 if nobody asks."""
    plausibility = problem.plausibility
    if plausibility is None:
        return np.zeros(len(rows))
    with_class = plausibility.circuit.target is not None and alternative.class_index is not None
    encoded = plausibility.circuit.encode(rows, problem.form.classes[alternative.class_index] if with_class else None)
    logs = (
        max_log_likelihood(plausibility.circuit, encoded)
        if plausibility.approximate
        else plausibility.circuit.log_likelihood(encoded)
    )
    target = plausibility.circuit.target.number(problem.form.classes[alternative.class_index]) if with_class else math.nan
    return np.asarray(logs - plausibility.log_given(problem.factual, target))


def coherences(problem: Problem, rows: np.ndarray, alternative: Alternative) -> np.ndarray:
    """How well values fit together, and with the class of an alternative: log p(x) less the logs of all marginals."""
    assert problem.coherence is not None
    circuit = problem.coherence.circuit
    with_class = circuit.target is not None and alternative.class_index is not None
    encoded = circuit.encode(rows, problem.form.classes[alternative.class_index] if with_class else None)
    joint, total = circuit.log_likelihood(encoded), np.zeros(len(rows))
    for j in range(encoded.shape[1]):
        alone = np.full(encoded.shape, math.nan)
        alone[:, j] = encoded[:, j]
        total += circuit.log_likelihood(alone)
    return np.array([-math.inf if log == -math.inf else log - less for log, less in zip(joint, total, strict=True)])


def exact_scores(problem: Problem, rows: np.ndarray) -> bool:
    """Whether all scores are sums and products of few bits, so that every way to compute them gives the same double."""
    if isinstance(problem.form, Composite):
        return False
    numbers = np.where(rows < -(2.0**999), 0.0, rows)
    return isinstance(problem.form, TreeEnsemble) or bool((numbers * 64 == np.round(numbers * 64)).all())


def score_rounding(form: Any, rows: np.ndarray) -> np.ndarray:
    """By how much the largest score of each row can differ between two ways of adding up its terms.

    A sum of n terms is off by at most n roundoffs of the sum of their sizes, and each of two ways may be.
    """
    if isinstance(form, Composite):
        return _rounding_of_composite(form, rows)
    if isinstance(form, TreeEnsemble):
        terms, size = len(form.roots) + 1, len(form.roots) * np.abs(form.values).max() + np.abs(form.base).max()
        return np.full(len(rows), 2 * ROUNDOFF * (terms + 1) * size)
    numbers = np.where(rows < -(2.0**999), 0.0, np.abs(rows))
    slopes = [abs(c.slope) * (numbers[:, c.feature] + abs(c.center)) + abs(c.intercept) for c in form.columns]
    sizes = np.stack(slopes, axis=1) + np.abs(form.inputs(rows))
    if isinstance(form, LinearTrees):  # no leaf weighs more than all columns, each with the greatest of its weights
        most = np.array([np.abs(form.weights[form.terms == c]).max(initial=0.0) for c in range(len(form.columns))])
        size = np.abs(form.trees.values).max() + sizes @ most
        terms = len(form.trees.roots) + len(form.columns) + 4
        return np.asarray(2 * ROUNDOFF * terms * (len(form.trees.roots) * size + np.abs(form.trees.base).max()))
    layers = [(form.weights, form.bias)] if isinstance(form, LinearModel) else list(form.layers)
    terms = 3
    for weights, bias in layers:
        sizes = sizes @ np.abs(weights).T + np.abs(bias)
        terms += weights.shape[1] + 1
    return np.asarray(2 * ROUNDOFF * terms * sizes.max(axis=1))


def _rounding_of_composite(form: Composite, rows: np.ndarray) -> np.ndarray:
    """How far the scores of each row move if those of the members do, by what rounding may do and a little more."""
    off = [np.maximum(score_rounding(member, rows), 1e-14) for member in form.members]
    scores = np.concatenate([member.score(rows) for member in form.members], axis=1)
    edge = np.repeat(np.stack(off, axis=1), [member.outputs for member in form.members], axis=1)
    ends = []
    for trial in range(64):
        moved = scores + edge * np.random.default_rng(trial).choice([-4.0, 0.0, 4.0], scores.shape)
        for layer in form.layers:
            moved = layer.at(moved)
            moved = moved + 1e-13 * (1 + np.abs(moved)) * np.random.default_rng(trial).choice([-1.0, 0.0, 1.0], moved.shape)
        ends.append(moved)
    return np.asarray(2 * np.ptp(np.stack(ends), axis=0).max(axis=1) + 1e-12)


def answers_of(problem: Problem, rows: np.ndarray | None = None) -> Answers:
    """The answers among these rows; among all there are, unless said otherwise."""
    rows = space_of(problem) if rows is None else rows
    rows = rows[problem.schema.keeps(problem.factual, rows)]
    parts = [_reaching(problem, rows, a) for a in range(len(problem.goal.alternatives))] if len(rows) else []
    columns = [np.concatenate(part) for part in zip(*parts, strict=True)]
    if not columns:
        return Answers(rows, *(np.empty(0) for _ in range(4)), np.empty(0, dtype=bool))
    order = np.argsort(columns[1], kind="stable")
    return Answers(*(column[order] for column in columns))


def _reaching(problem: Problem, rows: np.ndarray, a: int) -> tuple[np.ndarray, ...]:
    """The rows that reach one alternative, with all that `Answers` tells of them."""
    alternative, plausibility = problem.goal.alternatives[a], problem.plausibility
    scores = problem.form.score(rows)
    room = (scores @ alternative.coefficients.T - alternative.lower).min(axis=1)
    most = np.abs(alternative.coefficients).sum(axis=1).max()
    edge = most * score_rounding(problem.form, rows) + ROUNDOFF * np.abs(alternative.lower).max()
    sure, possible = room >= (0.0 if exact_scores(problem, rows) else edge), room >= -edge
    if alternative.share is not None:
        share = problem.form.probabilities(rows)[:, alternative.share.output]
        low, high = alternative.share.low, alternative.share.high
        sure &= (low + ROUNDING <= share) & (share <= high - ROUNDING)
        possible &= (low - ROUNDING <= share) & (share <= high + ROUNDING)
    likelihoods, costs = log_likelihoods(problem, rows, alternative), problem.schema.prices(problem.factual, rows)
    objectives = costs.copy()
    if plausibility is not None:
        slack = ROUNDING * (1 + np.abs(np.nan_to_num(likelihoods, neginf=0.0))) if plausibility.given else 0.0
        sure, possible = (
            sure & (likelihoods >= plausibility.lower + slack),
            possible & (likelihoods >= plausibility.lower - slack),
        )
        if plausibility.weight > 0:
            objectives -= plausibility.weight * likelihoods
    if problem.coherence is not None:
        fits = coherences(problem, rows, alternative)
        sure, possible = (
            sure & (fits >= problem.coherence.lower + ROUNDING),
            possible & (fits >= problem.coherence.lower - ROUNDING),
        )
    possible &= objectives < math.inf  # what is impossible is no answer where likelihood counts
    return (
        rows[possible],
        objectives[possible],
        costs[possible],
        likelihoods[possible],
        np.full(possible.sum(), a),
        sure[possible],
    )


# -- several answers --------------------------------------------------------------------------------------------------


def cells_of(problem: Problem) -> list[Partition]:
    """The cells in which two answers are the same one."""
    return partitions(problem)


def cell_keys(problem: Problem, rows: np.ndarray) -> list[tuple[float, ...]]:
    """The cell of each real, and every other value as it is."""
    keys = np.full(rows.shape, -1.0)
    for j, part in enumerate(cells_of(problem)):
        if part.grid or not len(part.low):
            keys[:, j] = rows[:, j]
            continue
        for k, atom in enumerate(part.atom):
            keys[rows[:, j] == atom, j] = k
        for c, (low, high) in enumerate(zip(part.low, part.high, strict=True)):
            keys[(low <= rows[:, j]) & (rows[:, j] <= high), j] = len(part.atom) + c
        assert (keys[:, j] >= 0).all(), "a value of the feature lies in no cell"
    return [tuple(key) for key in keys.tolist()]


def changed_keys(problem: Problem, rows: np.ndarray) -> list[tuple[int, ...]]:
    """Which features each row changes."""
    return [tuple(int(c) for c in row) for row in rows != problem.factual]


def best_by_key(keys: Sequence[Any], objectives: np.ndarray) -> dict[Any, float]:
    """The least objective of each kind of answer."""
    best: dict[Any, float] = {}
    for key, objective in zip(keys, objectives, strict=True):
        best[key] = min(best.get(key, math.inf), float(objective))
    return best


# -- reals ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """Some of a feature's values: one of them, or the reals between two, on which all but costs and scores is constant."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """A value that stands for all."""
        return self.low if self.low == self.high else 0.5 * self.low + 0.5 * self.high


def pieces_of(problem: Problem, j: int) -> list[Piece]:
    """A feature's values: each by itself, or, of reals, the marks where something changes and what lies between them."""
    feature, factual = problem.schema.features[j], float(problem.factual[j])
    if feature.grid is not None:
        return [Piece(v, v) for v in values_with(feature, factual)]
    region = feature.region
    marks = [end for interval in region.intervals for end in interval]
    marks += [] if math.isnan(factual) else [factual]
    marks += [getattr(problem.schema.costs[j], "anchor", feature.lower)]
    if problem.plausibility is not None:
        leaves = (node for node in problem.plausibility.circuit.nodes if isinstance(node, Leaf) and node.variable == j)
        marks += [b for leaf in leaves for b in breaks_of(leaf)]
    for rule in problem.schema.compile(problem.factual):
        literals = rule.literals if not isinstance(rule, LinearRow) else ()
        marks += [end for i, part in literals if i == j for interval in part.intervals for end in interval]
    marks = sorted({mark for mark in marks if mark in region})
    pieces = [Piece(mark, mark) for mark in marks]
    return pieces + [Piece(a, b) for a, b in itertools.pairwise(marks) if b - a > 1e-12 and 0.5 * a + 0.5 * b in region]


def least_over_reals(problem: Problem) -> float:
    """The optimum of a linear model or a small network over reals, with a circuit of histograms: a linear programme for
    every combination of pieces and every pattern of active units; infinite if there is no answer.

    An end of a piece that belongs to its neighbour counts: the engine stops a double short of it.
    """
    pieces = [pieces_of(problem, j) for j in range(len(problem.schema))]
    combinations = list(itertools.product(*pieces))
    rows = np.array([[piece.middle for piece in combination] for combination in combinations])
    kept = np.all([rule.satisfied(rows) for rule in problem.schema.compile(problem.factual) if not isinstance(rule, LinearRow)]
                  or [np.ones(len(rows), dtype=bool)], axis=0)  # fmt: skip
    best = math.inf
    for alternative in problem.goal.alternatives:
        likelihoods, plausibility = log_likelihoods(problem, rows, alternative), problem.plausibility
        likely = np.ones(len(rows), dtype=bool) if plausibility is None else likelihoods >= plausibility.lower
        for place in np.flatnonzero(kept & likely):
            weight = 0.0 if plausibility is None or plausibility.weight == 0 else plausibility.weight * likelihoods[place]
            if weight > -math.inf:
                best = min(best, _least_over_pieces(problem, alternative, combinations[place], best + weight) - weight)
    return best


def _least_over_pieces(problem: Problem, alternative: Alternative, pieces: Sequence[Piece], limit: float) -> float:
    """The least cost in a combination of pieces; anything else that is no less than the limit."""
    low, high = np.array([(piece.low, piece.high) for piece in pieces]).T
    free = np.flatnonzero(high > low)
    base = np.array([piece.middle for piece in pieces])
    slopes, constant = _affine(lambda rows: problem.schema.prices(problem.factual, rows)[:, None], base, high - low, free)
    if (constant + np.minimum(slopes * (low - base)[free], slopes * (high - base)[free]).sum()).item() >= limit:
        return limit
    rules = [(rule.features, rule.coefficients, rule.upper) for rule in problem.schema.compile(problem.factual)
             if isinstance(rule, LinearRow) and (base[list(rule.features)] > -(2.0**999)).all()]  # fmt: skip
    matrix, upper = np.zeros((len(rules), len(pieces))), np.zeros(len(rules))
    for i, (features, coefficients, end) in enumerate(rules):
        matrix[i, list(features)] = coefficients
        upper[i] = end + ROUNDING * abs(end)
    upper -= matrix @ np.where(base > -(2.0**999), base, 0.0)
    bounds = list(zip((low - base)[free], (high - base)[free], strict=True))
    best = math.inf
    for scores, sides in _patterns(problem.form, base, high - low, free):
        goal = alternative.coefficients @ scores
        rows = np.concatenate([matrix[:, free], -goal[:, 1:], -sides[:, 1:]])
        ends = np.concatenate([upper, goal[:, 0] - alternative.lower, sides[:, 0]])
        best = min(best, _programme(slopes[0], rows, ends, bounds) + float(constant[0]))
    return best


def _programme(costs: np.ndarray, rows: np.ndarray, ends: np.ndarray, bounds: list[tuple[float, float]]) -> float:
    """min costs . d, where rows @ d <= ends."""
    if not len(costs):
        return 0.0 if (ends >= -ROUNDING).all() else math.inf
    result = optimize.linprog(costs, rows, ends, bounds=bounds, method="highs")
    assert result.status in (0, 2), result.message
    return float(result.fun) if result.status == 0 else math.inf


def _affine(function: Any, base: np.ndarray, width: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes (outputs x free) and values at the base of a function that is affine near it."""
    steps = np.zeros((len(free) + 1, len(base)))
    steps[np.arange(len(free)) + 1, free] = width[free] / 4
    values = function(base + np.where(base > -(2.0**999), steps, 0.0))
    return ((values[1:] - values[0]) / (width[free] / 4)[:, None]).T, values[0]


def _patterns(form: Any, base: np.ndarray, width: np.ndarray, free: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For every pattern of active units: the scores, and what must be at least 0, as [constant, slopes]."""
    slopes, constant = _affine(form.inputs, base, width, free)
    inputs = np.concatenate([constant[:, None], slopes], axis=1)
    layers = [(form.weights, form.bias)] if isinstance(form, LinearModel) else list(form.layers)
    for active in itertools.product([False, True], repeat=sum(len(bias) for _, bias in layers[:-1])):
        left, values, sides = list(active), inputs, []
        for i, (weights, bias) in enumerate(layers):
            values = weights @ values
            values[:, 0] += bias
            if i < len(layers) - 1:
                on = np.array([left.pop(0) for _ in bias])
                sides.append(np.where(on[:, None], values, -values))
                values = np.where(on[:, None], values, 0.0)
        yield values, np.concatenate([*sides, np.empty((0, values.shape[1]))])
