"""Numbers for Prometheus. The one file that knows prometheus_client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

if TYPE_CHECKING:
    from likely.serve.searches import Searches

MEDIA = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """Counters of one service, with those of its process.

    Args:
        searches: What is counted while it waits and runs.
    """

    def __init__(self, searches: Searches) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter("likely_requests", "Requests that were answered.", ["path", "status"], registry=registry)
        self._seconds = Histogram(
            "likely_request_seconds", "From a request to its answer.", ["path"], buckets=_SECONDS, registry=registry
        )
        self._answers = Counter("likely_answers", "Answers by what was proved.", ["path", "status"], registry=registry)
        self._cancelled = Counter("likely_cancelled", "Questions whose asker went away.", registry=registry)
        waiting = Gauge("likely_searches_waiting", "Questions that wait for a thread.", registry=registry)
        waiting.set_function(lambda: searches.waiting)
        running = Gauge("likely_searches_running", "Questions that are searched.", registry=registry)
        running.set_function(lambda: searches.running)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """A request was answered.

        Args:
            path: Which; one of few.
            status: Of HTTP.
            seconds: From the request to the end of the answer.
        """
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def found(self, path: str, status: str) -> None:
        """A question was decided, or not.

        Args:
            path: Which.
            status: That of the explanation.
        """
        self._answers.labels(path, status).inc()

    def cancelled(self) -> None:
        """The asker went away."""
        self._cancelled.inc()

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)
