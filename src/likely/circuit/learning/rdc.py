"""The randomised dependence coefficient (Lopez-Paz, Hennig, Schölkopf 2013) of all pairs of columns of a mixed table.

Two columns depend on each other as far as some function of the one is correlated with some function of the other. The
coefficient looks for such functions among random ones:

    u = ranks of the column in (0, 1], a column of them per category or code where there are any
    phi(u) = sin(s / (c + 1) * (u, 1) @ W),  W a (c + 1) x k matrix of standard normals, c the columns of u
    rdc(x, y) = the largest correlation of a linear combination of phi(u_x) with one of phi(u_y)

It lies between 0 (independent) and 1 (a function of each other), and does not change when a column is transformed by an
increasing function, since only ranks enter.

The features phi of a column are all but linearly dependent: their singular values fall by orders of magnitude per degree
of a polynomial. So every column gets an orthonormal basis of its features first, by a singular value decomposition (a
covariance matrix would lose half of the digits), without the directions below `SMALLEST`. One product of all bases with
each other then has the correlations of all pairs.

Columns that are independent still correlate in a sample: bases of a and b columns over n rows have a largest correlation
with a square of about (sqrt(a) + sqrt(b))^2 / n, the edge of the spectrum of a random matrix. `adjusted` takes that away,
as the adjusted R^2 of a regression does; without it, columns of a hundred rows always seem to depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likely.schema import Feature
from likely.schema.values import Numbers, is_code

#: Random functions per column, and their scale: the authors' defaults.
FUNCTIONS, SCALE = 20, 1 / 6
#: More rows than this do not change which columns are seen to depend on each other; a sample of as many is taken.
MOST_ROWS = 10_000
#: Directions of a column's features whose singular value is below this share of the largest are noise, and dropped. At
#: the default scale that leaves a column of distinct ranks about four directions: the polynomials up to degree 4.
SMALLEST = 5e-9


def dependence(
    rows: Numbers,
    features: Sequence[Feature],
    rng: np.random.Generator,
    *,
    functions: int = FUNCTIONS,
    scale: float = SCALE,
    adjusted: bool = False,
    most_rows: int = MOST_ROWS,
) -> Numbers:
    """The coefficient of every pair of columns: a symmetric matrix with 1 on the diagonal.

    A column that is constant, or unknown throughout, has coefficient 0 with every column, itself too. An unknown cell
    counts as the mean of its column's features: it says nothing, and the more of them, the smaller the coefficients.
    """
    if len(rows) > most_rows:
        rows = rows[rng.choice(len(rows), most_rows, replace=False, shuffle=False)]
    bases = [_basis(rows[:, j], feature, rng, functions, scale) for j, feature in enumerate(features)]
    squares = _largest_correlations(bases) ** 2
    if adjusted:
        chance = np.minimum(_squares_by_chance(bases, ~np.isnan(rows)), 1.0)
        np.fill_diagonal(chance, 0.0)
        squares = np.divide(squares - chance, 1 - chance, out=np.zeros_like(squares), where=chance < 1)
    return np.sqrt(np.clip(squares, 0.0, 1.0))


def _basis(values: Numbers, feature: Feature, rng: np.random.Generator, functions: int, scale: float) -> Numbers:
    """Orthonormal columns, of mean 0, that span the random functions of a column's values; no column if it is constant.

    Functions of a column are known by what they are at its distinct values; weighted by the roots of counts, a
    decomposition of these few rows is that of all rows.
    """
    known = ~np.isnan(values)
    distinct, places, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    if len(distinct) < 2:
        return np.empty((len(values), 0))
    inputs = _copula(distinct, counts, feature)
    weights = rng.standard_normal((inputs.shape[1], functions))
    images = np.sin(scale / inputs.shape[1] * inputs @ weights)
    images -= counts @ images / counts.sum()
    roots = np.sqrt(counts)[:, None]
    directions, sizes, _ = np.linalg.svd(roots * images, full_matrices=False)
    rank = min(int(np.count_nonzero(sizes > SMALLEST * sizes[0])), len(distinct) - 1)
    basis = np.zeros((len(values), rank))
    basis[known] = (directions[:, :rank] / roots)[places]
    return basis


def _copula(distinct: Numbers, counts: NDArray[np.intp], feature: Feature) -> Numbers:
    """Ranks in (0, 1] of the distinct values of a column, and a last column of ones.

    A categorical column becomes one column per category that occurs, a mixed one keeps its ranks and has one more per
    code. Ties have the highest of their ranks: the share of rows that are not above.
    """
    share = counts / counts.sum()
    apart = is_code(distinct) if feature.ordered else np.ones(len(distinct), dtype=np.bool_)
    columns = [np.cumsum(share)] if feature.ordered else []
    columns += [np.where(np.arange(len(distinct)) == k, 1.0, 1 - share[k]) for k in np.flatnonzero(apart)]
    return np.stack([*columns, np.ones(len(distinct))], axis=1)


def _largest_correlations(bases: Sequence[Numbers]) -> Numbers:
    """Per pair of bases the largest canonical correlation: the largest singular value of their product."""
    together = np.concatenate(bases, axis=1)
    products = np.pad(together.T @ together, ((0, 0), (0, 1)))  # the last column stands for directions a basis lacks
    ends = np.cumsum([0, *(basis.shape[1] for basis in bases)])
    place = ends[:-1, None] + np.arange(max(basis.shape[1] for basis in bases))
    place = np.where(place < ends[1:, None], place, len(products))
    largest = np.zeros((len(bases), len(bases)))
    for i in range(len(bases)):
        block = products[ends[i] : ends[i + 1]]
        if len(block):
            blocks = np.moveaxis(block[:, place[i:]], 1, 0)
            largest[i, i:] = largest[i:, i] = np.linalg.svd(blocks, compute_uv=False)[:, 0]
    return largest


def _squares_by_chance(bases: Sequence[Numbers], known: NDArray[np.bool_]) -> Numbers:
    """Per pair of bases the square of the largest correlation that independent columns of this size are expected to have.

    An entry of the product of two bases is a sum over the rows where both are known, of variance both / (rows * rows).
    """
    roots = np.sqrt([basis.shape[1] for basis in bases])
    both = known.T.astype(np.float64) @ known
    rows = np.maximum(np.diag(both), 1)
    return np.asarray(np.add.outer(roots, roots) ** 2 * both / np.outer(rows, rows))
