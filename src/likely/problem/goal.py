"""What a counterfactual must reach, as inequalities over the scores of a form."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logit, xlogy

from likely.errors import ProblemError
from likely.predictor import Form
from likely.problem.tolerances import MARGIN_ROUNDING, SCORE_MARGIN, SINGLES_ROUNDING, rounding
from likely.schema.values import Numbers, plain


@dataclass(frozen=True)
class Share:
    """low <= softmax(scale * scores)[output] <= high."""

    output: int
    scale: float
    low: float
    high: float

    @property
    def log_ends(self) -> tuple[float, float]:
        """The logarithms of `low` and `high`."""
        low, high = (math.log(end) if end > 0 else -math.inf for end in (self.low, self.high))
        return low, high

    def met(self, scores: Numbers, slack: float = 0.0) -> NDArray[np.bool_]:
        """Which rows of scores fulfil it.

        Args:
            scores: Row x output.
            slack: By how much the logarithm of the share may lie outside.
        """
        low, high = self.log_ends
        log_share = log_softmax(self.scale * scores, axis=1)[:, self.output]
        return np.asarray((low - slack <= log_share) & (log_share <= high + slack))


@dataclass(frozen=True, eq=False)
class Alternative:
    """All of these must hold: coefficients @ scores >= lower. `class_index` is the class that a row then has, if it has one.

    So must the `share`, which is not linear; engines use the inequalities, which follow from it, for their bounds.
    """

    coefficients: Numbers  # inequality x output
    lower: Numbers
    class_index: int | None = None
    share: Share | None = None

    def met(self, scores: Numbers, slack: float = 0.0, rounding: Numbers | None = None) -> NDArray[np.bool_]:
        """Which rows of scores fulfil it.

        Args:
            scores: Row x output.
            slack: By how much each inequality may be missed.
            rounding: And by how much each score may be off (`Form.rounding`): a score that misses an end only because of
                the order in which its terms were added up reaches it.
        """
        lower: Numbers = self.lower - slack
        if rounding is not None:
            most = np.where(self.lower == 0, np.inf, MARGIN_ROUNDING * np.abs(self.lower))
            lower = lower - np.minimum(rounding @ np.abs(self.coefficients.T), most)
            slack = slack if self.share is None else slack + 2 * self.share.scale * float(rounding.max(initial=0.0))
        linear = (scores @ self.coefficients.T >= lower).all(axis=1)
        return np.asarray(linear if self.share is None else linear & self.share.met(scores, slack))


@dataclass(frozen=True, eq=False)
class Goal:
    """At least one alternative must be met. `sentence` says it to people."""

    alternatives: tuple[Alternative, ...]
    sentence: str

    def met(self, scores: Numbers, slack: float = 0.0) -> NDArray[np.bool_]:
        """Which rows of scores reach the goal.

        Args:
            scores: Row x output.
            slack: By how much each inequality of an alternative may be missed.
        """
        return np.asarray(np.any([alternative.met(scores, slack) for alternative in self.alternatives], axis=0))


def to_class(form: Form, label: Any, *, margin: float = SCORE_MARGIN) -> Goal:
    """The model decides for this class.

    Args:
        form: The classifier.
        label: The class, as the classifier names it.
        margin: By how much its score must be above every other.
    """
    index = _class_index(form, label)
    return Goal((_class(form, index, margin),), f"the class is {form.classes[index]!r}")


def not_class(form: Form, label: Any, *, margin: float = SCORE_MARGIN) -> Goal:
    """The model decides for any class but this one.

    Args:
        form: The classifier.
        label: The class to leave, as the classifier names it.
        margin: By how much the score of another class must be above all others.
    """
    index = _class_index(form, label)
    others = tuple(_class(form, k, margin) for k in range(len(form.classes)) if k != index)
    return Goal(others, f"the class is not {form.classes[index]!r}")


def _class_index(form: Form, label: Any) -> int:
    value = plain(label)
    if value not in form.classes:
        known = ", ".join(repr(known) for known in form.classes) or "none: it is a regressor"
        raise ProblemError("The class to reach", "be one of the model's", repr(value), f"it has {known}")
    return form.classes.index(value)


def _class(form: Form, index: int, margin: float) -> Alternative:
    if not form.link.one_score_per_class:
        sign = 1.0 if index == 1 else -1.0
        return Alternative(np.array([[sign]]), np.array([margin]), index)
    count = len(form.classes)
    rows = np.zeros((count, count))
    rows[:, index] = 1.0
    rows -= np.eye(count)
    others = np.arange(count) != index
    return Alternative(rows[others], np.full(count - 1, margin), index)


def between(form: Form, low: float = -math.inf, high: float = math.inf, *, output: int = 0, margin: float = 0.0) -> Goal:
    """One score (for a regressor, the prediction before its link) lies between two numbers.

    Args:
        form: What the model computes.
        low: The lower end; infinite if there is none.
        high: The upper end; infinite if there is none.
        output: Which score.
        margin: How far from either end it must keep.
    """
    if not 0 <= output < form.outputs:
        raise ProblemError("The output of a goal", f"be below {form.outputs}", output, "leave it out")
    if not low <= high or (math.isinf(low) and math.isinf(high)):
        raise ProblemError("A goal", "have low <= high, one of them finite", (low, high), "give a bound")
    sentence = f"score {output} lies between {low:g} and {high:g}"
    return Goal((_within(np.eye(form.outputs)[output], low + margin, high - margin),), sentence)


def prediction(form: Form, low: float = -math.inf, high: float = math.inf, *, margin: float | None = None) -> Goal:
    """A regressor's prediction lies between two numbers, up to what a model that computes in singles rounds.

    Args:
        form: The regressor.
        low: The lower end; infinite if there is none.
        high: The upper end; infinite if there is none.
        margin: How far from either end its score must keep, instead of what singles round.
    """
    if form.link.classifies:
        raise ProblemError("A goal for a prediction", "be asked of a regressor", f"classes {list(form.classes)}", "use to_class")
    ends = low, high
    if form.link.kind == "exponential":
        if high <= 0:
            raise ProblemError("A goal for a prediction", "be above 0, as all predictions are", ends, "raise it")
        ends = math.log(low) if low > 0 else -math.inf, math.log(high) if high < math.inf else math.inf
    sentence = f"the prediction lies between {low:g} and {high:g}"
    goal = between(form, *_outwards(*ends)) if margin is None else between(form, *ends, margin=margin)
    return replace(goal, sentence=sentence)


def probability(form: Form, label: Any, low: float = 0.0, high: float = 1.0, *, margin: float | None = None) -> Goal:
    """The model's probability of a class lies between two numbers, up to what a model that computes in singles rounds.

    Args:
        form: A classifier that has probabilities.
        label: The class, as the classifier names it.
        low: The least probability.
        high: The greatest probability.
        margin: How far from either end scores must keep, instead of what singles round.
    """
    index = _class_index(form, label)
    if not (0 <= low <= high <= 1 and (low, high) != (0, 1)):
        raise ProblemError("A probability to reach", "have 0 <= low <= high <= 1, not all of it", (low, high), "give a bound")
    sentence = f"the probability of {form.classes[index]!r} lies between {low:g} and {high:g}"
    if margin is not None:
        exact = _probability(form, index, low, high, outwards=False)
        return Goal(tuple(replace(each, lower=each.lower + margin) for each in exact), sentence)
    # no end is widened away
    wider_low = low - SINGLES_ROUNDING if low > SINGLES_ROUNDING else low
    wider_high = high + SINGLES_ROUNDING if high < 1 - SINGLES_ROUNDING else high
    return Goal(_probability(form, index, wider_low, wider_high), sentence)


def _probability(form: Form, index: int, low: float, high: float, *, outwards: bool = True) -> tuple[Alternative, ...]:
    kind, count = form.link.kind, len(form.classes)
    reached = index if low > 0.5 else 1 - index if count == 2 and high < 0.5 else None
    if form.link.offset:  # the class is another question
        reached = None
    if kind == "shares":
        return (_within(np.eye(count)[index], low, high, reached),)
    if count == 2 and kind in ("logistic", "huber", "softmax"):
        sign = 1.0 if index == 1 else -1.0
        coefficients = np.array([-sign, sign]) if kind == "softmax" else np.array([sign])
        ends = (2 * low - 1, 2 * high - 1) if kind == "huber" else logit(_doubles(low, high)) / form.link.scale
        off = sign * form.link.offset
        ends = (ends[0] - off if low > 0 else -math.inf, ends[1] - off if high < 1 else math.inf)
        ends = _outwards(*ends) if outwards else ends
        return (_within(coefficients, *ends, reached),)
    if kind != "softmax":
        hint = "use to_class, or between for a score"
        raise ProblemError("A probability to reach", "be a softmax, a logistic function or a share", f"link {kind!r}", hint)
    return _softmax(Share(index, form.link.scale, low, high), count, reached)


def _doubles(low: float, high: float) -> tuple[float, float]:
    """What probabilities are that count as at least `low` or at most `high`: as doubles, they are 1 or 0 before they are."""
    return min(low, 1 - 2**-53), max(high, 5e-324)


def _outwards(low: float, high: float) -> tuple[float, float]:
    """Ends that hold all scores between `low` and `high` as a model in singles adds them up: an end may be one of its own."""
    return low - rounding(low, SINGLES_ROUNDING), high + rounding(high, SINGLES_ROUNDING)


def _within(coefficients: Numbers, low: float, high: float, class_index: int | None = None) -> Alternative:
    """low <= coefficients @ scores <= high."""
    sides = [(sign * coefficients, sign * end) for sign, end in ((1.0, low), (-1.0, high)) if math.isfinite(end)]
    return Alternative(np.array([side for side, _ in sides]), np.array([end for _, end in sides]), class_index)


def _softmax(share: Share, count: int, reached: int | None) -> tuple[Alternative, ...]:
    """What follows for scores s if p = softmax(scale s) has low <= p_c <= high.

    p_c >= low: for every other class k, scale (s_c - s_k) >= logit(low); and for any weights w that sum to 1, since
    log sum_k exp(z_k) >= sum_k w_k (z_k - log w_k), scale (s_c - w . s) >= log(low) - w . log(w); w is low for c and the
    same for all others. p_c <= high: for some other class k, scale (s_k - s_c) >= log((1 - high) / high / (count - 1)).
    """
    c, (low, high) = share.output, _doubles(share.low, share.high)
    unit = np.eye(count)
    others = [k for k in range(count) if k != c]
    rows, lower = [], []
    if low > 0:
        rows += [unit[c] - unit[k] for k in others]
        lower += [float(logit(low))] * len(others)
        weights = np.where(unit[c] > 0, low, (1 - low) / len(others))
        rows.append(unit[c] - weights)
        lower.append(math.log(low) - float(xlogy(weights, weights).sum()))
    if high == 1:
        return (Alternative(np.array(rows), np.array(lower) / share.scale, reached, share),)
    far = math.log1p(-high) - math.log(high) - math.log(len(others))
    return tuple(
        Alternative(np.array([*rows, unit[k] - unit[c]]), np.array([*lower, far]) / share.scale, reached, share) for k in others
    )
