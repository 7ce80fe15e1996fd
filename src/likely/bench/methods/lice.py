"""LiCE (Němeček, Pevný and Mareček, ICLR 2025) by this package's own engine: the cheapest rows that are likely enough.

It gets all rules, the model and the circuit, and returns proofs. Thresholds are the paper's: quantiles of the log-likelihoods of
all training rows, each with its class.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np

from likely.bench.method import Asked, Data, Generated, Model
from likely.errors import LikelyWarning
from likely.explain import AtLeastFactual, Explainer, Quantile, Weight
from likely.explain.plausibility import Variant
from likely.predictor import Form

#: How many of the closest rows the likeliest is taken from, as in the paper.
NEAR = 10


@dataclass(eq=False)
class Lice:
    """One of the paper's variants.

    Args:
        name: What tables call it.
        plausibility: How likely an answer must be; None if that does not matter (the paper's MIO).
        likeliest: Whether to look for `NEAR` of the closest rows and return the likeliest first ("+spn" in the paper).
    """

    name: str
    plausibility: Variant | None
    likeliest: bool = False

    def fit(self, data: Data, model: Model, form: Form) -> None:
        """Read the model, and measure how likely the training rows are.

        Args:
            data: The training table with its rules.
            model: The user's classifier.
            form: What it computes; the explainer reads the model itself.
        """
        explainer = Explainer(model, data.schema, data.circuit, n_jobs=1, progress=False)
        self.explainer = explainer.fit(data.X, data.y)

    def generate(self, asked: Asked) -> Generated:
        """The closest rows, with a proof, or the proof that there is none.

        Args:
            asked: The row to explain, and what is wanted.
        """
        clock = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LikelyWarning)  # a row may lie outside of the domains
            explanation = self.explainer.explain(
                asked.factual, target=asked.target, k=max(asked.k, NEAR) if self.likeliest else asked.k, diversity="values",
                plausibility=self.plausibility, unread="free", limits=asked.seconds, rounding=0.0,
            )  # fmt: skip
        logs = np.array([answer.log_likelihood for answer in explanation.counterfactuals], dtype=np.float64)
        order = np.argsort(-logs, kind="stable") if self.likeliest else np.arange(len(logs))
        order = order[: asked.k]
        return Generated(
            explanation.to_frame().iloc[order].reset_index(drop=True),
            time.perf_counter() - clock,
            proved=explanation.status in ("optimal", "infeasible"),
            claimed=tuple(logs[order].tolist()),
        )


def median() -> Lice:
    """Answers are as likely as half of the training rows."""
    return Lice("lice-median", Quantile(0.5, of="all", rows="training"))


def quartile() -> Lice:
    """Answers are as likely as a quarter of the training rows."""
    return Lice("lice-quartile", Quantile(0.25, of="all", rows="training"))


def sample() -> Lice:
    """Answers are as likely as the row that is explained, or as half of the training rows, whichever is less."""
    return Lice("lice-sample", AtLeastFactual(of="all", rows="training"))


def optimize(name: str, weight: float) -> Lice:
    """Cost - weight * log-likelihood is minimised.

    Args:
        name: What tables call it.
        weight: The paper's alpha: 0.1 on its tables, 1 on its Bayesian networks.
    """
    return Lice(name, Weight(weight))


def mio() -> Lice:
    """The closest rows, however likely."""
    return Lice("mio", None)


def mio_likeliest() -> Lice:
    """The likeliest of the closest rows: what the paper's tables call MIO."""
    return Lice("mio-likeliest", None, likeliest=True)
