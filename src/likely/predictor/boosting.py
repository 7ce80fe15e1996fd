"""What the readers of XGBoost and LightGBM share: inputs by name, categories as codes, links by objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.links import Link
from likely.predictor.mixing import refuse_mixed
from likely.predictor.wires import ModelInputs
from likely.schema.features import Feature
from likely.schema.values import ORDERED_CATEGORY, Name

#: Who predicts with a booster: a classifier, a regressor, or the booster itself, which is what its objective says.
Role: TypeAlias = Literal["classifier", "regressor", "booster"]
#: How a framework spells the name of a column.
Spelling: TypeAlias = Callable[[Name], str]


def fitted_booster(model: Any, attribute: Callable[[Any], Any]) -> Any:
    """The booster within a scikit-learn wrapper; refuses one that is not fitted."""
    try:
        return attribute(model)
    except NotFittedError:
        raise PredictorError(f"A {type(model).__name__}", "be fitted", "one that is not", "call fit first") from None


def link_of(objective: str, links: Mapping[str, Link], role: Role, by: str) -> Link:
    """The link of an objective; refuses one that is not in the table, or not of the model's role."""
    thing = f"The objective of a {by}"
    if objective not in links:
        raise UnsupportedModelError(
            thing, f"be one of {', '.join(links)}", repr(objective),
            "train with one of them, or teach it with likely.predictor.register",
        )  # fmt: skip
    link = links[objective]
    if role == "classifier" and not link.classifies:
        raise UnsupportedModelError(
            thing, "tell classes apart", repr(objective), "read its booster, with link= and classes= that say how it decides"
        )
    if role == "regressor" and link.classifies:
        raise UnsupportedModelError(
            thing, "predict a number", repr(objective), f"use {by.replace('Regressor', 'Classifier')}, or read its booster"
        )
    return link


def refuse_no_trees(count: int, by: str) -> None:
    """Refuse a model without trees."""
    if count == 0:
        raise PredictorError(f"A {by}", "have at least one tree", "none", "train it for one round or more")


def refuse_several_outputs(link: Link, outputs: int, by: str) -> None:
    """Refuse a model that predicts several numbers at once."""
    if outputs > 1 and not link.one_score_per_class:
        raise PredictorError(f"A {by}", "predict one column", f"{outputs} columns", "train one model per column")


def bind(inputs: ModelInputs, names: Sequence[str] | None, count: int, by: str, spelling: Spelling) -> ModelInputs:
    """The inputs that a booster reads: by the names it knows, spelled its way, or else by their number."""
    refuse_mixed(inputs, by)
    if inputs.untouched and names:
        name_of = {spelling(wire.name): wire.name for wire in inputs.wires}
        inputs = inputs.named([name_of.get(name, name) for name in names], by)
    return inputs.counted(count, by)


def arranged(X: Any, names: Sequence[str] | None, spelling: Spelling) -> Any:
    """A table as a booster takes it: its own columns in its order, text as categories; a plain array if it knows no names."""
    if not isinstance(X, pd.DataFrame):
        return X
    if not names:
        return X.to_numpy(dtype=np.float64, na_value=np.nan)
    name_of = {spelling(name): name for name in X.columns}
    table = X[[name_of[name] for name in names]]
    loose = [name for name in table.columns if not isinstance(table[name].dtype, pd.CategoricalDtype)]
    kinds = {name: pd.api.types.infer_dtype(table[name], skipna=True) for name in loose if table[name].dtype.kind == "O"}
    return table.astype({name: "category" if kind == "string" else "float64" for name, kind in kinds.items()})


def holds_categories(feature: Feature) -> bool:
    """Whether the user's column is a pandas category."""
    return getattr(feature, "dtype", "") in ("category", ORDERED_CATEGORY)


def holds_text(feature: Feature) -> bool:
    """Whether values of the feature are text."""
    return any(isinstance(atom, str) for atom in feature.atoms)
