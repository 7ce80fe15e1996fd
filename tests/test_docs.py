"""The README and the documentation: every Python example runs, every link leads somewhere, every public name is there."""

from __future__ import annotations

import inspect
import re
import shutil
import tomllib
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import likely
from likely.predictor import registry

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
#: a Python block, and the optional package it needs, where a comment before it says so
BLOCK = re.compile(r"(?:^<!-- needs: (\w+) -->\n)?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
#: `::: likely.room.name`, or `::: likely.room.name.name` where a module of the room has the name, too
DIRECTIVE = re.compile(r"^::: likely\.(\w+)\.(\w+)(?:\.\2)?$", re.MULTILINE)
ROOMS = [*(name for name in likely.__all__ if isinstance(getattr(likely, name), ModuleType)), "errors", "schema"]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def _tidy_registry() -> Iterator[None]:
    """A page may register a reader of its own; the tests after it shall not know."""
    yield
    for key in [key for key in registry._readers if key[0] == "__main__"]:
        del registry._readers[key]


@pytest.mark.slow
@pytest.mark.usefixtures("_tidy_registry")
@pytest.mark.parametrize("page", PAGES, ids=named)
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
            exec(compile(block, f"{named(page)}, example {i + 1}", "exec"), names)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site and the repository make them."""
    headings = HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        linked = page.parent / target if target else page
        assert linked.exists(), f"{named(page)} links to {target}, which is not there"
        assert not anchor or anchor in anchors(linked), f"{named(page)} links to {target}#{anchor}, which is no heading"


def nav_pages(entries: list[Any]) -> list[str]:
    """The pages that a navigation leads to, in order."""
    parts = [value for entry in entries for value in entry.values()]
    return [page for part in parts for page in ([part] if isinstance(part, str) else nav_pages(part))]


def test_every_page_is_in_the_navigation_once() -> None:
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert sorted(nav_pages(settings["project"]["nav"])) == sorted(pages)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_in_the_reference(room: str) -> None:
    module = import_module(f"likely.{room}")
    public = getattr(module, "__all__", [name for name, value in vars(module).items() if isinstance(value, type)])
    page = (DOCS / "reference" / f"{room}.md").read_text(encoding="utf-8")
    directives = DIRECTIVE.findall(page)
    assert {name for at, name in directives if at == room} == set(public)
    assert len(directives) == len(set(public))
    # Of two things with one name, a function and its module, a short directive would show the module.
    twins = [name for name in public if hasattr(module, "__path__") and find_spec(f"likely.{room}.{name}")]
    assert [name for name in twins if f"::: likely.{room}.{name}.{name}\n" not in f"{page}\n"] == []


def documented_callables(room: str) -> Iterator[tuple[str, Any]]:
    """The public functions of a room and the public methods of its classes, but for those that only override one."""
    module = import_module(f"likely.{room}")
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if inspect.isfunction(value):
            yield name, value
        if inspect.isclass(value):
            for key, member in vars(value).items():
                overrides = any(hasattr(base, key) for base in value.__bases__)
                method = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
                if not key.startswith("_") and inspect.isfunction(method) and not overrides:
                    yield f"{name}.{key}", method


@pytest.mark.parametrize("room", ROOMS)
def test_every_argument_is_explained(room: str) -> None:
    silent = {name: left for name, function in documented_callables(room) if (left := unexplained(function))}
    assert silent == {}


@pytest.mark.parametrize("made", [likely.Explainer, likely.Question])
def test_what_a_constructor_takes_is_explained(made: type) -> None:
    assert unexplained(made) == set()


def unexplained(function: Any) -> set[str]:
    """The arguments that the docstring does not name; those that a function passes on are those of another."""
    text = (inspect.getdoc(function) or "").partition("Args:\n")[2].partition("\n\n")[0]
    passed_on = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    arguments = {key for key, value in inspect.signature(function).parameters.items() if value.kind not in passed_on}
    return arguments - {"self", "cls"} - set(re.findall(r"^    (\w+): \S", text, re.MULTILINE))


def test_every_name_of_the_package_is_one_of_a_room() -> None:
    rooms = {name for room in ROOMS for name in getattr(import_module(f"likely.{room}"), "__all__", ())}
    errors = {name for name in likely.__all__ if hasattr(likely.errors, name)}
    assert set(likely.__all__) - set(ROOMS) <= rooms | errors


def test_every_file_that_the_layout_names_is_there() -> None:
    """A path in `code` is one of the package, of the core or of the repository."""
    named = set(re.findall(r"`((?:[\w.]+/)+\w+\.(?:py|cpp|hpp))", (DOCS / "layout.md").read_text(encoding="utf-8")))
    assert len(named) > 20
    homes = (ROOT / "src" / "likely", ROOT / "src" / "core", ROOT)
    assert [name for name in sorted(named) if not any((home / name).is_file() for home in homes)] == []
