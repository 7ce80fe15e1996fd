"""Methods that need an environment of their own: another interpreter answers, line by line.

Some packages want another Python, or other versions of numpy and pandas than ours. Such a method is an *adapter*: a file with
`fit(task)` and `generate(fitted, question)`, which the interpreter of that environment runs (`workers/serve.py`; nothing of
likely is needed there). Each message is a line of JSON, and so is each reply.

`{"task": {...}}` has `columns` (for each its name, `weight`, `low`, `high`, whether it is `whole`, and its one-hot `group`), the
training `rows` over these columns, their `classes` by number, as the model decides, `seed`, and of a forest `trees`, `base` and
`least`: nodes `[column, threshold, strict, left, right]` and leaves `[value]`; class 1 is reached where base + sum >= least,
class 0 where it is <= -least. The reply is `{"ok": true}`.

`{"question": {...}}` has `row`, `low` and `high` (what each column may be), `target`, `k` and `seconds`. The reply has `rows`,
best first, over the same columns, and may have `proved`. A reply `{"error": "..."}` is raised here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import numpy as np

from likely.bench.method import Asked, Generated
from likely.bench.methods.rival import Question, Rival
from likely.bench.wide import Columns, forest_of
from likely.errors import ExplainerError
from likely.schema.values import Numbers

FOLDER = Path(__file__).parent / "workers"
#: How long `fit` may take, and how much longer than its limit an answer, in seconds.
FIT_SECONDS, GRACE = 1800.0, 10.0


class Worker(Rival):
    """A method whose adapter runs in another interpreter. It gets the rules about one feature, as ends of columns.

    Args:
        name: What tables call it.
        package: What the adapter imports.
        python: The interpreter; left out, what the variable LIKELY_PYTHON_<PACKAGE> says, or this one if it has the package.
        adapter: Its file; left out, `workers/with_<package>.py`.
    """

    def __init__(self, name: str, package: str, python: str | Path | None = None, adapter: str | Path | None = None) -> None:
        self.name = name
        variable = f"LIKELY_PYTHON_{package.upper()}"
        chosen = python or os.environ.get(variable) or (sys.executable if find_spec(package) else None)
        if chosen is None:
            raise ExplainerError(
                f"Method {name!r}", f"have an interpreter with the package {package!r}", "none",
                f"install it into an environment, and set {variable} to its python",
            )  # fmt: skip
        self._command = [str(chosen), str(FOLDER / "serve.py"), str(adapter or FOLDER / f"with_{package}.py")]
        self._process: subprocess.Popen[str] | None = None
        self._said_proved, self._said_rows = False, 0

    def prepare(self) -> None:
        """Tell the worker everything that it may know."""
        known = self.known
        self.columns = Columns(known.data.schema)
        self._task = {
            "columns": self.columns.described(),
            "rows": [self.columns.expanded(row) for row in known.rows],
            "classes": known.decided.tolist(),
            "seed": known.data.seed,
            **forest_of(known.form, self.columns),
        }
        self._begin()

    def _begin(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # those are our packages
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, encoding="utf-8"
        )
        self._replies: Queue[str] = Queue()
        threading.Thread(target=_read, args=(self._process, self._replies), daemon=True).start()
        weakref.finalize(self, _end, self._process)
        self._asked({"task": self._task}, FIT_SECONDS)

    def _asked(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The reply to a message; a worker that does not answer in time is ended."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._replies.get(timeout=seconds)
        except (Empty, BrokenPipeError):
            line = ""
        if not line:
            _end(self._process)
            self._process = None
            raise ExplainerError(
                f"The worker of {self.name!r}", f"answer within {seconds:.0f} s", "nothing", "see what it printed"
            )
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise ExplainerError(f"The worker of {self.name!r}", "answer", reply["error"], "correct the adapter")
        return reply

    def generate(self, asked: Asked) -> Generated:
        """What the worker answers; a worker that was ended begins anew.

        Args:
            asked: The row to explain, and what is wanted.
        """
        if self._process is None:
            self._begin()
        found = super().generate(asked)
        dropped = self._said_rows and not len(found.rows)  # of another class by the model's own margin: no proof of anything
        return Generated(found.rows, found.seconds, self._said_proved and not dropped)

    def search(self, question: Question) -> Numbers:
        """The rows of the worker.

        Args:
            question: What is asked.
        """
        low, high = self._ends(question)
        message = {
            "row": self.columns.expanded(question.row), "low": low, "high": high, "target": question.target,
            "k": question.asked.k, "seconds": question.asked.seconds,
        }  # fmt: skip
        reply = self._asked({"question": message}, question.asked.seconds + GRACE)
        rows = np.array([self.columns.contracted(row) for row in reply["rows"]]).reshape(-1, len(question.row))
        self._said_proved, self._said_rows = bool(reply.get("proved")), len(rows)
        return rows

    def _ends(self, question: Question) -> tuple[list[float], list[float]]:
        """What each column may be: the box of the question, in the numbers of the features."""
        ends = [end.copy() for end in question.box]
        for part, number in zip(self.known.encoding.parts, question.row, strict=True):
            if part.number is not None:
                for end in ends:
                    at = part.low + part.span * end[part.number]
                    end[part.number] = number if abs(at - number) < 1e-9 * part.span else at  # to the last bit
        return ends[0].tolist(), ends[1].tolist()


def _read(process: subprocess.Popen[str], replies: Queue[str]) -> None:
    """Every line, and an empty one at the end."""
    assert process.stdout is not None
    for line in process.stdout:
        replies.put(line)
    replies.put("")


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()
