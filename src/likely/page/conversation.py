"""Questions of a widget and their answers, as messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

from likely.errors import LikelyError
from likely.explain import Explanation
from likely.problem import Progress
from likely.serve import Service
from likely.serve.telling import progress_told

#: Seconds between two messages about how far a search is.
_BETWEEN = 0.1
#: A question that was cancelled ends soon; until then the next is answered beside it.
_THREADS = 3


class Conversation:
    """Answers the messages of one widget, on threads, so that the kernel stays free and a question can be cancelled.

    A message is `{"id", "path", "body"}`, with what a request of HTTP has, and is answered by `{"id", "status", "body"}`.
    Before that there may be some `{"id", "progress"}`. `{"id", "cancel": true}` ends a search, and nothing more is said about it.

    Args:
        service: What answers.
        send: Sends a message to the widget.
    """

    def __init__(self, service: Service, send: Callable[[dict[str, Any]], None]) -> None:
        self._service, self._send = service, send
        self._open: set[Any] = set()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="likely-widget")
        self._newest: dict[str, Any] | None = None

    @property
    def explanation(self) -> Explanation | None:
        """The newest explanation that was given; None before the first."""
        return None if self._newest is None else Explanation.from_dict(self._newest)

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take a message; the answer is sent when it is known.

        Args:
            message: What the widget said.
        """
        number = message.get("id")
        if message.get("cancel"):
            self._open.discard(number)
            return
        self._open.add(number)
        self._pool.submit(self._answer, number, str(message.get("path")), message.get("body"))

    def close(self) -> None:
        """Cancel all questions, and take no more."""
        self._open.clear()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, number: Any, path: str, body: Any) -> None:
        if number not in self._open:
            return
        try:
            reply = self._service.reply(path, body, self._watch(number))
            status, said = reply.status, reply.body
        except LikelyError as error:  # an engine that failed
            status, said = 500, {"error": str(error)}
        if number not in self._open:
            return
        self._open.discard(number)
        if path == "/explain" and status == 200:
            self._newest = said["explanation"]
        self._send({"id": number, "status": status, "body": said})

    def _watch(self, number: Any) -> Callable[[Progress], bool]:
        """Tells how far a search is, now and then, and ends it if it was cancelled."""
        told = monotonic()

        def watch(progress: Progress) -> bool:
            nonlocal told
            if number in self._open and monotonic() - told > _BETWEEN:
                told = monotonic()
                self._send({"id": number, "progress": progress_told(progress)})
            return number in self._open

        return watch
