"""`report` and `audit_report`: pages that need nothing else: for phones, screens, paper, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from likely._display.markup import Html, el, join
from likely._files import write_text
from likely.errors import ExplainerError
from likely.explain import Audit, Explanation, Front, Verification
from likely.show.pages.audit_page import audit_page
from likely.show.pages.many import many_page
from likely.show.pages.one import one_page

#: The page may load nothing: browsers refuse what a mistake of ours might ask for.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report(
    explanations: Explanation | Iterable[Explanation],
    path: str | Path,
    *,
    title: str | None = None,
    front: Front | None = None,
    verification: Verification | None = None,
    reason: Any = None,
    names: Sequence[Any] | None = None,
    groups: Sequence[Any] | None = None,
) -> None:
    """Write a self-contained HTML page of one explanation, or of many.

    Args:
        explanations: An explanation, or several.
        path: Where to write it; the folder must exist.
        title: The heading of the page.
        front: Of one: what `Explainer.front` said of the row.
        verification: Of one: what `verify` said.
        reason: Of one: what `Explainer.why_not` said.
        names: Of many: the names of the rows; their numbers, if left out.
        groups: Of many: a value per row, by which numbers are told apart.
    """
    given: dict[str, Any] = {"front": front, "verification": verification, "reason": reason, "names": names, "groups": groups}
    _write(path, report_page(explanations, title=title, **given))


def report_page(
    explanations: Explanation | Iterable[Explanation],
    *,
    title: str | None = None,
    front: Front | None = None,
    verification: Verification | None = None,
    reason: Any = None,
    names: Sequence[Any] | None = None,
    groups: Sequence[Any] | None = None,
) -> str:
    """The page that `report` writes, as a text.

    Args:
        explanations: An explanation, or several.
        title: The heading of the page.
        front: Of one: what `Explainer.front` said of the row.
        verification: Of one: what `verify` said.
        reason: Of one: what `Explainer.why_not` said.
        names: Of many: the names of the rows; their numbers, if left out.
        groups: Of many: a value per row, by which numbers are told apart.
    """
    if isinstance(explanations, Explanation):
        body, kind = one_page(explanations, front, verification, reason), "Counterfactual explanation"
    else:
        several = list(explanations)
        if not several:
            raise ExplainerError("A report", "have an explanation", "none", "explain a row first")
        body, kind = many_page(several, range(len(several)) if names is None else names, groups), "Counterfactual explanations"
    return _page(title or kind, kind, body)


def audit_report(audit: Audit, path: str | Path, *, title: str | None = None) -> None:
    """Write a self-contained HTML page of an audit.

    Args:
        audit: What `likely.explain.audit` counted.
        path: Where to write it; the folder must exist.
        title: The heading of the page.
    """
    kind = "Audit of counterfactual explanations"
    _write(path, _page(title or kind, kind, audit_page(audit)))


def _write(path: str | Path, page: str) -> None:
    file = Path(path)
    if not file.parent.is_dir():
        raise ExplainerError("A report", "be written into a folder that exists", str(file), "make the folder first")
    write_text(file, page)


def _page(title: str, kind: str, body: Html) -> str:
    style = Html(files("likely.show.pages").joinpath("style.css").read_text(encoding="utf-8"))
    head = join(
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        el("title", title),
        el("style", style),
    )
    top = el("header", el("h1", title), el("span", kind if kind != title else "likely", class_="soft small"), class_="top")
    foot = el("footer", "Made with likely. This page loads nothing from elsewhere.")
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{el("main", top, body, foot)}</body></html>\n'
