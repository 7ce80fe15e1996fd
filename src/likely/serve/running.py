"""The web application run by uvicorn. The one file that knows uvicorn."""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from likely.errors import RequestError
from likely.serve.app import Application
from likely.serve.logs import log

#: The seconds that an asker may take to send the headers of a request, and to read what it was sent.
_PATIENCE = 20.0
#: The seconds that a connection is kept without a request.
_KEEP_ALIVE = 5
#: So many connections at most; the next one is refused.
_CONNECTIONS = 900
_SENTENCE = b'{"error": "Too many connections. Hint: wait a second."}'
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_SENTENCE), _SENTENCE)
)
#: After the searches were ended, their answers still have to be sent.
_SENDING = 5


class _Protocol(H11Protocol):
    """HTTP/1.1 that waits neither for headers nor for readers without end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._hurry: asyncio.TimerHandle | None = None
        if len(self.connections) > _CONNECTIONS:
            transport.write(_FULL)
            transport.close()
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._cancel()  # the headers are there
        elif self._hurry is None:
            self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        self._cancel()
        super().resume_writing()

    def _wait(self) -> None:
        self._cancel()
        self._hurry = self.loop.call_later(_PATIENCE, self.transport.abort)

    def _cancel(self) -> None:
        if self._hurry is not None:
            self._hurry.cancel()
            self._hurry = None


class _Server(Server):
    """A server that gives answers under way some time when it is told to end, and then ends their searches."""

    def __init__(self, config: Config, application: Application, grace: float) -> None:
        super().__init__(config)
        self._application, self._grace = application, grace

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        log("ending", running=self._application.searches.running, waiting=self._application.searches.waiting)
        ender = asyncio.get_running_loop().call_later(self._grace, self._application.searches.end_all)
        try:
            await super().shutdown(sockets)
        finally:
            ender.cancel()


def listener(host: str, port: int) -> socket.socket:
    """A socket that listens; refuses an address that cannot be listened on, in a sentence.

    Args:
        host: The address.
        port: The port; 0 for any that is free.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise RequestError("The address to listen on", "be free, and one of this machine", f"{host}, port {port}: {error}",
                           "give another --port or --host") from None  # fmt: skip


def run(application: Application, sock: socket.socket, *, grace: float = 30.0, proxies: str = "") -> None:
    """Serve until SIGTERM or Ctrl-C; answers under way are finished.

    Args:
        application: What is served.
        sock: The socket that listens.
        grace: The seconds that answers under way have, when the service is told to end; then they have what is known.
        proxies: The addresses of balancers whose `X-Forwarded-For` is believed, with commas between.
    """
    more: dict[str, Any] = {"proxy_headers": True, "forwarded_allow_ips": proxies} if proxies else {"proxy_headers": False}
    config = Config(
        application, http=_Protocol, ws="none", lifespan="on", log_config=None, access_log=False, server_header=False,
        timeout_keep_alive=_KEEP_ALIVE, timeout_graceful_shutdown=int(grace) + _SENDING, **more,
    )  # fmt: skip
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)}
    try:  # uvicorn raises the signal that ended it once more, for whoever had it before
        host, port = sock.getsockname()[:2]
        log("listening", host=host, port=port)
        asyncio.run(_Server(config, application, grace).serve([sock]))
        log("ended")
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
