"""The options that say what is asked about a row, and the `Question` that they make."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from likely.errors import ProblemError
from likely.explain import AtLeastFactual, Explainer, Quantile, Question
from likely.explain.plausibility import Of, Rows, Variant
from likely.explain.question import ROUNDING, Unread
from likely.problem import Limits
from likely.problem.tolerances import RELATIVE_GAP
from likely.schema import MaxChange, MaxChanges
from likely.schema.values import Name

#: Stands for every feature.
_EVERY = "all"
_QUANTILES = {"median": 0.5, "quartile": 0.25}


def add(parser: argparse.ArgumentParser) -> None:
    """The options of one question, which `explain` and `batch` share."""
    asked = parser.add_argument_group("what is asked")
    asked.add_argument("--target", metavar="CLASS", help="the class to reach; any other than the row's own, if left out")
    asked.add_argument(
        "--probability", metavar="P|LOW:HIGH", help="how probable the class to reach must be: at least 0.8, or between, 0.4:0.6"
    )
    asked.add_argument(
        "--prediction",
        metavar="LOW:HIGH",
        help="of a regressor: the prediction to reach, 100:200; 100: is at least 100, :200 at most 200",
    )
    asked.add_argument("-k", metavar="N", type=int, default=1, help="so many answers, each another way to go (1)")
    asked.add_argument("--lock", metavar="FEATURE", action="append", default=[], help="may not change this time; repeatable")
    asked.add_argument(
        "--only", metavar="FEATURE", action="append", help="only this may change this time; repeatable, for all that may"
    )
    asked.add_argument(
        "--limit", metavar="FEATURE=+N", action="append", default=[],
        help="how far it may go from the row's value: income=+10%% rises by at most 10 %%, income=-500 falls by at most 500,"
        " school=2steps goes at most 2 steps either way, waited=+36hours rises by at most a duration; repeatable",
    )  # fmt: skip
    asked.add_argument("--max-changes", metavar="N", type=int, help="at most so many features may change")
    asked.add_argument(
        "--plausibility", metavar="HOW", default="median",
        help="an answer is as likely as half of new rows of its class (median, the default), as a quarter of them"
        " (quartile), as another share (0.1), as the row itself or the median (factual), or any (none)",
    )  # fmt: skip
    asked.add_argument(
        "--coherence", metavar="SHARE", type=float,
        help="the values of an answer fit together as well as in this share of those rows (0.5: half of them); left out, any way",
    )  # fmt: skip
    asked.add_argument("--of", choices=["class", "all"], default="class", help="compare with the rows of the class, or with all")
    asked.add_argument(
        "--compared-with", choices=get_args(Rows), default="unseen",
        help="compare with rows that were held out (unseen, the default), or with those learned from, as the paper (training)",
    )  # fmt: skip
    asked.add_argument("--weight", metavar="W", type=float, default=0.0, help="minimise cost - W * log-likelihood")
    asked.add_argument(
        "--unread", choices=get_args(Unread), default="keep",
        help="what the model does not read stays, unless there is no answer then (keep, the default), or may change (free)",
    )  # fmt: skip
    asked.add_argument(
        "--may-become-missing", metavar="FEATURE", action="append", default=[],
        help=f"an answer may leave it missing although the row has a value; {_EVERY} is every feature; repeatable",
    )  # fmt: skip
    asked.add_argument(
        "--rounding", metavar="SHARE", type=float, default=ROUNDING,
        help=f"how much more, relative to 1 + its cost, an answer may cost to have round numbers ({ROUNDING:g}); 0 to leave them",
    )  # fmt: skip
    asked.add_argument("--seconds", metavar="S", type=float, default=60.0, help="per row, at most (60)")
    asked.add_argument(
        "--gap", metavar="SHARE", type=float, default=RELATIVE_GAP,
        help=f"an answer is the best if nothing is cheaper by more than this share of its cost ({RELATIVE_GAP:g}); 0: by nothing",
    )  # fmt: skip


def question_of(options: argparse.Namespace, explainer: Explainer) -> Question:
    """The question that the options ask."""
    names, classes = explainer.schema_.names, explainer.classes_
    return Question(
        target=None if options.target is None else chosen(options.target, classes, "The target", "one of the model's classes"),
        probability=None if options.probability is None else _probability(options.probability),
        prediction=None if options.prediction is None else _ends(options.prediction, "--prediction", "100:200"),
        k=options.k,
        plausibility=plausibility_of(options.plausibility, options.of, options.compared_with),
        coherence=options.coherence,
        weight=options.weight,
        constraints=[
            *([] if options.max_changes is None else [MaxChanges(options.max_changes)]),
            *(_limit(text, names) for text in options.limit),
        ],
        only=None if options.only is None else [chosen(name, names, "--only", "a feature") for name in options.only],
        locked=[chosen(name, names, "--lock", "a feature") for name in options.lock],
        unread=options.unread,
        may_become_missing=_may_become_missing(options.may_become_missing, names),
        limits=Limits(seconds=options.seconds),
        gap=options.gap,
        rounding=options.rounding,
    )


def _probability(text: str) -> Any:
    """`0.8`, or `0.4:0.6`."""
    low, high = _ends(text if ":" in text else f"{text}:1", "--probability", "0.8 or 0.4:0.6")
    return (0.0 if low is None else low, 1.0 if high is None else high)


def _ends(text: str, option: str, example: str) -> tuple[float | None, float | None]:
    """`low:high`, either of them left out."""
    parts = text.split(":")
    try:
        low, high = (float(part) if part else None for part in parts)
    except ValueError:
        raise ProblemError(option, "be two numbers with a colon between", repr(text), f"write {example}") from None
    return low, high


#: How far a feature may go: an optional sign, a number, an optional unit.
_LIMIT = re.compile(r"([+-]?)(\d+(?:\.\d+)?)\s*(%|steps?|[a-z]+)?")


def _limit(text: str, names: Sequence[Name]) -> MaxChange:
    """`income=+10%`, `income=-500`, `school=2steps`, `waited=+36hours`."""
    name, _, size = text.rpartition("=")
    matched = _LIMIT.fullmatch(size.strip())
    if not name or matched is None:
        raise ProblemError("--limit", "be a feature and how far it may go", repr(text), "write income=+10%, or school=2steps")
    sign, number, unit = matched.groups()
    kind: Any = {"%": "percent", "step": "steps", "steps": "steps"}.get(unit, "value")
    far = f"{number} {unit}" if unit and kind == "value" else float(number)  # a duration
    feature = chosen(name, names, "--limit", "a feature")
    return MaxChange(feature, None if sign == "-" else far, None if sign == "+" else far, kind)


def _may_become_missing(texts: Sequence[str], names: Sequence[Name]) -> bool | list[Name]:
    """What `--may-become-missing` says; a feature may have the name of the word for every feature."""
    if _EVERY in texts and _EVERY not in names:
        return True
    return [chosen(text, names, "--may-become-missing", "a feature") for text in texts]


def plausibility_of(text: str, of: Of, rows: Rows = "unseen") -> Variant | None:
    """What `--plausibility` says."""
    if text == "none":
        return None
    if text == "factual":
        return AtLeastFactual(of=of, rows=rows)
    try:
        return Quantile(_QUANTILES[text] if text in _QUANTILES else float(text), of=of, rows=rows)
    except ValueError:
        rule = "be median, quartile, factual, none, or a share between 0 and 1"
        raise ProblemError("--plausibility", rule, repr(text), "0.5 is the median") from None


def chosen(text: str, known: Iterable[Any], thing: str, what: str) -> Any:
    """The value that a text on the command line stands for."""
    values = {str(value): value for value in known}
    if text not in values:
        raise ProblemError(thing, f"be {what}", repr(text), f"there are {', '.join(values)}")
    return values[text]
