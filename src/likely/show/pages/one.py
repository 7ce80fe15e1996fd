"""The page of one explanation."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

from likely._display.markup import Html, el, join
from likely._display.numbers import cost_text
from likely.explain import Explanation, Front, Verification
from likely.explain.outcomes import range_in_words
from likely.schema.values import show_value
from likely.show.pages.parts import answer_text, cards, claim_box, facts, row_table, spoken_value
from likely.show.pages.pictures import front_picture

#: With more changes than this, the sentence is set smaller.
_MANY = 3


def one_page(explanation: Explanation, front: Front | None, verification: Verification | None, reason: Any) -> Html:
    """The answer first, then the reasons to believe it."""
    long = bool(explanation) and explanation.best.number_of_changes > _MANY
    return join(
        el("p", answer_text(explanation), class_="lead long" if long else "lead"),
        claim_box(explanation),
        _because(reason),
        _answers(explanation),
        _front(front),
        _row(explanation),
        _rules(explanation),
        _checks(verification),
        _evidence(explanation),
    )


def _section(title: str, *parts: Html | None, note: str = "") -> Html:
    return el("section", el("h2", title), el("p", note, class_="soft") if note else None, *parts)


def _because(reason: Any) -> Html | None:
    if reason is None:
        return None
    head, *lines = str(reason).split("\n")
    parts: list[Html] = []
    for is_item, group in groupby(lines, key=lambda line: line.startswith("- ")):
        items = [line.removeprefix("- ") for line in group]
        parts.append(el("ul", *(el("li", item) for item in items)) if is_item else el("p", *items))
    return _section("Why not", *parts, note=head)


def _answers(explanation: Explanation) -> Html | None:
    if not explanation:
        return None
    ways = "Each of the others leaves out at least one change of every better answer. " if explanation.query.several_ways else ""
    several = f"The best answer comes first. {ways}" if len(explanation) > 1 else ""
    note = f"{several}The open dot is the row as it is, the full dot the answer."
    return _section("What would have to change", cards(explanation), note=note)


def _front(front: Front | None) -> Html | None:
    if front is None or not front.points:
        return None
    if front.by == "changes":
        title, note = "What few changes cost", "Each point is the cheapest answer with so many changes."
    else:
        title, note = (
            "What plausibility costs",
            "Each point is the cheapest answer that is at least so likely; further right is more plausible.",
        )
    proved = any(point.status == "optimal" for point in front.points)
    full = " A full dot is proved: no such answer is cheaper." if proved else ""
    return _section(title, el("figure", front_picture(front)), note=note + full)


def _row(explanation: Explanation) -> Html:
    return _section("The whole row", row_table(explanation))


def _rules(explanation: Explanation) -> Html | None:
    schema = explanation.query.schema
    if not schema.constraints:
        return None
    rules = [el("li", rule.sentence(schema)) for rule in schema.constraints]
    return _section("Rules that every answer keeps", el("ul", *rules, class_="columns small"))


def _checks(verification: Verification | None) -> Html | None:
    if verification is None:
        return None
    names = {True: None, False: "fails", None: "open"}
    items = []
    for check in verification.checks:
        of = f" (answer {check.answer + 1})" if check.answer is not None else ""
        detail = f": {check.detail}" if check.detail and check.holds is not True else ""
        items.append(el("li", f"{check.claim}{of}{detail}", class_=names[check.holds]))
    note = "With the model's own predict, the schema and the circuit, without the engine that searched."
    return _section("Checked again", el("ul", *items, class_="checks columns small"), note=note)


def _evidence(explanation: Explanation) -> Html:
    query, bounds = explanation.query, explanation.bounds
    wanted = "any other class" if query.target is None else spoken_value(query.target)
    if query.question.probability is not None:
        wanted = f"{wanted}, {range_in_words(query.question)}"
    thresholds, coherences = (
        ", ".join(f"{show_value(label)} {cost_text(value)}" for label, value in asked)
        for asked in (explanation.thresholds, explanation.coherence_thresholds)
    )
    given = [query.schema[name].title if name in query.schema.names else str(name) for name in query.given]
    pairs = [
        ("question", f"{'an incomplete row' if query.label is None else spoken_value(query.label)} → {wanted}"),
        ("status", f"{explanation.status}{', interrupted' if explanation.interrupted else ''}"),
        ("upper bound", f"{_number(bounds.upper)}, the {_objective(explanation)} of the last answer"),
        ("lower bound", f"{_number(bounds.lower)}, proved of all other answers{_exception(explanation)}"),
        ("log-likelihood", f"at least {thresholds}" if thresholds else "any"),
        ("coherence", f"at least {coherences}" if coherences else "any"),
        ("given", ", ".join(given) or "nothing: the likelihood of the row with its class"),
        ("search", f"{explanation.nodes:,} nodes in {explanation.seconds:.2g} s, engine {query.engine}"),
        ("model, circuit", f"{explanation.evidence.model}, {explanation.evidence.circuit}"),
        ("versions", ", ".join(f"{name} {number}" for name, number in explanation.evidence.versions.items())),
    ]
    note = (
        "Cost and likelihood are those of the schema and of a circuit learned from the training rows: the proof is about these."
    )
    return _section("The proof", facts(pairs), note=note)


def _objective(explanation: Explanation) -> str:
    """What is minimised."""
    weight = explanation.query.total_weight
    return f"cost - {weight:g} * log-likelihood" if weight else "cost"


def _exception(explanation: Explanation) -> str:
    """The answers of which the lower bound is not proved."""
    return " but those that change all the features that one of these changes" if explanation.query.several_ways else ""


def _number(number: float) -> str:
    return cost_text(number) if math.isfinite(number) else "infinite"
