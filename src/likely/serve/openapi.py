"""The description of the service, OpenAPI 3.1: what every request is checked against, and what replies hold."""

from __future__ import annotations

from typing import Any

import likely
from likely.serve.bodies import JsonSchema
from likely.serve.replies import ERROR, replies_of
from likely.serve.service import Service

_SUMMARIES = {
    "/decide": "What the model says of a row, and how likely the row is.",
    "/explain": "The best rows that the model decides otherwise, with a proof.",
    "/front": "What plausibility costs a row, or what it costs to change few features.",
    "/why": "Which demands exclude every answer, and what to give up.",
    "/verify": "Every claim of an explanation checked again.",
    "/report": "The explanation as a page for people.",
    "/density": "How likely each value of a feature is, alone and with the row's other values.",
}
_REFUSALS = {
    "400": "The request is no JSON.",
    "408": "The request did not arrive in time.",
    "413": "The request is too large.",
    "415": "The request is not said to be JSON.",
    "421": "The service is not called by this name.",
    "422": "The request is not as described, or the question cannot be asked of this row.",
    "429": "Too many requests from this address; Retry-After says when to come back.",
    "503": "More questions than can be answered; Retry-After says when to come back.",
}
_LATER = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}


def openapi_of(service: Service, *, secured: bool) -> dict[str, Any]:
    """The description of a service.

    Args:
        service: The explainer, ready to answer.
        secured: Whether requests need a token.
    """
    replies = replies_of(service.explainer)
    refusals = {code: _refusal(said, code) for code, said in _REFUSALS.items()}
    if secured:
        refusals["401"] = _refusal("The token is missing, or another one.", "401")
    paths = {path: {"post": _post(path, body, replies.get(path), refusals)} for path, body in service.requests.items()}
    few: dict[str, Any] = {code: said for code, said in refusals.items() if code in ("401", "421", "429", "503")}
    paths["/about"] = {"get": _get("What can be asked: features, classes, rules, rows to begin with.", replies["/about"], few)}
    status = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
    paths["/health"] = {"get": {**_get("Whether the process lives.", status, {"421": refusals["421"]}), "security": []}}
    full = {"503": _answer("Not ready: starting, ending, or full.", status), "421": refusals["421"]}
    paths["/ready"] = {"get": {**_get("Whether a question would be answered now.", status, full), "security": []}}
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": service.title, "version": likely.__version__, "summary": "Likely counterfactual explanations."},
        "paths": paths,
        "components": {},
    }
    if secured:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def _post(path: str, body: JsonSchema, reply: JsonSchema | None, refusals: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": reply}}
    if reply is None:
        content = {"text/html": {"schema": {"type": "string"}}}
    elif path == "/explain":
        content["application/x-ndjson"] = {
            "schema": {"type": "string", "description": 'Lines {"progress": ...}, and last {"result": ...} or {"error": ...}.'}
        }
    return {
        "summary": _SUMMARIES[path],
        "operationId": path.strip("/"),
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "The answer.", "content": content}, **refusals},
    }


def _get(summary: str, reply: JsonSchema, refusals: dict[str, Any]) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": _answer("The answer.", reply), **refusals}}


def _answer(said: str, schema: JsonSchema) -> dict[str, Any]:
    return {"description": said, "content": {"application/json": {"schema": schema}}}


def _refusal(said: str, code: str) -> dict[str, Any]:
    return {**_answer(said, ERROR), **({"headers": _LATER} if code in ("429", "503") else {})}
