"""`Explanation`: everything that was found out about one row, and how strong each claim is; a frozen value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from likely.errors import ExplainerError
from likely.explain import html, text
from likely.explain.counterfactual import Counterfactual
from likely.explain.query import Query, plain_numbers, with_infinities
from likely.problem import Bounds
from likely.schema.values import Value

VERSION = 1

#: As an engine's `Status`; and disputed: rows were found, but the model's own predict rejects what its form accepts.
Status: TypeAlias = Literal["optimal", "feasible", "infeasible", "unknown", "disputed"]


@dataclass(frozen=True)
class Evidence:
    """With what an explanation was made, so that it can be checked later."""

    #: A hash of what the model computes, and one of the circuit.
    model: str
    circuit: str
    #: name of a package -> its version
    versions: Mapping[str, str]


@dataclass(frozen=True, repr=False)
class Explanation:
    """The answers to one query, the best first.

    `status` is "optimal" (proved: nothing is better), "feasible" (a limit came first; `bounds.lower` says how much better
    an answer could be), "infeasible" (proved: there is no answer), "unknown" (a limit came first and nothing was found) or
    "disputed" (the model's own predict rejected what was found).
    """

    query: Query
    status: Status
    #: The objective of the last answer, and what no row that is not among the answers can be below.
    bounds: Bounds
    counterfactuals: tuple[Counterfactual, ...]
    #: class -> the least log-likelihood that was asked of an answer of that class, where one was
    thresholds: tuple[tuple[Value, float], ...]
    #: By how much score an answer had to be on the other side.
    margin: float
    evidence: Evidence
    #: Whether it was ended early by Ctrl-C or a callback.
    interrupted: bool = False
    nodes: int = field(default=0, compare=False)
    seconds: float = field(default=0.0, compare=False)

    # -- looking --------------------------------------------------------------------------------------------------

    @property
    def best(self) -> Counterfactual:
        """The best answer; an error says why there is none."""
        if not self.counterfactuals:
            hint = "ask explainer.why_not(row)" if self.status == "infeasible" else "look at .status, or raise the limits"
            raise ExplainerError("An explanation", "have an answer to have a best one", f"status '{self.status}'", hint)
        return self.counterfactuals[0]

    def __len__(self) -> int:
        return len(self.counterfactuals)

    def __bool__(self) -> bool:
        """Whether there is an answer."""
        return bool(self.counterfactuals)

    def __repr__(self) -> str:
        return text.table(self)

    def _repr_html_(self) -> str:
        return html.as_html(self)

    def to_frame(self) -> pd.DataFrame:
        """The answers as rows of the user's own columns and dtypes, ready for the model."""
        schema = self.query.schema
        rows = [own.numbers for own in self.counterfactuals]
        return schema.decode(np.stack(rows) if rows else np.empty((0, len(schema))))

    def measures(self) -> pd.DataFrame:
        """A row per answer: class, cost, number of changes, log-likelihood, percentile, probabilities."""
        names = ("label", "cost", "number_of_changes", "log_likelihood", "percentile", "probability_before", "probability_after")
        return pd.DataFrame([{name: getattr(own, name) for name in names} for own in self.counterfactuals], columns=list(names))

    def plot(self, *, ax: Any = None) -> Any:
        """A picture of what each answer changes, before and after: `likely.show.plot_changes`. Needs matplotlib."""
        return import_module("likely.show").plot_changes(self, ax=ax)  # pictures know explanations, not the other way round

    # -- files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss; with each answer's changes and sentence for readers."""
        return {
            "version": VERSION,
            "query": self.query.to_dict(),
            "status": self.status,
            "bounds": plain_numbers(asdict(self.bounds)),
            "counterfactuals": [
                {**own.to_dict(), "changes": _changes(own), "sentence": own.sentence} for own in self.counterfactuals
            ],
            "thresholds": [[label, str(least) if np.isinf(least) else least] for label, least in self.thresholds],
            "margin": self.margin,
            "evidence": {**vars(self.evidence), "versions": dict(self.evidence.versions)},
            "interrupted": self.interrupted,
            "nodes": self.nodes,
            "seconds": self.seconds,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Explanation:
        """The explanation that `to_dict` described."""
        if not isinstance(data, Mapping) or data.get("version") != VERSION:
            got = repr(data.get("version")) if isinstance(data, Mapping) else type(data).__name__
            raise ExplainerError("An explanation's data", f"have version {VERSION}", got, "use explanation.to_json()")
        try:
            found = {key: value for key, value in data.items() if key != "version"}
            found["query"] = query = Query.from_dict(found["query"])
            found["bounds"] = Bounds(**with_infinities(found["bounds"]))
            found["counterfactuals"] = tuple(_counterfactual(own, query) for own in found["counterfactuals"])
            found["thresholds"] = tuple((label, float(least)) for label, least in found["thresholds"])
            found["evidence"] = Evidence(**found["evidence"])
            made = cls(**found)
        except (KeyError, TypeError, AttributeError) as error:
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
        """The explanation in a JSON text."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ExplainerError("An explanation's text", "be JSON", error, "use explanation.to_json()") from None
        return cls.from_dict(data)


def _changes(answer: Counterfactual) -> dict[str, list[Value]]:
    """What changes, as plain values."""
    query = answer.query
    cells = zip(query.schema.names, query.values, answer.values, strict=True)
    return {str(name): [before, after] for name, before, after in cells if name in answer.changes}


def _counterfactual(data: Mapping[str, Any], query: Query) -> Counterfactual:
    """An answer, without what was written for readers only."""
    return Counterfactual.from_dict({key: value for key, value in data.items() if key not in ("changes", "sentence")}, query)
