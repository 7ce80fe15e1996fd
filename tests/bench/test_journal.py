"""Journals: what was written is there, whatever ended the writer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.bench.journal import Journal

WRITER = """
import sys
from likely.bench.journal import Journal
journal = Journal(sys.argv[1])
for place in range(10**9):
    journal.append({"place": place})
    print(place, flush=True)
"""


def test_events_come_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert list(journal.events()) == []
    journal.append({"a": 1, "name": "größer"}, {"b": [1.5, float("inf")]})
    journal.append({"c": None})
    assert list(journal.events()) == [{"a": 1, "name": "größer"}, {"b": [1.5, float("inf")]}, {"c": None}]


@given(cut=st.integers(0, 200))
def test_a_line_that_was_cut_off_is_left_out(cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("cut") / "journal.jsonl"
    events = [{"place": place, "text": "ä" * place} for place in range(5)]
    journal = Journal(path)
    journal.append(*events)
    path.write_bytes(path.read_bytes()[:cut])
    kept = list(journal.events())
    assert kept == events[: len(kept)]
    journal.append({"next": True})
    assert list(journal.events()) == [*kept, {"next": True}]


def test_many_threads(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    threads = [threading.Thread(target=lambda n=n: journal.append({"n": n})) for n in range(20)]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(event["n"] for event in journal.events()) == list(range(20))


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_who_is_killed_loses_nothing_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(20)]
        os.kill(writer.pid, signal.SIGKILL)
    kept = [event["place"] for event in Journal(path).events()]
    assert kept[: len(said)] == said
    assert kept == list(range(len(kept)))
