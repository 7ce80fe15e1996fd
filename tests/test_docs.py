"""Every Python example in the README and the documentation runs, page by page, from top to bottom."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from likely.predictor import registry

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
#: a Python block, and the optional package it needs, where a comment before it says so
BLOCK = re.compile(r"(?:^<!-- needs: (\w+) -->\n)?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+?)(?:#[^)]*)?\)")


@pytest.fixture
def _tidy_registry() -> Iterator[None]:
    """A page may register a reader of its own; the tests after it shall not know."""
    yield
    for key in [key for key in registry._readers if key[0] == "__main__"]:
        del registry._readers[key]


@pytest.mark.usefixtures("_tidy_registry")
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_examples_run(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```python")
    for i, (package, block) in enumerate(blocks):
        if package and find_spec(package) is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(block, f"{page.name}, example {i + 1}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"
