"""How likely an answer must be, by name: the paper's variants.

| say                  | an answer                                             | the paper's name |
| -------------------- | ----------------------------------------------------- | ---------------- |
| `Quantile(0.5)`      | is as likely as half of new rows                      | median           |
| `Quantile(0.25)`     | is as likely as a quarter of them                     | quartile         |
| `AtLeastFactual()`   | is as likely as the row it explains, or the median    | sample           |
| `Threshold(-12.0)`   | has at least this log-likelihood                      |                  |
| `Weight(0.1)`        | may be any, but 0.1 of its log-likelihood is a rebate | optimize         |
| `None`               | may be any                                            | MIO              |

How likely new rows are is measured on `rows` that the circuit has not seen ("unseen": `Explainer.fit` holds rows out in turn,
or is given some). The paper takes the rows that the circuit was learned from, which are likelier than new ones:
`rows="training"` does so, and with `of="all"` it is the paper's threshold. An explainer that knows no unseen rows compares with
the training rows, and says so.

The rows are those `of` the class that the answer has ("class"), or all of them ("all"). Likelihood is that of the row together
with its class, unless it is `given` something: "class", "immutable" (the features that may not change), or both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias

from likely.errors import ProblemError

Of: TypeAlias = Literal["class", "all"]
Rows: TypeAlias = Literal["unseen", "training"]
#: What rows are compared by: their log-likelihood, or how well their values fit together (`likely.circuit.coherence`).
Measure: TypeAlias = Literal["likelihood", "coherence"]
#: What a likelihood may be given, in the order in which it is kept.
GIVEN = ("class", "immutable")


@dataclass(frozen=True)
class Peers:
    """The rows that an answer is compared with, and how."""

    rows: Rows
    #: What likelihoods are given.
    given: tuple[str, ...]
    #: The number of their class; None for rows of all classes.
    number: int | None
    #: Coherence is given nothing.
    measure: Measure = "likelihood"


@dataclass(frozen=True)
class Variant:
    """What every variant has: the rows it compares with, and what the likelihood is given."""

    kind: ClassVar[str]
    of: Of = field(default="class", kw_only=True)
    given: tuple[str, ...] = field(default=(), kw_only=True)
    rows: Rows = field(default="unseen", kw_only=True)

    def __post_init__(self) -> None:
        if self.rows not in ("unseen", "training"):
            rule, got = "be rows='unseen' or rows='training'", repr(self.rows)
            raise ProblemError("The rows to compare with", rule, got, "leave it out for 'unseen'")
        if self.of not in ("class", "all"):
            raise ProblemError("The rows to compare with", "be of='class' or of='all'", repr(self.of), "leave it out for 'class'")
        words: Any = self.given
        given = (words,) if isinstance(words, str) else tuple(words)
        unknown = [word for word in given if word not in GIVEN]
        if unknown:
            raise ProblemError(
                "given, what likelihoods are conditional on,", "be 'class' or 'immutable'", repr(unknown[0]), "leave it out"
            )
        object.__setattr__(self, "given", tuple(word for word in GIVEN if word in given))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `variant_from_dict` reads back."""
        settings: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        return {"kind": self.kind, **settings, "given": list(self.given)}


@dataclass(frozen=True)
class Quantile(Variant):
    """As likely as this share of new rows: 0.5 is the median; of the training rows, as in the paper, with `rows="training"`."""

    kind: ClassVar[str] = "quantile"
    q: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("A quantile", self.q)


@dataclass(frozen=True)
class AtLeastFactual(Variant):
    """As likely as the row that is explained, with the class that it has.

    But no more is asked for than this quantile of new rows: the median, as in the paper. With `most=1` an answer to
    a row that is likelier than all of them must be as likely as the likeliest.
    """

    kind: ClassVar[str] = "at_least_factual"
    most: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("A quantile", self.most)


@dataclass(frozen=True)
class Threshold(Variant):
    """At least this log-likelihood (natural logarithm)."""

    kind: ClassVar[str] = "at_least"
    log_likelihood: float

    def __post_init__(self) -> None:
        super().__post_init__()
        number = self.log_likelihood
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not number < math.inf:
            raise ProblemError("A threshold", "be a log-likelihood", repr(self.log_likelihood), "write Threshold(-12.0)")


@dataclass(frozen=True)
class Weight(Variant):
    """Any row; what is minimised is cost - weight * log-likelihood."""

    kind: ClassVar[str] = "weight"
    weight: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weight(self.weight)


def check_share(thing: str, q: Any) -> None:
    """Refuses what is no share of rows."""
    if isinstance(q, bool) or not isinstance(q, (int, float)) or not 0 <= q <= 1:
        raise ProblemError(thing, "be a share between 0 and 1", repr(q), "0.5 is the median")


def check_weight(weight: Any) -> float:
    """A weight of likelihood as a number; refuses what is none."""
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < math.inf:
        raise ProblemError("The weight of likelihood", "be a number of at least 0", repr(weight), "0.1 is the paper's")
    return float(weight)


VARIANTS: dict[str, type[Variant]] = {variant.kind: variant for variant in (Quantile, AtLeastFactual, Threshold, Weight)}


def check_variant(plausibility: Any) -> Variant | None:
    """A variant or None; refuses anything else."""
    if plausibility is None or isinstance(plausibility, Variant):
        return plausibility
    names = ", ".join(variant.__name__ for variant in VARIANTS.values())
    raise ProblemError("plausibility", f"be one of {names}, or None", repr(plausibility), "write Quantile(0.5)")


def variant_from_dict(data: Mapping[str, Any] | None) -> Variant | None:
    """The variant that `to_dict` described."""
    if data is None:
        return None
    settings = dict(data)
    return VARIANTS[settings.pop("kind")](**{**settings, "given": tuple(settings["given"])})
