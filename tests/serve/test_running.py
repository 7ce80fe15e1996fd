"""The service on a socket: it ends cleanly, and bad clients do no harm."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from likely.errors import RequestError
from likely.serve.settings import Settings
from tests.serve.examples import Searching, rows, searching

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("prometheus_client")

from likely.serve import running
from likely.serve.app import Application


def ask(port: int, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json"}
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    told = answer.status, json.loads(answer.read())
    connection.close()
    return told


def connected(port: int, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    client.sendall(sent)
    return client


def until_told(service: Searching, grace: float, client: Callable[[int], None], settings: Settings | None = None) -> None:
    """Run the service in this thread, and a client in another one, which must tell this process to end."""
    errors: list[BaseException] = []

    def story() -> None:
        try:
            client(sock.getsockname()[1])
        except BaseException as error:
            errors.append(error)
            os.kill(os.getpid(), signal.SIGTERM)

    sock = running.listener("127.0.0.1", 0)
    thread = threading.Thread(target=story)
    thread.start()
    running.run(Application(service, settings), sock, grace=grace)
    thread.join()
    assert not errors, errors


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_answers_under_way_are_finished(told: signal.Signals) -> None:
    service = searching()
    answers = []

    def client(port: int) -> None:
        asking = threading.Thread(target=lambda: answers.append(ask(port, "/front", {})))
        asking.start()
        assert service.begun.acquire(timeout=60)
        idle = connected(port)
        os.kill(os.getpid(), told)
        assert idle.recv(1) == b"", "who asks nothing is not waited for"
        service.done.set()
        asking.join()

    until_told(service, 60.0, client)
    assert answers == [(200, {"finished": True})]


def test_answers_that_take_too_long_are_what_is_known_at_the_end() -> None:
    service = searching()
    answers = []

    def client(port: int) -> None:
        asking = threading.Thread(target=lambda: answers.append(ask(port, "/front", {})))
        asking.start()
        assert service.begun.acquire(timeout=60)
        os.kill(os.getpid(), signal.SIGTERM)
        asking.join()

    until_told(service, 0.05, client)
    assert answers == [(200, {"finished": False})]


def test_a_client_that_goes_away_ends_its_search() -> None:
    service = searching()

    def client(port: int) -> None:
        head = b"POST /front HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        for more in (b"", b"Accept: application/x-ndjson\r\n"):
            gone = connected(port, head + more + b"\r\n{}")
            assert service.begun.acquire(timeout=60)
            gone.close()
            assert service.ended.acquire(timeout=60)
        assert ask(port, "/decide", {"row": rows()[0]})[0] == 200
        os.kill(os.getpid(), signal.SIGTERM)

    until_told(service, 60.0, client, Settings(concurrency=1, waiting=0))


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /health HTT",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /heal",
    ],
)
def test_a_client_that_does_not_go_on_is_left(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_PATIENCE", 0.05)
    monkeypatch.setattr(running, "_KEEP_ALIVE", 0.05)

    def client(port: int) -> None:
        slow = connected(port, sent)
        left = b"".join(iter(lambda: _received(slow), b""))
        assert left.count(b"200 OK") == sent.count(b"\r\n\r\n")
        assert ask(port, "/health")[0] == 200
        os.kill(os.getpid(), signal.SIGTERM)

    until_told(searching(), 60.0, client)


def _received(client: socket.socket) -> bytes:
    try:
        return client.recv(100_000)
    except ConnectionResetError:
        return b""


def test_a_client_that_does_not_read_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_PATIENCE", 0.05)

    def client(port: int) -> None:
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(60)
        slow.connect(("127.0.0.1", port))
        question = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with pytest.raises(ConnectionError):  # the description is large, and nobody reads it; not a TimeoutError
            slow.sendall(question * 100_000)
        assert ask(port, "/health")[0] == 200
        os.kill(os.getpid(), signal.SIGTERM)

    until_told(searching(), 60.0, client)


def test_more_connections_than_may_be_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_CONNECTIONS", 1)

    def client(port: int) -> None:
        first = connected(port, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert first.recv(1000)
        second = connected(port)
        refused = b"".join(iter(lambda: _received(second), b""))
        assert b"503 Service Unavailable" in refused
        assert b"Retry-After: 1" in refused
        first.close()
        while ask_or_none(port) is None:
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    until_told(searching(), 60.0, client)


def ask_or_none(port: int) -> Any:
    status, told = ask(port, "/health")
    return None if status == 503 else told


def test_an_address_that_is_taken_is_refused_in_a_sentence() -> None:
    with running.listener("127.0.0.1", 0) as sock, pytest.raises(RequestError, match="must be free, and one of this machine"):
        running.listener("127.0.0.1", sock.getsockname()[1])
    with pytest.raises(RequestError, match="must be free"):
        running.listener("127.0.0.1", 70000)
