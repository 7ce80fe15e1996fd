"""The notebooks of `examples`, run from top to bottom and stored with what they say: `python tools/run_notebooks.py`.

Needs nbclient and ipykernel, and the extra `plot`. `tests/test_notebooks.py` compares what is stored with what cells say.
"""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
#: What numbers and tables in notebooks depend on.
PACKAGES = ("numpy", "pandas", "scikit-learn")


def run(path: Path) -> None:
    """Run one notebook in an empty folder, and store it without what differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
    kept = dict(notebook.metadata)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    notebook.metadata = nbformat.from_dict(kept | {"made_with": {name: version(name) for name in PACKAGES}})
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":  # progress bars are no part of it
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for found in sorted(EXAMPLES.glob("*.ipynb")):
        run(found)
