"""The pictures of the page in the documentation: `python tools/page_pictures.py`.

Needs the extras `serve` and `dev`, and chromium.
"""

from __future__ import annotations

import shutil
import threading
from io import BytesIO
from pathlib import Path
from time import sleep
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likely
from likely.serve import Service
from likely.serve.app import Application

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
#: So many colours are enough for a page, and make a small file.
COLOURS = 128


def main() -> None:
    """German Credit at a desk, in light and in dark, and on a phone with something locked."""
    address = served(credit())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for theme in ("light", "dark"):
            desk = browser.new_page(viewport={"width": 1360, "height": 1010}, color_scheme=theme)
            shown(desk, address)
            saved(desk, f"page-{theme}.png")
        phone = browser.new_page(viewport={"width": 390, "height": 844}, device_scale_factor=1.5, is_mobile=True, has_touch=True)
        shown(phone, address)
        phone.get_by_role("button", name="Lock duration", exact=True).click()
        phone.evaluate("scrollTo(0, 0)")
        phone.wait_for_timeout(2000)
        saved(phone, "page-phone.png")
        browser.close()


def credit() -> Service:
    """The explainer of the documentation, with applicants that are refused to begin with."""
    data = likely.datasets.load("credit")
    X = data.X
    discrete = [feature.name for feature in data.schema.features if not feature.numeric]
    encoder = make_column_transformer((OneHotEncoder(), discrete), remainder=StandardScaler())
    model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(X, data.y)
    explainer = likely.Explainer(model, data.schema, nodes=60, n_jobs=1, progress=False).fit(X, data.y)
    refused: Any = X[model.predict(X) == "bad"].head(3).astype(object).to_dict("records")
    return Service(explainer, "German Credit", examples=refused)


def served(service: Service) -> str:
    """The address of a service that a thread of this process serves."""
    server = uvicorn.Server(uvicorn.Config(Application(service), port=0, lifespan="on", log_config=None))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        sleep(0.05)
    return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"


def shown(page: Page, address: str) -> None:
    """The page with its answer and both pictures."""
    page.goto(address)
    page.wait_for_selector(".spot", timeout=60_000)
    page.wait_for_selector(".density figure")
    page.wait_for_timeout(500)  # bars grow


def saved(page: Page, name: str) -> None:
    """What a page shows, as a small file."""
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURES / name, optimize=True)


if __name__ == "__main__":
    main()
