"""What pages are made of: sentences, cards of answers, tables, facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from likely._display.markup import Html, Part, el, join
from likely._display.numbers import cost_text, number_text
from likely.explain import Counterfactual, Explanation
from likely.explain.query import rows_named
from likely.explain.text import FIT, claim, joined, outcome, wanted
from likely.schema.values import Value, show_value
from likely.show.axis import told
from likely.show.changes import Track, changes_of
from likely.show.pages.pictures import share_picture, track_picture

#: A sentence names so many changes, and one more if that is all.
_MOST_NAMED = 3
#: status -> a word, and the class of its colour
MARKS = {
    "optimal": ("proved", ""),
    "feasible": ("not proved to be the best", "open"),
    "infeasible": ("proved: no answer", "none"),
    "unknown": ("not decided", "open"),
    "disputed": ("disputed", "open"),
    "refused": ("not explained", "open"),
}


def spoken_value(value: Value) -> str:
    """A class or value without quotes."""
    return value if isinstance(value, str) else show_value(value)


def spoken(name: str) -> str:
    """The name of a column as people say it."""
    return name.replace("_", " ")


def answer_text(explanation: Explanation) -> Html:
    """The best answer as a sentence, new values and old ones marked; or that there is none."""
    query = explanation.query
    if not explanation:
        text = "Nothing that is allowed" if explanation.status == "infeasible" else "Nothing that was tried"
        verb, _, asked = wanted(query, spoken_value).partition(" ")
        return join(f"{text} would make the model {verb} ", el("b", asked), ".")
    pairs = [(track, move) for track in changes_of(explanation) for move in track.moves if move.answer == 0]
    most = _main(explanation)
    left_out = len(pairs) - len(most)
    moves = [
        join(spoken(track.feature), " were ", el("b", move.after), " instead of ", el("s", track.before))
        for i, (track, move) in enumerate(pairs)
        if i in most
    ]
    moves += [Html(f"{left_out} smaller changes were made")] if left_out else []
    verb, new, old = outcome(explanation.best, spoken_value)
    before = None if old is None else join(" instead of ", el("s", old))
    end = join(f", the model would {verb} ", el("b", new), before, ".")
    return join("If ", Html(joined(moves)), end) if moves else join("Without any change", end)


def _main(explanation: Explanation) -> list[int]:
    """Which changes of the best answer a sentence names, by their places among its changes: all of a few, else the costliest."""
    query, best = explanation.query, explanation.best
    places = [j for j, feature in enumerate(query.schema.features) if feature.name in best.changes]
    if len(places) <= _MOST_NAMED + 1:
        return list(range(len(places)))
    alone = np.tile(query.factual, (len(places), 1))
    alone[range(len(places)), places] = best.numbers[places]
    return sorted(np.argsort(-query.schema.prices(query.factual, alone), kind="stable")[:_MOST_NAMED].tolist())


def claim_box(explanation: Explanation) -> Html:
    """What is claimed, and how strong the claim is, in a colour."""
    first, *more = claim(explanation)
    lines = [el("b", first), *(part for line in more for part in (Html("<br/>"), line))]
    return el("p", *lines, class_=f"claim {MARKS[explanation.status][1]}".strip())


def cards(explanation: Explanation) -> Html:
    """A card per answer."""
    tracks = changes_of(explanation)
    return el("div", *(_card(explanation, tracks, i) for i in range(len(explanation))), class_="cards")


def _card(explanation: Explanation, tracks: Sequence[Track], number: int) -> Html:
    answer = explanation.counterfactuals[number]
    name = f"Answer {number + 1}" if len(explanation) > 1 else "The answer"
    count = f"{answer.number_of_changes} change{'s' * (answer.number_of_changes != 1)}"
    head = el("header", el("h3", name), el("span", count, class_="soft small"))
    changes = [_change(track, number) for track in tracks if any(move.answer == number for move in track.moves)]
    return el("article", head, *changes, _measures(answer), class_="card")


def _change(track: Track, number: int) -> Html:
    move = next(move for move in track.moves if move.answer == number)
    values = join(el("span", track.before, class_="from"), el("span", "→", class_="arrow"), el("span", move.after, class_="to"))
    picture = track_picture(track, move)
    ends = el("div", el("span", track.low), el("span", track.high), class_="ends") if picture else None
    return el("div", el("span", spoken(track.feature), class_="name"), values, picture, ends, class_="change")


def _measures(answer: Counterfactual) -> Html:
    rows = [_pair("cost", cost_text(answer.cost))]
    if answer.probability_after is not None:
        before = answer.probability_before
        text = (
            f"{100 * answer.probability_after:.1f}%"
            if before is None
            else f"{100 * before:.1f} → {100 * answer.probability_after:.1f}%"
        )
        rows.append(_pair(f"probability of {spoken_value(answer.label)}", text, share_picture(before, answer.probability_after)))
    if answer.prediction is not None:
        now = "" if answer.query.label is None else f"{number_text(float(answer.query.label))} → "
        rows.append(_pair("prediction", f"{now}{number_text(answer.prediction)}"))
    of = f" of {spoken_value(answer.label)}" if answer.query.of_class else ""
    for text, percentile in (("likelier than", answer.percentile), (FIT, answer.coherence_percentile)):
        if percentile is not None:
            name = f"{text} … of {rows_named(answer.query.rows)}{of}"
            rows.append(_pair(name, f"{percentile:.0f}%", share_picture(None, percentile / 100)))
    return el("div", *rows, class_="measures")


def _pair(name: str, value: str, picture: Html | None = None) -> Html:
    return el("div", el("div", el("span", name, class_="soft small"), el("span", value), class_="pair"), picture)


def row_table(explanation: Explanation) -> Html:
    """Every feature: now, and in each answer."""
    query, answers = explanation.query, explanation.counterfactuals
    head = [
        "feature",
        "now",
        *([f"answer {i + 1}" for i in range(len(answers))] if len(answers) > 1 else ["answer"] * len(answers)),
    ]
    body = []
    for j, feature in enumerate(query.schema.features):
        new = [feature.name in answer.changes for answer in answers]
        cells = [
            el("td", told(feature, float(answer.numbers[j]), 60) if changed else "·", class_="new" if changed else "same")
            for answer, changed in zip(answers, new, strict=True)
        ]
        body.append(el("tr", el("th", spoken(feature.title), scope="row"), el("td", value_text(explanation, j)), *cells))
    return table(head, body)


def value_text(explanation: Explanation, j: int) -> str:
    """The value of one feature of the row that was explained."""
    number = float(explanation.query.factual[j])
    return "unknown" if math.isnan(number) else told(explanation.query.schema.features[j], number, 60)


def table(head: Iterable[str], body: Iterable[Html], numbers: Iterable[int] = (), kind: str = "") -> Html:
    """A table that scrolls by itself where it is too wide."""
    right = set(numbers)
    top = el("tr", *(el("th", name, scope="col", class_="number" if i in right else None) for i, name in enumerate(head)))
    return el("div", el("table", el("thead", top), el("tbody", *body)), class_=f"scroll {kind}".strip())


def facts(pairs: Iterable[tuple[str, Part]]) -> Html:
    """Names and values, line by line."""
    return el("dl", *(join(el("dt", name), el("dd", value)) for name, value in pairs), class_="facts")
