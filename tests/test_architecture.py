"""The import arrows: who may know whom. And what importing `likely` costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import likely

PACKAGE = Path(likely.__file__).parent
#: room -> rooms it may import
ARROWS = {
    "errors": set(),
    "_display": {"errors"},
    "_jobs": {"errors"},
    "_files": set(),
    "_params": {"errors"},
    "schema": {"errors", "_files", "_display"},
    "when": {"schema"},
    "predictor": {"errors", "schema", "_core", "_jobs"},
    "circuit": {"errors", "_files", "_params", "schema", "_display", "_jobs", "_core"},
    "datasets": {"errors", "schema"},
    "show": {"errors", "_files", "schema", "_display", "circuit", "explain"},
    "problem": {"errors", "schema", "predictor", "circuit"},
    "certificate": {"errors", "_files", "schema", "predictor", "circuit", "problem"},
    "search": {"errors", "_jobs", "schema", "predictor", "circuit", "problem", "certificate", "_core"},
    "mio": {"errors", "schema", "predictor", "circuit", "problem", "search"},
    "explain": {
        "errors",
        "_files",
        "_params",
        "schema",
        "_display",
        "_jobs",
        "predictor",
        "circuit",
        "problem",
        "certificate",
        "search",
        "mio",
    },
    "batch": {"errors", "_files", "_display", "_jobs", "schema", "problem", "explain"},
    "cluster": {"errors", "schema", "batch", "explain"},
    "bench": {
        "errors",
        "_files",
        "_jobs",
        "_display",
        "schema",
        "predictor",
        "circuit",
        "problem",
        "mio",
        "explain",
        "datasets",
        "show",
    },
    "mlflow": {"errors", "_files", "schema", "predictor", "explain"},
    "page": {"errors", "problem", "explain", "serve"},
    "serve": {"errors", "schema", "circuit", "problem", "explain", "show"},
    "cli": {
        "errors",
        "_files",
        "_jobs",
        "schema",
        "_display",
        "circuit",
        "datasets",
        "problem",
        "search",
        "explain",
        "show",
        "batch",
        "cluster",
        "bench",
        "serve",
    },
    "__main__": {"cli"},
    "__init__": {"errors", "schema", "explain"},
}
#: part of the circuits' room -> parts it may import
CIRCUIT_ARROWS = {
    "model": set(),
    "queries": {"model"},
    "learning": {"model", "queries"},
    "readers": {"model"},
    "density": {"model", "queries", "learning"},
    "__init__": {"model", "queries", "learning", "readers", "density"},
}
EXTRAS = {
    "torch", "onnx", "onnxruntime", "skl2onnx", "xgboost", "lightgbm", "catboost", "keras",
    "pyomo", "highspy", "pyscipopt", "gurobipy",
    "matplotlib", "pyarrow", "dice_ml", "mlflow",
    "starlette", "uvicorn", "prometheus_client",
    "dask", "distributed", "ray", "pyspark",
}  # fmt: skip
#: optional package -> the one file that imports it; torch has another for methods of the benchmark that learn with it, and
#: pyarrow one per room: what one writes is not what the other reads
IMPORTERS = {
    "torch": {"predictor/torch.py", "bench/tensors.py"},
    "onnx": {"predictor/onnx/model.py"},
    "onnxruntime": {"predictor/onnx/model.py"},
    "xgboost": {"predictor/xgboost.py"},
    "lightgbm": {"predictor/lightgbm.py"},
    "catboost": {"predictor/catboost.py"},
    "keras": {"predictor/keras.py"},
    "pyomo": {"mio/modelling.py"},
    "pyscipopt": {"mio/solvers/scip.py"},
    "matplotlib": {"show/canvas.py"},
    "pyarrow": {"bench/results.py", "batch/parquet.py"},
    "dice_ml": {"bench/methods/dice.py"},
    "mlflow": {"mlflow.py"},
    "anywidget": {"page/widget.py"},
    "starlette": {"serve/app.py"},
    "uvicorn": {"serve/running.py"},
    "prometheus_client": {"serve/metrics.py"},
    "distributed": {"cluster/dask.py"},
    "ray": {"cluster/ray.py"},
    "pyspark": {"cluster/spark.py"},
}


def source_files(room: str = ".") -> list[Path]:
    return sorted(path for path in (PACKAGE / room).rglob("*.py"))


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """Absolute names of all modules that a file imports, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(str(node.module))
            names |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "likely"}
    return names


@pytest.mark.parametrize("path", source_files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_arrows(path: Path) -> None:
    room = room_of(path)
    known = {name.split(".")[1] for name in imports_of(path) if name.startswith("likely.")}
    strangers = known - ARROWS[room] - {room}
    assert not strangers, f"{room} may not import {strangers}"


@pytest.mark.parametrize("path", source_files("circuit"), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_arrows_among_circuits(path: Path) -> None:
    part = path.relative_to(PACKAGE / "circuit").parts[0].removesuffix(".py")
    imported = imports_of(path)
    assert "likely.circuit" not in imported, "inside a room, its parts are imported by their names"
    known = {name.split(".")[2] for name in imported if name.startswith("likely.circuit.")}
    strangers = known - CIRCUIT_ARROWS[part] - {part}
    assert not strangers, f"circuit.{part} may not import {strangers}"


@pytest.mark.parametrize("path", source_files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_each_optional_package_has_one_importer(path: Path) -> None:
    optional = {name.split(".")[0] for name in imports_of(path)} & EXTRAS
    for package in optional:
        assert path.relative_to(PACKAGE).as_posix() in IMPORTERS[package]


def test_exported_names() -> None:
    assert likely.__all__ == sorted(likely.__all__)
    for name in likely.__all__:
        assert getattr(likely, name) is not None
    needed = {"errors", "schema", "cli", "page", "import_module", "Any", "TYPE_CHECKING"}
    public = {name for name in vars(likely) if not name.startswith("_")} - needed
    assert public <= set(likely.__all__)


def in_new_process(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_import_brings_no_extra_and_no_sklearn() -> None:
    loaded = in_new_process("import sys, likely; print(' '.join(sys.modules))").split()
    roots = {name.partition(".")[0] for name in loaded}
    brought_by_pandas = {"pyarrow"}  # where it is installed
    assert not roots & (EXTRAS - brought_by_pandas | {"sklearn", "scipy", "joblib", "ruamel"})


@pytest.mark.slow
def test_import_adds_little() -> None:
    """At most 0.2 s on top of numpy and pandas: of the processor, and the best of five, because the machine is shared."""
    code = "import time, numpy, pandas; t = time.process_time(); import likely; print(time.process_time() - t)"
    assert min(float(in_new_process(code)) for _ in range(5)) < 0.2


def test_version() -> None:
    assert likely.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        _ = likely.nothing_of_that_name
