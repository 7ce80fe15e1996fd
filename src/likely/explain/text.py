"""Answers in plain language: what was asked, what is claimed and how strong the claim is, and a table for a terminal.

Every claim is a function that returns lines for people: the first one says it, the second one what is proved of it. The
function's docstring has the exact meaning. An *answer* is a row that the model decides as wanted and that meets every
demand: domains, rules, how likely it must be and how well its values must fit together. What an answer costs is its objective:
the cost of its changes, less the weight of likelihood times its log-likelihood where there is one (then it is said to *total* so
much).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from likely._display.numbers import cost_text, number_text
from likely._display.tables import aligned, ruled, shortened
from likely.explain.outcomes import range_in_words
from likely.explain.plausibility import Quantile
from likely.explain.query import Query, rows_named
from likely.problem.tolerances import rounding
from likely.schema import Feature
from likely.schema.values import Value, show_value

if TYPE_CHECKING:
    from likely.explain.counterfactual import Counterfactual
    from likely.explain.explanation import Explanation
    from likely.explain.front import Front

#: A table is about as wide as a terminal, a cell at least and at most so wide.
_WIDTH, _NARROWEST, _WIDEST = 120, 14, 40
#: How many digits a number without a step has, and how many tell any two doubles apart.
_DIGITS, _ALL_DIGITS = 6, 17
#: A bound on costs that is no greater says nothing: no cost is negative.
_NOTHING_PROVED = 1e-6
#: A digit is not raised for so little of it.
_SAME_DIGIT = 1e-6
#: A sentence with more changes than this tells the costliest of them, and how many others there are.
_MANY, _TOLD = 5, 3
#: Stands where nothing changes.
SAME = "·"

#: What stands before the share of rows whose values fit together no better, by coherence.
FIT = "fits together better than"

#: Sentences, one per line.
Lines: TypeAlias = tuple[str, ...]

# -- values and answers ------------------------------------------------------------------------------------------------


def shown(feature: Feature, number: float, digits: int = _DIGITS) -> str:
    """A value for people: numbers with the digits that matter and their unit, everything else as it is."""
    return feature.show_with_unit(number, digits)


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
    verb, after, before = outcome(answer, show_value)
    decided = f"the model would {verb} {after}" + ("" if before is None else f" instead of {before}")
    moved = [j for j, name in enumerate(query.schema.names) if name in answer.changed]
    told = moved if len(moved) <= _MANY else sorted(_costliest(answer, moved)[:_TOLD])
    moves = [_move(query.schema.features[j], float(query.factual[j]), float(answer.numbers[j])) for j in told]
    if len(moved) > len(told):
        moves.append(f"with {len(moved) - len(told)} smaller changes")
    return f"If {joined(moves)}, {decided}." if moves else f"Without any change, {decided}."


def outcome(answer: Counterfactual, show: Callable[[Value], str]) -> tuple[str, str, str | None]:
    """What the model would say of an answer: ("decide", "'good'", "'bad'"), the last one what it says now, if that is known.

    Args:
        answer: The answer.
        show: How to write a class.
    """
    query = answer.query
    if query.question.prediction is not None:
        before = None if query.label is None else number_text(float(query.label))
        asked = str(answer.label)
        return "predict", asked if answer.prediction is None else f"{number_text(answer.prediction)} ({asked})", before
    if query.question.probability is not None:
        shares = [None if share is None else _share(share) for share in (answer.probability_after, answer.probability_before)]
        return f"give {show(answer.label)} a probability of", shares[0] or "", shares[1]
    different = query.label is not None and query.label != answer.label
    return "decide", show(answer.label), show(query.label) if different else None


def wanted(query: Query, show: Callable[[Value], str]) -> str:
    """What the model was to say: `say 'good'`, `predict at least 100`.

    Args:
        query: What was asked.
        show: How to write a class.
    """
    if query.question.prediction is not None:
        return f"predict {range_in_words(query.question)}"
    if query.question.probability is not None:
        return f"give {show(query.target)} a probability of {range_in_words(query.question)}"
    return "say anything else" if query.target is None else f"say {show(query.target)}"


def _costliest(answer: Counterfactual, places: Sequence[int]) -> list[int]:
    """The places of features in order of what their changes cost, the costliest first."""
    schema, before, after = answer.query.schema, answer.query.factual, answer.numbers
    prices = {j: float(schema.costs[j].price(schema.features[j], float(before[j]), after[j : j + 1])[0]) for j in places}
    return sorted(places, key=lambda j: -prices[j])


def _move(feature: Feature, before: float, after: float) -> str:
    now, (new,) = told_apart(feature, before, [after])
    return f"{feature.title} were {new} " + ("(unknown now)" if math.isnan(before) else f"instead of {now}")


# -- the question and the claims ---------------------------------------------------------------------------------------


def goal(explanation: Explanation) -> str:
    """What was asked: from which class to which."""
    query = explanation.query
    label: Any = query.label
    if query.question.prediction is not None and label is not None:
        label = number_text(float(label))
        before, who = f"The model predicts {label}.", "it"
    else:
        before, who = ("The row is incomplete.", "the model") if label is None else _says(label)
    return f"{before} What would make {who} {wanted(query, show_value)}?"


def _says(label: Value) -> tuple[str, str]:
    return f"The model says {show_value(label)}.", "it"


def claim(explanation: Explanation) -> Lines:
    """What is claimed of the answers, and how strong the claim is."""
    lines = _CLAIMS[explanation.status](explanation)
    if explanation.query.claimed_by is not None:
        lines = said_by_a_solver(explanation.query.claimed_by, lines)
    lines += unread_changes(explanation)
    if explanation.margin > explanation.query.question.margin:
        lines += (raised_margin(explanation),)
    return (*lines, "The search was interrupted.") if explanation.interrupted else lines


def best_answers(explanation: Explanation) -> Lines:
    """Status "optimal": the answers are the best ones.

    Exactly: each answer's objective is at most `bounds.upper`; every answer that is not among them has an objective of at
    least `bounds.lower`, which is no further below than the `gap` that was asked for allows, and what round numbers may cost
    (`rounding`); it is said how far, if not by rounding alone. If several ways were asked for (`diversity="features"`), that
    is proved of the answers that do not change all the features that one of these changes.
    """
    count, lower = len(explanation.counterfactuals), explanation.bounds.lower
    if math.isinf(lower):
        return only_answers(explanation)
    what = "This is the best answer." if count == 1 else f"These are the {count} best answers."
    return what, f"Proved: {_no_other_below(explanation)}{_within(explanation)}."


def _within(explanation: Explanation) -> str:
    """How much cheaper something could be than the last answer; nothing if that is only rounding."""
    bounds, limits = explanation.bounds, explanation.query.limits
    if bounds.gap <= limits.absolute_gap + rounding(bounds.upper):
        return ""
    what = "nothing is" if len(explanation.counterfactuals) == 1 else "nothing else is"
    than = "" if len(explanation.counterfactuals) == 1 else "than the last of these "
    better, distance = _distance(explanation)
    return f"; {what} {better} {than}by more than {distance}"


def only_answers(explanation: Explanation) -> Lines:
    """Status "optimal" with an infinite lower bound: there are no other answers.

    Exactly: no answer exists that is not among these. If several ways were asked for, no answer exists that does not change
    all the features that one of these changes.
    """
    count = len(explanation.counterfactuals)
    if not explanation.query.several_ways:
        what = "This is the only answer." if count == 1 else f"These are the only {count} answers."
        return what, f"Proved: there is no other{_but_for_the_border(explanation)}."
    what = "This is the only way." if count == 1 else f"These are the only {count} ways."
    return what, f"Proved: every other answer changes {_same_features(count)}{_but_for_the_border(explanation)}."


def some_answers(explanation: Explanation) -> Lines:
    """Status "feasible": answers that hold, without the proof that they are the best.

    Exactly: every answer that is not among them has an objective of at least `bounds.lower`; if several ways were asked for,
    every one that does not change all the features that one of these changes.
    """
    count = len(explanation.counterfactuals)
    what = "Here is an answer; a better one may exist." if count == 1 else f"Here are {count} answers; better ones may exist."
    if _says_nothing(explanation):
        return what, "Nothing is proved yet: how much better is not known."
    better, distance = _distance(explanation)
    which, than = ("a better one", "") if count == 1 else ("better ones", " than the last of these")
    return what, f"Proved: {_no_other_below(explanation)}; {which} could be at most {distance} {better}{than}."


def _distance(explanation: Explanation) -> tuple[str, str]:
    """In what a better answer could differ from the last one, and by how much at most: a share of its cost, if it has one."""
    upper, gap = explanation.bounds.upper, explanation.bounds.gap
    if explanation.query.total_weight or upper <= 0:
        return "better", cost_text(gap)
    return "cheaper", f"{percent_at_most(gap / upper)} %"


def percent_at_most(share: float) -> str:
    """A share in percent, with two digits, never less than it is.

    Args:
        share: At least 0.
    """
    if share <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(100 * share)) - 1)
    return f"{math.ceil(100 * share / unit - _SAME_DIGIT) * unit:.3g}"


def not_asked(explanation: Explanation) -> Lines:
    """Status "refused": the question cannot be asked of this row; `reason` says why. Nothing is claimed."""
    return "This row was not explained.", explanation.reason


def unread_changes(explanation: Explanation) -> Lines:
    """A line about features that the model does not read.

    Exactly: where they are kept, all claims are about rows that leave them as they are. Where an answer changes one although the
    question is to keep them, no row that keeps them meets all other demands, none was known in time, or the model's own `predict`
    rejects those that were found.
    """
    query = explanation.query
    if query.question.unread != "keep" or not explanation:
        return ()
    places = [query.schema.index(name) for name in query.unread]
    moved = [query.changed(answer.numbers) for answer in explanation.counterfactuals]
    changed = [query.schema.features[j].title for j in places if any(here[j] for here in moved)]
    if changed:
        them, leaves = ("it", "leaves it as it is") if len(changed) == 1 else ("them", "leaves them as they are")
        names = joined(_some(changed))
        return (f"Changes {names} although the model does not read {them}: no answer was found that {leaves}.",)
    if query.kept:
        names = joined(_some([query.schema[name].title for name in query.kept]))
        verb, them = ("is kept as it is", "it") if len(query.kept) == 1 else ("are kept as they are", "them")
        return (f"{names} {verb}: the model does not read {them}.",)
    return ()


def _some(names: Sequence[str]) -> list[str]:
    """The first few names, and how many others there are."""
    return list(names) if len(names) <= _MANY else [*names[:_TOLD], f"{len(names) - _TOLD} others"]


def no_answer(explanation: Explanation) -> Lines:
    """Status "infeasible": no row meets the demands.

    Exactly: no row of the features' domains keeps every rule, is as likely as was asked for, has values that fit together as
    well as was asked for, and is decided as wanted by the margin of score.
    """
    return "There is no answer.", f"Proved: no row meets all that is asked{_but_for_the_border(explanation)}."


def no_answer_yet(explanation: Explanation) -> Lines:
    """Status "unknown": a limit came before an answer, and before the proof that there is none.

    Exactly: every answer, if there is one, has an objective of at least `bounds.lower`.
    """
    what = "No answer yet: the search stopped early."
    if _says_nothing(explanation):
        return what, "There may be one, or none."
    (verb, unit), aside = _verb(explanation), _but_for_the_border(explanation)
    return what, f"Proved: an answer, if there is one, {verb} at least {_bound(explanation)}{unit}{aside}."


def disputed_answers(explanation: Explanation) -> Lines:
    """Status "disputed": the model's own `predict` contradicts what the engine knows of the model.

    Exactly: each row that was found reaches the wanted class by the model's form, at the margins of score that were tried, and
    not by `predict`; nothing is claimed about other rows.
    """
    return (
        "No answer holds: the model itself rejects the rows that were found.",
        "Its own predict decides them otherwise than the formula that was read from it.",
    )


def said_by_a_solver(solver: str, lines: Lines) -> Lines:
    """The claims of an engine that drives a solver of mixed-integer programmes.

    Exactly: the solver reported it, computing in floating point with tolerances; no one proved it.
    """
    return tuple(line.replace("Proved: ", f"Claimed by {solver} within its tolerances, not proved: ") for line in lines)


def raised_margin(explanation: Explanation) -> str:
    """A line for answers at a higher margin of score than was asked for.

    Exactly: all claims are about rows whose score is on the wanted side by `explanation.margin`; at a smaller margin the model's
    own `predict` rejected a row that was found.
    """
    margin = f"{explanation.margin:g}"
    return f"Only rows that the model decides clearly count, by a score of {margin}: it rejects some that are closer to call."


_CLAIMS = {
    "optimal": best_answers,
    "feasible": some_answers,
    "infeasible": no_answer,
    "unknown": no_answer_yet,
    "disputed": disputed_answers,
    "refused": not_asked,
}


def _no_other_below(explanation: Explanation) -> str:
    """That no other answer is below the proved bound; if these are several ways, but for those that change the same features."""
    (verb, unit), margin = _verb(explanation), _but_for_the_border(explanation)
    if explanation.query.several_ways:
        same = _same_features(len(explanation.counterfactuals))
        return f"every other answer {verb} at least {_bound(explanation)}{unit}, or changes {same}{margin}"
    return f"no other answer {verb} less than {_bound(explanation)}{unit}{margin}"


def _but_for_the_border(explanation: Explanation) -> str:
    """Which rows do not count as answers; nothing if a line of its own says so.

    Exactly: those whose score is on the other side by less than `explanation.margin`. Of a prediction or a probability, trees may
    be as close to its ends as they like: then they count, and more is proved than this says.
    """
    if explanation.margin > explanation.query.question.margin:
        return ""
    return f", not counting rows within a score of {explanation.margin:g} of the border"


def _same_features(count: int) -> str:
    return f"the same features as {'this one' if count == 1 else 'one of these'}, and perhaps more"


def _verb(explanation: Explanation) -> tuple[str, str]:
    """How an answer is said to have an objective, and what that is where it is more than the cost."""
    weight = explanation.query.total_weight
    return ("totals", f" (cost - {weight:g} * log-likelihood)") if weight else ("costs", "")


def _bound(explanation: Explanation) -> str:
    """The proved bound, with the digits that costs have; no cost is negative."""
    lower = explanation.bounds.lower
    return cost_text(lower if explanation.query.total_weight else max(lower, 0.0))


def _says_nothing(explanation: Explanation) -> bool:
    """Whether the proved bound is one that holds anyway."""
    return explanation.bounds.lower <= (-math.inf if explanation.query.total_weight else _NOTHING_PROVED)


# -- tables ------------------------------------------------------------------------------------------------------------


def measures(explanation: Explanation) -> list[tuple[str, str, list[str]]]:
    """The numbers below a table of answers: what, the factual's, each answer's."""
    answers = explanation.counterfactuals
    rows = [
        ("cost", "", [cost_text(answer.cost) for answer in answers]),
        ("features changed", "", [str(answer.number_of_changes) for answer in answers]),
    ]
    if any(answer.percentile is not None for answer in answers):
        rows.append(("likelier than", "", [_percent(answer, answer.percentile) for answer in answers]))
    if any(answer.coherence_percentile is not None for answer in answers):
        rows.append((FIT, "", [_percent(answer, answer.coherence_percentile) for answer in answers]))
    if any(answer.probability_after is not None for answer in answers):
        labels = {answer.label for answer in answers}
        of = f" of {show_value(answers[0].label)}" if len(labels) == 1 else ""
        before = _share(answers[0].probability_before) if len(labels) == 1 else ""
        rows.append((f"probability{of}", before, [_share(answer.probability_after) for answer in answers]))
    if any(answer.prediction is not None for answer in answers):
        label = explanation.query.label
        before = "" if label is None else number_text(float(label))
        after = ["" if answer.prediction is None else number_text(answer.prediction) for answer in answers]
        rows.append(("prediction", before, after))
    if len({answer.label for answer in answers}) > 1:
        rows.append(("class", "", [show_value(answer.label) for answer in answers]))
    return rows


def _percent(answer: Counterfactual, percentile: float | None) -> str:
    """Of which rows how many: `54% of new 'good'`. New are rows that were held out."""
    if percentile is None:
        return ""
    of, unseen = show_value(answer.label) if answer.query.of_class else "", answer.query.rows == "unseen"
    rows = (f"new {of}" if unseen else f"{of} in training") if of else "all new rows" if unseen else "all training rows"
    return f"{percentile:.0f}% of {rows}"


def _share(probability: float | None) -> str:
    return "" if probability is None else f"{100 * probability:.1f}%"


def cells(explanation: Explanation) -> list[tuple[str, str, list[str]]]:
    """One row per feature that some answer changes: its name, the factual's value, each answer's."""
    query, answers = explanation.query, explanation.counterfactuals
    rows = []
    for j, feature in enumerate(query.schema.features):
        moved = [feature.name in answer.changed for answer in answers]
        if any(moved):
            new = [float(answer.numbers[j]) for answer, here in zip(answers, moved, strict=True) if here]
            before, after = told_apart(feature, float(query.factual[j]), new)
            texts = iter(after)
            rows.append((feature.title, before, [next(texts) if here else SAME for here in moved]))
    return rows


def changed_features(answer: Counterfactual) -> str:
    """What an answer changes, feature by feature."""
    return ", ".join(feature.title for feature in answer.query.schema.features if feature.name in answer.changed)


def heads(explanation: Explanation) -> list[str]:
    """The names of the columns of a table of answers."""
    count = len(explanation.counterfactuals)
    return ["", "now", *(["answer"] if count == 1 else [f"answer {i + 1}" for i in range(count)])]


def table(explanation: Explanation) -> str:
    """What was asked and claimed, and the answers side by side, for a terminal."""
    lines = [*claim(explanation)] if explanation.status == "refused" else [goal(explanation), *claim(explanation)]
    if not explanation.counterfactuals:
        return "\n".join(lines)
    body = [[name, before, *after] for name, before, after in cells(explanation)]
    foot = [[name, before, *after] for name, before, after in measures(explanation)]
    head = heads(explanation)
    widest = min(_WIDEST, max(_NARROWEST, _WIDTH // len(head) - 2))
    rows = [[shortened(name, _WIDEST), *(shortened(cell, widest) for cell in others)] for name, *others in (head, *body, *foot)]
    return "\n".join([*lines, "", *ruled(aligned(rows), 0, len(body)), "", explanation.counterfactuals[0].sentence])


#: The columns of a table of a front.
FRONT_HEADS = ("cost", "features changed", "likelier than", "log-likelihood", "claim")


def front_cells(front: Front) -> list[list[str]]:
    """A row per point of a front, in the order of `FRONT_HEADS`."""
    rows = []
    for point in front.points:
        best = point.best
        log = "" if best.log_likelihood is None else cost_text(best.log_likelihood)
        rows.append([cost_text(best.cost), str(best.number_of_changes), _percent(best, best.percentile), log, point.status])
    return rows


def front_ending(front: Front) -> str:
    """What is known of the demands that no point meets.

    Exactly, where it says "proved": `front.beyond` has status "infeasible", so no row meets its demand with all others.
    """
    beyond = front.beyond
    if beyond is None:
        return "No answer can change fewer features." if front.by == "changes" else "Likelier answers were not asked for."
    if beyond.status != "infeasible":
        return "What lies beyond was not decided in time."
    if front.by == "changes":
        return "Proved: no answer changes fewer features."
    variant, of = beyond.query.plausibility, " of its class" if beyond.query.of_class else ""
    if not isinstance(variant, Quantile):
        return no_answer(beyond)[0]
    return f"Proved: no answer is as likely as {variant.q:.0%} of {rows_named(beyond.query.rows)}{of}."


def front_table(front: Front) -> str:
    """A line per point of a front, and how it ends, for a terminal."""
    lines = aligned([FRONT_HEADS, *front_cells(front)], right=(0, 1, 3))
    return "\n".join([*ruled(lines, 0), front_ending(front)])
