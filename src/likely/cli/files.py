"""Files that commands read and write."""

from __future__ import annotations

import sys
from pathlib import Path

from likely._files import read_text, write_text
from likely.errors import ExplainerError
from likely.explain import Explanation


def read_file(path: str, thing: str) -> str:
    """The text of a file; "-" is the standard input."""
    if path == "-":
        return _standard_input()
    file = Path(path)
    if not file.is_file():
        raise ExplainerError(thing, "exist", path, "check the path")
    try:
        return read_text(file)
    except ValueError as error:
        raise ExplainerError(thing, "be UTF-8 text", f"{file.name}: {error}", "save it as UTF-8") from None


def _standard_input() -> str:
    """All of it, as UTF-8, whatever the terminal has."""
    raw = getattr(sys.stdin, "buffer", None)
    if raw is None:
        return sys.stdin.read()
    try:
        text: str = raw.read().decode("utf-8-sig")
    except ValueError as error:
        raise ExplainerError("The standard input", "be UTF-8 text", error, "save it as UTF-8") from None
    return text


def write_file(path: str, text: str) -> None:
    """Write a text; the folder must be there."""
    if not Path(path).parent.is_dir():
        raise ExplainerError("A file to write", "be in a folder that exists", path, "make the folder first")
    write_text(path, text)


def read_explanation(path: str) -> Explanation:
    """The explanation in a JSON file."""
    return Explanation.from_json(read_file(path, "An explanation's file"))
