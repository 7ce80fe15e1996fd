"""German Credit: who was a good customer of a bank in the 1970s.

The original file has neither column names nor readable values, only codes: `A93` in its ninth column is "male, single".
The names here are ours, short enough for a sentence; the values are the words of the original codebook, shortened.
"""

from __future__ import annotations

import pandas as pd

from likely.datasets.dataset import Dataset, read_embedded
from likely.schema import Implies, Schema
from likely.schema.conditions import increases

SOURCE = "Hans Hofmann (1994), Statlog (German Credit Data), UCI Machine Learning Repository, https://doi.org/10.24432/C5NC77"

#: our name -> the paper's name, in the order of the original file, the class last
COLUMNS = {
    "checking_account": "Status of existing checking account",
    "duration": "Duration",
    "credit_history": "Credit history",
    "purpose": "Purpose",
    "amount": "Credit amount",
    "savings": "Savings account/bonds",
    "employment": "Present employment since",
    "installment_rate": "Installment rate in percentage of disposable income",
    "personal_status": "Personal status and sex",
    "other_debtors": "Other debtors / guarantors",
    "residence": "Present residence since",
    "property": "Property",
    "age": "Age",
    "other_plans": "Other installment plans",
    "housing": "Housing",
    "existing_credits": "Number of existing credits at this bank",
    "job": "Job",
    "dependents": "Number of people being liable to provide maintenance for",
    "telephone": "Telephone",
    "foreign_worker": "foreign worker",
    "class": "class",
}

#: column -> code of the original file -> value, for the codes that occur (A47, a holiday, and A95, a single woman, do not)
CODEBOOK = {
    "checking_account": {
        "A11": "below 0 DM",
        "A12": "0 to 199 DM",
        "A13": "200 DM or more, or salary for a year",
        "A14": "none",
    },
    "credit_history": {
        "A30": "no credits, or all paid back",
        "A31": "all credits at this bank paid back",
        "A32": "existing credits paid back so far",
        "A33": "paid late in the past",
        "A34": "critical account, or credits elsewhere",
    },
    "purpose": {
        "A40": "new car",
        "A41": "used car",
        "A42": "furniture or equipment",
        "A43": "radio or television",
        "A44": "domestic appliances",
        "A45": "repairs",
        "A46": "education",
        "A48": "retraining",
        "A49": "business",
        "A410": "other",
    },
    "savings": {
        "A61": "below 100 DM",
        "A62": "100 to 499 DM",
        "A63": "500 to 999 DM",
        "A64": "1000 DM or more",
        "A65": "unknown or none",
    },
    "employment": {
        "A71": "unemployed",
        "A72": "less than 1 year",
        "A73": "1 to 3 years",
        "A74": "4 to 6 years",
        "A75": "7 years or more",
    },
    "personal_status": {
        "A91": "male, divorced or separated",
        "A92": "female, divorced, separated or married",
        "A93": "male, single",
        "A94": "male, married or widowed",
    },
    "other_debtors": {"A101": "none", "A102": "co-applicant", "A103": "guarantor"},
    "property": {
        "A121": "real estate",
        "A122": "savings agreement or life insurance",
        "A123": "car or other",
        "A124": "unknown or none",
    },
    "other_plans": {"A141": "bank", "A142": "stores", "A143": "none"},
    "housing": {"A151": "rent", "A152": "own", "A153": "for free"},
    "job": {
        "A171": "unemployed, or unskilled and non-resident",
        "A172": "unskilled, resident",
        "A173": "skilled employee or official",
        "A174": "manager, self-employed or highly qualified",
    },
    "telephone": {"A191": "no", "A192": "yes"},
    "foreign_worker": {"A201": "yes", "A202": "no"},
    "class": {"1": "good", "2": "bad"},
}
#: columns whose values have a rank, which is that of their codes
ORDINAL = ("employment",)


def _dtype(name: str) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(list(CODEBOOK[name].values()), ordered=name in ORDINAL)


def load() -> Dataset:
    """All 1,000 rows and 20 features."""
    table = read_embedded("credit", {name: _dtype(name) for name in CODEBOOK if name != "class"})
    y = table.pop("class")
    schema = Schema.infer(
        table,
        immutable=["dependents", "personal_status", "foreign_worker"],
        increasing=["age"],
        rules=[
            Implies((increases("residence"),), (increases("age"),)),
            Implies((increases("employment"),), (increases("age"),)),
        ],
    )
    return Dataset("credit", table, y, schema, SOURCE, "CC BY 4.0")
