"""Practice before the first round: nothing of it is kept, and it says how well calibrated somebody was."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from coherently.web.catalogue.practice_facts import FACTS
from tests.web.pages.conftest import Browser, Seen


def test_there_are_enough_facts_and_each_set_has_both_kinds():
    assert len(FACTS) >= 30
    assert len({fact.text for fact in FACTS}) == len(FACTS)
    assert all(fact.source and fact.text.endswith(".") for fact in FACTS)
    for first in range(0, len(FACTS), 10):
        assert 2 <= sum(fact.is_true for fact in FACTS[first : first + 10]) <= 8


@pytest.fixture
def link(browser):
    panel = browser.post("/panels", title="Practice", first="Rain").url.path.removesuffix("/questions")
    browser.post(f"{panel}/judges", names="Ann")
    return re.sub(r"^http://[^/]+", "", re.search(r'value="(http[^"]*/j/[^"]+)"', browser.text)[1])


def test_guesses_are_looked_at_and_go_along_in_the_form(served, link):
    with Browser(served) as ann:
        assert 'href="/sheet/practice"' in ann.get(link).text
        ann.get("/sheet/practice")
        sure = {f"p-{n}": "100" if FACTS[n - 1].is_true else "0" for n in range(1, 10)}
        ann.post("/sheet/practice", seen="0", **sure | {"p-10": "0" if FACTS[9].is_true else "100"})
        said = ann.text.replace("\u00a0", " ")
        assert "You were surer than right: on average 100 % sure, and right in 90 % of 10." in said
        assert "Brier score 0.100" in said
        assert FACTS[0].source in said
        assert "Statements 11 to 20 of 40" in said
        carried = dict(re.findall(r'type="hidden" name="(p-\d+)" value="([^"]*)"', ann.text))
        assert len(carried) == 10
        half = {f"p-{n}": "50" for n in range(11, 21)}
        ann.post("/sheet/practice", seen="10", **carried | half)
        said = ann.text.replace("\u00a0", " ")
        assert "on average 75 % sure, and right in 70 % of 20." in said
        assert FACTS[0].source not in said
        assert ann.post("/sheet/practice", seen="20", **{"p-21": "many"}).status_code == 422
        assert "Statements 21 to 30" in ann.text
        sheet = ann.client.get("/api/v1/sheet").json()
        assert (sheet["answers"], sheet["saved"]) == ([], None)
    with Browser(served) as stranger:
        assert stranger.get("/sheet/practice").status_code == 401


def test_the_page_of_practice_is_readable_by_everybody(chromium, served, link):
    for scheme, size in (("light", "desktop"), ("dark", "phone")):
        seen = Seen(chromium, served, link, scheme=scheme, size=size)
        seen.page.goto(f"{served}/sheet/practice")
        for _ in range(2):
            found = Axe().run(seen.page).response["violations"]
            assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
            assert seen.width() <= seen.page.viewport_size["width"]
            seen.page.locator("input[type=text]").first.fill("70")
            seen.page.keyboard.press("Enter")
            seen.page.get_by_role("heading", name="So far").wait_for()
        assert seen.troubles == []
        seen.context.close()
