"""Our numbers beside the paper's: what is better, within its spread, and beyond, and why."""

from __future__ import annotations

import pandas as pd
import pytest

from likely.bench import beside
from likely.bench.beside import CHANGED, DISTANCE, ON_NETWORKS, Beside
from likely.bench.brief import _promised
from likely.bench.paper import Figure
from likely.bench.verdicts import Checked, promise
from tests.bench.test_tables import line

PAPER = Figure(10.0, 2.0)


def found(mean: float, median: float, paper: Figure = PAPER) -> Beside:
    return Beside("adult", "lice-median", DISTANCE, mean, median, paper)


def test_the_worse_one_of_mean_and_median_counts() -> None:
    assert found(10.0, 9.0).verdict == "better"
    assert found(9.0, 10.5).verdict == "within"
    assert found(12.0, 3.0).verdict == "within"
    assert found(12.1, 3.0).verdict == "beyond"
    assert found(10.1, 3.0, Figure(10.0)).verdict == "beyond"  # a number without a spread
    more = Beside("asia", "mio", ON_NETWORKS[0], -11.0, -9.0, Figure(-10.0, 2.0))
    assert more.verdict == "within"
    assert more.told() == "-11.0, -9.00; paper -10.0 ± 2.00: within"


def test_what_is_counted() -> None:
    told = beside.counted([found(9.0, 9.0), found(11.0, 9.0), Beside("gmsc", "mio", CHANGED, 9.0, 9.0, Figure(2.0, 1.0))])
    assert told.startswith("of 3 numbers, 1 are no worse than the paper's mean, 1 within its standard deviation, 1")
    assert told.endswith("1 beyond (mio on gmsc, changed features)")


@pytest.fixture
def measures() -> pd.DataFrame:
    """Adult by five methods: as the paper measured, or so that something is beyond."""
    rows = [
        line(name, place, nll=nll, distance=distance, approximation_error=error, proved=proved)
        for place in range(10)
        for name, nll, distance, error, proved in (
            ("mio", 17.0, 5.0, 0.0, True),
            ("lice-median", 12.0, 10.0, 0.0, True),
            ("lice-quartile", 17.0, 6.0, 0.0, True),
            ("lice-median-milp", 12.5, 11.0, 0.5, False),
            ("face-knn", 99.0, 14.0, None, False),
        )
    ]
    return pd.DataFrame(rows)


def test_the_tables(measures: pd.DataFrame) -> None:
    besides = beside.beside_paper(measures)
    assert {(each.method, each.measure.name): each.verdict for each in besides if each.verdict == "beyond"} == {
        ("face-knn", "nll"): "beyond"
    }
    (table,) = beside.beside_tables(besides)
    assert [row[:2] for row in table.rows] == [("adult", "mio"), ("adult", "lice-median"), ("adult", "lice-quartile")]
    assert table.rows[1][2] == "12.0, 12.0; paper 12.9 ± 1.02: better"
    assert beside.demand_table(measures).rows == (
        ("adult", "lice-quartile", "1.20 times", "0.977 times"),
        ("adult", "lice-median", "2.00 times", "1.67 times"),
    )
    times = {row[1]: row[2:] for row in beside.time_table(measures).rows}
    assert times["lice-median"] == ("100.0 %", "0.0 %", "90.6 %", "0.500", "17.7")
    assert beside.error_table(measures).rows == (("adult", "0.000", "0.500 ± 0.000", "0.527 ± 0.470"),)


def test_why_numbers_differ(measures: pd.DataFrame) -> None:
    told = beside.differences(beside.beside_paper(measures), measures)
    assert told[0].startswith("**Factuals.** Ours are 10 per data set")
    assert any(each.startswith("**Quartile.**") for each in told)
    assert not any(each.startswith("**Optimize.**") for each in told)
    assert "face-knn on adult (100.0 %, paper 79.8 %)" in told[-1]
    assert len(beside.differences([each for each in beside.beside_paper(measures) if each.method == "face-knn"], measures)) == 3
    ours = measures[measures["method"] != "face-knn"]
    assert not any(each.startswith("**Rivals**") for each in beside.differences(beside.beside_paper(ours), ours))


def test_what_is_beyond_is_explained(measures: pd.DataFrame) -> None:
    told = told_of(measures.assign(distance=measures["distance"].where(measures["method"] != "lice-quartile", 20.0)))
    assert "The paper's quartile demands next to nothing: our MIO, of which nothing is demanded, has 5.00." in told
    told = told_of(measures.assign(distance=measures["distance"].where(measures["method"] != "lice-median", 40.0)))
    assert "Ours are likelier: 12.0, 12.0; paper 12.9 ± 1.02: better" in told
    unlikely = measures.assign(nll=measures["nll"].where(measures["method"] != "lice-median", 15.0))
    assert "What we computed does not say why." in told_of(unlikely)
    closer = unlikely.assign(distance=unlikely["distance"].where(unlikely["method"] != "lice-median", 9.0))
    assert "Ours are as likely as demanded, and closer: 9.00, 9.00; paper 9.74 ± 6.56: better." in told_of(closer)


def test_the_answer_held_best_may_explain_it(measures: pd.DataFrame) -> None:
    far = measures.assign(distance=measures["distance"].where(measures["method"] != "lice-median", 40.0))
    told = beside.differences(beside.beside_paper(far), far, beside.beside_paper(measures))
    assert any("the one that is held best has 10.0, 10.0; paper 9.74 ± 6.56: within." in each for each in told)


def told_of(measures: pd.DataFrame) -> str:
    return " ".join(beside.differences(beside.beside_paper(measures), measures))


def test_few_answers_say_nothing(measures: pd.DataFrame) -> None:
    assert not beside.beside_paper(measures[measures["place"] < 4])
    assert not beside.beside_tables([])
    assert not beside.time_table(measures.assign(dataset="wine")).rows


def test_open_questions_are_said(measures: pd.DataFrame) -> None:

    left = measures.assign(status=measures["status"].where(measures["place"] > 0, "none"), proved=False)
    held = promise(left)
    assert (held.questions, held.answered, held.closest, held.impossible, held.left) == (30, 27, 0, 0, 3)

    told = _promised(held, Checked(0, measures.iloc[:0]))
    assert "**3 stayed open** within the time limit" in told[0]
    assert "Of the answers, 0 are proved to be the best" in told[1]
