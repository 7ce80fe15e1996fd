"""Spark on this machine, with two processes of Python, one of which is killed: the answers are those of one machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from likely.cluster import explain_frame, frames
from likely.cluster import spark as engine
from likely.errors import ExplainerError
from tests.batch.saved import Saved

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    made = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").getOrCreate()
    yield made
    made.stop()


class Dying(frames.Frames):
    """Kills the first process that sees a mark, and takes the mark away."""

    def __call__(self, frame: Any) -> Any:
        mark = Path(self.folder) / "mark"
        if mark.exists():
            mark.unlink(missing_ok=True)
            os._exit(9)
        return super().__call__(frame)


def test_a_table_of_spark_of_which_a_worker_dies(session: Any, saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = saved.rows.head(12).assign(id=range(12))
    table = session.createDataFrame(rows).repartition(3)
    monkeypatch.setattr(engine, "Frames", Dying)
    (saved.folder / "mark").write_text("")
    made = engine.explain(table, saved.folder, model=saved.model, key="id").toPandas().sort_values("id", ignore_index=True)
    assert not (saved.folder / "mark").exists()
    expected = explain_frame(rows, saved.folder, model=saved.model, key="id")
    assert list(made.columns) == list(expected.columns)
    for name in expected:
        assert [None if pd.isna(x) else x for x in made[name]] == [None if pd.isna(x) else x for x in expected[name]]
    with pytest.raises(ExplainerError, match="The key of rows must be a column of the table; got 'name'"):
        engine.explain(table, saved.folder, model=saved.model, key="name")
