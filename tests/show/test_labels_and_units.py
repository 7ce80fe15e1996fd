"""What people read: labels and units of the schema, numbers as in the terminal, whole counts, and nothing that is cut off."""

from __future__ import annotations

import html
import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likely
from likely._display.numbers import cost_text
from likely.explain import Explanation, audit
from likely.explain.text import cells
from likely.show import changes_of, density_map, plot_changes, plot_front, report

LONG = "Amount of the credit that was applied for, without insurance"


@cache
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({f"column_{i}": np.round(rng.gamma(3, 10.0 ** (i % 5), 200), 2) for i in range(10)})


@cache
def explainer() -> likely.Explainer:
    """Ten numbers of different sizes, each of which must be large."""
    X = table()
    y = np.where(StandardScaler().fit_transform(X).sum(axis=1) > 0, "granted", "refused")
    features = {"column_4": {"label": LONG, "unit": "EUR"}, "column_0": {"step": 0.01, "label": "Rate", "unit": "%"}}
    rules = [likely.Range(name, lower=float(np.quantile(X[name], 0.6))) for name in X]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    return likely.Explainer(model, likely.Schema.infer(X, features=features, rules=rules), progress=False).fit(X, y)


@cache
def answer() -> Explanation:
    return explainer().explain(table().min(), plausibility=None)


def test_a_page_prints_numbers_as_the_terminal_does(tmp_path: Path) -> None:
    terminal = {name: (before, after) for name, before, (after,) in cells(answer())}
    assert {track.feature: (track.before, track.moves[0].after) for track in changes_of(answer())} == terminal
    assert LONG in terminal
    assert terminal[LONG][1].endswith(" EUR")
    assert "," in terminal[LONG][1]
    assert terminal["Rate"][1].endswith(" %")
    report(answer(), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for name, (before, after) in terminal.items():
        assert name.replace("_", " ") in page
        assert before in page
        assert after in page


def test_a_page_names_the_changes_that_matter_most(tmp_path: Path) -> None:
    assert answer().best.number_of_changes == 10
    report(answer(), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "and 7 smaller changes were made, the model would decide" in page


def test_an_axis_has_the_label_and_the_unit() -> None:
    assert density_map(explainer().circuit_, "column_4", "column_1").x.label == f"{LONG} (EUR)"
    assert density_map(explainer().circuit_, "column_4", "column_1").y.label == "column_1"


def test_names_and_values_are_not_cut_off(pyplot: Any) -> None:
    figure = plot_changes(answer())
    figure.canvas.draw()
    whole = figure.bbox
    texts = [text.get_window_extent() for text in figure.axes[0].texts]
    assert texts
    for box in texts:
        assert whole.x0 - 1 <= box.x0
        assert box.x1 <= whole.x1 + 1
    for one, other in itertools.pairwise(texts):
        assert not one.overlaps(other)


def test_counts_are_whole_numbers(pyplot: Any) -> None:
    model = explainer().model
    schema = likely.Schema.infer(table())
    free = likely.Explainer(model, schema, explainer().circuit_, progress=False).fit(table(), model.predict(table()))
    front = free.front(table()[model.predict(table()) == "refused"].iloc[0], by="changes", plausibility=None)
    ax = plot_front(front).axes[0]
    assert all(tick.get_text().isdigit() for tick in ax.get_xticklabels())
    assert len(ax.get_xticks()) >= len(front.points)


def test_rules_and_audits_speak_of_features_as_people_do(tmp_path: Path) -> None:
    schema = explainer().schema_
    rule = next(rule for rule in schema.constraints if rule.features == ("column_4",))
    assert rule.sentence(schema).startswith(f"'{LONG}' must be at least ")
    assert rule.sentence(schema).endswith(" EUR")
    assert "column_4" in str(rule)
    counted = audit([answer()])
    assert LONG in str(counted)
    assert {use.title for use in counted.features if use.feature == "column_4"} == {LONG}
    assert "column_4" in {use["feature"] for use in counted.to_dict()["features"]}
    report([answer()], tmp_path / "many.html")
    assert LONG in (tmp_path / "many.html").read_text(encoding="utf-8").partition("Every row")[0]
    report(answer(), tmp_path / "one.html")
    assert rule.sentence(schema) in html.unescape((tmp_path / "one.html").read_text(encoding="utf-8"))


def test_why_not_speaks_of_features_as_people_do() -> None:
    lowest = table().min()
    reason = explainer().why_not(lowest, target="granted", plausibility=None, locked=["column_4"], limits=20)
    assert f"'{LONG}' may not change" in str(reason)
    assert "column_4" not in str(reason)


def test_a_cost_is_the_same_text_everywhere(tmp_path: Path) -> None:
    X = pd.DataFrame({"x": np.linspace(0, 10, 60)})
    y = np.where(X["x"] > 5, "yes", "no")
    made = likely.Explainer(LogisticRegression().fit(X, y), likely.Schema.infer(X, weights={"x": 1e5}), progress=False).fit(X, y)
    dearest = made.explain({"x": 1.0}, plausibility=None)
    text = cost_text(dearest.best.cost)
    assert "," in text
    report(dearest, tmp_path / "one.html")
    report([dearest], tmp_path / "many.html")
    places = [
        str(dearest),
        (tmp_path / "one.html").read_text(encoding="utf-8"),
        (tmp_path / "many.html").read_text(encoding="utf-8"),
    ]
    assert all(text in place for place in [*places, str(audit([dearest]))])
