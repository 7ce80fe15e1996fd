"""`encode_target`: what the scores must reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.mio.modelling import Block, Expression, add, binaries, new_block, parameter, rows, total
from likely.mio.scaling import unit_of
from likely.mio.scores import Scores
from likely.mio.tolerances import SMALLEST, TOLERANCES, Tolerances
from likely.problem import Goal
from likely.schema.values import Numbers


@dataclass(eq=False)
class Target:
    """The goal: `block` to put into a model; `chosen[a]` is 1 for the alternative that the row is asked to reach."""

    goal: Goal
    scores: Scores
    block: Block
    chosen: list[Expression]

    def set(self, alternative: int) -> None:
        """Give the variables the values that stand for an alternative.

        Args:
            alternative: Its place in the goal.
        """
        for a in range(len(self.chosen) if len(self.chosen) > 1 else 0):
            self.block.chosen[a].set_value(int(a == alternative))

    def get(self) -> int:
        """The alternative that the variables' values stand for."""
        return max(range(len(self.chosen)), key=lambda a: self.block.chosen[a].value) if len(self.chosen) > 1 else 0


def encode_target(goal: Goal, scores: Scores, tolerances: Tolerances = TOLERANCES) -> Target:
    """At least one alternative of a goal: all of its inequalities over the scores.

    With g_a = 1 for the alternative that is asked for (A of them; a constant if there is but one):

        sum_a g_a = 1,    coefficients @ scores >= least - M (1 - g_a),    M = least - the smallest left side

    A columns and 1 row if A > 1, and a row per inequality. A binary goal is one inequality, a class among C has C - 1, "any
    other class" has C - 1 alternatives; an order of classes is one alternative. Relaxed by `Tolerances.outward`, else exact;
    a share of a softmax is not linear: what follows from it is encoded, and `add_tangent` cuts.

    Args:
        goal: What the scores must reach.
        scores: The scores of the form.
        tolerances: By how much the inequalities are relaxed.
    """
    block = new_block()
    block.rows, block.tight = rows(), parameter()
    count = len(goal.alternatives)
    chosen: list[Expression] = [1.0]
    if count > 1:
        block.chosen = binaries(count)
        chosen = [block.chosen[a] for a in range(count)]
        add(block, total(chosen) == 1)
    target = Target(goal, scores, block, chosen)
    for a, alternative in enumerate(goal.alternatives):
        for coefficients, least in zip(alternative.coefficients, alternative.lower, strict=True):
            _add(target, a, coefficients, float(least), tolerances)
    return target


def _add(target: Target, a: int, coefficients: Numbers, least: float, tolerances: Tolerances = TOLERANCES) -> None:
    scores = target.scores
    smallest = float(np.minimum(coefficients * scores.low, coefficients * scores.high).sum())
    relaxed = least - tolerances.outward * (1 + abs(least))
    left = total(float(c) * score for c, score in zip(coefficients, scores.outputs, strict=True) if c)
    off = max(0.0, relaxed - smallest) * (1 - target.chosen[a])
    unit = unit_of(_spread(np.abs(coefficients), scores))
    add(target.block, left / unit >= (relaxed + target.block.tight - off) / unit)


def _spread(sizes: Numbers, scores: Scores) -> float:
    """How far the largest term of a row varies; if only by rounding, which is no scale to measure by, how large it is."""
    spread = float((sizes * (scores.high - scores.low)).max(initial=0.0))
    size = float((sizes * np.maximum(np.abs(scores.low), np.abs(scores.high))).max(initial=0.0))
    return spread if spread > SMALLEST * size else size


def add_tangent(target: Target, alternative: int, scores: Numbers) -> None:
    """Cut off scores at which a softmax is below what its share asks for; none that fulfil it.

    scale s_c - log sum_k exp(scale s_k) >= log low; the sum's logarithm is convex, so its tangent lies below it: an
    outer-approximation cut (Duran and Grossmann 1986).

    Args:
        target: The goal in the programme.
        alternative: The place of the alternative in the goal.
        scores: What is cut off.
    """
    share = target.goal.alternatives[alternative].share
    assert share is not None
    z = share.scale * scores
    top = z.max()
    weights = np.exp(z - top)
    height = float(top + np.log(weights.sum()))
    weights /= weights.sum()
    coefficients = -share.scale * weights
    coefficients[share.output] += share.scale
    _add(target, alternative, coefficients, share.log_ends[0] + height - float(weights @ z))
