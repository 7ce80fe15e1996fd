"""The methods of the benchmark by name: what makes each, and nothing is imported before it is made."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from likely.bench.method import Method


def _made(module: str, make: str, *settings: Any, **named: Any) -> Callable[[], Method]:
    """What makes a method: a name in a module of this folder, called with settings."""

    def factory() -> Method:
        method: Method = getattr(import_module(f"likely.bench.methods.{module}"), make)(*settings, **named)
        return method

    return factory


def _lice(name: str, variant: str | None, **settings: Any) -> Callable[[], Method]:
    """A variant of LiCE by the name of its plausibility."""

    def factory() -> Method:
        from likely.bench.methods import lice

        method: Method = lice.Lice(name, None if variant is None else getattr(lice, variant), **settings)
        return method

    return factory


#: name -> what makes the method, without anything learned yet
METHODS: dict[str, Callable[[], Method]] = {
    "lice-median": _lice("lice-median", "MEDIAN"),
    "lice-quartile": _lice("lice-quartile", "QUARTILE"),
    "lice-sample": _lice("lice-sample", "SAMPLE"),
    "lice-optimize": _made("lice", "optimize", "lice-optimize", 0.1),
    "lice-optimize-1": _made("lice", "optimize", "lice-optimize-1", 1.0),
    "mio": _lice("mio", None),
    "mio-likeliest": _lice("mio-likeliest", None, likeliest=True),
    "lice-median-milp": _lice("lice-median-milp", "MEDIAN", engine="mio"),
    "nearest-row": _made("nearest_row", "NearestRow"),
    "nice-sparse": _made("nice", "Nice", "sparse"),
    "nice-proximity": _made("nice", "Nice", "proximity"),
    "growing-spheres": _made("growing_spheres", "GrowingSpheres"),
    "face-knn": _made("face", "Face", "knn"),
    "face-epsilon": _made("face", "Face", "epsilon"),
}
