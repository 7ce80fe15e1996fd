"""`Problem`: one question to an engine, as plain data, and what it means; `Limits`: how hard to try."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likely.errors import ProblemError
from likely.predictor import Form
from likely.problem.check import check_parts
from likely.problem.goal import Alternative, Goal
from likely.problem.plausibility import Coherence, Plausibility
from likely.problem.result import Solution
from likely.problem.tolerances import ABSOLUTE_GAP
from likely.schema import Constraint, Schema
from likely.schema.rules import Rule
from likely.schema.values import Numbers


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise cost(x) - weight * log p(x) over rows x that keep the schema, reach the goal, are plausible and fit together.

    `schema` holds the factual in its domains (`schema.widened(factual)`); an unknown value of the factual is NaN.
    """

    schema: Schema
    factual: Numbers
    form: Form
    goal: Goal
    plausibility: Plausibility | None = None
    coherence: Coherence | None = None

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
        check_parts(self.schema, self.form, self.goal, self.plausibility, self.coherence)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The schema's constraints for this factual, as the engines know them."""
        return self.schema.compile(self.factual)

    def with_constraints(self, *constraints: Constraint) -> Problem:
        """This problem with further constraints.

        Args:
            *constraints: What else an answer must keep.
        """
        return replace(self, schema=self.schema.with_constraints(*constraints))

    # -- what it means ------------------------------------------------------------------------------------------------

    def log_likelihoods(self, rows: Numbers, alternative: Alternative) -> Numbers:
        """log p of each row with the class of an alternative, given what is given; 0 if nobody asks how likely a row is.

        Args:
            rows: Complete rows, as doubles.
            alternative: One of the goal's.
        """
        if self.plausibility is None:
            return np.zeros(len(rows))
        target = self.plausibility.target_of(self.form, alternative.class_index)
        return self.plausibility.log_likelihoods(rows, self.factual, target)

    def objectives(self, rows: Numbers, alternative: Alternative) -> Numbers:
        """What is minimised, at each row: cost - weight * log p.

        Args:
            rows: Complete rows, as doubles.
            alternative: The one of the goal's whose class they are to have.
        """
        costs = self.schema.prices(self.factual, rows)
        if self.plausibility is None or not self.plausibility.weight:
            return costs
        return costs - self.plausibility.weight * self.log_likelihoods(rows, alternative)

    def admits(self, rows: Numbers, *, slack: float = 0.0) -> NDArray[np.bool_]:
        """Which rows answer the problem: they lie in the domains, keep the rules, reach the goal, are likely, and fit together.

        Args:
            rows: Rows, as doubles.
            slack: By how much scores, log-likelihoods and coherences may miss what they must reach.
        """
        return np.array([solution is not None for solution in self.solutions(rows, slack=slack)], dtype=np.bool_)

    def solutions(self, rows: Numbers, *, slack: float = 0.0) -> list[Solution | None]:
        """Each row as an answer, with the alternative for which its objective is least; None for a row that is none.

        Judged by the schema, the form and the circuit themselves, without any engine.

        Args:
            rows: Rows, as doubles.
            slack: By how much scores, log-likelihoods and coherences may miss what they must reach.
        """
        answers: list[Solution | None] = [None] * len(rows)
        places = np.flatnonzero(self.schema.admits(self.factual, rows, self.rules))
        if not len(places):
            return answers
        rows = rows[places]
        scores, rounding = self.form.score(rows, n_jobs=1), self.form.rounding(rows)
        costs = self.schema.prices(self.factual, rows)
        for alternative in self.goal.alternatives:
            reached = alternative.met(scores, slack, rounding)
            logs, objectives = self.log_likelihoods(rows, alternative), costs
            if self.plausibility is not None:
                reached &= self.plausibility.likely_enough(logs, slack)
                objectives = costs - self.plausibility.weight * logs if self.plausibility.weight else costs
            if self.coherence is not None:
                target = self.coherence.target_of(self.form, alternative.class_index)
                reached &= self.coherence.coherences(rows, target) >= self.coherence.lower - slack
            for i in np.flatnonzero(reached & (objectives < math.inf)):  # where likelihood counts, no answer is impossible
                best = answers[places[i]]
                if best is None or objectives[i] < best.objective:
                    numbers = float(objectives[i]), float(costs[i]), float(logs[i])
                    answers[places[i]] = Solution(rows[i].copy(), *numbers, alternative.class_index)
        return answers


@dataclass(frozen=True)
class Limits:
    """When to stop: seconds, nodes, a gap between the best answer and the proved bound; and how many answers.

    With `solutions` > 1 the answers differ in at least one value (of a real feature: in the cell of the circuit, the trees
    and the rules that it lies in); with `other_features` each changes another set of features (an explainer
    asks for more: none changes all that a better one changes). None is costlier than the best
    by more than the share `pool_gap` of it (the paper's rho). `seconds=math.inf` is no limit.

    If `open_nodes` are in memory at a time (left out: a gigabyte of them), the search goes depth-first from there on, which
    needs few: it may take longer, and claims the same.
    """

    seconds: float = 60.0
    nodes: int = 10_000_000
    absolute_gap: float = ABSOLUTE_GAP
    relative_gap: float = 0.0
    solutions: int = 1
    other_features: bool = False
    pool_gap: float = math.inf
    open_nodes: int | None = None

    def __post_init__(self) -> None:
        for name in ("nodes", "solutions", "open_nodes"):
            count = getattr(self, name)
            if name == "open_nodes" and count is None:
                continue
            if isinstance(count, bool) or not isinstance(count, int | np.integer):
                raise ProblemError(f"Limits({name}=...)", "be a whole number", repr(count), "leave it out")
        for name in ("seconds", "absolute_gap", "relative_gap", "pool_gap"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
                raise ProblemError(
                    f"Limits({name}=...)", "be a number", repr(number), "leave it out, or give math.inf for no limit"
                )
        if not (self.seconds > 0 and self.nodes > 0 and self.solutions > 0):
            raise ProblemError("Limits", "be positive", (self.seconds, self.nodes, self.solutions), "leave them out")
        if self.open_nodes is not None and self.open_nodes < 1:
            raise ProblemError("Limits(open_nodes=...)", "be positive", self.open_nodes, "leave it out")
        if not (self.absolute_gap >= 0 and self.relative_gap >= 0 and self.pool_gap >= 0):
            gaps = (self.absolute_gap, self.relative_gap, self.pool_gap)
            raise ProblemError("Gaps and `pool_gap`", "not be negative", gaps, "0 is the strictest")
