"""`verify`: every claim of an explanation checked again, without the engine that made it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from likely.circuit import Circuit
from likely.errors import ExplainerError
from likely.explain.certifying import certificate_checks
from likely.explain.check import Check
from likely.explain.claims import Material, base_schema, claims_of
from likely.explain.explainer import Explainer
from likely.explain.explanation import Explanation
from likely.explain.model import fingerprint, user_model
from likely.schema import Schema

__all__ = ["Check", "Verification", "verify", "verify_all"]


@dataclass(frozen=True)
class Verification:
    """What was checked; true if nothing fails."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether no claim fails (one that could not be checked does not fail)."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The claims that do not hold."""
        return tuple(check for check in self.checks if check.holds is False)

    @property
    def not_checked(self) -> tuple[Check, ...]:
        """The claims that could not be checked; each `detail` says what to give."""
        return tuple(check for check in self.checks if check.holds is None)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        counts = [sum(check.holds is state for check in self.checks) for state in (True, False, None)]
        head = f"{counts[0]} claims hold, {counts[1]} fail, {counts[2]} could not be checked"
        return "\n".join([head, *(f"  {check}" for check in sorted(self.checks, key=_order))])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {"ok": self.ok, "checks": [vars(check) for check in self.checks]}


def _order(check: Check) -> int:
    """What fails first."""
    return {False: 0, None: 1, True: 2}[check.holds]


def verify(
    explanation: Explanation,
    model: Any = None,
    circuit: Circuit | None = None,
    *,
    schema: Schema | None = None,
    data: tuple[Any, Any] | None = None,
    explainer: Explainer | str | Path | None = None,
    encoder: Any = None,
    classes: Sequence[Any] | None = None,
    certificate: str | Path | None = None,
) -> Verification:
    """Every claim of an explanation, computed again: by the model's own predict, the schema, the circuit and the training rows.

    With an explainer (`verify(explanation, explainer)`) everything is checked that can be without the engine. What cannot is
    listed as not checked, with what to give: that nothing better exists is the engine's proof. With its certificate, that is
    derived again, too.

    Args:
        explanation: What to check.
        model: The model that was explained, the path of its file, or a fitted `Explainer`.
        circuit: The circuit that was used; left out, likelihoods are not checked.
        schema: The schema that was used; left out, the one in the explanation is believed.
        data: The table and the classes that the explainer was fitted with, `(X, y)`; needs the circuit. Left out, percentiles and
            what was asked for as a share of the training rows are not checked. Shares of rows that the circuit had not seen are
            checked with the explainer alone: it knows which were held out.
        explainer: A fitted explainer, or the folder of a saved one (with its model): has the schema, the circuit and how likely
            training rows and unseen ones are.
        encoder: The explainer's encoder, if it had one.
        classes: The explainer's names of classes, if it had some.
        certificate: The file that `explain(row, certificate=path)` wrote; needs the circuit.
    """
    given: dict[str, Any] = {"schema": schema, "data": data, "explainer": explainer, "encoder": encoder, "classes": classes}
    certificates = None if certificate is None else [certificate]
    return verify_all([explanation], model, circuit, **given, certificates=certificates)[0]


def verify_all(
    explanations: Iterable[Explanation],
    model: Any = None,
    circuit: Circuit | None = None,
    *,
    schema: Schema | None = None,
    data: tuple[Any, Any] | None = None,
    explainer: Explainer | str | Path | None = None,
    encoder: Any = None,
    classes: Sequence[Any] | None = None,
    certificates: Sequence[str | Path | None] | None = None,
) -> list[Verification]:
    """`verify` of many explanations; the model is read once for all that have the same schema.

    Args:
        explanations: What to check.
        model: The model that was explained, the path of its file, or a fitted `Explainer`.
        circuit: The circuit that was used; left out, likelihoods are not checked.
        schema: The schema that was used; left out, those in the explanations are believed.
        data: The table and the classes that the explainer was fitted with, `(X, y)`.
        explainer: A fitted explainer, or the folder of a saved one.
        encoder: The explainer's encoder, if it had one.
        classes: The explainer's names of classes, if it had some.
        certificates: The file of each explanation's proof; None where there is none.
    """
    if isinstance(model, Explainer):
        model, explainer = None, model
    if isinstance(explainer, (str, Path)):
        explainer = Explainer.load(explainer, model, encoder=encoder)
    if explainer is None and model is None:
        raise ExplainerError("An explanation", "be checked with its model", "none", "write verify(explanation, model)")
    if data is not None and circuit is None and explainer is None:
        raise ExplainerError("Training rows", "come with the circuit that was used", "none", "give circuit=, or explainer=")
    materials = _Materials(model, circuit, schema, data, encoder, classes)
    material = None if explainer is None else _material_of(explainer)
    mark = None if circuit is None else fingerprint(circuit.to_dict())
    if explainer is not None:
        mark = fingerprint(explainer.circuit_.to_dict())
    verifications = []
    explanations = list(explanations)
    for explanation, certificate in zip(explanations, certificates or [None] * len(explanations), strict=True):
        known = material or materials.of(explanation)
        checks = list(claims_of(explanation, known, mark))
        if certificate is not None:
            checks += certificate_checks(explanation, known.model.form, known.circuit, certificate)
        verifications.append(Verification(tuple(checks)))
    return verifications


def _material_of(explainer: Explainer) -> Material:
    fitted = explainer._known
    return Material(fitted.user_model, fitted.circuit, fitted.schema, fitted.training, schema_given=True)


class _Materials:
    """What explanations are checked against, made once for all that have the same schema."""

    def __init__(
        self, model: Any, circuit: Circuit | None, schema: Schema | None, data: tuple[Any, Any] | None, encoder: Any, classes: Any
    ) -> None:
        self._model, self._circuit, self._schema, self._data = model, circuit, schema, data
        self._reading = {"encoder": encoder, "classes": classes}
        self._known: list[tuple[Schema, Material]] = []

    def of(self, explanation: Explanation) -> Material:
        """What an explanation is checked against."""
        schema = self._schema or base_schema(explanation.query)
        for known, material in self._known:
            if known == schema:
                return material
        self._known.append((schema, self._made(schema)))
        return self._known[-1][1]

    def _made(self, schema: Schema) -> Material:
        given = self._schema is not None
        if self._data is None:
            return Material(user_model(self._model, schema, **self._reading), self._circuit, schema, None, given)
        X, y = self._data
        fitted = Explainer(self._model, schema, self._circuit, **self._reading, progress=False).fit(X, y)
        return replace(_material_of(fitted), schema_given=given)
