"""The classifier of the paper's protocol, and how a table becomes its inputs."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd

from likely.schema import Schema

#: Hidden units, rows per step of the gradient, and rounds over the rows: the paper's.
HIDDEN, BATCH, EPOCHS = (20, 10), 64, 50
#: Of a random forest, and how deep they are.
TREES, DEPTH = 50, 6


def encoder_of(schema: Schema) -> Any:
    """What makes inputs of rows, not fitted yet: numbers scaled to [0, 1], a column of 0 and 1 per category.

    Args:
        schema: Of the table.
    """
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

    numeric = [feature.name for feature in schema.features if feature.numeric]
    discrete = [feature for feature in schema.features if not feature.numeric]
    parts: list[tuple[Any, list[Any]]] = []
    if numeric:
        parts.append((MinMaxScaler(), numeric))
    if discrete:
        values = [list(feature.atoms) for feature in discrete]
        one_hot = OneHotEncoder(categories=values, drop="if_binary", sparse_output=False)
        parts.append((one_hot, [feature.name for feature in discrete]))
    return make_column_transformer(*parts)


def trained(schema: Schema, X: pd.DataFrame, y: pd.Series[Any], seed: int = 0) -> Any:
    """A ReLU network of 20 and 10 hidden units behind the encoder, trained as in the paper.

    Args:
        schema: Of the table.
        X: The training rows.
        y: Their classes.
        seed: Of the first weights and the order of the rows.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    network = MLPClassifier(
        HIDDEN, batch_size=min(BATCH, len(X)), max_iter=EPOCHS, n_iter_no_change=EPOCHS, tol=0.0, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the protocol says when to stop
        return make_pipeline(encoder_of(schema), network).fit(X, y)


def forest(schema: Schema, X: pd.DataFrame, y: pd.Series[Any], seed: int = 0) -> Any:
    """A random forest behind the encoder, for methods that explain trees.

    Args:
        schema: Of the table.
        X: The training rows.
        y: Their classes.
        seed: Of the trees.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline

    trees = RandomForestClassifier(n_estimators=TREES, max_depth=DEPTH, random_state=seed, n_jobs=1)
    return make_pipeline(encoder_of(schema), trees).fit(X, y)
