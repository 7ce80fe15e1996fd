"""Rows without end: `run` explains a table of any length, `read` gives the answers back one by one."""

from likely.batch.entries import Entry, read
from likely.batch.running import Summary, run

__all__ = ["Entry", "Summary", "read", "run"]
