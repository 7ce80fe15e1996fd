"""Where each feature goes from the factual: the cells that costs and rules tell apart, and the two blocks over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.mio.inputs import Cells, FeatureInputs, RowVariables, cell_holds
from likely.mio.modelling import (
    Block,
    Expression,
    Variable,
    add,
    binaries,
    new_block,
    new_blocks,
    numbers,
    parameter,
    rows,
    total,
)
from likely.mio.scaling import difference, unit_of
from likely.mio.tolerances import PRICE_ROUNDING, SMALLEST
from likely.problem.domain import Partition, partition, rule_breakpoints
from likely.schema.costs import Cost
from likely.schema.region import Region
from likely.schema.rules import Clause, LinearRow, Rule
from likely.schema.values import Numbers


@dataclass(eq=False)
class FeatureMoves:
    """One feature's cells: `cells[c]` is 1 if the number lies there, and then `shares[c]` is its scaled value, else 0."""

    inputs: FeatureInputs
    factual: float
    domain: Partition
    cells: Cells
    shares: dict[int, Variable]  # of the cells that are more than one value

    def within(self, region: Region) -> Expression:
        """1 if the value lies in a region that no cell crosses, else 0.

        Args:
            region: A set of doubles.
        """
        atoms = [self.inputs.atoms[k] for k in np.flatnonzero(region.contains(self.domain.atom))]
        cells = [self.cells.variables[c] for c in np.flatnonzero(region.contains(self.domain.low))]
        return total([*atoms, *cells])

    @property
    def stays(self) -> Expression:
        """1 if the value is the factual's, else 0 (always, if that is unknown)."""
        return 0 if np.isnan(self.factual) else self.within(Region.points([self.factual]))

    def set(self, value: float) -> None:
        """Give the variables the values that follow from the feature's double.

        Args:
            value: A double of the feature.
        """
        self.cells.set(value)
        inside = cell_holds(self.inputs, self.domain.low, self.domain.high, value)
        for c, share in self.shares.items():
            share.set_value(self.inputs.variable.value if inside[c] else 0.0)


@dataclass(eq=False)
class Moves:
    """The moves of all features: `block` to put into a model."""

    inputs: RowVariables
    factual: Numbers
    rules: tuple[Rule, ...]
    block: Block
    features: list[FeatureMoves]

    def set(self, row: Numbers) -> None:
        """Give the variables the values that follow from a row.

        Args:
            row: A row, as doubles.
        """
        for feature, value in zip(self.features, row, strict=True):
            feature.set(float(value))


def encode_moves(inputs: RowVariables, factual: Numbers) -> Moves:
    """The cells of every feature between the factual, the ends of the rules' regions and the breakpoints of its cost.

    For a feature of numbers with C cells, W of them wider than one value, s_c = 1 for the cell that the number lies in:

        sum_c s_c = n,   sum_c v_c = u,   low_c s_c <= v_c <= high_c s_c        C + W columns, 2 + 2 W rows

    where v_c is a variable for a wide cell and low_c s_c for a single value. Exact; the relaxation is the convex hull of the
    cells (Balas's extended formulation of a disjunction), so that any cost that is linear on every cell has its convex envelope.
    Discrete features need nothing.

    Args:
        inputs: The row.
        factual: The row to start from, as doubles; NaN where a value is unknown.
    """
    schema = inputs.schema
    rules = schema.compile(factual)
    block = new_block()
    block.feature = new_blocks(len(schema))
    features = []
    for j, part in enumerate(inputs.features):
        domain = partition(part.feature, schema.costs[j], float(factual[j]), rule_breakpoints(rules, j))
        features.append(_encode_feature(block.feature[j], part, float(factual[j]), domain))
    return Moves(inputs, factual, rules, block, features)


def _encode_feature(block: Block, inputs: FeatureInputs, factual: float, domain: Partition) -> FeatureMoves:
    count, scale = len(domain.low), inputs.scale
    if scale is None:
        return FeatureMoves(inputs, factual, domain, Cells(inputs, domain.low, domain.high, []), {})
    low, high = scale.units(domain.low), scale.units(domain.high)
    wide = np.flatnonzero(low < high)
    block.rows, block.cell, block.share = rows(), binaries(count), numbers(len(wide), 0.0, scale.length)
    shares = {int(c): block.share[i] for i, c in enumerate(wide)}
    add(block, total(block.cell[c] for c in range(count)) == inputs.is_number)
    add(block, total(shares[c] if c in shares else float(low[c]) * block.cell[c] for c in range(count)) == inputs.variable)
    for c, share in shares.items():
        add(block, share >= float(low[c]) * block.cell[c])
        add(block, share <= float(high[c]) * block.cell[c])
    cells = Cells(inputs, domain.low, domain.high, [block.cell[c] for c in range(count)])
    return FeatureMoves(inputs, factual, domain, cells, shares)


def encode_cost(moves: Moves) -> Expression:
    """The cost of the row for the factual: an expression, no rows and no columns of its own.

    sum_j [ sum_k price_j(k) d_jk + sum_c price_j(low_c) s_jc + slope_jc (v_jc - low_c s_jc) ], exactly, with the prices of
    the schema: 1 / MAD per unit, weights of values, fees and tables.

    Args:
        moves: Where each feature goes.
    """
    parts = zip(moves.features, moves.inputs.schema.costs, strict=True)
    return total(term for feature, cost in parts for term in _cost_terms(feature, cost))


def largest_price(moves: Moves) -> float:
    """What the costliest value of any feature costs.

    Args:
        moves: Where each feature goes.
    """
    largest = 0.0
    for feature, cost in zip(moves.features, moves.inputs.schema.costs, strict=True):
        domain = feature.domain
        ends = cost.price(feature.inputs.feature, feature.factual, np.concatenate([domain.low, domain.high]))
        largest = max(largest, float(np.concatenate([domain.atom_cost, ends]).max(initial=0.0)))
    return largest


def tie_cost(block: Block, moves: Moves, j: int, cells: Cells) -> None:
    """A feature costs at least what its other cells (of a circuit) cost at least: 1 row, redundant but for relaxations.

        cost_j >= sum_k price_j(k) d_jk + sum_c (least price_j in c) s_jc

    Without it a mix of far cells, with the factual's number as its mean, would cost nothing.

    Args:
        block: Where the row goes.
        moves: Where each feature goes.
        j: The feature's place in the schema.
        cells: Its other cells.
    """
    part, cost = moves.features[j], moves.inputs.schema.costs[j]
    low, high = cells.low, cells.high
    ends = np.unique(np.concatenate([part.domain.low, part.domain.high, low, high]))
    prices = cost.price(part.inputs.feature, part.factual, ends)
    first, after = np.searchsorted(ends, low), np.searchsorted(ends, high, side="right")
    least = [float(prices[a:b].min()) * (1 - PRICE_ROUNDING) for a, b in zip(first, after, strict=True)]
    atoms = [float(price) * atom for price, atom in zip(part.domain.atom_cost, part.inputs.atoms, strict=True)]
    tied = [price * cell for price, cell in zip(least, cells.variables, strict=True) if price > SMALLEST]
    unit = unit_of(float(np.concatenate([part.domain.atom_cost, prices]).max(initial=0.0)))
    add(block, total(_cost_terms(part, cost)) / unit >= total([*atoms, *tied]) / unit)


def _cost_terms(moves: FeatureMoves, cost: Cost) -> list[Expression]:
    domain, scale = moves.domain, moves.inputs.scale
    terms = [float(price) * atom for price, atom in zip(domain.atom_cost, moves.inputs.atoms, strict=True) if price]
    if scale is None:
        return terms
    feature = moves.inputs.feature
    first, last = (cost.price(feature, moves.factual, ends) for ends in (domain.low, domain.high))
    low, high = scale.units(domain.low), scale.units(domain.high)
    for c, cell in enumerate(moves.cells.variables):
        terms.append(float(first[c]) * cell)
        if c in moves.shares:
            slope = float((last[c] - first[c]) / (high[c] - low[c]))
            terms.append(slope * (moves.shares[c] - float(low[c]) * cell))
    return terms


def encode_constraints(moves: Moves) -> Block:
    """Every constraint of the schema for the factual, one row each.

        clause    sum over its literals of [x_j in region] >= 1
        at most   sum over its literals of [x_j in region] <= count
        linear    sum_i a_i unit_i u_i <= b - sum_i a_i base_i + M sum_i (1 - n_i),  M the least that makes it void

    [x_j in region] is the sum of the feature's d_k and s_c there. Exact: immutable, monotone and allowed values are clauses of
    one literal, "if j increases then e decreases" is one of two, in any directions and of any kinds; sparsity is "at most".

    Args:
        moves: Where each feature goes.
    """
    block = new_block()
    block.rows, block.tight = rows(), parameter()
    for rule in moves.rules:
        if isinstance(rule, LinearRow):
            _add_linear(block, moves.inputs, rule)
            continue
        literals = total(moves.features[j].within(region) for j, region in rule.literals)
        add(block, literals >= 1 if isinstance(rule, Clause) else literals <= rule.count)
    return block


def _add_linear(block: Block, inputs: RowVariables, rule: LinearRow) -> None:
    """The rule over the scaled numbers u, without their offsets, divided by its largest coefficient.

    Relaxed by what the rule itself allows for rounding; M is the least that makes it void.
    """
    parts, scales = [], []
    for j, a in zip(rule.features, rule.coefficients, strict=True):
        scale = inputs.features[j].scale
        assert scale is not None
        parts.append((inputs.features[j], a * scale.unit))
        scales.append((a, scale))
    unit = unit_of(max(abs(a) for _, a in parts))
    size = sum(max(abs(a * scale.base), abs(a * (scale.base + scale.unit * scale.length))) for a, scale in scales)
    spread = sum(abs(a * scale.unit * scale.length) for a, scale in scales)
    upper = difference(rule.upper, [(a, scale.base) for a, scale in scales]) + float(rule.slack(size))
    greatest = sum(max(0.0, a * scale.unit * scale.length) for a, scale in scales)
    codes = [1 - part.is_number for part, _ in parts if part.atoms]
    void = max(0.0, greatest - upper) / unit * total(codes) if codes else 0.0
    left = total(a / unit * part.variable for part, a in parts)
    add(block, left <= upper / unit - block.tight * (spread / unit) + void)
