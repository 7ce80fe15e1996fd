"""Many rows, of which some cannot be explained: one record each, with the reason."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import likely
from likely.errors import ExplainerError, ProblemError, SchemaError
from tests.explain.examples import explainer_of, model_of, rejected, table_of


def test_one_bad_row_is_one_record() -> None:
    rows = rejected(5)
    rows.loc[rows.index[1], "housing"] = "houseboat"
    rows["income"] = rows["income"].astype(object)
    rows.loc[rows.index[3], "income"] = "much"
    answers = explainer_of().explain_many(rows)
    assert [answer.status for answer in answers] == ["optimal", "refused", "optimal", "refused", "optimal"]
    assert answers[1].reason.startswith(f"Row {rows.index[1]}: Feature 'housing' must have a known value; got 'houseboat'.")
    assert answers[3].reason.startswith(f"Row {rows.index[3]}: Feature 'income' must hold numbers; got 'much'.")
    good = rejected(5).iloc[[0, 2, 4]]
    assert [answers[0], answers[2], answers[4]] == explainer_of().explain_many(good)
    assert str(answers[1]).splitlines() == ["This row was not explained.", answers[1].reason]
    with pytest.raises(ExplainerError, match=r"got status 'refused'. Hint: the row was refused: Row \d+: Feature 'housing'"):
        _ = answers[1].best


def test_rows_that_are_as_wanted_already() -> None:
    X = table_of()[0].head(12)
    answers = explainer_of().explain_many(X, target="yes")
    wanted = model_of().predict(X) == "yes"
    assert [answer.status == "refused" for answer in answers] == wanted.tolist()
    assert wanted.any()
    assert not wanted.all()
    first = answers[int(np.argmax(wanted))]
    assert "The target must differ from the row's class; got 'yes', which the model decides already" in first.reason


def test_a_row_of_which_the_demand_makes_no_sense() -> None:
    rows = rejected(3).astype({"income": object})
    rows.loc[rows.index[1], "income"] = None
    answers = explainer_of().explain_many(rows, target="yes", plausibility=likely.AtLeastFactual())
    assert [answer.status for answer in answers] == ["optimal", "refused", "optimal"]
    assert answers[1].reason.startswith(f"Row {rows.index[1]}: A row for AtLeastFactual must be complete")
    open_target = explainer_of().explain_many(rows)
    assert "A row to explain without a target must have a value of feature 'income'" in open_target[1].reason


def test_what_is_wrong_with_all_rows_is_an_error() -> None:
    with pytest.raises(SchemaError, match=r"A row must have a value of feature 'age'; got none"):
        explainer_of().explain_many(rejected(3).drop(columns="age"))
    with pytest.raises(ProblemError, match=r"The target must be one of the model's classes; got 'perhaps'"):
        explainer_of().explain_many(rejected(3), target="perhaps")
    with pytest.raises(SchemaError, match=r"A feature must be in the schema; got 'agee'"):
        explainer_of().explain_many(rejected(3), locked=["agee"])


def test_a_refused_row_in_files_audits_and_reports(tmp_path: object) -> None:
    rows = rejected(3)
    rows.loc[rows.index[1], "housing"] = "houseboat"
    answers = explainer_of().explain_many(rows)
    assert likely.Explanation.from_json(answers[1].to_json()) == answers[1]
    counted = likely.explain.audit(answers)
    assert (counted.rows, counted.answered, counted.statuses["refused"]) == (3, 2, 1)
    assert "1 refused" in str(counted)
    likely.show.report(answers, f"{tmp_path}/page.html")
    assert likely.verify(answers[1], explainer=explainer_of())
    assert pd.isna(answers[1].query.row["housing"])
