"""A Dask cluster of two processes, one of which is killed half way: the answers are those of one machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import likely
from likely.cluster import explain_frame
from likely.errors import SchemaError
from tests.batch.saved import Saved
from tests.cluster.dying import on_one_machine, rows_until

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as known,
    ):
        yield known


def test_a_batch_of_which_a_worker_dies(client: Any, saved: Saved, tmp_path: Path) -> None:
    from likely.cluster import dask

    def kill() -> None:
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    output = tmp_path / "a.jsonl"
    rows = rows_until(saved, 20, kill)
    likely.batch.run(saved.folder, rows, output, model=saved.model, chunk=2, workers=dask.workers(client), progress=False)
    assert output.read_bytes() == on_one_machine(saved, tmp_path)


def test_a_table_of_dask(client: Any, saved: Saved) -> None:
    from dask import dataframe

    from likely.cluster import dask

    table = dataframe.from_pandas(saved.rows.head(12), npartitions=3)
    made = dask.explain(table, saved.folder, model=saved.model)
    expected = explain_frame(saved.rows.head(12), saved.folder, model=saved.model)
    assert made.dtypes.to_dict() == expected.dtypes.to_dict()
    pd.testing.assert_frame_equal(made.compute().reset_index(drop=True), expected)
    with pytest.raises(SchemaError, match="A row must have a value of feature 'age'; got none"):
        dask.explain(table.drop(columns="age"), saved.folder, model=saved.model)
