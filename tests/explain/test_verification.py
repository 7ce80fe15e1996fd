"""Forgeries: whatever is changed in an explanation's file is found, and most of it also if the digest is made anew."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import likely
from likely.errors import ExplainerError, LikelyError
from likely.explain import Verification
from likely.explain.plain import digest
from tests.explain.examples import circuit_of, explainer_of, model_of, rejected, schema_of, table_of

Place = tuple[str | int, ...]


@cache
def written() -> str:
    """An explanation with two answers, as JSON."""
    return explainer_of().explain(rejected().iloc[0], k=2, constraints=[likely.MaxChanges(4)]).to_json()


def leaves(data: Any, place: Place = ()) -> list[Place]:
    """Where the values of plain data stand: everything that is no list and no mapping, and empty ones."""
    inner = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    return [leaf for key, value in inner for leaf in leaves(value, (*place, key))] if inner else [place]


def at(data: Any, place: Place) -> Any:
    for key in place:
        data = data[key]
    return data


def forged(place: Place, value: Any, *, signed: bool) -> str:
    """The explanation with another value somewhere; signed: with the digest that then is right."""
    data = copy.deepcopy(json.loads(written()))
    at(data, place[:-1])[place[-1]] = value
    if signed:
        data["digest"] = digest({key: part for key, part in data.items() if key != "digest"})
    return json.dumps(data)


def refused(text: str, **material: Any) -> set[str]:
    """What fails; an explanation that cannot even be read fails, too."""
    try:
        explanation = likely.Explanation.from_json(text)
        verification: Verification = likely.verify(explanation, **(material or {"explainer": explainer_of()}))
    except LikelyError as error:
        return {str(error)}
    return {check.claim for check in verification.failed}


def other(value: Any) -> st.SearchStrategy[Any]:
    """Another value of the same type."""
    if isinstance(value, bool):
        return st.just(not value)
    if isinstance(value, (int, float)):
        numbers = [value + 1, value - 1, value * 1.001 + 1e-3, -value - 1, 0, 1e6]
        return st.sampled_from([number for number in numbers if number != value])
    if isinstance(value, str):
        return st.sampled_from([text for text in (value + "x", "", "yes", "no", "all", "0") if text != value])
    return st.sampled_from([0, "x"])


@given(st.data())
def test_whatever_is_changed_in_a_file_is_found(data: st.DataObject) -> None:
    content = json.loads(written())
    place = data.draw(st.sampled_from(leaves(content)))
    text = forged(place, data.draw(other(at(content, place))), signed=False)
    assert refused(text)
    assert refused(text, model=model_of())


#: What cannot be computed again: the circumstances of the search, its limits and tolerances, and how far its proof went.
BELIEVED = {"nodes", "seconds", "statistics", "interrupted", "versions", "limits", "rounding", "may_become_missing"}
BELIEVED |= {"lower", "solver", "engine", "digest", "status"}


@given(st.data())
def test_whatever_can_be_computed_is_found_with_the_right_digest_too(data: st.DataObject) -> None:
    content = json.loads(written())
    places = [place for place in leaves(content) if not BELIEVED & set(place)]
    place = data.draw(st.sampled_from(places))
    value = data.draw(other(at(content, place)))
    assume((place[-1], value) not in (("schema", ""), ("coherence", None)))  # as if it had been made by an earlier version
    assume(place[-1] != "k" or value <= len(content["counterfactuals"]))  # more were asked for, but there are no others
    assert refused(forged(place, value, signed=True))


ANSWER: Place = ("counterfactuals", 0)
QUESTION: Place = ("query", "question")
FORGERIES: list[tuple[Place, Any]] = [
    ((*ANSWER, "cost"), 0.1),
    ((*ANSWER, "objective"), 0.1),
    ((*ANSWER, "log_likelihood"), -1.0),
    ((*ANSWER, "percentile"), 99.9),
    ((*ANSWER, "percentile"), None),
    ((*ANSWER, "coherence"), 9.0),
    ((*ANSWER, "coherence_percentile"), 99.9),
    ((*ANSWER, "coherence_percentile"), None),
    ((*ANSWER, "probability_after"), 0.99),
    ((*ANSWER, "probability_before"), 0.01),
    ((*ANSWER, "probability_before"), None),
    ((*ANSWER, "label"), "no"),
    ((*ANSWER, "sentence"), "give me money"),
    ((*ANSWER, "changes"), {}),
    (("thresholds",), []),
    (("thresholds",), [["yes", -1000.0]]),
    (("margin",), 5.0),
    (("margin",), 0.0),
    (("bounds", "lower"), -1e6),
    (("bounds", "upper"), 1e6),
    (("status",), "infeasible"),
    (("status",), "unknown"),
    (("status",), "disputed"),
    ((*QUESTION, "plausibility", "q"), 0.99),
    ((*QUESTION, "plausibility"), None),
    ((*QUESTION, "weight"), 5.0),
    ((*QUESTION, "target"), "no"),
    ((*QUESTION, "k"), 1),
    ((*QUESTION, "locked"), ["age"]),
    ((*QUESTION, "constraints"), []),
    (("query", "label"), "yes"),
    (("query", "given"), ["telephone"]),
    (("query", "schema", "constraints"), []),
    (("evidence", "model"), "another"),
    (("evidence", "circuit"), "another"),
    (("evidence", "schema"), "another"),
    (("counterfactuals",), []),
]


@pytest.mark.parametrize(("place", "value"), FORGERIES, ids=lambda part: str(part)[:60])
def test_forgeries_with_the_right_digest(place: Place, value: Any) -> None:
    assert refused(forged(place, value, signed=True))


@pytest.mark.parametrize(
    ("place", "value"),
    [(("evidence", "versions"), {"likely": "99"}), (("interrupted",), True), (("bounds", "lower"), 1e6), (("nodes",), 1)],
    ids=str,
)
def test_what_cannot_be_computed_is_found_by_the_digest_and_listed(place: Place, value: Any) -> None:
    assert refused(forged(place, value, signed=False)) == {"the explanation is as it was written"}
    verification = likely.verify(likely.Explanation.from_json(forged(place, value, signed=True)), explainer_of())
    assert {check.detail for check in verification.not_checked} >= {"that is the engine's proof", "only whoever searched knows"}


def test_a_second_answer_that_was_taken_away_or_repeated() -> None:
    answers = json.loads(written())["counterfactuals"]
    assert len(answers) == 2
    assert refused(forged(("counterfactuals",), answers[:1], signed=True)) == {"the upper bound is the last answer's objective"}
    more = {**answers[1], "values": answers[0]["values"]}
    assert "none changes all that a better one changes" in refused(forged(("counterfactuals", 1), more, signed=True))


@pytest.mark.parametrize(
    "variant",
    [
        None,
        likely.Quantile(0.3, of="all", given=("class", "immutable")),
        likely.AtLeastFactual(),
        likely.Threshold(-30.0),
        likely.Weight(0.1),
    ],
    ids=str,
)
def test_with_all_material_only_the_engines_own_is_left(variant: Any, tmp_path: Path) -> None:
    answer = explainer_of().explain(rejected().iloc[1], k=2, plausibility=variant, locked=["age"])
    explainer_of().save(tmp_path / "explainer")
    again = likely.Explanation.from_json(answer.to_json())
    ways: list[dict[str, Any]] = [
        {"model": explainer_of()},
        {"explainer": explainer_of()},
        {"model": model_of(), "explainer": tmp_path / "explainer"},
        {"model": model_of(), "circuit": circuit_of(), "schema": schema_of(), "data": table_of()},
    ]
    for material in ways:
        for told in (answer, again):
            verification = likely.verify(told, **material)
            assert verification.ok, str(verification)
            details = {check.detail for check in verification.not_checked}
            knows = {"only whoever searched knows", "only whoever asked knows", "as far as is known"}
            assert details == {"that is the engine's proof"} | knows


def test_what_is_missing_is_named() -> None:
    answer = explainer_of().explain(rejected().iloc[0])
    details = {check.detail for check in likely.verify(answer, model_of()).not_checked}
    assert {"give the circuit", "give the schema", "give the training rows, or the explainer"} <= details
    details = {check.detail for check in likely.verify(answer, model_of(), circuit_of(), data=table_of()).not_checked}
    assert {"give the schema"} == {detail for detail in details if "give" in detail}
    with pytest.raises(ExplainerError, match="An explanation must be checked with its model; got none"):
        likely.verify(answer)
    with pytest.raises(ExplainerError, match="Training rows must come with the circuit that was used"):
        likely.verify(answer, model_of(), data=table_of())


def test_another_schema_is_named() -> None:
    answer = explainer_of().explain(rejected().iloc[0])
    other_schema = schema_of().with_constraints(likely.Immutable("months"))
    failed = likely.verify(answer, model_of(), schema=other_schema).failed
    assert failed[0].claim == "features, rules and costs are those of the schema and the question"
    assert failed[0].detail == "without the rule: 'months' may not change"


def test_no_answer_is_checked_too() -> None:
    locked = ["age", "income", "debt", "months", "housing"]
    none = explainer_of().explain(rejected().iloc[0], locked=locked)
    assert none.status == "infeasible"
    assert likely.verify(likely.Explanation.from_json(none.to_json()), explainer_of())
    data = {**json.loads(none.to_json()), "status": "optimal"}
    assert refused(json.dumps(data))


def test_a_training_row_refutes_a_false_proof() -> None:
    """Infeasible, of a question that a training row answers."""
    content = json.loads(written())
    content |= {"counterfactuals": [], "status": "infeasible", "bounds": {"upper": "inf", "lower": "inf"}}
    content["digest"] = digest({key: part for key, part in content.items() if key != "digest"})
    assert refused(json.dumps(content)) == {"no training row is a better answer"}


def test_an_explanation_of_an_earlier_version_is_checked_without_its_digest() -> None:
    file = Path(__file__).parent / "explanation_v1.json"
    explanation = likely.Explanation.from_json(file.read_text(encoding="utf-8"))
    assert explanation.reading is not None
    assert explanation.reading.as_written is None
    assert explanation.reading.changes_follow
