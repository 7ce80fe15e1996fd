"""`encode_classifier`: the scores of a form, as expressions over the inputs of a programme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from likely.errors import ProblemError
from likely.mio.bounds import layers_of, points_of, unit_bounds
from likely.mio.inputs import Cells, Inputs, cells_of, encode_cells
from likely.mio.modelling import Block, Expression, Variable, add, block, blocks, numbers, rows, total
from likely.predictor import Form, Linear, ReluNetwork, TreeEnsemble
from likely.schema.values import Numbers


@dataclass(eq=False)
class Scores:
    """The scores of a form: `block` to put into a model, an expression per output, and its bounds over all rows."""

    form: Form
    block: Block
    outputs: list[Expression]
    low: Numbers
    high: Numbers
    set: Callable[[Numbers], None]


def encode_classifier(form: Form, inputs: Inputs) -> Scores:
    """The scores of a linear model, a ReLU network or an ensemble of trees, exactly (up to the solver's tolerance).

    See `encode_linear`, `encode_network` and `encode_trees`; what OMLT or another package made of a model can be wired to
    the inputs instead.
    """
    if isinstance(form, TreeEnsemble):
        return encode_trees(form, inputs)
    if isinstance(form, Linear):
        return encode_linear(form, inputs)
    if isinstance(form, ReluNetwork):
        return encode_network(form, inputs)
    raise ProblemError("A form", "be linear, a network or trees", type(form).__name__, "use likely.predictor.read")


def encode_columns(form: Linear | ReluNetwork, inputs: Inputs) -> list[Expression]:
    """What the model reads: sum_k table_k d_k + slope x + intercept n for each column; no rows and no columns of its own."""
    found = []
    for column in form.columns:
        part = inputs.features[column.feature]
        terms = [entry * atom for entry, atom in zip(column.table, part.atoms, strict=False) if entry]
        if part.scale is not None:
            terms += [column.slope * part.number, column.intercept * part.is_number]
        found.append(total(terms))
    return found


def _affine(weights: Numbers, bias: Numbers, inputs: list[Expression]) -> list[Expression]:
    return [
        total([float(b), *(float(w) * x for w, x in zip(row, inputs, strict=True) if w)])
        for row, b in zip(weights, bias, strict=True)
    ]


def encode_linear(form: Linear, inputs: Inputs) -> Scores:
    """score = weights @ columns + bias: expressions, no rows and no columns. Exact."""
    ((low, high),) = unit_bounds(layers_of(form), points_of(form.columns, inputs))
    outputs = _affine(form.weights, form.bias, encode_columns(form, inputs))
    return Scores(form, block(), outputs, low, high, lambda row: None)


def encode_network(form: ReluNetwork, inputs: Inputs) -> Scores:
    """Every unit h = max(0, a), a = weights @ h' + bias, by big-M with bounds l <= a <= u of its own (`unit_bounds`).

        what is read:  q = column's expression                       1 column,  1 row per column of the form
        u <= 0:        h = 0                                         nothing
        l >= 0:        h = a                                         1 column,  1 row
        else:          h >= a,  h <= a - l (1 - p),  h <= u p        2 columns, 3 rows      (h >= 0, p in {0, 1})

    The scores are expressions of the last hidden layer. Exact.
    """
    own = block()
    own.rows, own.read = rows(), numbers(len(form.columns), None, None)
    columns = encode_columns(form, inputs)
    for c, column in enumerate(columns):
        add(own, own.read[c] == column)
    layers, bounds = layers_of(form), unit_bounds(layers_of(form), points_of(form.columns, inputs))
    own.layer = blocks(len(layers) - 1)
    hidden: list[Expression] = [own.read[c] for c in range(len(columns))]
    for i, (weights, bias) in enumerate(layers[:-1]):
        hidden = _encode_layer(own.layer[i], _affine(weights, bias, hidden), *bounds[i])
    outputs = _affine(*layers[-1], hidden)
    return Scores(form, own, outputs, *bounds[-1], lambda row: _set_network(own, form, bounds, row))


def _encode_layer(own: Block, before: list[Expression], low: Numbers, high: Numbers) -> list[Expression]:
    alive = np.flatnonzero(high > 0)
    open_ = [i for i in alive if low[i] < 0]
    own.rows = rows()
    own.unit = numbers(len(alive), 0.0, None)
    own.on = numbers(len(open_), 0, 1, whole=True)
    place = {int(i): k for k, i in enumerate(open_)}
    found: list[Expression] = [0.0] * len(before)
    for k, i in enumerate(alive):
        unit = found[i] = own.unit[k]
        unit.setub(float(high[i]))
        if i in place:
            active = own.on[place[int(i)]]
            add(own, unit >= before[i])
            add(own, unit <= before[i] - float(low[i]) * (1 - active))
            add(own, unit <= float(high[i]) * active)
        else:
            add(own, unit == before[i])
    return found


def _set_network(own: Block, form: ReluNetwork, bounds: list[tuple[Numbers, Numbers]], row: Numbers) -> None:
    hidden = form.inputs(row[None])[0].copy()
    for c, value in enumerate(hidden):
        own.read[c].set_value(float(value))
    for i, (weights, bias) in enumerate(form.layers[:-1]):
        before = weights @ hidden + bias
        hidden = np.maximum(before, 0.0)
        low, high = bounds[i]
        alive = np.flatnonzero(high > 0)
        for k, unit in enumerate(alive):
            own.layer[i].unit[k].set_value(float(min(hidden[unit], high[unit])))
        for k, unit in enumerate(unit for unit in alive if low[unit] < 0):
            own.layer[i].on[k].set_value(int(before[unit] > 0))


# -- trees ------------------------------------------------------------------------------------------------------------


def encode_trees(form: TreeEnsemble, inputs: Inputs) -> Scores:
    """One unit of flow goes through every tree, inside or outside at each test it meets, to a leaf.

        feature of numbers that is tested:  cells between the tests (`encode_cells`)       C columns, 3 rows
        test of a tree:   inside + outside = flow into the test
                          inside <= [low <= x <= high],  outside <= 1 - [low <= x <= high] 2 columns, 3 rows

    [low <= x <= high] is the sum of the feature's d_k and cells there; the flow into the root is 1. Exact: with these 0-1,
    the flow is, without being declared so. The scores are expressions: base + sum of leaf values * flow (a mean if the form
    averages).
    """
    own = block()
    own.feature = blocks(len(inputs.schema))
    cells = {
        j: _tested_cells(own.feature[j], form, inputs, j) for j, part in enumerate(inputs.features) if part.scale is not None
    }
    paths = [_Tree(form, t) for t in range(len(form.roots))]
    own.tree = blocks(len(paths))
    terms: list[list[Expression]] = [[float(base)] for base in form.base]
    low, high = form.base.copy(), form.base.copy()
    for t, tree in enumerate(paths):
        leaves = tree.encode(own.tree[t], inputs, cells)
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
            tree.set(own.tree[t], row)

    return Scores(form, own, outputs_, low / divisor, high / divisor, set_values)


def _tested_cells(own: Block, form: TreeEnsemble, inputs: Inputs, j: int) -> Cells | None:
    """The cells of a feature between all tests of it; None if there are none."""
    tests = form.nodes[form.nodes["feature"] == j]
    if not len(tests):
        return None
    starts = np.unique(np.concatenate([tests["low"], np.nextafter(tests["high"], np.inf)]))
    found = cells_of(inputs.features[j].feature, starts)
    own.rows = rows()
    cells = encode_cells(own, inputs.features[j], found.low, found.high)
    inputs.features[j].held += cells.held
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

    def encode(self, own: Block, inputs: Inputs, cells: dict[int, Cells | None]) -> dict[int, Expression]:
        """The flow into each leaf."""
        own.rows, own.flow = rows(), numbers(2 * len(self.tests))
        into: dict[int, list[Expression]] = {node: [] for node in self.order}
        into[self.root].append(1.0)
        for i, node in enumerate(self.tests):
            test = self.form.nodes[node]
            inside, outside = own.flow[2 * i], own.flow[2 * i + 1]
            held = _between(inputs, cells, int(test["feature"]), float(test["low"]), float(test["high"]))
            add(own, inside + outside == total(into[node]))
            add(own, inside <= held)
            add(own, outside <= 1 - held)
            into[int(test["inside"])].append(inside)
            into[int(test["outside"])].append(outside)
        return {node: total(flows) for node, flows in into.items() if self.form.nodes[node]["feature"] < 0}

    def set(self, own: Block, row: Numbers) -> None:
        """Give the flows the values that follow from a row."""
        for variable in own.flow.values():
            variable.set_value(0.0)
        node = self.root
        while self.form.nodes[node]["feature"] >= 0:
            test = self.form.nodes[node]
            inside = bool(test["low"] <= row[test["feature"]] <= test["high"])
            own.flow[2 * self.tests.index(node) + (not inside)].set_value(1.0)
            node = int(test["inside" if inside else "outside"])


def _between(inputs: Inputs, cells: dict[int, Cells | None], j: int, low: float, high: float) -> Expression:
    """1 if the value of a feature lies between the ends of a test, else 0."""
    part = inputs.features[j]
    terms: list[Variable] = [atom for k, atom in enumerate(part.atoms) if low <= part.feature.atom_number(k) <= high]
    own = cells.get(j)
    if own is not None:
        inside = (low <= own.low) & (own.low <= high)
        terms += [own.variables[c] for c in np.flatnonzero(inside)]
    return total(terms)
