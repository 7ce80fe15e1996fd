"""`Explanation`: everything that is known about one row, and how strong each claim is; a frozen value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import numpy as np
import pandas as pd

from likely.errors import ExplainerError, LikelyError
from likely.explain import html, text
from likely.explain.counterfactual import MEASURES, Counterfactual
from likely.explain.plain import CELL, NUMBER, digest, of_kinds, plain_numbers, with_infinities
from likely.explain.query import Query, ReadSchema
from likely.explain.upgrade import upgraded
from likely.problem import Bounds, Progress, Statistics
from likely.schema import Schema
from likely.schema.frames import in_kind
from likely.schema.values import Name, Value

if TYPE_CHECKING:
    from likely.explain.reasons import Reasons

VERSION = 7
#: Explanations of this version and later ones have a digest.
FIRST_WITH_DIGEST = 3

#: As an engine's `Status`; and disputed: the model's own predict rejects the rows that its form accepts; refused: one of many
#: rows, of which the question cannot be asked.
Status: TypeAlias = Literal["optimal", "feasible", "infeasible", "unknown", "disputed", "refused"]


@dataclass(frozen=True)
class Evidence:
    """With what an explanation was made, so that it can be checked later."""

    #: A hash of what the model computes, and one of the circuit.
    model: str
    circuit: str
    #: name of a package -> its version
    versions: Mapping[str, str]
    #: A hash of the schema, as it was before the question added its rules; empty in explanations of version 2 and before.
    schema: str = ""


@dataclass(frozen=True)
class Reading:
    """What reading a file showed of it, and the explanation itself no longer shows."""

    #: Whether everything in it is as it was when it was written; None if it was written without a digest (version 2 and before).
    as_written: bool | None
    #: Whether the changes and the sentences that stand there for readers are those of the answers.
    changes_follow: bool
    sentences_follow: bool


@dataclass(frozen=True, repr=False)
class Explanation:
    """The answers to one query, the best first.

    `status` is "optimal" (proved: nothing is better), "feasible" (a limit came first; `bounds.lower` says how much better
    an answer could be), "infeasible" (proved: there is no answer), "unknown" (a limit came first, before any answer) or
    "disputed" (the model's own predict rejects the rows that its form accepts). Of many rows, one of which the question cannot be
    asked has status "refused", and `reason` says why.
    """

    query: Query
    status: Status
    #: The objective of the last answer, and what no row that is not among the answers can be below.
    bounds: Bounds
    counterfactuals: tuple[Counterfactual, ...]
    #: class -> the log-likelihood that an answer of that class had to have at least, where one was asked for
    thresholds: tuple[tuple[Value, float], ...]
    #: By how much score an answer had to be on the other side.
    margin: float
    evidence: Evidence
    #: Whether it was ended early by Ctrl-C or a callback.
    interrupted: bool = False
    nodes: int = field(default=0, compare=False)
    seconds: float = field(default=0.0, compare=False)
    #: What the searches took: rows tested, values filtered, time per part, and how the bounds moved.
    statistics: Statistics = field(default_factory=Statistics, compare=False)
    #: Of an explanation from a file.
    reading: Reading | None = field(default=None, compare=False)
    #: Of a row that was refused: why.
    reason: str = ""
    #: class -> the coherence that an answer of that class had to have at least, where one was asked for
    coherence_thresholds: tuple[tuple[Value, float], ...] = ()

    #: The dtypes of a user's table of polars; `to_frame` gives such a table then.
    dtypes: dict[str, Any] | None = field(default=None, compare=False, kw_only=True)
    #: What made it (`likely.explain.fitted.Fitted`), to ask for more; None of an explanation from a file or another process.
    maker: Any = field(default=None, compare=False, kw_only=True)

    # -- looking --------------------------------------------------------------------------------------------------

    @property
    def best(self) -> Counterfactual:
        """The best answer; an error says why there is none."""
        if not self.counterfactuals:
            hint = "ask explainer.why_not(row)" if self.status == "infeasible" else "look at .status, or raise the limits"
            if self.status == "refused":
                hint = f"the row was refused: {self.reason}"
            raise ExplainerError("An explanation", "have an answer to have a best one", f"status '{self.status}'", hint)
        return self.counterfactuals[0]

    def __len__(self) -> int:
        return len(self.counterfactuals)

    def __bool__(self) -> bool:
        """Whether there is an answer."""
        return bool(self.counterfactuals)

    def __repr__(self) -> str:
        hint = ["explainer.why_not(row) tells which demands exclude it."] if self.status == "infeasible" else []
        return "\n".join([text.table(self), *hint])

    def _repr_html_(self) -> str:
        return html.as_html(self)

    def to_frame(self) -> pd.DataFrame:
        """The answers as rows of the user's own columns and dtypes, ready for the model; a table of polars if the user's was."""
        schema = self.query.schema
        rows = [answer.numbers for answer in self.counterfactuals]
        table = schema.decode(np.stack(rows) if rows else np.empty((0, len(schema))))
        return cast("pd.DataFrame", in_kind(table, self.dtypes))

    def measures(self) -> pd.DataFrame:
        """A row per answer: class, cost, number of changes, log-likelihood, coherence and their percentiles, probabilities.

        A regressor's prediction is among them where there is one.
        """
        names = ["label", *MEASURES]
        if all(answer.prediction is None for answer in self.counterfactuals):
            names.remove("prediction")
        table = pd.DataFrame([{name: getattr(answer, name) for name in names} for answer in self.counterfactuals], columns=names)
        return cast("pd.DataFrame", in_kind(table, None if self.dtypes is None else {}))

    def plot(self, *, ax: Any = None) -> Any:
        """A picture of what each answer changes, before and after: `likely.show.plot_changes`. Needs matplotlib.

        Args:
            ax: Where to draw; by default, in a new figure.
        """
        return import_module("likely.show").plot_changes(self, ax=ax)  # pictures know explanations, not the other way round

    def reasons(self, n: int = 4, *, words: Any = None, exclude: Iterable[Name] = (), explainer: Any = None) -> Reasons:
        """The principal reasons for the decision about the row, in the order of how little of them would have changed it.

        What people may change plays no part here, nor how likely rows are: see `likely.explain.reasons`.

        Args:
            n: How many, at most; more than four are not likely to help a person.
            words: What to tell people: feature -> sentence, or feature -> {"low": sentence, "high": sentence}, by whether the
                value would have to be higher or lower; also by the row's own value, and "otherwise". `{value}`, `{to}` and
                `{feature}` are filled in. Left out, sentences are made of the values.
            exclude: Features that are not to be reasons. The result says which.
            explainer: That made the explanation; needed if it was read from a file.
        """
        from likely.explain.reasons import reasons_of

        maker = self.maker if explainer is None else getattr(explainer, "_known", None)
        if maker is None:
            got = "one without its explainer" if explainer is None else repr(explainer)
            hint = "give explainer=, the fitted Explainer"
            raise ExplainerError("An explanation to give reasons", "know its explainer", got, hint)
        if maker.evidence.model != self.evidence.model:
            got, hint = "an explainer of another model", "give the explainer that made it"
            raise ExplainerError("An explanation to give reasons", "be asked of its own model", got, hint)
        return reasons_of(maker, self, n, words=words, exclude=exclude)

    def __getstate__(self) -> dict[str, Any]:
        """The value alone: an explainer does not travel with every explanation."""
        return {key: value for key, value in self.__dict__.items() if key != "maker"}

    # -- files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss; with each answer's changes and sentence for readers.

        `digest` is the SHA-256 of all the rest: `likely.verify` tells whether something was changed since.
        """
        content = self._content()
        return {**content, "digest": digest(content)}

    def _content(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "query": self.query.to_dict(),
            "status": self.status,
            "bounds": plain_numbers(asdict(self.bounds)),
            "counterfactuals": [answer.to_dict() for answer in self.counterfactuals],
            "thresholds": [[label, str(lower) if np.isinf(lower) else lower] for label, lower in self.thresholds],
            "coherence_thresholds": [[label, lower] for label, lower in self.coherence_thresholds],
            "margin": self.margin,
            "evidence": {**vars(self.evidence), "versions": dict(self.evidence.versions)},
            "interrupted": self.interrupted,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "reason": self.reason,
            "statistics": {**vars(self.statistics), "trace": [plain_numbers(vars(now)) for now in self.statistics.trace]},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, read_schema: ReadSchema = Schema.from_dict) -> Explanation:
        """The explanation that `to_dict` described, of this version or an earlier one.

        Args:
            data: What `to_dict` made.
            read_schema: How to read the schema, if not alone.
        """
        try:
            data = data if isinstance(data, Mapping) else {"version": type(data).__name__}
            as_written = _as_written(data)
            data = upgraded(data, VERSION)
            if data.get("version") != VERSION:
                got = data.get("version")
                raise ExplainerError("An explanation's data", f"have version {VERSION} or less", got, "use explanation.to_json()")
            made = cls(**_parts(data, read_schema))
            made = replace(made, reading=_reading(made, data["counterfactuals"], as_written))
        except LikelyError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            got = f"{type(error).__name__}: {error}"
            raise ExplainerError(
                "An explanation's data", "have all its parts and no others", got, "use explanation.to_json()"
            ) from None
        if made.status not in get_args(Status):
            raise ExplainerError("A status", f"be one of {', '.join(get_args(Status))}", repr(made.status), "correct the file")
        return made

    def to_json(self) -> str:
        """JSON text that holds everything: schema, query, answers, the strength of the proof, versions."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """The explanation in a JSON text.

        Args:
            text: What `to_json` made, of this version or an earlier one.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ExplainerError("An explanation's text", "be JSON", error, "use explanation.to_json()") from None
        return cls.from_dict(data)


def _parts(data: Mapping[str, Any], read_schema: ReadSchema) -> dict[str, Any]:
    """The arguments of an explanation, from its plain data."""
    parts = {key: value for key, value in data.items() if key not in ("version", "digest")}
    of_kinds(parts, {"margin": NUMBER, "nodes": int, "seconds": NUMBER, "interrupted": bool, "reason": str})
    parts["query"] = query = Query.from_dict(parts["query"], read_schema)
    parts["bounds"] = Bounds(**with_infinities(parts["bounds"]))
    of_kinds(vars(parts["bounds"]), {"upper": NUMBER, "lower": NUMBER})
    parts["counterfactuals"] = tuple(Counterfactual.from_dict(answer, query) for answer in parts["counterfactuals"])
    for name in ("thresholds", "coherence_thresholds"):
        parts[name] = tuple((label, float(lower)) for label, lower in parts[name])
        for label, _ in parts[name]:
            of_kinds({"label": label}, {"label": CELL})
    parts["evidence"] = Evidence(**parts["evidence"])
    of_kinds(vars(parts["evidence"]), {"model": str, "circuit": str, "schema": str, "versions": Mapping})
    of_kinds(parts["evidence"].versions, dict.fromkeys(parts["evidence"].versions, str))
    statistics = dict(parts["statistics"])
    trace = tuple(Progress(**with_infinities(now)) for now in statistics.pop("trace"))
    parts["statistics"] = Statistics(**statistics, trace=trace)
    return parts


def _reading(explanation: Explanation, written: Sequence[Mapping[str, Any]], as_written: bool | None) -> Reading:
    """What the plain data of the answers say for readers, held against the answers."""
    pairs = [(answer.for_readers(), text) for answer, text in zip(explanation.counterfactuals, written, strict=True)]
    follow = [all(true[part] == text[part] for true, text in pairs) for part in ("changes", "sentence")]
    return Reading(as_written, *follow)


def _as_written(data: Mapping[str, Any]) -> bool | None:
    """Whether the digest of plain data is that of all the rest; None for a version that had none."""
    version = data.get("version")
    if isinstance(version, int) and version < FIRST_WITH_DIGEST:
        return False if "digest" in data else None
    return data.get("digest") == digest({key: value for key, value in data.items() if key != "digest"})
