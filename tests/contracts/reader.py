"""What every reader of models promises, as one test class.

Subclass `ReaderContract` and parametrise `case` with `Case`s: a fitted model, its schema, and what the model itself
says of a table, asked through the model's own public methods.
"""

from __future__ import annotations

import json
import math
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import Form, form_from_dict, read
from likely.predictor.composite import trees_of
from likely.predictor.reading import feed, random_rows
from likely.schema import Schema

ROWS = 2000


@dataclass
class Case:
    """A model and what it says: each of the callables takes what the model takes."""

    model: Any
    schema: Schema
    scores: Callable[[Any], Any] | None = None
    probabilities: Callable[[Any], Any] | None = None
    predict: Callable[[Any], Any] | None = None
    #: agreement of scores and probabilities, relative and absolute; 1e-5 for models that work in float32
    tolerance: float = 1e-9
    #: rows whose decision hangs on less than this are not compared (rounding of a float32 model)
    tie: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)


class ReaderContract:
    """Form and model agree on thousands of rows of the schema, at split thresholds too."""

    @pytest.fixture
    def form(self, case: Case) -> Form:
        return read(case.model, case.schema, **case.options)

    @pytest.fixture
    def rows(self, case: Case, form: Form) -> np.ndarray:
        rows = random_rows(case.schema, ROWS, random_state=1)
        return np.concatenate([rows, rows_at_thresholds(case.schema, form)])

    def agree(self, case: Case, ours: np.ndarray, theirs: Any) -> None:
        theirs = np.asarray(theirs, dtype=float).reshape(len(ours), -1)
        np.testing.assert_allclose(ours, theirs, rtol=case.tolerance, atol=case.tolerance)

    def test_scores(self, case: Case, form: Form, rows: np.ndarray) -> None:
        if case.scores is None:
            assert case.probabilities is not None or not form.link.classifies  # compared there instead
            return
        self.agree(case, form.score(rows), case.scores(ask(case, rows)))

    def test_probabilities(self, case: Case, form: Form, rows: np.ndarray) -> None:
        if case.probabilities is None:
            assert not form.link.has_probabilities or not form.link.classifies
            return
        probabilities = form.probabilities(rows)
        self.agree(case, probabilities, case.probabilities(ask(case, rows)))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-5)

    def test_predictions(self, case: Case, form: Form, rows: np.ndarray) -> None:
        assert case.predict is not None
        ours, theirs = form.predict(rows), np.asarray(case.predict(ask(case, rows))).reshape(-1)
        if not form.link.classifies:
            self.agree(case, ours[:, None], theirs)
            return
        clear = margins(form, rows) >= case.tie
        assert clear.mean() > 0.9
        assert (ours[clear] == theirs[clear]).all()

    def test_json_keeps_everything(self, form: Form, rows: np.ndarray) -> None:
        again = form_from_dict(json.loads(json.dumps(form.to_dict(), allow_nan=False)))
        assert again == form
        np.testing.assert_array_equal(again.score(rows[:100]), form.score(rows[:100]))

    def test_pickle_keeps_everything(self, form: Form, rows: np.ndarray) -> None:
        form.score(rows[:1])
        again = pickle.loads(pickle.dumps(form))
        np.testing.assert_array_equal(again.score(rows[:100]), form.score(rows[:100]))

    def test_threads_do_not_matter(self, form: Form, rows: np.ndarray) -> None:
        many = np.concatenate([rows] * 4)
        np.testing.assert_array_equal(form.score(many, n_jobs=1), form.score(many, n_jobs=3))


class Refusals:
    """Ways to say that a model is refused: because it does not fit, or because its kind has no reader."""

    schema: Schema

    def refuses(self, model: Any, message: str, schema: Schema | None = None) -> None:
        with pytest.raises(PredictorError, match=message):
            read(model, schema or self.schema)

    def refuses_kind(self, model: Any, message: str, schema: Schema | None = None) -> None:
        with pytest.raises(UnsupportedModelError, match=message):
            read(model, schema or self.schema)


def ask(case: Case, rows: np.ndarray) -> Any:
    """Rows as the model takes them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return feed(case.schema, rows, case.options.get("encoder"))


def margins(form: Form, rows: np.ndarray) -> np.ndarray:
    """By how much each row's class wins."""
    scores = form.score(rows)
    if not form.link.one_score_per_class:
        return np.abs(scores[:, 0])
    ordered = np.sort(scores, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def rows_at_thresholds(schema: Schema, form: Form, most: int = 400) -> np.ndarray:
    """Rows with one value exactly at, just below and just above a split, where the feature's dtype can hold it."""
    trees = trees_of(form)
    if not trees:
        return np.empty((0, len(schema)))
    candidates = []
    random = np.random.default_rng(2)
    base = random_rows(schema, most, random_state=3)
    tests = np.concatenate([each.nodes[each.nodes["feature"] >= 0] for each in trees])
    for i, node in enumerate(tests[random.permutation(len(tests))[:most]]):
        j = int(node["feature"])
        feature = schema.features[j]
        for end in (node["low"], node["high"]):
            if not feature.numeric or not getattr(feature, "lower", math.inf) <= end <= getattr(feature, "upper", -math.inf):
                continue
            near = np.array(
                [end, np.nextafter(end, np.inf), np.nextafter(end, -np.inf), np.float32(end), np.floor(end), np.ceil(end)]
            )
            for value in near[feature.fits(near)]:
                row = base[i].copy()
                row[j] = value
                candidates.append(row)
    if not candidates:
        return np.empty((0, len(schema)))
    frame = schema.decode(np.array(candidates))
    return schema.encode(frame)


def mixed_table(count: int = 300, seed: int = 0) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """A small table with every kind of column, a label of two classes and one of three."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": random.integers(18, 80, count),
            "amount": np.round(random.lognormal(7, 1, count), 2),
            "rate": random.uniform(-1, 1, count),
            "job": random.choice(["clerk", "farmer", "nurse", "pilot"], count),
            "school": random.choice(["none", "middle", "high"], count),
            "owner": random.choice([True, False], count),
        }
    )
    signal = table["age"] / 20 + np.log(table["amount"]) + 2 * table["rate"] + 2 * (table["job"] == "pilot") + table["owner"]
    signal = signal + random.normal(0, 0.5, count)
    two = pd.Series(np.where(signal > signal.median(), "good", "bad"), name="class")
    three = pd.Series(np.array(["low", "mid", "top"])[np.digitize(signal, signal.quantile([0.33, 0.66]))], name="class")
    return table, two, three


def mixed_schema(table: pd.DataFrame) -> Schema:
    """The schema of `mixed_table`."""
    return Schema.infer(table, features={"school": {"kind": "ordinal", "values": ["none", "middle", "high"]}})
