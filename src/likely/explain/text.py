"""Answers in plain language: sentences, and a table for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from likely.problem import SCORE_MARGIN
from likely.schema import Feature
from likely.schema.values import show_value

if TYPE_CHECKING:
    from likely.explain.counterfactual import Counterfactual
    from likely.explain.explanation import Explanation

#: A table is about as wide as a terminal, a cell at least and at most so wide.
_WIDTH, _NARROWEST, _WIDEST = 120, 14, 40
#: How many digits a number without a step has, and how many tell any two doubles apart.
_DIGITS, _ALL_DIGITS = 6, 17
#: Stands where nothing changes.
SAME = "·"


def shown(feature: Feature, number: float, digits: int = _DIGITS) -> str:
    """A value for people: a number that has no step with some digits, everything else as it is."""
    if feature.numeric and number > -1e300 and number != round(number) and feature.grid is None:
        return f"{number:.{digits}g}"
    return feature.show(number)


def told_apart(feature: Feature, before: float, after: Sequence[float]) -> tuple[str, list[str]]:
    """A value and those it becomes, for people, with as many digits as it takes to see that they differ."""
    for digits in range(_DIGITS, _ALL_DIGITS):
        now, new = shown(feature, before, digits), [shown(feature, number, digits) for number in after]
        if now not in new:
            return now, new
    return shown(feature, before, _ALL_DIGITS), [shown(feature, number, _ALL_DIGITS) for number in after]


def joined(parts: Sequence[str], word: str = "and") -> str:
    """`a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def sentence(answer: Counterfactual) -> str:
    """If duration were 12 instead of 24, the model would decide 'good' instead of 'bad'."""
    query = answer.query
    decided = f"the model would decide {show_value(answer.label)}"
    if query.label is not None and query.label != answer.label:
        decided += f" instead of {show_value(query.label)}"
    moves = [
        _move(feature, float(before), float(after))
        for feature, before, after in zip(query.schema.features, query.factual, answer.numbers, strict=True)
        if feature.name in answer.changes
    ]
    return f"If {joined(moves)}, {decided}." if moves else f"Without any change, {decided}."


def _move(feature: Feature, before: float, after: float) -> str:
    now, (new,) = told_apart(feature, before, [after])
    return f"{feature.name} were {new} " + ("(unknown now)" if math.isnan(before) else f"instead of {now}")


def goal(explanation: Explanation) -> str:
    """From which class to which."""
    query = explanation.query
    before = "an incomplete row" if query.label is None else show_value(query.label)
    after = "any other class" if query.target is None else show_value(query.target)
    return f"{before} → {after}"


def claim(explanation: Explanation) -> str:
    """What is claimed, and how strong the claim is."""
    count, bounds = len(explanation.counterfactuals), explanation.bounds
    what = "cost" if explanation.query.total_weight == 0 else "objective"
    early = " It was interrupted." if explanation.interrupted else ""
    return {
        "optimal": _proved(explanation, what),
        "feasible": f"{count} found before the limit; none can have a lower {what} than {bounds.lower:.4g} (proved).",
        "infeasible": "No answer exists (proved). Ask why_not for the reason.",
        "unknown": f"Nothing found before the limit; an answer would have a {what} of at least {bounds.lower:.4g} (proved).",
        "disputed": "Rows were found that the model's form accepts, but its own predict does not.",
    }[explanation.status] + early


def _proved(explanation: Explanation, what: str) -> str:
    """What "optimal" means for these answers."""
    count, bounds, limits = len(explanation.counterfactuals), explanation.bounds, explanation.query.limits
    answers = "answer" if count == 1 else f"{count} answers"
    # raised, because the model itself did not confirm what is nearer to its boundary
    clear = f" (by a score of {explanation.margin:g})" if explanation.margin > SCORE_MARGIN else ""
    several = limits.other_features and limits.solutions > 1
    like_these = f"changes all that {'it' if count == 1 else 'one of them'} changes"
    if math.isinf(bounds.lower):
        return f"The only {answers}{clear}, proved: " + (f"any other {like_these}." if several else "there is no other.")
    if several and count > 1:
        return f"The best {answers}{clear}, proved: any other row with a lower {what} than {bounds.lower:.4g} {like_these}."
    return f"The best {answers}{clear}, proved: no other row has a lower {what} than {bounds.lower:.4g}."


def measures(explanation: Explanation) -> list[tuple[str, str, list[str]]]:
    """The numbers below a table of answers: what, the factual's, each answer's."""
    answers = explanation.counterfactuals
    rows = [
        ("cost", "", [f"{own.cost:.4g}" for own in answers]),
        ("features changed", "", [str(own.number_of_changes) for own in answers]),
    ]
    if any(own.percentile is not None for own in answers):
        rows.append(("likelier than", "", [_percent(own) for own in answers]))
    if any(own.probability_after is not None for own in answers):
        labels = {own.label for own in answers}
        of = f" of {show_value(answers[0].label)}" if len(labels) == 1 else ""
        before = _share(answers[0].probability_before) if len(labels) == 1 else ""
        rows.append((f"probability{of}", before, [_share(own.probability_after) for own in answers]))
    if len({own.label for own in answers}) > 1:
        rows.append(("class", "", [show_value(own.label) for own in answers]))
    return rows


def _percent(answer: Counterfactual) -> str:
    """Of which training rows an answer is likelier than how many."""
    of = show_value(answer.label) if answer.query.of_class else "all"
    return "" if answer.percentile is None else f"{answer.percentile:.0f}% of {of}"


def _share(probability: float | None) -> str:
    return "" if probability is None else f"{100 * probability:.1f}%"


def cells(explanation: Explanation) -> list[tuple[str, str, list[str]]]:
    """One row per feature that some answer changes: its name, the factual's value, each answer's."""
    query, answers = explanation.query, explanation.counterfactuals
    found = []
    for j, feature in enumerate(query.schema.features):
        moved = [feature.name in own.changes for own in answers]
        if any(moved):
            new = [float(own.numbers[j]) for own, here in zip(answers, moved, strict=True) if here]
            before, after = told_apart(feature, float(query.factual[j]), new)
            texts = iter(after)
            found.append((str(feature.name), before, [next(texts) if here else SAME for here in moved]))
    return found


def table(explanation: Explanation) -> str:
    """The answers side by side, for a terminal."""
    lines = [goal(explanation), claim(explanation)]
    if not explanation.counterfactuals:
        return "\n".join(lines)
    count = len(explanation.counterfactuals)
    head = ["", "now", *([f"answer {i + 1}" for i in range(count)] if count > 1 else ["answer"])]
    body = [[name, before, *after] for name, before, after in cells(explanation)]
    foot = [[name, before, *after] for name, before, after in measures(explanation)]
    widest = min(_WIDEST, max(_NARROWEST, _WIDTH // (count + 2) - 2))
    rows = [[_short(name, _WIDEST), *(_short(cell, widest) for cell in after)] for name, *after in (head, *body, *foot)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    best = explanation.counterfactuals[0].sentence
    return "\n".join([*lines, "", text[0], rule, *text[1 : 1 + len(body)], rule, *text[1 + len(body) :], "", best])


def _short(cell: str, widest: int) -> str:
    return cell if len(cell) <= widest else cell[: widest - 1] + "…"
