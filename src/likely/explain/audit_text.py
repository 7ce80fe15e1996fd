"""An audit in words and tables, for a terminal; pages take their words from here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely._display.numbers import cost_text
from likely._display.tables import aligned
from likely.explain.audit_statistics import Difference
from likely.explain.query import rows_named
from likely.explain.text import FIT

if TYPE_CHECKING:
    from likely.explain.auditing import Audit, Use
    from likely.explain.blocking import Block, Blocking
    from likely.explain.group_counterfactual import GroupCounterfactual

GROUP_HEAD = ["group", "rows", "certified", "no answer", "undecided", "cost", "changes", "likelier than"]
DIFFERENCE_HEAD = ["do the groups differ in", "least", "greatest", "test", "p", "corrected"]
BLOCK_HEAD = ["demand", "rows", "alone opens the way", "at cost", "still none", "undecided"]
#: Below this a corrected p-value is written as such.
_LEAST_P = 1e-4


def audit_text(audit: Audit) -> str:
    """Everything that an audit says.

    Args:
        audit: What was counted.
    """
    lines = aligned(summary(audit))
    if audit.features:
        head = ["feature", "changed", "of the cost", "up", "down", "most often to"]
        lines += ["", *aligned([head, *(use_cells(use, audit.answered) for use in audit.features)])]
    if audit.blocking is not None and audit.blocking.rows:
        cells = [block_cells(block) for block in audit.blocking.demands]
        lines += ["", blocking_words(audit.blocking), *(aligned([BLOCK_HEAD, *cells]) if cells else [])]
    if audit.change is not None:
        lines += ["", "The cheapest change for everybody", str(audit.change)]
        lines += [single_words(audit.change), *(f"- {change}" for change in audit.change.single)]
    if audit.groups:
        lines += ["", *aligned([GROUP_HEAD, *(group_cells(name, group) for name, group in audit.groups)])]
    if audit.differences:
        lines += ["", *aligned([DIFFERENCE_HEAD, *(difference_cells(each) for each in audit.differences)])]
    for name, group in audit.groups:
        if group.change is not None:
            lines += ["", f"{audit.by or 'group'} {name}: {group.change}"]
    return "\n".join(line.rstrip() for line in lines)


def summary(audit: Audit) -> list[tuple[str, str]]:
    """The numbers of an audit, named, for people.

    Args:
        audit: What was counted.
    """
    numbers = [
        ("rows", f"{audit.rows:,}"),
        ("certified", f"{share(audit.certified, audit.asked)} (proved: there is no better answer, or none at all)"),
        *((name, str(of)) for name, of in audit.outcomes.items()),
        ("with an answer", share(audit.answered, audit.asked)),
        ("every rule kept", f"{audit.keeping:,} of {audit.answers:,} answers"),
    ]
    if audit.cost and audit.changes:
        numbers += [("cost", f"{audit.cost}"), ("features changed", f"{audit.changes}")]
    rows = " and ".join(rows_named(rows) for rows in audit.compared_with)
    for text, spread in (("likelier than", audit.percentile), (FIT, audit.coherence_percentile)):
        if spread:
            numbers.append((text, f"{spread} % of {rows}"))
    others = {name: count for name, count in audit.statuses.items() if name != "optimal" and count}
    return [*numbers, ("not optimal", ", ".join(f"{count:,} {name}" for name, count in others.items()) or "none")]


def group_cells(name: str, audit: Audit) -> list[str]:
    """One group, in the order of `GROUP_HEAD`.

    Args:
        name: Of the group.
        audit: Of its rows.
    """
    numbers = [cost_text(spread.median) if spread else "" for spread in (audit.cost, audit.changes)]
    likelier = f"{audit.percentile.median:.0f}%" if audit.percentile else ""
    outcomes = audit.outcomes
    shares = [str(outcomes[name]) for name in ("certified answer", "proved: no answer", "undecided")]
    return [name, f"{audit.rows:,}", *shares, *numbers, likelier]


def difference_cells(each: Difference) -> list[str]:
    """One test, in the order of `DIFFERENCE_HEAD`.

    Args:
        each: The test.
    """
    ends = [f"{name}: {cost_text(value)}" for name, value in (each.least, each.greatest)]
    return [each.measure, *ends, each.test, p_text(each.p), p_text(each.corrected)]


def block_cells(block: Block) -> list[str]:
    """One demand, in the order of `BLOCK_HEAD`.

    Args:
        block: The demand, and what it does.
    """
    cost = "" if block.cost is None else cost_text(block.cost)
    return [block.demand, f"{block.rows:,}", f"{block.opens:,}", cost, f"{block.still_none:,}", f"{block.undecided:,}"]


def blocking_words(known: Blocking) -> str:
    """Of how many rows it is known what keeps them from an answer.

    Args:
        known: What was asked.
    """
    head = f"What keeps {known.rows:,} rows from an answer"
    if known.whole:
        return f"{head}: the smallest set of demands of each, and what giving one up alone brings, by the engine"
    left = f"; of {known.rows - known.asked:,} the time was over before they were asked about" if known.asked < known.rows else ""
    undecided = f"; of {known.undecided:,} it was not decided" if known.undecided else ""
    return f"{head}: asked of {known.asked:,} of them{left}{undecided}"


def single_words(found: GroupCounterfactual) -> str:
    """What the moves of single features are.

    Args:
        found: It has them.
    """
    return f"The single changes that help most people{'' if found.single_whole else ', of those that the time was enough for'}"


def share(part: int, whole: int) -> str:
    """A part as percent.

    Args:
        part: How many.
        whole: Of how many.
    """
    return f"{100 * part / whole:.1f}%" if whole else "-"


def p_text(p: float) -> str:
    """A p-value as people read it.

    Args:
        p: Between 0 and 1.
    """
    return f"< {_LEAST_P:g}" if p < _LEAST_P else f"{p:.2g}"


def use_cells(use: Use, rows: int) -> list[str]:
    """How a feature is used, by so many rows with an answer.

    Args:
        use: The feature, and how often it changes.
        rows: How many rows have an answer.
    """
    most = f"{use.to} ({use.to_count:,})"
    ways = [f"{count:,}" if count else "" for count in (use.up, use.down)]
    return [use.title, share(use.count, rows), f"{100 * use.carries:.0f}%", *ways, most]
