"""Reader of SPFlow's circuits: the live objects of the classic library (0.0.x), known by the names of their classes.

SPFlow is not imported and need not be installed: whatever has its `children`, `weights`, `scope` and parameters is read.
A row has the log-likelihood that SPFlow's `log_likelihood` gives it, leaf by leaf:

    Histogram                densities[i] for breaks[i] <= v < breaks[i + 1], 2.2e-16 outside: the last break is outside
                             too, so the largest value of the training data is unlikely to SPFlow
    Categorical              p[int(v)]
    CategoricalDictionary    p[v], 0 for any other value
    Bernoulli                1 - p at 0, p at 1, 0 elsewhere
    Uniform                  `density` on the whole domain of the feature (SPFlow does not look at start and end)
    Gaussian, LogNormal, Exponential, Gamma, Poisson     as in `likely.circuit.model.families`

Where SPFlow does what no density does, we do not follow: to a category beyond its list it gives probability 1 (we refuse
such a leaf), to an unknown value of a Gamma or a CategoricalDictionary the likelihood e (ours is 1, as with any other
leaf), and it moves a 0 of a Gamma to 2.2e-16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from likely.circuit.model.circuit import Circuit
from likely.circuit.model.nodes import Bernoulli, Categories, Histogram, Leaf, Node, Parametric, Product, Sum
from likely.circuit.model.tolerances import FLOOR
from likely.errors import CircuitError
from likely.schema import Feature, Mixed
from likely.schema.region import above

Reader: TypeAlias = Callable[[Any, int, Feature], Leaf]


def from_spflow(root: Any, features: Iterable[Feature], target: Feature | None = None, floor: float = FLOOR) -> Circuit:
    """SPFlow's circuit as ours; a node with several parents stays one node.

    Args:
        root: The root of SPFlow's circuit.
        features: What the columns were that SPFlow learned from, in order. Their values must be those that
            `circuit.encode` makes of a table: the place of a category in the feature's list, the number elsewhere.
        target: What the last column was, if it was the class.
        floor: The least density of every leaf. That of SPFlow's histograms is our default. Its parametric leaves have
            none: they agree as far as their density is above the floor, and everywhere with 0.

    Raises:
        CircuitError: If a node is of a kind that is not known, or does not fit its feature.
    """
    features = tuple(features)
    variables = features if target is None else (*features, target)
    for feature in variables:
        if isinstance(feature, Mixed):
            raise CircuitError(
                f"Feature {feature.name!r} of an SPFlow circuit", "have no special codes", feature.describe(),
                "SPFlow knows numbers only: make it Continuous or Integer", feature=feature.name,
            )  # fmt: skip
    place: dict[int, int] = {}
    nodes: list[Node] = []
    for node in _ordered(root):
        place[id(node)] = len(nodes)
        nodes.append(_read(node, place, variables))
    return Circuit(features, tuple(nodes), target, floor)


def _ordered(root: Any) -> list[Any]:
    """The nodes below a root, and itself: each once, children before parents. No recursion: circuits can be deep."""
    order: list[Any] = []
    closed: dict[int, bool] = {}
    stack = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            closed[id(node)] = True
            order.append(node)
        elif id(node) not in closed:
            closed[id(node)] = False
            stack.append((node, True))
            stack += [(child, False) for child in reversed(_children(node))]
        elif not closed[id(node)]:
            raise CircuitError(_name(node), "not be below itself", "a cycle", "a circuit is a graph without cycles")
    return order


def _children(node: Any) -> list[Any]:
    return list(_given(node, "children")[0]) if _kind(node) in ("Sum", "Product") else []


def _kind(node: Any) -> str:
    """The SPFlow class that a node is of, or is derived from."""
    names = [kind.__name__ for kind in type(node).__mro__]
    return next((name for name in names if name in ("Sum", "Product") or name in LEAVES), names[0])


def _name(node: Any) -> str:
    return f"SPFlow's {_kind(node)} {getattr(node, 'id', '')}".rstrip()


def _given(node: Any, *names: str) -> list[Any]:
    """The parameters of a node, all of them there."""
    values = [getattr(node, name, None) for name in names]
    if any(value is None for value in values):
        got = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
        raise CircuitError(_name(node), f"have {' and '.join(names)}", got, "learn the circuit before reading it")
    return values


def _read(node: Any, place: dict[int, int], variables: tuple[Feature, ...]) -> Node:
    kind = _kind(node)
    children = tuple(place[id(child)] for child in _children(node))
    if kind == "Sum":
        return Sum(children, _given(node, "weights")[0])
    if kind == "Product":
        return Product(children)
    if kind not in LEAVES:
        raise CircuitError(
            "A node of an SPFlow circuit", f"be a Sum, Product, {', '.join(LEAVES)}", kind,
            "learn with leaves=create_histogram_leaf",
        )  # fmt: skip
    scope = list(_given(node, "scope")[0])
    if len(scope) != 1 or not 0 <= scope[0] < len(variables):
        rule = f"have one of the {len(variables)} variables as scope"
        raise CircuitError(_name(node), rule, scope, "give a feature for every column, the target for the last")
    return LEAVES[kind](node, int(scope[0]), variables[scope[0]])


# -- leaves -----------------------------------------------------------------------------------------------------------


def _histogram(node: Any, variable: int, feature: Feature) -> Leaf:
    breaks, densities = _given(node, "breaks", "densities")
    return Histogram(variable, breaks, densities)


def _categorical(node: Any, variable: int, feature: Feature) -> Leaf:
    p = list(_given(node, "p")[0])
    if feature.region.low < 0 or feature.region.high >= len(p):
        raise CircuitError(
            f"{_name(node)} of feature {feature.name!r}", "have a probability for every value", f"{len(p)} of them",
            f"the feature has {feature.describe()}; to SPFlow a category beyond the list is certain", feature=feature.name,
        )  # fmt: skip
    return Categories(variable, tuple(p)) if len(p) == len(feature.atoms) else _unit_bins(variable, dict(enumerate(p)))


def _dictionary(node: Any, variable: int, feature: Feature) -> Leaf:
    _check_whole(node, feature)
    p = {float(value): share for value, share in _given(node, "p")[0].items()}
    odd = next((value for value in p if not value.is_integer()), None)
    if odd is not None:
        raise CircuitError(_name(node), "have whole numbers as values", odd, "use a Histogram", feature=feature.name)
    return _unit_bins(variable, p)


def _unit_bins(variable: int, p: dict[Any, float]) -> Histogram:
    """Probabilities of whole numbers as a histogram, 0 in between."""
    breaks = sorted({edge for value in p for edge in (value, value + 1)})
    return Histogram(variable, tuple(breaks), tuple(p.get(edge, 0.0) for edge in breaks[:-1]))


def _bernoulli(node: Any, variable: int, feature: Feature) -> Leaf:
    _check_whole(node, feature)
    return Bernoulli(variable, _given(node, "p")[0])


def _check_whole(node: Any, feature: Feature) -> None:
    """Between whole numbers SPFlow's density would be 0, which steps cannot say."""
    if feature.grid != 1.0:
        raise CircuitError(
            f"{_name(node)} of feature {feature.name!r}", "have a feature of categories or whole numbers", feature.kind,
            "make the feature Integer or Binary", feature=feature.name,
        )  # fmt: skip


def _uniform(node: Any, variable: int, feature: Feature) -> Leaf:
    low, high = feature.region.low, feature.region.high
    end = above(high) if feature.grid is None else high + feature.grid
    return Histogram(variable, (low, end), tuple(_given(node, "density")))


def _poisson(node: Any, variable: int, feature: Feature) -> Leaf:
    (mean,) = _given(node, "mean")
    if mean == 0:  # what SPFlow learns from a column of zeros; no parameter of the family says that
        _check_whole(node, feature)
        return _unit_bins(variable, {0: 1.0})
    return Parametric(variable, "poisson", mean)


def _parametric(family: str, *names: str) -> Reader:
    return lambda node, variable, feature: Parametric(variable, family, *_given(node, *names))


LEAVES: dict[str, Reader] = {
    "Histogram": _histogram,
    "Categorical": _categorical,
    "CategoricalDictionary": _dictionary,
    "Bernoulli": _bernoulli,
    "Uniform": _uniform,
    "Poisson": _poisson,
    "Gaussian": _parametric("gaussian", "mean", "stdev"),
    "LogNormal": _parametric("lognormal", "mean", "stdev"),
    "Exponential": _parametric("exponential", "l"),
    "Gamma": _parametric("gamma", "alpha", "beta"),
}
