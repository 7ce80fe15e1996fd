"""Explanations as values: there and back through JSON, tables, sentences, HTML; and claims that are checked again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import likely
from likely.errors import ExplainerError, ProblemError
from likely.explain import Verification
from likely.explain.plausibility import variant_from_dict
from likely.explain.query import SharedSchemas
from likely.explain.text import claim, percent_at_most, told_apart
from likely.problem import Bounds, Limits
from tests.explain.examples import circuit_of, explainer_of, model_of, pipeline, rejected, schema_of, table_of

givens = st.sets(st.sampled_from(["class", "immutable"])).map(tuple)
ofs = st.sampled_from(["class", "all"])
variants = st.one_of(
    st.none(),
    st.builds(likely.Quantile, st.floats(0, 0.8), of=ofs, given=givens),
    st.builds(likely.Threshold, st.floats(-40, -20) | st.just(-math.inf), of=ofs, given=givens),
    st.builds(likely.AtLeastFactual, of=ofs, given=givens),
    st.builds(likely.Weight, st.floats(0, 1), of=ofs, given=givens),
)

#: Which rows no claim is about.
ASIDE = ", not counting rows within a score of 0.0001 of the border"


@settings(max_examples=15)
@given(
    st.integers(0, 100), variants, st.integers(1, 4), st.sets(st.sampled_from(["age", "income", "debt", "months", "housing"])),
    st.sampled_from(["features", "values"]),
)  # fmt: skip
def test_every_answer_holds_and_comes_back(i: int, variant: Any, k: int, locked: set[str], diversity: Any) -> None:
    row = rejected().iloc[i]
    question = likely.Question(k=k, diversity=diversity, plausibility=variant, limits=Limits(nodes=20_000, seconds=20))
    answer = explainer_of().explain(row, question, locked=sorted(locked))
    assert len(answer) <= k
    frame = answer.to_frame()
    assert (frame.dtypes == rejected().dtypes).all()
    assert not len(frame) or (model_of().predict(frame) == "yes").all()
    assert len(frame.drop_duplicates()) == len(frame)
    for counterfactual in answer.counterfactuals:
        assert not locked & set(counterfactual.changes)
        assert set(counterfactual.changes) == {name for name in row.index if counterfactual.row[name] != row[name]}
        assert counterfactual.changes == {name: (row[name], counterfactual.row[name]) for name in counterfactual.changes}
        assert counterfactual.cost == pytest.approx(schema_of().cost(row, counterfactual.row))
    again = likely.Explanation.from_json(answer.to_json())
    assert again == answer
    assert (again.nodes, again.seconds) == (answer.nodes, answer.seconds)
    assert again.to_json() == answer.to_json()
    assert str(again) == str(answer)
    assert again._repr_html_() == answer._repr_html_()
    pd.testing.assert_frame_equal(again.to_frame(), frame)
    assert likely.verify(again, model_of(), circuit_of())


@given(variants)
def test_variants_come_back(variant: Any) -> None:
    data = None if variant is None else variant.to_dict()
    assert variant_from_dict(data) == variant


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: likely.Quantile(1.5), "A quantile must be a share between 0 and 1; got 1.5"),
        (lambda: likely.Quantile(True), "A quantile must be a share between 0 and 1; got True"),
        (lambda: likely.Quantile(0.5, of="some"), "The rows to compare with must be of='class' or of='all'; got 'some'"),
        (
            lambda: likely.Quantile(0.5, given="age"),
            "given, what likelihoods are conditional on, must be 'class' or 'immutable'; got 'age'",
        ),
        (lambda: likely.Threshold(math.nan), "A threshold must be a log-likelihood; got nan"),
        (lambda: likely.Weight(-1), "The weight of likelihood must be a number of at least 0; got -1"),
        (
            lambda: explainer_of().explain(rejected().iloc[0], plausibility=0.5),
            "plausibility must be one of Quantile, .*; got 0.5",
        ),
        (
            lambda: explainer_of().explain(rejected().iloc[0], plausibility=likely.Weight(0.1), weight=0.2),
            "The weight of likelihood must be given once; got .*weight=0.2. Hint: leave one out",
        ),
        (
            lambda: explainer_of().front(rejected().iloc[0], by="age"),
            "A front must be by='likelihood' or by='changes'; got 'age'",
        ),
        (
            lambda: explainer_of().front(rejected().iloc[0], plausibility=None),
            "The plausibility of a front by likelihood must be a Quantile; got None",
        ),
    ],
)
def test_questions_that_make_no_sense(make: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        make()


def test_a_class_without_rows() -> None:
    X, y = table_of()
    explainer = likely.Explainer(model_of(), schema_of(), circuit_of()).fit(X[y == "no"], y[y == "no"])
    with pytest.raises(
        ProblemError, match=r"must have rows of that class in training; got none. Hint: use Quantile\(q, of='all'\)"
    ):
        explainer.explain(rejected().iloc[0])
    answer = explainer.explain(rejected().iloc[0], plausibility=None)
    assert answer.best.percentile is None


def test_a_circuit_without_classes() -> None:
    X, y = table_of()
    circuit = likely.circuit.learn(X, schema=schema_of(), nodes=20, progress=False).circuit
    explainer = likely.Explainer(model_of(), schema_of(), circuit).fit(X, y)
    answer = explainer.explain(rejected().iloc[0])
    assert answer.best.percentile >= 50
    assert likely.verify(answer, model_of(), circuit)
    with pytest.raises(
        ProblemError, match=r"A likelihood given the class must be that of a circuit with a target; got one without"
    ):
        explainer.explain(rejected().iloc[0], plausibility=likely.Quantile(0.5, given="class"))


def test_the_sentence() -> None:
    row = {"age": 30, "income": 1500.0, "debt": 900.0, "months": 24, "housing": "rent", "telephone": False}
    answer = explainer_of().explain(row, plausibility=None, locked=["age", "income", "months", "housing"])
    new = answer.best.changes["debt"][1]
    assert str(answer.best) == f"If debt were {new} instead of 900, the model would decide 'yes' instead of 'no'."
    row["months"] = 48
    answer = explainer_of().explain(row, plausibility=None, locked=["age", "income", "debt"])
    assert answer.best.sentence.startswith("If months were ")
    assert answer.best.sentence.endswith("the model would decide 'yes' instead of 'no'.")
    assert str(answer.best) == answer.best.sentence


def test_the_table() -> None:
    answer = explainer_of().explain(rejected().iloc[0], k=2)
    lines = str(answer).splitlines()
    assert lines[0] == "The model says 'no'. What would make it say 'yes'?"
    assert lines[1] == "These are the 2 best answers."
    bound = f"{answer.bounds.lower:.4g}"
    same = "changes the same features as one of these, and perhaps more"
    gap = percent_at_most(answer.bounds.gap / answer.bounds.upper)
    within = f"nothing else is cheaper than the last of these by more than {gap} %"
    assert lines[2] == f"Proved: every other answer costs at least {bound}, or {same}{ASIDE}; {within}."
    assert lines[4].split() == ["now", "answer", "1", "answer", "2"]
    assert lines[-1] == answer.best.sentence
    shown = {
        line.split()[0]
        for line in lines[6 : 6 + len({name for counterfactual in answer.counterfactuals for name in counterfactual.changes})]
    }
    assert shown == {name for counterfactual in answer.counterfactuals for name in counterfactual.changes}
    assert len(answer.measures()) == 2
    assert answer.measures()["cost"].tolist() == [counterfactual.cost for counterfactual in answer.counterfactuals]


def test_the_claim_is_what_was_proved() -> None:
    row = rejected().iloc[0]
    assert "This is the best answer.\nProved: no other answer costs less than " in str(explainer_of().explain(row))
    best = str(explainer_of().explain(row, k=2, diversity="values"))
    assert "These are the 2 best answers.\nProved: no other answer costs less than " in best
    changing = explainer_of().explain(row, plausibility=None, constraints=[likely.MaxChanges(1)]).best.changes
    locked = [name for name in schema_of().names if name not in changing]
    every = explainer_of().explain(row, k=9, plausibility=None, locked=locked)
    assert len(every) == 1
    only = [
        "This is the only way.",
        f"Proved: every other answer changes the same features as this one, and perhaps more{ASIDE}.",
    ]
    assert str(every).splitlines()[1:3] == only


def test_numbers_that_are_close_are_told_apart() -> None:
    feature = likely.Continuous("income", 0, 1e6)
    near = float(np.nextafter(2088.28, 0))
    assert told_apart(feature, 2088.28, [2300.5]) == ("2088.28", ["2300.5"])
    assert told_apart(feature, 2088.28, [2088.2803, 2300.123456]) == ("2088.28", ["2088.2803", "2300.1235"])
    before, (after,) = told_apart(feature, 2088.28, [near])
    assert (float(before), float(after)) == (2088.28, near)
    before, (after,) = told_apart(feature, near, [2088.28])
    assert (float(before), float(after)) == (near, 2088.28)


def test_names_are_escaped() -> None:
    X = pd.DataFrame({"<script>": [0, 1, 2, 3, 4, 5, 6, 7]})
    y = ["<b>no</b>"] * 4 + ["yes & more"] * 4
    model = LogisticRegression().fit(X, y)
    answer = likely.Explainer(model, progress=False).fit(X, y).explain(X.iloc[0], plausibility=None)
    html = answer._repr_html_()
    assert "<script>" not in html
    assert "<b>no" not in html
    assert "&lt;script&gt;" in html


def test_json_that_is_none() -> None:
    text = explainer_of().explain(rejected().iloc[0]).to_json()
    data = json.loads(text)
    with pytest.raises(ExplainerError, match=r"An explanation's text must be JSON"):
        likely.Explanation.from_json("{")
    with pytest.raises(ExplainerError, match=r"An explanation's data must have version 7 or less; got 8"):
        likely.Explanation.from_dict({**data, "version": 8})
    with pytest.raises(ExplainerError, match=r"An explanation's data must have version 7 or less; got list"):
        likely.Explanation.from_json("[]")
    with pytest.raises(ExplainerError, match=r"An explanation's data must have all its parts and no others; got .*surprise"):
        likely.Explanation.from_dict({**data, "surprise": 1})
    with pytest.raises(ExplainerError, match=r"An explanation's data must have all its parts and no others; got KeyError"):
        likely.Explanation.from_dict({key: value for key, value in data.items() if key != "query"})
    with pytest.raises(ExplainerError, match=r"A status must be one of optimal, .*; got 'certain'"):
        likely.Explanation.from_dict({**data, "status": "certain"})


def test_a_file_of_version_1_is_read() -> None:
    """Written by the first release: other names of numbers, the question spread over query and limits."""
    file = Path(__file__).parent / "explanation_v1.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    answer = likely.Explanation.from_dict(data)
    assert answer.bounds == Bounds(data["bounds"]["found"], data["bounds"]["proven"])
    assert answer.nodes == data["boxes"] > 0
    as_then = {"unread": "free", "may_become_missing": True, "gap": 0.0, "rounding": 0.0}
    median = likely.Quantile(0.5, rows="training")
    assert answer.query.question == likely.Question(target="yes", k=2, plausibility=median, **as_then)
    assert likely.Immutable("housing") in answer.query.schema.constraints  # rules of the question were written there only
    assert answer.query.values == tuple(data["query"]["values"])
    assert answer.best.sentence == data["counterfactuals"][0]["sentence"]
    assert [counterfactual.cost for counterfactual in answer.counterfactuals] == [old["cost"] for old in data["counterfactuals"]]
    assert answer.to_dict()["version"] == 7
    assert likely.Explanation.from_json(answer.to_json()) == answer


def test_the_schema_of_many_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = [explanation.to_dict() for explanation in explainer_of().explain_many(rejected(3))]
    data.append(explainer_of().explain(rejected().iloc[0], locked="age").to_dict())
    read, built = SharedSchemas(), []
    from_dict = likely.Schema.from_dict
    monkeypatch.setattr(likely.Schema, "from_dict", lambda plain: built.append(plain) or from_dict(plain))
    again = [likely.Explanation.from_dict(json.loads(json.dumps(plain)), read_schema=read) for plain in data]
    assert len(built) == 2
    assert [explanation.to_dict() for explanation in again] == data


# -- what each claim says ----------------------------------------------------------------------------------------------


def lines(**parts: Any) -> list[str]:
    """The claim of an explanation in which something is otherwise."""
    question = parts.pop("question", {})
    answer = explainer_of().explain(rejected().iloc[0], k=2, plausibility=None)
    return list(claim(replace(answer, query=answer.query.asking(**question), **parts)))


def test_claims_of_answers() -> None:
    bounds, one = Bounds(4.2, 4.1), {"k": 1}
    same = "changes the same features as one of these, and perhaps more"
    met = Bounds(4.1, 4.1)
    assert lines(bounds=met) == [
        "These are the 2 best answers.",
        f"Proved: every other answer costs at least 4.1, or {same}{ASIDE}.",
    ]
    rows = lines(bounds=met, question={"diversity": "values"})
    assert rows == ["These are the 2 best answers.", f"Proved: no other answer costs less than 4.1{ASIDE}."]
    rounded = lines(bounds=Bounds(4.1003, 4.1), question={"diversity": "values"})
    within = "nothing else is cheaper than the last of these by more than 0.0074 %"
    assert rounded[1] == f"Proved: no other answer costs less than 4.1{ASIDE}; {within}."
    weighted = lines(bounds=met, question={"diversity": "values", "weight": 0.1})
    assert weighted[1] == f"Proved: no other answer totals less than 4.1 (cost - 0.1 * log-likelihood){ASIDE}."
    every = Bounds(4.2, math.inf)
    assert lines(bounds=every) == ["These are the only 2 ways.", f"Proved: every other answer {same}{ASIDE}."]
    assert lines(bounds=every, question={"diversity": "values"}) == [
        "These are the only 2 answers.",
        f"Proved: there is no other{ASIDE}.",
    ]
    early = "Here are 2 answers; better ones may exist."
    bound = (
        f"Proved: no other answer costs less than 4.1{ASIDE}; better ones could be at most 2.4 % cheaper than the last of these."
    )
    assert lines(bounds=bounds, status="feasible", question=one) == [early, bound]
    nothing = "Nothing is proved yet: how much better is not known."
    assert lines(bounds=Bounds(4.2, -1e-9), status="feasible") == [early, nothing]
    assert lines(margin=0.01)[2].startswith("Only rows that the model decides clearly count, by a score of 0.01")
    assert lines(interrupted=True)[-1] == "The search was interrupted."


def test_claims_without_an_answer() -> None:
    none: dict[str, Any] = {"counterfactuals": ()}
    assert lines(status="infeasible", **none) == ["There is no answer.", f"Proved: no row meets all that is asked{ASIDE}."]
    early = "No answer yet: the search stopped early."
    unknown = lines(status="unknown", bounds=Bounds(math.inf, 2.5), **none)
    assert unknown == [early, f"Proved: an answer, if there is one, costs at least 2.5{ASIDE}."]
    assert lines(status="unknown", bounds=Bounds(math.inf, -math.inf), **none) == [early, "There may be one, or none."]
    assert lines(status="disputed", **none)[0] == "No answer holds: the model itself rejects the rows that were found."


# -- verify: every claim can fail --------------------------------------------------------------------------------------


def changed(explanation: likely.Explanation, **parts: Any) -> likely.Explanation:
    """The explanation with something else in its best answer."""
    return replace(explanation, counterfactuals=(replace(explanation.best, **parts), *explanation.counterfactuals[1:]))


def failing(explanation: likely.Explanation, model: Any = None, **settings: Any) -> set[str]:
    verification: Verification = likely.verify(explanation, model or model_of(), circuit_of(), **settings)
    assert bool(verification) == verification.ok == (not verification.failed)
    assert ("FAILS" in str(verification)) == (not verification.ok)
    assert verification.to_dict()["ok"] == verification.ok
    return {check.claim for check in verification.failed}


def test_tampering_is_found() -> None:
    answer = explainer_of().explain(rejected().iloc[0], k=2)
    best = answer.best
    assert failing(answer) == set()
    assert "the cost is the schema's" in failing(changed(answer, cost=best.cost / 2))
    assert failing(changed(answer, log_likelihood=best.log_likelihood + 1)) == {"it is as likely as claimed"}
    assert failing(changed(answer, probability_after=0.9)) == {"the probability of 'yes' after is the model's"}
    assert "the model decides 'no'" in failing(changed(answer, label="no"))
    assert "that is what was asked for" in failing(changed(answer, label="no"))
    assert "the model decides 'yes'" in failing(changed(answer, numbers=answer.query.factual))
    at = {name: schema_of().index(name) for name in ("telephone", "income")}
    wrong, off_step = best.numbers.copy(), best.numbers.copy()
    wrong[at["telephone"]] = 1 - wrong[at["telephone"]]
    assert "every rule is kept" in failing(changed(answer, numbers=wrong))
    off_step[at["income"]] += 0.001
    assert "the values are those of the features" in failing(changed(answer, numbers=off_step))
    assert "the upper bound is the last answer's objective" in failing(replace(answer, bounds=Bounds(99.0, 98.0)))
    assert "the bounds are as close as was asked for" in failing(replace(answer, bounds=Bounds(answer.bounds.upper, 0.0)))
    assert "the best answer comes first" in failing(replace(answer, counterfactuals=answer.counterfactuals[::-1]))
    assert "the answers differ" in failing(replace(answer, counterfactuals=(best, best)))
    assert "it is as likely as was asked for" in failing(replace(answer, thresholds=(("yes", 0.0),)))
    assert "the model decides 'maybe' for the row" in failing(replace(answer, query=replace(answer.query, label="maybe")))
    evidence = replace(answer.evidence, circuit="another")
    assert failing(replace(answer, evidence=evidence)) == {"the circuit is the one that was used"}


def test_another_model_is_found() -> None:
    X, y = table_of()
    other = pipeline(LogisticRegression(C=1e-3)).fit(X, y)
    assert "the model is the one that was explained" in failing(explainer_of().explain(rejected().iloc[0]), other)


def test_what_is_not_checked_is_said() -> None:
    answer = explainer_of().explain(rejected().iloc[0])
    verification = likely.verify(answer, model_of())
    assert verification.ok
    assert {check.claim for check in verification.not_checked} >= {
        "nothing better exists",
        "it is as likely as claimed",
    }
    assert "not checked: nothing better exists (that is the engine's proof)" in str(verification)
