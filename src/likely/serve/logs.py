"""Structured logs: one JSON object per line, without values of rows, addresses or messages of errors, which may hold them."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

LOGGER = logging.getLogger("likely.serve")
#: The loggers of the server below; what they say may name addresses and values.
_OTHERS = ("uvicorn", "uvicorn.error", "asyncio")


class JsonLines(logging.Formatter):
    """A record as a line of JSON; of an exception its class and where it was raised, of others' records where they were made."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        ours = record.name == LOGGER.name
        event = record.getMessage() if ours else f"{record.name}: {record.filename}:{record.lineno}"
        data = {"time": time, "level": record.levelname.lower(), "event": event, **getattr(record, "data", {})}
        if record.exc_info and record.exc_info[1] is not None:
            data |= raised(record.exc_info[1])
        return json.dumps(data, ensure_ascii=True, default=str)


def raised(error: BaseException) -> dict[str, Any]:
    """The class of an error, and the lines where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return {"error": type(error).__name__, "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]}


def log(event: str, level: int = logging.INFO, **data: Any) -> None:
    """Write a line.

    Args:
        event: What happened; one of few.
        level: How bad that is.
        data: Numbers and words that are nobody's data.
    """
    LOGGER.log(level, event, extra={"data": data})


def log_to(stream: TextIO = sys.stderr) -> None:
    """Send the lines of the service, and warnings of the server below, to a stream.

    Args:
        stream: Where to.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    for name, level in ((LOGGER.name, logging.INFO), *((name, logging.WARNING) for name in _OTHERS)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
