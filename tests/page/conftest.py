"""A served explainer, and a browser that looks at its page; what needs a browser skips where there is none."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any

import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likely
from likely.serve import Service

#: A few columns of German Credit: numbers, categories, an ordinal one, and one that only increases.
COLUMNS = ["checking_account", "duration", "amount", "savings", "employment", "installment_rate", "age", "housing"]
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
#: What a browser may be called, in order of preference.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def explainer() -> likely.Explainer:
    """An explainer of a small table, which answers in milliseconds."""
    data = likely.datasets.load("credit")
    X = data.X[COLUMNS]
    discrete = [name for name in COLUMNS if not data.schema[name].numeric]
    encoder = make_column_transformer((OneHotEncoder(), discrete), remainder=StandardScaler())
    model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(X, data.y)
    schema = likely.Schema([data.schema[name] for name in COLUMNS], constraints=[likely.Increasing("age")])
    return likely.Explainer(model, schema, nodes=8, n_jobs=1, progress=False).fit(X, data.y)


@pytest.fixture(scope="session")
def service(explainer: likely.Explainer) -> Service:
    """The explainer as a service, with two rows that the model calls bad to begin with."""
    X = likely.datasets.load("credit").X[COLUMNS]
    rows = X[explainer.model.predict(X) == "bad"].head(2)
    return Service(explainer, "German Credit", examples=[{**row} for row in rows.astype(object).to_dict("records")])


@pytest.fixture(scope="session")
def address(service: Service) -> Iterator[str]:
    """Where the service is served."""
    with served(service) as place:
        yield place


@contextmanager
def served(service: Service, **settings: Any) -> Iterator[str]:
    """The address of a service that a thread of this process serves."""
    uvicorn = pytest.importorskip("uvicorn")
    from likely.serve.app import Application
    from likely.serve.settings import Settings

    server = uvicorn.Server(uvicorn.Config(Application(service, Settings(**settings)), port=0, lifespan="on", log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The browser of the system, without a window. Its driver has an event loop on this thread: no other test could run one."""
    api = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("needs a browser: chromium, or Chrome")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """A function that opens an address in a window of its own; no script may fail, and nothing may come from elsewhere."""
    contexts, mistakes = [], []

    def open_page(address: str, size: dict[str, int] = DESK, script: str = "", prepared: Any = None) -> Any:
        context = browser.new_context(viewport=size, color_scheme="light", has_touch=size is PHONE, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.add_init_script(script)
        home = "/".join(address.split("/")[:3])
        page.on("pageerror", lambda error: mistakes.append(f"script: {error}"))
        page.on("console", lambda said: mistakes.append(f"console: {said.text}") if is_mistake(said) else None)
        page.on("request", lambda asked: mistakes.append(f"asks {asked.url}") if is_elsewhere(asked.url, home) else None)
        if prepared is not None:
            prepared(page)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert mistakes == []


def is_mistake(said: Any) -> bool:
    """Whether the console was told of an error; that the service refuses a question is none."""
    return said.type == "error" and not re.search(r"status of (401|422|503)", said.text)


def is_elsewhere(url: str, home: str) -> bool:
    return not url.startswith((home, "data:", "blob:"))
