"""`Fitted`: everything that an explainer knows after `fit`, as a value that threads may share."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version

import numpy as np

from likely.circuit import Circuit, coherence
from likely.errors import CircuitError
from likely.explain.explanation import Evidence
from likely.explain.model import UserModel, fingerprint
from likely.explain.query import Query
from likely.explain.training import Training
from likely.explain.unread import unread_features
from likely.predictor import Form
from likely.problem import Plausibility
from likely.schema import Feature, Schema
from likely.schema.values import Name, Numbers, Value


@dataclass(frozen=True, eq=False)
class Fitted:
    """The model, the schema, the circuit and what is kept of the training rows."""

    schema: Schema
    user_model: UserModel
    circuit: Circuit
    training: Training

    @property
    def form(self) -> Form:
        """What the model computes."""
        return self.user_model.form

    @cached_property
    def unread(self) -> tuple[Name, ...]:
        """The names of the features that the model does not read."""
        return unread_features(self.form, self.schema)

    @cached_property
    def evidence(self) -> Evidence:
        """With what explanations are made."""
        packages = {name: version(name) for name in ("likely", "numpy", "pandas")}
        versions = {**packages, "python": platform.python_version()}
        circuit, schema = fingerprint(self.circuit.to_dict()), fingerprint(self.schema.to_dict())
        return Evidence(self.user_model.fingerprint, circuit, versions, schema)


def log_likelihood_of(circuit: Circuit, query: Query, row: Numbers, label: Value) -> float:
    """log p of a row with a class, given what the query says.

    Args:
        circuit: How likely rows are.
        query: What likelihoods are given, and the factual that has it.
        row: A complete row.
        label: Its class.
    """
    target = math.nan if circuit.target is None else circuit.target.number(label)
    return float(Plausibility(circuit, given=query.given).log_likelihoods(row[None], query.factual, target)[0])


def coherence_of(circuit: Circuit, row: Numbers, label: Value) -> float:
    """How well the values of a row fit together, and with a class: `likely.circuit.coherence`.

    Args:
        circuit: How likely rows are.
        row: A complete row.
        label: Its class.
    """
    whole = row if circuit.target is None else np.append(row, circuit.target.number(label))
    return float(coherence(circuit, whole[None], n_jobs=1)[0])


def refuse_misfit(circuit: Circuit, schema: Schema, form: Form) -> None:
    """Refuse a circuit over other features than the schema's, or of other classes than the model's."""
    if circuit.names[: len(circuit.features)] != schema.names:
        got = ", ".join(repr(feature.name) for feature in circuit.features)
        raise CircuitError(
            "A circuit", "have the schema's features, in order", got, "learn it with likely.circuit.learn(X, y, schema)"
        )
    for variable, feature in zip(circuit.features, schema.features, strict=True):
        if _coding(variable) != _coding(feature):
            raise CircuitError(
                f"Feature {feature.name!r} of a circuit", f"be {feature.kind} with the schema's values ({feature.describe()})",
                f"{variable.kind}: {variable.describe()}", "learn it with likely.circuit.learn(X, y, schema)",
                feature=feature.name,
            )  # fmt: skip
    if circuit.target is not None and not form.link.classifies:
        raise CircuitError(
            "A circuit beside a regressor", "be of the features alone", f"one with the class {circuit.target.name!r}",
            "learn it with likely.circuit.learn(X, schema=schema)",
        )  # fmt: skip
    known = () if circuit.target is None else circuit.target.atoms
    for label in form.classes if circuit.target is not None else ():
        if label not in known:
            raise CircuitError(
                "The classes of a circuit", "be those of the model", f"{list(known)}, without {label!r}",
                "give classes=[...] to name the model's as y does, or learn the circuit with the model's labels",
            )  # fmt: skip


def _coding(feature: Feature) -> tuple[bool, tuple[Value, ...]]:
    """What decides how values become doubles: discrete values and codes by their places, numbers as they are."""
    return feature.numeric, feature.atoms
