"""The web application: a `Service` over HTTP, and its page. The one file that knows Starlette."""

from __future__ import annotations

import asyncio
import json
import threading
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from likely.errors import LikelyWarning, RequestError
from likely.explain.engines import engine_of
from likely.problem import Progress
from likely.serve.guard import MISTAKE, Guard, Receive, Scope, Send
from likely.serve.metrics import MEDIA, Metrics
from likely.serve.openapi import openapi_of
from likely.serve.parsing import parsed
from likely.serve.searches import BusyError, Searches
from likely.serve.service import Reply, Service
from likely.serve.settings import Settings
from likely.serve.telling import progress_told

#: What is answered in no time, and so by threads of its own: nobody waits for searches to see a decision.
QUICK = ("/about", "/decide", "/density", "/verify")
LINES = "application/x-ndjson"
#: So many seconds lie between two lines of progress.
_BETWEEN = 0.1
#: Who is told to come back, after so many seconds.
_BUSY = "The service has more questions than it can answer. Hint: ask again in a second."
_RETRY = {"Retry-After": "1"}
_GONE = 499


class Application:
    """A service as an ASGI application.

    Args:
        service: The explainer, ready to answer.
        settings: Who may ask, how much at a time, and how often.
    """

    def __init__(self, service: Service, settings: Settings | None = None) -> None:
        self._service, self._settings = service, settings or Settings()
        patience = max(service.bounds.seconds, 1.0)
        at_once, waiting = self._settings.concurrency, self._settings.waiting
        self.searches = Searches(at_once if engine_of(service.explainer.engine).threads else 1, waiting, patience)
        self._quick = Searches(at_once, waiting, patience)
        self._metrics = Metrics(self.searches)
        self._ready = False
        self._openapi = json.dumps(openapi_of(service, secured=self._settings.token is not None)).encode()
        told = ["/about", "/health", "/ready", "/metrics", "/openapi.json", *service.requests]
        handlers = {HTTPException: _refused, Exception: _mistaken}
        starlette = Starlette(routes=self._routes(), lifespan=self._life, exception_handlers=handlers)
        self._app = Guard(starlette, ["/", *told], self._settings, self._metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the start and the end of the application."""
        await self._app(scope, receive, send)

    def _routes(self) -> list[BaseRoute]:
        routes: list[BaseRoute] = [
            Route("/about", self._about),
            Route("/health", self._health),
            Route("/ready", self._readiness),
            Route("/metrics", self._measured),
            Route("/openapi.json", self._described),
            *(Route(path, self._ask, methods=["POST"]) for path in self._service.requests),
        ]
        page = files("likely").joinpath("page")
        if page.is_dir():
            folder = str(page)
            routes += [
                Route("/", lambda request: FileResponse(f"{folder}/index.html")),
                Mount("/static", StaticFiles(directory=folder)),
            ]
        return routes

    @asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        with warnings.catch_warnings():  # they would name values; a reply has them as notes
            warnings.simplefilter("ignore", LikelyWarning)
            self.searches.open()
            self._quick.open()
            await asyncio.to_thread(self._service.reply, "/about")
            self._ready = True
            yield
            self._ready = False
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self.searches.close()
        self._quick.close()

    # -- endpoints ------------------------------------------------------------------------------------------------

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _readiness(self, request: Request) -> Response:
        ready = self._ready and not self.searches.full
        return JSONResponse({"status": "ready"}) if ready else JSONResponse({"status": "not ready"}, 503, _RETRY)

    async def _measured(self, request: Request) -> Response:
        return Response(self._metrics.text(), media_type=MEDIA)

    async def _described(self, request: Request) -> Response:
        return Response(self._openapi, media_type="application/json")

    async def _about(self, request: Request) -> Response:
        try:
            return _response(await self._quick.run(partial(self._service.reply, "/about"), threading.Event()))
        except BusyError:
            return _refusal(503, _BUSY, _RETRY)

    async def _ask(self, request: Request) -> Response:
        path, facts = request.url.path, request.state.facts
        try:
            body = await self._body(request)
        except RequestError as error:
            return _refusal(400, str(error))
        if self._settings.log_rows:
            facts["asked"] = body
        question = _Question(self._service, path, body)
        try:
            if LINES in request.headers.get("accept", "") and path not in QUICK:
                return await self._lines(question, facts)
            reply = await self._answered(request, question)
        except BusyError:
            return _refusal(503, _BUSY, _RETRY)
        if reply is None:
            return Response(status_code=_GONE)
        self._note(path, reply, facts)
        return _response(reply)

    async def _body(self, request: Request) -> Any:
        """The JSON in a request; refuses one that is too large, too slow, or of another kind."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "A request must be application/json. Hint: send the header Content-Type: application/json.")
        most = self._service.bounds.body
        body = bytearray()
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                async for part in request.stream():
                    body += part
                    if len(body) > most:
                        raise HTTPException(413, f"A request must have at most {most:,} bytes. Hint: ask about one row.")
        except TimeoutError:
            seconds = f"{self._settings.body_seconds:g} s"
            raise HTTPException(408, f"A request must arrive within {seconds}. Hint: send it at once.") from None
        except ClientDisconnect:
            raise HTTPException(_GONE, "The asker went away.") from None
        return parsed(bytes(body))

    async def _answered(self, request: Request, question: _Question) -> Reply | None:
        """The reply; None if the asker went away first, which ends the search."""
        searches = self._quick if question.path in QUICK else self.searches
        work = asyncio.ensure_future(searches.run(question.reply, question.stop))
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            self._metrics.cancelled()
            return None
        finally:
            question.stop.set()
            work.cancel()
            gone.cancel()

    async def _lines(self, question: _Question, facts: dict[str, Any]) -> Response:
        """Lines of progress, and last the reply; a question that is refused at once has its own status."""
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[Progress | None]()
        question.tell = lambda progress: loop.call_soon_threadsafe(queue.put_nowait, progress)
        work = asyncio.ensure_future(self.searches.run(question.reply, question.stop))
        work.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            first = await queue.get()
        except asyncio.CancelledError:
            work.cancel()
            raise
        if first is None:
            reply = work.result()
            self._note(question.path, reply, facts)
            line = {"result": reply.body} if reply.status == 200 else {**reply.body, "status": reply.status}
            return Response(_line(line), reply.status, media_type=LINES)

        async def lines() -> AsyncIterator[bytes]:
            try:
                progress: Progress | None = first
                while progress is not None:
                    yield _line({"progress": progress_told(progress)})
                    progress = await queue.get()
                reply = work.result()
                self._note(question.path, reply, facts)
                yield _line({"result": reply.body} if reply.status == 200 else {**reply.body, "status": reply.status})
            finally:
                if not work.done():
                    self._metrics.cancelled()
                    work.cancel()

        return StreamingResponse(lines(), media_type=LINES)

    def _note(self, path: str, reply: Reply, facts: dict[str, Any]) -> None:
        """Count what was found, and leave it for the log."""
        status = reply.body.get("status") if isinstance(reply.body, dict) else None
        if reply.status == 200 and isinstance(status, str):
            self._metrics.found(path, status)
            facts |= {"answer": status, "nodes": reply.body["nodes"], "search_seconds": round(reply.body["seconds"], 4)}
        elif reply.status != 200 and self._settings.log_rows:
            facts["refusal"] = reply.body["error"]


class _Question:
    """One request, asked in a thread, that can be ended from outside."""

    def __init__(self, service: Service, path: str, body: Any) -> None:
        self._service, self.path, self._body = service, path, body
        self.stop = threading.Event()
        self.tell: Callable[[Progress], Any] | None = None
        self._told = 0.0

    def reply(self) -> Reply:
        """The reply; runs in a thread."""
        return self._service.reply(self.path, self._body, self._going)

    def _going(self, progress: Progress) -> bool:
        if self.tell is not None and progress.seconds - self._told >= _BETWEEN:
            self._told = progress.seconds
            self.tell(progress)
        return not self.stop.is_set()


async def _gone(request: Request) -> None:
    """Wait until the asker goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentences = {
        404: "There is no such path. Hint: see /openapi.json.",
        405: "This path has another method. Hint: see /openapi.json.",
    }
    return _refusal(error.status_code, sentences.get(error.status_code, error.detail), dict(error.headers or {}))


async def _mistaken(request: Request, error: Exception) -> Response:
    """What is told of an error of ours; the guard logs it."""
    return _refusal(500, MISTAKE)


def _refusal(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """An error in one sentence; what is left of a request that was not read is not waited for."""
    closing = {"Connection": "close"} if status in (408, 413, 415) else {}
    return JSONResponse({"error": sentence}, status, {**closing, **(headers or {})})


def _response(reply: Reply) -> Response:
    if reply.media == "application/json":
        return JSONResponse(reply.body, reply.status)
    named = {"Content-Disposition": 'attachment; filename="explanation.html"'}
    return Response(reply.body, reply.status, named, media_type=reply.media)


def _line(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode() + b"\n"
