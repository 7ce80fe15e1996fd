"""The cheapest change for a group against going through all of them, one by one."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import likely
from likely.errors import ExplainerError
from likely.explain import group_counterfactual
from likely.explain.group_moves import GroupMove
from tests.explain.small_cases import all_turned, case, codes_of, every_move, rejected

MODELS = ("tree", "linear", "network")


def cheapest(explainer: likely.Explainer, rows: Any, wanted: int, features: int, least: float | None) -> tuple[float, int, bool]:
    """The cost of the cheapest change that turns so many, the most that one feature turns, and whether no row is at an edge."""
    moves = list(every_move(explainer))
    sets = [chosen for size in range(1, features + 1) for chosen in combinations(moves, size)]
    sets = [chosen for chosen in sets if len({move.feature.name for move in chosen}) == len(chosen)]
    costs, turned, near = all_turned(explainer, rows, sets, least)
    best = float(costs[turned >= wanted].min(initial=math.inf))
    return best, int(turned[[len(chosen) == 1 for chosen in sets]].max()), near > 1e-7


@given(st.sampled_from(MODELS), st.integers(0, 1), st.sampled_from([0.2, 0.5, 0.8]), st.booleans())
def test_one_feature(model: str, seed: int, share: float, likely_enough: bool) -> None:
    explainer, X = case(model, seed)
    rows = rejected(explainer, X, 7)
    answers = explainer.explain_many(rows, plausibility=likely.Threshold(-7.0) if likely_enough else None)
    found = group_counterfactual(answers, explainer, share=share)
    best, most, clear = cheapest(explainer, rows, found.wanted, 1, -7.0 if likely_enough else None)
    assume(clear)
    assert found.exact
    assert found.status == ("optimal" if best < math.inf else "infeasible")
    assert max((change.turned.count for change in found.single), default=0) == most
    if found.change is not None:
        assert found.change.cost == pytest.approx(best)
        (cost,), (turned,), _ = all_turned(explainer, rows, [found.change.moves], -7.0 if likely_enough else None)
        assert (pytest.approx(cost), turned) == (found.change.cost, found.change.turned.count)


@pytest.mark.parametrize(("model", "seed"), [("tree", 0), ("tree", 2), ("linear", 1)])
def test_two_features(model: str, seed: int) -> None:
    explainer, X = case(model, seed, amounts=6)
    rows = rejected(explainer, X, 5)
    answers = explainer.explain_many(rows, plausibility=None)
    found = group_counterfactual(answers, explainer, share=0.8, features=2)
    best, _, clear = cheapest(explainer, rows, found.wanted, 2, None)
    assert clear
    assert found.exact
    assert found.status == ("optimal" if best < math.inf else "infeasible")
    if found.change is not None:
        assert found.change.cost == pytest.approx(best)


@pytest.mark.parametrize("model", MODELS)
def test_many_values_are_told_by_the_breaks_of_the_model(model: str) -> None:
    """Of three thousand amounts a few are looked at: for trees and linear models these are enough, for a network it is said."""
    explainer, X = case(model, 1, amounts=3000)
    rows = rejected(explainer, X, 4)
    answers = explainer.explain_many(rows, plausibility=None)
    found = group_counterfactual(answers, explainer, share=0.5)
    best, _, clear = cheapest(explainer, rows, found.wanted, 1, None)
    assert clear
    assert found.exact == (model != "network")
    if model == "network":
        assert [name for name, _ in found.choice] == ["amount"]
        assert "these are a choice" in found.claim
        assert found.lower >= best - 1e-9 if found.change is not None else True
    else:
        assert found.lower == pytest.approx(best)


def test_rows_proved_to_have_no_answer_cannot_be_turned() -> None:
    explainer, X = case("tree", 0)
    rows = rejected(explainer, X, 6)
    answers = explainer.explain_many(rows, locked=["amount", "years", "kind"], plausibility=None)
    assert {answer.status for answer in answers} == {"infeasible"}
    found = group_counterfactual(answers, explainer, share=0.1)
    assert (found.status, found.change, found.single) == ("infeasible", None, ())
    assert "Proved: no change of one feature turns at least 1 of the 6 members." in str(found)


def test_an_end_before_the_proof_is_said() -> None:
    explainer, X = case("tree", 0)
    answers = explainer.explain_many(rejected(explainer, X, 6), plausibility=None)
    found = group_counterfactual(answers, explainer, share=1.0, seconds=0.0)
    assert found.status == "unknown"
    assert "not decided in time" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_bounds_of_members_change_nothing() -> None:
    """Without what is proved of each member, the same change is found, only later."""
    explainer, X = case("linear", 2)
    answers = explainer.explain_many(rejected(explainer, X, 6), plausibility=None)
    blind = [replace(answer, status="unknown", counterfactuals=()) for answer in answers]
    known, unknown = (group_counterfactual(each, explainer, share=0.5) for each in (answers, blind))
    assert (known.change, known.status) == (unknown.change, unknown.status)


def test_breaks_of_linear_leaves_are_not_taken_for_all() -> None:
    """Trees with linear leaves vary between their breaks: a choice of values is looked at, and that is said."""
    lightgbm: Any = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 5000, 300), "b": rng.integers(0, 5000, 300)})
    y = np.where(X["a"] - X["b"] + rng.normal(0, 500, 300) > 0, "yes", "no")
    model = lightgbm.LGBMClassifier(n_estimators=2, num_leaves=4, linear_tree=True, verbose=-1).fit(X, y)
    explainer = likely.Explainer(model, nodes=10, progress=False, n_jobs=1).fit(X, pd.Series(y))
    answers = explainer.explain_many(X[model.predict(X) == "no"].head(3), plausibility=None)
    found = group_counterfactual(answers, explainer, share=0.3)
    assert {name for name, _ in found.choice} == set(X.columns) - set(explainer._known.unread)


def test_claims_of_a_solver_are_not_built_upon() -> None:
    """A row that a solver says has no answer is tested all the same."""
    explainer, X = case("tree", 0)
    answers = explainer.explain_many(rejected(explainer, X, 6), plausibility=None)
    claimed = [
        replace(answer, query=replace(answer.query, engine="mio"), status="infeasible", counterfactuals=()) for answer in answers
    ]
    proved, tested = (group_counterfactual(each, explainer, share=0.3) for each in (answers, claimed))
    assert tested.change == proved.change


def test_what_is_refused() -> None:
    explainer, X = case("tree", 0)
    other, _ = case("tree", 1)
    answers = explainer.explain_many(rejected(explainer, X, 3), plausibility=None)
    with pytest.raises(ExplainerError, match=r"The share of a group to turn must be above 0 and at most 1; got 0"):
        group_counterfactual(answers, explainer, share=0)
    with pytest.raises(ExplainerError, match=r"The features of a change must be 1, 2 or 3; got 4"):
        group_counterfactual(answers, explainer, features=4)
    with pytest.raises(ExplainerError, match=r"An explanation must be one of this explainer; got one by another model"):
        group_counterfactual(answers, other)
    changed = likely.Explanation.from_dict({**answers[0].to_dict(), "status": "infeasible"})
    with pytest.raises(ExplainerError, match=r"An explanation must be as it was written; got one that was changed since"):
        group_counterfactual([changed], explainer)
    priced = replace(answers[0], evidence=replace(answers[0].evidence, schema="another"))
    with pytest.raises(ExplainerError, match=r"got one by another schema"):
        group_counterfactual([priced], explainer)
    refused = explainer.explain_many(X[explainer.model.predict(codes_of(X)) == "yes"].head(2), target="yes")
    with pytest.raises(ExplainerError, match=r"A group must have a row that was explained; got none"):
        group_counterfactual(refused, explainer)


def test_moves_in_words() -> None:
    years = likely.Integer("years", 0, 6, label="years in work", unit="years")
    school = likely.Ordinal("school", ("none", "some", "much"))
    assert str(GroupMove(years, "set", 3.0)) == "'years in work' becomes 3 years"
    assert str(GroupMove(years, "shift", -2.0)) == "'years in work' falls by 2 years"
    assert str(GroupMove(school, "shift", 1.0)) == "'school' rises by 1 step"
    assert GroupMove(school, "set", 2.0).to_dict()["to"] == "much"
    assert GroupMove(years, "shift", 4.0).new(np.array([1.0, 5.0, np.nan]))[:2].tolist() == [5.0, 5.0]  # 9 is no value: it stays


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_codes_of_mixed_features(share: float) -> None:
    """A code is a value to set, and cannot be shifted; singles are held as singles."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"late": rng.integers(0, 5, 120), "rate": (rng.integers(0, 9, 120) / 10).astype("float32")})
    X.loc[rng.random(120) < 0.3, "late"] = -9
    X.iloc[:3] = [[0, 0.0], [4, 0.8], [-9, 0.0]]
    y = np.where(X["late"] * 0.5 - 6 * X["rate"] + rng.normal(0, 0.7, 120) > -1.2, "yes", "no")
    schema = likely.Schema.infer(X, features={"late": {"codes": {-9: "no record"}}, "rate": {"step": 0.1}})
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    circuit = likely.circuit.learn(X, y, schema, method="histograms", nodes=10, progress=False).circuit
    explainer = likely.Explainer(tree, schema, circuit, progress=False, n_jobs=1).fit(X, y)
    rows = X[tree.predict(X) == "no"].head(8)
    found = group_counterfactual(explainer.explain_many(rows, plausibility=None), explainer, share=share)
    best = math.inf
    late, rate = [-9, *range(5)], [round(0.1 * i, 1) for i in range(9)]
    moved = [rows.assign(late=value) for value in late] + [rows.assign(rate=np.float32(value)) for value in rate]
    for by in range(-4, 5):
        new = rows["late"] + by
        moved.append(rows.assign(late=new.where((rows["late"] >= 0) & new.between(0, 4), rows["late"])))
    for by in range(-8, 9):
        new = (rows["rate"].astype(float) + by / 10).round(1)
        moved.append(rows.assign(rate=new.where(new.between(0, 0.8), rows["rate"]).astype("float32")))
    for table in moved:
        turned = int((tree.predict_proba(table)[:, 1] > 0.5 + 1e-4).sum())
        cost = np.mean([schema.cost(rows.iloc[i], table.iloc[i]) for i in range(len(rows))])
        best = min(best, float(cost)) if turned >= found.wanted else best
    assert found.exact
    assert found.lower == pytest.approx(best, rel=1e-5)


def test_several_classes_and_predictions() -> None:
    """Members of a group may leave their class for any other, or go to a prediction."""
    X = pd.DataFrame(list(product(range(5), range(4))) * 4, columns=["a", "b"])
    rng = np.random.default_rng(0)
    merit = X["a"] - X["b"] + rng.normal(0, 0.3, len(X))
    schema = likely.Schema.infer(X)
    y = pd.Series(np.array(["low", "middle", "high"])[np.digitize(merit, [-1, 1.5])])
    classifier = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)
    explainer = likely.Explainer(classifier, schema, nodes=10, progress=False, n_jobs=1).fit(X, y)
    rows = X[classifier.predict(X) == "low"].drop_duplicates().head(5)
    answers = explainer.explain_many(rows, plausibility=None)
    found = group_counterfactual(answers, explainer, share=1.0)
    assert found.change is not None
    (move,) = found.change.moves
    after = rows.assign(**{str(move.feature.name): move.new(rows[move.feature.name].to_numpy(dtype=float)).astype(int)})
    assert (classifier.predict(after) != "low").sum() == found.change.turned.count == 5
    assert answers[0].reasons()[0].feature in ("a", "b")
    regressor = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, merit)
    predicting = likely.Explainer(regressor, schema, nodes=10, progress=False, n_jobs=1).fit(X)
    asked = predicting.explain_many(rows, prediction=(1.0, None), plausibility=None)
    found = group_counterfactual(asked, predicting, share=1.0)
    assert found.change is not None
    (move,) = found.change.moves
    after = rows.assign(**{str(move.feature.name): move.new(rows[move.feature.name].to_numpy(dtype=float)).astype(int)})
    assert (regressor.predict(after) >= 1.0).all()
    assert asked[0].reasons().proved
