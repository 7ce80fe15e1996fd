"""`Explainer`: from a fitted model and a table to answers with a proof."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Self, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely._jobs import thread_count
from likely._params import Params
from likely.circuit import Circuit, Fold, Learned, learn
from likely.errors import ExplainerError, LikelyWarning, NotFittedError, ProblemError, SchemaError
from likely.explain import files
from likely.explain.batch import explained_all
from likely.explain.certifying import certify
from likely.explain.concluding import explained, refused
from likely.explain.conflict_words import coherence_words, in_words_of, likelihood_words
from likely.explain.deciding import Decision, decision_of
from likely.explain.dtype_rounding import held_row
from likely.explain.engines import solve_of
from likely.explain.explanation import Explanation
from likely.explain.fitted import Fitted, refuse_misfit
from likely.explain.front import QUANTILES, By, Front, front_of
from likely.explain.model import fingerprint, user_model
from likely.explain.outcomes import reached_rows, refuse_outcome, refuse_reached, refuse_target, target_of
from likely.explain.query import Query, unknown_feature
from likely.explain.question import Question, QuestionOptions, asked_question
from likely.explain.remembering import RememberingModel
from likely.explain.solving import problems_of, starts_for, thresholds_of
from likely.explain.tables import calibration_sample, class_places, decided_places, encoded, labels_of, table_of
from likely.explain.training import Sample, given_names, training_of
from likely.explain.watching import watched
from likely.predictor import Form
from likely.problem import Conflict, Progress, why
from likely.schema import Schema
from likely.schema.frames import dtypes_of
from likely.schema.values import Name, Numbers, Value

#: The parameters that `fit` depends on.
_FIT_PARAMS = ("model", "schema", "circuit", "encoder", "classes", "nodes", "random_state")
#: What `why_not` has at least to say why, after the proof that there is no answer: a limit of seconds is kept to within this.
_LEAST_SECONDS = 0.05


class Explainer(Params):
    """Counterfactual explanations of a fitted model.

    After `fit` nothing changes any more: an explainer may be shared by threads, and the same question has the same answer.
    What `fit` depends on may be set anew, and asks for another `fit`.

    Args:
        model: Your own: a fitted scikit-learn estimator or Pipeline, a torch module, an ONNX, XGBoost, LightGBM or CatBoost
            model, or the path of a file that `likely.predictor.read` knows.
        schema: What a row may be, and which rules an answer must keep; left out, it is inferred from the table.
        circuit: How likely a row is; left out, it is learned, and rows are held out to know how likely new ones are.
        engine: "search", the exact engine, or "mio", the paper's mixed-integer programme, which a solver solves.
        solver: For engine="mio": "highs" (the default), "scip" or "gurobi".
        encoder: That of `likely.predictor.read`, for models that read encoded inputs.
        classes: Those of `likely.predictor.read`, for models that do not know their labels.
        nodes: That of `likely.circuit.learn`: the most nodes of a circuit that is learned; left out, a few sizes are tried.
        random_state: The seed of learning.
        n_jobs: On how many threads a circuit is learned, many rows are explained (one thread each), and the search for one row
            goes on if it takes long; None or -1 for one per core. Answers are the same on any number.
        progress: Whether to show bars on a terminal or in a notebook, and in a log a line every half a minute.
    """

    _refusal = ExplainerError

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
        nodes: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: bool = True,
    ) -> None:
        self.model = model
        self.schema = schema
        self.circuit = circuit
        self.engine = engine
        self.solver = solver
        self.encoder = encoder
        self.classes = classes
        self.nodes = nodes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: pd.DataFrame | Numbers, y: Any = None, *, calibration: tuple[Any, Any] | None = None) -> Self:
        """Read the model, learn how likely rows are, and keep how likely the rows of this table and new rows are.

        Where the circuit is learned here, rows are held out in turn to know how likely new rows are. Of a circuit that was given
        that is not known without `calibration`, and answers are compared with the rows of this table.

        Args:
            X: The rows that the model was trained on, or others like them.
            y: Their true classes; left out, what the model decides takes their place. Of a regressor it is not used.
            calibration: Rows that the circuit has not seen, and is not to be learned from, with their classes: `(X, y)`.
        """
        solve_of(self.engine, self.solver)
        table = table_of(X, self.schema)
        schema = Schema.infer(table) if self.schema is None else self.schema
        rows = schema.encode(table)
        model = user_model(self.model, schema, encoder=self.encoder, classes=self.classes)
        decided = decided_places(model, rows)
        labels = labels_of(y, decided, model.form, table.index)
        circuit = self.circuit
        folds: tuple[Fold, ...] = ()
        if circuit is None:
            known = labels if model.form.link.classifies else None
            learned = self._learned(rows, known, schema, cross_fit=calibration is None)
            circuit, folds = learned.circuit, learned.folds
        refuse_misfit(circuit, schema, model.form)
        sample = Sample.of(rows, labels, circuit, class_places(labels, model.form))
        unseen = [(fold.circuit, sample.some(fold.rows)) for fold in folds]
        if calibration is not None:
            unseen = [(circuit, calibration_sample(calibration, schema, circuit, model))]
        training = training_of(circuit, schema, sample, decided, unseen)
        if not model.form.link.classifies:
            training = replace(training, accuracy=np.nan)
        self._dtypes = dtypes_of(X)
        return self._with(Fitted(schema, model, circuit, training))

    def _learned(self, rows: Numbers, labels: pd.Series[Any] | None, schema: Schema, *, cross_fit: bool) -> Learned:
        """The circuit of encoded rows, as the parameters say; one that the engine has exact bounds of."""
        return learn(
            rows,
            labels,
            schema,
            method="auto" if self.engine == "search" else "histograms",
            nodes=self.nodes,
            random_state=self.random_state,
            cross_fit=cross_fit,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )

    def _with(self, fitted: Fitted) -> Self:
        """This explainer, fitted, and with what."""
        self._fitted = fitted
        self._fitted_with = {name: getattr(self, name) for name in _FIT_PARAMS}
        return self

    @property
    def _known(self) -> Fitted:
        """What `fit` made; refuses an explainer that is not fitted, or not with the parameters that it has now."""
        if not hasattr(self, "_fitted"):
            raise NotFittedError("An Explainer", "be fitted", "one that is not", "call fit(X, y) first")
        changed = [name for name, value in self._fitted_with.items() if not _same(value, getattr(self, name))]
        if changed:
            got = f"one that was fitted with another {changed[0]}"
            raise NotFittedError("An Explainer", "be fitted with the parameters that it has", got, "call fit(X, y) again")
        return self._fitted

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` was called, with the parameters of now."""
        try:
            return self._known is not None
        except NotFittedError:
            return False

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

    @property
    def unread_(self) -> tuple[Name, ...]:
        """The names of the features that the model does not read."""
        return self._known.unread

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the features, in order."""
        return np.array(self._known.schema.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return len(self._known.schema)

    @property
    def fingerprint_(self) -> str:
        """A hash of all that answers depend on: model, circuit, schema, what `fit` kept of the rows, engine, versions."""
        known, digested = self._known, hashlib.sha256()
        for name, array in sorted(known.training.to_arrays().items()):
            digested.update(name.encode() + np.ascontiguousarray(array).tobytes())
        evidence = known.evidence
        parts = [evidence.model, evidence.circuit, evidence.schema, dict(evidence.versions), self.engine, self.solver]
        return fingerprint([*parts, digested.hexdigest()])

    @property
    def accuracy_(self) -> float:
        """The share of the complete rows of `fit` that the model decides as `y` says; NaN if there are none."""
        return self._known.training.accuracy

    # -- asking ---------------------------------------------------------------------------------------------------

    @property
    def _threads(self) -> int:
        return thread_count(self.n_jobs, ExplainerError)

    def decide(self, row: Any) -> Decision:
        """What the model says of a row as it is, and how likely the row is; nothing is searched.

        Args:
            row: As in `explain`.
        """
        fitted = self._known
        return decision_of(fitted, held_row(fitted.schema, fitted.schema.encode_row(row)))

    def widget(self, row: Any = None, *, title: str = "") -> Any:
        """The page of `likely serve` in a notebook: values to type, locks, limits and curves, answered here. Needs anywidget.

        Its `explanation` is the newest answer that it shows.

        Args:
            row: As in `explain`: the row to begin with; left out, one that is drawn from the density.
            title: What stands above it.
        """
        return import_module("likely.page.widget").Widget(self, row, title=title)  # the page knows explainers, not they it

    def explain(
        self,
        row: Any,
        question: Question | None = None,
        *,
        callback: Callable[[Progress], bool] | None = None,
        certificate: str | Path | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Explanation:
        """The best rows that the model decides otherwise, and the proof.

        Every answer is checked with the model's own predict, the rules and the circuit before it is returned. That there
        is none is a status, not an error.

        Args:
            row: A Series, a dict, a one-row DataFrame, or values in the order of the schema.
            question: What is asked; left out, the best answer that is as likely as the median of new rows of its class.
            callback: Called some thirty times a second; ends the search by returning False. So does Ctrl-C, and the answers
                until then are returned. On a terminal, a search that takes long shows how far its proof is (`progress`).
            certificate: The path of a file to which the proof is written that nothing is better than the best answer, or that
                there is none: `verify(explanation, model, circuit, certificate=path)` derives it again without the engine. It
                takes a second search, by the exact engine, which begins at the answers.
            options: Fields of the `Question`, such as `k=3` or `target="good"`; those given here come first.
        """
        query = self._query(self._known.schema.encode_row(row), asked_question(question, options))
        with watched(self.progress, query.question, callback) as watch:
            explanation = explained(self._known, query, callback=watch, threads=self._threads)
        if certificate is not None:
            certify(explanation, self._known.form, self._known.circuit, certificate)
        if explanation.interrupted and callback is None:
            warnings.warn("Explaining was interrupted; the answers are those until then.", LikelyWarning, stacklevel=2)
        return replace(explanation, dtypes=self._kind(row))

    def _kind(self, X: Any) -> dict[str, Any] | None:
        """The dtypes of a table of polars, if this is one or that of `fit` was; None for pandas."""
        if isinstance(X, (pd.DataFrame, pd.Series)):
            return None
        return dtypes_of(X) or getattr(self, "_dtypes", None)

    def explain_many(
        self, X: pd.DataFrame | Numbers, question: Question | None = None, **options: Unpack[QuestionOptions]
    ) -> list[Explanation]:
        """The explanation of every row of a table, in order; see `explain`.

        The same answers on any number of threads (`n_jobs`), unless a limit of seconds comes first. Ctrl-C keeps what is
        finished; a row that was not searched has status "unknown". A row of which the question cannot be asked - it has a value
        that the schema does not know, or is decided as wanted already - has status "refused", and `reason` says why.

        Args:
            X: The rows.
            question: What is asked about each.
            options: Fields of the `Question`, such as `k=3` or `target="good"`; those given here come first.
        """
        fitted, asked = self._known, asked_question(question, options)
        asked.refuse_strangers(fitted.schema)
        refuse_outcome(fitted.form, asked)
        refuse_target(fitted.form, asked.target)
        table = table_of(X, fitted.schema)
        rows, unreadable = encoded(table, fitted.schema)
        complete = np.asarray(~np.isnan(rows).any(axis=1))
        known = fitted.user_model.labels(rows[complete])
        labels, reached = iter(known), iter(reached_rows(fitted.user_model, asked, rows[complete], known))
        queries: list[Query | Explanation] = []
        for i, row in enumerate(rows):
            label, there = (next(labels), next(reached)) if complete[i] else (None, False)
            try:
                reason = unreadable.get(i)
                query = None if reason else self._query(row, asked, label, there)
            except (ProblemError, SchemaError) as error:
                query, reason = None, str(error)
            bare = Query(fitted.schema, row, label, asked, (), self.engine, self.solver, fitted.unread)
            queries.append(refused(fitted, bare, reason or "") if query is None else query)
        explanations = explained_all(fitted, queries, threads=self._threads, progress=self.progress)
        names = zip(explanations, table.index, strict=True)
        said = [replace(each, reason=f"Row {name}: {each.reason}") if each.reason else each for each, name in names]
        kind = self._kind(X)
        return said if kind is None else [replace(each, dtypes=kind) for each in said]

    def front(
        self,
        row: Any,
        question: Question | None = None,
        *,
        by: By = "likelihood",
        quantiles: Sequence[float] = QUANTILES,
        callback: Callable[[Progress], bool] | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Front:
        """What plausibility costs a row, or what it costs to change few features. The limit of seconds is for all points.

        Args:
            row: As in `explain`.
            question: What is asked; `k` and `weight` are not used, because each point is the cheapest answer.
            by: "likelihood": the cheapest answer at each quantile of new rows (the question's plausibility says which
                rows and which density). "changes": the cheapest one under the question's plausibility with every number of
                changes.
            quantiles: By likelihood: at which quantiles.
            callback: As in `explain`; the points until then are returned.
            options: Fields of the `Question`; those given here come first.
        """
        fitted, threads = self._known, self._threads
        asked = replace(asked_question(question, options), k=1, weight=0.0)
        made = front_of(
            self._query(fitted.schema.encode_row(row), asked),
            by,
            quantiles,
            lambda query, known, spent: explained(fitted, query, callback=callback, known=known, threads=threads, spent=spent),
            lambda query: thresholds_of(fitted, query),
        )
        kind = self._kind(row)
        return replace(made, points=tuple(replace(point, dtypes=kind) for point in made.points))

    def why_not(
        self,
        row: Any,
        question: Question | None = None,
        *,
        callback: Callable[[Progress], bool] | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Conflict:
        """The smallest set of demands that excludes every answer, and the cheapest way out: what to give up, and what it brings.

        Refuses a row that has an answer, or of which it is not decided in time. The limit of seconds is for all of it.

        Args:
            row: As in `explain`.
            question: What was asked; `k` and `weight` make no difference.
            callback: As in `explain`; what it comes before is not decided.
            options: Fields of the `Question`; those given here come first.
        """
        fitted = self._known
        asked = replace(asked_question(question, options), k=1, weight=0.0)
        query = self._query(fitted.schema.encode_row(row), asked)
        explanation = explained(fitted, query, callback=callback, threads=self._threads)
        if explanation:
            raise ProblemError("A row to ask why_not of", "have no answer", "one that has", "use explain with the same arguments")
        if explanation.status != "infeasible":
            got, undecided = f"status '{explanation.status}'", explanation.status == "unknown"
            hint = "raise the limits" if undecided else "see .status of explain with the same arguments"
            raise ProblemError("A row to ask why_not of", "be proved to have no answer", got, hint)
        thresholds = thresholds_of(fitted, query)
        problems = problems_of(fitted, query, asked.margin, thresholds)
        if len(problems) > 1:
            known = ", ".join(repr(label) for label in fitted.form.classes)
            raise ProblemError("why_not", "be asked about one class", f"any of {len(problems)}", f"give target=, one of {known}")
        starts = starts_for(fitted, query, list(thresholds))
        solve = partial(solve_of(self.engine, self.solver, self._threads), starts=starts, callback=callback)
        left = replace(query.limits, seconds=max(query.limits.seconds - explanation.seconds, _LEAST_SECONDS))
        words = None if query.target is None else likelihood_words(fitted, query)
        fit = None if query.target is None else coherence_words(query)
        return in_words_of(query.schema, why(problems[0], solve, left, words=words, coherence_words=fit))

    def _query(self, row: Numbers, question: Question, label: Value = None, reached: bool | None = None) -> Query:
        """The question about one row; the model is asked for what it says of a complete row, if that is not given."""
        fitted = self._known
        refuse_outcome(fitted.form, question)
        row = held_row(fitted.schema, row)
        unknown = unknown_feature(fitted.schema, row)
        if unknown is not None:
            if question.target is None and question.prediction is None:
                raise SchemaError(
                    "A row to explain without a target", f"have a value of feature {unknown!r}", "an unknown",
                    "fill it in, or say target=, the class to reach", feature=unknown,
                )  # fmt: skip
        elif label is None:
            label = fitted.user_model.labels(row[None])[0]
        wide = fitted.schema.widened(row)
        fitted.user_model.refuse_outside(wide)
        schema = question.schema_with_rules(wide, row)
        variant = question.plausibility
        given = () if variant is None else given_names(variant.given, fitted.schema, fitted.circuit)
        question = replace(question, target=target_of(fitted.form, label, question))
        if unknown is None and reached is None:
            reached = reached_rows(fitted.user_model, question, row[None], [label])[0]
        if reached:
            refuse_reached(question)
        rows = fitted.training.rows_for(variant)
        return Query(schema, row, label, question, given, self.engine, self.solver, fitted.unread, rows=rows)

    def remembering(self) -> Explainer:
        """The same explainer, which asks its model about the same row once: for many questions about few rows.

        The model must say the same of a row whenever it is asked. Digests of the last few thousand rows are kept, with what the
        model said of them.
        """
        fitted = self._known
        model = fitted.user_model
        asked = RememberingModel(model.model, model.form, model.schema, model.encoder)
        made = type(self)(**self.get_params())
        made._dtypes = getattr(self, "_dtypes", None)
        return made._with(replace(fitted, user_model=asked))

    # -- files ----------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write a folder of JSON and plain arrays. The model stays where it is: its class and a fingerprint are kept.

        Args:
            folder: Where to; it is made if it does not exist.
        """
        names = ("engine", "solver", "random_state", "n_jobs", "progress")
        files.save(folder, self._known, self.model, {name: getattr(self, name) for name in names})

    @classmethod
    def load(cls, folder: str | Path, model: Any = None, *, encoder: Any = None) -> Self:
        """The explainer in a folder, with the model it was fitted with; another model is refused.

        Args:
            folder: What `save` wrote.
            model: The model; it may be left out if it was given as the path of a file, which is then read again.
            encoder: The explainer's encoder, if it had one.
        """
        fitted, model, settings = files.load(folder, model, encoder)
        made = cls(model, fitted.schema, fitted.circuit, encoder=encoder, classes=fitted.form.classes, **settings)
        return made._with(fitted)


def _same(one: Any, other: Any) -> bool:
    """Whether a parameter is what it was: the same object, or the same seed."""
    return one is other or (isinstance(one, int) and isinstance(other, int) and one == other)
