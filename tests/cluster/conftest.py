"""Spark is half a gigabyte, and in no environment that must not skip a test: its tests are collected where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.batch.saved import Saved, saved_in

collect_ignore = [] if find_spec("pyspark") else ["test_spark.py"]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return saved_in(tmp_path_factory.mktemp("saved"))
