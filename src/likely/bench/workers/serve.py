"""The other end of a worker: runs in an interpreter of its own, which needs neither likely nor anything but its adapter.

    python serve.py ADAPTER.py

The adapter is a file with two functions: `fit(task)` returns anything, and `generate(fitted, question)` returns a dict with
"rows", and perhaps "proved". Lines of JSON come in, one line of JSON goes out for each: see `likely.bench.worker`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from typing import Any


def load(path: str) -> Any:
    """The adapter at a path, as a module.

    Args:
        path: Of a Python file.
    """
    spec = importlib.util.spec_from_file_location("adapter", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answered(adapter: Any, fitted: Any, message: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What is fitted after a message, and the reply to it.

    Args:
        adapter: It has `fit` and `generate`.
        fitted: What `fit` returned before.
        message: The "task" to fit, or the "question" to answer.
    """
    if "task" in message:
        return adapter.fit(message["task"]), {"ok": True}
    clock = time.perf_counter()
    reply = adapter.generate(fitted, message["question"])
    return fitted, {"seconds": time.perf_counter() - clock, "proved": False, **reply}


def main() -> None:
    """Answer line by line, until there is no more."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what packages print is no reply
    adapter, fitted = None, None
    for line in sys.stdin:
        try:
            adapter = adapter or load(sys.argv[1])
            fitted, reply = answered(adapter, fitted, json.loads(line))
        except Exception as error:  # whatever it is, who asked is told
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
