"""`Schema`: what a row may be, which rules a counterfactual must keep, and what a change costs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely._files import write_text
from likely.errors import LikelyWarning, SchemaError
from likely.schema import files, show
from likely.schema.constraint import Constraint
from likely.schema.constraints import (
    Decreasing,
    Immutable,
    Increasing,
    MaxChanges,
    constraint_from_dict,
)
from likely.schema.contradiction import refuse_contradictions
from likely.schema.costs import Cost, check_cost, cost_from_dict, fit_cost, unit_cost
from likely.schema.features import Feature, feature_from_dict
from likely.schema.frames import as_pandas
from likely.schema.infer import Override, infer_feature
from likely.schema.rules import Rule, all_satisfied
from likely.schema.times import clock_of
from likely.schema.validate import ValidationReport, validate
from likely.schema.values import Name, Numbers

VERSION = 1
#: A note names so many features.
_MOST_NAMED = 5


@dataclass(frozen=True, repr=False)
class Schema:
    """The columns of a table, the rules of a counterfactual and the costs of changes; a frozen value.

    Rows of the user (DataFrame, Series, dict) become arrays of doubles with `encode`, one column per feature, and
    come back unchanged with `decode`. Everything that searches or scores works on those arrays.
    """

    features: tuple[Feature, ...]
    constraints: tuple[Constraint, ...] = ()
    costs: tuple[Cost, ...] = ()
    #: What `infer` took from the data that you may want to know: said in tables and at the head of YAML files.
    notes: tuple[str, ...] = field(default=(), compare=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", _all_of(Feature, self.features, "features"))
        object.__setattr__(self, "constraints", tuple(dict.fromkeys(_all_of(Constraint, self.constraints, "constraints"))))
        if not self.features:
            raise SchemaError("A schema", "have at least one feature", "none", "use Schema.infer(X)")
        names = [feature.name for feature in self.features]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise SchemaError("The names of features", "differ", f"{name!r} twice", "rename one column", feature=name)
        object.__setattr__(self, "costs", tuple(self.costs) or tuple(unit_cost(f) for f in self.features))
        if len(self.costs) != len(self.features):
            raise SchemaError("A schema", "have one cost per feature", len(self.costs), "leave costs out or give all")
        for feature, cost in zip(self.features, self.costs, strict=True):
            check_cost(feature, cost)
        for constraint in self.constraints:
            for name in constraint.features:
                self.index(name)
            constraint.check(self)
        refuse_contradictions(self)

    # -- making ---------------------------------------------------------------------------------------------------

    @classmethod
    def infer(
        cls,
        X: pd.DataFrame,
        *,
        features: Mapping[Name, Override] | None = None,
        steps: Literal["detect"] | None = "detect",
        immutable: Iterable[Name] = (),
        increasing: Iterable[Name] = (),
        decreasing: Iterable[Name] = (),
        rules: Iterable[Constraint] = (),
        max_changes: int | None = None,
        weights: Mapping[Name, float | Mapping[str, float]] | None = None,
        fees: Mapping[Name, float] | float = 0.0,
        tables: Mapping[Name, Mapping[Any, Mapping[Any, float]]] | None = None,
    ) -> Schema:
        """The schema that a table suggests, with what you know better.

        Costs are the paper's (1 / MAD of the data), unless you say otherwise.

        Args:
            X: A table of data; a feature for each column.
            features: What is inferred wrongly, per column: a whole feature, the name of a kind, or just the settings that
                differ: `{"income": {"step": 0.01}, "risk": {"codes": {-9: "no record"}}, "rating": "ordinal"}`.
            steps: "detect" looks for the step that numbers were recorded to (0.1, 0.01, 5, 1000; `likely.schema.steps`), so
                that answers are values that a person would write down; None takes every number. Of one column,
                `features={"income": {"step": 0.01}}` tells the step, and `{"step": None}` that there is none.
            immutable: The features that may not change.
            increasing: The features that may not fall.
            decreasing: The features that may not rise.
            rules: Further constraints.
            max_changes: How many features may change; None for any number.
            weights: Factors of costs, per feature: one, or `{"up": a, "down": b}`.
            fees: What any change costs on top, for all features or per feature.
            tables: Prices of changes between values, per feature: `{old: {new: price}}`.
        """
        X = as_frame(X)
        _check_table(X)
        _check_names(X, features=features, weights=weights, tables=tables, fees=fees if isinstance(fees, Mapping) else None)
        if steps not in ("detect", None):
            raise SchemaError("'steps'", "be 'detect' or None", repr(steps), "write features={'income': {'step': 0.01}}")
        given = features or {}
        inferred = tuple(infer_feature(X[name], name, given.get(name), detect_step=steps is not None) for name in X.columns)
        costs = tuple(
            fit_cost(
                feature,
                feature.encode(X[feature.name]),
                (weights or {}).get(feature.name, 1.0),
                fees.get(feature.name, 0.0) if isinstance(fees, Mapping) else fees,
                (tables or {}).get(feature.name),
            )
            for feature in inferred
        )
        moves = _each(Immutable, immutable) + _each(Increasing, increasing) + _each(Decreasing, decreasing)
        most = (MaxChanges(max_changes),) if max_changes is not None else ()
        notes = _step_notes([feature for feature in inferred if feature.name not in given or not _says_step(given[feature.name])])
        return cls(inferred, (*moves, *_all_of(Constraint, rules, "constraints"), *most), costs, notes=notes)

    def with_constraints(self, *constraints: Constraint) -> Schema:
        """This schema with further constraints.

        Args:
            *constraints: What else a counterfactual must keep.
        """
        return replace(self, constraints=self.constraints + constraints)

    def widened(self, factual: Numbers) -> Schema:
        """This schema with domains that hold the factual; a `LikelyWarning` names each feature that was widened.

        Args:
            factual: The row to start from, as doubles; NaN where a value is unknown.
        """
        pairs = zip(self.features, factual, strict=True)
        features = tuple(
            feature.widened(float(number)) if _lies_outside(feature, number) else feature for feature, number in pairs
        )
        for sentence in self.outside(factual).values():
            warnings.warn(sentence, LikelyWarning, stacklevel=2)
        return self if features == self.features else replace(self, features=features)

    def outside(self, factual: Numbers) -> dict[Name, str]:
        """The features whose domain does not hold the factual's value, each with a sentence that says so.

        Args:
            factual: The row to start from, as doubles; NaN where a value is unknown.
        """
        return {
            feature.name: f"Feature {feature.name!r} of the factual is {feature.show(number)}, outside {feature.describe()}; "
            "its domain was widened to hold it."
            for feature, number in zip(self.features, factual, strict=True)
            if _lies_outside(feature, number)
        }

    # -- looking --------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[Name, ...]:
        """The features' names, in order."""
        return tuple(feature.name for feature in self.features)

    def __len__(self) -> int:
        return len(self.features)

    def index(self, name: Name) -> int:
        """The place of a feature.

        Args:
            name: Its name.
        """
        try:
            return self.names.index(name)
        except ValueError:
            near = get_close_matches(str(name), map(str, self.names), n=1) if isinstance(name, str) else []
            meant = f"did you mean {near[0]!r}? " if near else ""
            known = ", ".join(repr(n) for n in self.names)
            raise SchemaError(
                "A feature", "be in the schema", repr(name), f"{meant}the schema has {known}", feature=name
            ) from None

    def __getitem__(self, name: Name) -> Feature:
        return self.features[self.index(name)]

    def __repr__(self) -> str:
        return show.as_text(self)

    def _repr_html_(self) -> str:
        return show.as_html(self)

    # -- rows <-> arrays ------------------------------------------------------------------------------------------

    def encode(self, X: pd.DataFrame) -> Numbers:
        """A table as doubles, one column per feature; cells that are missing and no value of their feature are NaN.

        Args:
            X: A table with the user's columns.
        """
        X = as_frame(X)
        self._refuse_missing(X.columns)
        numbers = np.empty((len(X), len(self.features)))
        for j, feature in enumerate(self.features):
            numbers[:, j] = feature.encode(X[feature.name])
        return numbers

    def encode_row(self, row: Any, *, complete: bool = False) -> Numbers:
        """One row (dict, Series, one-row DataFrame, or values in the order of the features) as doubles.

        None or NaN is an unknown, unless missing is a value of the feature. A counterfactual is `complete`: an unknown
        is refused.

        Args:
            row: A dict, Series, one-row DataFrame, or values in the order of the features.
            complete: Whether an unknown value is an error.
        """
        row = as_pandas(row)
        if isinstance(row, pd.DataFrame):
            if len(row) != 1:
                raise SchemaError("A row", "be one row", f"a DataFrame of {len(row)} rows", "use X.iloc[[i]] or X.iloc[i]")
            row = row.iloc[0]
        if isinstance(row, (pd.Series, Mapping)):
            self._refuse_missing(row.keys())
            values = [row[name] for name in self.names]
        elif isinstance(row, (Sequence, np.ndarray)) and not isinstance(row, str):
            values = list(row)
            if len(values) != len(self.features):
                raise SchemaError("A row", f"have {len(self.features)} values", len(values), "use a dict to name them")
        else:
            raise SchemaError("A row", "be a dict, Series, one-row DataFrame or list", type(row).__name__, "use X.iloc[i]")
        numbers = np.array([feature.number(value) for feature, value in zip(self.features, values, strict=True)])
        if complete and np.isnan(numbers).any():
            name = self.names[int(np.isnan(numbers).argmax())]
            raise SchemaError("A counterfactual", f"have a value of feature {name!r}", "an unknown", "fill it in", feature=name)
        return numbers

    def _refuse_missing(self, names: Iterable[Any]) -> None:
        known = list(names)
        for name in self.names:
            if known.count(name) != 1:
                got, hint = ("several", "rename all but one") if name in known else ("none", "give None if it is unknown")
                raise SchemaError("A row", f"have a value of feature {name!r}", got, hint, feature=name)

    def decode(self, numbers: Numbers) -> pd.DataFrame:
        """An array of doubles as a table with the user's columns and dtypes.

        Args:
            numbers: Row x feature.
        """
        rows = np.atleast_2d(np.asarray(numbers, dtype=np.float64))
        if rows.shape[1] != len(self.features):
            raise SchemaError("An array of rows", f"have {len(self.features)} columns", rows.shape[1], "use schema.encode(X)")
        return pd.DataFrame({f.name: f.decode(rows[:, j]) for j, f in enumerate(self.features)})

    # -- judging --------------------------------------------------------------------------------------------------

    def validate(self, X: pd.DataFrame) -> ValidationReport:
        """Everything in a table that does not fit: cells outside their feature, rows that break a row-wise rule.

        Args:
            X: A table with the user's columns.
        """
        X = as_frame(X)
        return validate(self, X)

    def compile(self, factual: Numbers) -> tuple[Rule, ...]:
        """Every constraint for one factual, as the engines know it.

        Args:
            factual: The row to start from, as doubles; NaN where a value is unknown.
        """
        return tuple(rule for constraint in self.constraints for rule in constraint.compile(self, factual))

    def keeps(self, factual: Numbers, rows: Numbers) -> NDArray[np.bool_]:
        """Which rows of an array keep every constraint for this factual.

        Args:
            factual: The row to start from, as doubles; NaN where a value is unknown.
            rows: Rows, as doubles.
        """
        return all_satisfied(self.compile(factual), rows)

    def admits(self, factual: Numbers, rows: Numbers, rules: Sequence[Rule] | None = None) -> NDArray[np.bool_]:
        """Which rows a counterfactual may be: values of the features, or the factual's own, that keep every constraint.

        Args:
            factual: The row to start from, as doubles; NaN where a value is unknown.
            rows: Rows, as doubles; one with an unknown value is none.
            rules: What `compile` makes of this factual, if it is known already.
        """
        admitted = self.keeps(factual, rows) if rules is None else all_satisfied(rules, rows)
        for j, feature in enumerate(self.features):
            same = rows[:, j] == factual[j]
            if not same.all():
                admitted &= same | feature.fits(rows[:, j])
        return admitted

    def violations(self, factual: Any, row: Any) -> tuple[Constraint, ...]:
        """The constraints that a row breaks for a factual (both as the user writes rows).

        Args:
            factual: A dict, Series, one-row DataFrame, or values in the order of the features.
            row: A complete row, in the same way.
        """
        return tuple(constraint for constraint in self.constraints if not constraint.holds(factual, row, self))

    def prices(self, factual: Numbers, rows: Numbers) -> Numbers:
        """The cost of each row of an array for this factual.

        Args:
            factual: The row to start from, as doubles; NaN where a value is unknown.
            rows: Rows, as doubles.
        """
        total = np.zeros(len(rows))
        for j, (feature, cost) in enumerate(zip(self.features, self.costs, strict=True)):
            total += cost.price(feature, float(factual[j]), rows[:, j])
        return total

    def cost(self, factual: Any, row: Any) -> float:
        """The cost of a row for a factual (both as the user writes rows).

        Args:
            factual: A dict, Series, one-row DataFrame, or values in the order of the features.
            row: A complete row, in the same way.
        """
        return float(self.prices(self.encode_row(factual), self.encode_row(row, complete=True)[None, :])[0])

    # -- files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss."""
        features = [
            {**feature.to_dict(), "cost": cost.to_dict()} for feature, cost in zip(self.features, self.costs, strict=True)
        ]
        return {"version": VERSION, "features": features, "constraints": [c.to_dict() for c in self.constraints]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` described; refuses what it does not know, by name.

        Args:
            data: As `to_dict` wrote it.
        """
        if not isinstance(data, Mapping):
            raise SchemaError(
                "A schema", "have version, features and constraints", type(data).__name__, "see `likely schema infer`"
            )
        if data.get("version") != VERSION:
            raise SchemaError("The version of a schema", f"be {VERSION}", repr(data.get("version")), "write it with this version")
        unknown = [repr(key) for key in data if key not in ("version", "features", "constraints")]
        unlisted = [key for key in ("features", "constraints") if not isinstance(data.get(key) or [], list)]
        if unknown or unlisted or "features" not in data:
            got = ", ".join(unknown) or f"no list of {(*unlisted, 'features')[0]}"
            raise SchemaError("A schema", "have version, features and constraints", got, "see `likely schema infer`")
        features, costs = [], []
        for item in data["features"] or ():
            settings = dict(item) if isinstance(item, Mapping) else item
            cost = settings.pop("cost", None) if isinstance(item, Mapping) else None
            features.append(feature_from_dict(settings))
            costs.append(unit_cost(features[-1]) if cost is None else cost_from_dict(features[-1], cost))
        constraints = [constraint_from_dict(item) for item in data.get("constraints") or ()]
        return cls(tuple(features), tuple(constraints), tuple(costs))

    def to_json(self) -> str:
        """JSON text that `from_json` reads back without loss."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """The schema in a JSON text.

        Args:
            text: JSON.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise SchemaError("A schema's text", "be JSON", error, "use schema.to_json()") from None
        return cls.from_dict(data)

    def to_yaml(self) -> str:
        """YAML text for people to edit."""
        return files.to_yaml(self.to_dict(), self.notes)

    def save(self, path: str | Path) -> None:
        """Write a JSON file (`.json`) or else a YAML file, in which comments stay where nothing has changed.

        Args:
            path: The file.
        """
        if Path(path).suffix == ".json":
            write_text(path, self.to_json())
        else:
            files.save_yaml(self.to_dict(), path, self.notes)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a JSON or YAML file.

        Args:
            path: The file; JSON if its name ends in `.json`.
        """
        return cls.from_dict(files.read_text(path))


def _all_of(kind: type[Any], items: Any, what: str) -> tuple[Any, ...]:
    if isinstance(items, Iterable) and not isinstance(items, (str, Mapping)):
        listed = tuple(items)
        bad = next((item for item in listed if not isinstance(item, kind)), None)
        if bad is None:
            return listed
        items = bad
    raise SchemaError(f"The {what} of a schema", f"be a list of {what}", repr(items), "use Schema.infer(X, rules=[...])")


def _each(kind: type[Immutable | Increasing | Decreasing], names: Iterable[Name]) -> tuple[Constraint, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise SchemaError(f"'{kind.rule}'", "be a list of names", repr(names), f"write {kind.rule}=[{names!r}]")
    return tuple(kind(name) for name in names)


def as_frame(X: Any) -> pd.DataFrame:
    """A table as a DataFrame of pandas; refuses what is none, of pandas or polars.

    Args:
        X: A table.
    """
    X = as_pandas(X)
    if not isinstance(X, pd.DataFrame):
        raise SchemaError("A table", "be a DataFrame", type(X).__name__, "use pd.DataFrame(X, columns=[...])")
    return X


def _check_table(X: pd.DataFrame) -> None:
    if X.columns.nlevels > 1:
        raise SchemaError("The columns of a table", "have one level", f"{X.columns.nlevels} levels", "flatten their names")
    if len(X) == 0 or len(X.columns) == 0:
        raise SchemaError("A table", "have rows and columns", f"{len(X)} x {len(X.columns)}", "check how it was read")
    if not X.columns.is_unique:
        name = X.columns[X.columns.duplicated()][0]
        raise SchemaError("The names of columns", "differ", f"{name!r} twice", "rename one", feature=name)


def _check_names(X: pd.DataFrame, **settings: Mapping[Name, Any] | None) -> None:
    for what, named in settings.items():
        if named is not None and not isinstance(named, Mapping):
            raise SchemaError(f"'{what}'", "be a dict with names of columns", repr(named), f"write {what}={{'age': ...}}")
        for name in named or ():
            if name not in X.columns:
                raise SchemaError(f"'{what}'", "name columns of the table", repr(name), f"it has {list(X.columns)}", feature=name)


def _says_step(override: Override) -> bool:
    """Whether the user has said what the step is, or that there is none."""
    return not isinstance(override, Mapping) or not {"kind", "step", "exceptions", "integer", "unit"}.isdisjoint(override)


def _has_step(feature: Feature) -> bool:
    """Whether values are multiples of something: of a step, or of a unit that is no whole hour, minute, ..."""
    clock = clock_of(feature)
    return feature.numeric and (feature.grid not in (None, 1.0) if clock is None else clock.many > 1)


def _step_notes(features: Sequence[Feature]) -> tuple[str, ...]:
    """A line that says whose steps were read off the data, and how to say no."""
    names = [repr(feature.name) for feature in features if _has_step(feature)]
    if not names:
        return ()
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return (f"steps read off the data: {', '.join(names[:_MOST_NAMED])}{more} (`steps=None` takes every number)",)


def _lies_outside(feature: Feature, number: float) -> bool:
    """Whether a known value is not in the domain of its feature."""
    return not np.isnan(number) and number not in feature.region
