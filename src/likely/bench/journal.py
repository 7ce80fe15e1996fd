"""A journal: a line of JSON per event, written down as it comes. Who is killed loses at most the line that was being written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any


class Journal:
    """A file of lines of JSON that grows.

    Args:
        path: The file; it is begun with the first line.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = Lock()

    def append(self, *events: dict[str, Any]) -> None:
        """Write events down; they are on the disk when it returns.

        Args:
            *events: Plain data, a line each.
        """
        text = "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in events)
        with self._lock, self.path.open("ab") as file:
            if self._torn():
                file.write(b"\n")
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def _torn(self) -> bool:
        """Whether the last line was cut off by whatever ended its writer."""
        if not self.path.exists() or not self.path.stat().st_size:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"

    def events(self) -> Iterator[dict[str, Any]]:
        """All that was written down, in order; a line that was cut off is left out."""
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if isinstance(event, dict):
                    yield event
