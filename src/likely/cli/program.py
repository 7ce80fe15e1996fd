"""`main`: the command `likely`."""

from __future__ import annotations

import argparse
import io
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import likely
from likely.cli import audit, batch, bench, bench_paper, demo, explain, fit, schema, serve, verify
from likely.cli.codes import LEGEND, Code
from likely.errors import LikelyError, LikelyWarning


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    options = _parser().parse_args(_joined(sys.argv[1:] if arguments is None else arguments))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show an arrow shows a question mark
            stream.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", LikelyWarning)
            warnings.showwarning = _show_warning
            code: int = options.run(options)
        return code
    except LikelyError as error:
        print(f"likely: {error}", file=sys.stderr)
        return Code.USAGE
    except KeyboardInterrupt:
        print("likely: interrupted", file=sys.stderr)
        return Code.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away; it does not want a traceback
        return Code.ANSWER
    except OSError as error:
        print(f"likely: {error}", file=sys.stderr)
        return Code.USAGE


def _joined(arguments: Sequence[str]) -> list[str]:
    """The words of a command line, `bench paper` as the one command that it is; a folder of that name is `./paper`."""
    words = list(arguments)
    return [bench_paper.NAME, *words[2:]] if words[:2] == bench_paper.NAME.split() else words


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """Ours in one line; those of others are for who writes programs, not for who runs one."""
    if issubclass(category, LikelyWarning):
        print(f"likely: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="likely",
        description="The closest, most plausible row that your model would have decided otherwise - with a proof.",
        epilog=LEGEND,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"likely {likely.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for room in (demo, fit, explain, batch, audit, verify, serve, bench, bench_paper, schema):
        room.add(commands)
    return parser
