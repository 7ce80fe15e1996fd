"""Whether the parts of a problem fit each other: what an engine is given, it may rely on."""

from __future__ import annotations

import numpy as np

from likely.circuit import Circuit
from likely.errors import ProblemError
from likely.predictor import Form
from likely.predictor.composite import parts_of, trees_of
from likely.predictor.forms import ColumnForm
from likely.problem.goal import Alternative, Goal
from likely.problem.plausibility import Coherence, Plausibility
from likely.schema import Schema

_READ = "read the model with this schema: likely.predictor.read(model, schema)"


def check_parts(
    schema: Schema, form: Form, goal: Goal, plausibility: Plausibility | None, coherence: Coherence | None = None
) -> None:
    """Raises ProblemError if the form reads features that the schema does not have, the goal or the circuit does not fit.

    Args:
        schema: The features.
        form: The model.
        goal: What it is to decide.
        plausibility: How likely a row must be.
        coherence: How well its values must fit together.
    """
    for trees in trees_of(form):
        _check_features(schema, int(trees.nodes["feature"].max(initial=-1)))
    for part in parts_of(form):
        if isinstance(part, ColumnForm):
            _check_columns(schema, part)
    if not goal.alternatives:
        raise ProblemError("A goal", "have at least one alternative", "none", "use to_class, probability or prediction")
    for alternative in goal.alternatives:
        _check_alternative(alternative, form.outputs)
    for demand in (plausibility, coherence):
        if demand is not None:
            _check_circuit(schema, demand.circuit)


def _check_features(schema: Schema, last: int) -> None:
    if last >= len(schema):
        rule = f"read features of its schema, which has {len(schema)}"
        raise ProblemError("The model of a problem", rule, f"feature number {last}, counted from 0", _READ)


def _check_columns(schema: Schema, form: ColumnForm) -> None:
    _check_features(schema, max((column.feature for column in form.columns), default=-1))
    for column in form.columns:
        feature = schema.features[column.feature]
        values, entries = len(feature.atoms), len(column.table)
        if column.discrete == feature.numeric or (entries != values and not (feature.numeric and entries == 0)):
            rule = f"be {'linear in its numbers' if feature.numeric else 'a table'}, with an entry for each of {values} values"
            got = f"discrete={column.discrete}, {entries} entries"
            raise ProblemError(f"A column of feature {feature.name!r}", rule, got, _READ, feature=feature.name)


def _check_alternative(alternative: Alternative, outputs: int) -> None:
    coefficients, lower = np.shape(alternative.coefficients), np.shape(alternative.lower)
    if len(coefficients) != 2 or coefficients[1] != outputs or lower != coefficients[:1] or not coefficients[0]:
        raise ProblemError(
            "An alternative of a goal", f"have a coefficient for each of {outputs} scores, and a lower end per inequality",
            f"shapes {coefficients} and {lower}", "use to_class, probability or prediction",
        )  # fmt: skip
    if not (np.isfinite(alternative.coefficients).all() and np.isfinite(alternative.lower).all()):
        raise ProblemError("An alternative of a goal", "have finite numbers", "NaN or infinity", "leave the inequality out")
    share = alternative.share
    if share is not None and not (0 <= share.output < outputs and np.isfinite(share.scale) and 0 <= share.low <= share.high <= 1):
        rule = f"be of one of {outputs} scores, with 0 <= low <= high <= 1"
        raise ProblemError("A share of a goal", rule, str(share), "use probability")


def _check_circuit(schema: Schema, circuit: Circuit) -> None:
    features = circuit.features
    if [(f.name, f.numeric) for f in schema.features] != [(f.name, f.numeric) for f in features]:
        raise ProblemError(
            "The circuit of a problem", f"be over its schema's features {list(schema.names)}, each of the same kind",
            str([f"{f.name} ({f.kind})" for f in features]), "learn it with this schema: likely.circuit.learn(X, y, schema)",
        )  # fmt: skip
