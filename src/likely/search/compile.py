"""A problem, put together in the compiled core."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likely._core import SearchProblem
from likely._core import Share as CoreShare
from likely.errors import ProblemError
from likely.predictor import Column, Form, LinearModel, ReluNetwork, TreeEnsemble
from likely.problem import Problem
from likely.problem.domain import partitions
from likely.schema import Feature
from likely.schema.rules import AtMost, Clause, Rule
from likely.schema.values import Numbers


def compiled(problem: Problem) -> SearchProblem:
    """The problem in the core."""
    schema = problem.schema
    rules = schema.compile(problem.factual)
    core = SearchProblem()
    for cells, factual in zip(partitions(problem, rules), problem.factual, strict=True):
        core.add_feature(
            cells.atom, cells.atom_cost, cells.low, cells.high, cells.segments, cells.segment, cells.grid, float(factual)
        )
    _add_form(core, problem.form, schema.features)
    for alternative in problem.goal.alternatives:
        wanted = alternative.share
        share = None if wanted is None else CoreShare(wanted.output, wanted.scale, *wanted.log_ends)
        core.add_alternative(np.ascontiguousarray(alternative.coefficients), np.ascontiguousarray(alternative.lower), share)
    _add_plausibility(core, problem)
    for rule in rules:
        _add_rule(core, rule)
    return core


def _add_rule(core: SearchProblem, rule: Rule) -> None:
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


def _add_form(core: SearchProblem, form: Form, features: Sequence[Feature]) -> None:
    if isinstance(form, TreeEnsemble):
        divisor = float(len(form.roots)) if form.average else 1.0
        core.set_forest(form.nodes.view(np.uint8), form.roots, form.output_of, form.values, form.base, divisor)
        return
    if isinstance(form, LinearModel):
        layers = [(form.weights, form.bias)]
    elif isinstance(form, ReluNetwork):
        layers = list(form.layers)
    else:
        raise ProblemError("A form", "be linear, a network or trees", type(form).__name__, "use likely.predictor.read")
    atoms, slopes, intercepts = _inputs(form.columns, features)
    first, bias = layers[0]
    later = [(np.ascontiguousarray(weights), np.ascontiguousarray(offset)) for weights, offset in layers[1:]]
    core.set_network(atoms @ first.T, slopes @ first.T, intercepts @ first.T, bias, later)


def _inputs(columns: tuple[Column, ...], features: Sequence[Feature]) -> tuple[Numbers, Numbers, Numbers]:
    """What every atom (discrete value or code) is in each column, and slope and intercept of every feature's numbers."""
    counts = [len(feature.atoms) for feature in features]
    first = np.cumsum([0, *counts])
    atoms = np.zeros((int(first[-1]), len(columns)))
    slopes, intercepts = np.zeros((len(features), len(columns))), np.zeros((len(features), len(columns)))
    for c, column in enumerate(columns):
        j = column.feature
        if counts[j]:
            atoms[first[j] : first[j + 1], c] = column.table or [0.0] * counts[j]
        slopes[j, c], intercepts[j, c] = column.slope, column.intercept
    return atoms, slopes, intercepts
