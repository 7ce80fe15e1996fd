"""Requests and replies as plain data: the same answers as the explainer's, and clear sentences."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

import likely
from likely.errors import RequestError
from likely.explain import Explanation
from likely.serve import Bounds, Service, bodies
from likely.serve.asking import names_of
from likely.serve.openapi import openapi_of
from likely.serve.replies import replies_of
from likely.serve.telling import row_told
from likely.serve.validating import check
from tests.explain import examples
from tests.serve.examples import rows, service_of
from tests.strategies import schema as strategies

jsonschema = pytest.importorskip("jsonschema")


def told(path: str, **body: Any) -> Any:
    """The reply to a request, which is as the description says, and which JSON can hold."""
    reply = service_of().reply(path, body)
    assert reply.status == 200, reply.body
    json.dumps(reply.body, allow_nan=False)
    schema = replies_of(service_of().explainer).get(path)
    if schema is not None:
        jsonschema.Draft202012Validator(schema).validate(reply.body)
    return reply.body


def without_time(told: dict[str, Any]) -> dict[str, Any]:
    """An explanation without what differs from run to run."""
    return {key: value for key, value in told.items() if key not in ("seconds", "statistics", "digest", "nodes")}


@pytest.mark.parametrize("row", rows())
def test_a_decision_is_that_of_the_model(row: dict[str, Any]) -> None:
    decision, direct = told("/decide", row=row), service_of().explainer.decide(row)
    assert decision["label"] == direct.label == "no"
    assert decision["log_likelihood"] == direct.log_likelihood
    shares = examples.model_of().predict_proba(examples.table_of()[0].iloc[:0].pipe(lambda X: X.reindex([0]).assign(**row)))[0]
    np.testing.assert_allclose(decision["probability"], shares)
    assert 0 <= decision["percentile"] <= 100


def test_a_row_with_an_unknown_has_no_decision() -> None:
    decision = told("/decide", row={**rows()[0], "age": None})
    assert decision["label"] is decision["probability"] is decision["percentile"] is None
    assert decision["log_likelihood"] < 0


def test_a_decision_says_that_a_value_is_outside() -> None:
    [note] = told("/decide", row={**rows()[0], "age": 200})["notes"]
    assert "'age' of the factual is 200, outside 19 to 74" in note


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ({}, {}),
        ({"k": 2, "locked": ["age"]}, {"k": 2, "locked": ["age"]}),
        ({"only": ["income", "months"], "plausibility": None}, {"only": ["income", "months"], "plausibility": None}),
        (
            {
                "ranges": {"months": {"at_most": 36}, "housing": {"one_of": ["own", "rent"]}},
                "plausibility": 0.25,
                "max_changes": 3,
            },
            {
                "constraints": [
                    likely.MaxChanges(3), likely.Range("months", upper=36), likely.AllowedValues("housing", ["own", "rent"]),
                ],
                "plausibility": likely.Quantile(0.25),
            },
        ),
        ({"plausibility": "factual", "target": "yes"}, {"plausibility": likely.AtLeastFactual(), "target": "yes"}),
        ({"probability": [0.6, 0.9]}, {"probability": (0.6, 0.9)}),
        ({"coherence": 0.5, "diversity": "values", "k": 2.0}, {"coherence": 0.5, "diversity": "values", "k": 2}),
    ],
)  # fmt: skip
def test_an_explanation_is_that_of_the_explainer(asked: dict[str, Any], options: dict[str, Any]) -> None:
    row = rows()[0]
    reply = told("/explain", row=row, **asked)
    direct = service_of().explainer.explain(row, limits=Bounds().seconds, **options)
    assert without_time(reply["explanation"]) == without_time(direct.to_dict())
    assert Explanation.from_dict(reply["explanation"]) == direct
    assert reply["status"] == direct.status == "optimal"
    assert [answer["sentence"] for answer in reply["answers"]] == [answer.sentence for answer in direct.counterfactuals]
    for answer, cf in zip(reply["answers"], direct.counterfactuals, strict=True):
        assert list(answer["row"].values()) == list(cf.values)
        assert [change["feature"] for change in answer["changes"]] == list(cf.changes)
        assert all(change["from_text"] != change["to_text"] for change in answer["changes"])
        assert told("/decide", row=answer["row"])["label"] == answer["label"] or "probability" in asked


def test_a_trade_off_is_that_of_the_explainer() -> None:
    row = rows()[0]
    for by in ("likelihood", "changes"):
        reply, direct = told("/front", row=row, by=by), service_of().explainer.front(row, by=by)
        table = direct.to_frame()
        for name, key in [("cost", "cost"), ("changes", "changes"), ("lower_bound", "bound"), ("status", "status")]:
            assert [point[key] for point in reply["points"]] == table[name].tolist()
        demands = [point["demand"] for point in reply["points"]]
        assert (
            demands == sorted(demands, key=lambda demand: 0 if demand == "any" else demand)
            if by == "likelihood"
            else set(demands) == {None}
        )


def test_why_there_is_no_answer() -> None:
    row = rows()[0]
    reply = told("/why", row=row, only=["age"], plausibility=0.9)
    direct = service_of().explainer.why_not(row, only=["age"], plausibility=likely.Quantile(0.9))
    assert reply["sentence"] == str(direct)
    assert [reason["demand"] for reason in reply["reasons"]] == [reason.demand for reason in direct.reasons]
    page = service_of().reply("/report", {"row": row, "only": ["age"], "plausibility": 0.9})
    assert "give up" in page.body


def test_what_has_an_answer_is_not_asked_why() -> None:
    reply = service_of().reply("/why", {"row": rows()[0]})
    assert reply.status == 422
    assert "must have no answer" in reply.body["error"]


def test_an_explanation_is_verified_and_a_changed_one_is_not() -> None:
    explanation = told("/explain", row=rows()[0])["explanation"]
    assert told("/verify", explanation=explanation)["ok"]
    explanation["counterfactuals"][0]["cost"] /= 2
    assert not told("/verify", explanation=explanation)["ok"]


def test_a_report_is_a_page_with_its_title() -> None:
    reply = service_of().reply("/report", {"row": rows()[0], "title": "Ms <Smith>"})
    assert reply.media.startswith("text/html")
    assert "Ms &lt;Smith&gt;" in reply.body


@pytest.mark.parametrize("name", list(rows()[0]))
def test_a_density_has_the_area_1(name: str) -> None:
    row = rows()[0]
    answer = told("/explain", row=row)["answers"][0]["row"]
    reply = told("/density", row=row, feature=name, answer=answer)
    widths = np.diff(reply["edges"])
    assert np.sum(widths * reply["given_row"]) == pytest.approx(1.0)
    assert np.sum(widths * reply["marginal"]) == pytest.approx(1.0, abs=2e-3)
    assert reply["edges"][0] <= reply["row"] <= reply["edges"][-1]
    assert reply["edges"][0] <= reply["answer"] <= reply["edges"][-1]


def test_a_conditional_density_is_that_of_the_circuit() -> None:
    row, circuit = rows()[0], service_of().explainer.circuit_
    reply = told("/density", row=row, feature="housing")
    given = {name: value for name, value in row.items() if name != "housing"}
    logs = likely.circuit.log_likelihood(
        circuit,
        np.array(
            [[*service_of().explainer.schema_.encode_row({**given, "housing": value}), np.nan] for value in examples.HOUSING]
        ),
    )
    np.testing.assert_allclose(reply["given_row"], np.exp(logs) / np.exp(logs).sum())


def test_what_is_told_before_a_row_is() -> None:
    reply = service_of().reply("/about").body
    jsonschema.Draft202012Validator(replies_of(service_of().explainer)["/about"]).validate(reply)
    features = {feature["name"]: feature for feature in reply["features"]}
    assert features["age"]["direction"] == "increase"
    assert features["telephone"]["immutable"]
    assert features["housing"]["values"] == list(examples.HOUSING)
    assert (features["income"]["step"], features["months"]["step"]) == (0.01, 1.0)
    assert reply["rules"][-1] == "'debt' <= 'income'"


def test_examples_are_rows_of_every_class_and_of_nobody() -> None:
    drawn = service_of().reply("/about").body["examples"]
    assert {told("/decide", row=row)["label"] for row in drawn[:2]} == {"yes", "no"}
    table = {tuple(row) for row in examples.table_of()[0].itertuples(index=False)}
    assert not table & {tuple(row.values()) for row in drawn}
    assert all(row["debt"] <= row["income"] for row in drawn)


def test_the_operator_may_give_examples() -> None:
    explainer = service_of().explainer
    assert Service(explainer, examples=rows(2)).reply("/about").body["examples"] == rows(2)
    with pytest.raises(RequestError, match="A row of the examples must have 'age'"):
        Service(explainer, examples=[{"income": 3}])


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("/explain", None, "A request must be an object; got null"),
        ("/explain", {}, "A request must have 'row'; got none"),
        ("/explain", {"row": {}}, "'row' of a request must have 'age'; got none"),
        ("/explain", {"k": 0}, "'k' of a request must be at least 1; got 0"),
        ("/explain", {"k": 1.5}, "'k' of a request must be a whole number; got 1.5"),
        ("/explain", {"k": True}, "'k' of a request must be a whole number; got true"),
        ("/explain", {"k": 11}, "'k' of a request must be at most 10; got 11"),
        ("/explain", {"seconds": 0}, "'seconds' of a request must be greater than 0; got 0"),
        ("/explain", {"seconds": 3600}, "'seconds' of a request must be at most 10.0; got 3600"),
        ("/explain", {"locked": ["agee"]}, "Item 1 of 'locked' of a request must be one of 'age', 'income', 'debt'"),
        ("/explain", {"ranges": {"age": {}}}, "'age' of 'ranges' of a request must have one of at_least, at_most, one_of"),
        ("/explain", {"ranges": {"age": {"at_least": 60, "at_most": 30}}}, "must have lower <= upper; got 60 > 30"),
        ("/explain", {"ranges": {"housing": {"at_least": "own"}}}, "'housing'"),
        ("/explain", {"plausibility": 2}, "'plausibility' of a request must be at most 1; got 2"),
        ("/explain", {"probability": [0.5]}, "'probability' of a request must have 2 items; got 1"),
        ("/explain", {"target": "maybe"}, "'target' of a request must be one of 'no', 'yes', null; got 'maybe'"),
        ("/explain", {"target": "no"}, "must"),
        ("/explain", {"timeout": 3}, "A request must have no keys but its own; got 'timeout'"),
        ("/front", {"by": "cost"}, "'by' of a request must be one of 'likelihood', 'changes'; got 'cost'"),
        ("/front", {"plausibility": None}, "must be a Quantile"),
        ("/density", {"feature": "agee"}, "'feature' of a request must be one of"),
        ("/verify", {"explanation": {}, "row": None}, "no keys but its own; got 'row'"),
        ("/nothing", {}, "There is no /nothing"),
    ],
)  # fmt: skip
def test_a_bad_request_gets_a_sentence(path: str, body: Any, sentence: str) -> None:
    whole = {"row": rows()[0], **body} if body and "row" not in body else body
    reply = service_of().reply(path, whole)
    assert reply.status in (404, 422)
    assert sentence in reply.body["error"]


def test_a_row_with_a_value_that_nobody_knows_gets_a_sentence() -> None:
    for value in ("castle", 3, True):
        reply = service_of().reply("/decide", {"row": {**rows()[0], "housing": value}})
        assert reply.status == 422
        assert "'housing' of 'row' of a request must be one of 'for free', 'own', 'rent', null" in reply.body["error"]


def test_a_search_ends_when_it_is_told_to() -> None:
    asked = []

    def end(progress: Any) -> bool:
        asked.append(progress)
        return False

    for path in ("/explain", "/front"):
        service_of().reply(path, {"row": rows()[0], "plausibility": 0.9}, end)
    assert service_of().reply("/why", {"row": rows()[0], "only": ["age"]}, end).status in (200, 422)


def test_features_of_the_same_text_are_refused() -> None:
    schema = likely.Schema([likely.Integer(1, 0, 5), likely.Integer("1", 0, 5)])
    with pytest.raises(RequestError, match="names differ as texts"):
        names_of(schema)


# -- what is described is what is checked -------------------------------------------------------------------------------

TEXTS = st.sampled_from(["own", "age", "factual", "no", "x" * 1001])
KEYS = st.sampled_from(["at_least", "one_of", "age", "housing"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-20, 20) | st.floats(-2, 2) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
def test_the_check_agrees_with_json_schema(data: st.DataObject) -> None:
    """Held against the reference implementation, field by field: whole requests would be refused for their first fault."""
    question = bodies.question_schema(service_of().explainer, Bounds())
    for name, schema in question["properties"].items():
        value = data.draw(JSON, label=name)
        assert accepted(value, schema) == jsonschema.Draft202012Validator(schema).is_valid(value)
    body = {name: data.draw(JSON) for name in data.draw(st.lists(st.sampled_from(["k", "seconds", "kk", "row"]), unique=True))}
    assert accepted(body, question) == jsonschema.Draft202012Validator(question).is_valid(body)


def accepted(value: Any, schema: dict[str, Any]) -> bool:
    try:
        check(value, schema)
    except RequestError:
        return False
    return True


KEYWORDS = {
    "type", "enum", "anyOf", "minimum", "maximum", "exclusiveMinimum", "maxLength", "items", "minItems", "maxItems", "properties",
    "required", "additionalProperties", "minProperties", "description", "default",
}  # fmt: skip


def test_no_keyword_is_described_and_not_checked() -> None:
    def keywords(schema: dict[str, Any]) -> set[str]:
        inner = [
            *schema.get("anyOf", []),
            *([schema["items"]] if "items" in schema else []),
            *schema.get("properties", {}).values(),
        ]
        return set(schema) | {word for each in inner for word in keywords(each)}

    assert {word for schema in service_of().requests.values() for word in keywords(schema)} <= KEYWORDS


def test_the_description_is_openapi() -> None:
    described = openapi_of(service_of(), secured=True)
    assert json.loads(json.dumps(described, allow_nan=False)) == described
    for path, item in described["paths"].items():
        for operation in item.values():
            for schema in [*operation.get("requestBody", {}).get("content", {}).values()]:
                jsonschema.Draft202012Validator.check_schema(schema["schema"])
            assert operation["responses"]["200"], path


@given(st.data())
def test_every_row_of_a_schema_is_accepted_and_read_back(data: st.DataObject) -> None:
    schema = likely.Schema([data.draw(strategies.features(name)) for name in ("a", 3)])
    numbers = data.draw(strategies.rows(schema, least=1))
    explainer = type("Explainer", (), {"schema_": schema})
    for row in numbers:
        plain = json.loads(json.dumps(row_told(schema, row)))
        check(plain, bodies.row_schema(explainer))  # type: ignore[arg-type]
        again = schema.encode_row({name: plain[str(name)] for name in schema.names})
        np.testing.assert_array_equal(again, row)


def test_a_regressor_is_served_too() -> None:
    X, _ = examples.table_of()
    numbers = X[["age", "income", "months"]].set_axis([0, 1, 2], axis=1)  # names that are no texts
    model = LinearRegression().fit(numbers, X["debt"])
    circuit = likely.circuit.learn(numbers, method="histograms", nodes=10, progress=False).circuit
    schema = likely.Schema.infer(numbers)
    service = Service(likely.Explainer(model, schema, circuit, progress=False, n_jobs=1).fit(numbers).remembering())
    row = service.reply("/about").body["examples"][0]
    assert list(row) == ["0", "1", "2"]
    before = service.reply("/decide", {"row": row}).body
    assert before["probability"] is None
    question = {"row": row, "prediction": [None, before["label"] - 100], "locked": ["0"], "ranges": {"2": {"at_least": 6}}}
    bodies_of = {"/decide": {"row": row}, "/explain": question, "/front": question, "/density": {"row": row, "feature": "1"}}
    for path, body in bodies_of.items():
        reply = service.reply(path, body)
        assert reply.status == 200, reply.body
        json.dumps(reply.body, allow_nan=False)
        jsonschema.Draft202012Validator(replies_of(service.explainer)[path]).validate(reply.body)
    [answer] = service.reply("/explain", question).body["answers"]
    assert service.reply("/decide", {"row": answer["row"]}).body["label"] == pytest.approx(answer["prediction"])
    assert answer["prediction"] <= before["label"] - 100
    assert answer["row"]["0"] == row["0"]
    refused = service.reply("/explain", {"row": row})
    assert refused.status == 422
