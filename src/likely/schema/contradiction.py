"""Contradictions that can be seen without a factual.

The row-wise rules are filtered to a fixpoint over the features' domains: a clause with one possible literal left
forces it, a linear row cuts the ends of its features' ranges. A domain that becomes empty is a contradiction, and the
rules that emptied it are named. What needs search to be seen is left to the engines.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import ContradictionError
from likely.schema.constraint import Constraint
from likely.schema.region import Region
from likely.schema.rules import Clause, LinearRow, Rule
from likely.schema.values import LARGEST

if TYPE_CHECKING:
    from likely.schema.schema import Schema

_ROUNDS = 20


def refuse_contradictions(schema: Schema) -> None:
    """Raise `ContradictionError` if the row-wise rules are seen to exclude every row.

    Args:
        schema: The features, rules and costs.
    """
    nobody = np.full(len(schema.features), math.nan)
    rules = [(c, rule) for c in schema.constraints if c.row_wise for rule in c.compile(schema, nobody)]
    domains = [feature.reachable(feature.region) for feature in schema.features]
    blame: list[set[str]] = [set() for _ in schema.features]
    for _ in range(_ROUNDS):
        before = list(domains)
        for constraint, rule in rules:
            _filter(schema, constraint, rule, domains, blame)
        if domains == before:
            return


def _filter(schema: Schema, constraint: Constraint, rule: Rule, domains: list[Region], blame: list[set[str]]) -> None:
    if isinstance(rule, Clause):
        left = [(j, schema.features[j].reachable(domains[j] & region)) for j, region in rule.literals]
        possible = [(j, region) for j, region in left if not region.empty]
        involved = {j for j, _ in rule.literals}
        if not possible:
            _refuse(schema, constraint, involved, blame)
        if len({j for j, _ in possible}) == 1:
            allowed = Region(tuple(i for _, region in possible for i in region.intervals))
            _shrink(possible[0][0], allowed, constraint, involved, domains, blame)
    elif isinstance(rule, LinearRow):
        _filter_linear(schema, constraint, rule, domains, blame)


def _filter_linear(schema: Schema, constraint: Constraint, rule: LinearRow, domains: list[Region], blame: list[set[str]]) -> None:
    involved = set(rule.features)
    if any(domains[j].low < -LARGEST for j in rule.features):
        return  # a code lifts the rule
    ends = [sorted((a * domains[j].low, a * domains[j].high)) for j, a in zip(rule.features, rule.coefficients, strict=True)]
    # The rule's own slack, at the row that has the most of it, and rounding here: what is cut off breaks the rule for sure.
    size = sum(max(-low, high) for low, high in ends)
    slack = rule.upper + 4 * float(rule.slack(size)) - sum(low for low, _ in ends)
    if slack < 0:
        _refuse(schema, constraint, involved, blame)
    for j, a, (least, _) in zip(rule.features, rule.coefficients, ends, strict=True):
        if a != 0 and math.isfinite(slack):
            end = (least + slack) / a
            kept = Region.between(-LARGEST, end) if a > 0 else Region.between(end, LARGEST)
            smaller = schema.features[j].reachable(domains[j] & kept)
            if smaller.empty:
                _refuse(schema, constraint, involved, blame)
            _shrink(j, smaller, constraint, involved, domains, blame)


def _shrink(
    j: int, smaller: Region, constraint: Constraint, involved: set[int], domains: list[Region], blame: list[set[str]]
) -> None:
    if smaller != domains[j]:
        domains[j] = smaller
        blame[j] |= {str(constraint)}.union(*(blame[i] for i in involved))


def _refuse(schema: Schema, constraint: Constraint, involved: set[int], blame: list[set[str]]) -> None:
    rules = sorted({str(constraint)}.union(*(blame[j] for j in involved)))
    first = schema.features[min(involved)]
    domains = "; ".join(f"'{schema.features[j].name}': {schema.features[j].describe()}" for j in sorted(involved))
    raise ContradictionError(
        "The rules of a schema", f"leave at least one row (domains: {domains})", " and ".join(f'"{rule}"' for rule in rules),
        "drop or relax one of them", feature=first.name,
    )  # fmt: skip
