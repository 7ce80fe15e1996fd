"""What a circuit means: recursions over its nodes in exact fractions, sums over whole product spaces, induced trees.

Slow, and written without the code it judges: no cells, no logarithms inside, no scaling. The densities of parametric
leaves are scipy's.
"""

from __future__ import annotations

import datetime
import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from scipy import integrate, stats

from likely.circuit import Bernoulli, Categories, Circuit, Coded, Histogram, Leaf, Parametric, Product, Sum
from likely.schema import Feature, Mixed
from likely.schema.region import Region

Row: TypeAlias = Sequence[float]
#: What a sum makes of its weights and children.
Algebra: TypeAlias = Callable[[Sequence[Fraction], Sequence[Fraction]], Fraction]

FARTHEST = 2.0**999
#: How far sums and logarithms of doubles may be from the exact ones.
ROUNDING = 1e-9


def assert_close(computed: Any, expected: Any) -> None:
    """Equal but for rounding; infinities equal."""
    np.testing.assert_allclose(computed, expected, rtol=ROUNDING, atol=ROUNDING)


def log(number: Fraction) -> float:
    """The natural logarithm of an exact number, however small or large."""
    if number == 0:
        return -math.inf
    size = number.numerator.bit_length() - number.denominator.bit_length()
    return math.log(number / Fraction(2) ** size) + size * math.log(2)


# -- leaves -----------------------------------------------------------------------------------------------------------


@cache
def law(leaf: Parametric) -> Any:
    """The distribution of a parametric leaf."""
    a, b = leaf.a, leaf.b
    return {
        "gaussian": lambda: stats.norm(a, b),
        "lognormal": lambda: stats.lognorm(b, scale=math.exp(a)),
        "exponential": lambda: stats.expon(scale=1 / a),
        "gamma": lambda: stats.gamma(a, scale=1 / b),
        "poisson": lambda: stats.poisson(a),
    }[leaf.family]()


def density(leaf: Leaf, v: float) -> float:
    """The density of a leaf at a value, the floor aside."""
    if isinstance(leaf, Histogram):
        bins = zip(leaf.breaks, leaf.breaks[1:], leaf.densities, strict=False)
        return next((height for low, high, height in bins if low <= v < high), 0.0)
    if isinstance(leaf, Categories):
        return leaf.probabilities[int(v)] if 0 <= v < len(leaf.probabilities) else 0.0
    if isinstance(leaf, Bernoulli):
        return (1 - leaf.p, leaf.p)[int(v)] if 0 <= v < 2 else 0.0
    if isinstance(leaf, Parametric):
        if abs(v) >= FARTHEST:
            return 0.0
        with np.errstate(over="ignore"):
            return float(law(leaf).pmf(v) if leaf.family == "poisson" else law(leaf).pdf(v))
    assert isinstance(leaf, Coded)
    for k, probability in enumerate(leaf.codes):
        if v == -(2.0**1000) * (k + 1):
            return probability
    return 0.0 if leaf.numbers is None else (1 - math.fsum(leaf.codes)) * density(leaf.numbers, v)


def breaks_of(leaf: Leaf) -> list[float]:
    """Every double where a leaf's steps change."""
    if isinstance(leaf, Histogram):
        return list(leaf.breaks)
    if isinstance(leaf, Categories):
        return [float(k) for k in range(len(leaf.probabilities) + 1)]
    if isinstance(leaf, Bernoulli):
        return [0.0, 1.0, 2.0]
    if isinstance(leaf, Coded):
        codes = [-(2.0**1000) * (k + 1) for k in range(len(leaf.codes))]
        edges = [edge for code in codes for edge in (code, float(np.nextafter(code, np.inf)))]
        return sorted(edges) + (breaks_of(leaf.numbers) if leaf.numbers is not None else [])
    return []


def peak(leaf: Leaf) -> float | None:
    """Where a parametric leaf is largest."""
    inner = leaf.numbers if isinstance(leaf, Coded) else leaf
    if not isinstance(inner, Parametric):
        return None
    a, b = inner.a, inner.b
    if inner.family == "lognormal":
        return math.exp(a - b * b)
    modes = {"gaussian": a, "exponential": 0.0, "gamma": (a - 1) / b, "poisson": math.floor(a)}
    return float(modes[inner.family])


# -- values of features -----------------------------------------------------------------------------------------------


def step_of(feature: Feature) -> float | None:
    """The distance between neighbouring values; None if every real is one."""
    return feature.grid


def multiple(k: int, step: float) -> float:
    """The double nearest to k steps."""
    return k / round(1 / step) if step < 1 and abs(round(1 / step) * step - 1) < 1e-12 else k * step


def values_of(feature: Feature) -> list[float]:
    """Every value of a feature that has finitely many, as doubles."""
    atoms = [feature.atom_number(k) for k in range(len(feature.atoms))]
    step = step_of(feature)
    if not feature.numeric:
        return atoms
    assert step is not None
    lower, upper = feature.lower, feature.upper
    places = range(math.floor(lower / step) - 1, math.ceil(upper / step) + 2)
    numbers = np.array([multiple(k, step) for k in places])
    return atoms + [float(v) for v in numbers[feature.fits(numbers)]]


def codes_inside(feature: Feature) -> list[float]:
    """The numbers of a mixed feature that are codes, and so no numbers."""
    dated = feature.dtype.startswith("date")
    codes = [code for code in feature.atoms if code is not None] if isinstance(feature, Mixed) else []
    if dated:
        return [
            float(datetime.date.fromisoformat(str(code)).toordinal() - datetime.date(1970, 1, 1).toordinal()) for code in codes
        ]
    return [float(code) for code in codes if not isinstance(code, str)]


def measure_of(feature: Feature, v: float) -> Fraction:
    """The measure of one value."""
    step = step_of(feature)
    return Fraction(1) if v < -FARTHEST or step is None else Fraction(step)


def width_of(feature: Feature, low: float, high: float) -> Fraction:
    """The measure of the numbers of a feature in low <= v < high, bounds aside; ends are multiples of the step, if any."""
    step = step_of(feature)
    if step is None:
        return Fraction(high) - Fraction(low)
    if not feature.numeric:
        return Fraction(sum(low <= k < high for k in range(len(feature.atoms))))
    taken = {round(code / step) for code in codes_inside(feature) if abs(code / step - round(code / step)) < 1e-9}
    first, last = round(low / step), round(high / step)
    return Fraction(step) * (last - first - sum(first <= code < last for code in taken))


def product_space(circuit: Circuit) -> list[tuple[float, ...]]:
    """Every row there is."""
    return list(itertools.product(*(values_of(variable) for variable in circuit.variables)))


def measure_of_row(circuit: Circuit, row: Row) -> Fraction:
    """The measure of one row of a circuit whose variables have finitely many values."""
    return math.prod((measure_of(variable, v) for variable, v in zip(circuit.variables, row, strict=True)), start=Fraction(1))


# -- one sweep --------------------------------------------------------------------------------------------------------


def total(weights: Sequence[Fraction], children: Sequence[Fraction]) -> Fraction:
    """The likelihood."""
    return sum((w * o for w, o in zip(weights, children, strict=True)), start=Fraction(0))


def largest(weights: Sequence[Fraction], children: Sequence[Fraction]) -> Fraction:
    """The approximation from below."""
    return max(w * o for w, o in zip(weights, children, strict=True))


def at_most(weights: Sequence[Fraction], children: Sequence[Fraction]) -> Fraction:
    """The approximation from above."""
    mean = max((o for w, o in zip(weights, children, strict=True) if w > 0), default=Fraction(0))
    return min(len(children) * largest(weights, children), mean)


def swept(circuit: Circuit, leaf_values: Mapping[int, Fraction], algebra: Algebra = total) -> list[Fraction]:
    """The value of every node, from those of the leaves."""
    values: list[Fraction] = []
    for place, node in enumerate(circuit.nodes):
        if isinstance(node, Sum):
            values.append(algebra([Fraction(w) for w in node.weights], [values[child] for child in node.children]))
        elif isinstance(node, Product):
            values.append(math.prod((values[child] for child in node.children), start=Fraction(1)))
        else:
            values.append(leaf_values[place])
    return values


def leaves_of(circuit: Circuit) -> dict[int, Leaf]:
    """The leaves by their places."""
    return {place: node for place, node in enumerate(circuit.nodes) if isinstance(node, Leaf)}


def leaf_values(circuit: Circuit, row: Row) -> dict[int, Fraction]:
    """Every leaf at a row, with the floor; 1 where the value is unknown."""
    floor = Fraction(circuit.floor)
    return {
        place: Fraction(1) if math.isnan(row[leaf.variable]) else max(Fraction(density(leaf, row[leaf.variable])), floor)
        for place, leaf in leaves_of(circuit).items()
    }


def likelihood(circuit: Circuit, row: Row, algebra: Algebra = total) -> Fraction:
    """The density of a row, exactly (of the circuit's own doubles)."""
    return swept(circuit, leaf_values(circuit, row), algebra)[-1]


def log_likelihoods(circuit: Circuit, rows: Any, algebra: Algebra = total) -> np.ndarray:
    """The logarithm of the density of each row."""
    return np.array([log(likelihood(circuit, [float(v) for v in row], algebra)) for row in rows], dtype=np.float64)


# -- boxes ------------------------------------------------------------------------------------------------------------


def witnesses(leaf: Leaf, feature: Feature, region: Region) -> list[float]:
    """Values of a feature in a region, among them one where the leaf is least and one where it is greatest."""
    top = peak(leaf)
    marks = [*breaks_of(leaf), *(() if top is None else (top,))]
    candidates: list[float] = []
    for low, high in region.intervals:
        near = [low, high, *(mark for mark in marks if low <= mark <= high)]
        step = step_of(feature)
        if step is None or high < -FARTHEST:
            candidates += [v for mark in near for v in (mark, float(np.nextafter(mark, -np.inf)))]
        else:
            places = {k for mark in near for k in range(math.floor(mark / step) - 1, math.ceil(mark / step) + 2)}
            candidates += [multiple(k, step) for k in places] + [v for v in (low, high) if feature.fits(np.array([v]))[0]]
    fitting = feature.fits(np.array(candidates))
    values = [v for v, fits in zip(candidates, fitting, strict=True) if fits and v in region]
    # the greatest density of a continuous family is taken over reals, between the multiples of a step too
    inner = leaf.numbers if isinstance(leaf, Coded) else leaf
    return values + [v for v in (top,) if v is not None and v in region and getattr(inner, "family", "") != "poisson"]


def box_bounds(circuit: Circuit, box: Mapping[Any, Region]) -> tuple[Fraction, Fraction]:
    """The sweeps with every leaf at its least and at its greatest value in a box."""
    floor = Fraction(circuit.floor)
    least: dict[int, Fraction] = {}
    greatest: dict[int, Fraction] = {}
    for place, leaf in leaves_of(circuit).items():
        feature = circuit.variables[leaf.variable]
        points = witnesses(leaf, feature, box.get(feature.name, feature.region))
        densities = [max(Fraction(density(leaf, v)), floor) for v in points]
        least[place], greatest[place] = min(densities), max(densities)
    return swept(circuit, least)[-1], swept(circuit, greatest)[-1]


def leaf_mass(leaf: Leaf, feature: Feature, region: Region) -> Fraction:
    """The probability that a leaf gives to the values of a feature in a region."""
    if step_of(feature) is not None and peak(leaf) is None:
        inside = [v for v in values_of(feature) if v in region]
        return sum((Fraction(density(leaf, v)) * measure_of(feature, v) for v in inside), start=Fraction(0))
    codes = [feature.atom_number(k) for k in range(len(feature.atoms))] if feature.numeric else []
    total = sum((Fraction(density(leaf, code)) for code in codes if code in region), start=Fraction(0))
    for low, high in (region & feature.region).intervals:
        if high > -FARTHEST:
            total += _number_mass(leaf, low, high)
    return total


def _number_mass(leaf: Leaf, low: float, high: float) -> Fraction:
    """The integral of a leaf's density over an interval of reals: exact for steps, by quadrature for a parametric one."""
    if peak(leaf) is None:
        cuts = sorted({low, high, *(b for b in breaks_of(leaf) if low < b < high)})
        parts = ((Fraction(b) - Fraction(a)) * Fraction(density(leaf, a)) for a, b in itertools.pairwise(cuts))
        return sum(parts, start=Fraction(0))
    points = [v for v in (peak(leaf), 0.0) if v is not None and low < v < high]
    return Fraction(integrate.quad(lambda v: density(leaf, v), low, high, points=points or None, limit=200, epsabs=1e-12)[0])


def probability(circuit: Circuit, box: Mapping[Any, Region]) -> Fraction:
    """The probability of a box under a normalised circuit whose variables have finitely many values: a sum over rows."""
    total = Fraction(0)
    for row in product_space(circuit):
        inside = (v in box[f.name] for f, v in zip(circuit.variables, row, strict=True) if f.name in box)
        if all(inside):
            bare = {place: Fraction(density(leaf, row[leaf.variable])) for place, leaf in leaves_of(circuit).items()}
            total += swept(circuit, bare)[-1] * measure_of_row(circuit, row)
    return total


# -- expected counts --------------------------------------------------------------------------------------------------


def tree_count(circuit: Circuit) -> int:
    """How many induced trees there are: a child chosen at every sum."""
    counts: list[int] = []
    for node in circuit.nodes:
        below = [counts[child] for child in node.children] if isinstance(node, (Sum, Product)) else []
        counts.append(sum(below) if isinstance(node, Sum) else math.prod(below))
    return counts[-1]


def trees(
    circuit: Circuit, at: Mapping[int, Fraction], place: int
) -> Iterator[tuple[Fraction, tuple[int, ...], tuple[int, ...]]]:
    """Every induced tree below a node: its weight, the edges of sums in it, and its leaves."""
    node = circuit.nodes[place]
    if isinstance(node, Leaf):
        yield at[place], (), (place,)
    elif isinstance(node, Sum):
        first = sum(len(n.children) for n in circuit.nodes[:place] if isinstance(n, (Sum, Product)))
        for e, (child, weight) in enumerate(zip(node.children, node.weights, strict=True)):
            for value, edges, leaves in trees(circuit, at, child):
                yield Fraction(weight) * value, (first + e, *edges), leaves
    else:
        for parts in itertools.product(*(list(trees(circuit, at, child)) for child in node.children)):
            value = math.prod((part[0] for part in parts), start=Fraction(1))
            yield value, tuple(e for part in parts for e in part[1]), tuple(x for part in parts for x in part[2])


def expected_counts(circuit: Circuit, rows: Any, weights: Row) -> tuple[np.ndarray, np.ndarray]:
    """How many rows pass each edge of a sum, and fall into each cell of each leaf, expected given the rows.

    The posterior of an induced tree is its share of the likelihood. Leaves are ordered by variable, then by place; the
    cells of a variable are cut by the breaks of all its leaves, and the last cell is that of an unknown value.
    """
    edges = np.zeros(circuit.edges)
    leaves = leaves_of(circuit)
    counts: dict[tuple[int, int], float] = {}
    cuts = [
        sorted({b for leaf in leaves.values() if leaf.variable == j for b in breaks_of(leaf)})
        for j in range(len(circuit.variables))
    ]
    for row, weight in zip(rows, weights, strict=True):
        at = leaf_values(circuit, [float(v) for v in row])
        induced = list(trees(circuit, at, len(circuit.nodes) - 1))
        whole = sum((value for value, _, _ in induced), start=Fraction(0))
        for value, passed, reached in induced if whole else ():
            share = weight * float(value / whole)
            for e in passed:
                edges[e] += share
            for place in reached:
                j = leaves[place].variable
                cell = len(cuts[j]) + 1 if math.isnan(row[j]) else bisect_right(cuts[j], row[j])
                counts[place, cell] = counts.get((place, cell), 0.0) + share
    order = [(place, len(cuts[j]) + 2) for j in range(len(cuts)) for place, leaf in leaves.items() if leaf.variable == j]
    return edges, np.array([counts.get((place, cell), 0.0) for place, cells in order for cell in range(cells)])
