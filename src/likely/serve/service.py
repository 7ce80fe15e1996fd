"""`Service`: a request to a reply, as plain data; HTTP and notebooks put it on the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from likely.errors import EngineError, LikelyError
from likely.explain import Explainer, Explanation, verify
from likely.problem import Progress
from likely.serve import bodies, describing, telling
from likely.serve.asking import names_of, question_of, row_of
from likely.serve.bodies import Bounds, JsonSchema
from likely.serve.validating import check
from likely.show.axis import axis_of
from likely.show.marginals import conditional_heights, marginal_heights
from likely.show.pages import report_page

#: What a page has at least to say why there is no answer, after the proof of that.
_LEAST_SECONDS = 0.05

#: Called now and then while a search runs; ends it by returning False.
Callback: TypeAlias = Callable[[Progress], bool]


@dataclass(frozen=True)
class Reply:
    """What comes back: a status of HTTP, and plain data or a text."""

    status: int
    body: Any
    media: str = "application/json"


@dataclass(frozen=True, eq=False)
class Service:
    """A fitted explainer that answers requests; threads may share it.

    Args:
        explainer: The explainer.
        title: What the page is called.
        bounds: What one question may take.
        examples: Rows that the page offers to begin with; left out, a few are drawn from the density, and are nobody's.
    """

    explainer: Explainer
    title: str = "likely"
    bounds: Bounds = field(default_factory=Bounds)
    examples: Sequence[Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        names_of(self.explainer.schema_)
        for row in self.examples or ():
            check(dict(row), bodies.row_schema(self.explainer), "A row of the examples")

    @cached_property
    def requests(self) -> dict[str, JsonSchema]:
        """path -> what a request must be, as JSON Schema."""
        explainer, bounds = self.explainer, self.bounds
        question = bodies.question_schema(explainer, bounds)
        return {
            "/decide": bodies.decide_schema(explainer),
            "/explain": question,
            "/front": bodies.front_schema(explainer, bounds),
            "/why": question,
            "/verify": bodies.verify_schema(),
            "/report": bodies.report_schema(explainer, bounds),
            "/density": bodies.density_schema(explainer),
        }

    def reply(self, path: str, body: Any = None, callback: Callback | None = None) -> Reply:
        """The reply to a request; a bad one has a status of 4xx and a sentence.

        Args:
            path: "/about", or one of `requests`.
            body: The request, as JSON gives it.
            callback: Called some thirty times a second while a search runs; ends it by returning False.
        """
        if path == "/about":
            return Reply(200, self._about)
        if path not in self.requests:
            return Reply(404, {"error": f"There is no {path}. Hint: see /openapi.json."})
        try:
            check(body, self.requests[path])
            answer = {
                "/decide": self._decide, "/explain": self._explain, "/front": self._front, "/why": self._why,
                "/verify": self._verify, "/report": self._report, "/density": self._density,
            }[path]  # fmt: skip
            return answer(body, callback)
        except EngineError:
            raise
        except LikelyError as error:
            return Reply(422, {"error": str(error)})

    @cached_property
    def _about(self) -> dict[str, Any]:
        examples = describing.made_up_rows(self.explainer) if self.examples is None else [dict(row) for row in self.examples]
        return describing.about(self.explainer, self.bounds, self.title, examples)

    def _decide(self, body: Mapping[str, Any], callback: Callback | None) -> Reply:
        decision = self.explainer.decide(row_of(body["row"], self.explainer))
        return Reply(200, {**telling.decision_told(decision), "notes": self._notes(body)})

    def _explain(self, body: Mapping[str, Any], callback: Callback | None) -> Reply:
        return Reply(200, {**telling.explanation_told(self._explanation(body, callback)), "notes": self._notes(body)})

    def _explanation(self, body: Mapping[str, Any], callback: Callback | None) -> Explanation:
        return self.explainer.explain(*self._asked(body), callback=callback or _on)

    def _asked(self, body: Mapping[str, Any]) -> tuple[Any, Any]:
        return row_of(body["row"], self.explainer), question_of(body, self.explainer, self.bounds)

    def _front(self, body: Mapping[str, Any], callback: Callback | None) -> Reply:
        how = {name: body[name] for name in ("by", "quantiles") if name in body}
        front = self.explainer.front(*self._asked(body), callback=callback, **how)
        return Reply(200, {**telling.front_told(front), "notes": self._notes(body)})

    def _why(self, body: Mapping[str, Any], callback: Callback | None) -> Reply:
        conflict = self.explainer.why_not(*self._asked(body), callback=callback)
        return Reply(200, {**telling.conflict_told(conflict, self.explainer.schema_), "notes": self._notes(body)})

    def _verify(self, body: Mapping[str, Any], callback: Callback | None) -> Reply:
        return Reply(200, verify(Explanation.from_dict(body["explanation"]), self.explainer).to_dict())

    def _report(self, body: Mapping[str, Any], callback: Callback | None) -> Reply:
        explanation = self._explanation(body, callback)
        reason = None
        if explanation.status == "infeasible":
            row, question = self._asked(body)
            left = max(question.limits.seconds - explanation.seconds, _LEAST_SECONDS)
            try:
                reason = self.explainer.why_not(row, question, limits=left, callback=callback)
            except LikelyError:  # not one question, or not decided in time: the page does without
                reason = None
        return Reply(200, report_page(explanation, title=body.get("title"), reason=reason), "text/html; charset=utf-8")

    def _density(self, body: Mapping[str, Any], callback: Callback | None) -> Reply:
        circuit, schema = self.explainer.circuit_, self.explainer.schema_
        name = names_of(schema)[body["feature"]]
        told = [body["row"], *([] if body.get("answer") is None else [body["answer"]])]
        rows = [schema.encode_row(row_of(row, self.explainer)) for row in told]
        j = schema.index(name)
        axis = axis_of(circuit, name, [row[j] for row in rows])
        whole = np.concatenate([rows[0], np.full(len(circuit.variables) - len(schema), np.nan)])
        places = [telling.finite(float(axis.places(row[[j]])[0])) for row in rows]
        edges, marginal = marginal_heights(circuit, axis)
        return Reply(
            200,
            {
                "feature": body["feature"],
                "title": axis.feature.title,
                "unit": axis.feature.unit,
                "numeric": axis.feature.numeric,
                "edges": edges.tolist(),
                "ticks": [list(tick) for tick in axis.ticks],
                "marginal": marginal.tolist(),
                "given_row": telling.heights_told(conditional_heights(circuit, axis, whole)),
                "row": places[0],
                "answer": places[1] if len(places) > 1 else None,
            },
        )

    def _notes(self, body: Mapping[str, Any]) -> list[str]:
        """What the asker should know of the row: values outside the bounds."""
        schema = self.explainer.schema_
        return list(schema.outside(schema.encode_row(row_of(body["row"], self.explainer))).values())


def _on(progress: Progress) -> bool:
    return True
