"""What makes a graph of nodes a circuit, checked: order, smoothness, decomposability, weights, leaves, supports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.circuit.model.block_mass import block_mass
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.box import mass_logs, on_values
from likely.circuit.model.measure import mass, taken_places
from likely.circuit.model.nodes import Categories, Coded, Leaf, Node, Product, Sum
from likely.circuit.model.tolerances import UNIT_SLACK
from likely.errors import CircuitError
from likely.schema.region import Region, above, below
from likely.schema.values import LARGEST, Name, Numbers

if TYPE_CHECKING:
    from likely.circuit.model.circuit import Circuit


def scopes(circuit: Circuit) -> tuple[int, ...]:
    """The variables of every node, as bits; refuses what is not a circuit.

    Smooth: the children of a sum have the same variables. Decomposable: those of a product have none in common. Both
    together make every marginal, bound and derivative a single sweep.
    """
    scope_of: list[int] = []
    if not circuit.nodes:
        raise CircuitError("A circuit", "have nodes", "none", "learn one with likely.circuit.learn(X, y, schema)")
    for place, node in enumerate(circuit.nodes):
        scope_of.append(_scope(circuit, place, node, scope_of))
    everything = (1 << len(circuit.variables)) - 1
    if scope_of[-1] != everything:
        missing = [variable.name for j, variable in enumerate(circuit.variables) if not scope_of[-1] >> j & 1]
        raise CircuitError(
            "The root (the last node)", "have all variables", f"none of {missing}", "add leaves or drop the features",
            feature=missing[0],
        )  # fmt: skip
    used = {child for node in circuit.nodes if isinstance(node, (Sum, Product)) for child in node.children}
    for place in range(len(circuit.nodes) - 1):
        if place not in used:
            raise CircuitError("Every node but the root", "have a parent", f"node {place} without", "drop the node")
    return tuple(scope_of)


def _scope(circuit: Circuit, place: int, node: Node, scope_of: list[int]) -> int:
    if isinstance(node, Leaf):
        _check_leaf(circuit, place, node)
        return 1 << node.variable
    if isinstance(node, GaussianBlock):
        _check_block(circuit, place, node)
        return sum(1 << variable for variable in node.variables)
    if not isinstance(node, (Sum, Product)):
        raise CircuitError(
            f"Node {place}", "be a Sum, a Product, a leaf or a GaussianBlock", type(node).__name__, "see likely.circuit"
        )
    for child in node.children:
        if not 0 <= child < place:
            raise CircuitError(f"The children of node {place}", "stand before it", child, "sort the nodes, the root last")
    if isinstance(node, Sum):
        return _sum_scope(place, node, scope_of)
    scope = 0
    for child in node.children:
        if scope & scope_of[child]:
            raise CircuitError(
                f"Product {place}", "have children with no variable in common (decomposable)", f"child {child}", "use a Sum"
            )
        scope |= scope_of[child]
    return scope


def _sum_scope(place: int, node: Sum, scope_of: list[int]) -> int:
    total = math.fsum(node.weights)
    if abs(total - 1) > UNIT_SLACK:
        raise CircuitError(f"The weights of sum {place}", "sum to 1", total, "divide them by their sum")
    for child in node.children:
        if scope_of[child] != scope_of[node.children[0]]:
            raise CircuitError(
                f"Sum {place}", "have children with the same variables (smooth)", f"child {child} with others",
                "give the child a leaf for every variable that it lacks",
            )  # fmt: skip
    return scope_of[node.children[0]]


def _check_leaf(circuit: Circuit, place: int, leaf: Leaf) -> None:
    if not 0 <= leaf.variable < len(circuit.variables):
        raise CircuitError(f"The variable of leaf {place}", f"be below {len(circuit.variables)}", leaf.variable, "correct it")
    feature = circuit.variables[leaf.variable]
    if feature.numeric and isinstance(leaf, Categories):
        raise CircuitError(
            f"Leaf {place} of feature {feature.name!r}", "be a Histogram, Parametric or Coded", leaf.kind,
            "categories need a feature with a list of values", feature=feature.name,
        )  # fmt: skip
    count = len(leaf.probabilities if isinstance(leaf, Categories) else leaf.codes if isinstance(leaf, Coded) else ())
    if isinstance(leaf, (Categories, Coded)) and count != len(feature.atoms):
        what = "values" if isinstance(leaf, Categories) else "codes"
        raise CircuitError(
            f"Leaf {place} of feature {feature.name!r}", f"have {len(feature.atoms)} {what}", count,
            "give one probability each", feature=feature.name,
        )  # fmt: skip
    if not feature.numeric and (leaf.parametric is not None or isinstance(leaf, Coded)):
        raise CircuitError(
            f"Leaf {place} of feature {feature.name!r}", "be a Histogram, Categories or Bernoulli", leaf.kind,
            "a parametric density needs a feature of numbers", feature=feature.name,
        )  # fmt: skip
    if leaf.parametric is not None and leaf.parametric.family == "poisson" and feature.grid != 1.0:
        raise CircuitError(
            f"Leaf {place} of feature {feature.name!r}", "be a density of all its numbers", leaf.parametric.family,
            "make the feature Integer or use another family", feature=feature.name,
        )  # fmt: skip


def _check_block(circuit: Circuit, place: int, block: GaussianBlock) -> None:
    if block.variables[0] < 0 or block.variables[-1] >= len(circuit.variables):
        rule = f"be from 0 to {len(circuit.variables) - 1}"
        raise CircuitError(f"The variables of block {place}", rule, block.variables, "correct them")
    for variable in block.variables:
        feature = circuit.variables[variable]
        if not feature.numeric or taken_places(feature):
            raise CircuitError(
                f"Block {place}", "be over features of numbers, none of which is a code", f"{feature.name!r} ({feature.kind})",
                "give that feature a leaf", feature=feature.name,
            )  # fmt: skip


@dataclass(frozen=True)
class Report:
    """What was verified of a circuit, by `Circuit.check`. That there is one means: ordered, smooth, decomposable."""

    nodes: int
    edges: int
    sums: int
    products: int
    leaves: int
    #: Densities of several variables: `GaussianBlock`.
    blocks: int
    #: What was fitted: see `Circuit.parameters`.
    parameters: int
    #: The farthest that the weights of a sum lie from 1.
    weight_error: float
    #: The leaves whose mass is not 1, with their mass: their densities are not probabilities (the paper's are not).
    unnormalised: tuple[tuple[int, float], ...]
    #: Per variable, what no leaf covers, in the feature's own values: rows there have the floor density.
    uncovered: tuple[tuple[Name, Region], ...]
    #: The probability that every variable has a value of its domain; 1 of every circuit that `learn` made.
    inside: float
    #: The variables that have not, with the probability of a value outside.
    outside: tuple[tuple[Name, float], ...]
    floor: float
    tree: bool

    @property
    def normalised(self) -> bool:
        """Whether the densities integrate to 1 (the floor aside)."""
        return not self.unnormalised

    def __str__(self) -> str:
        lines = [
            f"{self.nodes} nodes, {self.edges} edges ({'a tree' if self.tree else 'nodes are shared'}): "
            f"{self.sums} sums, {self.products} products, {self.leaves} leaves"
            + (f", {self.blocks} blocks" if self.blocks else ""),
            f"{self.parameters} parameters",
            "smooth: yes; decomposable: yes",
            f"weights sum to 1 within {self.weight_error:.1e}",
            "every leaf has mass 1" if self.normalised else f"{len(self.unnormalised)} leaves do not have mass 1",
            f"P(domain) = {self.inside:.6g}: the probability that every feature has a value of its own",
            *(f"feature {name!r} lies outside its domain with probability {share:.3g}" for name, share in self.outside),
            f"floor density {self.floor}",
        ]
        lines += [f"no leaf covers {len(region.intervals)} part(s) of feature {name!r}" for name, region in self.uncovered]
        return "\n".join(lines)


def report(circuit: Circuit) -> Report:
    """Everything that can be verified of a circuit without data."""
    sums = [node for node in circuit.nodes if isinstance(node, Sum)]
    products = [node for node in circuit.nodes if isinstance(node, Product)]
    leaves = {place: node for place, node in enumerate(circuit.nodes) if isinstance(node, Leaf)}
    masses = ((place, mass(leaf, circuit.variables[leaf.variable])) for place, leaf in leaves.items())
    parents = [child for node in circuit.nodes if isinstance(node, (Sum, Product)) for child in node.children]
    uncovered = ((variable.name, _uncovered(circuit, j)) for j, variable in enumerate(circuit.variables))
    *shares, inside = _inside(circuit).tolist()
    inside_of = zip(circuit.names, shares, strict=True)
    return Report(
        nodes=len(circuit.nodes),
        edges=circuit.edges,
        sums=len(sums),
        products=len(products),
        leaves=len(leaves),
        blocks=sum(isinstance(node, GaussianBlock) for node in circuit.nodes),
        parameters=circuit.parameters,
        weight_error=max((abs(math.fsum(node.weights) - 1) for node in sums), default=0.0),
        unnormalised=tuple((place, total) for place, total in masses if abs(total - 1) > UNIT_SLACK),
        uncovered=tuple((name, region) for name, region in uncovered if not region.empty),
        inside=inside,
        outside=tuple((name, 1 - share) for name, share in inside_of if 1 - share > UNIT_SLACK),
        floor=circuit.floor,
        tree=len(parents) == len(set(parents)),
    )


def _inside(circuit: Circuit) -> Numbers:
    """The probability that each variable has a value of its domain; and in the end, that all of them have."""
    regions = {j: on_values(variable, variable.region) for j, variable in enumerate(circuit.variables)}
    logs = mass_logs(circuit, regions)
    variable_of = np.array([node.variable if isinstance(node, Leaf) else -1 for node in circuit.nodes])
    alone = np.where(variable_of == np.arange(len(circuit.variables))[:, None], logs, 0.0)
    for place, node in enumerate(circuit.nodes):
        if isinstance(node, GaussianBlock):
            for j in node.variables:
                alone[j, place] = np.log(block_mass(node, circuit.variables, {j: regions[j]}))
    return np.asarray(np.exp(circuit.core.sweep(np.vstack([alone, logs]))[:, -1]))


def _uncovered(circuit: Circuit, variable: int) -> Region:
    """The values of a feature where every leaf is at the floor.

    A parametric leaf counts as covering all numbers, a block as covering the domain of its warp.
    """
    cells = circuit.cells[variable]
    edges = np.concatenate([[-np.inf], cells.breaks, [np.inf]])
    bare = ~np.any(cells.densities > circuit.floor, axis=0)
    gaps = zip(edges[:-1][bare].tolist(), np.nextafter(edges[1:], -np.inf)[bare].tolist(), strict=True)
    uncovered = circuit.variables[variable].reachable(Region(tuple(gaps)))
    for node in circuit.nodes:
        if isinstance(node, GaussianBlock) and variable in node.variables:
            warp = node.warps[node.variables.index(variable)]
            uncovered = uncovered - Region.between(max(above(warp.lower), -LARGEST), min(below(warp.upper), LARGEST))
    return uncovered if cells.parametric.count(None) == len(cells.parametric) else uncovered - Region.between(-LARGEST, LARGEST)
