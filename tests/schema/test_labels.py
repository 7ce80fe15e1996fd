"""Labels and units: what people call a feature, what its numbers count, and numbers as people read them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import likely
from likely._display.numbers import number_text
from likely.errors import SchemaError
from likely.schema import Feature, Schema

FEATURES: list[Feature] = [
    likely.Continuous("amt", 0, 1e6, step=0.01, label="Amount of credit", unit="EUR"),
    likely.Integer("dur", 1, 72, label="Duration", unit="months"),
    likely.Ordinal("sav", ("low", "high"), label="Savings"),
    likely.Categorical("pur", ("car", "tv"), label="Purpose of the credit"),
    likely.Binary("tel", label="Telephone"),
    likely.Mixed("risk", 0, 100, (-9,), labels=("no record",), label="Risk estimate", unit="points"),
]


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.kind)
@pytest.mark.parametrize("name", ["schema.json", "schema.yaml"])
def test_every_kind_has_a_label_and_a_file_keeps_it(feature: Feature, name: str, tmp_path: Path) -> None:
    schema = Schema((feature,))
    schema.save(tmp_path / name)
    again = Schema.load(tmp_path / name)
    assert feature.title == feature.label
    assert again == schema
    assert (again.features[0].label, again.features[0].unit) == (feature.label, feature.unit)
    assert feature.label in str(schema)


def test_without_a_label_the_name_is_the_title_and_files_are_as_before() -> None:
    feature = likely.Integer("age", 18, 99)
    assert feature.title == "age"
    assert {"label", "unit"}.isdisjoint(feature.to_dict())
    assert likely.Integer(3, 0, 1).title == "3"


def test_inferred_with_a_label_the_kind_is_the_same() -> None:
    table = pd.DataFrame({"owns": [0, 1, 1], "age": [20, 30, 40]})
    plain = Schema.infer(table)
    told = Schema.infer(table, features={"owns": {"label": "Owns a house"}, "age": {"label": "Age", "unit": "years"}})
    assert [feature.kind for feature in told.features] == [feature.kind for feature in plain.features] == ["binary", "integer"]
    assert [feature.title for feature in told.features] == ["Owns a house", "Age"]
    assert told.features[1].show_with_unit(20.0) == "20 years"


@pytest.mark.parametrize(
    ("place", "number", "text"),
    [
        (0, 1234567.5, "1,234,567.5 EUR"),
        (0, 0.1 + 0.2, "0.3 EUR"),
        (1, 24.0, "24 months"),
        (2, 0.0, "'low'"),
        (5, FEATURES[5].atom_number(0), "-9 (no record)"),
        (5, 12.0, "12 points"),
        (5, float("nan"), "unknown"),
    ],
)
def test_values_with_their_units(place: int, number: float, text: str) -> None:
    assert FEATURES[place].show_with_unit(number) == text


def test_a_day_has_no_unit() -> None:
    assert likely.Integer("day", 0, 9999, dtype="datetime64[ns]", unit="days").show_with_unit(1.0) == "1970-01-02"


@pytest.mark.parametrize(
    ("number", "step", "text"),
    [
        (2026.0, 1.0, "2026"),
        (12500.0, 1.0, "12,500"),
        (-12500.25, 0.25, "-12,500.25"),
        (0.29000000000000004, None, "0.29"),
        (1234567.891, None, "1,234,568"),
        (0.0, None, "0"),
        (-1e-20, None, "-1e-20"),
        (-0.001, 0.5, "0"),
        (1e300, None, "1e+300"),
        (0.000123456789, None, "0.000123457"),
    ],
)
def test_numbers_for_people(number: float, step: float | None, text: str) -> None:
    assert number_text(number, step) == text


@pytest.mark.parametrize("words", [5, None, " padded", "two\nlines"])
def test_labels_are_lines_of_text(words: object) -> None:
    with pytest.raises(SchemaError, match="Feature 'f' must have a line of text as label"):
        likely.Integer("f", 0, 1, label=words)  # type: ignore[arg-type]


def test_a_unit_needs_numbers() -> None:
    with pytest.raises(SchemaError, match="Feature 'c' must have numbers to have a unit; got 'EUR'"):
        likely.Categorical("c", ("a", "b"), unit="EUR")
