"""The user's model by the name of its file. A pickle may run any code: it is loaded only if somebody named it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from likely.errors import PredictorError

PICKLES = (".joblib", ".pkl", ".pickle")


def load_model(path: str | None) -> Any:
    """The model that the user named: a pickle as the object in it, any other file as its path, which is read later.

    Args:
        path: The file; None if none was named.
    """
    if path is None or Path(path).suffix.lower() not in PICKLES:
        return path
    return _unpickled(path, "A model file")


def load_encoder(path: str | None) -> Any:
    """The transformer that the user named; None if there is none.

    Args:
        path: The file; None if none was named.
    """
    return None if path is None else _unpickled(path, "An encoder file")


def _unpickled(path: str, thing: str) -> Any:
    import joblib

    if not Path(path).is_file():
        raise PredictorError(thing, "exist", path, "check the path")
    try:
        return joblib.load(path)
    except Exception as error:
        got = f"{type(error).__name__}: {' '.join(str(error).split()).rstrip('.')}"
        raise PredictorError(thing, "be one that joblib can load here", got, "install what it was made with") from error
