"""The data sets against the paper authors' tables and cases: by checksum, rule by rule, cost by cost, row by row."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from sklearn.model_selection import KFold

import likely
from likely.datasets import Dataset, adult, credit, gmsc
from likely.errors import LikelyWarning
from likely.schema import Constraint, Feature
from likely.schema.costs import MoveCost, SwitchCost
from tests import cases

#: table -> SHA-256 of its text
CHECKSUMS: dict[str, str] = json.loads((cases.FIXTURES / "tables.json").read_text(encoding="utf-8"))
#: class -> rows
CLASSES: dict[str, dict[Any, int]] = {
    "credit": {"good": 700, "bad": 300},
    "adult": {"<=50K": 36263, ">50K": 11613},
    "gmsc": {0: 106588, 1: 7007},
}
#: whole numbers that the paper takes for real ones
REAL = {"credit": {"amount", "installment_rate"}, "adult": set(), "gmsc": {"MonthlyIncome"}}


def our_name(name: str, column: str) -> str:
    return {theirs: ours for ours, theirs in credit.COLUMNS.items()}[column] if name == "credit" else column


def our_value(name: str, column: str, value: Any) -> Any:
    return cases.VALUES[name].get(column, {}).get(value, value)


@pytest.mark.parametrize("name", CHECKSUMS)
def test_rows_and_values_are_the_papers(name: str) -> None:
    """In the paper's names and values, our table is the authors' to the byte."""
    text = cases.paper_table(name).to_csv(lineterminator="\n")
    assert hashlib.sha256(text.encode()).hexdigest() == CHECKSUMS[name]


def with_costs_of(data: Dataset, rows: pd.DataFrame) -> likely.Schema:
    """The schema as `Dataset` says that it is fitted to a part of the rows."""
    known = {feature.name: feature for feature in data.schema.features}
    return likely.Schema.infer(rows, features=known, rules=data.schema.constraints)


def rules_of(name: str, case: dict[str, Any]) -> set[Constraint]:
    renamed = [{**item, "name": our_name(name, item["name"])} for item in case["features"]]
    pairs = [[our_name(name, one) for one in pair] for pair in case["increase_implies_increase"]]
    return set(cases.rules_of({"features": renamed, "increase_implies_increase": pairs}))


def assert_same_feature(name: str, feature: Feature, item: dict[str, Any]) -> None:
    if feature.name in REAL[name]:
        assert (feature.kind, item["kind"]) == ("integer", "continuous")
    else:
        assert feature.kind == item["kind"]
    if "bounds" in item:
        lower, upper = item["bounds"]
        assert feature.region.low <= lower <= upper <= feature.region.high, "theirs are those of the training rows"
    else:
        values = [our_value(name, str(feature.name), value) for value in item["values"]]
        assert list(feature.atoms) == values if feature.ordered else set(feature.atoms) == set(values)


def assert_same_cost(name: str, feature: Feature, cost: Any, item: dict[str, Any]) -> None:
    if "unit_cost" in item:
        assert cost == MoveCost(pytest.approx(item["unit_cost"]), pytest.approx(item["unit_cost"]))
        return
    assert isinstance(cost, SwitchCost)
    ours = dict(zip(feature.atoms, cost.weights, strict=True))
    theirs = item.get("switch_cost", [item.get("flip_cost", 0.0) / 2] * len(item["values"]))
    for value, weight in zip(item["values"], theirs, strict=True):
        assert ours[our_value(name, str(feature.name), value)] == pytest.approx(weight)


@pytest.mark.parametrize("fold", [0, 1])
@pytest.mark.parametrize("name", cases.TABLES)
def test_schema_is_that_of_the_papers_queries(name: str, fold: int) -> None:
    case = cases.load(cases.path_of(f"{name}-{fold}"))
    data = cases.data_set(name)
    train, _ = list(KFold(5, shuffle=True, random_state=0).split(data.X))[fold]
    schema = with_costs_of(data, data.X.iloc[train])
    assert list(schema.names) == [our_name(name, item["name"]) for item in case["features"]]
    assert set(schema.constraints) == rules_of(name, case)
    for feature, cost, item in zip(schema.features, schema.costs, case["features"], strict=True):
        assert_same_feature(name, feature, item)
        assert_same_cost(name, feature, cost, item)


@pytest.mark.parametrize("name", cases.TABLES)
def test_factuals_of_the_papers_queries_are_rows_of_the_test_fold(name: str) -> None:
    case = cases.load(cases.path_of(f"{name}-0"))
    data = cases.data_set(name)
    _, test = next(KFold(5, shuffle=True, random_state=0).split(data.X))
    known = set(data.X.iloc[test].itertuples(index=False, name=None))
    for factual in case["factuals"]:
        named = zip(data.X.columns, factual["row"], strict=True)
        assert tuple(our_value(name, column, value) for column, value in named) in known


def test_credit_can_be_built_from_the_papers_codes(build: ModuleType) -> None:
    codes = cases.paper_table("credit")
    codes["class"] = codes["class"].map({"Good": 1, "Bad": 2})
    table = build.build_credit(codes.to_csv(sep=" ", header=False, index=False))
    data = cases.data_set("credit")
    assert table.to_csv() == pd.concat([data.X, data.y], axis="columns").to_csv()


def test_adult_can_be_built_from_the_papers_rows(build: ModuleType) -> None:
    """The rows that the paper leaves out, and the columns, filled with something: they must not matter."""
    kept = cases.paper_table("adult").astype(object)
    raw = kept.reindex(range(48842), fill_value="?").reindex(columns=list(adult.RAW_COLUMNS), fill_value=0)
    train, test = raw[:32561], raw[32561:].assign(income=raw["income"][32561:] + ".")
    texts = [part.to_csv(header=False, index=False, lineterminator="\n").replace(",", ", ") for part in (train, test)]
    table = build.build_adult(texts[0], "|1x3 Cross validator\n" + texts[1])
    data = cases.data_set("adult")
    assert table.to_csv() == pd.concat([data.X, data.y], axis="columns").to_csv()


def factuals_of_gmsc() -> pd.DataFrame:
    """The rows of *Give Me Some Credit* that the cases ask about, as the competition's file has them."""
    factuals = [factual for fold in (0, 1) for factual in cases.load(cases.path_of(f"gmsc-{fold}"))["factuals"]]
    names = [item["name"] for item in cases.load(cases.path_of("gmsc-0"))["features"]]
    table = pd.DataFrame([factual["row"] for factual in factuals], [factual["id"] for factual in factuals], names)
    return table.assign(**{gmsc.TARGET: [int(factual["label"]) for factual in factuals]}).sort_index()


def test_gmsc_from_a_file_like_kaggles(tmp_path: Path) -> None:
    """The cases' rows in the form of the competition's file, between rows that the paper leaves out."""
    kept = factuals_of_gmsc()
    gone = kept.iloc[: len(gmsc.BELOW)].astype(object)
    for i, (column, limit) in enumerate(gmsc.BELOW.items()):
        gone.iloc[i, gone.columns.get_loc(column)] = "NA" if column == "age" else limit
    whole = pd.concat([gone.set_axis(range(150001, 150001 + len(gone))), kept.astype(object)])
    path = tmp_path / "cs-training.csv"
    whole[[gmsc.TARGET, *gmsc.BELOW]].to_csv(path, index_label="")
    with pytest.warns(LikelyWarning, match=rf"has {len(kept)} rows after cleaning, not the paper's 113,595"):
        data = likely.datasets.load("gmsc", path)
    assert len(kept) >= 20
    assert list(data.X.index) == list(kept.index)
    assert data.y.tolist() == kept[gmsc.TARGET].tolist()
    assert data.X.to_numpy().tolist() == kept[list(data.X.columns)].to_numpy().tolist()


@pytest.mark.parametrize("name", cases.TABLES)
def test_the_paper_s_classes(name: str) -> None:
    assert cases.data_set(name).y.value_counts().to_dict() == CLASSES[name]
