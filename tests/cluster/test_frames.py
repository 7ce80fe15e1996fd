"""A table of rows to a table of answers, with an explainer from its folder."""

from __future__ import annotations

import pandas as pd
import polars
import pytest

import likely
from likely.cluster import explain_frame
from likely.errors import ExplainerError, SchemaError
from tests.batch.saved import Saved


def test_answers_are_those_of_explain_many(saved: Saved) -> None:
    rows = saved.rows.set_axis(range(100, 100 + len(saved.rows)))
    answers = explain_frame(rows, saved.folder, model=saved.model)
    expected = saved.explanations()
    assert answers["row"].tolist() == rows.index.tolist()
    assert answers["status"].tolist() == [explanation.status for explanation in expected]
    assert "a castle" in answers["reason"][5]
    assert pd.isna(answers["explanation"][5])
    for text, explanation in zip(answers["explanation"], expected, strict=True):
        if explanation.status != "refused":
            assert likely.Explanation.from_json(text) == explanation


def test_keys_and_kinds(saved: Saved) -> None:
    rows = saved.rows.head(6).assign(name=[f"person {i}" for i in range(6)])
    first = explain_frame(rows, saved.folder, likely.Question(k=2), model=saved.model, key="name")
    assert "row" not in first.columns
    assert list(dict.fromkeys(first["name"])) == rows["name"].tolist()
    second = explain_frame(polars.from_pandas(rows), saved.folder, model=saved.model, key="name", k=2)
    assert isinstance(second, polars.DataFrame)
    assert second["name"].to_list() == first["name"].tolist()
    assert second["sentence"].to_list() == [None if pd.isna(text) else text for text in first["sentence"]]
    assert second["new age"].dtype.is_integer()


def test_what_is_wrong_with_all_rows_is_an_error(saved: Saved) -> None:
    with pytest.raises(SchemaError, match="A row must have a value of feature 'age'; got none"):
        explain_frame(saved.rows.drop(columns="age"), saved.folder, model=saved.model)
    with pytest.raises(ExplainerError, match="The key of rows must be a column of the table; got 'id'"):
        explain_frame(saved.rows, saved.folder, model=saved.model, key="id")


def test_no_rows(saved: Saved) -> None:
    none = explain_frame(saved.rows.head(0), saved.folder, model=saved.model)
    assert len(none) == 0
    some = explain_frame(saved.rows.head(1), saved.folder, model=saved.model)
    assert none.dtypes.to_dict() == some.dtypes.to_dict()
