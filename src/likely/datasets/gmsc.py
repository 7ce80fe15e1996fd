"""Give Me Some Credit: who was 90 days late within two years, from a copy of Kaggle's `cs-training.csv`.

The competition's data may not be passed on, so the package does not have them. Rows with missing cells and, as in the
paper, rows with very large values are left out; the paper's 113,595 rows stay.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from likely.datasets.dataset import ROW_NUMBER, Dataset
from likely.errors import DatasetError, LikelyWarning
from likely.schema import Schema

#: The environment variable that names a copy of the file.
VARIABLE = "LIKELY_GMSC"
ADDRESS = "https://www.kaggle.com/c/GiveMeSomeCredit/data"
SOURCE = f"Credit Fusion and Will Cukierski (2011), Give Me Some Credit, Kaggle, {ADDRESS}"
LICENCE = "the rules of the Kaggle competition"

TARGET = "SeriousDlqin2yrs"
#: the features in the order of the original; a row stays if its value is below this
BELOW = {
    "RevolvingUtilizationOfUnsecuredLines": 1.0,
    "age": float("inf"),
    "NumberOfTime30-59DaysPastDueNotWorse": 10.0,
    "DebtRatio": 2.0,
    "MonthlyIncome": 50000.0,
    "NumberOfOpenCreditLinesAndLoans": 40.0,
    "NumberOfTimes90DaysLate": 10.0,
    "NumberRealEstateLoansOrLines": 10.0,
    "NumberOfTime60-89DaysPastDueNotWorse": 10.0,
    "NumberOfDependents": 10.0,
}
FRACTIONS = ("RevolvingUtilizationOfUnsecuredLines", "DebtRatio")
ROWS = 113_595


def load(path: str | Path | None = None) -> Dataset:
    """The paper's 113,595 rows and 10 features, from the file at `path` or the one that LIKELY_GMSC names."""
    table = _whole_numbers(_cleaned(_read(_file(path))))
    if len(table) != ROWS:
        warnings.warn(
            f"The copy of data set 'gmsc' has {len(table):,} rows after cleaning, not the paper's {ROWS:,}; "
            "what you measure on it does not compare with the paper.",
            LikelyWarning,
            stacklevel=3,
        )
    y = table.pop(TARGET)
    schema = Schema.infer(table, immutable=["NumberOfDependents"], increasing=["age"])
    return Dataset("gmsc", table, y, schema, SOURCE, LICENCE)


def _file(path: str | Path | None) -> Path:
    given = path if path is not None else os.environ.get(VARIABLE)
    if not given:
        raise DatasetError(
            "Data set 'gmsc'", "be read from a copy of your own", "no path",
            f"get cs-training.csv from {ADDRESS} and name it: load('gmsc', path='cs-training.csv'), "
            f"or in the environment variable {VARIABLE}",
        )  # fmt: skip
    if not Path(given).is_file():
        raise DatasetError("A copy of data set 'gmsc'", "be a file", str(given), f"get cs-training.csv from {ADDRESS}")
    return Path(given)


def _read(file: Path) -> pd.DataFrame:
    """The columns of the competition's file, as floats, with the file's own row numbers where it has them."""
    columns = [*BELOW, TARGET]
    header = list(_csv(file, nrows=0).columns)
    missing = [name for name in columns if name not in header]
    if missing:
        raise _unlike(file, f"no column {missing[0]!r}")
    table = _csv(file, dtype=dict.fromkeys(columns, "float64"))
    if header[0] not in columns:
        table = table.set_index(header[0])
    return table[columns].rename_axis(ROW_NUMBER)


def _csv(file: Path, **options: Any) -> pd.DataFrame:
    try:
        table: pd.DataFrame = pd.read_csv(file, **options)
    except (ValueError, OSError, EOFError) as error:
        raise _unlike(file, " ".join(str(error).split())) from None
    return table


def _unlike(file: Path, got: str) -> DatasetError:
    return DatasetError(
        "A copy of data set 'gmsc'", "be CSV like Kaggle's cs-training.csv", f"{got} in {file.name}", f"get it from {ADDRESS}"
    )


def _cleaned(table: pd.DataFrame) -> pd.DataFrame:
    known = table.dropna()
    return known[(known[list(BELOW)] < pd.Series(BELOW)).all(axis="columns")]


def _whole_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """The table with whole numbers as such: missing cells made floats of them."""
    names = table.columns.difference(list(FRACTIONS))
    odd = names[(table[names] % 1 != 0).any()]
    if len(odd):
        raise DatasetError(
            f"Column {odd[0]!r} of data set 'gmsc'", "hold whole numbers", "a fraction", f"get the original from {ADDRESS}",
            feature=odd[0],
        )  # fmt: skip
    return table.astype(dict.fromkeys(names, "int64"))
