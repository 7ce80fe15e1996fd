"""A Ray cluster of two processes, which are killed half way: the answers are those of one machine."""

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
from likely.cluster import ray as engine
from tests.batch.saved import Saved
from tests.cluster.dying import on_one_machine, rows_until

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hired() -> Iterator[Any]:
    yield engine.workers(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.shutdown()


def test_a_batch_of_which_workers_die(hired: Any, saved: Saved, tmp_path: Path) -> None:
    def number() -> int:
        return os.getpid()

    workers = set(ray.get([ray.remote(number).remote() for _ in range(8)]))

    def kill() -> None:
        for process in workers:  # one at least is at work
            os.kill(process, signal.SIGKILL)

    output = tmp_path / "a.jsonl"
    rows = rows_until(saved, 20, kill)
    likely.batch.run(saved.folder, rows, output, model=saved.model, chunk=2, workers=hired, progress=False)
    assert output.read_bytes() == on_one_machine(saved, tmp_path)


@pytest.mark.usefixtures("hired")
def test_a_dataset_of_ray(saved: Saved) -> None:
    rows = saved.rows.head(12).assign(id=range(12))
    dataset = ray.data.from_pandas(rows).repartition(3)
    made = engine.explain(dataset, saved.folder, model=saved.model, key="id").to_pandas().sort_values("id", ignore_index=True)
    expected = explain_frame(rows, saved.folder, model=saved.model, key="id")
    assert list(made.columns) == list(expected.columns)
    for name in expected:
        assert [None if pd.isna(x) else x for x in made[name]] == [None if pd.isna(x) else x for x in expected[name]]
