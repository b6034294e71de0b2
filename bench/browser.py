"""The workbench in a browser: `python -m bench.browser` times what a judge and a facilitator see.

The demo is served by a process of its own. A judge's sheet (9 questions, 15 events) is open at the width of a phone,
and a board beside it. One answer changes again and again, so that it contradicts another and then fits; timed is how
long after Enter the margin of the sheet says so, and how long after Enter the board does.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

CHANGES = 40
"""How often the answer changes."""
CONTRADICTING, FITTING = "36", "25"
"""Numbers for a recession and a rate cut together, beside 30 for a recession alone."""
WATCH = """() => {
  const note = document.getElementById('n3');
  window.times = [];
  document.addEventListener('keydown', event => {
    if (event.key !== 'Enter') return;
    const sent = performance.now(), before = Boolean(note.querySelector('.clash:not(.kept)'));
    const look = new MutationObserver(() => {
      if (Boolean(note.querySelector('.clash:not(.kept)')) === before) return;
      look.disconnect();
      window.times.push(performance.now() - sent);
    });
    look.observe(note, { childList: true, subtree: true });
  }, true);
}"""
"""Notes how long after Enter the contradiction of question 3 appears or goes."""


def main() -> None:
    """Serve the demo, measure, and print the figures."""
    began = time.perf_counter()
    with demo_in_browser() as (browser, address):
        urllib.request.urlopen(f"{address}/").read()
        print(f"serve --demo answers its first page after {time.perf_counter() - began:.1f} s")
        measure(browser(), address)


@contextmanager
def demo_in_browser() -> Iterator[tuple[Callable[[], Browser], str]]:
    """Serve the demo on a free port: what starts a browser, and the address."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "coherently", "serve", "--demo", "--port", "0", "--quiet"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process, sync_playwright() as playwright:
        try:
            assert process.stderr is not None
            found = re.search(r"http://[^/\s]+", process.stderr.readline())
            assert found is not None
            chromium = shutil.which("chromium")
            yield lambda: playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]), found[0]
        finally:
            process.terminate()


def measure(browser: Browser, address: str) -> None:
    """Change an answer, and print how long it took to be seen."""
    leader = browser.new_page()
    leader.goto(f"{address}/")
    leader.get_by_role("link", name="first round still open").click()
    board = leader.url
    leader.goto(board.replace("/board", "/questions"))
    leader.get_by_label("New link for Alice").click()
    link = leader.get_by_label("Alice", exact=True).input_value()
    leader.goto(board)
    sheet = browser.new_page(viewport={"width": 390, "height": 844})
    sheet.goto(link)
    sheet.wait_for_selector("body[data-ready]")
    sheet.evaluate(WATCH)
    seen = [change(sheet, leader, FITTING if number % 2 == 0 else CONTRADICTING) for number in range(CHANGES)]
    times = sorted(sheet.evaluate("window.times"))
    tell("contradiction in the margin after a change", times)
    tell("the same on the facilitator's board", sorted(seen))


def change(sheet: Page, leader: Page, number: str) -> float:
    """Type a number, and wait until both pages show what it means; the milliseconds until the board does."""
    field = sheet.locator("#q3 input[type=text]")
    field.fill(number)
    clash = "clash" if number == CONTRADICTING else ""
    began = time.perf_counter()
    field.press("Enter")
    words = "A recession and a rate cut together (36"
    leader.wait_for_function(
        "([words, here]) => (document.querySelector('[data-live=contradictions]').innerText.includes(words)) === here",
        arg=[words, bool(clash)],
    )
    took = 1000 * (time.perf_counter() - began)
    sheet.wait_for_function(
        "here => Boolean(document.querySelector('#n3 .clash:not(.kept)')) === here", arg=bool(clash)
    )
    return took


def tell(what: str, times: list[float]) -> None:
    """One line: median, 95th percentile and worst, in milliseconds."""
    middle, last = statistics.median(times), times[min(len(times) - 1, round(0.95 * len(times)))]
    print(f"{what}: median {middle:.0f} ms, 95 % {last:.0f} ms, worst {times[-1]:.0f} ms, {len(times)} changes")


if __name__ == "__main__":
    main()
