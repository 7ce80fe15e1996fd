"""An explainer in a folder with its model beside it, as other processes find it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import joblib
import pandas as pd

import likely
from tests.explain import examples


@dataclass(frozen=True)
class Saved:
    folder: Path
    model: Path
    #: As many rows as there are tests for, one of them with a value that nobody knows.
    rows: pd.DataFrame

    def explanations(self) -> list[likely.Explanation]:
        """What one machine says of the rows, one after the other."""
        return examples.explainer_of().explain_many(self.rows)


def saved_in(place: Path, count: int = 36) -> Saved:
    examples.explainer_of().save(place / "explainer")
    joblib.dump(examples.model_of(), place / "model.joblib")
    rows = examples.table_of()[0].head(count).copy()
    rows.loc[5, "housing"] = "a castle"
    return Saved(place / "explainer", place / "model.joblib", rows)
