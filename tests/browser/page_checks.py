"""The page that needs no installation against Python, panel by panel."""

import math
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from playwright.sync_api import sync_playwright

import coherently as co
from coherently.solve.implied.extremes import ENOUGH
from setup.browser_page import compiled, page
from tests.browser.random_panels import RandomPanel, python_answer, random_panel
from tests.conftest import FLAGS, NAMES

TOLERANCE = 1e-9
ASK = """(panels) => Promise.all(panels.map(async ({table, laws, question}) => {
  try { return await window.coherently.answer(table, laws, question); }
  catch (error) { return {refused: `${error.constructor.name}: ${error.message}`}; }
}))"""
BATCH = 50


def make_page(folder: Path) -> str:
    """The address of the page, in a folder."""
    target = folder / "browser.html"
    target.write_text(page(compiled()), "utf-8")
    return target.as_uri()


def check_agreement(visited, first: int, count: int) -> Counter[str]:
    """Compare the panels of some seeds on a page that was opened; how many there were of each kind."""
    kinds = Counter[str]()
    for begin in range(first, first + count, BATCH):
        panels = [random_panel(seed) for seed in range(begin, min(begin + BATCH, first + count))]
        asked = [{"table": one.table, "laws": "\n".join(one.laws), "question": one.question} for one in panels]
        for seed, (panel, found) in enumerate(zip(panels, visited.evaluate(ASK, asked), strict=True), begin):
            kinds.update(_kinds(found))
            problems = list(_differences(panel, found))
            assert not problems, f"seed {seed}, {panel}: {problems}"
    return kinds


def check_in_browser(first: int, count: int) -> Counter[str]:
    """The same in a browser of its own."""
    path = next(filter(None, map(shutil.which, NAMES)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        visited = browser.new_page()
        visited.goto(make_page(Path(folder)))
        return check_agreement(visited, first, count)


def _kinds(found: dict) -> set[str]:
    if "refused" in found:
        return {"refused"}
    parts = [*found["judges"], found["means"], found["answer"], found["bounds"]]
    return {f"a judge is {judge['status']}" for judge in found["judges"]} | {
        "partly answered" if any("trouble" in part for part in parts) else "wholly answered"
    }


def _differences(panel: RandomPanel, found: dict):
    """What differs; a part of the answer may be left out, with its reason, only where conditionals are about."""
    try:
        wanted = python_answer(panel)
    except co.EventError as error:
        if "refused" not in found or "can never be true" not in str(error) + found["refused"]:
            yield f"Python refuses: {error}"
        return
    if "refused" in found:
        yield found["refused"]
        return
    given = any(" given " in event for _, event, _ in panel.rows)
    for own, other in zip([*found["judges"], found["means"]], [*wanted["judges"], wanted["means"]], strict=True):
        yield from _part(own, other, may_fail=given)
    yield from _part(found["answer"], wanted["answer"], may_fail=given)
    # What is off by 1e-9 in a probability is off by that divided by P(H) in one that is given H; Python promises 1e-7.
    close = min(TOLERANCE / max(wanted["given"], TOLERANCE), ENOUGH)
    may_fail = given or " given " in panel.question
    yield from _part(found["bounds"], wanted["bounds"], may_fail=may_fail, close=close)


def _part(found: dict, wanted: dict, *, may_fail: bool, close: float = TOLERANCE):
    if "trouble" in found:
        if not may_fail:
            yield found["trouble"]
        return
    if found.keys() != wanted.keys():
        yield f"{found.keys()} instead of {wanted.keys()}"
    for name, value in wanted.items():
        yield from _value(name, found.get(name), value, close)


def _value(name: str, found, wanted, close: float):
    if isinstance(wanted, list):
        for own, other in zip(found, wanted, strict=True):
            yield from _part(own, other, may_fail=False)
    elif isinstance(wanted, str):
        if found != wanted:
            yield f"{name} is {found!r}, not {wanted!r}"
    elif not math.isclose(found, wanted, rel_tol=0.0, abs_tol=close):
        yield f"{name} is {found!r}, not {wanted!r}"
