"""Wires: values on their way into a model, exactly; where a split's decision flips; what a linear model may read."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from likely.errors import PredictorError
from likely.predictor import Column, ModelInputs, Step, Wire
from likely.predictor.wires import FLOAT32, raw_wire
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed, Ordinal, Schema
from likely.schema.values import LARGEST, code_number

FACTORS = st.floats(1e-6, 1e6) | st.floats(-1e6, -1e-6)
SHIFTS = st.floats(-1e6, 1e6)
STEPS = st.one_of(
    st.sampled_from([Step("float16"), FLOAT32, Step("float64")]),
    st.builds(Step, st.sampled_from(["add", "subtract", "at_least", "at_most"]), SHIFTS),
    st.builds(Step, st.sampled_from(["multiply", "divide"]), FACTORS),
)


def wire_of(steps: list[Step]) -> Wire:
    return Wire(0, "x", True, ()).then(*steps, by="the test")


# -- cut ------------------------------------------------------------------------------------------------------------------


@given(st.lists(STEPS, max_size=5), st.floats(-1e9, 1e9), st.booleans(), st.booleans())
@example([Step("divide", -3.0), FLOAT32], 0.1, True, False)
@example([Step("at_least", 0.0), Step("at_most", 1.0)], 1.0, False, False)
@example([Step("multiply", -1.0)], 0.0, True, False)
@example([], -0.0, True, False)
def test_the_cut_is_exactly_the_last_number_that_passes(steps, x, strict, met):
    """Its neighbour does not pass: nothing lies between the two, so a tree splits as the model does."""
    wire = wire_of(steps)
    threshold = float(wire.apply(np.array([x]))[0]) if met else x  # one that a number meets, or any
    end = float(wire.cut(np.array([threshold]), strict=strict)[0])

    def passes(number: float) -> bool:
        read = float(wire.apply(np.array([number]))[0])
        return read < threshold if strict else read <= threshold

    inward, outward = (-math.inf, math.inf) if wire.rising else (math.inf, -math.inf)
    if end == inward:
        assert not passes(math.copysign(LARGEST, inward))
    elif abs(end) == LARGEST:
        assert passes(end)
        assert math.copysign(1, end) == math.copysign(1, outward)
    else:
        assert passes(end)
        assert passes(math.nextafter(end, inward))
        assert not passes(math.nextafter(end, outward))


@given(st.lists(STEPS, max_size=4), st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20), st.booleans())
def test_cuts_do_not_depend_on_each_other(steps, thresholds, strict):
    wire = wire_of(steps)
    together = wire.cut(np.array(thresholds), strict=strict)
    alone = [wire.cut(np.array([t]), strict=strict)[0] for t in thresholds]
    np.testing.assert_array_equal(together, alone)


def test_cuts_where_all_or_none_pass():
    rising, falling = wire_of([Step("at_most", 5.0)]), wire_of([Step("multiply", -1.0), Step("at_most", 5.0)])
    assert rising.cut(np.array([5.0, 6.0, 4.0])).tolist() == [LARGEST, LARGEST, 4.0]
    assert falling.cut(np.array([5.0, 4.0])).tolist() == [-LARGEST, -4.0]
    assert wire_of([Step("at_least", 1.0)]).cut(np.array([0.5])).tolist() == [-math.inf]
    assert wire_of([Step("multiply", -1.0), Step("at_least", 1.0)]).cut(np.array([0.5])).tolist() == [math.inf]
    assert wire_of([]).cut(np.array([math.nan])).tolist() == [-math.inf]


def test_a_single_goes_where_its_double_does_not():
    wire = wire_of([FLOAT32])
    (end,) = wire.cut(np.array([float(np.float32(0.1))]))
    assert end > float(np.float32(0.1))  # doubles that round down to the threshold pass
    assert np.float32(end) == np.float32(0.1)
    assert np.float32(math.nextafter(end, 1)) > np.float32(0.1)


# -- steps ----------------------------------------------------------------------------------------------------------------


@given(STEPS, st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5), st.sampled_from(["float16", "float32", "float64"]))
def test_steps_are_what_numpy_does_in_place(step, numbers, dtype):
    with np.errstate(over="ignore"):
        array = np.array(numbers).astype(dtype)
        expected = array.copy()
        if step.op in ("float16", "float32", "float64"):
            expected = expected.astype(step.op)
        else:
            names = {"at_least": "maximum", "at_most": "minimum"}
            getattr(np, names.get(step.op, step.op))(expected, np.array([step.value]), out=expected, casting="same_kind")
    got = step.apply(array)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_fill():
    np.testing.assert_array_equal(Step("fill", 2.0).apply(np.array([1.0, math.nan])), [1.0, 2.0])


@given(st.lists(STEPS, max_size=5), st.floats(-1e5, 1e5))
def test_atoms_and_constants_take_the_same_steps_as_numbers(steps, x):
    wire = Wire(0, "x", True, (x, None), constant=x).then(*steps, by="the test")
    assert wire.atoms[0] == wire.constant == float(wire_of(steps).apply(np.array([x]))[0])
    assert not steps or math.isnan(wire.atoms[1])
    assert wire.apply(np.array([7.0])).tolist() == [wire.constant]


# -- raw wires ------------------------------------------------------------------------------------------------------------

RAW = [
    (Continuous("x", 0, 1), (), (), "float64"),
    (Continuous("x", 0, 1, dtype="float32"), (), (FLOAT32,), "float32"),
    (Continuous("x", 0, 1, dtype="Float32"), (), (FLOAT32,), "Float32"),
    (Continuous("x", 0, 1, dtype="float16"), (), (Step("float16"),), "float16"),
    (Integer("x", 0, 9), (), (), "int64"),
    (Integer("x", 0, 9, dtype="int16"), (), (), "int16"),
    (Mixed("x", 0, 9, codes=(-9,), dtype="int64"), (-9,), (), "int64"),
    (Categorical("x", ("a", "b"), dtype="category"), ("a", "b"), (), "category"),
    (Ordinal("x", ("a", "b")), ("a", "b"), (), "object"),
    (Binary("x", dtype="bool"), (False, True), (), "bool"),
    (Integer("x", 0, 9, dtype="date"), (), (), "date"),
]


@pytest.mark.parametrize(("feature", "atoms", "steps", "dtype"), RAW, ids=lambda p: str(p)[:40])
def test_raw_wires(feature, atoms, steps, dtype):
    wire = raw_wire(3, feature)
    assert (wire.feature, wire.name, wire.numeric) == (3, "x", feature.numeric)
    assert (wire.atoms, wire.steps, wire.dtype, wire.constant) == (atoms, steps, dtype, None)


def test_raw_wires_of_missing_values():
    """NaN, unless the model is given None and the column holds that."""
    held = Categorical("x", ("a", None), dtype="object")
    text = Categorical("x", ("a", None), dtype="category")
    assert raw_wire(0, held, none=True).atoms == ("a", None)
    for wire in (raw_wire(0, held), raw_wire(0, text, none=True), raw_wire(0, Mixed("x", 0, 1, codes=("a", None)))):
        assert math.isnan(wire.atoms[1])


def test_reading_every_kind_of_double():
    mixed = Wire(0, "x", True, (5.0, None)).then(Step("multiply", 2.0), by="the test")
    numbers = np.array([1.5, code_number(0), code_number(1), math.nan])
    np.testing.assert_array_equal(mixed.read(numbers, "the test"), [3.0, 10.0, math.nan, math.nan])
    places = Wire(0, "x", False, (7.0, 8.0))
    np.testing.assert_array_equal(places.read(np.array([1.0, 0.0, math.nan]), "the test"), [8.0, 7.0, math.nan])
    schema = Schema((Mixed("x", 0, 9, codes=(-9, None)), Binary("y")))
    rows = np.array([[1.5, 0.0], [code_number(0), 1.0]])
    inputs = ModelInputs(schema, (Wire(1, "y", False, (7.0, 8.0)), mixed))
    np.testing.assert_array_equal(inputs.read(rows, "the test"), [[7.0, 3.0], [8.0, 10.0]])


# -- columns --------------------------------------------------------------------------------------------------------------


@given(st.lists(STEPS.filter(lambda step: not step.op.startswith("at_")), max_size=5), st.floats(-1e3, 1e3))
def test_columns_are_the_steps_multiplied_out(steps, x):
    steps = [step for step in steps if step.op not in ("float16", "float32")]
    column = wire_of(steps).column("the test")
    expected = float(wire_of(steps).apply(np.array([x]))[0])
    size = max(abs(column.slope * x), abs(column.slope * column.center), abs(column.intercept), 1e-9)
    assert float(column.at(x)) == pytest.approx(expected, rel=1e-9, abs=1e-9 * size)


def test_columns_of_atoms_and_constants():
    assert Wire(2, "x", False, (True, 3)).column("a model") == Column(2, table=(1.0, 3.0), discrete=True)
    assert Wire(2, "x", True, (None,)).coded([1]).column("a model") == Column(2, 0.0, 0.0, (1.0,))


def test_what_a_column_cannot_be():
    with pytest.raises(PredictorError, match=r"Feature 'x' must be numbers where MLP reads it; got 'a'. Hint: read the Pipeline"):
        Wire(0, "x", False, ("a",)).column("MLP")
    with pytest.raises(PredictorError, match="Feature 'x' must not be missing where MLP reads it; got a missing value") as caught:
        Wire(0, "x", False, (1.0, math.nan)).column("MLP")
    assert caught.value.feature == "x"
    with pytest.raises(
        PredictorError,
        match=r"Feature 'x' must be a number where MLP reads it; got a date or time. Hint: make a number of it in the table",
    ):
        raw_wire(0, Integer("x", 0, 9, dtype="date")).column("MLP")


def test_clipping_is_affine_where_nothing_is_clipped():
    wire = wire_of([Step("divide", 10.0), Step("at_least", 0.0), Step("at_most", 1.0)])
    assert wire.column("MLP", Continuous("x", 0, 10)) == Column(0, 0.1, 0.0)
    assert wire.column("MLP", Continuous("x", 0, 10 + 1e-10)).slope == 0.1
    for feature in (Continuous("x", -1, 10), Continuous("x", 0, 11), None):
        column = wire.column("MLP", feature)
        assert column.curve
        numbers = np.linspace(-3, 14, 50) if feature is None else np.linspace(feature.lower, feature.upper, 50)
        np.testing.assert_allclose(column.at(numbers), wire.apply(numbers), rtol=1e-12)


# -- inputs ---------------------------------------------------------------------------------------------------------------


def test_inputs_by_name_and_number():
    inputs = ModelInputs.raw(Schema((Integer("a", 0, 1), Integer("b", 0, 1), Integer(3, 0, 1))))
    assert len(inputs) == 3
    assert [wire.name for wire in inputs.named([3, "a"], "MLP").wires] == [3, "a"]
    assert inputs.counted(3, "MLP") is inputs
    with pytest.raises(
        PredictorError, match="The schema of a MLP must have the column 'c' that it was trained on; got columns 'a', 'b', 3"
    ) as caught:
        inputs.named(["a", "c"], "MLP")
    assert caught.value.feature == "c"
    with pytest.raises(PredictorError, match="A MLP must be given the 2 inputs it was trained on; got 3 from the schema"):
        inputs.counted(2, "MLP")
