"""The story of the page, in a real browser: a row is decided, a feature is locked, a limit dragged, a curve clicked on."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import pytest
from sklearn.linear_model import LinearRegression

import likely
from likely.serve import Service
from tests.page.conftest import DESK, PHONE, served
from tests.page.reading import changed, cost, sentence, settled, status


def asked_directly(service: Service, **question: Any) -> dict[str, Any]:
    reply = service.reply("/explain", {"row": dict((service.examples or [])[0]), "k": 3, **question})
    assert reply.status == 200
    return reply.body


def features_of(answer: dict[str, Any]) -> list[str]:
    return [change["feature"] for change in answer["changes"]]


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_whole_story(opened: Any, address: str, service: Service, size: dict[str, int]) -> None:
    page = opened(address, size)
    first = asked_directly(service)
    settled(page)
    assert "bad" in page.inner_text(".decision")
    assert status(page) == first["status"] == "optimal"
    assert "proved: nothing closer exists" in page.inner_text(".proof").lower()
    before = changed(page)
    assert before == features_of(first["answers"][0])

    # Lock what the answer changes first: another answer comes, as the service gives it, and it keeps what is locked.
    page.click(f".answer.chosen .change[data-feature={before[0]}] button")
    locked = asked_directly(service, locked=[before[0]])
    assert changed(page) == features_of(locked["answers"][0])
    assert before[0] not in changed(page)
    assert page.is_visible(f"[aria-label='Unlock {before[0].replace('_', ' ')}']")

    # How plausible: from half of the rows to any, and the answer is cheaper, or as cheap.
    dear = cost(page)
    slider = page.get_by_label("How plausible")
    slider.fill("0")
    any_row = asked_directly(service, locked=[before[0]], plausibility=None)
    assert cost(page) == pytest.approx(any_row["answers"][0]["cost"], rel=1e-3)
    assert cost(page) <= dear
    assert "any row" in page.inner_text(".plausibility output")

    # The curve: its dearest point asks for what it stands for.
    settled(page)
    spot = page.locator(".spot").last
    words = spot.get_attribute("aria-label")
    spot.click()
    demand = float(re.search(r"likelier than ([\d.]+) %:", words)[1]) / 100
    asked = asked_directly(service, locked=[before[0]], plausibility=demand)
    assert cost(page) == pytest.approx(asked["answers"][0]["cost"], rel=1e-3)
    assert spot.get_attribute("aria-pressed") == "true"

    # The report as a file: what the service would write.
    with page.expect_download() as download:
        page.get_by_role("button", name="Report").click()
    report = download.value.path().read_text(encoding="utf-8")
    assert report.lower().startswith("<!doctype html>")
    assert asked["answers"][0]["changes"][0]["to_text"].strip("'") in report


def test_limits_and_typed_values(opened: Any, address: str, service: Service, explainer: likely.Explainer) -> None:
    page = opened(address)
    settled(page)
    row = dict((service.examples or [])[0])
    page.get_by_label("duration: at least").fill(str(row["duration"]))
    limited = asked_directly(service, ranges={"duration": {"at_least": row["duration"]}})
    assert changed(page) == features_of(limited["answers"][0])
    assert page.inner_text("[data-feature=duration] .ends").startswith("at least")
    page.get_by_label("Clear the limits of duration").click()
    assert changed(page) == features_of(asked_directly(service)["answers"][0])

    page.get_by_label("amount", exact=True).fill("900")
    page.get_by_label("checking account", exact=True).select_option(label="none")
    settled(page)
    typed = {**row, "amount": 900, "checking_account": "none"}
    assert f"says {explainer.decide(typed).label}" in page.inner_text(".decision").replace("\n", " ")
    assert page.locator("select", has_text="Your own values").count() == 1


def test_other_ways_and_no_way(opened: Any, address: str, service: Service) -> None:
    page = opened(address)
    first = sentence(page)
    page.get_by_role("button", name="Way 2").click()
    answer = asked_directly(service)["answers"][1]
    assert sentence(page) != first
    assert changed(page) == features_of(answer)
    tabs = page.locator(".density .tabs button")
    assert tabs.count() == len(answer["changes"])
    tabs.last.click()
    settled(page)
    assert tabs.last.get_attribute("aria-pressed") == "true"
    assert page.locator(".density figure").count() == 1

    # What is asked already holds: the service says so in a sentence, and the page shows it.
    page.get_by_label("Decision to reach").select_option(label="bad")
    settled(page)
    body = {"row": dict((service.examples or [])[0]), "k": 3, "target": "bad"}
    assert service.reply("/explain", body).body["error"] in page.inner_text(".problem")
    page.get_by_label("Decision to reach").select_option(label="good")
    assert status(page) == "optimal"

    # All is locked: there is no answer, it is said why, and a click leads out.
    free = page.locator(".feature .lock[aria-pressed=false]")
    for _ in range(free.count()):
        free.first.click()
    assert status(page) == "infeasible"
    page.wait_for_selector(".absence li")
    page.get_by_role("button", name="Give up locks and limits").click()
    assert status(page) == "optimal"


def test_a_link_restores_everything(opened: Any, address: str) -> None:
    page = opened(address)
    settled(page)
    page.get_by_label("Begin with").select_option(label="Example 2")
    page.get_by_role("button", name="Lock amount", exact=True).click()
    page.get_by_label("How plausible").fill("3")
    page.get_by_label("duration: at most").fill("60")
    page.get_by_label("Answers", exact=True).last.select_option(label="the 2 best")
    told = sentence(page)
    page.wait_for_function("atob(location.hash.slice(1).replaceAll('-', '+').replaceAll('_', '/')).includes('\"k\":2')")
    link = page.url
    state = json.loads(urlsafe_b64decode(link.split("#")[1] + "=="))
    assert state["locked"] == ["amount"]
    assert state["limits"] == {"duration": {"at_most": 60}}
    assert state["plausibility"] == 0.25

    page.goto("about:blank")
    page.goto(link)
    assert sentence(page) == told
    assert page.get_by_role("button", name="Lock amount", exact=True).get_attribute("aria-pressed") == "true"
    assert page.locator(".answer").count() == 2
    page.evaluate("link => { location.hash = link }", link[:-9].split("#")[1])  # cut off while it was copied: nothing happens
    assert sentence(page) == told

    # A link of another explainer: what does not fit is left out.
    other = {"row": {"nobody": 1, "amount": 700}, "locked": "x", "limits": {"age": 5, "nobody": {}}, "target": "ugly", "k": 99}
    page.evaluate("link => { location.hash = link }", urlsafe_b64encode(json.dumps(other).encode()).decode().strip("="))
    settled(page)
    assert page.get_by_label("amount", exact=True).input_value() == "700"
    assert page.locator("[data-status=optimal]").count() == 1


def test_a_newer_question_cancels_the_older_and_a_busy_service_is_asked_again(opened: Any, address: str) -> None:
    page = opened(address)
    settled(page)
    gone: list[float] = []
    page.on("requestfailed", lambda request: gone.append(json.loads(request.post_data)["plausibility"]))
    hold = {"first": True}

    def slow(route: Any) -> None:
        if hold.pop("first", False):
            return  # never answered: only a newer question ends it
        route.continue_()

    page.route("**/explain", slow)
    page.get_by_label("How plausible").fill("2")
    page.wait_for_timeout(250)
    assert page.get_attribute("section.answers", "aria-busy") == "true"
    page.get_by_label("How plausible").fill("6")
    settled(page)
    assert gone[0] == 0.1  # it was not answered: it ended because it was cancelled
    assert "90 %" in page.inner_text(".plausibility output")
    page.unroute("**/explain")

    # A service that is too busy: it says so, and may be asked again.
    page.route("**/explain", lambda route: route.fulfill(status=503, json={"error": "The service has too many questions."}))
    page.get_by_label("How plausible").fill("1")
    page.wait_for_selector(".problem")
    assert "too many questions" in page.inner_text(".problem")
    page.unroute("**/explain")
    page.get_by_role("button", name="Try again").click()
    assert status(page) == "optimal"


def test_the_gap_is_shown_while_a_search_takes_long(opened: Any, address: str) -> None:
    line = json.dumps({"progress": {"best": 3.5, "bound": 3.15, "gap": 0.1, "seconds": 1.5, "nodes": 10}})
    script = f"""const real = window.fetch;
        window.fetch = async (address, options) => {{
            if (!String(address).endsWith('/explain')) return real(address, options);
            const line = new TextEncoder().encode({json.dumps(line)} + '\\n');
            const lines = new ReadableStream({{ start(to) {{ to.enqueue(line); }} }});  // and then nothing, for long
            return new Response(lines, {{ headers: {{ 'content-type': 'application/x-ndjson' }} }});
        }};"""
    page = opened(address, script=script)
    page.wait_for_selector(".searching")
    assert "Best so far costs 3.5; a closer one could cost up to 10 % less" in page.inner_text(".searching")
    assert page.get_attribute("[role=progressbar]", "aria-valuenow") == "90"


def test_a_service_with_a_token_and_a_regressor(opened: Any) -> None:
    """The page asks for the token, then for what a regressor should predict, and has an answer."""
    X = likely.datasets.load("credit").X
    table = X[["duration", "installment_rate", "age"]]
    model = LinearRegression().fit(table, X["amount"])
    explainer = likely.Explainer(model, nodes=5, n_jobs=1, progress=False).fit(table)
    row = {name: int(value) for name, value in table.iloc[0].items()}
    with served(Service(explainer, "Amounts", examples=[row]), token="a token of sixteen letters") as address:
        page = opened(address)
        page.get_by_label("Token").fill("not this one, I am afraid")
        page.get_by_role("button", name="Continue").click()
        page.wait_for_selector("[role=alert]")
        page.get_by_label("Token").fill("a token of sixteen letters")
        page.get_by_role("button", name="Continue").click()
        page.get_by_label("Predict at least").fill("4000")
        assert status(page) == "optimal"
        assert "the model would predict" in sentence(page)
        predicted = page.locator(".measure", has_text="Prediction").inner_text().split()[-1]
        assert float(predicted.replace(",", "")) >= 4000
        assert "predicts" in page.inner_text(".decision")
