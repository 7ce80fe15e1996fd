"""A form as a graph of units, as the core reads it: inputs, trees, sums, and functions of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely._core import SearchProblem
from likely.predictor import Column, Composite, Form, Function, LinearModel, LinearTrees, ReluNetwork, TreeEnsemble
from likely.predictor.curves import OPERATIONS
from likely.predictor.functions import GROUP, SINGLE
from likely.schema.values import Numbers

#: The kinds of units and of functions by their numbers in the core (`composite.hpp`, `score_functions.hpp`).
_INPUT, _TREES, _SUM, _FUNCTION, _LINEAR_TREE = range(5)
_FUNCTIONS = {kind: number for number, kind in enumerate((*SINGLE, *GROUP))}
_STEPS = {op: number for number, op in enumerate(OPERATIONS)}
_RELU = Function("relu")

Unit: TypeAlias = tuple[int, int, int, list[int], list[float], list[float], float, float, float]


@dataclass(frozen=True)
class _Sum:
    """weights of units, plus a bias: a unit's number for now, which is one unit once something reads it.

    `sizes` are those of the terms that each weight was added up from, `roundings` how often that rounds.
    """

    weights: dict[int, float]
    sizes: dict[int, float]
    bias: float
    bias_size: float
    roundings: float

    def is_unit(self) -> bool:
        """Whether it is just one of the units."""
        return self.bias == self.bias_size == 0 and list(self.weights.values()) == [1.0] and list(self.sizes.values()) == [1.0]


@dataclass
class Graph:
    """Units, each after those that it reads; what several forms read or compute alike is there once."""

    columns: dict[Column, int] = field(default_factory=dict)
    forests: list[TreeEnsemble] = field(default_factory=list)
    linear_forests: list[tuple[LinearTrees, list[int]]] = field(default_factory=list)  # and the inputs of their terms
    functions: dict[Function, int] = field(default_factory=dict)
    units: list[Unit] = field(default_factory=list)
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)

    def add(self, form: Form) -> list[int]:
        """The units of a form's scores.

        Args:
            form: Of any kind.
        """
        return [self._unit_of_sum(score) for score in self._scores(form)]

    def _scores(self, form: Form) -> list[_Sum]:
        if isinstance(form, Composite):
            scores = [score for member in form.members for score in self._scores(member)]
            for layer in form.layers:
                scores = self._sums(layer.weights, layer.bias, self._applied(layer.functions, scores))
            return scores
        if isinstance(form, TreeEnsemble):
            self.forests.append(form)
            return [_unit(self._unit(_TREES, len(self.forests) - 1, o, [])) for o in range(form.outputs)]
        if isinstance(form, LinearTrees):
            return self._linear_trees(form)
        assert isinstance(form, LinearModel | ReluNetwork)
        scores = [_unit(self._input(column)) for column in form.columns]
        for i, (weights, bias) in enumerate(form.layers):
            scores = self._sums(weights, bias, self._applied([_RELU] * len(scores), scores) if i else scores)
        return scores

    def _linear_trees(self, form: LinearTrees) -> list[_Sum]:
        """The sums of the trees, each of which is a unit that reads the inputs of all its leaves."""
        units = [self._input(column) for column in form.columns]
        self.linear_forests.append((form, [self.columns[form.columns[term]] for term in form.terms]))
        weights: list[dict[int, float]] = [{} for _ in range(form.outputs)]
        for t, (output, columns) in enumerate(zip(form.trees.output_of, form.columns_of_trees(), strict=True)):
            reads = sorted({units[column] for column in columns})
            weights[output][self._unit(_LINEAR_TREE, len(self.linear_forests) - 1, t, reads)] = 1.0
        terms = float(len(form.trees.roots) + 2)
        return [
            _Sum(own, dict(own), float(base), abs(float(base)), terms) for own, base in zip(weights, form.trees.base, strict=True)
        ]

    def _input(self, column: Column) -> int:
        return self._unit(_INPUT, self.columns.setdefault(column, len(self.columns)), 0, [])

    def _applied(self, functions: Sequence[Function], scores: Sequence[_Sum]) -> list[_Sum]:
        made: list[_Sum] = []
        for function in functions:
            own = scores[len(made) : len(made) + function.width]
            if function.kind == "identity":
                made += self._sums(np.array([[function.scale]]), np.array([function.shift]), own)
                continue
            number = self.functions.setdefault(function, len(self.functions))
            reads = [self._unit_of_sum(score) for score in own]
            made += [_unit(self._unit(_FUNCTION, number, place, reads)) for place in range(function.width)]
        return made

    def _sums(self, weights: Numbers, bias: Numbers, scores: Sequence[_Sum]) -> list[_Sum]:
        """Weighted sums of sums, multiplied out."""
        return [_sum(row, float(offset), scores) for row, offset in zip(weights.tolist(), bias.tolist(), strict=True)]

    def _unit_of_sum(self, score: _Sum) -> int:
        if score.is_unit():
            return next(iter(score.weights))
        reads = sorted(score.sizes)
        weights, sizes = [score.weights[u] for u in reads], [score.sizes[u] for u in reads]
        return self._unit(_SUM, 0, 0, reads, weights, sizes, score.bias, score.bias_size, score.roundings)

    def _unit(
        self,
        kind: int,
        source: int,
        place: int,
        reads: list[int],
        weights: Sequence[float] = (),
        sizes: Sequence[float] = (),
        bias: float = 0.0,
        bias_size: float = 0.0,
        roundings: float = 0.0,
    ) -> int:
        key = (kind, source, place, tuple(reads), tuple(weights), bias)
        if key not in self._known:
            self._known[key] = len(self.units)
            self.units.append((kind, source, place, reads, list(weights), list(sizes), bias, bias_size, roundings))
        return self._known[key]


def _unit(number: int) -> _Sum:
    return _Sum({number: 1.0}, {number: 1.0}, 0.0, 0.0, 0.0)


def _sum(weights: Sequence[float], bias: float, scores: Sequence[_Sum]) -> _Sum:
    total: dict[int, float] = {}
    sizes: dict[int, float] = {}
    offset, offset_size, roundings, terms = bias, abs(bias), 0.0, 2
    for weight, score in zip(weights, scores, strict=True):
        if weight == 0:
            continue
        terms += 1
        roundings = max(roundings, score.roundings)
        offset, offset_size = offset + weight * score.bias, offset_size + abs(weight) * score.bias_size
        for unit, own in score.weights.items():
            total[unit] = total.get(unit, 0.0) + weight * own
            sizes[unit] = sizes.get(unit, 0.0) + abs(weight) * score.sizes[unit]
    if list(total.values()) == [1.0] and list(sizes.values()) == [1.0] and offset_size == 0:
        return _Sum(total, sizes, 0.0, 0.0, 0.0)
    return _Sum(total, sizes, offset, offset_size, roundings + terms)


def _curve(column: Column) -> list[tuple[int, float, float, list[float], list[float]]]:
    return [(_STEPS[step.op], step.slope, step.intercept, list(step.knots), list(step.values)) for step in column.curve]


def _forest(
    trees: TreeEnsemble,
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], float]:
    return trees.nodes.view(np.uint8), trees.roots, trees.output_of, trees.values, trees.base, trees.divisor


def add_composite(core: SearchProblem, form: Form) -> int:
    """Gives the core a form as a graph; returns how often each goal is to be given, once per relaxation.

    Args:
        core: The problem, with its features.
        form: What the model computes.
    """
    graph = Graph()
    outputs = graph.add(form)
    inputs = [(c.feature, list(c.table), c.slope, c.center, c.intercept, _curve(c)) for c in graph.columns]
    forests = [_forest(trees) for trees in graph.forests]
    linear = [(_forest(f.trees), f.starts.tolist(), terms, f.weights.tolist()) for f, terms in graph.linear_forests]
    functions = [(_FUNCTIONS[f.kind], f.scale, f.shift, list(f.knots), list(f.values)) for f in graph.functions]
    return core.set_composite(inputs, forests, linear, functions, graph.units, outputs)
