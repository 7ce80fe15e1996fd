"""The page of an audit: what came of the rows, what it costs and asks for, what stands in the way, and whether groups differ."""

from __future__ import annotations

from likely._display.markup import Html, el, join
from likely._display.numbers import cost_text
from likely.explain import Audit, Difference, GroupChange, GroupCounterfactual, Share, Spread, Use
from likely.explain.audit_text import blocking_words, p_text, share, single_words
from likely.show.pages.parts import spoken, table
from likely.show.pages.pictures import bar_picture, outcome_picture, spread_picture

#: what came of a row -> the class of its colour
COLOURS = {
    "certified answer": "sure",
    "answer, not proved the best": "found",
    "proved: no answer": "none",
    "undecided": "open",
}
#: Below this a corrected p-value is marked.
_SIGNIFICANT = 0.05


def audit_page(audit: Audit) -> Html:
    """Everything that an audit says, the answer to the first question first.

    Args:
        audit: What was counted.
    """
    return join(
        el("p", _lead(audit), class_="lead"),
        _outcomes(audit),
        _spreads(audit),
        _features(audit),
        _blocking(audit),
        _changes(audit),
        _differences(audit),
        _method(audit),
    )


def _section(title: str, note: str, *parts: Html | None) -> Html:
    return el("section", el("h2", title), el("p", note, class_="soft"), *parts)


def _lead(audit: Audit) -> Html:
    shares = audit.outcomes
    sure, none = shares["certified answer"], shares["proved: no answer"]
    return join(
        f"Of {audit.asked:,} rows, ",
        el("b", share(sure.count, sure.of)),
        " have a certified answer; for ",
        el("s", share(none.count, none.of)),
        " it is proved that there is none.",
    )


# -- what came of the rows --------------------------------------------------------------------------------------------


def _outcomes(audit: Audit) -> Html:
    parts = [("all rows", audit), *audit.groups]
    rows = [_outcome_row(name, of) for name, of in parts]
    legend = el("p", *(el("span", name, class_=f"key {COLOURS[name]}") for name in audit.outcomes), class_="legend small")
    head = [audit.by or "", "rows", "", *audit.outcomes]
    left_out = f" {audit.refused:,} rows could not be asked about and are not among them." if audit.refused else ""
    note = f"Shares of the rows that could be asked about, with 95 % intervals.{left_out}"
    return _section("What came of the rows", note, legend, table(head, rows, (1, 3, 4, 5, 6), "outcomes"))


def _outcome_row(name: str, audit: Audit) -> Html:
    shares = audit.outcomes
    picture = outcome_picture([(COLOURS[what], of.value) for what, of in shares.items()]) if audit.asked else None
    cells = [el("td", _share(of), class_="number") for of in shares.values()]
    return el(
        "tr",
        el("th", name, scope="row"),
        el("td", f"{audit.asked:,}", class_="number"),
        el("td", picture, class_="wide"),
        *cells,
    )


def _share(of: Share) -> Html:
    if not of.of:
        return Html("-")
    return join(f"{100 * of.value:.1f}%", el("span", f"{100 * of.low:.0f} to {100 * of.high:.0f}", class_="soft interval"))


# -- numbers of answers -----------------------------------------------------------------------------------------------


def _spreads(audit: Audit) -> Html | None:
    sections = [_spread_table(name, audit) for name, _ in audit.spreads if name in ("cost", "likelier than")]
    if not sections:
        return None
    note = (
        "Of the best answer of each row that has one. The line holds nine tenths of the rows, the box the middle half; "
        "the dot is the median, the band around it its 95 % interval."
    )
    return _section("What answers cost, and how likely they are", note, *sections)


def _spread_table(measure: str, audit: Audit) -> Html:
    known = [(name, dict(of.spreads).get(measure)) for name, of in [("all rows", audit), *audit.groups]]
    spreads = [(name, spread) for name, spread in known if spread is not None]
    low = 0.0
    high = 100.0 if measure == "likelier than" else max(spread.quantiles[-2] for _, spread in spreads) * 1.02 or 1.0
    rows = [_spread_row(name, spread, low, high) for name, spread in spreads]
    unit = " (% of other rows)" if measure == "likelier than" else ""
    return table(
        [f"{measure}{unit}", "answers", f"0 to {cost_text(high)}", "median", "95 % interval"], rows, (1, 3, 4), "spreads"
    )


def _spread_row(name: str, spread: Spread, low: float, high: float) -> Html:
    interval = "too few rows" if spread.interval is None else " to ".join(cost_text(end) for end in spread.interval)
    return el(
        "tr",
        el("th", name, scope="row"),
        el("td", f"{spread.count:,}", class_="number"),
        el("td", spread_picture(spread, low, high), class_="wide"),
        el("td", cost_text(spread.median), class_="number"),
        el("td", interval, class_="number soft"),
    )


def _features(audit: Audit) -> Html | None:
    if not audit.features:
        return None
    head = ["feature", "answers that change it", "", "of the cost", "up", "down", "most often to"]
    body = [_use(use, audit.answered) for use in audit.features]
    note = "How often the best answer changes a feature, and which share of the cost of all answers that is."
    return _section("Which features carry the recourse", note, table(head, body, (2, 3, 4, 5), "uses"))


def _use(use: Use, rows: int) -> Html:
    numbers = [share(use.count, rows), f"{100 * use.carries:.0f}%", *(f"{n:,}" if n else "" for n in (use.up, use.down))]
    return el(
        "tr",
        el("th", spoken(use.title), scope="row"),
        el("td", bar_picture(use.count / rows), class_="wide"),
        *(el("td", number, class_="number") for number in numbers),
        el("td", use.to, class_="end"),
    )


# -- what stands in the way -------------------------------------------------------------------------------------------


def _blocking(audit: Audit) -> Html | None:
    known = audit.blocking
    if known is None or not known.rows:
        return None
    head = ["demand", "in the way of", "alone opens the way for", "at a median cost of", "still none", "undecided"]
    body = []
    for block in known.demands:
        cost = "" if block.cost is None else cost_text(block.cost)
        cells = [f"{block.rows:,}", f"{block.opens:,}", cost, f"{block.still_none:,}", f"{block.undecided:,}"]
        body.append(el("tr", el("th", block.demand, scope="row"), *(el("td", cell, class_="number") for cell in cells)))
    hopeless = f" Of {known.hopeless:,} rows nothing helps within the features' bounds." if known.hopeless else ""
    return _section(
        "Which rules block it", f"{blocking_words(known)}.{hopeless}", table(head, body, range(1, 6)), _ways_out(audit)
    )


def _ways_out(audit: Audit) -> Html | None:
    ways = () if audit.blocking is None else audit.blocking.ways_out[:5]
    several = [(demands, count) for demands, count in ways if len(demands) > 1]
    if not several:
        return None
    items = [el("li", f"{count:,} rows: {'; and '.join(demands)}") for demands, count in several]
    return join(el("p", "Where one alone is not enough, the cheapest set to give up:", class_="soft"), el("ul", *items))


def _changes(audit: Audit) -> Html | None:
    if audit.change is None:
        return None
    found = [(name, of.change) for name, of in [("all rows", audit), *audit.groups] if of.change is not None]
    note = (
        "The same for everybody: a feature set to a value, or shifted by an amount. A change turns a row if what comes out "
        "answers the row's own question. It costs what it costs all rows on average."
    )
    cards = el("div", *(_change_card(name, change) for name, change in found), class_="cards")
    return _section("One change for everybody", note, cards, _single(audit.change))


def _change_card(name: str, found: GroupCounterfactual) -> Html:
    wanted = f"to turn {found.wanted:,} of {found.members:,}"
    head = el("header", el("h3", name), el("span", wanted, class_="soft small"))
    colour = {"optimal": "", "infeasible": "none"}.get(found.status, "open")
    moves = [] if found.change is None else [el("p", str(move), class_="to") for move in found.change.moves]
    most = found.change or (found.single[0] if found.single else None)
    moves = moves or ([el("p", f"The most that one does: {most.moves[0]}", class_="soft")] if most else [])
    turned = None if most is None else _turned(most)
    return el("article", head, *moves, turned, el("p", found.claim, class_=f"claim small {colour}".strip()), class_="card")


def _turned(change: GroupChange) -> Html:
    text = f"turns {change.turned.count:,} of {change.turned.of:,}, at a mean cost of {cost_text(change.cost)}"
    return join(bar_picture(change.turned.value), el("p", text, class_="soft small"))


def _single(found: GroupCounterfactual) -> Html | None:
    if not found.single:
        return None
    body = []
    for change in found.single:
        numbers = [share(change.turned.count, change.turned.of), cost_text(change.cost)]
        cells = [el("td", bar_picture(change.turned.value), class_="wide"), *(el("td", n, class_="number") for n in numbers)]
        body.append(el("tr", el("th", str(change.moves[0]), scope="row"), *cells))
    title = el("h3", single_words(found), class_="spaced")
    return join(title, table(["change", "turns", "", "mean cost"], body, (2, 3)))


def _differences(audit: Audit) -> Html | None:
    if not audit.differences:
        return None
    body = [_difference_row(each) for each in audit.differences]
    head = ["", "least", "greatest", "test", "p", "corrected p"]
    count = len(audit.differences)
    note = (
        f"{count} tests of whether the groups differ; the last column is corrected for their number (Holm). A difference is "
        "marked below 0.05. Costs are those of rows that have an answer: a group with few of them may look cheap."
    )
    return _section("Do the groups differ?", note, table(head, body, (4, 5), "tests"))


def _difference_row(each: Difference) -> Html:
    ends = [f"{name} ({_value(each.measure, value)})" for name, value in (each.least, each.greatest)]
    marked = each.corrected < _SIGNIFICANT
    return el(
        "tr",
        el("th", each.measure, scope="row"),
        *(el("td", end) for end in ends),
        el("td", each.test, class_="soft"),
        el("td", p_text(each.p), class_="number"),
        el("td", p_text(each.corrected), class_="number differs" if marked else "number"),
    )


def _value(measure: str, value: float) -> str:
    return f"{100 * value:.1f}%" if measure in COLOURS else cost_text(value)


def _method(audit: Audit) -> Html:
    lines = [
        "A certified answer is proved to be the best by the engine; that there is none is proved, too. What was decided by "
        "neither within the limits is counted as undecided.",
        f"{audit.keeping:,} of {audit.answers:,} answers keep every rule of their question, tested again here.",
        "Shares have Wilson's interval, medians one between two order statistics. Groups are compared by chi-square, Fisher's "
        "exact test or shuffled rows, and by ranks.",
        "Intervals and tests take the rows for a sample drawn at random. What the numbers mean is for people to say.",
    ]
    return el("section", el("h2", "How to read this"), el("ul", *(el("li", line) for line in lines), class_="small"))
