"""Reasons against going through every change of every set of features; and what is told of them."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import likely
from likely.errors import ExplainerError, SchemaError
from likely.explain.concluding import explained
from likely.explain.reasons import MATERIAL
from tests.explain import examples
from tests.explain.small_cases import case, costs_of_sets, rejected


def expected_ways(costs: dict[frozenset[str], float], n: int) -> list[tuple[frozenset[str], float]]:
    """The ways as they are defined, from the cost of every set of features."""
    ways: list[tuple[frozenset[str], float]] = []
    while len(frozenset().union(*(way for way, _ in ways))) < n:
        left = {features: cost for features, cost in costs.items() if not any(way <= features for way, _ in ways)}
        if not left or min(left.values()) == np.inf:
            break
        cheapest = min(left, key=lambda features: (round(left[features], 9), len(features)))
        parts = [features for features in costs if features <= cheapest]
        enough = [features for features in parts if costs[features] <= costs[cheapest] / (1 - MATERIAL) + 1e-6]
        way = min(enough, key=lambda features: (len(features), costs[features]))
        ways.append((way, costs[way]))
    return sorted(ways, key=lambda way: way[1])


@given(st.sampled_from(["tree", "linear", "network"]), st.integers(0, 1), st.integers(0, 9), st.integers(1, 3))
def test_reasons_are_those_of_enumeration(model: str, seed: int, place: int, n: int) -> None:
    explainer, X = case(model, seed)
    row = rejected(explainer, X, 10).iloc[place]
    costs = costs_of_sets(explainer, row)
    assume(costs)
    found = explainer.explain(row).reasons(n)
    ways = expected_ways(costs, n)
    assert found.proved
    assert [frozenset(name for name, _, _ in way.changes) for way in found.ways] == [way for way, _ in ways]
    assert [way.cost for way in found.ways] == pytest.approx([cost for _, cost in ways], rel=1e-3)
    first = {name: i for i, (way, _) in reversed(list(enumerate(ways))) for name in way}
    assert [reason.way - 1 for reason in found] == sorted(first.values())[:n]
    for reason in found:
        assert first[str(reason.feature)] == reason.way - 1
        alone = costs[frozenset([str(reason.feature)])]
        assert (reason.alone.status == "infeasible") == (alone == np.inf)
        assert reason.alone.cost == (None if alone == np.inf else pytest.approx(alone, rel=1e-3))
        assert reason.closes >= 1 or reason.together


def test_every_way_is_confirmed_by_the_model_itself() -> None:
    explainer, row = examples.explainer_of(), examples.rejected(1).iloc[0]
    found = explainer.explain(row).reasons()
    assert 0 < len(found) <= 4
    for way in found.ways:
        changed = row.copy()
        for name, before, after in way.changes:
            assert row[name] == before
            changed[name] = after
        assert examples.model_of().predict(changed.to_frame().T.astype(examples.table_of()[0].dtypes.to_dict()))[0] == "yes"
    assert "telephone" not in {reason.feature for reason in found}
    json.dumps(found.to_dict(), allow_nan=False)


def test_what_may_not_change_may_be_a_reason() -> None:
    """A notice says why, not what to do: rules about changes do not count."""
    explainer, row = examples.explainer_of(), examples.rejected(1).iloc[0]
    asked = explainer.explain(row, locked=["months"], limits=20)
    assert asked.reasons(1)[0].feature == explainer.explain(row).reasons(1)[0].feature == "months"
    nothing = explainer.explain(row, only=["telephone"], limits=20)
    assert nothing.status == "infeasible"
    assert nothing.reasons().sentences == asked.reasons().sentences


def test_words_of_the_user() -> None:
    answer = examples.explainer_of().explain(examples.rejected(1).iloc[0])
    table: dict[Any, Any] = {
        "months": {"high": "Loan term of {value} months is too long ({to} would do)", "low": "too short"},
        "income": "Income insufficient for amount of credit requested",
        "debt": {"otherwise": "{feature} excessive"},
        "housing": {"rent": "Does not own a home"},
    }
    said = answer.reasons(words=table)
    assert said.sentences[0] == "Loan term of 72 months is too long (24 would do)"
    assert said.sentences[1] == "Income insufficient for amount of credit requested"
    plain = answer.reasons().sentences[0]
    assert plain == "'months' is 72; 24 would have changed the decision"
    assert [reason.direction for reason in said][:2] == ["high", "low"]
    assert "1." in repr(said)
    assert "Proved" in said.claim


def test_features_that_are_not_to_be_reasons() -> None:
    answer = examples.explainer_of().explain(examples.rejected(1).iloc[0])
    said = answer.reasons(exclude=["months"])
    assert "months" not in {name for way in said.ways for name, _, _ in way.changes}
    assert said.excluded == ("months",)
    assert "Not to be reasons: 'months'." in said.claim


def test_an_explanation_from_a_file_asks_its_explainer() -> None:
    explainer = examples.explainer_of()
    answer = explainer.explain(examples.rejected(1).iloc[0])
    for again in (likely.Explanation.from_json(answer.to_json()), pickle.loads(pickle.dumps(answer))):
        assert again == answer
        with pytest.raises(ExplainerError, match=r"An explanation to give reasons must know its explainer"):
            again.reasons()
        assert again.reasons(explainer=explainer) == answer.reasons()
    other, _ = case("tree", 0)
    with pytest.raises(ExplainerError, match=r"be asked of its own model; got an explainer of another model"):
        answer.reasons(explainer=other)


def test_an_end_before_the_proof_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def hurried(*arguments: Any, **options: Any) -> likely.Explanation:
        found = explained(*arguments, **options)
        return replace(found, status="feasible") if found else replace(found, status="unknown")

    monkeypatch.setattr("likely.explain.reasons.explained", hurried)
    said = examples.explainer_of().explain(examples.rejected(1).iloc[0]).reasons()
    assert (said.status, said.proved, said.complete, len(said.ways)) == ("feasible", False, False, 1)
    assert "Proved" not in repr(said)


def test_what_is_refused() -> None:
    explainer, row = examples.explainer_of(), examples.rejected(1).iloc[0]
    answer = explainer.explain(row)
    with pytest.raises(ExplainerError, match=r"The number of reasons must be 1 or more; got 0"):
        answer.reasons(0)
    with pytest.raises(SchemaError, match=r"did you mean 'income'"):
        answer.reasons(words={"incom": "Income insufficient"})
    with pytest.raises(ExplainerError, match=r"no other placeholders than \{value\}, \{to\}, \{feature\}; got \{salary\} of"):
        answer.reasons(words={"income": "{salary} is too little"})
    with pytest.raises(ExplainerError, match=r"have no 'low' and 'high' for a feature without an order; got 'low' of 'housing'"):
        answer.reasons(words={"housing": {"low": "no home"}})
    with pytest.raises(ExplainerError, match=r"a value of the feature apart; got 'castle' of 'housing'"):
        answer.reasons(words={"housing": {"castle": "no home"}})
    with pytest.raises(SchemaError, match=r"A feature must be in the schema; got 'incom'"):
        answer.reasons(exclude=["incom"])
    unknown = explainer.explain({**row.to_dict(), "age": None}, target="yes")
    with pytest.raises(ExplainerError, match=r"A row to have reasons must be decided by the model"):
        unknown.reasons()
