"""What goes through the pieces of a block's warps, and what one question adds to blocks where a solver's rows are above them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from likely.mio.inputs import Scale
from likely.mio.intervals import Node
from likely.mio.modelling import Block, Expression, Variable, add, growing, rows, value_of
from likely.mio.tolerances import AWAY, NARROWEST, SMALLEST, STEEPEST
from likely.mio.warped import Pieces
from likely.schema.values import Numbers


@dataclass(eq=False)
class PieceFlow:
    """What goes through one piece of a warp, or through a part of it: its flow, its share of the number, of the coordinate."""

    pieces: Pieces
    scale: Scale
    bend: float
    #: The ends, in units of the scaled number.
    low: float
    high: float
    flow: Expression
    share: Variable = None  # None: one value
    curve: Variable = None  # None: linear in the share
    entered: dict[Node, Variable] = field(default_factory=dict)

    def coordinate(self, unit: float) -> float:
        """The coordinate at a scaled number.

        Args:
            unit: Between the ends.
        """
        return self.pieces.coordinate(self.scale.base + self.scale.unit * unit)

    def line(self, unit: float, height: float, rise: float) -> Expression:
        """The line through a point, as the flow has it.

        Args:
            unit: The scaled number of the point.
            height: Its coordinate.
            rise: The slope.
        """
        offset = height - rise * unit
        return rise * self.share + (offset if abs(offset) > SMALLEST else 0.0) * self.flow

    def bound(self, block: Block) -> None:
        """The share lies between the ends: 2 rows.

        Args:
            block: Where rows go.
        """
        add(block, self.share >= self.low * self.flow)
        add(block, self.share <= self.high * self.flow)

    def bound_curve(self, block: Block, first: float, last: float) -> None:
        """The coordinate lies between chord and tangents at both ends; where it is too steep for them, between its ends.

        Args:
            block: Where rows go.
            first: The coordinate at the lower end.
            last: The coordinate at the upper end.
        """
        rises = [
            self.pieces.steepness(self.scale.base + self.scale.unit * end) * self.scale.unit for end in (self.low, self.high)
        ]
        if not self.bend or not self.low < self.high or max(rises) > STEEPEST:
            add(block, self.curve >= first * self.flow)
            add(block, self.curve <= last * self.flow)
            return
        add(block, self.bend * self.curve <= self.bend * self.line(self.low, first, (last - first) / (self.high - self.low)))
        for unit, height, rise in ((self.low, first, rises[0]), (self.high, last, rises[1])):
            add(block, self.bend * self.curve >= self.bend * self.line(unit, height, rise))


@dataclass(eq=False)
class Refinement:
    """What is added to the blocks of a programme for one question: tangents, and curved pieces that are split."""

    block: Block
    halves: dict[PieceFlow, tuple[PieceFlow, PieceFlow]] = field(default_factory=dict)
    #: Where the tangents of each block in a flow touch it.
    touched: dict[Hashable, list[Numbers]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.block.rows, self.block.half, self.block.value = rows(), growing(whole=True), growing(None, None)

    def split(self, part: PieceFlow) -> bool:
        """Split a piece where its number is, if that is not too near to an end: 6 columns and 13 rows at most.

        Args:
            part: A piece that is chosen, and not split yet.
        """
        width = part.high - part.low
        if part.share is None or width < NARROWEST * part.scale.length:
            return False
        at = min(max(part.share.value, part.low + AWAY * width), part.high - AWAY * width)
        first, second = (self._half(part, low, high) for low, high in ((part.low, at), (at, part.high)))
        for name in ("flow", "share", "curve"):
            add(self.block, getattr(first, name) + getattr(second, name) == getattr(part, name))
        self.halves[part] = first, second
        self._set(part)
        return True

    def _half(self, part: PieceFlow, low: float, high: float) -> PieceFlow:
        flow, share, curve = self.block.half.add(), self.block.value.add(), self.block.value.add()
        half = PieceFlow(part.pieces, part.scale, part.bend, low, high, flow, share, curve)
        half.bound(self.block)
        half.bound_curve(self.block, part.coordinate(low), part.coordinate(high))
        return half

    def smallest(self, part: PieceFlow) -> PieceFlow:
        """The part of a chosen piece that the variables' values choose, and that is not split.

        Args:
            part: A piece.
        """
        while part in self.halves:
            first, second = self.halves[part]
            part = first if value_of(first.flow) > 0.5 else second
        return part

    def set(self) -> None:
        """Give the parts of pieces the values that follow from those of the pieces."""
        for part in self.halves:
            self._set(part)

    def _set(self, part: PieceFlow) -> None:
        second = part.share.value > self.halves[part][0].high
        for k, half in enumerate(self.halves[part]):
            chosen = value_of(part.flow) > 0.5 and k == second
            half.flow.set_value(int(chosen))
            half.share.set_value(part.share.value if chosen else 0.0)
            half.curve.set_value(part.curve.value if chosen else 0.0)
