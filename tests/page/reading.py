"""What a page shows, for tests: it waits until the answer to the newest question is there."""

from __future__ import annotations

from typing import Any


def settled(page: Any) -> None:
    """Wait until nothing is being asked any more."""
    page.wait_for_function(
        """() => {
            const quiet = !document.querySelector('.likely [aria-busy=true]');
            const there = document.querySelector('.likely [data-status], .likely .problem');
            if (!quiet || !there) { window.quietSince = 0; return false; }
            window.quietSince ||= performance.now();
            return performance.now() - window.quietSince > 250;  // longer than a page waits before it asks
        }""",
        polling=50,
    )
    page.evaluate("window.quietSince = 0")


def sentence(page: Any) -> str:
    """The answer in words."""
    settled(page)
    return page.inner_text("[data-part=sentence]")


def changed(page: Any) -> list[str]:
    """The features that the chosen answer changes."""
    settled(page)
    return page.eval_on_selector_all(".answer.chosen .change", "all => all.map(each => each.dataset.feature)")


def status(page: Any) -> str:
    """How strong the claim is."""
    settled(page)
    return page.get_attribute(".proof", "data-status")


def cost(page: Any) -> float:
    """What the chosen answer costs."""
    settled(page)
    return float(page.inner_text(".answer.chosen .measure:first-child dd").replace(",", ""))
