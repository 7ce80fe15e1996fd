"""Every tolerance of the Python side, with its reason.

Those that a room below owns are named here, too, so that one page has them all; a solver's own are in `likely.mio.tolerances`,
the core's in `src/core/tolerances.hpp`, and those of pictures where they are drawn.
"""

from __future__ import annotations

import math

from likely.schema.grid import DOUBLES, SINGLES
from likely.schema.rules import RULE_ROUNDOFFS

__all__ = [
    "ABSOLUTE_GAP",
    "DOUBLES",
    "MARGIN_ROUNDING",
    "PROBABILITY_ROUNDING",
    "RELATIVE_GAP",
    "RULE_ROUNDOFFS",
    "SAME_COST",
    "SAME_OBJECTIVE",
    "SCORE_MARGIN",
    "SINGLES",
    "SINGLES_ROUNDING",
    "SUM_ROUNDING",
    "TIE",
    "close",
    "rounding",
]

# -- what is asked for --------------------------------------------------------------------------------------------------

#: By how much a score must be on the other side, unless said otherwise: the paper's tau. A row on the boundary itself would
#: depend on who computes its score.
SCORE_MARGIN = 1e-4
#: How far the bounds of an optimum may be apart, unless said otherwise: far below any difference in cost that matters, and far
#: above what sums of doubles lose.
ABSOLUTE_GAP = 1e-6
#: And how far, relative to the cost, where an explainer asks: a hundredth of a percent, which solvers of mixed-integer programmes
#: stop at, too. No one would choose otherwise for it, and the last of a proof takes longest.
RELATIVE_GAP = 1e-4

# -- what rounding does -------------------------------------------------------------------------------------------------

#: Two ways of adding the same doubles (scores, log-likelihoods, costs) may differ by this much, relative to 1 + their size:
#: thousands of terms at 1e-16 each, with room to spare.
SUM_ROUNDING = 1e-9
#: Which share of the margin of score an answer may miss, because sums of scores round: the model itself has the last word.
MARGIN_ROUNDING = 1e-6
#: By how much an objective may differ, relative to 1 + its size, because a column of singles rounds what was found in doubles.
SINGLES_ROUNDING = 1e-6
#: By how much a model's own probability may differ from that of its form: many models compute in singles.
PROBABILITY_ROUNDING = 1e-4

# -- what counts as the same --------------------------------------------------------------------------------------------

#: Answers whose objectives differ by less are as good as each other: twice the gap, since either may be off by one.
TIE = 2 * ABSOLUTE_GAP
#: Costs of two optima that differ by less are the same: either is proved to within the gap.
SAME_COST = ABSOLUTE_GAP
#: Objectives of two engines that differ by less, relative to 1 + their size, are the same: solvers of mixed-integer programmes
#: work with a feasibility of 1e-6.
SAME_OBJECTIVE = 1e-5


def rounding(number: float, relative: float = SUM_ROUNDING) -> float:
    """By how much a number that is computed twice may differ.

    Args:
        number: A score, log-likelihood, cost or objective; one that is infinite is exact.
        relative: Relative to 1 + its size.
    """
    return relative * (1 + abs(number)) if math.isfinite(number) else 0.0


def close(one: float, other: float, relative: float = SUM_ROUNDING) -> bool:
    """Whether two numbers may be two computations of the same.

    Args:
        one: A number.
        other: Another.
        relative: Relative to 1 + the size of the larger.
    """
    return one == other or abs(one - other) <= rounding(max(abs(one), abs(other)), relative)
