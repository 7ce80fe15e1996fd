"""What likelihoods and coherences mean, for people: beside other rows, not as logarithms."""

from __future__ import annotations

import math
from dataclasses import replace

from likely.explain.fitted import Fitted
from likely.explain.outcomes import outcomes
from likely.explain.plausibility import AtLeastFactual, Quantile, Threshold
from likely.explain.query import Query
from likely.problem import Conflict, LikelihoodWords
from likely.schema import Schema

_SHARES = {0.5: "half", 0.25: "a quarter", 0.75: "three quarters", 1.0: "all"}


def likelihood_words(fitted: Fitted, query: Query) -> LikelihoodWords | None:
    """How to speak of the likelihoods of a query to one class; None if there are no rows to compare with.

    Args:
        fitted: What the explainer knows.
        query: What was asked.
    """
    peers, rows = query.peers(outcomes(fitted.form, query.question).index(query.target)), query.peers_named(query.target)

    def percent(log: float) -> int | None:
        percentile = fitted.training.percentile(log, peers)
        return None if percentile is None else math.floor(percentile)

    def of(log: float) -> str:
        share = percent(log)
        return f"likelier than {share} % of them" if share else "less likely than all of them"

    if percent(0.0) is None:
        return None
    variant = query.plausibility
    if isinstance(variant, Quantile):
        return LikelihoodWords(f"at least as likely as {_share(variant.q)} of {rows}", of)
    if isinstance(variant, AtLeastFactual):
        return LikelihoodWords(f"at least as likely as the row itself, or as {_share(variant.most)} of {rows}", of)
    if isinstance(variant, Threshold):
        return LikelihoodWords(f"at least as likely as {percent(float(variant.log_likelihood))} % of {rows}", of)
    return None


def coherence_words(query: Query) -> str | None:
    """What a query to one class demands of coherence; None if it demands nothing.

    Args:
        query: What was asked.
    """
    share = query.question.coherence
    if share is None:
        return None
    return f"the values of an answer must fit together as well as those of {_share(share)} of {query.peers_named(query.target)}"


def in_words_of(schema: Schema, conflict: Conflict) -> Conflict:
    """A conflict whose demands name features as people do.

    Args:
        schema: It has labels and units.
        conflict: Of a problem with this schema; demands are constraints by the names of columns.
    """
    reasons = tuple(
        reason if reason.constraint is None else replace(reason, demand=reason.constraint.sentence(schema))
        for reason in conflict.reasons
    )
    out = conflict.way_out
    if out is not None:
        pairs = zip(out.demands, out.constraints, strict=True)
        out = replace(out, demands=tuple(told if rule is None else rule.sentence(schema) for told, rule in pairs))
    return replace(conflict, reasons=reasons, way_out=out)


def _share(q: float) -> str:
    return _SHARES.get(q, f"{100 * q:.4g} %")
