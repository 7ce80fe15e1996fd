"""Files that are whole or not there: what is killed while it writes leaves the file of before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when all is written.

    Args:
        path: Where it will be; a device is written as it is.
    """
    place = Path(path).resolve()
    if place.exists() and not place.is_file():
        with place.open("wb") as device:
            yield device
        return
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield file
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text as UTF-8, with the line ends that it has, on every system.

    Args:
        path: The file.
        text: All of it.
    """
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def read_text(path: str | Path) -> str:
    """A text in UTF-8, with the mark that some editors put before it taken away and line ends as they are.

    Args:
        path: The file.
    """
    return Path(path).read_bytes().decode("utf-8-sig")
