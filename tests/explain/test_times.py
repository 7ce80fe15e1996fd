"""Moments, durations and intervals from the table to the answer, against every row that there is."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import likely
from likely.cli import main
from likely.errors import PredictorError, SchemaError, UnsupportedModelError
from likely.predictor import read
from likely.predictor.reading import random_rows
from likely.schema import Schema


def parts(X: pd.DataFrame) -> pd.DataFrame:
    cells = X.iloc[:, 0]
    return pd.DataFrame({"hour": cells.dt.hour, "weekend": cells.dt.day_of_week >= 5})


def days(X: pd.DataFrame) -> pd.DataFrame:
    return (X - pd.Timestamp("2024-01-01")).apply(lambda column: column.dt.total_seconds() / 86_400)


def hours(column: pd.Series[Any]) -> pd.DataFrame:
    return (column / pd.Timedelta("1h")).to_frame()


def table(n: int = 200) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    random = np.random.default_rng(1)
    at = pd.Series(pd.Timestamp("2024-03-01") + pd.to_timedelta(random.integers(0, 40, n) * 6, unit="h"))
    waited = pd.Series(pd.to_timedelta(random.integers(0, 9, n), unit="h"))
    size = pd.cut(random.normal(50, 10, n), [0, 40, 50, 60, 100])
    X = pd.DataFrame({"at": at, "waited": waited, "size": size})
    wanted = (at.dt.hour >= 12) + 2.0 * (at.dt.day_of_week >= 5) + waited / pd.Timedelta("4h") + 0.7 * X["size"].cat.codes
    return X, np.where(wanted + random.normal(0, 0.2, n) > 3.2, "yes", "no")


def trees(X: pd.DataFrame, y: Any) -> Any:
    before = make_column_transformer(
        (FunctionTransformer(parts), ["at"]), (FunctionTransformer(hours), "waited"), (OneHotEncoder(), ["size"])
    )
    return make_pipeline(before, GradientBoostingClassifier(n_estimators=15, random_state=0)).fit(X, y)


def line(X: pd.DataFrame, y: Any) -> Any:
    scaled = make_pipeline(FunctionTransformer(days), StandardScaler())
    before = make_column_transformer((scaled, ["at"]), (FunctionTransformer(hours), "waited"), (OneHotEncoder(), ["size"]))
    return make_pipeline(before, LogisticRegression()).fit(X, y)


def every_row(schema: Schema) -> np.ndarray[Any, Any]:
    values = [np.arange(feature.lower, feature.upper + 1) for feature in schema.features]
    return np.array(list(itertools.product(*values)))


@pytest.mark.parametrize("fit", [trees, line])
def test_answers_are_the_best_of_all_rows(fit: Any) -> None:
    X, y = table()
    model = fit(X, y)
    schema = Schema.infer(X)
    assert [schema["at"].unit, schema["waited"].unit] == ["6 hours", "hours"]
    rows = every_row(schema)
    said = model.predict(schema.decode(rows))
    explainer = likely.Explainer(model, schema, nodes=5, progress=False).fit(X, y)
    for factual in X[model.predict(X) == "no"].iloc[:6].to_dict("records"):
        explanation = explainer.explain(factual, plausibility=None, rounding=0, gap=0)
        costs = schema.prices(schema.encode_row(factual), rows[said == "yes"])
        assert explanation.status == "optimal"
        assert explanation.counterfactuals[0].cost == pytest.approx(costs.min(), rel=1e-9)


def test_the_unit_makes_no_difference() -> None:
    X, y = table()
    model = trees(X, y)
    factual = X[model.predict(X) == "no"].iloc[0]
    quarters = likely.AllowedValues("at", [str(moment) for moment in X["at"].unique()])
    answers = []
    for unit in ("6 hours", "hours", "minutes"):
        schema = Schema.infer(X, features={"at": {"unit": unit}}, rules=[quarters])
        explainer = likely.Explainer(model, schema, nodes=5, progress=False).fit(X, y)
        answers.append(explainer.explain(factual, plausibility=None, gap=0).counterfactuals[0])
    assert all(answer.row.equals(answers[0].row) for answer in answers)
    assert [answer.cost for answer in answers] == pytest.approx([answers[0].cost] * len(answers), rel=1e-9)
    with pytest.raises(UnsupportedModelError, match="Feature 'at' must have at most 200000 times"):
        read(model, Schema.infer(X, features={"at": {"unit": "microseconds"}}))


@pytest.mark.parametrize("unit", ["6 hours", "seconds", "microseconds"])
def test_numbers_far_from_zero_are_exact(unit: str) -> None:
    """Some 1.7e15 microseconds since 1970: the earliest moment that two rules allow, and what it costs."""
    X, y = table()
    model = make_pipeline(make_column_transformer((FunctionTransformer(hours), "waited")), LogisticRegression()).fit(X, y)
    X = X.assign(until=X["at"] + pd.Timedelta("2D"))
    apart = {"days": 1 / 4, "seconds": 1 / 21_600, "microseconds": 1 / 21_600_000_000}.get(unit, 1.0)
    rules = [likely.LinearConstraint({"at": -1, "until": 1}, upper=8 / apart), likely.Range("until", lower="2024-03-09 12:00")]
    both = {"at": {"unit": unit}, "until": {"unit": unit}}
    schema = Schema.infer(X, features=both, rules=rules, immutable=["size"])
    explainer = likely.Explainer(model, schema, nodes=5, progress=False).fit(X, y)
    early = X[(model.predict(X) == "no") & (X["at"] < pd.Timestamp("2024-03-04"))].iloc[0]
    answer = explainer.explain(early, plausibility=None, unread="free", rounding=0, gap=0).counterfactuals[0]
    assert answer.row["until"] == pd.Timestamp("2024-03-09 12:00")
    assert answer.row["at"] == pd.Timestamp("2024-03-07 12:00")


@pytest.mark.parametrize("unit", ["6 hours", "minutes"])
def test_lines_are_read_exactly(unit: str) -> None:
    X, y = table()
    model = line(X, y)
    schema = Schema.infer(X, features={"at": {"unit": unit}})
    form = read(model, schema)
    rows = random_rows(schema, 300)
    np.testing.assert_allclose(form.score(rows)[:, 0], model.decision_function(schema.decode(rows)), rtol=1e-12, atol=1e-12)


def test_a_row_outside_of_what_was_asked() -> None:
    X, y = table()
    model = trees(X, y)
    schema = Schema.infer(X)
    explainer = likely.Explainer(model, schema, nodes=5, progress=False).fit(X, y)
    later = {**X[model.predict(X) == "no"].iloc[0], "at": pd.Timestamp("2024-06-01 06:00")}
    with (
        pytest.warns(likely.LikelyWarning, match="2024-06-01 06:00, outside 2024-03-01 00:00 to"),
        pytest.raises(SchemaError, match=r"Feature 'at' of a row must lie within .*, for which the model was read"),
    ):
        explainer.explain(later)
    straight = likely.Explainer(line(X, y), schema, nodes=5, progress=False).fit(X, y)
    with pytest.warns(likely.LikelyWarning, match="its domain was widened"):
        assert straight.explain(later, plausibility=None)  # a line goes on


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: X.apply(lambda c: (c - c.min()).dt.days), "Feature 'at' must be read cell by cell"),
        (lambda X: X.apply(lambda c: c.dt.day_name()), "Feature 'at' must be made numbers; got dtype"),
    ],
)
def test_functions_that_are_refused(function: Any, message: str) -> None:
    X, y = table()
    before = make_column_transformer((FunctionTransformer(function), ["at"]))
    coded = make_column_transformer((OneHotEncoder(), [0]))
    steps = [before, coded] if "numbers" in message else [before]
    with pytest.raises(PredictorError, match=message):
        read(make_pipeline(*steps, GradientBoostingClassifier(n_estimators=3)).fit(X, y), Schema.infer(X))


def test_times_where_numbers_are_needed() -> None:
    X, y = table()
    model = make_pipeline(make_column_transformer((StandardScaler(), ["at"])), LogisticRegression()).fit(X, y)
    with pytest.raises(PredictorError, match="Feature 'at' must be a number where StandardScaler reads it; got a date or time"):
        read(model, Schema.infer(X))


def test_files_and_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = table()
    model = trees(X, y)
    schema = Schema.infer(X, rules=[likely.Range("at", lower="2024-03-02"), likely.MaxChange("waited", up="3 hours")])
    explainer = likely.Explainer(model, schema, nodes=5, progress=False).fit(X, y)
    no = X[model.predict(X) == "no"]
    explanation = explainer.explain(no.iloc[0], k=2)
    for answer in explanation.counterfactuals:
        assert answer.row["at"] >= pd.Timestamp("2024-03-02")
        assert isinstance(answer.row["size"], pd.Interval)
        assert model.predict(answer.row.to_frame().T.astype(X.dtypes.to_dict()))[0] == "yes"
    assert likely.Explanation.from_dict(json.loads(json.dumps(explanation.to_dict()))) == explanation
    assert likely.verify(explanation, model, explainer.circuit_)
    explainer.save(tmp_path / "explainer")
    again = likely.Explainer.load(tmp_path / "explainer", model)
    assert again.explain(no.iloc[0], k=2) == explanation
    X.to_csv(tmp_path / "data.csv", index=False)
    schema.save(tmp_path / "schema.yaml")
    assert main(["schema", "check", str(tmp_path / "schema.yaml"), str(tmp_path / "data.csv")]) == 1  # some are before the 2nd
    assert "rows break the rule: 'at' must be at least '2024-03-02'" in capsys.readouterr().out
