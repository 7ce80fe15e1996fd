"""The methods of the benchmark by name: what makes each, and nothing is imported before it is made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from likely.bench.method import Method


def _make(module: str, make: str, *settings: Any) -> Method:
    """A method by what makes it: a name in a module of this folder, called with settings."""
    method: Method = getattr(import_module(f"likely.bench.methods.{module}"), make)(*settings)
    return method


#: name -> module, what makes the method, and settings
_HOW: dict[str, tuple[Any, ...]] = {
    "lice-median": ("lice", "median"),
    "lice-quartile": ("lice", "quartile"),
    "lice-sample": ("lice", "sample"),
    "lice-optimize": ("lice", "optimize", "lice-optimize", 0.1),
    "lice-optimize-1": ("lice", "optimize", "lice-optimize-1", 1.0),
    "mio": ("lice", "mio"),
    "mio-likeliest": ("lice", "mio_likeliest"),
    "lice-median-milp": ("paper_programme", "PaperProgramme"),
    "nearest-row": ("nearest_row", "NearestRow"),
    "nice-sparse": ("nice", "Nice", "sparse"),
    "nice-proximity": ("nice", "Nice", "proximity"),
    "growing-spheres": ("growing_spheres", "GrowingSpheres"),
    "face-knn": ("face", "Face", "knn"),
    "face-epsilon": ("face", "Face", "epsilon"),
    "wachter": ("wachter", "Wachter"),
    "vae": ("vae", "Vae"),
    "c-chvae": ("cchvae", "Cchvae"),
    "proplace": ("proplace", "Proplace"),
    "dace": ("dace", "Dace"),
    "place": ("place", "Place"),
    "dice-gradient": ("dice", "Dice", "gradient"),
    "dice-random": ("dice", "Dice", "random"),
    "dice-genetic": ("dice", "Dice", "genetic"),
    "ppcef": ("ppcef", "Ppcef"),
    "ceflow": ("ceflow", "CeFlow"),
    "treecf": ("forests", "treecf"),
    "ocean": ("forests", "ocean"),
}

#: name -> what makes the method, without anything learned yet
METHODS: dict[str, Callable[[], Method]] = {
    name: partial(_make, module, make, *settings) for name, (module, make, *settings) in _HOW.items()
}
