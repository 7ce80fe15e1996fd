"""`Question`: what is asked about a row, whichever row it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import numpy as np

from likely.errors import ProblemError
from likely.explain.missing import rules_against_missing
from likely.explain.plain import plain_numbers, with_infinities
from likely.explain.plausibility import Quantile, Variant, Weight, check_share, check_variant, check_weight, variant_from_dict
from likely.problem import SCORE_MARGIN, Limits
from likely.problem.tolerances import RELATIVE_GAP
from likely.schema import Constraint, Immutable, Schema
from likely.schema.constraints import constraint_from_dict
from likely.schema.values import Name, Numbers, plain

MEDIAN = Quantile(0.5)
#: A minute.
USUAL_LIMITS = Limits()

#: In what the answers to one question differ: in the features that they change, or just in some value.
Diversity: TypeAlias = Literal["features", "values"]
#: Whether features that the model does not read keep their values, if there is an answer then, or may change as others do.
Unread: TypeAlias = Literal["keep", "free"]

#: How much more, relative to 1 + its objective, an answer may cost for the sake of round numbers.
ROUNDING = 1e-4

#: Written only where they are asked for, so that questions without them read as they always did.
_SELDOM = ("probability", "prediction", "only")
#: What a question asks by other means than by limits.
_NOT_LIMITS = ("solutions", "other_features")


#: What others call the options of a question -> what to write.
_OTHER_WORDS = {
    "seconds": "limits=10, a number of seconds",
    "timeout": "limits=10, a number of seconds",
    "time_limit": "limits=10, a number of seconds",
    "max_time": "limits=10, a number of seconds",
    "desired_class": "target=...",
    "target_class": "target=...",
    "desired_range": "prediction=(low, high)",
    "total_cfs": "k=...",
    "n": "k=...",
    "number": "k=...",
    "features_to_vary": "only=[...]",
    "immutable": "locked=[...]",
    "rules": "constraints=[...]",
    "max_changes": "constraints=[likely.MaxChanges(2)]",
}


class QuestionOptions(TypedDict, total=False):
    """The fields of a `Question` as keyword arguments."""

    target: Any
    k: int
    diversity: Diversity
    plausibility: Variant | None
    coherence: float | None
    weight: float
    constraints: Iterable[Constraint]
    locked: Iterable[Name]
    unread: Unread
    may_become_missing: Iterable[Name] | bool
    limits: Limits | float
    gap: float
    margin: float
    rounding: float
    only: Iterable[Name] | None
    probability: float | tuple[float, float] | None
    prediction: tuple[float | None, float | None] | None


@dataclass(frozen=True)
class Question:
    """What is asked about a row; the same question may be asked about many rows.

    Args:
        target: The class to reach; left out, any other than the row's own.
        probability: How probable the model must find the target: at least 0.8, or between two numbers, `(0.4, 0.6)`. Then that is
            what is asked for, whichever class the model decides; left out, it must decide for the target.
        prediction: Of a regressor: between which two numbers its prediction must lie, `(low, high)`; None for no end.
        k: How many answers, at most.
        diversity: How different the answers are. "features": none changes all that a better one changes, so each is
            another way to go. "values": they differ in some value, and often in little else.
        plausibility: How likely an answer must be: `Quantile`, `AtLeastFactual`, `Threshold`, `Weight`; None if that does not
            matter.
        coherence: How well the values of an answer must fit together, and with its class: as well as in this share of the rows
            that it is compared with (0.5: half of new rows of its class); None if that does not matter.
        weight: How much likelihood counts in what is minimised: cost - weight * log-likelihood.
        constraints: Rules for this question alone, beside those of the schema.
        locked: The names of features that may not change this time.
        only: The names of the only features that may change this time; left out, all that the schema lets change.
        unread: "keep": features that the model does not read stay as they are; only if there is no answer then may they change,
            and the explanation says so. Those that `constraints` name are not kept. "free": they may change as others do.
        may_become_missing: The names of features that an answer may leave missing although the row has a value; True for all.
        limits: When to stop: a number of seconds, or `likely.problem.Limits`, which has nodes and gaps, too. Left out, after a
            minute.
        gap: When an answer is the best: when it is proved that nothing is cheaper by more than this share of its cost; left out,
            by more than 0.01 %. 0 to search until nothing but rounding is left. If `limits` has a greater gap, that counts.
        margin: By how much score an answer must be on the other side.
        rounding: How much more an answer may cost, relative to 1 + its objective, so that its numbers are round; 0 to leave them
            as they are found.
    """

    target: Any = None
    k: int = 1
    diversity: Diversity = "features"
    plausibility: Variant | None = MEDIAN
    coherence: float | None = None
    weight: float = 0.0
    constraints: Iterable[Constraint] = ()
    locked: Iterable[Name] = ()
    unread: Unread = "keep"
    may_become_missing: Iterable[Name] | bool = ()
    limits: Limits = USUAL_LIMITS
    gap: float = RELATIVE_GAP
    margin: float = SCORE_MARGIN
    rounding: float = ROUNDING
    only: Iterable[Name] | None = None
    probability: float | tuple[float, float] | None = None
    prediction: tuple[float | None, float | None] | None = None

    def __post_init__(self) -> None:
        _refuse_count(self.k)
        _refuse_word("The diversity of answers", self.diversity, get_args(Diversity))
        _refuse_word("What is done with unread features (unread)", self.unread, get_args(Unread))
        variant, weight = check_variant(self.plausibility), check_weight(self.weight)
        if weight and isinstance(variant, Weight):
            raise ProblemError("The weight of likelihood", "be given once", f"{variant} and weight={weight}", "leave one out")
        if self.coherence is not None:
            check_share("The coherence of an answer", self.coherence)
        fields = {
            "target": plain(self.target),
            "probability": None if self.probability is None else _probability(self.probability),
            "prediction": None if self.prediction is None else _prediction(self.prediction),
            "weight": weight,
            "constraints": _constraints(self.constraints),
            "locked": _names(self.locked),
            "only": None if self.only is None else _names(self.only),
            "may_become_missing": self.may_become_missing is True or _names(self.may_become_missing or ()),
            "limits": _limits(self.limits, self.k, self.diversity),
            "gap": _positive("The gap between an answer and what is proved", self.gap, f"leave it out for {RELATIVE_GAP}"),
            "margin": _positive("The margin of score", self.margin, f"leave it out for {SCORE_MARGIN}"),
            "rounding": _positive("What round numbers may cost (rounding)", self.rounding, "0 leaves numbers as they are found"),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        if self.probability is not None and self.prediction is not None:
            rule, got = "ask for a probability or for a prediction", "both"
            raise ProblemError("A question", rule, got, "use probability= of a classifier, prediction= of a regressor")

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the probability or the prediction that is asked for; None if a class is."""
        ends: Any = self.probability if self.prediction is None else self.prediction
        return None if ends is None else (_end(ends[0], -math.inf), _end(ends[1], math.inf))

    @property
    def engine_limits(self) -> Limits:
        """The limits, with the gap, and how many answers of which kind: as engines are told."""
        gap = max(self.gap, self.limits.relative_gap)
        return replace(self.limits, relative_gap=gap, solutions=self.k, other_features=self.diversity == "features")

    @property
    def total_weight(self) -> float:
        """The weight of likelihood, wherever it was given."""
        return self.plausibility.weight if isinstance(self.plausibility, Weight) else self.weight

    def rules(self, schema: Schema, factual: Numbers) -> tuple[Constraint, ...]:
        """The rules of this question about one row.

        Args:
            schema: The features.
            factual: The row, as doubles.
        """
        missing = rules_against_missing(schema, factual, self.may_become_missing)
        return (*self.constraints, *map(Immutable, self._locked(schema)), *missing)

    def _locked(self, schema: Schema) -> tuple[Name, ...]:
        """What may not change this time: what is locked, and what is not among the only ones that may."""
        locked = tuple(self.locked)
        if self.only is None:
            return locked
        for name in self.only:
            schema.index(name)
        return (*locked, *(name for name in schema.names if name not in (*self.only, *locked)))

    def schema_with_rules(self, schema: Schema, factual: Numbers) -> Schema:
        """A schema with the rules of this question about one row.

        Args:
            schema: The schema that holds for all questions, wide enough to hold the row.
            factual: The row, as doubles.
        """
        rules = self.rules(schema, factual)
        return schema.with_constraints(*rules) if rules else schema

    def refuse_strangers(self, schema: Schema) -> None:
        """Refuse names of features that a schema does not have.

        Args:
            schema: The schema that holds for all questions.
        """
        missing = () if isinstance(self.may_become_missing, bool) else self.may_become_missing
        for name in (*self.locked, *(self.only or ()), *missing, *(name for rule in self.constraints for name in rule.features)):
            schema.index(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss."""
        limits = {name: value for name, value in asdict(self.limits).items() if name not in _NOT_LIMITS}
        missing = self.may_become_missing
        asked = {name: list(value) for name in _SELDOM if (value := getattr(self, name)) is not None}
        return {
            **asked,
            "target": self.target,
            "k": self.k,
            "diversity": self.diversity,
            "plausibility": None if self.plausibility is None else plain_numbers(self.plausibility.to_dict()),
            "coherence": self.coherence,
            "weight": self.weight,
            "constraints": [rule.to_dict() for rule in self.constraints],
            "locked": list(self.locked),
            "unread": self.unread,
            "may_become_missing": missing if isinstance(missing, bool) else list(missing),
            "limits": plain_numbers(limits),
            "gap": self.gap,
            "margin": self.margin,
            "rounding": self.rounding,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Question:
        """The question that `to_dict` described.

        Args:
            data: What `to_dict` made.
        """
        fields = dict(data)
        fields["plausibility"] = variant_from_dict(with_infinities(fields["plausibility"]))
        fields["constraints"] = [constraint_from_dict(rule) for rule in fields["constraints"]]
        fields["limits"] = Limits(**with_infinities(fields["limits"]))
        return cls(**fields)


def asked_question(question: Question | None, options: QuestionOptions) -> Question:
    """The question, with what the options say instead.

    Args:
        question: A question; left out, the usual one: the best answer that is as likely as the median.
        options: Fields of the question that shall be otherwise.
    """
    if question is None:
        question = Question()
    elif not isinstance(question, Question):
        raise ProblemError("A question", "be a Question", repr(question), f"write target={question!r}, if it is a class")
    for name in options:
        if name not in QuestionOptions.__annotations__:
            raise _unknown_option(name)
    fields: Any = options  # a number of limits becomes one of seconds
    return replace(question, **fields)


def _unknown_option(name: str) -> ProblemError:
    """The refusal of an option that a question does not have, with the one that was meant."""
    known = sorted(QuestionOptions.__annotations__)
    near = get_close_matches(name.lower(), [*_OTHER_WORDS, *known], n=1)
    meant = _OTHER_WORDS.get(near[0], f"{near[0]}=...") if near else ""
    hint = f"write {meant}; see likely.Question" if meant else f"it has {', '.join(known)}"
    return ProblemError("A question", "have known options", f"{name}=", hint)


def _refuse_count(k: Any) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ProblemError("k, the number of answers,", "be a whole number of at least 1", repr(k), "leave it out for one answer")


def _refuse_word(thing: str, word: Any, words: tuple[str, ...]) -> None:
    if word not in words:
        raise ProblemError(thing, f"be {' or '.join(map(repr, words))}", repr(word), f"leave it out for {words[0]!r}")


def _probability(asked: Any) -> tuple[float, float]:
    """At least so much, or between two numbers."""
    asked = _plain(asked)
    ends = (asked, 1.0) if _is_number(asked) else asked
    if not (_is_pair(ends) and all(map(_is_number, ends)) and 0 <= ends[0] <= ends[1] <= 1 and tuple(ends) != (0, 1)):
        rule = "be a number between 0 and 1, or two of them, the smaller one first"
        raise ProblemError("The probability of a question", rule, repr(asked), "write probability=0.8, or (0.4, 0.6)")
    return float(ends[0]), float(ends[1])


def _prediction(asked: Any) -> tuple[float | None, float | None]:
    """Between two numbers; None where there is no end."""
    asked = _plain(asked)
    ends = tuple(None if end in (None, math.inf, -math.inf) else end for end in asked) if _is_pair(asked) else ()
    numbers = [end for end in ends if end is not None]
    if not numbers or not all(map(_is_number, numbers)) or numbers != sorted(numbers):
        rule = "be two numbers, the smaller one first, of which one may be None"
        raise ProblemError("The prediction of a question", rule, repr(asked), "write prediction=(100, 200), or (100, None)")
    low, high = (None if end is None else float(end) for end in ends)
    return low, high


def _plain(asked: Any) -> Any:
    """Numpy's numbers and arrays as Python's."""
    if isinstance(asked, (np.ndarray, np.generic)):
        return asked.tolist()
    return [_plain(end) for end in asked] if isinstance(asked, (tuple, list)) else asked


def _is_pair(thing: Any) -> bool:
    return isinstance(thing, (tuple, list)) and len(thing) == 2


def _is_number(thing: Any) -> bool:
    return isinstance(thing, (int, float)) and not isinstance(thing, bool) and not math.isnan(thing)


def _end(end: float | None, infinity: float) -> float:
    return infinity if end is None else end


def _names(names: Any) -> tuple[Name, ...]:
    listed = (names,) if isinstance(names, (str, int)) else tuple(names)
    for name in listed:
        if not isinstance(name, (str, int, np.integer)):
            rule, hint = "be text or a whole number", "write locked=['age']"
            raise ProblemError("The name of a feature in a question", rule, repr(name), hint)
    return listed


def _constraints(constraints: Any) -> tuple[Constraint, ...]:
    rules = (constraints,) if isinstance(constraints, Constraint) else constraints
    if isinstance(rules, Iterable) and not isinstance(rules, (str, Mapping)):
        rules = tuple(rules)
        if all(isinstance(rule, Constraint) for rule in rules):
            return rules
    raise ProblemError("The constraints of a question", "be rules", repr(constraints), "write constraints=[MaxChanges(2)]")


def _limits(limits: Any, k: int, diversity: Diversity) -> Limits:
    """The limits as nothing but limits; refuses those that ask for other answers than the question."""
    if limits is None:
        return USUAL_LIMITS
    if isinstance(limits, (int, float)) and not isinstance(limits, bool):
        return Limits(seconds=limits)
    if not isinstance(limits, Limits):
        rule = "be Limits, or a number of seconds"
        raise ProblemError("The limits of a question", rule, repr(limits), "write limits=5 for five seconds")
    if limits.solutions not in (1, k):
        rule, hint = "leave the number of answers to the question", f"ask with k={limits.solutions}"
        raise ProblemError("The limits of a question", rule, f"Limits(solutions={limits.solutions})", hint)
    if limits.other_features and diversity != "features":
        rule, hint = "leave the diversity of answers to the question", "ask with diversity='features'"
        raise ProblemError("The limits of a question", rule, "Limits(other_features=True)", hint)
    return replace(limits, solutions=1, other_features=False)


def _positive(thing: str, number: Any, hint: str) -> float:
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < math.inf:
        raise ProblemError(thing, "be a number of at least 0", repr(number), hint)
    return float(number)
