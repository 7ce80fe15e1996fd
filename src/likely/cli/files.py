"""Files that commands read and write."""

from __future__ import annotations

import sys
from pathlib import Path

from likely.errors import ExplainerError
from likely.explain import Explanation


def read_file(path: str, thing: str) -> str:
    """The text of a file; "-" is the standard input."""
    if path == "-":
        return sys.stdin.read()
    file = Path(path)
    if not file.is_file():
        raise ExplainerError(thing, "exist", path, "check the path")
    try:
        return file.read_text(encoding="utf-8")
    except ValueError as error:
        raise ExplainerError(thing, "be UTF-8 text", f"{file.name}: {error}", "save it as UTF-8") from None


def write_file(path: str, text: str) -> None:
    """Write a text; the folder must be there."""
    if not Path(path).parent.is_dir():
        raise ExplainerError("A file to write", "be in a folder that exists", path, "make the folder first")
    Path(path).write_text(text, encoding="utf-8")


def read_explanation(path: str) -> Explanation:
    """The explanation in a JSON file."""
    return Explanation.from_json(read_file(path, "An explanation's file"))
