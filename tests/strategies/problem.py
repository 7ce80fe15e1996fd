"""Strategies of whole problems: `finite_schemas`, `forms`, `goals`, `plausibilities` -> `problems`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from likely.errors import LikelyWarning
from likely.predictor import Form
from likely.problem import SCORE_MARGIN, Goal, Plausibility, Problem, between, not_class, probability, to_class
from likely.schema import Categorical, Feature, Immutable, Schema
from tests.oracles.circuits import values_of
from tests.oracles.search import log_likelihoods
from tests.strategies.circuit import circuits_over, some_mixture
from tests.strategies.finite import asked_factuals, finite_features, finite_schemas, rows_of, ruled, some_cost
from tests.strategies.predictor import forms, some_form
from tests.strategies.sources import generators


@st.composite
def goals(draw: st.DrawFn, form: Form, rows: np.ndarray) -> Goal:
    """A goal that some of the rows reach, perhaps just so, or none."""
    scores = form.score(rows)
    if form.link.kind in ("logistic", "softmax", "shares", "huber") and draw(st.integers(0, 3)) == 0:
        k = draw(st.integers(0, len(form.classes) - 1))
        low, high = sorted(min(1.0, max(0.0, draw(st.sampled_from(form.probabilities(rows)[:, k])))) for _ in range(2))
        ends = draw(st.sampled_from([(low, 1.0), (0.0, high), (low, high)]))
        if ends != (0.0, 1.0):
            return probability(form, form.classes[k], *ends)
    if not form.classes or draw(st.integers(0, 4)) == 0:
        output = draw(st.integers(0, form.outputs - 1))
        low, high = sorted(draw(st.sampled_from(scores[:, output])) + draw(st.sampled_from([0.0, 0.0, 0.1])) for _ in range(2))
        ends = draw(st.sampled_from([(low, math.inf), (-math.inf, low), (low, high)]))
        return between(form, *ends, output=output, margin=draw(st.sampled_from([0.0, 1e-4])))
    label = draw(st.sampled_from(form.classes))
    margins = [SCORE_MARGIN, SCORE_MARGIN, 0.0, 0.25, 1.0]
    return draw(st.sampled_from([to_class, not_class]))(form, label, margin=draw(st.sampled_from(margins)))


@st.composite
def plausibilities(
    draw: st.DrawFn, schema: Schema, form: Form, goal: Goal, rows: np.ndarray, *, parametric: bool = True
) -> Plausibility:
    """A circuit of the schema's features, and of the class or not, with a threshold that some rows reach, a weight or both."""
    classes = [*form.classes, "none of them"] if form.classes else ["p", "q"]
    values = draw(st.permutations(classes))
    target = draw(st.one_of(st.none(), st.just(Categorical("the class", tuple(values)))))
    fixed = [constraint.feature for constraint in schema.constraints if isinstance(constraint, Immutable)]
    known = fixed if target is None else [*fixed, target.name]
    plausibility = Plausibility(
        draw(circuits_over(schema.features, target, parametric=parametric)),
        weight=draw(st.sampled_from([0.0, 0.0, 0.05, 1.0, 20.0])),
        given=tuple(name for name in known if draw(st.integers(0, 2)) == 0),
        approximate=draw(st.booleans()),
    )
    problem = Problem(schema, np.full(len(schema), math.nan), form, goal, plausibility)
    reachable = np.concatenate([log_likelihoods(problem, rows, alternative) for alternative in goal.alternatives])
    # Anything, a likelihood that a row has, a likely one, more than there is.
    some = draw(st.sampled_from(reachable))
    likely = float(np.quantile(reachable, draw(st.sampled_from([0.5, 0.9, 1.0])), method="higher"))
    return replace(plausibility, lower=float(draw(st.sampled_from([-math.inf, some, some, likely, likely, reachable.max() + 1]))))


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    features: int = 4,
    rows: int = 1000,
    rules: int = 3,
    kinds: Sequence[str] = ("linear", "network", "forest"),
    plausible: bool | None = None,
    parametric: bool = True,
) -> Problem:
    """A problem with no more rows than that (a few more if the factual lies outside): features, rules, prices, factuals,
    models, goals and circuits of every kind.

    `plausible`: whether there is a circuit, None for either.
    """
    schema = draw(finite_schemas(features=features, rows=rows, rules=rules))
    return draw(problems_over(schema, kinds=kinds, plausible=plausible, parametric=parametric))


@st.composite
def problems_over(
    draw: st.DrawFn,
    schema: Schema,
    *,
    kinds: Sequence[str] = ("linear", "network", "forest"),
    plausible: bool | None = None,
    parametric: bool = True,
) -> Problem:
    """A problem of this schema, or of one that is wider where the factual lies outside."""
    factual = draw(asked_factuals(schema))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)
        wide = schema.widened(factual)
    some = draw(rows_of(wide))
    form = draw(forms(schema.features, kinds))
    goal = draw(goals(form, some))
    if plausible is None:
        plausible = draw(st.integers(0, 2)) > 0
    plausibility = draw(plausibilities(schema, form, goal, some, parametric=parametric)) if plausible else None
    return Problem(wide, factual, form, goal, plausibility)


@st.composite
def hard_problems(
    draw: st.DrawFn, *, kinds: Sequence[str] = ("linear", "network", "forest"), rows: int = 4000, plausible: bool | None = None
) -> Problem:
    """A problem in which everything depends on everything, so that a search has to split boxes: a model that reads all
    features, a mixture of products of histograms, prices that differ. Few rules, and a factual that is known.
    """
    rng = draw(generators())
    features: list[Feature] = []
    while (room := rows // math.prod(len(values_of(feature)) for feature in features)) >= 3:
        features.append(draw(finite_features("abcdefgh"[len(features)], most=min(8, room))))
        if len(features) == 8:
            break
    schema = draw(ruled(Schema(tuple(features), (), tuple(some_cost(rng, feature) for feature in features)), 1))
    form = some_form(rng, features, draw(st.sampled_from(kinds)))
    factual = np.array([rng.choice(values_of(feature)) for feature in features])
    goal = not_class(form, form.predict(factual[None])[0])
    if plausible is None:
        plausible = draw(st.booleans())
    circuit = some_mixture(rng, features, Categorical("the class", form.classes), draw(st.integers(2, 8)))
    plausibility = Plausibility(circuit, weight=float(rng.choice([0.0, 0.2, 1.0])), approximate=draw(st.booleans()))
    return Problem(schema, factual, form, goal, plausibility if plausible else None)
