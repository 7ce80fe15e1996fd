"""`Guard`: what stands before the application: who may ask, how often; headers, metrics and logs of every answer."""

from __future__ import annotations

import hmac
import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

from likely.serve.logs import LOGGER, log
from likely.serve.metrics import Metrics
from likely.serve.rates import Rates
from likely.serve.settings import Settings

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

#: A page may load nothing from elsewhere, and stands in no frame.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self';"
    " font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SECURITY = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
#: What is told without a token, and however often: the page has no data, and a balancer asks for the others all the time.
_OPEN, _UNCOUNTED = ("/", "/health", "/ready", "/static"), ("/health", "/ready", "/metrics")
MISTAKE = "The service made a mistake, and has logged it. Hint: tell its operator the X-Request-Id."
#: Ids of requests that come from a balancer are kept if they cannot hold anything else.
_ID = re.compile(r"[0-9a-fA-F-]{8,64}")


class Guard:
    """Lets a request through to the application, or answers it.

    Args:
        app: The application behind.
        paths: Those that it knows: others are not told apart in metrics and logs, because anything may stand in them.
        settings: Who may ask, and how often.
        metrics: What is counted.
    """

    def __init__(self, app: App, paths: Iterable[str], settings: Settings, metrics: Metrics) -> None:
        self._app, self._paths, self._settings, self._metrics = app, frozenset(paths), settings, metrics
        self._rates = None if settings.rate is None else Rates(settings.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request (or the start and the end of the application)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, _request_id(scope))
        facts: dict[str, Any] = scope.setdefault("state", {}).setdefault("facts", {})
        started, path = time.perf_counter(), self._named(scope["path"])
        try:
            refusal = self._refusal(scope, path)
            if refusal is not None:
                await answer.refuse(*refusal)
            else:
                await self._app(scope, receive, answer.send)
        except Exception:
            LOGGER.exception("failed", extra={"data": {"id": answer.id, "path": path}})
            if not answer.status:
                await answer.refuse(500, MISTAKE)
        finally:
            seconds = time.perf_counter() - started
            self._metrics.answered(path, answer.status, seconds)
            level = logging.DEBUG if path in _UNCOUNTED else logging.INFO
            told = {"id": answer.id, "method": _word(scope["method"]), "path": path, "status": answer.status}
            log("request", level, **told, seconds=round(seconds, 4), bytes=answer.size, **facts)

    def _named(self, path: str) -> str:
        """A path as it may stand in metrics and logs."""
        return "/static" if path.startswith("/static/") else path if path in self._paths else "other"

    def _refusal(self, scope: Scope, path: str) -> tuple[int, str, dict[str, str]] | None:
        """Why a request is not let through: status, sentence, headers; None if it is."""
        headers = {name.lower(): value for name, value in scope["headers"]}
        hosts = self._settings.hosts
        if hosts is not None and _host(headers.get(b"host", b"")) not in hosts:
            return 421, "This service is not called by this name. Hint: name it with --allow-host.", {}
        if self._rates is not None and path not in _UNCOUNTED:
            wait = self._rates.wait((scope.get("client") or ("",))[0])
            if wait:
                return 429, f"Too many requests from this address. Hint: wait {wait} s.", {"Retry-After": str(wait)}
        if path not in _OPEN and not self._known(headers.get(b"authorization", b"")):
            hint = "Hint: send the header Authorization: Bearer TOKEN."
            return 401, f"A request must bring the token of this service; got none, or another one. {hint}", {
                "WWW-Authenticate": "Bearer"
            }  # fmt: skip
        return None

    def _known(self, given: bytes) -> bool:
        """Whether a header has the token; takes the same time wherever another one differs."""
        token = self._settings.token
        scheme, _, word = given.partition(b" ")
        return token is None or (scheme.lower() == b"bearer" and hmac.compare_digest(word.strip(), token.encode()))


class _Answer:
    """Passes on what the application sends, with headers for safety, and remembers what it was."""

    def __init__(self, send: Send, name: str) -> None:
        self._send, self.id = send, name
        self.status, self.size = 0, 0

    async def send(self, message: Message) -> None:
        """Pass on a message."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given: Headers = list(message.get("headers", []))
            names = {name.lower() for name, _ in given}
            more = {**_SECURITY, "Cache-Control": "no-store", "X-Request-Id": self.id}
            given += [(key.lower().encode(), value.encode()) for key, value in more.items() if key.lower().encode() not in names]
            message = {**message, "headers": given}
        elif message["type"] == "http.response.body":
            self.size += len(message.get("body", b""))
        await self._send(message)

    async def refuse(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        """Answer in the place of the application."""
        body = json.dumps({"error": sentence}).encode()
        # what the asker still sends is not read, so that the connection cannot be used again
        every = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close", **(headers or {})}
        pairs = [(name.lower().encode(), value.encode()) for name, value in every.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": pairs})
        await self.send({"type": "http.response.body", "body": body})


def _request_id(scope: Scope) -> str:
    given = next((value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"x-request-id"), "")
    return given if _ID.fullmatch(given) else secrets.token_hex(8)


def _host(header: bytes) -> str:
    """The name in a `Host` header, without the port."""
    name = header.decode("latin-1").lower()
    return name[: name.rindex("]") + 1] if "]" in name else name.partition(":")[0]


def _word(method: str) -> str:
    return method if method in ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH") else "other"
