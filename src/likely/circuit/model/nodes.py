"""The nodes of a circuit: sums, products, and leaves over one variable each (blocks over several: `blocks`).

A leaf is a density of one variable, in two parts that may both be there:

    density(v) = steps(v) + share * parametric(v)

`steps` is constant between breaks (every value of every feature is one double, so categories, ranks and special codes
are steps too), `parametric` is a unimodal parametric density (`likely.circuit.model.families`). Densities of numbers are
per unit of the raw feature, those of categories, ranks and codes are probabilities.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

import numpy as np

from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.numbers import finite, places, probabilities
from likely.circuit.model.tolerances import CODES_SLACK
from likely.circuit.model.warps import Warp
from likely.errors import CircuitError
from likely.schema.region import above
from likely.schema.values import LARGEST, Numbers, code_number

#: Breaks and the constant densities between them: `densities[i]` for breaks[i] <= v < breaks[i + 1].
Steps: TypeAlias = tuple[Numbers, Numbers]
NO_STEPS: Steps = (np.empty(0), np.empty(0))


@dataclass(frozen=True, slots=True)
class ParametricPart:
    """A unimodal parametric density, times its share of the leaf's mass."""

    family: str
    a: float
    b: float
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Sum:
    """A mixture: the weighted sum of children over the same variables.

    Args:
        children: Places of nodes before this one.
        weights: One per child, at least 0, which sum to 1.
    """

    kind: ClassVar[str] = "sum"
    children: tuple[int, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "children", places(self.children))
        object.__setattr__(self, "weights", probabilities(self.weights, "The weights of a sum"))
        if len(self.weights) != len(self.children):
            raise CircuitError(
                "A sum", "have a weight per child", f"{len(self.weights)} for {len(self.children)}", "give as many weights"
            )


@dataclass(frozen=True, slots=True)
class Product:
    """Independence: the product of children over different variables.

    Args:
        children: Places of nodes before this one.
    """

    kind: ClassVar[str] = "product"
    children: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "children", places(self.children))


@dataclass(frozen=True, slots=True)
class Leaf(ABC):
    """A density of one variable.

    Args:
        variable: Its place among the circuit's variables.
    """

    kind: ClassVar[str]
    variable: int

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "variable", operator.index(self.variable))
        except TypeError:
            raise CircuitError(
                "The variable of a leaf", "be a place among the variables", repr(self.variable), "give an integer"
            ) from None

    @property
    @abstractmethod
    def steps(self) -> Steps:
        """The piecewise constant part."""

    @property
    def parametric(self) -> ParametricPart | None:
        """The parametric part, if there is one."""
        return None


@dataclass(frozen=True, slots=True)
class Histogram(Leaf):
    """A density that is constant between breaks: `densities[i]` for breaks[i] <= v < breaks[i + 1], 0 outside.

    Args:
        variable: Its place among the circuit's variables.
        breaks: Both ends of every bin, increasing.
        densities: One per bin, per unit of the feature.
    """

    kind: ClassVar[str] = "histogram"
    breaks: tuple[float, ...]
    densities: tuple[float, ...]

    def __post_init__(self) -> None:
        Leaf.__post_init__(self)
        object.__setattr__(self, "breaks", finite(self.breaks, "The breaks of a histogram"))
        object.__setattr__(self, "densities", probabilities(self.densities, "The densities of a histogram"))
        if len(self.breaks) != len(self.densities) + 1 or len(self.breaks) < 2:
            raise CircuitError(
                "A histogram",
                "have one break more than densities",
                f"{len(self.breaks)} breaks and {len(self.densities)} densities",
                "give both ends of every bin",
            )
        if any(a >= b for a, b in zip(self.breaks, self.breaks[1:], strict=False)):
            raise CircuitError("The breaks of a histogram", "increase", self.breaks, "sort them and drop empty bins")

    @property
    def steps(self) -> Steps:
        return np.array(self.breaks), np.array(self.densities)


@dataclass(frozen=True, slots=True)
class Categories(Leaf):
    """A probability for each value of a discrete feature.

    Args:
        variable: Its place among the circuit's variables.
        probabilities: One per value, in the feature's order.
    """

    kind: ClassVar[str] = "categories"
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        Leaf.__post_init__(self)
        object.__setattr__(self, "probabilities", probabilities(self.probabilities, "The probabilities of a leaf"))

    @property
    def steps(self) -> Steps:
        return np.arange(len(self.probabilities) + 1.0), np.array(self.probabilities)


@dataclass(frozen=True, slots=True)
class Bernoulli(Leaf):
    """A probability for the second value of a binary feature.

    Args:
        variable: Its place among the circuit's variables.
        p: Of the second value; the first has 1 - p.
    """

    kind: ClassVar[str] = "bernoulli"
    p: float

    def __post_init__(self) -> None:
        Leaf.__post_init__(self)
        object.__setattr__(self, "p", probabilities([self.p], "The probability of a leaf")[0])
        if self.p > 1:
            raise CircuitError("The probability of a leaf", "be at most 1", self.p, "correct the number")

    @property
    def steps(self) -> Steps:
        return np.arange(3.0), np.array([1 - self.p, self.p])


@dataclass(frozen=True, slots=True)
class Parametric(Leaf):
    """A unimodal density of numbers.

    Args:
        variable: Its place among the circuit's variables.
        family: "gaussian", "lognormal", "exponential", "gamma" or "poisson" (`likely.circuit.model.families`).
        a: Its first parameter.
        b: Its second, where it has one.
    """

    kind: ClassVar[str] = "parametric"
    family: str
    a: float
    b: float = 1.0

    def __post_init__(self) -> None:
        from likely.circuit.model.families import FAMILIES

        Leaf.__post_init__(self)
        if self.family not in FAMILIES:
            raise CircuitError("The family of a leaf", f"be one of {', '.join(FAMILIES)}", repr(self.family), "use a Histogram")
        a, b = finite([self.a, self.b], f"The parameters of a {self.family} leaf")
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)
        smallest = {"gaussian": -math.inf, "lognormal": -math.inf, "gamma": math.nextafter(1, 0)}.get(self.family, 0.0)
        if b <= 0 or a <= smallest:
            raise CircuitError(
                f"The parameters of a {self.family} leaf", "be positive (the shape of a gamma at least 1)", (a, b),
                "a narrow or unbounded density is better a Histogram",
            )  # fmt: skip

    @property
    def steps(self) -> Steps:
        return NO_STEPS

    @property
    def parametric(self) -> ParametricPart:
        return ParametricPart(self.family, self.a, self.b)


@dataclass(frozen=True, slots=True)
class Coded(Leaf):
    """A density of a mixed feature: a probability for each special code, and the rest of the mass for its numbers.

    Args:
        variable: Its place among the circuit's variables.
        codes: A probability per special code, in the feature's order.
        numbers: The density of the numbers, if there are any; it has mass 1 itself.
    """

    kind: ClassVar[str] = "coded"
    codes: tuple[float, ...]
    numbers: Histogram | Parametric | None = None

    def __post_init__(self) -> None:
        Leaf.__post_init__(self)
        object.__setattr__(self, "codes", probabilities(self.codes, "The probabilities of codes"))
        if not isinstance(self.numbers, (Histogram, Parametric, type(None))):
            raise CircuitError("The numbers of a leaf", "be a Histogram or Parametric", type(self.numbers).__name__, "use None")
        if isinstance(self.numbers, Histogram) and self.numbers.breaks[0] < -LARGEST:
            raise CircuitError("The numbers of a leaf", "lie above the codes", self.numbers.breaks[0], "cut off the bin")
        if self.numbers is not None and self.numbers.variable != self.variable:
            raise CircuitError("The numbers of a leaf", "be of the leaf's variable", self.numbers.variable, "correct it")
        if math.fsum(self.codes) > 1 + CODES_SLACK:
            raise CircuitError("The probabilities of codes", "sum to at most 1", math.fsum(self.codes), "scale them")

    @property
    def share(self) -> float:
        """The probability that the value is a number."""
        return max(0.0, 1 - math.fsum(self.codes)) if self.numbers is not None else 0.0

    @property
    def steps(self) -> Steps:
        breaks, densities = self.numbers.steps if self.numbers is not None else NO_STEPS
        codes = [code_number(k) for k in reversed(range(len(self.codes)))]
        gaps = np.array([edge for code in codes for edge in (code, above(code))])
        values = np.array([value for p in reversed(self.codes) for value in (p, 0.0)])
        if not len(breaks):
            return gaps, values[:-1]
        return np.concatenate([gaps, breaks]), np.concatenate([values, densities * self.share])

    @property
    def parametric(self) -> ParametricPart | None:
        part = self.numbers.parametric if self.numbers is not None else None
        return None if part is None else ParametricPart(part.family, part.a, part.b, self.share)


Node: TypeAlias = Sum | Product | Leaf | GaussianBlock
KINDS: dict[str, type[Any]] = {
    kind.kind: kind for kind in (Sum, Product, Histogram, Categories, Bernoulli, Parametric, Coded, GaussianBlock)
}


def parameters(nodes: Iterable[Node]) -> int:
    """How many numbers were fitted: see `Circuit.parameters`."""
    kinds = set(nodes)
    blocks = [node for node in kinds if isinstance(node, GaussianBlock)]
    warps = {(variable, warp) for block in blocks for variable, warp in zip(block.variables, block.warps, strict=True)}
    return sum(_parameters(node) for node in kinds) + sum(len(warp.knots) for _, warp in warps)


def _parameters(node: Node) -> int:
    """Those of one node, a block's warps aside."""
    if isinstance(node, GaussianBlock):
        return len(node.mean) + sum(len(row) for row in node.factor)
    if isinstance(node, Sum):
        return len(node.weights) - 1
    if isinstance(node, Coded):
        return len(node.codes) if node.numbers is None else len(node.codes) + _parameters(node.numbers)
    if isinstance(node, Parametric):
        return 1 if node.family in ("exponential", "poisson") else 2
    return 0 if isinstance(node, Product) else len(node.steps[1]) - 1


def node_to_dict(node: Node) -> dict[str, Any]:
    """Plain data that `node_from_dict` reads back without loss."""
    if isinstance(node, GaussianBlock):
        return node.to_dict()
    data: dict[str, Any] = {"kind": node.kind}
    for item in fields(node):
        value = getattr(node, item.name)
        data[item.name] = node_to_dict(value) if isinstance(value, Leaf) else list(value) if isinstance(value, tuple) else value
    return data


def node_from_dict(data: Any) -> Node:
    """The node that `node_to_dict` described."""
    if not isinstance(data, dict) or data.get("kind") not in KINDS:
        raise CircuitError("The kind of a node", f"be one of {', '.join(KINDS)}", _kind_of(data), "use circuit.to_json()")
    settings = {key: value for key, value in data.items() if key != "kind"}
    if isinstance(settings.get("numbers"), dict):
        settings["numbers"] = node_from_dict(settings["numbers"])
    if isinstance(settings.get("warps"), list):
        settings["warps"] = tuple(Warp.from_dict(warp) for warp in settings["warps"])
    try:
        node: Node = KINDS[data["kind"]](**settings)
    except TypeError as error:
        known = ", ".join(item.name for item in fields(KINDS[data["kind"]]))
        raise CircuitError(f"A {data['kind']} node", f"have {known}", error, "use circuit.to_json()") from None
    return node


def _kind_of(data: Any) -> str:
    return repr(data.get("kind")) if isinstance(data, dict) else type(data).__name__
