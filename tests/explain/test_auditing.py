"""Audits: what is counted, that nothing is dropped, and what the engine adds."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pandas as pd
import pytest

import likely
from likely.errors import ExplainerError, LikelyError
from likely.explain import Audit, audit
from tests.explain.examples import explainer_of, rejected
from tests.explain.small_cases import case
from tests.explain.small_cases import rejected as small_rejected


@cache
def explained() -> tuple[pd.DataFrame, list[likely.Explanation]]:
    rows = rejected(24)
    return rows, explainer_of().explain_many(rows, constraints=[likely.MaxChanges(1)], locked=["months"])


def with_undecided() -> list[likely.Explanation | None]:
    """The answers, some of them as if a limit had come first or the row had been refused."""
    every: list[likely.Explanation | None] = list(explained()[1])
    first, second, third = (each for each in explained()[1][:3])
    every[0] = replace(first, status="unknown", counterfactuals=())
    every[1] = replace(second, status="refused", counterfactuals=(), reason="Row 1: a value is missing")
    every[2] = replace(third, status="feasible") if third else replace(third, status="disputed")
    return [*every, None]


def test_every_row_is_counted_once() -> None:
    counted = audit(with_undecided())
    assert counted.rows == 25
    assert counted.refused == 2
    assert counted.asked == sum(share.count for share in counted.outcomes.values()) == 23
    assert all(share.of == 23 for share in counted.outcomes.values())
    assert counted.outcomes["undecided"].count >= 1
    assert "2 refused" in str(counted)
    rows, answers = explained()
    groups = [*rows["housing"], None]
    parts = audit(with_undecided(), groups, by="housing").groups
    assert sum(part.rows for _, part in parts) == 25
    assert dict(parts)["missing"].refused == 1
    assert len(answers) == 24


def test_shares_of_the_cost_add_up() -> None:
    counted = audit(explained()[1])
    assert sum(use.carries for use in counted.features) == pytest.approx(1.0)
    assert counted.cost is not None
    assert counted.cost.quantiles[10] == pytest.approx(counted.cost.median)
    assert counted.cost.count == counted.answered


@cache
def asked() -> Audit:
    rows, answers = explained()
    return audit(answers, rows["housing"], by="housing", explainer=explainer_of(), share=0.2, seconds=60)


def test_which_demands_block() -> None:
    """A demand opens the way alone just if the row has an answer without it."""
    blocking, (rows, answers) = asked().blocking, explained()
    assert blocking is not None
    assert blocking.whole
    none = [i for i, answer in enumerate(answers) if answer.status == "infeasible"]
    assert blocking.rows == len(none) > 0
    explainer = explainer_of()
    opened = {
        "at most 1 feature may change": {"locked": ["months"]},
        "'months' may not change": {"constraints": [likely.MaxChanges(1)]},
    }
    for demand, options in opened.items():
        again = explainer.explain_many(rows.iloc[none], **options)  # type: ignore[arg-type]
        expected = sum(bool(answer) for answer in again)
        assert sum(block.opens for block in blocking.demands if block.demand == demand) == expected
    assert sum(of.blocking.rows for _, of in asked().groups if of.blocking) == blocking.rows


def test_time_for_the_rules_is_kept_and_said() -> None:
    counted = audit(explained()[1], explainer=explainer_of(), seconds=0.0)
    assert counted.blocking is not None
    assert (counted.blocking.asked, counted.blocking.whole) == (0, False)
    assert "the time was over before they were asked about" in str(counted)
    assert counted.change is not None
    assert not counted.change.single_whole


def test_data_for_machines() -> None:
    counted = asked()
    data = json.loads(json.dumps(counted.to_dict(), allow_nan=False))
    assert set(data["groups"]) == {name for name, _ in counted.groups}
    assert data["group_counterfactual"]["status"] == counted.change.status if counted.change else True
    table = counted.to_frame()
    assert list(table.columns) == ["by", "group", "measure", "value", "low", "high", "of"]
    certified = table[(table["group"] == "") & (table["measure"] == "certified answer")].iloc[0]
    assert certified["value"] == counted.outcomes["certified answer"].value
    assert (table["measure"].str.startswith("p: ")).sum() == len(counted.differences) > 0


def test_in_words() -> None:
    said = str(asked())
    assert "What keeps" in said
    assert "The cheapest change for everybody" in said
    assert "do the groups differ in" in said
    assert "housing own: " in said


def test_answers_of_another_explainer_are_refused() -> None:
    explainer, X = case("tree", 0)
    answers = explainer.explain_many(small_rejected(explainer, X, 3), plausibility=None)
    with pytest.raises(ExplainerError, match=r"An explanation must be one of this explainer; got one by another model"):
        audit(answers, explainer=explainer_of())


def test_a_page_of_an_audit(tmp_path: object) -> None:
    likely.show.audit_report(asked(), f"{tmp_path}/audit.html", title="Loans <2026>")
    page = open(f"{tmp_path}/audit.html", encoding="utf-8").read()  # noqa: PTH123, SIM115
    assert "Loans &lt;2026&gt;" in page
    for text in ("What came of the rows", "Which rules block it", "One change for everybody", "Do the groups differ?"):
        assert text in page
    assert "http" not in page.replace("http-equiv", "")
    for name, _ in asked().groups:
        assert name in page
    with pytest.raises(LikelyError, match="A report must be written into a folder that exists"):
        likely.show.audit_report(asked(), f"{tmp_path}/nowhere/audit.html")
    likely.show.audit_report(audit(explained()[1][:1]), f"{tmp_path}/small.html")
