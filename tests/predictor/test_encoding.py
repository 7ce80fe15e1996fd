"""ModelInputs in the user's words: a list of encodings instead of a fitted transformer."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from likely.errors import PredictorError, SchemaError
from likely.predictor import Indicator, Rank, Raw, Scaled, one_hot_of, read
from likely.predictor.encoding import encoded
from likely.predictor.reading import feed, random_rows
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed, Ordinal, Schema
from likely.schema.values import code_number
from tests.contracts.reader import Case, ReaderContract

SCHEMA = Schema(
    (
        Integer("age", 18, 90),
        Continuous("amount", 0, 1000, step=0.01),
        Categorical("job", ("clerk", "nurse", None)),
        Ordinal("school", ("none", "middle", "high")),
        Binary("owner"),
        Mixed("late", 0, 24, codes=(-9, None)),
    )
)
ENCODER = [
    Scaled("age", shift=17, scale=73),
    *one_hot_of(SCHEMA, "job"),
    Raw("amount"),
    Rank("school"),
    Raw("owner"),
    Indicator("late", -9),
    Indicator("late", None),
]


def by_hand(frame: pd.DataFrame) -> np.ndarray:
    """What `ENCODER` says, written out."""
    late = frame["late"]
    return np.stack(
        [
            (frame["age"] - 17) / 73,
            frame["job"] == "clerk",
            frame["job"] == "nurse",
            frame["job"].isna(),
            frame["amount"],
            frame["school"].map({"none": 0, "middle": 1, "high": 2}),
            frame["owner"].astype(float),
            late == -9,
            late.isna(),
        ],
        axis=1,
    ).astype(float)


def test_inputs_are_what_the_list_says():
    rows = random_rows(SCHEMA, 300)
    np.testing.assert_array_equal(feed(SCHEMA, rows, ENCODER), by_hand(SCHEMA.decode(rows)))


class TestAModelBehindAList(ReaderContract):
    @pytest.fixture
    def case(self):
        rows = random_rows(SCHEMA, 200, random_state=9)
        labels = np.where(rows[:, 0] + rows[:, 3] * 20 > 70, "good", "bad")
        model = RidgeClassifier().fit(feed(SCHEMA, rows, ENCODER), labels)
        return Case(model, SCHEMA, model.decision_function, None, model.predict, options={"encoder": ENCODER})


def test_one_hot_of():
    assert one_hot_of(SCHEMA, "school") == [Indicator("school", value) for value in ("none", "middle", "high")]
    assert one_hot_of(SCHEMA, "late") == [Indicator("late", -9), Indicator("late", None)]
    with pytest.raises(
        PredictorError, match="Feature 'age' must have a list of values to be one-hot encoded; got a numeric feature"
    ) as caught:
        one_hot_of(SCHEMA, "age")
    assert caught.value.feature == "age"


def test_an_indicator_of_a_code_is_0_for_numbers():
    wires = encoded(SCHEMA, [Indicator("late", -9)]).wires
    np.testing.assert_array_equal(wires[0].read(np.array([3.0, code_number(0), code_number(1)]), "the test"), [0, 1, 0])
    assert wires[0].column("MLP").table == (1.0, 0.0)


def test_values_may_be_numpys():
    ours, numpys = (encoded(SCHEMA, [Indicator("late", value)]).wires[0] for value in (-9, np.int64(-9)))
    assert ours == numpys
    assert encoded(SCHEMA, [Indicator("job", math.nan)]).wires[0].atoms == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("item", "match", "feature"),
    [
        (Indicator("job", "pilot"), r"An Indicator of feature 'job' must name one of its values.*it has \['clerk'", "job"),
        (Indicator("age", 30), "An Indicator of feature 'age' must name one of its values; got 30.*it has only numbers", "age"),
        (Rank("age"), "Feature 'age' must have a list of values where Rank encodes it; got a numeric feature", "age"),
        (Rank("late"), "Feature 'late' must have a list of values where Rank encodes it; got a Mixed feature", "late"),
        (Scaled("job"), "Feature 'job' must be numbers where Scaled reads it; got 'clerk'", "job"),
        ("age", "An encoder must be a transformer or a list of encodings; got 'age'.*use Raw, Scaled", None),
    ],
    ids=lambda p: str(p)[:30],
)  # fmt: skip
def test_encodings_that_cannot_be(item, match, feature):
    with pytest.raises(PredictorError, match=match) as caught:
        encoded(SCHEMA, [item])
    assert caught.value.feature == feature


def test_a_feature_that_is_not_there():
    with pytest.raises(SchemaError, match="A feature must be in the schema; got 'income'") as caught:
        encoded(SCHEMA, [Raw("income")])
    assert caught.value.feature == "income"


@pytest.mark.parametrize(("shift", "scale"), [(0, 0), (0, math.inf), (math.nan, 1)])
def test_scales_that_cannot_be(shift, scale):
    with pytest.raises(
        PredictorError, match="A Scaled of feature 'age' must have a finite shift and a finite scale other than 0"
    ):
        Scaled("age", shift, scale)


def test_text_into_a_model():
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(PredictorError, match="Feature 'job' must be numbers where LogisticRegression reads it"):
        read(model, SCHEMA, encoder=[Raw("job")])
