"""The answers of a batch, as commands read them."""

from __future__ import annotations

from likely.batch import Entry, read

__all__ = ["Entry", "read_entries"]


def read_entries(path: str) -> list[Entry]:
    """The rows of a file of JSON lines or a folder of Parquet, in order; what was cut off is left out."""
    return sorted(read(path), key=lambda entry: entry.row)
