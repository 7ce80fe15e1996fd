"""`Problem`: one question to an engine, as plain data; `Limits`: how hard to try."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from likely.circuit import Circuit, log_likelihood
from likely.errors import ProblemError
from likely.predictor import Form
from likely.problem.goal import Goal
from likely.schema import Schema
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
        known = [own.name for own in (*self.circuit.features, *([self.circuit.target] if self.circuit.target else []))]
        for name in self.given:
            if name not in known:
                rule = "be a feature or the target of the circuit"
                raise ProblemError("What likelihood is given", rule, repr(name), f"it has {known}")

    def log_given(self, factual: Numbers, target: float = math.nan) -> float:
        """log p of what is given, of a factual and the class of an answer (NaN: any).

        If that is impossible, it is infinite, so that no row is likely then.
        """
        circuit = self.circuit
        if not self.given:
            return 0.0
        row = [v if f.name in self.given else math.nan for f, v in zip(circuit.features, factual, strict=True)]
        if circuit.target is not None:
            row.append(target if circuit.target.name in self.given else math.nan)
        found = float(log_likelihood(circuit, np.array([row]))[0])
        return found if found > -math.inf else math.inf


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise cost(x) - weight * log p(x) over rows x that keep the schema, reach the goal and are plausible.

    `schema` holds the factual in its domains (`schema.widened(factual)`); an unknown value of the factual is NaN.
    """

    schema: Schema
    factual: Numbers
    form: Form
    goal: Goal
    plausibility: Plausibility | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "factual", np.asarray(self.factual, dtype=np.float64))
        if self.factual.shape != (len(self.schema),):
            raise ProblemError("A factual", f"have {len(self.schema)} values", self.factual.shape, "use schema.encode_row(row)")
        for feature, number in zip(self.schema.features, self.factual, strict=True):
            if not np.isnan(number) and number not in feature.region:
                raise ProblemError(
                    f"The factual's {feature.name!r}", f"lie within {feature.describe()}", feature.show(number),
                    "use schema.widened(factual)", feature=feature.name,
                )  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """When to stop: seconds, nodes, a gap between the best answer and the proved bound; and how many answers.

    With `solutions` > 1 the answers differ in at least one value (of a real feature: in the cell of the circuit, the trees
    and the rules that it lies in); with `other_features` each changes another set of features (an explainer
    asks for more: none changes all that a better one changes). None is dearer than the best
    by more than the share `pool_gap` of it (the paper's rho).
    """

    seconds: float = 60.0
    nodes: int = 10_000_000
    absolute_gap: float = 1e-6
    relative_gap: float = 0.0
    solutions: int = 1
    other_features: bool = False
    pool_gap: float = math.inf

    def __post_init__(self) -> None:
        if not (self.seconds > 0 and self.nodes > 0 and self.solutions > 0):
            raise ProblemError("Limits", "be positive", (self.seconds, self.nodes, self.solutions), "leave them out")
        if not (self.absolute_gap >= 0 and self.relative_gap >= 0 and self.pool_gap >= 0):
            gaps = (self.absolute_gap, self.relative_gap, self.pool_gap)
            raise ProblemError("Gaps and `pool_gap`", "not be negative", gaps, "0 is the strictest")
