"""How likely a row is: sum-product networks (probabilistic circuits) over tables, exact and fast.

A sum-product network (Poon and Domingos 2011) is an arithmetic circuit over densities of one variable, or of a few (Darwiche
2003). It is smooth and decomposable, so likelihoods, marginals, conditionals and moments take one sweep each.

    model      what a circuit is
    queries    what it can be asked
    learning   how it is learned from a table
    readers    circuits that others made
    density    all of it as an estimator: anomaly scores, synthetic rows

Arrows point one way: density -> learning -> queries -> model <- readers.

References:
    H. Poon and P. Domingos, Sum-product networks: a new deep architecture, UAI 2011.
    A. Darwiche, A differential approach to inference in Bayesian networks, Journal of the ACM 50(3), 2003.
    R. Gens and P. Domingos, Learning the structure of sum-product networks, ICML 2013.
"""

from likely.circuit.density import Density, RowPart, RowReport
from likely.circuit.learning.cross_fitting import Fold
from likely.circuit.learning.learn import Learned, learn
from likely.circuit.learning.refine import refine
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.check import Report
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.nodes import Bernoulli, Categories, Coded, Histogram, Leaf, Node, Parametric, Product, Sum
from likely.circuit.model.tolerances import FLOOR
from likely.circuit.model.warps import Warp
from likely.circuit.queries.evaluate import (
    Derivatives,
    LogLikelihoodBounds,
    bounds,
    derivatives,
    log_likelihood,
    log_probability,
    max_log_likelihood,
)
from likely.circuit.queries.moments import Moments, moments
from likely.circuit.queries.mpe import Completion, complete
from likely.circuit.queries.sample import sample
from likely.circuit.queries.surprise import coherence, log_conditionals
from likely.circuit.queries.transform import conditional, marginal, merged
from likely.circuit.readers.cases import from_case
from likely.circuit.readers.spflow import from_spflow

__all__ = [
    "FLOOR",
    "Bernoulli",
    "Categories",
    "Circuit",
    "Coded",
    "Completion",
    "Density",
    "Derivatives",
    "Fold",
    "GaussianBlock",
    "Histogram",
    "Leaf",
    "Learned",
    "LogLikelihoodBounds",
    "Moments",
    "Node",
    "Parametric",
    "Product",
    "Report",
    "RowPart",
    "RowReport",
    "Sum",
    "Warp",
    "bounds",
    "coherence",
    "complete",
    "conditional",
    "derivatives",
    "from_case",
    "from_spflow",
    "learn",
    "log_conditionals",
    "log_likelihood",
    "log_probability",
    "marginal",
    "max_log_likelihood",
    "merged",
    "moments",
    "refine",
    "sample",
]
