"""Pictures and pages of explanations: what stands in them is what the explanations say, and pages ask for nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely._display.markup import Html, el, join
from likely._display.numbers import cost_text
from likely.errors import ExplainerError
from likely.explain import audit
from likely.explain.auditing import group_names
from likely.show import changes_of, plot_changes, plot_front, report
from likely.show.front import front_axis
from tests.explain import examples


@pytest.fixture(scope="module")
def answer() -> likely.Explanation:
    return examples.explainer_of().explain(examples.rejected().iloc[0], k=3)


@pytest.fixture(scope="module")
def several() -> list[likely.Explanation]:
    return examples.explainer_of().explain_many(examples.rejected(8))


def texts_of(figure: Any) -> str:
    return " ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_changes_are_those_of_the_answers(answer: likely.Explanation) -> None:
    tracks = {track.feature: track for track in changes_of(answer)}
    for i, counterfactual in enumerate(answer.counterfactuals):
        assert {name for name, track in tracks.items() if any(move.answer == i for move in track.moves)} == set(
            counterfactual.changes
        )
    schema = answer.query.schema
    for track in tracks.values():
        feature: Any = schema[track.feature]
        for move in track.moves:
            number = answer.counterfactuals[move.answer].numbers[schema.index(track.feature)]
            if feature.ordered:
                assert move.place == pytest.approx((number - feature.lower) / (feature.upper - feature.lower))
            else:
                assert move.place is None


def test_a_place_needs_an_order_and_a_number() -> None:
    explainer = examples.explainer_of()
    row = {**examples.rejected().iloc[0], "income": None}
    answer = explainer.explain(row, target="yes")
    track = next(track for track in changes_of(answer) if track.feature == "income")
    assert track.before == "unknown"
    assert track.place is None
    assert track.moves[0].place is not None


def test_what_a_front_is_drawn_over() -> None:
    explainer, row = examples.explainer_of(), examples.rejected().iloc[0]
    assert front_axis(explainer.front(row, quantiles=[0.5])) == ("percentile", "likelier than … % of the training rows of 'yes'")
    assert front_axis(explainer.front(row, by="changes")) == ("changes", "features changed")
    every = explainer.front(row, quantiles=[0.5], plausibility=likely.Quantile(0.5, of="all"))
    assert front_axis(every) == ("percentile", "likelier than … % of the training rows")


# -- pictures ---------------------------------------------------------------------------------------------------------


def test_plot_changes_names_every_change(pyplot: Any, answer: likely.Explanation) -> None:
    said = texts_of(answer.plot())
    for track in changes_of(answer):
        assert track.feature in said
        for move in track.moves:
            assert f"{track.before} → {move.after}" in said
    assert "answer 3" in said
    figure, ax = pyplot.subplots()
    assert plot_changes(answer, ax=ax) is figure


def test_plot_front_says_every_cost(pyplot: Any) -> None:
    front = examples.explainer_of().front(examples.rejected().iloc[0], quantiles=[0.25, 0.5, 0.75])
    said = texts_of(plot_front(front))
    assert all(cost_text(cost) in said for cost in front.to_frame()["cost"])
    assert "cost" in said


def test_nothing_to_draw(answer: likely.Explanation, tmp_path: Path) -> None:
    none = replace(answer, status="infeasible", counterfactuals=())
    with pytest.raises(ExplainerError, match="A picture of changes must have an answer; got status 'infeasible'"):
        plot_changes(none)
    front = examples.explainer_of().front(examples.rejected().iloc[0], quantiles=[])
    with pytest.raises(ExplainerError, match="A picture of a front must have a point; got none"):
        plot_front(replace(front, points=(), beyond=none))
    with pytest.raises(ExplainerError, match="A report must have an explanation; got none"):
        report([], tmp_path / "page.html")
    with pytest.raises(ExplainerError, match="A report must be written into a folder that exists"):
        report(answer, tmp_path / "nowhere" / "page.html")


# -- pages ------------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a browser would show and ask for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.said = ""
        self.asked: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            self.open.append(tag)
        self.asked += [str(value) for name, value in attrs if name in ("src", "href", "srcset", "xlink:href", "data", "action")]
        assert tag not in ("script", "link", "iframe", "img", "object", "embed")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.said += data


def page_of(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert page.asked == []
    assert not re.search(r"https?:|url\(|@import", text)
    assert "Content-Security-Policy" in text
    return page


def test_report_of_one(answer: likely.Explanation, tmp_path: Path) -> None:
    explainer, row = examples.explainer_of(), examples.rejected().iloc[0]
    front = explainer.front(row, quantiles=[0.25, 0.5])
    checked = likely.verify(answer, examples.model_of(), explainer.circuit_)
    report(answer, tmp_path / "page.html", title="Ms <One> & Co", front=front, verification=checked)
    page = page_of(tmp_path / "page.html")
    assert "Ms <One> & Co" in page.said
    for track in changes_of(answer):
        for move in track.moves:
            assert f"{track.feature}{track.before}→{move.after}" in page.said
    assert answer.best.sentence.replace("'", "") in page.said
    for name in answer.query.schema.names:
        assert str(name) in page.said
    for rule in answer.query.schema.constraints:
        assert str(rule) in page.said
    assert all(check.claim in page.said for check in checked.checks)
    assert "Proved: every other answer costs at least" in page.said
    assert answer.evidence.model in page.said


def test_report_where_nothing_exists(tmp_path: Path) -> None:
    explainer, row = examples.explainer_of(), examples.rejected().iloc[0]
    locked = [name for name in explainer.schema_.names if name != "telephone"]
    none = explainer.explain(row, locked=locked)
    report(none, tmp_path / "page.html", reason=explainer.why_not(row, locked=locked))
    page = page_of(tmp_path / "page.html")
    assert "Nothing that is allowed would make the model say yes." in page.said
    assert "Why not" in page.said


def test_report_of_many(several: list[likely.Explanation], tmp_path: Path) -> None:
    groups = [explanation.query.row["housing"] for explanation in several]
    report(several, tmp_path / "page.html", names=list("abcdefgh"), groups=groups)
    page = page_of(tmp_path / "page.html")
    for name, explanation in zip("abcdefgh", several, strict=True):
        assert f"Row {name}" in page.said
        assert explanation.best.sentence.replace("'", "") in page.said
    for group in set(groups):
        assert group in page.said
    assert "100.0%certified" in page.said


def test_markup_is_escaped_once() -> None:
    assert el("b", "<i>", class_="a&b", title=None) == '<b class="a&amp;b">&lt;i&gt;</b>'
    assert join("<", Html("<br>"), None, [Html("a"), "&"]) == "&lt;<br>a&amp;"


# -- audits -----------------------------------------------------------------------------------------------------------


def test_audit_in_words(several: list[likely.Explanation]) -> None:
    said = str(audit(several, [explanation.query.row["age"] > 40 for explanation in several]))
    assert re.search(r"^rows +8$", said, re.MULTILINE)
    assert re.search(r"^certified +100.0%", said, re.MULTILINE)
    assert re.search(r"^group +rows", said, re.MULTILINE)
    none = [replace(explanation, status="infeasible", counterfactuals=()) for explanation in several[:2]]
    counted = audit(none)
    assert (counted.answered, counted.certified, counted.cost, counted.features) == (0, 2, None, ())
    assert "2 infeasible" in str(counted)
    with pytest.raises(ExplainerError, match="The groups of an audit must be one per explanation; got 1 for 8"):
        audit(several, ["a"])


def test_names_of_groups() -> None:
    assert group_names(["a", None, True, 2]) == (["a", "missing", "True", "2"], ["2", "True", "a", "missing"])
    names, order = group_names(list(range(40)))
    assert len(set(names)) == 4
    assert names[0] == order[0] == "0 to 9"
    assert group_names([*map(float, range(40)), np.nan])[0][-1] == "missing"


def test_groups_of_numbers_stand_in_the_order_of_numbers() -> None:
    assert group_names([20_000, 500, 3_000])[1] == ["500", "3000", "20,000"]
    assert group_names([1000.0 * i for i in range(40)])[1][:2] == ["0 to 9000", "10,000 to 19,000"]
