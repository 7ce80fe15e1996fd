"""The service fuzzed against its own description: by schemathesis, with whole rows, and with explanations that were changed."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from likely.errors import LikelyWarning
from likely.serve import Bounds, Service
from tests.serve.examples import rows, service_of

schemathesis = pytest.importorskip("schemathesis")
pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")

from likely.serve.app import Application  # noqa: E402 - needs the extra

PATHS = list(service_of().requests)
MODES = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
#: What the description cannot say: whether a question can be asked of a row.
UNSAID = [schemathesis.checks.positive_data_acceptance]
SLOW = settings(suppress_health_check=list(HealthCheck))


@cache
def service() -> Service:
    return Service(service_of().explainer.remembering(), "loans", Bounds(seconds=0.5, k=3))


@cache
def operations() -> dict[str, Any]:
    described = schemathesis.openapi.from_asgi("/openapi.json", Application(service()))
    return {each.ok().path: each.ok() for each in described.get_all_operations()}


@pytest.fixture(autouse=True)
def _as_served() -> Iterator[None]:
    """Warnings are silent, as in a service that runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)
        yield


@pytest.mark.parametrize("mode", MODES, ids=["as described", "otherwise"])
@pytest.mark.parametrize("path", [*PATHS, "/about", "/health", "/ready"])
def test_every_request_is_answered_as_described(path: str, mode: Any) -> None:
    operation = operations()[path]
    if mode is MODES[1] and path not in PATHS:
        mode = MODES[0]  # there is nothing to get wrong

    @SLOW
    @given(operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(excluded_checks=UNSAID)

    ask()


@pytest.mark.parametrize("path", [path for path in PATHS if path != "/verify"])
def test_every_question_about_a_whole_row_is_answered_as_described(path: str) -> None:
    """What schemathesis draws has an unknown somewhere in most rows, of which most questions cannot be asked."""
    operation, whole = operations()[path], rows()[0]

    @SLOW
    @given(operation.as_strategy())
    def ask(case: Any) -> None:
        drawn = {name: value for name, value in case.body["row"].items() if value is not None}
        case.body = {**case.body, "row": {**whole, **drawn}}
        case.call_and_validate(excluded_checks=UNSAID)

    ask()


@cache
def explanation() -> str:
    return json.dumps(service().reply("/explain", {"row": rows()[0], "k": 2}).body["explanation"])


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every container in plain data, with each of its keys."""
    keys = list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else []
    return [(data, key) for key in keys] + [each for key in keys for each in places(data[key])]


ODD = st.sampled_from([None, True, -1, 0, 3, 1e300, "", "inf", "x", [], {}, [[]], {"x": 1}])


@SLOW
@given(st.data())
def test_an_explanation_that_was_changed_is_no_mistake_of_ours(data: st.DataObject) -> None:
    changed = json.loads(explanation())
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(changed)))
        if isinstance(container, dict) and data.draw(st.booleans()):
            del container[key]
        else:
            container[key] = copy.deepcopy(data.draw(ODD))
    reply = service().reply("/verify", {"explanation": changed})
    assert reply.status in (200, 422)
    assert reply.status == 422 or changed == json.loads(explanation()) or not reply.body["ok"]
