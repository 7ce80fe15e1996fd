"""Answers side by side, for a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from likely.explain import text

if TYPE_CHECKING:
    from likely.explain.explanation import Explanation
    from likely.explain.front import Front

_CELL = "text-align:left;padding:4px 12px"
_LINE = "border-top:1px solid currentColor"


def _row(cells: list[str], *, tag: str = "td", style: str = "") -> str:
    made = "".join(f"<{tag} style='{_CELL};{style}'>{escape(cell)}</{tag}>" for cell in cells)
    return f"<tr>{made}</tr>"


def as_html(explanation: Explanation) -> str:
    """A table without scripts and without anything from elsewhere, in the page's own colours."""
    top = f"<p><b>{escape(text.goal(explanation))}</b><br>{escape(text.claim(explanation))}</p>"
    answers = explanation.counterfactuals
    if not answers:
        return f"<div>{top}</div>"
    head = ["", "now", *([f"answer {i + 1}" for i in range(len(answers))] if len(answers) > 1 else ["answer"])]
    body = "".join(_row([name, before, *after]) for name, before, after in text.cells(explanation))
    measures = text.measures(explanation)
    foot = "".join(
        _row([name, before, *after], style=f"opacity:0.8;{_LINE if i == 0 else ''}")
        for i, (name, before, after) in enumerate(measures)
    )
    table = f"<table><thead>{_row(head, tag='th')}</thead><tbody>{body}</tbody><tfoot>{foot}</tfoot></table>"
    said = "".join(f"<li>{escape(own.sentence)}</li>" for own in answers)
    return f"<div>{top}{table}<ol>{said}</ol></div>"


def front_as_html(front: Front) -> str:
    """A line per point of a trade-off: what it costs, what it changes, how likely it is, and how strong the claim is."""
    if not front.points:
        return "<div><p>no answer</p></div>" if front.beyond is None else as_html(front.beyond)
    head = ["cost", "features changed", "likelier than", "log-likelihood", "claim", "changes"]
    body = "".join(_row(_point(point)) for point in front.points)
    table = f"<table><thead>{_row(head, tag='th')}</thead><tbody>{body}</tbody></table>"
    return f"<div>{table}<p>{escape(front.ending)}</p></div>"


def _point(point: Explanation) -> list[str]:
    best = point.best
    likelier = "" if best.percentile is None else f"{best.percentile:.0f}%"
    log = "" if best.log_likelihood is None else f"{best.log_likelihood:.4g}"
    return [f"{best.cost:.4g}", str(best.number_of_changes), likelier, log, point.status, ", ".join(map(str, best.changes))]
