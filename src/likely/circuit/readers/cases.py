"""Reader of the circuits in case files: the paper's own queries with the authors' circuits, as plain data.

A case's `circuit` lists nodes, children before parents, the root last: `sum` (children, weights), `product` (children) and
`histogram` (feature, breaks, densities). Categories, ranks and classes stand for their place in the list of values. The
last break of a continuous feature belongs to the last bin, as it does where histograms are counted (SPFlow, which the
authors used, leaves it out when it scores: see `likely.circuit.readers.spflow`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likely.circuit.model.circuit import Circuit
from likely.circuit.model.nodes import Histogram, Node, Product, Sum
from likely.errors import CircuitError
from likely.schema import Binary, Continuous, Feature, Schema
from likely.schema.region import above
from likely.schema.values import Name


def from_case(case: Mapping[str, Any], schema: Schema) -> Circuit:
    """The circuit of a case over the features of its schema and, last, its class.

    Args:
        case: A case file's data, with `target` and `circuit`.
        schema: The features of the case.

    Raises:
        CircuitError: If a node is of another type, of a feature that is not there, or the nodes are no circuit.
    """
    target = Binary(case["target"]["name"], tuple(case["target"]["values"]))
    places = {variable.name: (place, variable) for place, variable in enumerate((*schema.features, target))}
    nodes = tuple(_node(place, item, places) for place, item in enumerate(case["circuit"]))
    return Circuit(schema.features, nodes, target)


def _node(place: int, item: Mapping[str, Any], variables: Mapping[Name, tuple[int, Feature]]) -> Node:
    kind = item["type"]
    if kind == "sum":
        return Sum(item["children"], item["weights"])
    if kind == "product":
        return Product(item["children"])
    if kind != "histogram":
        raise CircuitError(f"The type of node {place}", "be sum, product or histogram", repr(kind), "correct the case")
    if item["feature"] not in variables:
        raise CircuitError(
            f"The feature of node {place}", "be in the schema or the target", repr(item["feature"]),
            "build the schema from the case's features", feature=item["feature"],
        )  # fmt: skip
    variable, feature = variables[item["feature"]]
    breaks = [float(edge) for edge in item["breaks"]]
    if isinstance(feature, Continuous):
        breaks[-1] = above(breaks[-1])
    return Histogram(variable, tuple(breaks), item["densities"])
