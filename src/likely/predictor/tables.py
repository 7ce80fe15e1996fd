"""Tables as a fitted estimator takes them: by the conventions of scikit-learn, which many packages keep."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

_PARTS = ("steps", "transformers_", "transformer_list")


def as_fitted(model: Any, X: Any) -> Any:
    """A table as the estimator was fitted: with the columns it knows by name, or as an array if it knows none."""
    if not isinstance(X, pd.DataFrame):
        return X
    if not knows_none(model):
        X = _with_nan(X)
    entrance = _entrance(model)
    names = names_known_to(entrance, X.columns)
    if names is not None and list(names) != list(X.columns):
        # A ColumnTransformer does without the columns that it drops.
        return X[[name for name in names if name in X.columns]]
    if names is not None:
        return X
    return X.to_numpy() if takes_array(entrance, X.columns) else X


def dense(X: Any) -> Any:
    """A sparse matrix as an array; anything else as it is."""
    return X.toarray() if hasattr(X, "toarray") else X


def takes_array(model: Any, names: Iterable[Any]) -> bool:
    """Whether an estimator was fitted on an array: it knows the number of its inputs, but not their names.

    Names that are not text are never known, so a table that has such names is given as it is.
    """
    names = list(names)
    known = hasattr(model, "n_features_in_") and names_known_to(model, names) is None
    return known and all(isinstance(name, str) for name in names)


def names_known_to(model: Any, names: Iterable[Any]) -> Any:
    """The names that an estimator knows its columns by, None if it knows none; CatBoost numbers those of an array as text."""
    known = getattr(model, "feature_names_in_", None)
    if known is None and isinstance(getattr(model, "feature_names_", None), list) and set(model.feature_names_) <= set(names):
        known = model.feature_names_
    return known


def _entrance(model: Any) -> Any:
    """The first part of a pipeline or union that looks at the table."""
    for kind in ("steps", "transformer_list"):
        for _, part in getattr(model, kind, ()):
            if part is not None and not isinstance(part, str):
                return _entrance(part)
    return model


def knows_none(model: Any) -> bool:
    """Whether None is a missing value or a category to some part of a fitted model.

    Where it is not, a missing cell that a schema gives as None was NaN when the model was fitted.
    """
    model = getattr(model, "best_estimator_", model)
    inner = getattr(model, "estimator_", None)
    if inner is not None and knows_none(inner):
        return True
    if any(knows_none(part) for part in _several(model)):
        return True
    if any(knows_none(part[1]) for kind in _PARTS for part in getattr(model, kind, ())):
        return True
    categories = getattr(model, "categories_", ())
    return getattr(model, "missing_values", math.nan) is None or any(cell is None for values in categories for cell in values)


def _several(model: Any) -> Iterable[Any]:
    """The estimators of a voting or one-against-the-rest."""
    parts = getattr(model, "estimators_", ())
    return parts if isinstance(parts, list) and all(hasattr(part, "steps") for part in parts) else ()


def _with_nan(X: pd.DataFrame) -> pd.DataFrame:
    """The table with NaN for None, as pandas reads missing cells from a file. Columns may share a name: they go by place."""
    columns = [X.iloc[:, place] for place in range(X.shape[1])]
    if not any(column.dtype == object and any(cell is None for cell in column) for column in columns):
        return X
    return pd.concat([_column_with_nan(column) for column in columns], axis="columns")


def _column_with_nan(column: pd.Series[Any]) -> pd.Series[Any]:
    if column.dtype != object:
        return column
    cells = [math.nan if cell is None else cell for cell in column]
    return pd.Series(cells, dtype=object, index=column.index, name=column.name)
