"""The paper's queries: our schema gives their costs and rules, our forms their decisions."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

import likely
from tests import cases
from tests.checking import checked


@pytest.fixture(params=cases.FILES, ids=cases.name_of)
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    return cases.load(request.param)


#: The files of Bayesian networks hold no rows of the paper.
of_the_paper = pytest.mark.parametrize(
    "path", [path for path in cases.FILES if path.name.startswith(cases.DATA_SETS)], ids=cases.name_of
)


def answers(case: dict[str, Any]) -> list[tuple[list[Any], list[Any], dict[str, Any]]]:
    """Every distinct (factual, answer, query) of the file."""
    triples = []
    for factual in case["factuals"]:
        for query in factual["queries"].values():
            rows = {tuple(row): row for row in query.get("paper", {}).get("rows", [])}
            triples += [(factual["row"], row, query) for row in rows.values()]
    return triples


def price(case: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> float:
    """The cost as the cases' README says it."""
    total = 0.0
    for item in case["features"]:
        a, b = old[item["name"]], new[item["name"]]
        if "unit_cost" in item:
            total += item["unit_cost"] * abs(b - a)
        elif a != b:
            places = [item["values"].index(v) for v in (a, b)]
            total += item["flip_cost"] if "flip_cost" in item else sum(item["switch_cost"][p] for p in places)
    return total


def allowed(case: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> bool:
    """The rules as the cases' README says them."""

    def move(item: dict[str, Any]) -> float:
        a, b = (row[item["name"]] for row in (old, new))
        if "values" in item:
            a, b = item["values"].index(a), item["values"].index(b)
        return b - a

    moves = {item["name"]: move(item) for item in case["features"]}
    for item in case["features"]:
        moved = moves[item["name"]]
        if (item["immutable"] and moved) or (item["monotone"] == "increasing" and moved < 0):
            return False
    return all(moves[b] > 0 for a, b in case["increase_implies_increase"] if moves[a] > 0)


def test_costs_and_rules_of_every_answer(case: dict[str, Any]) -> None:
    schema = cases.schema_of(case)
    factuals = [cases.row_of(case, factual["row"]) for factual in case["factuals"]]
    pairs = [(cases.row_of(case, old), cases.row_of(case, new)) for old, new, _ in answers(case)]
    pairs += list(pairwise(factuals))  # rows that nobody picked for keeping the rules
    for old, new in pairs:
        assert schema.cost(old, new) == pytest.approx(price(case, old, new), rel=1e-12)
        assert (not schema.violations(old, new)) == allowed(case, old, new)
    assert any(allowed(case, old, new) for old, new in pairs)


@of_the_paper
def test_an_answer_is_never_cheaper_than_a_proven_optimum(path: Path) -> None:
    case = cases.load(path)
    schema, form = cases.schema_of(case), cases.network_of(case, cases.schema_of(case))
    with checked() as count:
        for old, new, query in answers(case):
            factual, row = (schema.encode_row(cases.row_of(case, r)) for r in (old, new))
            if query["threshold"] is not None or query["alpha"] or query["best_known"]["proof"] != "optimal":
                continue
            side = 1 if form.score(factual[None])[0, 0] >= 0 else -1
            if -side * form.score(row[None])[0, 0] >= 1e-4 and schema.keeps(factual, row[None])[0]:
                assert schema.prices(factual, row[None])[0] >= query["best_known"]["objective"] - 1e-5
                count()


@of_the_paper
def test_the_paper_s_answers_change_the_decision(path: Path) -> None:
    """Nearly all: theirs were rounded and never checked again."""
    case = cases.load(path)
    schema = cases.schema_of(case)
    form = cases.network_of(case, schema)
    pairs = answers(case)
    old = np.stack([schema.encode_row(cases.row_of(case, old)) for old, _, _ in pairs])
    new = np.stack([schema.encode_row(cases.row_of(case, new)) for _, new, _ in pairs])
    flipped = form.predict(old) != form.predict(new)
    assert flipped.mean() > 0.9


def test_a_factual_outside_the_bounds_widens_its_domain(case: dict[str, Any]) -> None:
    schema = cases.schema_of(case)
    for factual in case["factuals"]:
        numbers = schema.encode_row(cases.row_of(case, factual["row"]))
        outside = [f.name for f, x in zip(schema.features, numbers, strict=True) if x not in f.region]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            wide = schema.widened(numbers)
        assert len(said) == len(outside)
        assert all(x in f.region for f, x in zip(wide.features, numbers, strict=True))


@pytest.mark.parametrize("name", cases.TABLES)
@pytest.mark.parametrize("fold", [0, 1])
def test_inferred_from_the_data_the_schema_is_the_case_s(name: str, fold: int) -> None:
    """Kinds, values, bounds and costs from the training rows equal those that the authors' code computed."""
    case = cases.load(cases.path_of(f"{name}-{fold}"))
    theirs = cases.schema_of(case)
    table = cases.paper_table(name)[list(theirs.names)]
    train, test = list(KFold(5, shuffle=True, random_state=0).split(table))[fold]
    assert {factual["id"] for factual in case["factuals"]} <= set(table.index[test])
    ours = likely.Schema.infer(
        table.iloc[train],
        features={f.name: {"kind": f.kind, **({"values": f.values} if not f.numeric else {})} for f in theirs.features},
        rules=theirs.constraints,
    )
    for mine, their, my_cost, their_cost in zip(ours.features, theirs.features, ours.costs, theirs.costs, strict=True):
        assert mine.describe() == their.describe()
        for part in ("up", "down", "weights"):
            if hasattr(their_cost, part):
                assert getattr(my_cost, part) == pytest.approx(getattr(their_cost, part), rel=1e-9)
