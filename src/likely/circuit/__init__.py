"""How likely a row is: sum-product networks (probabilistic circuits) over tables, exact and fast."""

from likely.circuit.cases import from_case
from likely.circuit.check import Report
from likely.circuit.circuit import FLOOR, Circuit
from likely.circuit.complete import Completion, complete
from likely.circuit.evaluate import (
    Bounds,
    Derivatives,
    bounds,
    derivatives,
    log_likelihood,
    log_probability,
    max_log_likelihood,
)
from likely.circuit.learn import Learned, learn
from likely.circuit.moments import Moments, moments
from likely.circuit.nodes import Bernoulli, Categories, Coded, Histogram, Leaf, Node, Parametric, Product, Sum
from likely.circuit.refine import refine
from likely.circuit.sample import sample
from likely.circuit.spflow import from_spflow
from likely.circuit.transform import conditional, marginal, merged

__all__ = [
    "FLOOR",
    "Bernoulli",
    "Bounds",
    "Categories",
    "Circuit",
    "Coded",
    "Completion",
    "Derivatives",
    "Histogram",
    "Leaf",
    "Learned",
    "Moments",
    "Node",
    "Parametric",
    "Product",
    "Report",
    "Sum",
    "bounds",
    "complete",
    "conditional",
    "derivatives",
    "from_case",
    "from_spflow",
    "learn",
    "log_likelihood",
    "log_probability",
    "marginal",
    "max_log_likelihood",
    "merged",
    "moments",
    "refine",
    "sample",
]
