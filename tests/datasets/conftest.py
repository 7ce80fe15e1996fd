"""The script that builds the embedded data sets."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def build() -> ModuleType:
    """`tools/build_datasets.py`, imported."""
    path = Path(__file__).parents[2] / "tools" / "build_datasets.py"
    spec = importlib.util.spec_from_file_location("build_datasets", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
