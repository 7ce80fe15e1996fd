"""Adult: who earned more than 50,000 dollars in the American census of 1994.

The rows and columns are the paper's. Five columns are left out; of the rows with an unknown work class or occupation,
those of the original's test part are left out, and those of its training part kept, with the value "Unknown" ("?" in the
original): so did the paper, whose 47,876 rows these are.
"""

from __future__ import annotations

import pandas as pd

from likely.datasets.dataset import Dataset, read_embedded
from likely.schema import Implies, Schema
from likely.schema.conditions import increases

#: the columns of the original files, in their order
RAW_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex",
    "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
#: columns that the paper leaves out
DROPPED = ("fnlwgt", "education-num", "capital-gain", "capital-loss", "native-country")
UNKNOWN = "Unknown"
CATEGORICAL = ("workclass", "marital-status", "occupation", "relationship", "race", "sex")
#: the degrees in rank order, which is that of the column `education-num`
EDUCATION = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc",
    "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip

SOURCE = "Barry Becker and Ronny Kohavi (1996), Adult, UCI Machine Learning Repository, https://doi.org/10.24432/C5XW20"


def load() -> Dataset:
    """The paper's 47,876 rows and 9 features."""
    ranked = pd.CategoricalDtype(list(EDUCATION), ordered=True)
    table = read_embedded("adult", {**dict.fromkeys(CATEGORICAL, "category"), "education": ranked})
    y = table.pop("income")
    schema = Schema.infer(
        table,
        immutable=["race", "sex"],
        increasing=["age", "education"],
        rules=[Implies((increases("education"),), (increases("age"),))],
    )
    return Dataset("adult", table, y, schema, SOURCE, "CC BY 4.0")
