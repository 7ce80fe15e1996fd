"""`likely serve`: an explainer as a service on this machine, and its page."""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
from pathlib import Path
from typing import Any

from likely._jobs import thread_count
from likely.cli.codes import Code
from likely.cli.files import read_file
from likely.cli.folder import add_model, open_explainer, source_of
from likely.errors import ExplainerError, MissingExtraError, RequestError
from likely.explain import Explainer
from likely.explain.named import PICKLES
from likely.serve import Bounds, Service
from likely.serve.settings import Settings

#: Where the token may be, if no file is named; not on the command line, which everybody on a machine can read.
TOKEN = "LIKELY_TOKEN"
#: The names of this machine.
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("serve", help="an explainer as a service on this machine, with a page to ask it")
    parser.add_argument("explainer", metavar="EXPLAINER", help="the folder that likely fit wrote")
    add_model(parser, when="; may be left out if it is no pickle and still where it was")
    parser.add_argument(
        "--allow-pickle", action="store_true", help="load a model or an encoder that is a pickle, which may run any code"
    )
    parser.add_argument("--title", help="what the page is called; the name of the folder, if left out")
    parser.add_argument("--examples", metavar="FILE.json", help="a list of rows that the page offers; made-up ones, if left out")
    where = parser.add_argument_group("who may ask")
    where.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="where to listen (127.0.0.1, this machine alone)")
    where.add_argument("--port", type=int, default=8000, help="the port (8000); 0 for any that is free, which the log names")
    where.add_argument(
        "--token-file", metavar="FILE", help=f"requests need the token in this file, or in the variable {TOKEN}; left out, none"
    )
    where.add_argument(
        "--allow-host", metavar="NAME", action="append",
        help="a name by which the service may be called; repeatable; left out, any, or those of this machine if only it may ask",
    )  # fmt: skip
    where.add_argument(
        "--proxy", metavar="ADDRESS", action="append", default=[],
        help="a load balancer that is believed about who asks (X-Forwarded-For); an address or a network; repeatable",
    )  # fmt: skip
    much = parser.add_argument_group("how much may be asked")
    much.add_argument("--seconds", metavar="S", type=float, default=Bounds.seconds, help="of search per question, at most (10)")
    much.add_argument("-k", metavar="N", type=int, default=Bounds.k, help="answers per question, at most (10)")
    much.add_argument("--body", metavar="BYTES", type=int, default=Bounds.body, help="of a request, at most (1000000)")
    much.add_argument("--concurrency", metavar="N", type=int, help="questions that are searched at a time; one per core")
    much.add_argument(
        "--waiting",
        metavar="N",
        type=int,
        default=Settings.waiting,
        help="questions that may wait; the next is answered 503 (64)",
    )
    much.add_argument("--rate", metavar="N", type=float, help="requests per second and address, over some time; any, if left out")
    much.add_argument(
        "--grace", metavar="S", type=float, default=30.0,
        help="seconds that answers under way have after SIGTERM or Ctrl-C (30); then they are what is known",
    )  # fmt: skip
    parser.add_argument(
        "--log-rows", action="store_true", help="log requests and refusals with the values in them, which may be personal data"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    try:
        from likely.serve.app import Application
        from likely.serve.logs import log, log_to
        from likely.serve.running import listener
        from likely.serve.running import run as run_application
    except ImportError as error:
        raise MissingExtraError((error.name or "starlette").partition(".")[0], "serve", "serve an explainer") from None
    settings = _settings(options)
    bounds = Bounds(seconds=options.seconds, k=options.k, body=options.body)
    sock = listener(options.host, options.port)
    explainer = _explainer(options).set_params(n_jobs=1, progress=False).remembering()
    title = options.title or Path(options.explainer).resolve().name
    service = Service(explainer, title, bounds, _examples(options.examples))
    log_to()
    if settings.token is None and not _this_machine(options.host):
        log("anyone who can reach this address may ask: set a token", level=30)
    run_application(Application(service, settings), sock, grace=options.grace, proxies=",".join(options.proxy))
    return Code.ANSWER


def _explainer(options: argparse.Namespace) -> Explainer:
    """The explainer; a service loads a pickle only if it is told that it may."""
    named = [options.model or source_of(options.explainer).get("model", ""), options.encoder or ""]
    pickles = [name for name in named if Path(name).suffix.lower() in PICKLES]
    if pickles and not options.allow_pickle:
        raise ExplainerError(
            "The model of a service", "be a file that holds no code", pickles[0],
            "fit the explainer with the model as .onnx, .json, .ubj, .txt or .cbm; or --allow-pickle, if you made the file",
        )  # fmt: skip
    return open_explainer(options)


def _settings(options: argparse.Namespace) -> Settings:
    hosts = options.allow_host or (_LOCAL if _this_machine(options.host) else None)
    return Settings(
        token=_token(options.token_file),
        hosts=None if hosts is None else tuple(name.lower() for name in hosts),
        concurrency=thread_count(options.concurrency, RequestError),
        waiting=options.waiting,
        rate=options.rate,
        log_rows=options.log_rows,
    )


def _token(file: str | None) -> str | None:
    if file is not None:
        return read_file(file, "A token's file").strip()
    return os.environ.get(TOKEN)


def _this_machine(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _examples(file: str | None) -> list[dict[str, Any]] | None:
    if file is None:
        return None
    try:
        rows = json.loads(read_file(file, "A file of examples"))
    except json.JSONDecodeError as error:
        raise RequestError("A file of examples", "be JSON", f"{file}: {error}", "write a list of rows") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise RequestError("A file of examples", "be a list of rows", file, "write a list of objects of names and values")
    return rows
