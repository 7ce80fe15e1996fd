"""From scores to probabilities and classes: the last step of a classifier."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from likely.errors import PredictorError
from likely.schema.values import Numbers

#: kind -> whether it has one score per class (True), one score for two classes (False), or no classes (None)
KINDS: Mapping[str, bool | None] = {
    "identity": None,  # a regressor: the prediction is the score
    "exponential": None,  # a regressor with a log link: the prediction is exp(score)
    "sign": False,  # class 1 where score > 0; no probabilities
    "logistic": False,  # p(class 1) = 1 / (1 + exp(-scale * score))
    "huber": False,  # p(class 1) = (clip(score, -1, 1) + 1) / 2
    "argmax": True,  # the class with the largest score; no probabilities
    "softmax": True,  # p = softmax(scale * scores)
    "shares": True,  # the scores are the probabilities
    "logistic_shares": True,  # p proportional to 1 / (1 + exp(-scale * scores)): one against the rest
    "huber_shares": True,  # p proportional to (clip(scores, -1, 1) + 1) / 2
}


@dataclass(frozen=True)
class Link:
    """How scores become probabilities and classes.

    Of two classes with one score, the second is chosen where the score is above 0, or, with `tie`, at 0 too. Of
    several, the first one with the largest score. Every kind is monotone: which class a row has can be told from the
    scores alone. A model that decides by a threshold of its own has a score that is less by it, the `offset`: probabilities
    are those of the score with it.
    """

    kind: str
    scale: float = 1.0
    tie: bool = False
    offset: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise PredictorError("A link", "have a known kind", repr(self.kind), f"use one of {', '.join(KINDS)}")
        if not 0 < self.scale < math.inf:
            raise PredictorError("The scale of a link", "be a positive number", self.scale, "leave it out for 1")
        if self.offset and (KINDS[self.kind] is not False or not math.isfinite(self.offset)):
            rule = "be a finite number, of one score for two classes"
            raise PredictorError("The offset of a link", rule, f"{self.offset} of {self.kind!r}", "leave it out")

    @property
    def classifies(self) -> bool:
        """Whether there are classes at all."""
        return KINDS[self.kind] is not None

    @property
    def one_score_per_class(self) -> bool:
        """Whether each class has a score of its own."""
        return KINDS[self.kind] is True

    @property
    def has_probabilities(self) -> bool:
        """Whether the model gives probabilities."""
        return self.kind not in ("identity", "exponential", "sign", "argmax")

    def probabilities(self, scores: Numbers) -> Numbers:
        """Probabilities, n x classes.

        Args:
            scores: What `Form.score` gives, n x outputs.
        """
        if self.kind in ("logistic", "huber"):
            score = scores[:, 0] + self.offset
            upper = expit(self.scale * score) if self.kind == "logistic" else (np.clip(score, -1, 1) + 1) / 2
            return np.stack([1 - upper, upper], axis=1)
        if self.kind == "softmax":
            return np.asarray(softmax(self.scale * scores, axis=1), dtype=np.float64)
        if self.kind == "shares":
            return scores
        if self.kind in ("logistic_shares", "huber_shares"):
            parts = expit(self.scale * scores) if self.kind == "logistic_shares" else (np.clip(scores, -1, 1) + 1) / 2
            total = parts.sum(axis=1, keepdims=True)
            return np.asarray(np.where(total == 0, 1 / parts.shape[1], parts / np.where(total == 0, 1, total)))
        raise PredictorError("A model", "have probabilities", f"link '{self.kind}'", "use its scores")

    def decide(self, scores: Numbers) -> NDArray[np.intp]:
        """The number of each row's class.

        Args:
            scores: What `Form.score` gives, n x outputs.
        """
        if not self.classifies:
            raise PredictorError("A model", "have classes", f"link '{self.kind}' of a regressor", "use its scores")
        if self.one_score_per_class:
            return np.asarray(np.argmax(scores, axis=1), dtype=np.intp)
        return np.asarray(scores[:, 0] >= 0 if self.tie else scores[:, 0] > 0, dtype=np.intp)

    def predict(self, scores: Numbers) -> Numbers:
        """A regressor's predictions.

        Args:
            scores: What `Form.score` gives, n x outputs.
        """
        return np.exp(scores[:, 0]) if self.kind == "exponential" else scores[:, 0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: `Link(**data)` reads it back."""
        data = {"kind": self.kind, "scale": self.scale, "tie": self.tie}
        return {**data, "offset": self.offset} if self.offset else data
