"""Every tolerance of the programmes and their solvers; those that do not depend on a solver are `likely.problem.tolerances`.

Taken from there: `rounding` (how far two computations of one number differ).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerances:
    """How exactly a solver computes, and what is done about it.

    All of them err outwards: a programme never loses an answer to rounding. What a solver returns is decoded and tested
    with the form and the circuit themselves; what fails is moved inwards, or cut off.
    """

    #: By how much a row of the programme may be missed, and an integer variable be off, where something is to be proved: the
    #: solvers' own. With 1e-9, HiGHS and SCIP both called costlier rows optimal (what they derive from bounds rounds).
    feasibility: float = 1e-6
    #: The same where nothing is proved: when the numbers of an answer are made exact.
    exact: float = 1e-9
    #: By how much goal and threshold are relaxed, so that an answer just there is not lost; relative to their size.
    outward: float = 1e-8
    #: By how much they are tightened, one after the other, where an answer of the programme turns out to be none.
    inward: tuple[float, ...] = (3e-8, 1e-6)


TOLERANCES = Tolerances()

#: Rows and objectives whose largest coefficient lies between are left as they are; others are divided by it.
TAME = 1e-3, 1e3
#: Nothing is divided by numbers beyond these.
EXTREME = 1e-100, 1e100
#: How many nodes the exact engine may spend on a row that contradicts what a solver claims.
TESTED_NODES = 300
#: Which share of the time a first answer may take.
START_SHARE = 0.2

#: Objectives this close, relative to their size, are the same: the solvers' tolerances.
NOISE = 1e-6
#: A softmax that misses its share by less, relative to its size, is cut off as a row and not by a tangent.
CUT = 1e-6
#: What rounding may make of a price, relative to it.
PRICE_ROUNDING = 1e-9
#: Smaller coefficients are 0, and scaled numbers this near to an end are the end: solvers drop them.
SMALLEST = 1e-9
#: Slopes of a warp that are this close, relative to their size, are one.
SAME_SLOPE = 1e-9
#: By how much, in nats, a solver's value of a block may exceed the block: where something is to be proved, and where an answer is
#: made exact.
ABOVE_BLOCK = 2e-7, 1e-8
#: The unit of the rows of tangents: a solver misses rows by an absolute number, which is less of a nat in smaller units.
NATS = 0.125
#: By how much more nats than a block may have in linear relaxations, whose optima are above blocks in any case.
ABOVE_RELAXED = 1e-3
#: Tangents are added to linear relaxations for this share of the time at most, and while so many rounds raise it by so much,
#: relative to 1 + its size.
RELAXED_SHARE, RISES, LEAST_RISE = 0.2, 5, 1e-3
#: A block with less of the flow has no tangent in a linear relaxation.
LEAST_FLOW = 0.02
#: How many tangents in turn may be added to make one answer exact.
MOST_TANGENTS = 60
#: Where a coordinate of a block grows faster than this, in deviations per scaled unit, a number says only which piece it is in.
STEEPEST = 1e5
#: Pieces of a warp narrower than this, as a share of a feature's numbers, are not split, and none is this near to its ends.
NARROWEST, AWAY = 1e-6, 0.02
