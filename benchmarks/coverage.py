"""The page "What is read": every estimator of scikit-learn, the boosters, torch layers, ONNX operators.

    python benchmarks/coverage.py            # writes docs/models/coverage.md

The lines are in `likely.predictor.coverage`, which refusals quote, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

from sklearn.utils.discovery import all_estimators

from likely.predictor.coverage import LINES, Line

PAGE = Path(__file__).parents[1] / "docs" / "models" / "coverage.md"
INTRODUCTION = """# What is read

Made by `python benchmarks/coverage.py`. *Read exactly*: the form scores every row as the model does, and a split decides at its
very threshold as the model's split does. *Read where*: under that condition, and otherwise refused with the reason. *Refused*:
with the reason, and what to do instead. Whatever is refused can be taught: [a model of your own](own.md).
"""


def rows(names: Iterable[str], package: str) -> list[str]:
    """A row of the table per name, in order."""
    return [f"| `{name}` | {_cell(LINES[f'{package}.{name}'])} |" for name in sorted(names)]


def _cell(line: Line) -> str:
    return str(line).replace("|", "\\|")


def section(title: str, names: Iterable[str], package: str, note: str = "") -> str:
    """A heading and its table."""
    table = "\n".join(["| class | what is read |", "| --- | --- |", *rows(names, package)])
    return f"\n## {title}\n\n{note}{table}\n"


def page() -> str:
    """The whole page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = {
            kind: [name for name, _ in all_estimators(type_filter=kind)] for kind in ("classifier", "regressor", "transformer")
        }
    parts = [INTRODUCTION]
    parts += [section(f"scikit-learn: {kind}s", names, "sklearn") for kind, names in kinds.items()]
    for title, package in (("XGBoost", "xgboost"), ("LightGBM", "lightgbm"), ("CatBoost", "catboost")):
        parts.append(section(title, _of(package), package))
    parts.append(section("torch: layers", _of("torch"), "torch", "What a `forward` does between them is read by `torch.fx`.\n\n"))
    parts.append(section("ONNX: operators", _of("onnx"), "onnx", "Every other operator is refused by the name of its node.\n\n"))
    return "".join(parts)


def _of(package: str) -> list[str]:
    return [name.partition(".")[2] for name in LINES if name.startswith(f"{package}.")]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
