"""A problem, put together in the compiled core."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likely._core import SearchProblem
from likely._core import Share as CoreShare
from likely.errors import ProblemError
from likely.predictor import LinearModel, ReluNetwork, TreeEnsemble
from likely.predictor.composite import is_plain
from likely.problem import Problem
from likely.problem.domain import Partition, partitions
from likely.schema.rules import AtMost, Clause, Rule
from likely.search.first_layer import first_layer
from likely.search.graph import add_composite
from likely.search.rounding import Sizes, refuse_noise, sizes_of, sizes_of_trees


def compiled(problem: Problem) -> SearchProblem:
    """The problem in the core."""
    cells = partitions(problem)
    anchors = [_anchor(part, float(factual)) for part, factual in zip(cells, problem.factual, strict=True)]
    core = SearchProblem()
    for part, factual, anchor in zip(cells, problem.factual, anchors, strict=True):
        core.add_feature(
            part.atom, part.atom_cost, part.low, part.high, part.segments, part.segment, part.grid, float(factual), anchor
        )
    relaxations = 1
    if not is_plain(problem.form):
        relaxations = add_composite(core, problem.form)
    else:
        refuse_noise(problem.goal.alternatives, _add_form(core, problem, anchors))
    for alternative in problem.goal.alternatives:
        wanted = alternative.share
        share = None if wanted is None else CoreShare(wanted.output, wanted.scale, *wanted.log_ends)
        coefficients, lower = (np.repeat(part, relaxations, axis=0) for part in (alternative.coefficients, alternative.lower))
        core.add_alternative(coefficients, lower, share)
    _add_plausibility(core, problem)
    _add_coherence(core, problem)
    for rule in problem.rules:
        add_rule(core, rule)
    return core


def _anchor(part: Partition, factual: float) -> float:
    """The number from which the core measures: the factual, or the middle of the numbers if it is unknown or no number."""
    if not len(part.low):
        return 0.0
    if ((part.low <= factual) & (factual <= part.high)).any():
        return factual
    return float(part.low[0] / 2 + part.high[-1] / 2)


def add_rule(core: SearchProblem, rule: Rule) -> None:
    """One more rule of a problem in the core, all of whose regions begin and end with cells."""
    if isinstance(rule, Clause):
        core.add_clause([(j, list(region.intervals)) for j, region in rule.literals])
    elif isinstance(rule, AtMost):
        core.add_at_most([(j, list(region.intervals)) for j, region in rule.literals], rule.count)
    else:
        core.add_linear(list(rule.features), list(rule.coefficients), rule.upper)


def _add_plausibility(core: SearchProblem, problem: Problem) -> None:
    asked = problem.plausibility
    if asked is None:
        return
    targets = [asked.target_of(problem.form, alternative.class_index) for alternative in problem.goal.alternatives]
    given = [asked.log_given(problem.factual, target) for target in targets]
    core.set_circuit(asked.circuit.core, np.array(targets), np.array(given), asked.approximate, asked.lower, asked.weight)


def _add_coherence(core: SearchProblem, problem: Problem) -> None:
    asked = problem.coherence
    if asked is not None:
        targets = [asked.target_of(problem.form, alternative.class_index) for alternative in problem.goal.alternatives]
        circuit = asked.circuit
        core.set_coherence(circuit.core if circuit.has_blocks else circuit.ratio_core, np.array(targets), asked.lower)


def _add_form(core: SearchProblem, problem: Problem, anchors: Sequence[float]) -> Sizes:
    """Gives the core the form; returns the sizes of the terms of its scores."""
    form, features = problem.form, problem.schema.features
    if isinstance(form, TreeEnsemble):
        least, spread = core.set_forest(
            form.nodes.view(np.uint8), form.roots, form.output_of, form.values, form.base, form.divisor
        )
        return sizes_of_trees(form, least, spread)
    if not isinstance(form, LinearModel | ReluNetwork):
        raise ProblemError("A form", "be linear, a network or trees", type(form).__name__, "use likely.predictor.read")
    first = first_layer(form, features, anchors)
    sizes = sizes_of(form, first, features)
    later = [(np.ascontiguousarray(weights), np.ascontiguousarray(offset)) for weights, offset in form.layers[1:]]
    core.set_network(first.values, first.sizes, first.inputs, first.terms, first.bias, later)
    return sizes
