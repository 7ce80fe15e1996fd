"""Circuits to draw: one of every kind of feature and leaf, and one whose numbers are known by heart."""

from __future__ import annotations

from likely.circuit import Categories, Circuit, Coded, Histogram, Parametric, Product, Sum
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed

DAYS = (16495.0, 20484.0)  # 2015-03-01, 2026-01-31


def simple() -> Circuit:
    """Two clusters over an amount, whole months and the class."""
    features = (Continuous("amount", 0, 1000), Integer("months", 1, 4))
    nodes = [
        Histogram(0, (0, 200, 1000), (0.004, 0.00025)),
        Histogram(1, (1, 2, 5), (0.4, 0.2)),
        Categories(2, (0.25, 0.75)),
        Product((0, 1, 2)),
        Histogram(0, (0, 500, 1000), (0.0004, 0.0016)),
        Histogram(1, (1, 4, 5), (0.1, 0.7)),
        Categories(2, (0.5, 0.5)),
        Product((4, 5, 6)),
        Sum((3, 7), (0.75, 0.25)),
    ]
    return Circuit(features, tuple(nodes), Binary("good"))


def every_kind() -> Circuit:
    """Special codes, days, categories and parametric leaves."""
    features = (
        Mixed("since default", 0, 120, {-9: "no record", -8: "not asked"}, integer=True),
        Integer("opened", *DAYS, dtype="date"),
        Categorical("branch", ("north", "south", "a branch with a rather long name", "west")),
    )
    width = DAYS[1] + 1 - DAYS[0]
    nodes = [
        Coded(0, (0.5, 0.1), Parametric(0, "poisson", 12.0)),
        Histogram(1, (DAYS[0], DAYS[0] + 1000, DAYS[1] + 1), (0.4 / 1000, 0.6 / (width - 1000))),
        Categories(2, (0.1, 0.2, 0.3, 0.4)),
        Product((0, 1, 2)),
        Coded(0, (0.1, 0.3), Parametric(0, "gaussian", 60.0, 15.0)),
        Parametric(1, "gaussian", DAYS[0] + 2800, 300.0),
        Categories(2, (0.7, 0.1, 0.1, 0.1)),
        Product((4, 5, 6)),
        Sum((3, 7), (0.65, 0.35)),
    ]
    return Circuit(features, tuple(nodes))
