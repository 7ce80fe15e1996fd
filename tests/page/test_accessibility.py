"""The page for everybody: axe finds nothing in light or dark, at a desk or on a phone; and a keyboard is enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.page.conftest import DESK, PHONE
from tests.page.reading import changed, settled, status

AXE = Path(__file__).parent / "vendor" / "axe.min.js"


def violations(page: Any) -> list[str]:
    """What axe finds, in light and in dark."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    told = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        told += [f"{theme}: {each['id']}: {node['html']}: {node['failureSummary']}" for each in found for node in each["nodes"]]
    return told


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_for_axe_to_find(opened: Any, address: str, size: dict[str, int]) -> None:
    page = opened(address, size)
    settled(page)
    page.get_by_role("button", name="Lock amount", exact=True).click()
    page.get_by_label("duration: at most").fill("60")
    settled(page)
    assert violations(page) == []
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1]  # nothing to scroll sideways


def test_no_answer_and_no_service_are_accessible_too(opened: Any, address: str) -> None:
    page = opened(address)
    settled(page)
    free = page.locator(".feature .lock[aria-pressed=false]")
    for _ in range(free.count()):
        free.first.click()
    assert status(page) == "infeasible"
    assert violations(page) == []
    page.route("**/explain", lambda route: route.fulfill(status=503, json={"error": "Busy."}))
    page.get_by_label("How plausible").fill("1")
    page.wait_for_selector(".problem")
    assert violations(page) == []


def test_a_keyboard_is_enough(opened: Any, address: str) -> None:
    page = opened(address)
    settled(page)
    before = changed(page)
    keys = page.keyboard
    keys.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the answer"
    keys.press("Enter")
    tab_to(page, f"Lock {before[0].replace('_', ' ')}: it cannot change")
    keys.press("Enter")
    assert before[0] not in changed(page)
    tab_to(page, "How plausible")
    for _ in range(4):
        keys.press("ArrowLeft")
    settled(page)
    assert "any row" in page.inner_text(".plausibility output")
    page.evaluate("document.querySelector('.answer-part').focus()")
    spot = page.locator(".spot").last.get_attribute("aria-label")
    tab_to(page, spot)
    keys.press("Space")
    settled(page)
    assert page.locator(".spot").last.get_attribute("aria-pressed") == "true"
    tab_to(page, "duration: at most")
    keys.press("Home")
    settled(page)
    assert page.inner_text("[data-feature=duration] .ends").startswith("at most")


def tab_to(page: Any, name: str) -> None:
    """Press Tab until what has this name has the focus, and see that it shows."""
    for _ in range(80):
        page.keyboard.press("Tab")
        here = page.evaluate(
            "(e => e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent.trim() ?? e.textContent)(document.activeElement)"
        )
        if here == name:
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    raise AssertionError(f"Tab does not reach {name!r}")
