"""Every class of every framework has a line that says what is read of it, and the readers keep it."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import pytest
from sklearn.utils.discovery import all_estimators

from likely.predictor import registry
from likely.predictor.coverage import LINES, way_out

ROOT = Path(__file__).parents[2]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ESTIMATORS = sorted(
        {name for kind in ("classifier", "regressor", "transformer") for name, _ in all_estimators(type_filter=kind)}
    )


def registered(package: str) -> set[str]:
    importlib.import_module(registry._FRAMEWORKS[package])
    return {f"{owner}.{name}" for owner, name in (*registry._readers, *registry._transformers) if owner == package}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_of_scikit_learn_has_a_line_that_is_kept(name: str) -> None:
    line = LINES[f"sklearn.{name}"]
    assert (line.verdict != "refused") == (f"sklearn.{name}" in registered("sklearn"))


@pytest.mark.parametrize("package", ["xgboost", "lightgbm", "catboost"])
def test_every_model_of_a_booster_has_a_line_that_is_kept(package: str) -> None:
    pytest.importorskip(package)
    lines = {name for name, line in LINES.items() if name.startswith(f"{package}.") and line.verdict != "refused"}
    assert lines == registered(package)


def test_every_layer_of_torch_has_a_line() -> None:
    nn = pytest.importorskip("torch.nn")
    classes = {name for name in nn.modules.__all__ if isinstance(getattr(nn, name, None), type)}
    layers = {name for name in classes if issubclass(getattr(nn, name), nn.Module) and "Loss" not in name}
    assert {f"torch.{name}" for name in layers} <= set(LINES)


def test_every_operator_of_onnx_that_is_read_has_a_line() -> None:
    pytest.importorskip("onnx")
    operators = importlib.import_module("likely.predictor.onnx.operators").OPERATORS
    read = {name for name, line in LINES.items() if name.startswith("onnx.") and line.verdict != "refused"}
    assert {f"onnx.{name}" for name in operators} == read


@pytest.mark.parametrize("name", LINES)
def test_lines_say_what_they_must(name: str) -> None:
    line = LINES[name]
    assert bool(line.words) == (line.verdict != "exactly")
    assert bool(line.instead) == (line.verdict == "refused")
    if line.verdict == "refused":
        assert way_out(name) == f"{line.words}; {line.instead}"
        assert len(way_out(name)) < 200


def test_the_page_is_what_the_script_makes() -> None:
    spec = importlib.util.spec_from_file_location("coverage_script", ROOT / "benchmarks" / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = (ROOT / "docs" / "models" / "coverage.md").read_text(encoding="utf-8")
    assert written == script.page(), "run python benchmarks/coverage.py"
