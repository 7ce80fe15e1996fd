"""A front as text, HTML and JSON; what its points are worth is tested in test_truth."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import likely
from likely.errors import ExplainerError
from likely.explain import Front
from tests.explain.examples import explainer_of, rejected


@pytest.fixture(scope="module")
def front() -> Front:
    return explainer_of().front(rejected().iloc[0], quantiles=[0.5, 0.75])


def test_json_there_and_back(front: Front) -> None:
    again = Front.from_json(front.to_json())
    assert again == front
    assert len(again) == len(front) > 1
    assert again.to_frame().equals(front.to_frame())
    by_changes = explainer_of().front(rejected().iloc[0], by="changes")
    assert Front.from_json(by_changes.to_json()) == by_changes


def test_json_of_a_front_that_ends(front: Front) -> None:
    """The first demand that no row meets travels too."""
    locked = [name for name in explainer_of().schema_.names if name != "debt"]
    none = explainer_of().front(rejected().iloc[0], locked=locked)
    assert (none.points, none.beyond.status) == ((), "infeasible")
    assert Front.from_json(none.to_json()) == none
    assert none._repr_html_() == none.beyond._repr_html_()
    ends = replace(front, beyond=none.beyond)
    assert Front.from_json(ends.to_json()) == ends
    assert str(ends).endswith("There is no answer.")


def test_every_point_can_be_checked_later(front: Front) -> None:
    model, circuit = explainer_of().model, explainer_of().circuit_
    for point in Front.from_json(front.to_json()).points:
        assert likely.verify(point, model, circuit)


def test_html_says_what_the_table_says(front: Front) -> None:
    page = front._repr_html_()
    assert page.count("<tr>") == len(front) + 1
    for point in front.points:
        for text in (f"{point.best.cost:.4g}", f"{point.best.percentile:.0f}%", *point.best.changes):
            assert f"{text}" in page
    assert "Likelier answers were not asked for." in page
    assert str(front).endswith("Likelier answers were not asked for.")
    early = replace(front, beyond=replace(front.points[0], status="unknown", counterfactuals=()))
    assert "What lies beyond was not decided in time." in early._repr_html_()
    assert Front("changes", (), None)._repr_html_() == "<div><p>No answer can change fewer features.</p></div>"


def test_what_is_no_front(front: Front) -> None:
    data = front.to_dict()
    point = {**data["points"][0], "counterfactuals": []}
    for wrong, message in [
        ([], r"A front's data must have version 1; got list. Hint: use front.to_json\(\)"),
        ({**data, "version": 2}, "A front's data must have version 1; got 2"),
        ({"version": 1, "by": "changes"}, "A front's data must have by, points \\(a list\\) and beyond; got version, by"),
        ({**data, "points": 3}, "A front's data must have by, points \\(a list\\) and beyond; got version, by, points, beyond"),
        ({**data, "by": "age"}, "A front must be by 'likelihood' or 'changes'; got 'age'. Hint: correct the file"),
        ({**data, "points": [point]}, "The points of a front must have an answer each; got one without. Hint: correct the file"),
        ({**data, "beyond": {}}, "An explanation's data must have version 7 or less; got None"),
    ]:
        with pytest.raises(ExplainerError, match=message):
            Front.from_json(json.dumps(wrong))
    with pytest.raises(ExplainerError, match=r"A front's text must be JSON; got .*. Hint: use front.to_json\(\)"):
        Front.from_json("no")
