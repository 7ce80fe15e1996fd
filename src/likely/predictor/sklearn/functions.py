"""Transformers of scikit-learn that apply a function to each column: monotone ones, and bins.

Behind them a tree's threshold is another threshold of the feature itself, which is found by bisection with the transformer's own
arithmetic.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.curves import CurveStep
from likely.predictor.registry import register_transformer
from likely.predictor.sklearn.common import as_block, as_numbers, bind, name_of
from likely.predictor.sklearn.preprocessing import standard_steps
from likely.predictor.sklearn.times import function_of_times, reads_times
from likely.predictor.wires import Map, ModelInputs, Step, Wire
from likely.schema.features import Continuous, Integer, Mixed

Function = Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True)
class _Named:
    """A function that likely knows: it is monotone between `low` and `high`."""

    low: float = -math.inf
    high: float = math.inf
    falling: bool = False
    curve: tuple[CurveStep, ...] = ()


def _steps(*steps: CurveStep | str) -> tuple[CurveStep, ...]:
    return tuple(CurveStep(step) if isinstance(step, str) else step for step in steps)


_FUNCTIONS: dict[Any, _Named] = {
    np.log1p: _Named(-1.0, curve=_steps("log1p")),
    np.log: _Named(0.0, curve=_steps("log")),
    np.log2: _Named(0.0, curve=_steps("log", CurveStep("affine", 1 / math.log(2)))),
    np.log10: _Named(0.0, curve=_steps("log", CurveStep("affine", 1 / math.log(10)))),
    np.sqrt: _Named(0.0, curve=_steps("sqrt")),
    np.square: _Named(0.0, curve=_steps("square")),
    np.exp: _Named(curve=_steps("exp")),
    np.expm1: _Named(curve=_steps("expm1")),
    np.reciprocal: _Named(0.0, falling=True),
    np.negative: _Named(falling=True, curve=_steps(CurveStep("affine", -1.0))),
    **{rising: _Named() for rising in (np.cbrt, np.exp2, np.arcsinh, np.arctan, np.sinh, np.tanh)},
    special.expit: _Named(),
    special.logit: _Named(0.0, 1.0),
}


# -- functions by name -------------------------------------------------------------------------------------------------


def _function(transformer: Any, inputs: ModelInputs) -> ModelInputs:
    by, function = name_of(transformer), transformer.func
    bound = bind(transformer, inputs)
    bound = as_numbers(bound, by) if transformer.validate else bound
    if function is None:
        return bound
    called = getattr(function, "__name__", repr(function))
    if reads_times(bound):
        return function_of_times(transformer, bound, called)
    if function not in _FUNCTIONS or transformer.kw_args:
        names = ", ".join(sorted(known.__name__ for known in _FUNCTIONS))
        raise UnsupportedModelError(
            "A FunctionTransformer", "apply a function that likely knows to be monotone", f"func={called}",
            f"use one of numpy's {names}; or compute the column before the pipeline, and give it to the schema; or teach the"
            " function as a transformer of its own with likely.predictor.register_transformer",
        )  # fmt: skip
    wires = tuple(_applied(wire, function, bound, f"np.{called}", by) for wire in bound.wires)
    return replace(bound, wires=wires, untouched=False)


def _applied(wire: Wire, function: Any, inputs: ModelInputs, called: str, by: str) -> Wire:
    named = _FUNCTIONS[function]
    made = _dtype_made(function, wire.dtype)
    first = (Step(made.lower()),) if made.lower() in ("float16", "float32") else ()
    step = Map(function=_within(function, named), called=called, falling=named.falling, curve=named.curve)
    applied = replace(wire.then(*first, step, by=by), dtype=made)
    _refuse_outside(applied, inputs, named, called)
    return applied


def _dtype_made(function: Any, dtype: str) -> str:
    """The dtype of what a function makes of a column: of small integers, numpy makes small floats."""
    try:
        return str(function(pd.Series([1], dtype=dtype)).dtype)
    except (TypeError, ValueError):
        return "float64"


def _within(function: Function, named: _Named) -> Function:
    """The function, with numbers outside of where it is monotone taken for the nearest ones inside."""
    return lambda numbers: function(np.clip(numbers, numbers.dtype.type(named.low), numbers.dtype.type(named.high)))


def _refuse_outside(wire: Wire, inputs: ModelInputs, named: _Named, called: str) -> None:
    feature = inputs.schema.features[wire.feature]
    if not wire.numeric or wire.constant is not None or not isinstance(feature, Continuous | Integer | Mixed):
        return
    ends = np.array([feature.lower, feature.upper])
    before = replace(wire, steps=wire.steps[:-1]).apply(ends)
    if not (np.isfinite(wire.apply(ends)).all() and (before >= named.low).all() and (before <= named.high).all()):
        raise PredictorError(
            f"Feature {wire.name!r}", f"have bounds between which {called} is finite and monotone",
            f"{feature.lower:g} to {feature.upper:g}", "narrow its bounds in the schema", feature=wire.name,
        )  # fmt: skip


# -- transformers that learn their function ----------------------------------------------------------------------------


def _own(transformer: Any, **learned: Any) -> Function:
    """What a transformer itself makes of numbers in one column, by a copy of it that learned nothing but that column."""
    alone = copy.copy(transformer)
    vars(alone).pop("feature_names_in_", None)
    vars(alone).update(n_features_in_=1, **learned)

    def function(numbers: NDArray[Any]) -> NDArray[Any]:
        largest = np.finfo(numbers.dtype).max
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(alone.transform(np.clip(numbers, -largest, largest)[:, None]))[:, 0]

    return function


def _quantile(transformer: Any, inputs: ModelInputs) -> ModelInputs:
    by = name_of(transformer)
    block = as_block(bind(transformer, inputs), by)
    functions = [_own(transformer, quantiles_=transformer.quantiles_[:, [c]]) for c in range(len(block))]
    curves = [_quantile_curve(transformer, c, wire.dtype) for c, wire in enumerate(block.wires)]
    steps = (Map(function=function, called=f"a {by}", curve=curve) for function, curve in zip(functions, curves, strict=True))
    return replace(block, wires=tuple(wire.then(step, by=by) for wire, step in zip(block.wires, steps, strict=True)))


#: How near to the first and the last quantile a number counts as beyond them, if the output is normal.
_BEYOND = 1e-7


def _quantile_curve(transformer: Any, c: int, dtype: str) -> tuple[CurveStep, ...]:
    """Linear between quantiles; at one that several references share, a jump: between neighbouring doubles."""
    quantiles, references = transformer.quantiles_[:, c], transformer.references_
    knots: list[float] = []
    values: list[float] = []
    for quantile in np.unique(quantiles):
        low, high = references[quantiles == quantile][[0, -1]].tolist()
        if high > low:
            knots += [np.nextafter(quantile, -np.inf), float(quantile), np.nextafter(quantile, np.inf)]
            values += [low, (low + high) / 2, high]
        else:
            knots.append(float(quantile))
            values.append(low)
    if transformer.output_distribution == "normal":
        return _normal_curve(knots, values, quantiles[0], quantiles[-1]) if dtype == "float64" else ()
    if knots[-1] > quantiles[-1]:  # the ends of the quantiles are 0 and 1
        values[-2] = values[-1]
    if knots[0] < quantiles[0]:
        values[1] = values[0]
    return (CurveStep("interpolate", knots=tuple(knots), values=tuple(values)),)


def _normal_curve(knots: list[float], values: list[float], first: float, last: float) -> tuple[CurveStep, ...]:
    """The normal quantile of a share that is 0 up to a little above the first quantile, and 1 from a little below the last on."""
    low = _next_to(first + _BEYOND, lambda x: x - _BEYOND < first)
    high = -_next_to(_BEYOND - last, lambda x: x - _BEYOND < -last)
    between = sorted({low, *(x for x in knots if low < x < high), high}) if low <= high else []
    known = np.interp(between, knots, values).tolist()
    after = float(np.nextafter(high, np.inf)) if between else low
    shares = [(float(np.nextafter(low, -np.inf)), 0.0), *zip(between, known, strict=True), (after, 1.0)]
    least = _BEYOND - float(np.spacing(1))
    return (
        CurveStep("interpolate", knots=tuple(x for x, _ in shares), values=tuple(y for _, y in shares)),
        CurveStep("at_least", intercept=least),
        CurveStep("at_most", intercept=1 - least),
        CurveStep("normal_quantile"),
    )


def _next_to(near: float, before: Callable[[float], bool]) -> float:
    """The first double near a number of which a rising predicate is false."""
    x = float(near)
    while before(x):
        x = float(np.nextafter(x, np.inf))
    while not before(float(np.nextafter(x, -np.inf))):
        x = float(np.nextafter(x, -np.inf))
    return x


def _power_curve(transformer: Any, c: int) -> tuple[CurveStep, ...]:
    power = float(transformer.lambdas_[c])
    if transformer.method == "yeo-johnson":
        return (CurveStep("yeo_johnson", power),)
    if power == 0:
        return _steps("log")
    return _steps("log", CurveStep("affine", power), "expm1", CurveStep("affine", 1 / power))


def _power(transformer: Any, inputs: ModelInputs) -> ModelInputs:
    by = name_of(transformer)
    block = as_block(bind(transformer, inputs), by)
    wires = []
    for c, wire in enumerate(block.wires):
        function = _own(transformer, lambdas_=transformer.lambdas_[[c]], standardize=False)
        if transformer.method == "box-cox":
            function = _positive(function)
        powered = wire.then(Map(function=function, called=f"a {by}", curve=_power_curve(transformer, c)), by=by)
        scaled = standard_steps(transformer._scaler, c, block) if transformer.standardize else []
        wires.append(powered.then(*scaled, by=by))
    return replace(block, wires=tuple(wires))


def _positive(function: Function) -> Function:
    """The function of numbers above 0; it refuses others."""
    return lambda numbers: function(np.where(numbers > 0, numbers, np.nextafter(numbers.dtype.type(0), numbers.dtype.type(1))))


# -- bins --------------------------------------------------------------------------------------------------------------


def _binarizer(transformer: Any, inputs: ModelInputs) -> ModelInputs:
    by, threshold = name_of(transformer), transformer.threshold
    block = as_block(bind(transformer, inputs), by)
    step = Map(
        function=lambda numbers: (numbers > threshold).astype(numbers.dtype),
        called=f"a {by}",
        curve=(CurveStep("above", intercept=float(threshold)),),
    )
    return replace(block, wires=tuple(wire.then(step, by=by) for wire in block.wires))


def _bins(transformer: Any, inputs: ModelInputs) -> ModelInputs:
    by = name_of(transformer)
    block = as_block(bind(transformer, inputs), by)
    if transformer.dtype is not None:
        block = replace(block, wires=tuple(wire.then(Step(np.dtype(transformer.dtype).name), by=by) for wire in block.wires))
    wires = [made for c, wire in enumerate(block.wires) for made in _binned(transformer, c, wire, by)]
    return replace(block, wires=tuple(wires), sparse=transformer.encode == "onehot")


def _binned(transformer: Any, c: int, wire: Wire, by: str) -> list[Wire]:
    """The number of the bin, or an indicator per bin."""
    if any(math.isnan(atom) for atom in wire.numbers(by)):
        raise PredictorError(
            f"Feature {wire.name!r}", f"not be missing where {by} bins it", "a missing value", "put a SimpleImputer before it",
            feature=wire.name,
        )  # fmt: skip
    edges = transformer.bin_edges_[c]

    def bin_of(numbers: NDArray[Any]) -> NDArray[Any]:
        return np.searchsorted(edges[1:-1], numbers, side="right").astype(numbers.dtype)

    functions = [bin_of] if transformer.encode == "ordinal" else [_is(bin_of, k) for k in range(transformer.n_bins_[c])]
    inner = tuple(edges[1:-1].tolist())
    return [wire.then(Map(function=function, called=f"a {by}", edges=inner), by=by) for function in functions]


def _is(bin_of: Function, k: int) -> Function:
    return lambda numbers: (bin_of(numbers) == k).astype(numbers.dtype)


register_transformer("sklearn.FunctionTransformer", _function)
register_transformer("sklearn.QuantileTransformer", _quantile)
register_transformer("sklearn.PowerTransformer", _power)
register_transformer("sklearn.Binarizer", _binarizer)
register_transformer("sklearn.KBinsDiscretizer", _bins)
