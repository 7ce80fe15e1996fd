"""Ensembles of trees in a programme: a unit of flow through every tree."""

from __future__ import annotations

import numpy as np

from likely.mio.inputs import Cells, RowVariables, cells_of, encode_cells
from likely.mio.modelling import Block, Expression, Variable, add, new_block, new_blocks, numbers, rows, total
from likely.mio.scores import Scores
from likely.predictor import TreeEnsemble
from likely.schema.values import Numbers


def encode_trees(form: TreeEnsemble, inputs: RowVariables) -> Scores:
    """One unit of flow goes through every tree, inside or outside at each test it meets, to a leaf.

        feature of numbers that is tested:  cells between the tests (`encode_cells`)       C columns, 3 rows
        test of a tree:   inside + outside = flow into the test
                          inside <= [low <= x <= high],  outside <= 1 - [low <= x <= high] 2 columns, 3 rows

    [low <= x <= high] is the sum of the feature's d_k and cells there; the flow into the root is 1. Exact: with these 0-1,
    the flow is, without being declared so. The scores are expressions: base + sum of leaf values * flow (a mean if the form
    averages). (Parmentier and Vidal, "Optimal counterfactual explanations in tree ensembles", ICML 2021.)

    Args:
        form: The ensemble.
        inputs: The row.
    """
    block = new_block()
    block.feature = new_blocks(len(inputs.schema))
    cells = {
        j: _tested_cells(block.feature[j], form, inputs, j) for j, part in enumerate(inputs.features) if part.scale is not None
    }
    paths = [_Tree(form, t) for t in range(len(form.roots))]
    block.tree = new_blocks(len(paths))
    terms: list[list[Expression]] = [[float(base)] for base in form.base]
    low, high = form.base.copy(), form.base.copy()
    for t, tree in enumerate(paths):
        leaves = tree.encode(block.tree[t], inputs, cells)
        outputs = range(form.outputs) if form.output_of[t] < 0 else [int(form.output_of[t])]
        for k, output in enumerate(outputs):
            values = {leaf: float(form.values[form.nodes[leaf]["inside"] + k]) for leaf in leaves}
            terms[output] += [values[leaf] * flow for leaf, flow in leaves.items() if values[leaf]]
            low[output] += min(values.values())
            high[output] += max(values.values())
    divisor = float(len(form.roots)) if form.average else 1.0
    outputs_ = [total(own_terms) / divisor for own_terms in terms]

    def set_values(row: Numbers) -> None:
        for j, part in cells.items():
            if part is not None:
                part.set(float(row[j]))
        for t, tree in enumerate(paths):
            tree.set(block.tree[t], row)

    ends = low / divisor, high / divisor
    return Scores(form, block, outputs_, *ends, set_values, lambda block, reach: ends)


def _tested_cells(block: Block, form: TreeEnsemble, inputs: RowVariables, j: int) -> Cells | None:
    """The cells of a feature between all tests of it; None if there are none."""
    tests = form.nodes[form.nodes["feature"] == j]
    if not len(tests):
        return None
    breakpoints = np.unique(np.concatenate([tests["low"], np.nextafter(tests["high"], np.inf)]))
    pieces = cells_of(inputs.features[j].feature, breakpoints)
    block.rows = rows()
    cells = encode_cells(block, inputs.features[j], pieces.low, pieces.high)
    inputs.features[j].indicator_bounds += cells.indicator_bounds
    return cells


class _Tree:
    """One tree: the nodes that its root reaches, each before its successors."""

    def __init__(self, form: TreeEnsemble, t: int) -> None:
        self.form, self.root = form, int(form.roots[t])
        order: list[int] = []
        seen: set[int] = set()
        self._visit(self.root, seen, order)
        self.order = order[::-1]
        self.tests = [node for node in self.order if form.nodes[node]["feature"] >= 0]

    def _visit(self, start: int, seen: set[int], order: list[int]) -> None:
        stack = [(start, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                if self.form.nodes[node]["feature"] >= 0:
                    stack += [(int(self.form.nodes[node][way]), False) for way in ("inside", "outside")]

    def encode(self, block: Block, inputs: RowVariables, cells: dict[int, Cells | None]) -> dict[int, Expression]:
        """The flow into each leaf."""
        block.rows, block.flow = rows(), numbers(2 * len(self.tests))
        into: dict[int, list[Expression]] = {node: [] for node in self.order}
        into[self.root].append(1.0)
        for i, node in enumerate(self.tests):
            test = self.form.nodes[node]
            inside, outside = block.flow[2 * i], block.flow[2 * i + 1]
            held = _between(inputs, cells, int(test["feature"]), float(test["low"]), float(test["high"]))
            add(block, inside + outside == total(into[node]))
            add(block, inside <= held)
            add(block, outside <= 1 - held)
            into[int(test["inside"])].append(inside)
            into[int(test["outside"])].append(outside)
        return {node: total(flows) for node, flows in into.items() if self.form.nodes[node]["feature"] < 0}

    def set(self, block: Block, row: Numbers) -> None:
        """Give the flows the values that follow from a row."""
        for variable in block.flow.values():
            variable.set_value(0.0)
        node = self.root
        while self.form.nodes[node]["feature"] >= 0:
            test = self.form.nodes[node]
            inside = bool(test["low"] <= row[test["feature"]] <= test["high"])
            block.flow[2 * self.tests.index(node) + (not inside)].set_value(1.0)
            node = int(test["inside" if inside else "outside"])


def _between(inputs: RowVariables, cells: dict[int, Cells | None], j: int, low: float, high: float) -> Expression:
    """1 if the value of a feature lies between the ends of a test, else 0."""
    part = inputs.features[j]
    terms: list[Variable] = [atom for k, atom in enumerate(part.atoms) if low <= part.feature.atom_number(k) <= high]
    pieces = cells.get(j)
    if pieces is not None:
        inside = (low <= pieces.low) & (pieces.low <= high)
        terms += [pieces.variables[c] for c in np.flatnonzero(inside)]
    return total(terms)
