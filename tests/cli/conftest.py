"""The files of a person with a table and a model, and an explainer made of them."""

from __future__ import annotations

from pathlib import Path

import joblib
import pytest

from likely.cli import main
from tests.explain import examples


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with loans.csv, schema.yaml, model.joblib and explainer/."""
    folder = tmp_path_factory.mktemp("files")
    examples.loans().to_csv(folder / "loans.csv", index=False)
    examples.schema_of().save(folder / "schema.yaml")
    joblib.dump(examples.model_of(), folder / "model.joblib")
    words = ["fit", str(folder / "loans.csv"), "--target", "granted", "--schema", str(folder / "schema.yaml")]
    more = ["--model", str(folder / "model.joblib"), "--nodes", "20", "-o", str(folder / "explainer")]
    assert main([*words, *more]) == 0
    return folder


@pytest.fixture
def asked(files: Path) -> list[str]:
    """The explainer and its model, as they are named on the command line."""
    return [str(files / "explainer"), "--model", str(files / "model.joblib")]
