"""Drawing a distribution: without script, with a mouse and by keyboard; and what is shown of the result."""

import re
import time

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.web.pages.conftest import Browser, Seen


@pytest.fixture
def asked(browser):
    """The address of a panel about a number and a date, and the links of two judges."""
    panel = browser.post("/panels", title="Drawn").url.path.removesuffix("/questions")
    browser.post(f"{panel}/questions", title="Units", kind="partition", shape="ranges", lines="20000\n40000")
    browser.post(f"{panel}/questions", title="Due", kind="ladder", shape="dates", lines="2027-04-30\n2027-06-30")
    browser.post(f"{panel}/judges", names="Ann\nBob")
    return panel, [
        re.sub(r"^http://[^/]+", "", link) for link in re.findall(r'value="(http[^"]*/j/[^"]+)"', browser.text)
    ]


def typed(text):
    return re.findall(r'name="a-e_\w+" value="([^"]*)"', text)


def test_three_numbers_and_a_histogram_without_script(served, asked):
    _, links = asked
    with Browser(served) as ann:
        ann.get(links[0])
        units, due = re.findall(r'data-question="(q_\w+)"', ann.text)
        three = dict(zip(("low", "middle", "high"), ("10000", "30 000", "50000"), strict=True))
        ann.post(
            "/sheet", draw=f"quantiles:{units}", **{f"draw-{name}-{units}": value for name, value in three.items()}
        )
        assert "Your answers to question 1 are those of your drawing." in ann.text
        assert typed(ann.text)[:3] == ["30", "40", "30"]
        heights = {f"draw-{i}-{due}": str(i % 2) for i in range(10)}
        ends = {f"draw-first-{due}": "2027-03-31", f"draw-last-{due}": "2027-07-09"}
        ann.post("/sheet", draw=f"bins:{due}", **heights, **ends)
        # 100 days in ten bins of which every second counts: 30 April ends the third, 30 June is 1 of 10 into the tenth.
        assert typed(ann.text)[3:] == ["20", "82"]
        assert ann.text.count("your answers above come from it") == 2
        for wrong in ({f"draw-low-{units}": "many"}, {f"draw-low-{units}": "90000"}):
            fields = {f"draw-{name}-{units}": value for name, value in three.items()} | wrong
            answer = ann.post("/sheet", draw=f"quantiles:{units}", **fields)
            assert answer.status_code == 422
            assert next(iter(wrong.values())) in ann.text  # what was typed is still there
        ann.get("/sheet")
        assert typed(ann.text)[:3] == ["30", "40", "30"]


def test_a_histogram_is_drawn_with_a_mouse_and_by_keyboard(chromium, served, asked, browser):
    panel, links = asked
    for scheme, size, link in (("light", "desktop", links[0]), ("dark", "phone", links[1])):
        seen = Seen(chromium, served, link, scheme=scheme, size=size)
        page = seen.page
        page.wait_for_selector("body[data-ready]")
        page.locator("#q1 .draw > summary").focus()
        page.keyboard.press("Enter")
        heights = page.locator("#q1 .heights input")
        if size == "desktop":
            page.locator("#q1 [data-bars]").evaluate(
                "each => each.scrollIntoView({ block: 'center', behavior: 'instant' })"
            )
            box = page.locator("#q1 [data-bars]").bounding_box()
            page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
            page.mouse.down()
            page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=40)
            page.mouse.up()
            assert {each.input_value() for each in heights.all()} == {"50"}
        else:
            heights.first.focus()
            for _ in range(10):
                page.keyboard.press("ArrowUp")
                page.keyboard.press("Tab")
            assert {each.input_value() for each in heights.all()} == {"1"}
        found = Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
        assert seen.width() <= page.viewport_size["width"]
        page.locator("#q1").get_by_role("button", name="Use this histogram").press("Enter")
        page.get_by_text("Your answers to question 1 are those of your drawing.").wait_for()
        page.wait_for_selector("body[data-ready]")
        shown = [each.input_value() for each in page.locator("#q1 input[data-event][type=text]").all()]
        assert shown == ["33.3", "33.4", "33.3"]  # from 0 to 60,000, all equally likely
        assert seen.troubles == []
        seen.context.close()
    browser.get(f"{panel}/board")
    browser.post(f"{panel}/rounds", phase="closed")
    for _ in range(120):
        if "As distributions" in browser.get(f"{panel}/results").text:
            break
        time.sleep(0.25)
    assert "As likely below about 30,000 as above." in browser.text
    with Browser(served) as ann:
        assert "As distributions" in ann.get(links[0]).text
