"""Forests and rows for the rivals, as plain data (`likely.bench.wide`), and what must be reached."""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import likely
from likely.errors import LikelyWarning

WORKER = Path(__file__).with_name("rivals_worker.py")
#: What each rival minimises.
ASKS = {"treecf": "near", "veritas": "least change", "ocean": "near"}


def asked(
    schema: likely.Schema, form: Any, rows: NDArray[np.float64], limit: float, python: Path, wanted: Collection[str] = tuple(ASKS)
) -> dict[str, list[dict[str, Any]]]:
    """Per rival that is wanted and that the interpreter has: one answer per row."""
    from likely.bench.wide import Columns, forest_of  # builds that are compared with this one do not have it

    columns = Columns(_wide(schema, rows))
    labels = form.predict(rows)
    question = {
        "columns": columns.described(),
        **forest_of(form, columns),
        "limit": limit,
        "wanted": list(wanted),
        "queries": [
            {"row": columns.expanded(row), "up": bool(label == form.classes[0])} for row, label in zip(rows, labels, strict=True)
        ],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.json"
        path.write_text(json.dumps(question), encoding="utf-8")
        subprocess.run([str(python), str(WORKER), str(path)], check=True)
        return json.loads(path.with_name("answer.json").read_text(encoding="utf-8"))


def _wide(schema: likely.Schema, rows: NDArray[np.float64]) -> likely.Schema:
    """Domains that hold every row: a rival is told one domain for all of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)
        for row in rows:
            schema = schema.widened(row)
    return schema
