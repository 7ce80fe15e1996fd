"""`learn` while it runs: Ctrl-C keeps what there is, and the bar moves."""

from __future__ import annotations

import io
import logging
import math
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely._display import progress
from likely._display.progress import progress_bar
from likely.circuit import learn
from likely.circuit.learning import learn as learn_module
from likely.circuit.learning import mixture
from likely.errors import LikelyWarning
from tests.circuit.learning.learned import drawn, quiet

# -- Ctrl-C -----------------------------------------------------------------------------------------------------------

INTERRUPTED = r"^Learning was interrupted; the circuit is what was learned until then\.$"


def check_interrupted(learned: Any, X: pd.DataFrame, y: Any, nodes: int) -> None:
    assert learned.interrupted
    assert math.isnan(learned.validation)
    assert learned.circuit.check().normalised
    assert len(learned.circuit) <= nodes
    assert np.isfinite(learned.circuit.log_likelihood(X, y)).all()


@pytest.mark.parametrize("calls", [0, 1, 2, 7, 20, 40, 100])
def test_an_interrupt_of_the_core(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Wherever it comes while candidates are tried."""
    step = mixture.expect_mixture
    seen: list[int] = []

    def interrupted(*given_arrays: Any) -> Any:
        seen.append(1)
        if len(seen) == calls + 1:
            raise KeyboardInterrupt
        return step(*given_arrays)

    monkeypatch.setattr(mixture, "expect_mixture", interrupted)
    X, y = drawn(0, 200)
    with pytest.warns(LikelyWarning, match=INTERRUPTED):
        learned = quiet(X, y, nodes=40, method="mixture")
    check_interrupted(learned, X, y, 40)


def test_an_interrupt_when_the_size_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The validation is known by then, and is kept."""

    def interrupting(shown: bool, title: str) -> Any:
        bar = progress_bar(False, title)

        class Wrapped:
            def __enter__(self) -> Any:
                move = bar.__enter__()

                def stop(done: float, what: str) -> None:
                    move(done, what)
                    if done > 0.8:
                        raise KeyboardInterrupt

                return stop

            def __exit__(self, *given_error: Any) -> Any:
                return bar.__exit__(*given_error)

        return Wrapped()

    monkeypatch.setattr(learn_module, "progress_bar", interrupting)
    X, y = drawn(0, 200)
    with pytest.warns(LikelyWarning, match=INTERRUPTED):
        learned = learn(X, y, nodes=40, method="mixture", progress=True)
    assert learned.interrupted
    assert math.isfinite(learned.validation)
    assert len(learned.circuit) <= 40
    assert learned.circuit.check().normalised


# -- the bar ----------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(True, "Learning") as move:
        for done in (0.25, 0.5, 0.4, 1.0, 1.5):  # never back, never beyond the end
            move(done, f"step {done}")
    shown = screen.getvalue()
    assert "Learning" in shown
    assert "100%" in shown
    percent = [int(part.split("%")[0][-3:]) for part in shown.split("Learning")[1:]]
    assert all(a <= b for a, b in pairwise(percent))
    assert percent[-1] == 100


@pytest.mark.parametrize("shown", [True, False])
def test_no_bar_in_a_log_and_no_line_for_short_work(capsys: pytest.CaptureFixture[str], shown: bool) -> None:
    X, y = drawn(0, 50)
    learn(X, y, nodes=10, progress=shown)
    assert capsys.readouterr() == ("", "")


def long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work of a hundred seconds, by a clock that says so."""
    clock = iter([0.0, 10.0, 31.0, 40.0, 70.0, 100.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress_bar(True, "Learning") as move:
        for done, what in ((0.1, "a start"), (0.4, "trees"), (0.5, "more trees"), (0.3, "mixtures")):  # never back
            move(done, what)


LINES = ["Learning  40% after 31 s: trees", "Learning  50% after 70 s: mixtures", "Learning 100% after 100 s"]


@pytest.fixture
def logger(monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    """The logger of the package, alone: nobody listens to it unless a test does."""
    logger = logging.getLogger("likely")
    monkeypatch.setattr(logger, "propagate", False)
    before = logger.level
    yield logger
    logger.setLevel(before)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)


class Kept(logging.Handler):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


def test_long_work_leaves_a_line_now_and_then_in_a_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], logger: logging.Logger
) -> None:
    long_work(monkeypatch)
    assert capsys.readouterr().err.splitlines() == LINES


def test_the_lines_are_records_where_somebody_listens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], logger: logging.Logger
) -> None:
    kept = Kept()
    logger.addHandler(kept)
    logger.setLevel(logging.INFO)
    long_work(monkeypatch)
    assert [record.getMessage() for record in kept.records] == LINES
    assert {(record.name, record.levelno) for record in kept.records} == {("likely", logging.INFO)}
    assert capsys.readouterr() == ("", "")


def test_the_lines_go_to_the_error_stream_where_only_warnings_are_logged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], logger: logging.Logger
) -> None:
    kept = Kept()
    logger.addHandler(kept)
    logger.setLevel(logging.WARNING)
    long_work(monkeypatch)
    assert kept.records == []
    assert capsys.readouterr().err.splitlines() == LINES


def test_work_that_fails_is_not_called_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], logger: logging.Logger
) -> None:
    clock = iter([0.0, 31.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))

    def failing() -> None:
        with progress_bar(True, "Learning") as move:
            move(0.4, "trees")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert capsys.readouterr().err.splitlines() == LINES[:1]


def test_no_bar_on_a_terminal_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(False, "Learning") as move:
        move(0.5, "half")
    assert screen.getvalue() == ""


def test_the_bar_says_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    X, y = drawn(0, 200)
    learn(X, y, nodes=30, method="mixture")
    shown = screen.getvalue()
    assert "30 nodes" in shown
    assert "100%" in shown
