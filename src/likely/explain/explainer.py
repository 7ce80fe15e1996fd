"""`Explainer`: from a fitted model and a table to answers with a proof."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from likely.circuit import Circuit, learn
from likely.errors import ExplainerError, LikelyWarning, ProblemError, SchemaError
from likely.explain import files
from likely.explain.batch import answered
from likely.explain.engines import solve_of
from likely.explain.explanation import Explanation
from likely.explain.fitted import Fitted, refuse_misfit
from likely.explain.front import QUANTILES, By, Front, front_of
from likely.explain.model import own_model
from likely.explain.params import Params
from likely.explain.plausibility import Quantile, Variant, Weight, check_variant, check_weight
from likely.explain.query import Query, values_of
from likely.explain.solving import explained, problems_of, thresholds_of
from likely.explain.training import UNKNOWN_CLASS, given_names, training_of
from likely.predictor import Form
from likely.problem import SCORE_MARGIN, Conflict, Limits, Progress, why
from likely.schema import Constraint, Immutable, Schema
from likely.schema.values import Name, Numbers, Value, plain

MEDIAN = Quantile(0.5)


class Explainer(Params):
    """Counterfactual explanations of a fitted model.

    `model` is your own: a fitted scikit-learn estimator or Pipeline, a torch `Sequential`, an ONNX, XGBoost or LightGBM
    model, or the path of a file that `likely.predictor.read` knows. `schema` says what a row may be and which rules an answer
    must keep; left out, it is inferred from the table. `circuit` says how likely a row is; left out, it is learned. `engine`
    is "search", the exact engine, or "mio", the paper's mixed-integer programme, which a `solver` solves: "highs" (the
    default), "scip" or "gurobi". `encoder` and `classes` are those of `likely.predictor.read`, for models that read encoded
    inputs or do not know their labels. `seed` is for learning; `progress` shows bars on a terminal.

    After `fit` nothing changes any more: an explainer may be shared by threads, and the same question has the same answer.
    """

    def __init__(
        self,
        model: Any,
        schema: Schema | None = None,
        circuit: Circuit | None = None,
        engine: str = "search",
        *,
        solver: str | None = None,
        encoder: Any = None,
        classes: Sequence[Any] | None = None,
        seed: int = 0,
        progress: bool = True,
    ) -> None:
        self.model = model
        self.schema = schema
        self.circuit = circuit
        self.engine = engine
        self.solver = solver
        self.encoder = encoder
        self.classes = classes
        self.seed = seed
        self.progress = progress

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: pd.DataFrame | Numbers, y: Any = None) -> Self:
        """Read the model, learn how likely rows are, and keep how likely the rows of this table are.

        `y` are the true classes; without them, what the model decides takes their place.
        """
        solve_of(self.engine, self.solver)
        table = _table(X, self.schema)
        schema = Schema.infer(table) if self.schema is None else self.schema
        rows = schema.encode(table)
        own = own_model(self.model, schema, encoder=self.encoder, classes=self.classes)
        complete = ~np.isnan(rows).any(axis=1)
        decided = np.full(len(rows), UNKNOWN_CLASS, dtype=np.intp)
        decided[complete] = [own.form.classes.index(label) for label in own.labels(rows[complete])]
        labels = _labels(y, decided, own.form, table.index)
        circuit = self.circuit
        if circuit is None:
            circuit = learn(table, labels, schema, random_state=self.seed, progress=self.progress).circuit
        refuse_misfit(circuit, schema, own.form)
        classes = np.empty(0) if circuit.target is None else circuit.target.encode(labels)
        numbers = np.array([_number(label, own.form) for label in labels], dtype=np.intp)
        self._fitted = Fitted(schema, own, circuit, training_of(circuit, schema, rows, classes, numbers, decided))
        return self

    @property
    def _known(self) -> Fitted:
        if not self.__sklearn_is_fitted__():
            raise ExplainerError("An Explainer", "be fitted", "one that is not", "call fit(X, y) first")
        return self._fitted

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` was called."""
        return hasattr(self, "_fitted")

    @property
    def schema_(self) -> Schema:
        """The schema, given or inferred."""
        return self._known.schema

    @property
    def circuit_(self) -> Circuit:
        """The circuit, given or learned."""
        return self._known.circuit

    @property
    def form_(self) -> Form:
        """What the model computes."""
        return self._known.form

    @property
    def classes_(self) -> tuple[Value, ...]:
        """The model's classes."""
        return self._known.form.classes

    # -- asking ---------------------------------------------------------------------------------------------------

    def explain(
        self,
        row: Any,
        target: Any = None,
        k: int = 1,
        plausibility: Variant | None = MEDIAN,
        *,
        weight: float = 0.0,
        constraints: Iterable[Constraint] = (),
        locked: Iterable[Name] = (),
        limits: Limits | None = None,
        margin: float = SCORE_MARGIN,
        callback: Callable[[Progress], bool] | None = None,
    ) -> Explanation:
        """The k best rows that the model decides otherwise, and the proof.

        `row` is a Series, a dict, a one-row DataFrame, or values in the order of the schema. `target` is the class to reach;
        left out, any other than the row's own. `plausibility` says how likely an answer must be, and `weight` how much
        likelihood counts in what is minimised: cost - weight * log-likelihood. `constraints` and `locked` features are for
        this question alone. Without `limits`, it may take a minute, and no answer changes all that a better one changes;
        `Limits()` takes the k best, which often differ little. `margin` is by how much score an answer must be on the other
        side. `callback` is called some thirty times a second and ends the search by returning False; so does Ctrl-C, and what
        was found is returned.

        Every answer is checked with the model's own predict, the rules and the circuit before it is returned. That there
        is none is a status, not an error.
        """
        query = self._query(self._encoded(row), None, target, k, plausibility, weight, self._rules(constraints, locked), limits)
        found = explained(self._known, query, margin=margin, callback=callback)
        if found.interrupted and callback is None:
            warnings.warn("Explaining was interrupted; the answers are what was found until then.", LikelyWarning, stacklevel=2)
        return found

    def explain_many(
        self,
        X: pd.DataFrame | Numbers,
        target: Any = None,
        k: int = 1,
        plausibility: Variant | None = MEDIAN,
        *,
        weight: float = 0.0,
        constraints: Iterable[Constraint] = (),
        locked: Iterable[Name] = (),
        limits: Limits | None = None,
        margin: float = SCORE_MARGIN,
        threads: int = 0,
    ) -> list[Explanation]:
        """The explanation of every row of a table, in order; see `explain`.

        The same answers on any number of threads (0: all cores), unless a limit of seconds comes first. Ctrl-C keeps
        what is finished; a row that was not searched has status "unknown".
        """
        fitted = self._known
        rows = fitted.schema.encode(_table(X, fitted.schema))
        rules = self._rules(constraints, locked)
        complete = np.asarray(~np.isnan(rows).any(axis=1))
        labels = iter(fitted.own.labels(rows[complete]))
        queries = [
            self._query(row, next(labels) if known else None, target, k, plausibility, weight, rules, limits)
            for row, known in zip(rows, complete, strict=True)
        ]
        return answered(fitted, queries, margin=margin, threads=threads, progress=self.progress)

    def front(
        self,
        row: Any,
        target: Any = None,
        *,
        by: By = "likelihood",
        quantiles: Sequence[float] = QUANTILES,
        plausibility: Variant | None = MEDIAN,
        constraints: Iterable[Constraint] = (),
        locked: Iterable[Name] = (),
        limits: Limits | None = None,
    ) -> Front:
        """What plausibility costs a row (by="likelihood"), or what it costs to change few features (by="changes").

        By likelihood, the cheapest answer at each quantile of the training rows (`plausibility` says which rows and which
        density); by changes, the cheapest one under `plausibility` with every number of changes.
        """
        fitted = self._known
        query = self._query(self._encoded(row), None, target, 1, plausibility, 0.0, self._rules(constraints, locked), limits)
        return front_of(
            query,
            by,
            quantiles,
            lambda asked, known: explained(fitted, asked, margin=SCORE_MARGIN, known=known),
            lambda asked: thresholds_of(fitted, asked),
        )

    def why_not(
        self,
        row: Any,
        target: Any = None,
        plausibility: Variant | None = MEDIAN,
        *,
        constraints: Iterable[Constraint] = (),
        locked: Iterable[Name] = (),
        limits: Limits | None = None,
        margin: float = SCORE_MARGIN,
    ) -> Conflict:
        """The smallest set of demands that excludes every answer, and what giving up each of them would bring.

        Refuses a row that has an answer.
        """
        fitted = self._known
        query = self._query(self._encoded(row), None, target, 1, plausibility, 0.0, self._rules(constraints, locked), limits)
        if explained(fitted, query, margin=margin):
            raise ProblemError("A row to ask why_not of", "have no answer", "one that has", "use explain with the same arguments")
        problems = problems_of(fitted, query, margin, thresholds_of(fitted, query))
        if len(problems) > 1:
            known = ", ".join(repr(label) for label in fitted.form.classes)
            raise ProblemError("why_not", "be asked about one class", f"any of {len(problems)}", f"give target=, one of {known}")
        return why(problems[0], solve_of(self.engine, self.solver), query.limits)

    # -- from what the user writes to queries ------------------------------------------------------------------------

    def _encoded(self, row: Any) -> Numbers:
        return self._known.schema.encode_row(row)

    def _rules(self, constraints: Iterable[Constraint], locked: Iterable[Name]) -> Schema:
        """The schema with what is asked for this time."""
        names = (locked,) if isinstance(locked, (str, int)) else locked
        more = (*constraints, *(Immutable(name) for name in names))
        return self._known.schema.with_constraints(*more) if more else self._known.schema

    def _query(
        self,
        row: Numbers,
        label: Value,
        target: Any,
        k: int,
        plausibility: Variant | None,
        weight: float,
        schema: Schema,
        limits: Limits | None,
    ) -> Query:
        fitted = self._known
        if np.isnan(row).any():
            _refuse_no_target(schema, row, target)
        elif label is None:
            label = fitted.own.labels(row[None])[0]
        wanted = _target(fitted.form, label, target)
        variant, weight = check_variant(plausibility), check_weight(weight)
        if weight and isinstance(variant, Weight):
            raise ProblemError("The weight of likelihood", "be given once", f"{variant} and weight={weight}", "leave one out")
        held = schema.widened(row)
        asked = replace(limits or Limits(other_features=True), solutions=k)
        given = () if variant is None else given_names(variant.given, fitted.schema, fitted.circuit)
        return Query(held, values_of(held, row), label, wanted, variant, weight, asked, given, self.engine, self.solver)

    # -- files ----------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write a folder of JSON and plain arrays. The model stays where it is: its class and a fingerprint are kept."""
        settings = {"engine": self.engine, "solver": self.solver, "seed": self.seed, "progress": self.progress}
        files.save(folder, self._known, self.model, settings)

    @classmethod
    def load(cls, folder: str | Path, model: Any = None, *, encoder: Any = None) -> Self:
        """The explainer in a folder, with the model it was fitted with; another model is refused.

        The model may be left out if it was given as the path of a file, which is then read again.
        """
        fitted, model, settings = files.load(folder, model, encoder)
        made = cls(model, fitted.schema, fitted.circuit, encoder=encoder, classes=fitted.form.classes, **settings)
        made._fitted = fitted
        return made


def _table(X: pd.DataFrame | Numbers, schema: Schema | None) -> pd.DataFrame:
    """A DataFrame as it is; an array with the schema's columns."""
    if isinstance(X, pd.DataFrame):
        return X
    if schema is None or np.ndim(X) != 2 or np.shape(X)[1] != len(schema):
        rule = "be a DataFrame, or an array with a schema of as many features"
        got = f"{type(X).__name__} of shape {np.shape(X)}"
        raise SchemaError("A table", rule, got, "use pd.DataFrame(X, columns=[...])")
    return pd.DataFrame(X, columns=list(schema.names))


def _labels(y: Any, decided: np.ndarray[Any, np.dtype[np.intp]], form: Form, index: pd.Index[Any]) -> pd.Series[Any]:
    """The classes of the training rows; what the model decides, where none are given."""
    if y is None:
        return pd.Series([form.classes[k] if k >= 0 else None for k in decided], index=index, name="class")
    column = pd.Series(y) if np.ndim(y) == 1 else None
    if column is None or len(column) != len(index):
        raise SchemaError("y", f"have one class per row ({len(index)})", f"shape {np.shape(y)}", "give a Series or a list")
    return column


def _number(label: Any, form: Form) -> int:
    known = plain(label)
    return form.classes.index(known) if known in form.classes else UNKNOWN_CLASS


def _refuse_no_target(schema: Schema, row: Numbers, target: Any) -> None:
    """Refuse a row with unknown values whose class would be needed."""
    if target is None:
        name = schema.names[int(np.isnan(row).argmax())]
        raise SchemaError(
            "A row to explain without a target", f"have a value of feature {name!r}", "an unknown",
            "fill it in, or say target=, the class to reach", feature=name,
        )  # fmt: skip


def _target(form: Form, label: Value, target: Any) -> Value:
    wanted = plain(target)
    if wanted is None:
        return next(own for own in form.classes if own != label) if len(form.classes) == 2 else None
    if wanted not in form.classes:
        known = ", ".join(repr(own) for own in form.classes)
        raise ProblemError("The target", "be one of the model's classes", repr(wanted), f"it has {known}")
    if wanted == label:
        raise ProblemError(
            "The target", "differ from the row's class", f"{wanted!r}, which the model decides already", "leave it out"
        )
    return wanted
