"""Every argument of every public function is explained, in Google's style."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

ROOMS = ("likely.explain", "likely.show")


def functions(room: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions of a room, and the public methods of its classes that are its own."""
    module = import_module(room)
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            for method, value in vars(thing).items():
                function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}", function


def parameters(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


@pytest.mark.parametrize("room", ROOMS)
def test_every_argument_is_explained(room: str) -> None:
    checked = 0
    for name, function in functions(room):
        text = inspect.getdoc(function) or ""
        explained = re.findall(r"^    (\w+): \S", text.partition("Args:\n")[2].partition("\n\n")[0], re.MULTILINE)
        assert explained == parameters(function), f"{room}.{name}"
        checked += len(explained)
    assert checked > 10


def test_what_a_constructor_takes_is_explained() -> None:
    from likely.explain import Explainer, Question

    for made in (Explainer, Question):
        explained = re.findall(r"^    (\w+): \S", (inspect.getdoc(made) or "").partition("Args:\n")[2], re.MULTILINE)
        assert explained == parameters(made)
