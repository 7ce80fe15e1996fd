"""Transformers of scikit-learn that make an input of several columns: linear maps, and products of columns of 0 and 1."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import UnsupportedModelError
from likely.predictor.mixing import MixedInputs
from likely.predictor.registry import register_transformer
from likely.predictor.sklearn.common import as_block, bind, name_of
from likely.predictor.tables import dense
from likely.predictor.wires import ModelInputs, Wire
from likely.schema.values import Numbers

#: Linear maps: what they make of 0 and of the unit rows says everything.
_LINEAR = (
    "PCA", "IncrementalPCA", "TruncatedSVD", "FastICA", "FactorAnalysis", "SparsePCA", "MiniBatchSparsePCA",
    "GaussianRandomProjection", "SparseRandomProjection", "NeighborhoodComponentsAnalysis", "LinearDiscriminantAnalysis",
    "CCA", "FeatureAgglomeration", "PLSCanonical", "PLSRegression", "PLSSVD",
)  # fmt: skip
#: What may follow a linear map, unless it clips: linear maps of one column each.
_SCALERS = ("StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler")


def _affine(transformer: Any, width: int) -> tuple[Numbers, Numbers]:
    """Weights and shift of a linear map, from what it makes of 0 and of the unit rows."""
    asked = np.vstack([np.zeros((1, width)), np.eye(width)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = np.asarray(dense(transformer.transform(asked)), dtype=np.float64)
    return (made[1:] - made[0]).T, made[0]


def _refuse_pooling(transformer: Any) -> None:
    """Refuse clusters of features that are pooled by anything but their mean."""
    pooling = getattr(transformer, "pooling_func", np.mean)
    if pooling is not np.mean:
        raise UnsupportedModelError(
            f"A {name_of(transformer)}", "pool features by their mean", f"pooling_func={getattr(pooling, '__name__', pooling)}",
            "use pooling_func=np.mean, the default, which is a linear map",
        )  # fmt: skip


def _linear(transformer: Any, inputs: ModelInputs) -> ModelInputs:
    by = name_of(transformer)
    _refuse_pooling(transformer)
    block = as_block(bind(transformer, inputs), by)
    return MixedInputs.of(block, [_affine(transformer, len(block))], by)


def remixed(transformer: Any, inputs: MixedInputs) -> ModelInputs:
    """What a transformer makes of inputs that are mixed already; refuses one that is no linear map.

    Args:
        transformer: A fitted transformer.
        inputs: What it is given.
    """
    by = name_of(transformer)
    names = {cls.__name__ for cls in type(transformer).__mro__}
    linear = bool(names & {*_LINEAR, *_SCALERS}) and not getattr(transformer, "clip", False)
    if not (linear or hasattr(transformer, "get_support")):
        raise UnsupportedModelError(
            f"A {by} behind {inputs.mixer}", "be a linear map of what that makes", by, f"put it before {inputs.mixer}"
        )
    _refuse_pooling(transformer)
    bind(transformer, inputs)
    return MixedInputs.of(inputs, [_affine(transformer, len(inputs))], by)


# -- products -----------------------------------------------------------------------------------------------------------


def _polynomial(transformer: Any, inputs: ModelInputs) -> ModelInputs:
    """Products of columns of 0 and 1, and single columns."""
    by = name_of(transformer)
    block = as_block(bind(transformer, inputs), by)
    powers = np.asarray(transformer.powers_)
    if all(_alone(block, row) for row in powers):
        return ModelInputs(block.schema, tuple(_product(block, row, by) for row in powers))
    hidden: list[tuple[NDArray[Any], float]] = []
    last = np.zeros((len(powers), 2 * len(powers)))
    shift = np.zeros(len(powers))
    for k, row in enumerate(powers):
        used = np.flatnonzero(row)
        if not used.size:
            shift[k] = 1.0
        elif row.sum() == 1:  # the column itself: x = max(0, x) - max(0, -x)
            last[k, len(hidden)], last[k, len(hidden) + 1] = 1.0, -1.0
            hidden += [(row.astype(float), 0.0), (-row.astype(float), 0.0)]
        else:
            _refuse_other_numbers([block.wires[c] for c in used], by)
            last[k, len(hidden)] = 1.0
            hidden.append((np.minimum(row, 1).astype(float), 1.0 - used.size))
    first = np.array([weights for weights, _ in hidden]), np.array([bias for _, bias in hidden])
    return MixedInputs.of(block, [first, (last[:, : len(hidden)], shift)], by)


def _alone(block: ModelInputs, row: NDArray[Any]) -> bool:
    """Whether a product is of the values of one discrete feature."""
    wires = [block.wires[c] for c in np.flatnonzero(row)]
    return bool(wires) and (row.sum() == 1 or (len({wire.feature for wire in wires}) == 1 and not wires[0].numeric))


def _product(block: ModelInputs, row: NDArray[Any], by: str) -> Wire:
    used = np.flatnonzero(row)
    first: Wire = block.wires[used[0]]
    if row.sum() == 1:
        return first
    factors = [np.array(block.wires[c].numbers(by)) ** row[c] for c in used]
    return first.coded(np.prod(factors, axis=0).tolist(), first.dtype)


def _refuse_other_numbers(wires: list[Wire], by: str) -> None:
    for wire in wires:
        values = {*wire.numbers(by), *(() if wire.constant is None else (wire.constant,))}
        if (wire.numeric and wire.constant is None) or not values <= {0.0, 1.0}:
            raise UnsupportedModelError(
                f"A {by}", "multiply columns of 0 and 1", f"a product with feature {wire.name!r}, which has other numbers",
                "a product of numbers is no linear function, ReLU network or sum of trees: bin or one-hot encode the column"
                " first, or use trees, which find interactions themselves", feature=wire.name,
            )  # fmt: skip


for _name in _LINEAR:
    register_transformer(f"sklearn.{_name}", _linear)
register_transformer("sklearn.PolynomialFeatures", _polynomial)
