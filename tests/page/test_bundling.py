"""The page's files: one module out of many for notebooks; nothing from elsewhere; licences beside what is theirs."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from likely.page.bundling import bundled
from likely.serve import Service
from tests.page.reading import changed, status

PAGE = Path(str(files("likely.page")))
OURS = [path for path in sorted(PAGE.rglob("*.*")) if path.suffix in {".js", ".css", ".html"} and path.parent.name != "vendor"]
THEIRS = sorted((PAGE / "vendor").glob("*.js"))
ENTRIES = ("main.js", "widget.js")
ADDRESS = "https://notebook.test/"
#: A notebook's cell: a model whose messages go to Python and back, and the widget's module drawn into it.
NOTEBOOK = """<!doctype html><html lang="en"><title>Notebook</title><body><div id="cell"></div><script type="module">
import widget from "./bundle.js";
const hearers = new Set();
const model = {
  get: (name) => window.traits[name],
  on: (event, hear) => hearers.add(hear),
  off: (event, hear) => hearers.delete(hear),
  send: async (message) => {
    window.sent.push(message);
    if (message.cancel) return;
    const reply = await window.kernel(message);
    hearers.forEach((hear) => hear({ id: message.id, ...reply }));
  },
};
window.sent = [];
window.traits = await window.begin();
window.remove = widget.render({ model, el: document.getElementById("cell") });
</script></body></html>"""


@pytest.mark.parametrize("path", OURS, ids=lambda path: str(path.relative_to(PAGE)))
def test_nothing_comes_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(https?:)?//[a-z0-9-]+\.[a-z]", text)
    assert "@import" not in text
    assert "eval(" not in text
    assert "innerHTML" not in text


def imports_of(path: Path) -> list[Path]:
    found = re.findall(r'(?:from|import)\s*"(\.[^"]+)"', path.read_text(encoding="utf-8"))
    return [(path.parent / each).resolve() for each in found]


def test_every_module_is_used() -> None:
    reached, todo = set(), [(PAGE / entry).resolve() for entry in ENTRIES]
    while todo:
        path = todo.pop()
        if path not in reached:
            reached.add(path)
            todo += imports_of(path)
    assert reached == {path.resolve() for path in PAGE.rglob("*.js")}


def test_libraries_have_licences_and_a_note_of_where_they_are_from() -> None:
    note = (PAGE / "vendor" / "README.md").read_text(encoding="utf-8")
    for path in THEIRS:
        line = next(line for line in note.splitlines() if line.startswith(f"| `{path.name}`"))
        licence = PAGE / "vendor" / re.findall(r"`([^`]+\.LICENSE)`", line)[0]
        assert licence.stat().st_size > 500
        (published,) = re.findall(r"`([0-9a-f]{64})`", line)
        if path.name == "htm.js":  # it imports nothing, and so is as it was published
            assert hashlib.sha256(path.read_bytes()).hexdigest() == published
    assert sum(path.stat().st_size for path in THEIRS) < 40_000


def test_one_module_of_all() -> None:
    text = bundled("widget.js")
    assert not re.search(r"^import\b", text, re.MULTILINE)
    assert len(re.findall(r"^export\b", text, re.MULTILINE)) == 1


def test_the_widget_in_a_page(opened: Any, service: Service) -> None:
    """The bundle as a notebook runs it, with a stub of anywidget's model that asks a real service."""
    row = dict((service.examples or [])[1])

    def kernel(message: dict[str, Any]) -> dict[str, Any]:
        reply = service.reply(message["path"], message["body"])
        return {"status": reply.status, "body": reply.body}

    def begin() -> dict[str, Any]:
        return {"about": service.reply("/about").body, "start": {"row": row}}

    def prepared(page: Any) -> None:
        page.expose_function("kernel", kernel)
        page.expose_function("begin", begin)
        page.route(ADDRESS, lambda route: route.fulfill(body=NOTEBOOK, content_type="text/html"))
        page.route(f"{ADDRESS}bundle.js", lambda route: route.fulfill(body=bundled("widget.js"), content_type="text/javascript"))

    page = opened(ADDRESS, prepared=prepared)
    first = service.reply("/explain", {"row": row, "k": 3}).body
    before = changed(page)
    assert status(page) == "optimal"
    assert before == [change["feature"] for change in first["answers"][0]["changes"]]
    page.click(f".answer.chosen .change[data-feature={before[0]}] button")
    assert before[0] not in changed(page)
    assert page.locator("main, h1").count() == 0  # those are the notebook's
    with page.expect_download() as download:
        page.get_by_role("button", name="Report").click()
    assert "<html" in download.value.path().read_text(encoding="utf-8")

    # A newer question cancels the older: the kernel is told.
    page.evaluate("() => { window.kernel = () => new Promise(() => {}) }")
    page.get_by_label("How plausible").fill("1")
    page.wait_for_function("sent.at(-1).path === '/explain' && sent.at(-1).body.plausibility === 0.05")
    page.get_by_label("How plausible").fill("2")
    page.wait_for_function("sent.at(-1).path === '/explain' && sent.at(-1).body.plausibility === 0.1")
    sent = page.evaluate("sent.slice(-3)")
    assert sent[1] == {"id": sent[0]["id"], "cancel": True}
    page.evaluate("remove()")
    assert page.inner_text("#cell") == ""
