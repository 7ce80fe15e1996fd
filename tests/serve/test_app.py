"""The service over HTTP: who may ask, how much, how often; what is told to whom, and what ends when nobody waits."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from likely.serve import Reply, Service
from likely.serve.settings import Settings
from tests.serve.examples import Answer, ask, begun, ended, living, rows, searching, service_of

pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")

from likely.serve.app import Application
from likely.serve.logs import LOGGER, JsonLines
from likely.serve.parsing import parsed
from likely.serve.rates import Rates


def asked(path: str, body: Any = None, settings: Settings | None = None, **more: Any) -> Answer:
    """The answer of a new application to one request."""

    async def main() -> Answer:
        async with living(Application(service_of(), settings)) as app:
            return await ask(app, path, body, **more)

    return asyncio.run(main())


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    yield stream
    LOGGER.removeHandler(handler)


# -- the same answers -----------------------------------------------------------------------------------------------------


def test_answers_are_those_of_the_service() -> None:
    async def main() -> None:
        async with living(Application(service_of())) as app:
            for path, more in [("/decide", {}), ("/density", {"feature": "age"}), ("/explain", {"k": 2})]:
                body = {"row": rows()[0], **more}
                answer, direct = await ask(app, path, body), service_of().reply(path, body)
                assert answer.status == direct.status == 200
                mine, yours = answer.json(), json.loads(json.dumps(direct.body))
                for told in (mine, yours):
                    for name in ("seconds", "nodes", "explanation"):
                        told.pop(name, None)
                assert mine == yours
            page = await ask(app, "/report", {"row": rows()[0]})
            assert page.headers["content-disposition"] == 'attachment; filename="explanation.html"'
            assert page.body.startswith(b"<!doctype html>")
            assert (await ask(app, "/about")).json() == json.loads(json.dumps(service_of().reply("/about").body))
            assert (await ask(app, "/openapi.json")).json()["openapi"] == "3.1.0"

    asyncio.run(main())


def test_health_readiness_and_metrics() -> None:
    async def main() -> None:
        app = Application(service_of())
        assert (await ask(app, "/ready")).status == 503
        async with living(app):
            assert (await ask(app, "/ready")).json() == {"status": "ready"}
            assert (await ask(app, "/health")).json() == {"status": "ok"}
            await ask(app, "/explain", {"row": rows()[0]})
            await ask(app, "/somewhere/17")
            text = (await ask(app, "/metrics")).body.decode()
        assert 'likely_requests_total{path="/explain",status="200"} 1.0' in text
        assert 'likely_answers_total{path="/explain",status="optimal"} 1.0' in text
        assert 'likely_requests_total{path="other",status="404"} 1.0' in text
        assert "likely_searches_running 0.0" in text
        assert "somewhere" not in text
        assert (await ask(app, "/ready")).status == 503

    asyncio.run(main())


def test_headers_keep_a_page_to_itself() -> None:
    for path in ("/health", "/nothing", "/explain"):
        answer = asked(path)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_an_id_of_a_balancer_is_kept_and_nothing_else() -> None:
    assert asked("/health", headers={"x-request-id": "0123-abcd"}).headers["x-request-id"] == "0123-abcd"
    assert asked("/health", headers={"x-request-id": "Ms Smith, 1970"}).headers["x-request-id"] != "Ms Smith, 1970"


# -- who may ask ------------------------------------------------------------------------------------------------------------

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize("path", ["/about", "/metrics", "/openapi.json", "/explain", "/nothing"])
@pytest.mark.parametrize(
    "given", [None, "", TOKEN, "Bearer", "Bearer 0123456789abcdeF", f"Basic {TOKEN}", f"Bearer {TOKEN}0", "Bearer é"]
)
def test_without_the_token_nothing_is_told(path: str, given: str | None) -> None:
    async def main() -> Answer:
        return await ask(Application(service_of(), Settings(token=TOKEN)), path, headers={"authorization": given})

    answer = asyncio.run(main())
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "must bring the token" in answer.json()["error"]


def test_with_the_token_all_is_told() -> None:
    settings = Settings(token=TOKEN)
    assert asked("/about", settings=settings, headers={"authorization": f"bearer {TOKEN}"}).status == 200
    assert asked("/health", settings=settings).status == asked("/ready", settings=settings).status == 200


def test_other_names_are_refused_where_only_this_machine_may_ask() -> None:
    settings = Settings(hosts=("localhost", "127.0.0.1", "[::1]"))
    for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000"):
        assert asked("/health", settings=settings, headers={"host": host}).status == 200
    for host in ("evil.example", "localhost.evil.example:8000", "", "[::1"):
        assert asked("/health", settings=settings, headers={"host": host}).status == 421


def test_a_token_must_be_hard_to_guess() -> None:
    for token in ("", "short", "0123456789abcdé0"):
        with pytest.raises(ValueError, match="The token must be at least 16 printable letters"):
            Settings(token=token)


def test_too_many_requests_of_one_address_wait() -> None:
    async def main() -> None:
        async with living(Application(service_of(), Settings(rate=0.01))) as app:
            assert (await ask(app, "/about")).status == 200
            refused = await ask(app, "/about")
            assert refused.status == 429
            assert 1 <= int(refused.headers["retry-after"]) <= 100
            assert (await ask(app, "/about", client="10.0.0.2")).status == 200
            assert (await ask(app, "/health")).status == 200

    asyncio.run(main())


def test_a_rate_lets_through_what_it_says() -> None:
    now = 0.0
    rates = Rates(2.0, lambda: now)
    assert [rates.wait("a") for _ in range(11)] == [0] * 10 + [1]
    now = 0.5
    assert [rates.wait("a") for _ in range(2)] == [0, 1]
    now = 1000.0
    assert [rates.wait("a") for _ in range(11)] == [0] * 10 + [1]


# -- what may be asked ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"", 400, "must be JSON; got Expecting value"),
        (b"{", 400, "must be JSON; got Expecting property name"),
        (b"\xff", 400, "must be JSON; got UnicodeDecodeError"),
        (b'{"row": NaN}', 400, "must be one that JSON has; got NaN"),
        (b'{"row": 1e999}', 400, "must be one that a double can hold"),
        (b'{"row": "\\ud800"}', 400, "must be JSON; got UnicodeEncodeError"),
        (b"[" * 100_000, 400, "must be JSON"),
        (b"9" * 5000, 400, "must be JSON"),
        (b"[]", 422, "must be an object"),
        (b" " * 1_000_001, 413, "must have at most 1,000,000 bytes"),
    ],
)
def test_a_body_that_is_no_request_gets_a_sentence(body: bytes, status: int, sentence: str) -> None:
    answer = asked("/explain", body)
    assert answer.status == status
    assert sentence in answer.json()["error"]


def test_json_is_read_as_it_stands() -> None:
    assert parsed('{"a": [1, 1.5, "é", null, true]}'.encode()) == {"a": [1, 1.5, "é", None, True]}


def test_other_kinds_of_requests_are_refused() -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert asked("/decide", {"row": rows()[0]}, headers={"content-type": kind}).status == 415
    assert asked("/decide", {"row": rows()[0]}, headers={"content-type": "application/json; charset=utf-8"}).status == 200
    refused = asked("/decide", method="GET")
    assert (refused.status, refused.headers["allow"]) == (405, "POST")
    assert asked("/nothing").json() == {"error": "There is no such path. Hint: see /openapi.json."}


def test_a_slow_client_is_not_waited_for() -> None:
    answer = asked("/explain", b'{"row"', Settings(body_seconds=0.01), unfinished=True)
    assert answer.status == 408
    assert answer.headers["connection"] == "close"


# -- how much at a time -----------------------------------------------------------------------------------------------------


def test_overload_is_answered_and_passes() -> None:
    async def main() -> None:
        service = searching()
        async with living(Application(service, Settings(concurrency=1, waiting=1))) as app:
            first = asyncio.ensure_future(ask(app, "/front", {}))
            await begun(service)
            second = asyncio.ensure_future(ask(app, "/front", {}))
            while app.searches.waiting < 1:
                await asyncio.sleep(0)
            refused = await ask(app, "/front", {})
            assert refused.status == 503
            assert refused.headers["retry-after"] == "1"
            assert "more questions than it can answer" in refused.json()["error"]
            assert (await ask(app, "/ready")).status == 503
            assert (await ask(app, "/decide", {"row": rows()[0]})).status == 200, "nobody waits for searches to see a decision"
            service.done.set()
            assert (await first).json() == (await second).json() == {"finished": True}
            assert (await ask(app, "/front", {})).status == (await ask(app, "/ready")).status == 200
            assert (app.searches.running, app.searches.waiting) == (0, 0)

    asyncio.run(main())


def test_who_goes_away_ends_the_search() -> None:
    async def main() -> None:
        service = searching()
        async with living(Application(service, Settings(concurrency=1, waiting=1))) as app:
            gone = asyncio.Event()
            first = asyncio.ensure_future(ask(app, "/front", {}, gone=gone))
            await begun(service)
            left = asyncio.Event()
            second = asyncio.ensure_future(ask(app, "/front", {}, gone=left))
            while app.searches.waiting < 1:
                await asyncio.sleep(0)
            left.set()  # while it waits
            await second
            assert app.searches.waiting == 0
            gone.set()  # while it is searched
            await first
            await ended(service)
            assert service.begun.acquire(blocking=False) is False, "who left while waiting is not searched for"
            service.done.set()
            assert (await ask(app, "/front", {})).json() == {"finished": True}, "the place is free again"
            assert "likely_cancelled_total 2.0" in (await ask(app, "/metrics")).body.decode()

    asyncio.run(main())


def test_lines_tell_how_far_a_search_is() -> None:
    async def main() -> None:
        service = searching()
        async with living(Application(service)) as app:
            asking = asyncio.ensure_future(ask(app, "/front", {}, headers={"accept": "application/x-ndjson"}))
            await begun(service)
            service.done.set()
            answer = await asking
            *progress, last = answer.lines()
            assert progress
            assert answer.headers["content-type"] == "application/x-ndjson"
            assert last == {"result": {"finished": True}}
            told = {"best": 4.0, "bound": 3.0, "gap": 0.25}
            assert all({key: line["progress"][key] for key in told} == told for line in progress)
            asked = {"row": rows()[0]}
            [line] = (await ask(app, "/explain", asked, headers={"accept": "application/x-ndjson"})).lines()
            assert line["result"]["status"] == "optimal"
            refused = await ask(app, "/explain", {"row": 3}, headers={"accept": "application/x-ndjson"})
            assert refused.status == 422
            assert refused.lines()[0]["status"] == 422

    asyncio.run(main())


def test_who_goes_away_from_lines_ends_the_search() -> None:
    async def main() -> None:
        service, gone = searching(), asyncio.Event()
        async with living(Application(service)) as app:
            asking = asyncio.ensure_future(ask(app, "/front", {}, gone=gone, headers={"accept": "application/x-ndjson"}))
            await begun(service)
            gone.set()
            await asking
            await ended(service)
            assert "likely_cancelled_total 1.0" in (await ask(app, "/metrics")).body.decode()

    asyncio.run(main())


def test_at_the_end_searches_end() -> None:
    async def main() -> None:
        service = searching()
        async with living(Application(service)) as app:
            asking = asyncio.ensure_future(ask(app, "/front", {}))
            await begun(service)
            app.searches.end_all()
            assert (await asking).json() == {"finished": False}

    asyncio.run(main())


# -- what is logged -----------------------------------------------------------------------------------------------------------


def test_logs_have_no_values(lines: io.StringIO) -> None:
    row = {**rows()[0], "income": 1234.56, "age": 200, "housing": "own"}

    async def main() -> None:
        async with living(Application(service_of())) as app:
            for path in service_of().requests:
                await ask(
                    app, path, {"row": row, "target": "maybe"}, headers={"x-forwarded-for": "10.9.8.7", "user-agent": "Ms Smith"}
                )
                await ask(app, path, {"row": row, **({"feature": "income"} if path == "/density" else {})})
            await ask(app, "/Ms-Smith-1234.56", {"row": row}, method="SMITH")

    asyncio.run(main())
    written = lines.getvalue()
    for secret in ("1234.56", "200,", ": 200.", "own", "maybe", "10.9.8.7", "10.0.0.1", "Smith", "SMITH"):
        assert secret not in written.replace('"status": 200,', ""), secret
    told = [json.loads(line) for line in written.splitlines()]
    explained = next(line for line in told if line.get("path") == "/explain" and line["status"] == 200)
    assert {"time", "level", "event", "id", "method", "path", "status", "seconds", "bytes", "answer", "nodes"} <= set(explained)


def test_what_others_log_is_not_repeated() -> None:
    error = ValueError("1234.56")
    raised = (ValueError, error, None)
    record = logging.LogRecord("asyncio", logging.ERROR, "events.py", 17, "a task failed: %r", (error,), raised)
    told = json.loads(JsonLines().format(record))
    assert told["event"] == "asyncio: events.py:17"
    assert told["error"] == "ValueError"
    assert "1234.56" not in json.dumps(told)


def test_logs_have_values_if_the_operator_says_so(lines: io.StringIO) -> None:
    asked("/explain", {"row": {**rows()[0], "income": 1234.56}, "k": 0}, Settings(log_rows=True))
    told = json.loads(lines.getvalue().splitlines()[-1])
    assert told["asked"]["row"]["income"] == 1234.56
    assert "'k' of a request" in told["refusal"]


def test_a_mistake_of_ours_is_logged_without_what_it_says(lines: io.StringIO) -> None:
    class Broken(Service):
        def reply(self, path: str, body: Any = None, callback: Any = None) -> Reply:
            if path == "/decide":
                raise ZeroDivisionError("1234.56")
            return super().reply(path, body, callback)

    async def main() -> None:
        async with living(Application(Broken(service_of().explainer))) as app:
            answer = await ask(app, "/decide", {"row": rows()[0]})
            assert answer.status == 500
            assert "made a mistake" in answer.json()["error"]
            assert (await ask(app, "/about")).status == 200

    asyncio.run(main())
    assert "1234.56" not in lines.getvalue()
    failed = next(line for line in map(json.loads, lines.getvalue().splitlines()) if line["event"] == "failed")
    assert failed["error"] == "ZeroDivisionError"
    assert any("test_app.py" in place for place in failed["at"])
