"""`Plausibility`: how likely an answer must be, and how much that counts; `Coherence`: how well its values must fit together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.circuit import Circuit, coherence, log_likelihood
from likely.circuit.model.cells import Algebra
from likely.circuit.queries.evaluate import max_log_likelihood
from likely.errors import ProblemError
from likely.predictor import Form
from likely.problem.tolerances import rounding
from likely.schema.values import Name, Numbers


@dataclass(frozen=True, eq=False)
class Plausibility:
    """How likely an answer must be: log p >= `lower`, and - `weight` * log p in the objective.

    p is the circuit's density of the row together with its new class, where the circuit has one. It is conditional on
    what is `given`, by name: features that may not change, as the factual has them (if one may, p is the row's density over
    the density of what is given); the circuit's target, as the answer has it. With `approximate`, sums of the circuit are
    maxima, as in the paper's programme.
    """

    circuit: Circuit
    lower: float = -math.inf
    weight: float = 0.0
    given: tuple[Name, ...] = ()
    approximate: bool = False

    def __post_init__(self) -> None:
        if math.isnan(self.lower) or not 0 <= self.weight < math.inf:
            raise ProblemError(
                "Plausibility", "have a threshold and a weight of at least 0", (self.lower, self.weight), "give finite numbers"
            )
        object.__setattr__(self, "given", tuple(self.given))
        for name in self.given:
            if name not in self.circuit.names:
                rule = "be a feature or the target of the circuit"
                raise ProblemError("What likelihood is given", rule, repr(name), f"it has {list(self.circuit.names)}")

    @property
    def counts(self) -> bool:
        """Whether likelihood matters at all: there is a threshold or a weight."""
        return self.lower > -math.inf or self.weight > 0

    def target_of(self, form: Form, class_index: int | None) -> float:
        """The class with which a row is scored, as the circuit's target has it; NaN for any.

        Args:
            form: The classifier, which counts the classes.
            class_index: The place of the class there; None if an answer need not have a certain one.
        """
        return _target_of(self.circuit, form, class_index)

    def log_likelihoods(self, rows: Numbers, factual: Numbers, target: float = math.nan, *, n_jobs: int | None = 1) -> Numbers:
        """log p of each row with a class, given what is given.

        Args:
            rows: Complete rows, as doubles.
            factual: The factual, which has the values of the features that are given.
            target: The class, as `target_of` says it; NaN for any.
            n_jobs: How many threads; None for one per core.
        """
        with_target = rows if self.circuit.target is None else np.column_stack([rows, np.full(len(rows), target)])
        compute = max_log_likelihood if self.approximate else log_likelihood
        return np.asarray(compute(self.circuit, with_target, n_jobs=n_jobs) - self.log_given(factual, target))

    def likely_enough(self, log_likelihoods: Numbers, slack: float = 0.0) -> NDArray[np.bool_]:
        """Which log-likelihoods reach the threshold; a conditional one is a difference of sums, and may miss it by rounding.

        Args:
            log_likelihoods: As `log_likelihoods` computes them.
            slack: By how much more the threshold may be missed.
        """
        return np.asarray(log_likelihoods >= self.lower - slack - (rounding(self.lower) if self.given else 0.0))

    def log_given(self, factual: Numbers, target: float = math.nan) -> float:
        """log p of what is given. If that is impossible, it is infinite, so that no row is likely then.

        Args:
            factual: The factual, which has the values of the features that are given.
            target: The class of an answer, as `target_of` says it; NaN for any.
        """
        circuit = self.circuit
        if not self.given:
            return 0.0
        values = factual if circuit.target is None else np.append(factual, target)
        row = [value if name in self.given else math.nan for name, value in zip(circuit.names, values, strict=True)]
        log = float(log_likelihood(circuit, np.array([row]))[0])
        return log if log > -math.inf else math.inf


@dataclass(frozen=True, eq=False)
class Coherence:
    """How well the values of an answer must fit together, and with its new class: `likely.circuit.coherence` >= `lower`.

    It is the logarithm of another circuit, whose leaves are divided by the marginals, and is bounded as likelihood is.
    Leaves must be constant on cells, or Gaussian blocks.
    """

    circuit: Circuit
    lower: float

    def __post_init__(self) -> None:
        if math.isnan(self.lower):
            raise ProblemError("Coherence", "have a threshold", self.lower, "give a number")
        families = sum(part is not None for cells in self.circuit.cells for part in cells.parametric)
        if families:
            rule, got = "have histograms, categories and Gaussian blocks only", f"one with {families} parametric leaves"
            hint = "leave coherence out, or learn the circuit with likely.circuit.learn"
            raise ProblemError("The circuit of a demand on coherence", rule, got, hint)

    def target_of(self, form: Form, class_index: int | None) -> float:
        """The class that values are to fit to, as the circuit's target has it; NaN for any.

        Args:
            form: The classifier, which counts the classes.
            class_index: The place of the class there; None if an answer need not have a certain one.
        """
        return _target_of(self.circuit, form, class_index)

    def coherences(self, rows: Numbers, target: float = math.nan) -> Numbers:
        """How well the values of each row fit together, and with a class.

        Args:
            rows: Complete rows, as doubles.
            target: The class, as `target_of` says it; NaN for any.
        """
        whole = rows if self.circuit.target is None else np.column_stack([rows, np.full(len(rows), target)])
        if self.circuit.has_blocks:
            return coherence(self.circuit, whole, n_jobs=1)
        return self.circuit.ratio_core.evaluate(np.ascontiguousarray(whole), Algebra.SUM, 1)


def _target_of(circuit: Circuit, form: Form, class_index: int | None) -> float:
    target = circuit.target
    return math.nan if target is None or class_index is None else target.number(form.classes[class_index])
