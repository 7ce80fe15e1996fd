"""Give Me Some Credit, from a copy that the user has."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import likely
from likely.datasets import gmsc
from likely.errors import DatasetError, LikelyWarning

HEADER = (
    ',SeriousDlqin2yrs,RevolvingUtilizationOfUnsecuredLines,age,NumberOfTime30-59DaysPastDueNotWorse,DebtRatio,MonthlyIncome,'
    'NumberOfOpenCreditLinesAndLoans,NumberOfTimes90DaysLate,NumberRealEstateLoansOrLines,NumberOfTime60-89DaysPastDueNotWorse,'
    'NumberOfDependents'
)  # fmt: skip
ROWS = """
1,1,0.766126609,45,2,0.802982129,9120,13,0,6,0,2
2,0,0.957151019,40,0,0.121876201,2600,4,0,0,0,1
3,0,0.65818014,38,1,0.085113375,NA,2,1,0,0,0
4,0,0.233809776,30,0,0.036049682,3300,5,0,0,0,NA
5,0,1,49,1,0.024925695,63588,7,0,1,0,0
6,0,0.99,49,1,2,3000,7,0,1,0,0
7,0,0.99,49,98,0.5,3000,7,0,1,0,0
8,0,0.99,109,9,1.99,49999,39,9,9,9,9
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    path = tmp_path / "cs-training.csv"
    path.write_text(HEADER + ROWS)
    return path


@pytest.fixture(autouse=True)
def _no_copy_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(gmsc.VARIABLE, raising=False)


def test_keeps_complete_rows_below_the_limits(copy: Path) -> None:
    with pytest.warns(LikelyWarning, match=r"^The copy of data set 'gmsc' has 3 rows after cleaning, not the paper's 113,595; "):
        data = likely.datasets.load("gmsc", copy)
    assert list(data.X.index) == [1, 2, 8]
    assert list(data.X.columns) == HEADER.split(",")[2:]
    assert data.y.to_dict() == {1: 1, 2: 0, 8: 0}
    assert data.X.loc[1].tolist() == [0.766126609, 45, 2, 0.802982129, 9120, 13, 0, 6, 0, 2]
    assert set(data.X.select_dtypes("float64")) == {"RevolvingUtilizationOfUnsecuredLines", "DebtRatio"}
    assert set(data.schema.constraints) == {likely.Immutable("NumberOfDependents"), likely.Increasing("age")}


@pytest.mark.parametrize("column", [name for name in gmsc.BELOW if name != "age"])
def test_each_limit_is_excluded(column: str, copy: Path) -> None:
    table = pd.read_csv(copy, index_col=0)
    table.loc[8, column] = gmsc.BELOW[column]
    table.to_csv(copy)
    with pytest.warns(LikelyWarning, match=r"has 2 rows"):
        assert 8 not in likely.datasets.load("gmsc", copy).X.index


def test_without_row_numbers_rows_are_counted(copy: Path) -> None:
    pd.read_csv(copy, index_col=0).to_csv(copy, index=False)
    with pytest.warns(LikelyWarning, match=r"has 3 rows"):
        assert list(likely.datasets.load("gmsc", str(copy)).X.index) == [0, 1, 7]


def test_environment_variable(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKELY_GMSC", str(copy))
    with pytest.warns(LikelyWarning, match=r"has 3 rows"):
        assert len(likely.datasets.load("gmsc").X) == 3


def test_says_where_to_get_it() -> None:
    said = (
        r"^Data set 'gmsc' must be read from a copy of your own; got no path\. Hint: get cs-training\.csv from https://\S+ and "
        r"name it: load\('gmsc', path='cs-training\.csv'\), or in the environment variable LIKELY_GMSC\.$"
    )
    with pytest.raises(DatasetError, match=said):
        likely.datasets.load("gmsc")


def test_refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"^A copy of data set 'gmsc' must be a file; got .*no\.csv\. Hint: get cs-training"):
        likely.datasets.load("gmsc", tmp_path / "no.csv")


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (HEADER.replace(",age", ",years") + ROWS, "no column 'age'"),
        (HEADER + ROWS.replace("9120", "lots"), "could not convert string to float"),
        ("", "No columns to parse from file"),
    ],
)
def test_refuses_another_file(content: str, got: str, copy: Path) -> None:
    copy.write_text(content)
    said = rf"^A copy of data set 'gmsc' must be CSV like Kaggle's cs-training\.csv; got {got}.* in cs-training\.csv\. Hint: get"
    with pytest.raises(DatasetError, match=said):
        likely.datasets.load("gmsc", copy)


def test_refuses_a_broken_archive(tmp_path: Path) -> None:
    path = tmp_path / "cs-training.csv.gz"
    path.write_text("not compressed")
    with pytest.raises(DatasetError, match=r"must be CSV like Kaggle's cs-training\.csv; got Not a gzipped file"):
        likely.datasets.load("gmsc", path)


def test_refuses_a_fraction_of_a_count(copy: Path) -> None:
    copy.write_text(HEADER + ROWS.replace(",45,", ",45.5,"))
    with pytest.raises(
        DatasetError, match=r"^Column 'age' of data set 'gmsc' must hold whole numbers; got a fraction\. Hint:"
    ) as caught:
        likely.datasets.load("gmsc", copy)
    assert caught.value.feature == "age"
