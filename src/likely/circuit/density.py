"""`Density`: how likely rows are, as an estimator with the conventions of scikit-learn."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely._display.tables import aligned, ruled, shortened
from likely._params import Params
from likely.circuit.learning.bins import FINEST
from likely.circuit.learning.learn import Learned, learn
from likely.circuit.learning.table import open_schema
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.tabular import unlisted_place
from likely.circuit.queries.sample import sample_rows
from likely.circuit.queries.surprise import coherence, log_conditionals
from likely.errors import CircuitError, NotFittedError
from likely.schema import Schema
from likely.schema.frames import as_pandas, dtypes_of, in_kind
from likely.schema.values import Name, Numbers

#: Rows of the training table, drawn at random, with which a row is compared.
REFERENCE = 1000
#: Pairs are formed of so many features whose values are the least usual alone.
PAIRED = 8
#: So many parts of a row are printed.
SHOWN = 10


@dataclass(frozen=True)
class RowPart:
    """One feature of a row, or two, given all its other values."""

    features: tuple[Name, ...]
    #: As a person would write them.
    shown: tuple[str, ...]
    #: log p(these values | all others of the row)
    log_conditional: float
    #: The median of the same in the training table.
    usual: float
    #: The share of training rows, in per cent, for which it is lower.
    percentile: float


@dataclass(frozen=True)
class RowReport:
    """What makes a row unlikely: its features and pairs, the least usual first."""

    log_likelihood: float
    #: The share of training rows, in per cent, that are less likely.
    percentile: float
    #: `likely.circuit.coherence`: how well the values fit together.
    coherence: float
    #: The share of training rows, in per cent, whose values fit less well together.
    coherence_percentile: float
    parts: tuple[RowPart, ...]

    def to_frame(self) -> pd.DataFrame:
        """A row per feature or pair, the least usual first: a table of pandas, also where the density was fitted to polars."""
        return pd.DataFrame(
            {
                "features": [part.features for part in self.parts],
                "shown": [part.shown for part in self.parts],
                "log_conditional": [part.log_conditional for part in self.parts],
                "usual": [part.usual for part in self.parts],
                "percentile": [part.percentile for part in self.parts],
            }
        )

    def __str__(self) -> str:
        cells = [["feature", "value", "log p(value | rest)", "usual", "percentile"]]
        for part in self.parts[:SHOWN]:
            names, values = (" & ".join(map(str, texts)) for texts in (part.features, part.shown))
            numbers = [f"{part.log_conditional:.2f}", f"{part.usual:.2f}", f"{part.percentile:.1f} %"]
            cells.append([shortened(names, 40), shortened(values, 30), *numbers])
        return "\n".join(
            [
                f"log-likelihood {self.log_likelihood:.2f}: likelier than {self.percentile:.1f} % of the training rows",
                f"coherence {self.coherence:.2f}: its values fit together better than those of {self.coherence_percentile:.1f} %",
                *ruled(aligned(cells, right=(2, 3, 4)), 0),
            ]
        )


class Density(Params):
    """How likely rows of a table are: anomaly scores, synthetic rows, and why a row is unlikely.

    An estimator with the conventions of scikit-learn. Tables may have numbers, categories, dates and missing values, as
    `Circuit.encode` reads them; arrays of numbers are tables whose columns are numbered.

    Args:
        schema: What the columns are; inferred if left out, with room for numbers beyond those of the table.
        method: As in `likely.circuit.learn`, and so are all other settings.
        nodes: The most nodes of the circuit.
        min_slice: For "learnspn": the share of the rows below which a slice is not divided.
        threshold: For "learnspn": columns are held for independent if their coefficient is at most this.
        finest: The width of the narrowest bins of numbers, as a share of their range.
        floor: The least density of every leaf.
        random_state: The same circuit for the same number.
        progress: Whether to show a bar on a terminal or in a notebook, and in a log a line every half a minute.
        n_jobs: Threads to work on; None or -1 for one per core.

    Attributes:
        circuit_: The circuit that was learned, for every other question: `likely.circuit`.
        schema_: What its columns are.
        learned_: How it was learned.
        n_features_in_: The number of columns.
        feature_names_in_: Their names, if all of them are texts.
    """

    _refusal = CircuitError
    circuit_: Circuit
    schema_: Schema
    learned_: Learned
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def __init__(
        self,
        *,
        schema: Schema | None = None,
        method: Literal["auto", "histograms", "mixture", "tree", "blocks", "learnspn"] = "auto",
        nodes: int | None = None,
        min_slice: float = 1 / 20,
        threshold: float = 0.3,
        finest: float = FINEST,
        floor: float | None = None,
        random_state: int = 0,
        progress: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.schema = schema
        self.method = method
        self.nodes = nodes
        self.min_slice = min_slice
        self.threshold = threshold
        self.finest = finest
        self.floor = floor
        self.random_state = random_state
        self.progress = progress
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the circuit of a table.

        Args:
            X: The rows: a DataFrame, or an array of numbers.
            y: Not looked at; it is there for pipelines. To model the class, make it a column of `X`.
            sample_weight: How many rows each row counts for; 1 each if left out.
        """
        self._dtypes = dtypes_of(X)
        X = as_pandas(X)
        table = _table(X)
        if self.schema is not None and not isinstance(X, pd.DataFrame) and table.shape[1] == len(self.schema):
            table = table.set_axis(list(self.schema.names), axis=1)
        schema = open_schema(table) if self.schema is None else self.schema
        settings = {name: value for name, value in self.get_params().items() if name != "schema"}
        self.learned_ = learn(table, None, schema, weights=sample_weight, **settings)
        self.circuit_, self.schema_ = self.learned_.circuit, schema
        self.n_features_in_ = len(schema)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if all(isinstance(name, str) for name in schema.names):
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        self._frames = isinstance(X, pd.DataFrame)
        drawn = np.random.default_rng(self.random_state).permutation(len(table))[:REFERENCE]
        self._reference = self.circuit_.encode(table.iloc[np.sort(drawn)])
        return self

    # -- scores ---------------------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> Numbers:
        """The log-likelihood of each row: the lower, the more of an anomaly.

        Args:
            X: Rows with the columns of `fit`.
        """
        return self._circuit().log_likelihood(self._columns(X), n_jobs=self.n_jobs)

    def score_coherence(self, X: Any) -> Numbers:
        """How well the values of each row fit together: `likely.circuit.coherence`.

        Args:
            X: Rows with the columns of `fit`.
        """
        return coherence(self._circuit(), self._columns(X), n_jobs=self.n_jobs)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the rows, in nats.

        Args:
            X: Rows with the columns of `fit`.
            y: Not looked at.
        """
        return float(np.mean(self.score_samples(X)))

    # -- rows -----------------------------------------------------------------------------------------------------

    def sample(self, n_samples: int = 1, random_state: int | None = None) -> Any:
        """Independent synthetic rows, none outside the bounds of `schema_`.

        Args:
            n_samples: How many.
            random_state: The same rows for the same number; others every time if left out.

        Returns:
            A DataFrame with the columns and dtypes of `fit`, of polars if that was; an array if `fit` was given one.
        """
        rows = sample_rows(self._circuit(), n_samples, np.random.default_rng(random_state))
        table = self.schema_.decode(rows)
        return in_kind(table, self._dtypes) if self._frames else table.to_numpy()

    def explain_row(self, row: Any) -> RowReport:
        """What makes a row unlikely: the exact conditionals of each feature, and of pairs, given all its other values.

        Each is compared with what is usual: the same conditional of training rows. Pairs are formed of the features that are
        the least usual alone; listed are those that are far less usual together: half the percentile of either or less.

        Args:
            row: A dict, Series, one-row DataFrame, or values in the order of the columns.

        Returns:
            A value that prints as a table and has `to_frame()`.
        """
        circuit = self._circuit()
        encoded = circuit.encode(self._columns(_one_row(row, self.schema_.names)))
        known = [name for name, number in zip(circuit.names, encoded[0].tolist(), strict=True) if not np.isnan(number)]
        parts = self._parts(encoded, [(name,) for name in known])
        odd = {part.features[0] for part in parts[:PAIRED]} if len(known) > 2 else set()
        paired = [name for name in known if name in odd]
        alone = {part.features[0]: part.percentile for part in parts}
        pairs = self._parts(encoded, list(combinations(paired, 2)))
        telling = [pair for pair in pairs if 2 * pair.percentile <= min(alone[name] for name in pair.features) > 0]
        parts = _ordered([*parts, *telling])
        log, usual_log = self._compared(circuit.log_likelihood, encoded)
        fit, usual_fit = self._compared(lambda rows: coherence(circuit, rows, n_jobs=self.n_jobs), encoded)
        return RowReport(log, usual_log, fit, usual_fit, tuple(parts))

    def _parts(self, encoded: Numbers, groups: Sequence[tuple[Name, ...]]) -> list[RowPart]:
        circuit = self.circuit_
        logs = log_conditionals(circuit, np.vstack([encoded, self._reference]), groups, n_jobs=self.n_jobs)
        return _ordered(
            RowPart(
                group,
                tuple(self._shown(encoded[0], name) for name in group),
                float(column[0]),
                float(np.median(column[1:])),
                _percentile(column[0], column[1:]),
            )
            for group, column in zip(groups, logs.T, strict=True)
        )

    def _shown(self, row: Numbers, name: Name) -> str:
        j = self.circuit_.index(name)
        variable = self.circuit_.variables[j]
        unlisted = not variable.numeric and row[j] == unlisted_place(variable)
        return "a new category" if unlisted else variable.show_with_unit(row[j])

    def _compared(self, score: Any, encoded: Numbers) -> tuple[float, float]:
        """The score of a row, and the share of training rows, in per cent, whose score is lower."""
        value = float(score(encoded)[0])
        return value, _percentile(value, score(self._reference))

    def plot_marginals(self, names: Collection[Name] | None = None) -> Any:
        """A picture of the marginal density of each feature: `likely.show.plot_marginals`. Needs matplotlib.

        Args:
            names: Which features; all of them if left out.
        """
        return import_module("likely.show").plot_marginals(self._circuit(), names)  # pictures know circuits, not vice versa

    # -- conventions ----------------------------------------------------------------------------------------------

    def _circuit(self) -> Circuit:
        if not hasattr(self, "circuit_"):
            raise NotFittedError("A Density", "be fitted", "one that is not", "call fit(X) first")
        return self.circuit_

    def _columns(self, X: Any) -> pd.DataFrame:
        """A table with the columns of `fit`: those of a DataFrame by name, those of an array by place."""
        X = as_pandas(X)
        table = _table(X)
        if isinstance(X, pd.DataFrame) and self._frames:
            return table
        if table.shape[1] != self.n_features_in_:
            got = f"X has {table.shape[1]} features, but Density is expecting {self.n_features_in_} features as input"
            raise CircuitError("An array", "have the columns of fit", got, "give the columns that it was fitted on")
        return table.set_axis(list(self.schema_.names), axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "circuit_")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks an estimator about itself."""
        tags = import_module("sklearn.utils")
        return tags.Tags(
            estimator_type="density_estimator",
            target_tags=tags.TargetTags(required=False),
            input_tags=tags.InputTags(allow_nan=True, string=True, categorical=True),
        )


def _ordered(parts: Any) -> list[RowPart]:
    """The least usual first; of those that are equally unusual, the one farthest below what is usual."""
    return sorted(parts, key=lambda part: (part.percentile, part.log_conditional - part.usual))


def _percentile(value: float, others: Numbers) -> float:
    return float(100 * np.mean(others < value))


def _table(X: Any) -> pd.DataFrame:
    """A DataFrame as it is, an array as one whose columns are numbered; refuses what is neither."""
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "toarray"):
        raise CircuitError("A table", "be dense", f"sparse {type(X).__name__}", "use X.toarray()")
    values = np.asarray(X)
    if values.ndim != 2:
        hint = "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        raise CircuitError("A table", "be a DataFrame or an array of rows x columns", f"shape {values.shape}", hint)
    if np.iscomplexobj(values):
        raise CircuitError("A table", "hold real numbers", "Complex data not supported", "use its real and imaginary part")
    if 0 in values.shape:
        rows, columns = values.shape
        got = f"{rows} sample(s), {columns} feature(s) (shape={values.shape}) while a minimum of 1 is required"
        raise CircuitError("A table", "have rows and columns", got, "check how it was read")
    return pd.DataFrame(values).infer_objects()


def _one_row(row: Any, names: Sequence[Name]) -> pd.DataFrame:
    """One row as a table."""
    row = as_pandas(row)
    if isinstance(row, pd.DataFrame):
        if len(row) != 1:
            raise CircuitError("A row", "be one row", f"a DataFrame of {len(row)} rows", "use X.iloc[[i]] or X.iloc[i]")
        return row
    if isinstance(row, pd.Series):
        return row.to_frame().T.infer_objects()
    if isinstance(row, Mapping):
        return pd.DataFrame([dict(row)])
    return pd.DataFrame([list(row)], columns=list(names))
