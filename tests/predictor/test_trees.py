"""Splits of any framework become tests that decide as the split does, for every double."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.errors import PredictorError
from likely.predictor import Link, ModelInputs, Splits, Step, TreeEnsemble, Wire, tree_ensemble
from likely.schema import Categorical, Continuous, Mixed, Schema
from likely.schema.values import code_number

NUMBERS = st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, 1e-30, 1e-16, -1e-12]))  # tiny ones vanish beside a shift
FACTORS = st.one_of(st.floats(1e-3, 1e3), st.floats(-1e3, -1e-3))
MANY = settings(max_examples=5 * settings().max_examples)  # the examples are cheap, and the corners many
STEPS = st.one_of(
    st.builds(Step, st.sampled_from(["subtract", "add", "at_least", "at_most"]), NUMBERS),
    st.builds(Step, st.sampled_from(["multiply", "divide"]), FACTORS),
    st.sampled_from([Step("float32"), Step("float16"), Step("float64"), Step("fill", 3.0)]),
)


@st.composite
def wires(draw: st.DrawFn) -> tuple[Schema, Wire]:
    """A feature with or without numbers, after random steps."""
    atoms = draw(st.lists(st.one_of(NUMBERS, st.just(math.nan), st.sampled_from([0.0, 1.0])), max_size=5))
    if draw(st.booleans()):
        codes = tuple(f"code {k}" for k in range(len(atoms)))
        feature = Mixed("x", -100, 100, codes, dtype="object") if codes else Continuous("x", -100, 100)
        numeric = True
    else:
        atoms = atoms or [0.0]
        feature = Categorical("x", tuple(f"value {k}" for k in range(len(atoms))))
        numeric = False
    wire = Wire(0, "x", numeric, tuple(atoms), constant=draw(st.none() | NUMBERS) if numeric else None)
    return Schema([feature]), wire.then(*draw(st.lists(STEPS, max_size=4)), by="a test")


def one_split_each(schema: Schema, wire: Wire, **splits: object) -> TreeEnsemble:
    """A tree per split, with an output of its own: 1 on the left, 0 on the right."""
    count = len(splits["threshold"])
    made = Splits(
        wire=np.repeat(np.array([0, -1, -1], dtype=np.int32), count),
        left=np.arange(count, 4 * count, dtype=np.int32),
        right=np.arange(2 * count, 5 * count, dtype=np.int32),
        value=np.repeat([0.0, 1.0, 0.0], count)[:, None],
        **{**splits, **{name: np.concatenate([splits[name]] * 3) for name in ("threshold", "missing_left")}},
    )
    classes = list(range(count))
    form = tree_ensemble(
        ModelInputs(schema, (wire,)),
        made,
        classes,
        classes,
        link=Link("shares"),
        classes=classes,
        base=np.zeros(count),
        by="test",
    )
    assert isinstance(form, TreeEnsemble)
    return form


def doubles(wire: Wire, form: TreeEnsemble, some: list[float]) -> np.ndarray:
    """Doubles of the feature: its atoms, and if it has numbers `some` of them and those around the ends of all tests."""
    if not wire.numeric:
        return np.arange(len(wire.atoms), dtype=float)
    ends = np.concatenate([form.nodes["low"], form.nodes["high"]])
    ends = ends[np.abs(ends) < 1e300]
    numbers = np.concatenate([some, ends, np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf), [0.0, -1e30, 1e30]])
    return np.concatenate([numbers[np.abs(numbers) < 1e299], [code_number(k) for k in range(len(wire.atoms))]])


def reads(wire: Wire, numbers: np.ndarray) -> np.ndarray:
    """What the model reads for doubles of the feature."""
    atoms = np.array(wire.atoms, dtype=float)
    if not wire.numeric:
        return atoms
    count = len(numbers) - len(atoms)
    return np.concatenate([wire.apply(numbers[:count]).astype(float), atoms])


@MANY
@given(wires(), st.lists(NUMBERS, min_size=1, max_size=8), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_a_threshold_decides_as_the_wire_does(drawn, some, strict, with_some, seed):
    schema, wire = drawn
    random = np.random.default_rng(seed)
    met = reads(wire, np.array([*some, *[0.0] * len(wire.atoms)]))  # thresholds that a value meets exactly, and others
    ends = np.concatenate([met[np.isfinite(met)], random.normal(0, 100, 5), [math.inf]])
    threshold, count = random.permutation(ends), len(ends)
    missing_left = random.random(count) < 0.5
    hole = (None, tuple(sorted(random.choice(ends[:-1], 2).tolist())))[random.integers(2)]
    with_hole = random.random(3 * count) < 0.5 if with_some and hole is not None else None
    form = one_split_each(
        schema, wire, threshold=threshold, missing_left=missing_left, strict=strict, hole=hole, with_hole=with_hole
    )
    numbers = doubles(wire, form, some)
    seen_there = reads(wire, numbers)[:, None]
    gone = np.isnan(seen_there) & np.ones(count, dtype=bool)
    if hole is not None:
        holed = np.ones(count, dtype=bool) if with_hole is None else with_hole[:count]
        gone |= (seen_there >= hole[0]) & (seen_there <= hole[1]) & holed
    expected = np.where(gone, missing_left, seen_there < threshold if strict else seen_there <= threshold)
    np.testing.assert_array_equal(form.score(numbers[:, None]), expected.astype(float))


@MANY
@given(wires(), st.lists(st.floats(-3, 9), min_size=1, max_size=8), st.data())
def test_a_set_of_categories_decides_as_the_wire_does(drawn, some, data):
    schema, wire = drawn
    sets = data.draw(st.lists(st.frozensets(st.integers(0, 8).map(float)), min_size=1, max_size=5))
    missing_left = np.array([data.draw(st.booleans()) for _ in sets])
    form = one_split_each(
        schema, wire, threshold=np.zeros(len(sets)), missing_left=missing_left, categories=dict(enumerate(sets))
    )
    numbers = doubles(wire, form, some)
    whole = np.trunc(reads(wire, numbers))
    expected = [[left if math.isnan(x) else x in chosen for chosen, left in zip(sets, missing_left, strict=True)] for x in whole]
    np.testing.assert_array_equal(form.score(numbers[:, None]), np.array(expected, dtype=float))


def test_thresholds_and_sets_stand_side_by_side():
    schema = Schema([Categorical("x", ("a", "b", "c", "d"))])
    wire = Wire(0, "x", False, (0.0, 1.0, 2.0, math.nan))
    form = one_split_each(
        schema, wire, threshold=np.array([0.5, 0.0]), missing_left=np.array([True, False]), categories={1: frozenset({0.0, 2.0})}
    )
    np.testing.assert_array_equal(form.score(np.arange(4.0)[:, None]), [[1, 1], [0, 0], [0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("atoms", "missing_left", "tests"),
    [
        ((0.0, 1.0, 0.0, 0.0), False, 1),  # an indicator: one value is the right-hand side
        ((0.0, 1.0, 2.0, 3.0), False, 1),  # codes in order: one interval
        ((0.0, 3.0, 1.0, 3.0), False, 2),  # values 0 and 2 go left: two intervals either way
        ((0.0, 3.0, math.nan, 3.0), True, 2),
        ((0.0, 3.0, math.nan, 3.0), False, 1),
        ((3.0, 3.0, 3.0, 3.0), False, 1),
    ],
)
def test_a_test_is_as_few_intervals_as_can_be(atoms, missing_left, tests):
    schema = Schema([Categorical("x", tuple("abcd"))])
    form = one_split_each(
        schema,
        Wire(0, "x", False, atoms),
        threshold=np.array([1.5 if 2.0 in atoms else 2.0]),
        missing_left=np.array([missing_left]),
    )
    assert (form.nodes["feature"] >= 0).sum() == tests


def test_a_missing_code_next_to_the_numbers_needs_no_second_test():
    schema = Schema([Mixed("x", 0, 100, (None,))])
    for left in (True, False):
        form = one_split_each(schema, Wire(0, "x", True, (math.nan,)), threshold=np.array([5.0]), missing_left=np.array([left]))
        assert (form.nodes["feature"] >= 0).sum() == 1
        np.testing.assert_array_equal(form.score(np.array([[5.0], [6.0], [code_number(0)], [-1e9]])), [[1], [0], [left], [1]])


def test_too_few_inputs_are_refused():
    schema = Schema([Continuous("x", 0, 1)])
    splits = Splits(
        wire=np.array([3, -1, -1], dtype=np.int32), threshold=np.zeros(3), left=np.array([1, 0, 0], dtype=np.int32),
        right=np.array([2, 0, 0], dtype=np.int32), value=np.zeros((3, 1)), missing_left=np.zeros(3, dtype=bool),
    )  # fmt: skip
    with pytest.raises(
        PredictorError,
        match=r"A Booster must be given at least 4 inputs; got 1\. Hint: pass the transformer that makes its inputs",
    ):
        tree_ensemble(ModelInputs.raw(schema), splits, [0], [0], link=Link("identity"), classes=(), base=[0.0], by="Booster")
