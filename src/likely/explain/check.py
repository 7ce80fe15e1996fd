"""`Check`: one claim, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One claim: whether it holds, and what is true instead; `holds` is None if it could not be checked."""

    claim: str
    holds: bool | None
    #: What is true instead, or what to give so that it can be checked.
    detail: str = ""
    #: The number of the answer it is about, from 0; None for the explanation as a whole.
    answer: int | None = None

    def __str__(self) -> str:
        mark = {True: "holds", False: "FAILS", None: "not checked"}[self.holds]
        of = "" if self.answer is None else f"answer {self.answer + 1}: "
        return f"{mark}: {of}{self.claim}" + (f" ({self.detail})" if self.detail else "")
