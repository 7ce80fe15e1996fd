"""Rows that come while a worker dies, and what one machine says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

import likely
from tests.batch.saved import Saved
from tests.explain import examples


def rows_until(saved: Saved, count: int, kill: Callable[[], None]) -> Iterator[pd.DataFrame]:
    """The rows in small tables; after some of them, while others are under way, something happens."""
    for start in range(0, len(saved.rows), 2):
        if start == count:
            kill()
        yield saved.rows.iloc[start : start + 2]


def on_one_machine(saved: Saved, folder: Path) -> bytes:
    output = folder / "one.jsonl"
    likely.batch.run(examples.explainer_of(), saved.rows, output, progress=False)
    return output.read_bytes()
