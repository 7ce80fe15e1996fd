"""What a batch has finished, written beside its output: where to go on after it was killed, and what rows took.

The first line says what the answers depend on, then there is a line per task. A task counts as finished with its line here: what
the output has beyond it is taken away when the batch goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from likely.errors import ExplainerError

SUFFIX = ".journal"


class Journal:
    """The journal of an output, open for more.

    Args:
        output: The file or folder of the answers.
        identity: What the answers depend on; a journal with another one is refused.
    """

    def __init__(self, output: Path, identity: Mapping[str, Any]) -> None:
        self.path = output.with_name(output.name + SUFFIX)
        if not output.parent.is_dir():
            raise ExplainerError("A file to write", "be in a folder that exists", str(output), "make the folder first")
        if output.exists() and not self.path.exists():
            raise _other(output)
        self._file: BinaryIO = self.path.open("ab+")
        try:
            _lock(self._file, output)
            #: The hash of the cells of each finished task, in order.
            self.cells: list[str] = []
            #: What the output had when the last one was finished.
            self.state: dict[str, Any] | None = None
            self.statuses: Counter[str] = Counter()
            self.finished = False
            self._read(identity, output)
        except BaseException:
            self._file.close()
            raise

    def _read(self, identity: Mapping[str, Any], output: Path) -> None:
        """What was finished; a last line that was cut off is taken away."""
        self._file.seek(0)
        whole, plain = 0, json.loads(json.dumps(identity))
        for number, line in enumerate(self._file):
            data = _object(line)
            if data is None:
                if number == 0 and line.endswith(b"\n"):
                    raise _other(output)
                break
            whole += len(line)
            if number == 0 and data != {"batch": plain}:
                raise _other(output)
            if number > 0:
                self._count(data)
        self._file.truncate(whole)
        if not whole:
            self._write({"batch": plain})

    def _count(self, data: Mapping[str, Any]) -> None:
        if "cells" in data:
            self.cells.append(data["cells"])
            self.statuses.update(data["statuses"])
        self.state = data["output"]
        self.finished = data.get("finished", False)

    def add(self, cells: str, statuses: Mapping[str, int], seconds: tuple[float, ...], state: Mapping[str, Any]) -> None:
        """A task is finished: its line is on the disk when it returns.

        Args:
            cells: The hash of its cells.
            statuses: status -> how many of its rows have it.
            seconds: What each of its rows took.
            state: What the output has now.
        """
        self._note({"cells": cells, "statuses": dict(statuses), "output": dict(state), "seconds": list(seconds)})

    def end(self, state: Mapping[str, Any]) -> None:
        """There are no more rows.

        Args:
            state: What the output has now.
        """
        self._note({"finished": True, "output": dict(state)})

    def _note(self, data: dict[str, Any]) -> None:
        self._count(data)
        self._write(data)

    def _write(self, data: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(data, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let others write."""
        self._file.close()


def _object(line: bytes) -> dict[str, Any] | None:
    """What a whole line says; None for one that was cut off, or is none of a journal."""
    with contextlib.suppress(ValueError):
        data = json.loads(line) if line.endswith(b"\n") else None
        return data if isinstance(data, dict) else None
    return None


def _lock(file: BinaryIO, output: Path) -> None:
    """Refuse to be the second one that writes; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ExplainerError(
            "A batch", "be the only one that writes its output", f"{output}, which another process writes", "wait until it ends"
        ) from None


def _other(output: Path) -> ExplainerError:
    return ExplainerError(
        "A batch that goes on", "have the question, the rows and the explainer of the file, and its journal", str(output),
        "choose another output",
    )  # fmt: skip
