"""Textbook densities, each fitted as well as its textbook says."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import likely
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.table import table_of

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Rows = np.ndarray[Any, np.dtype[np.intp]]
#: Components and ridges of Gaussian mixtures, and widths of kernels (times Scott's), that held-out rows choose from.
COMPONENTS, RIDGES, WIDTHS = (1, 2, 3, 5, 8, 16), (1e-4, 1e-3, 1e-2, 1e-1), (0.25, 0.5, 1.0, 1.5)
#: A step matters if it is more than this share of a deviation; how often a test row is spread over its cell then.
COARSE, DRAWS = 0.02, 8
#: The share of training rows that choices are made on.
HELD_OUT = 0.2


@dataclass(frozen=True)
class Score:
    """Mean log-likelihood of the test rows, per unit of the columns; and the numbers that were fitted."""

    mean: float
    parameters: float


@dataclass(frozen=True)
class Classes:
    """Reals, scaled by the training rows, class by class; everything that is no number, and the class, as bins."""

    train: Numbers
    test: Numbers  # draw x row x column
    train_class: Rows
    test_class: Rows
    constant: float  # of the test rows: log-probability of their class and bins, and the scale of the reals
    parameters: int


def split(schema: likely.Schema, X: pd.DataFrame, y: pd.Series[Any] | None, train: Rows, test: Rows) -> Classes:
    """A table as methods for reals see it.

    Unknown numbers are the median, numbers are spread over the cells of their steps, and columns that are no reals are
    independent.
    """
    table = table_of(X, y, schema, None)
    real = [j for j, feature in enumerate(table.features) if feature.numeric and not feature.atoms]
    values = table.rows[:, real]
    middle = np.nanmedian(values[train], axis=0) if real else np.empty(0)
    values = np.where(np.isnan(values), middle, values)
    centre, scale = values[train].mean(axis=0), values[train].std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    others = [j for j in range(table.rows.shape[1]) if j not in real]
    logs, parameters = _independent(table.rows, table.variables, train, test, others)
    classes = np.zeros(len(X), dtype=np.intp) if y is None else np.unique(table.rows[:, -1], return_inverse=True)[1]
    scaled = (values - centre) / scale
    noise = spread_over_cells([table.features[j].grid or 0.0 for j in real], scale, len(values))
    return Classes(
        (scaled + noise[0])[train],
        (scaled + noise)[:, test],
        classes[train],
        classes[test],
        float(logs.mean() - np.log(scale).sum()),
        parameters,
    )


def spread_over_cells(grids: list[float], scale: Numbers, rows: int) -> Numbers:
    """Noise (draw x row x column) that spreads values over the cells of their steps, in units of scale.

    Rows that are recorded to a step are learned from so spread (uniform dequantisation), and the mass of a test row's cell is
    the mean of the density over it: a density narrower than a cell wins nothing. Where no step is coarse, there is no noise.
    """
    steps = np.array(grids) / scale
    steps = np.where(steps > COARSE, steps, 0.0)
    draws = DRAWS if steps.any() else 1
    return np.random.default_rng(0).uniform(-0.5, 0.5, (draws, rows, len(steps))) * steps


def mean_density(logs: list[Numbers]) -> Numbers:
    """The log of the mean over draws of densities of rows."""
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(logs)))


def _independent(rows: Numbers, variables: tuple[Any, ...], train: Rows, test: Rows, which: list[int]) -> tuple[Numbers, int]:
    """Log-likelihoods of test rows if columns are independent histograms, and the number of their bins."""
    bins = bins_of(rows[train], variables)
    known = Binned.of(rows[train], np.ones(len(train)), bins)
    unseen = Binned.of(rows[test], np.ones(len(test)), bins)
    logs = np.zeros(len(test))
    for j in which:
        logs += np.append(np.log(known.shrinkage[j].marginal) - np.log(bins[j].measure), 0.0)[unseen.places[:, j]]
    return logs, sum(len(bins[j]) - 1 for j in which)


def independent(schema: likely.Schema, X: pd.DataFrame, y: pd.Series[Any] | None, train: Rows, test: Rows) -> Score:
    """Independent columns, each a smoothed histogram."""
    table = table_of(X, y, schema, None)
    logs, parameters = _independent(table.rows, table.variables, train, test, list(range(table.rows.shape[1])))
    return Score(float(logs.mean()), parameters)


class Density:
    """A density of reals: fitted to rows, it scores rows."""

    def fit(self, rows: Numbers) -> Density:
        raise NotImplementedError

    def logs(self, rows: Numbers) -> Numbers:
        raise NotImplementedError

    parameters: float = 0.0


@dataclass
class Gaussians(Density):
    """scikit-learn's Gaussian mixture with full covariances."""

    components: int
    ridge: float

    def fit(self, rows: Numbers) -> Density:
        from sklearn.mixture import GaussianMixture

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = GaussianMixture(self.components, reg_covar=self.ridge, random_state=0).fit(rows)
        size = rows.shape[1]
        self.parameters = self.components * (1 + size + size * (size + 1) / 2)
        return self

    def logs(self, rows: Numbers) -> Numbers:
        return np.asarray(self.model.score_samples(rows))


@dataclass
class Kernels(Density):
    """Gaussian kernels around the training rows."""

    width: float

    def fit(self, rows: Numbers) -> Density:
        from sklearn.neighbors import KernelDensity

        count, size = rows.shape
        self.model = KernelDensity(bandwidth=self.width * count ** (-1 / (size + 4))).fit(rows)
        self.parameters = rows.size
        return self

    def logs(self, rows: Numbers) -> Numbers:
        return np.asarray(self.model.score_samples(rows))


def per_class(makers: list[Callable[[], Density]]) -> Callable[..., Score]:
    """In every class the density that suits its held-out training rows best, fitted to all of them."""

    def score(schema: likely.Schema, X: pd.DataFrame, y: pd.Series[Any] | None, train: Rows, test: Rows) -> Score:
        data = split(schema, X, y, train, test)
        if not data.train.shape[1]:
            return Score(data.constant, data.parameters)
        logs, parameters = np.zeros(len(test)), float(data.parameters)
        for each in np.unique(data.test_class):
            rows = data.train[data.train_class == each]
            chosen = max(makers, key=lambda make: _held_out(make, rows))
            model = chosen().fit(rows)
            inside = data.test_class == each
            logs[inside] = mean_density([model.logs(draw[inside]) for draw in data.test])
            parameters += model.parameters
        return Score(float(logs.mean()) + data.constant, parameters)

    return score


def _held_out(make: Callable[[], Density], rows: Numbers) -> float:
    order = np.random.default_rng(0).permutation(len(rows))
    count = max(1, round(HELD_OUT * len(rows)))
    try:
        return float(make().fit(rows[order[count:]]).logs(rows[order[:count]]).mean())
    except ValueError:  # fewer rows than components
        return -np.inf


def _gaussians() -> Iterator[Callable[[], Density]]:
    for components in COMPONENTS:
        for ridge in RIDGES:
            yield lambda components=components, ridge=ridge: Gaussians(components, ridge)


def _flow() -> Density:
    from density_flow import Flow

    return Flow()


RIVALS: dict[str, Callable[..., Score]] = {
    "independent": independent,
    "gaussians": per_class(list(_gaussians())),
    "kernels": per_class([lambda width=width: Kernels(width) for width in WIDTHS]),
    "flow": per_class([_flow]),
}
