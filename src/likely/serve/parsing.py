"""The bytes of a request as JSON: only what JSON has, and only texts that can be written again."""

from __future__ import annotations

import json
import math
from typing import Any

from likely.errors import RequestError

_HINT = "send one JSON value in UTF-8"


def parsed(body: bytes) -> Any:
    """The value in the body of a request; refuses NaN, numbers that are no doubles, and what is no Unicode.

    Args:
        body: The bytes.
    """
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_number, parse_float=_number)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # half a surrogate pair cannot be sent back
    except RecursionError:
        raise RequestError("A request", "be JSON that is not nested so deep", "hundreds of levels", _HINT) from None
    except ValueError as error:
        if isinstance(error, RequestError):
            raise
        said = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise RequestError("A request", "be JSON", said, _HINT) from None
    return value


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise RequestError("A number of a request", "be one that a double can hold", text[:20], _HINT)
    return number


def _no_number(text: str) -> None:
    raise RequestError("A number of a request", "be one that JSON has", text, "write null if it is unknown")
