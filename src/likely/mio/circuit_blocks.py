"""A Gaussian block in the flow of a circuit: its log density from above, by tangents, on pieces of its warps.

With f the flow into the block, and coordinates q as in `likely.mio.warped`:

    block:      a + b = f;  a in {0, 1}: as tangents say; b: far out, or at the floor, which adds far b     2 columns, 1 row
    feature i:  sum_r y_r = a over the pieces r of its warp, which go to cells as the runs of leaves do     as for a leaf
                sum_r y_r = b over all cells                                                                1 column, 1 row
    piece r:    low_r y_r <= v_r <= high_r y_r: its share of the number u (of one value: v_r = low_r y_r)    1 column, 2 rows
                Q_i = sum_r first_r y_r + rise_r (v_r - low_r y_r): q_i if a = 1, else 0                     1 column, 1 row
                log T' adds offset_r y_r (+ slope_r times its part of Q_i, in a tail)
    tail:       its part of Q_i lies between the chord and the tangents at both ends                         1 column, 3 rows
    tangent:    value <= (q0' P q0 / 2 - c) a - (P q0)' Q, at some q0: the mean, ends of ellipsoids          1 row each
    number j:   sum of all v_r + rest = u_j,  rest <= U (n - sum of a)                                       1 column, 2 rows

Guarantee: at any row and with a = 1, the greatest `value` is the least of the tangents at its q, which is never below log N(q),
and equal to it where a tangent touches; in curved tails, that of some q on the piece near the row's. The relaxation of a piece
is its convex hull: each tangent is the perspective of itself. So programmes are relaxations, and `refine` cuts off what a solver
found above a block (outer approximation: Duran and Grossmann 1986).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from likely.mio.inputs import Cells, cell_holds
from likely.mio.intervals import CellTree, Node
from likely.mio.leaves import spans
from likely.mio.modelling import Block, Expression, Variable, add, growing, total, value_of
from likely.mio.refining import PieceFlow, Refinement
from likely.mio.scaling import unit_of
from likely.mio.tolerances import LEAST_FLOW, NATS, SMALLEST, STEEPEST
from likely.mio.warped import FARTHEST, BlockLeaf, Pieces
from likely.schema.values import Numbers


def new_lists(block: Block) -> None:
    """The lists of variables that blocks add to.

    Args:
        block: A flow.
    """
    block.near, block.share, block.coordinate = growing(whole=True), growing(0.0, None), growing(None, None)


class BlockFlow:
    """One block in one flow.

    Args:
        leaf: The block over the values of its features.
        cells: The cells of every feature of numbers.
        trees: The trees of these cells.
    """

    def __init__(self, leaf: BlockLeaf, cells: Mapping[int, Cells], trees: Mapping[int, CellTree]) -> None:
        self.leaf, self.variables = leaf, leaf.block.variables
        self.cells = [cells[j] for j in self.variables]
        self.trees = [trees[j] for j in self.variables]
        self.near: Variable = None
        self.far: Variable = None
        self.value: Variable = None
        self.coordinates: list[Variable] = []
        self.pieces: list[dict[int, PieceFlow]] = [{} for _ in self.variables]
        self.entered_far: list[dict[Node, Variable]] = []
        #: Of every feature, what it adds to the number.
        self.numbers: dict[int, list[Expression]] = {j: [] for j in self.variables}

    # -- rows ---------------------------------------------------------------------------------------------------------

    def encode(self, block: Block, into: Sequence[Expression]) -> list[Expression]:
        """The variables and rows; returns what the block adds.

        Args:
            block: The flow.
            into: What flows into the block.
        """
        terms: list[Expression] = []
        chosen: list[Expression] = []
        if self.leaf.far > -math.inf:
            self.far = block.edge.add()
            terms.append(self.leaf.far * self.far)
            chosen.append(self.far)
            for tree, cells in zip(self.trees, self.cells, strict=True):
                self.entered_far.append(tree.enter(0, len(cells.low) - 1, block.run.add))
                add(block, total(self.entered_far[-1].values()) == self.far)
        if self.leaf.near:
            self.near = block.near.add()
            chosen.append(self.near)
            for i in range(len(self.variables)):
                terms += self._encode_feature(block, i)
            self.value = block.coordinate.add()
            terms.append(self.value)
            for point in self.leaf.first_points():
                self.touch(block, point)
        add(block, total(chosen) == total(into))
        return terms

    def _encode_feature(self, block: Block, i: int) -> list[Expression]:
        """Where the number is, and its coordinate; returns what the warp's slope adds."""
        pieces, cells = self.leaf.pieces[i], self.cells[i]
        places = spans(pieces, cells.low)
        flows, coordinates, terms = [], [], []
        for r in np.flatnonzero(pieces.inside):
            part = self.pieces[i][int(r)] = self._piece(i, int(r), self.trees[i].enter(*places[r], block.run.add))
            number, coordinate = _encode_piece(block, part, float(pieces.first[r]), float(pieces.last[r]))
            flows.append(part.flow)
            coordinates.append(coordinate)
            terms.append(float(pieces.offset[r]) * part.flow)
            if pieces.slope[r]:
                terms.append(float(pieces.slope[r]) * coordinate)
            self.numbers[self.variables[i]].append(number)
        self.coordinates.append(block.coordinate.add())
        add(block, total(flows) == self.near)
        add(block, self.coordinates[i] == total(coordinates))
        return terms

    def _piece(self, i: int, r: int, entered: dict[Node, Variable]) -> PieceFlow:
        pieces, scale = self.leaf.pieces[i], self.cells[i].inputs.scale
        assert scale is not None
        low, high = (float(end) for end in scale.units(np.array([pieces.low[r], pieces.high[r]])))
        return PieceFlow(pieces, scale, float(pieces.bend[r]), low, high, total(entered.values()), entered=entered)

    def touch(self, block: Block, point: Numbers) -> None:
        """The tangent at a point: 1 row.

        Args:
            block: Where the row goes.
            point: Coordinates.
        """
        constant, gradient = self.leaf.tangent(point)
        unit = NATS * unit_of(float(np.abs([constant, *gradient]).max()))
        small = np.abs(gradient) < SMALLEST * unit
        constant += FARTHEST * float(np.abs(gradient[small]).sum()) + SMALLEST * unit
        terms = [float(gradient[i]) / unit * self.coordinates[i] for i in np.flatnonzero(~small)]
        terms += [constant / unit * self.near] if abs(constant) > SMALLEST * unit else []
        add(block, self.value / unit <= total(terms))

    def refine(self, refinement: Refinement, above: float) -> bool:
        """Cut off the variables' values if they have more than the density has; whether they had.

        By the tangent where they are or, where that says no more, by splitting pieces whose coordinates are not those of the row.
        In a linear relaxation the block may have a part of the flow; then the point is what it has per unit.

        Args:
            refinement: Of the question.
            above: By how much, in nats, they must have more.
        """
        if self.near is None or self.near.value < LEAST_FLOW:
            return False
        point = np.array([coordinate.value for coordinate in self.coordinates]) / self.near.value
        if self.value.value / self.near.value > self.leaf.gaussian(point) + above:
            return self._touch_anew(refinement, point, above)
        curved = self._curved(refinement)
        true, gain = point.copy(), 0.0
        for i, part, slope in curved:
            true[i] = part.coordinate(min(max(part.share.value, part.low), part.high)) if part.share is not None else point[i]
            gain += slope * (point[i] - true[i])
        if self.leaf.gaussian(point) + gain <= self.leaf.gaussian(true) + above:
            return False
        split = [refinement.split(part) for i, part, _ in curved if point[i] != true[i]]
        return any(split)

    def _touch_anew(self, refinement: Refinement, point: Numbers, above: float) -> bool:
        """The tangent at a point, unless one touches so near that it is the solver that misses it."""
        touched = refinement.touched.setdefault(self, [])
        if any(self.leaf.below(away) < above for away in (point - other for other in touched)):
            return False
        touched.append(point)
        self.touch(refinement.block, point)
        return True

    def _curved(self, refinement: Refinement) -> list[tuple[int, PieceFlow, float]]:
        """The curved pieces that the variables' values choose: feature, part, and how log T' grows with the coordinate."""
        return [
            (i, refinement.smallest(part), float(self.leaf.pieces[i].slope[r]))
            for i, parts in enumerate(self.pieces)
            for r, part in parts.items()
            if part.curve is not None and value_of(part.flow) > 0.5
        ]

    # -- values -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Give all variables the values of a block that is not chosen."""
        parts = [part for pieces in self.pieces for part in pieces.values()]
        entered = [flow for flows in (*(part.entered for part in parts), *self.entered_far) for flow in flows.values()]
        others = [self.near, self.far, self.value, *self.coordinates]
        for variable in (*entered, *others, *(part.share for part in parts), *(part.curve for part in parts)):
            if variable is not None:
                variable.set_value(0, skip_validation=True)

    def set(self, row: Numbers) -> None:
        """Choose the block, at a row.

        Args:
            row: A row with its class, as doubles.
        """
        numbers = [float(row[j]) for j in self.variables]
        cells = [
            int(cell_holds(part.inputs, part.low, part.high, x).argmax()) for part, x in zip(self.cells, numbers, strict=True)
        ]
        places = [
            int(cell_holds(part.inputs, pieces.low, pieces.high, x).argmax())
            for part, pieces, x in zip(self.cells, self.leaf.pieces, numbers, strict=True)
        ]
        inside = all(pieces.inside[r] for pieces, r in zip(self.leaf.pieces, places, strict=True))
        logs = self.leaf.block.log_density(np.array([numbers]))[0] if inside else -math.inf
        if logs < self.leaf.far or self.near is None:
            self._set_far(cells)
            return
        point = self.leaf.coordinates(np.array(numbers))
        self.near.set_value(1)
        self.value.set_value(self.leaf.gaussian(point))
        for i, (r, cell) in enumerate(zip(places, cells, strict=True)):
            part = self.pieces[i][r]
            self.trees[i].set(part.entered, cell)
            self.coordinates[i].set_value(float(point[i]))
            if part.share is not None:
                part.share.set_value(self.cells[i].inputs.variable.value)
            if part.curve is not None:
                part.curve.set_value(float(point[i]))

    def _places(self, parts: Sequence[Cells | Pieces], numbers: Sequence[float]) -> list[int]:
        """Of each feature, the cell or piece that its number lies in."""
        inputs = [part.inputs for part in self.cells]
        triples = zip(inputs, parts, numbers, strict=True)
        return [int(cell_holds(own, part.low, part.high, x).argmax()) for own, part, x in triples]

    def _set_far(self, cells: Sequence[int]) -> None:
        if self.far is not None:
            self.far.set_value(1)
            for tree, entered, cell in zip(self.trees, self.entered_far, cells, strict=True):
                tree.set(entered, cell)


def _encode_piece(block: Block, part: PieceFlow, first: float, last: float) -> tuple[Expression, Expression]:
    """The shares of a piece in the number and in the coordinate, which goes from `first` to `last`."""
    if first == last:
        return part.low * part.flow, first * part.flow
    wide = part.low < part.high
    if wide:
        part.share = block.share.add()
        part.bound(block)
    rise = (last - first) / (part.high - part.low) if wide else math.inf
    if not part.bend and rise <= STEEPEST:
        return part.share, part.line(part.low, first, rise)
    part.curve = block.coordinate.add()
    part.bound_curve(block, first, last)
    return part.share if wide else part.low * part.flow, part.curve
