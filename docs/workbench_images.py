"""Makes the pictures of docs/tutorials/workbench.md; run it as `python -m docs.workbench_images`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from bench.browser import demo_in_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ViewportSize

FOLDER = Path(__file__).parent / "images"
COLOURS = 96
"""Number of colours of a picture, which keeps it small."""
SHARE = 0.75
"""How large pictures are, as a share of the page."""
DESKTOP: ViewportSize = {"width": 1180, "height": 760}
PHONE: ViewportSize = {"width": 390, "height": 780}


def main() -> None:
    """Serve the demo, visit its pages, and write one picture for each."""
    with demo_in_browser() as (browser, address):
        take_all(browser(), address)


def take_all(browser: Browser, address: str) -> None:
    """The pages of the facilitator, and the sheet of a judge."""
    page = browser.new_page(viewport=DESKTOP)
    page.goto(f"{address}/")
    panels = dict(page.eval_on_selector_all(".panels a", "all => all.map(a => [a.textContent, a.pathname])"))
    opened = next(path for title, path in panels.items() if "still open" in title)
    closed = next(path for title, path in panels.items() if "Norvik" in title)
    page.goto(f"{address}{opened}/questions")
    page.locator("#event-title").fill("Norvik fails in a downturn")
    page.locator("#event-formula").fill("~(recession -> ~insolvency)")
    page.locator("#event-formula-read").get_by_text("Means the same").wait_for()
    page.locator(".draft").first.scroll_into_view_if_needed()
    keep(page.locator("section", has=page.locator("#addq")).first.screenshot(), "workbench-questions")
    page.get_by_label("New link for Alice").click()
    link = page.get_by_label("Alice", exact=True).input_value()
    page.goto(f"{address}{opened}/board")
    page.wait_for_timeout(500)
    keep(page.screenshot(clip={"x": 0, "y": 0, "width": 1180, "height": 900}, full_page=True), "workbench-board")
    page.goto(f"{address}{closed}/results")
    page.get_by_text("proved to be the nearest").wait_for()
    keep(page.screenshot(clip={"x": 0, "y": 0, "width": 1180, "height": 820}, full_page=True), "workbench-results")
    sheet = browser.new_page(viewport=DESKTOP)
    sheet.goto(link)
    sheet.wait_for_selector("body[data-ready]")
    keep(sheet.screenshot(), "workbench-sheet")
    phone = browser.new_page(viewport=PHONE, color_scheme="dark")
    phone.goto(link)
    phone.wait_for_selector("body[data-ready]")
    phone.locator("#q3").scroll_into_view_if_needed()
    phone.evaluate("document.querySelector('#q3').scrollIntoView()")
    phone.wait_for_timeout(700)
    keep(phone.screenshot(), "workbench-phone")


def keep(picture: bytes, name: str) -> None:
    """Write a picture with few colours."""
    from PIL import Image

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    size = tuple(round(SHARE * side) for side in image.size)
    few = image.resize(size, Image.Resampling.LANCZOS).quantize(COLOURS)
    few.save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
