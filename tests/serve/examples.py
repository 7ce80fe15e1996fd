"""The service of the small table of loans, and a client that speaks ASGI to an application."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from likely.problem import Progress
from likely.serve import Reply, Service
from tests.explain import examples


@cache
def service_of() -> Service:
    return Service(examples.explainer_of().set_params(n_jobs=1), "loans")


def rows(count: int = 3) -> list[dict[str, Any]]:
    """Rows that the model refuses, as JSON has them."""
    return [json.loads(row.to_json()) for _, row in examples.rejected(count).iterrows()]


@dataclass(frozen=True, eq=False)
class Searching(Service):
    """A service whose `/front` searches until it is told to end, or `done` is set."""

    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    ended: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    done: threading.Event = field(default_factory=threading.Event)

    def reply(self, path: str, body: Any = None, callback: Any = None) -> Reply:
        if path != "/front":
            return super().reply(path, body, callback)
        second = 1
        while callback(Progress(second, 3 * second, 4.0, 3.0)) and not self.done.wait(0.01):
            second += 1
            if second == 2:
                self.begun.release()
        self.ended.release()
        return Reply(200, {"finished": self.done.is_set()})


def searching() -> Searching:
    return Searching(service_of().explainer, "loans")


async def begun(service: Searching) -> None:
    assert await asyncio.to_thread(service.begun.acquire, timeout=60)


async def ended(service: Searching) -> None:
    assert await asyncio.to_thread(service.ended.acquire, timeout=60)


@dataclass
class Answer:
    """What an application sent."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    parts: list[bytes] = field(default_factory=list)

    @property
    def body(self) -> bytes:
        return b"".join(self.parts)

    def json(self) -> Any:
        return json.loads(self.body)

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]


async def ask(app: Any, path: str, body: Any = None, *, gone: asyncio.Event | None = None, **more: Any) -> Answer:
    """One request: POST if it has a body. The asker goes away when `gone` is set."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    headers = {"host": "localhost:8000", "content-type": "application/json", **more.get("headers", {})}
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "scheme": "http",
        "method": more.get("method", "GET" if body is None else "POST"), "path": path, "raw_path": path.encode(), "root_path": "",
        "query_string": b"", "headers": [(name.encode(), value.encode()) for name, value in headers.items() if value is not None],
        "client": (more.get("client", "10.0.0.1"), 1), "server": ("localhost", 8000), "state": {},
    }  # fmt: skip
    messages = [{"type": "http.request", "body": content, "more_body": more.get("unfinished", False)}]
    answer, gone = Answer(), gone or asyncio.Event()

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        else:
            answer.parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return answer


@asynccontextmanager
async def living(app: Any) -> AsyncIterator[Any]:
    """The application between its start and its end."""
    to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    from_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    life = asyncio.ensure_future(app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, to_app.get, from_app.put))
    await to_app.put({"type": "lifespan.startup"})
    assert (await from_app.get())["type"] == "lifespan.startup.complete"
    yield app
    await to_app.put({"type": "lifespan.shutdown"})
    assert (await from_app.get())["type"] == "lifespan.shutdown.complete"
    await life
