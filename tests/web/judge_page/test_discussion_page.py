"""The judge's page while the panel talks, and after it is closed: with script, and as a form."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from coherently.web.jobs.job_watch import run_next
from tests.web.judge_page.test_judge_page import NBSP, PHONE, WIDE, Sheet

REASON = "Their bank has not renewed the credit line."


@pytest.fixture
def talking(panel):
    """Alice and two others have answered, and the revision is open."""
    panel.answer(recession=30, cut=55, both=20, inf1=10, inf2=50, inf3=30, inf4=10, t1=10, t2=20, t3=30, t4=40, ins=20)
    for number, name in enumerate(("Bob", "Cid")):
        secret = panel.api.post(f"/panels/{panel.id}/judges", json={"name": name}).json()["secret"]
        client = panel.workshop.client(secret)
        numbers = {"recession": 0.6 + number / 10, "ins": 0.35, "t4": 0.7, "inf2": 0.55}
        drafts = [
            {"event": panel.events[event], "probability": value, "reason": REASON if event == "ins" and number else ""}
            for event, value in numbers.items()
        ]
        client.post("/sheet/answers", json={"answers": drafts}).raise_for_status()
        client.close()
    panel.advance("discussion", hide_numbers=False)
    panel.advance("revision", hide_numbers=False)
    return panel


@pytest.fixture
def open_talk(chromium, talking):
    opened = []

    def make(**options):
        opened.append(Sheet(chromium, talking, **options))
        return opened[-1]

    yield make
    assert [sheet.close() for sheet in opened] == [[]] * len(opened)


def plain(text):
    return text.replace(NBSP, " ")


def violations(page):
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    return [
        (each["id"], [node["html"][:160] for node in each["nodes"]]) for each in Axe().run(page).response["violations"]
    ]


def test_a_judge_revises_where_the_reasons_are(open_talk):
    sheet = open_talk()
    page = sheet.page
    assert page.locator("article.dq").first.get_attribute("id") == "q1"  # the widest disagreement first
    first = plain(page.locator("#q1").inner_text())
    assert "From 30 to 70 %, middle 60 %. You: 30 %. 3 answers." in first
    assert page.locator("#q1 .dotrow circle.dot").count() == 2
    sheet.type("recession", "45")
    sheet.settled(recession=45)
    assert "was 30 %" in plain(sheet.row("recession").inner_text())
    assert page.locator("[data-moved]").inner_text() == "You have changed 1 number"
    page.locator(".quiet-topics > summary").click()
    sheet.type("both", "50")  # above the 45 % of a recession
    sheet.says(3, "cannot be likelier than a recession alone (45 %)")
    sheet.row("recession").get_by_role("button", name="Undo").click()
    sheet.settled(recession=30)
    assert not sheet.row("recession").locator(".moved").is_visible()
    voice = page.locator("#q6 .says li").first
    assert f"Somebody at 35 %. {REASON}" in plain(voice.inner_text())
    voice.get_by_role("button", name="This changed my mind").click()
    voice.get_by_role("button", name="Changed my mind · 1 mind").wait_for()
    sheet.ready()
    voice.locator("summary", has_text="Reply").click()
    voice.get_by_label("Reply, shown without your name").fill("Since when?")
    voice.get_by_role("button", name="Send the reply").click()
    page.locator("#q6 .says").get_by_text("Since when?").wait_for()
    for name in ("Bob", "Cid"):
        assert name not in page.content()


@pytest.mark.parametrize("options", [{"viewport": WIDE}, {"viewport": PHONE, "color_scheme": "dark"}])
def test_axe_is_silent_in_the_discussion_and_at_the_end(open_talk, talking, options):
    sheet = open_talk(**options)
    sheet.type("recession", "10")  # below the 20 % of question 3, which is among those that are not shown
    sheet.page.locator("#q3 .clash").wait_for()
    assert violations(sheet.page) == []
    wide = options["viewport"]["width"]
    assert sheet.page.evaluate("document.documentElement.scrollWidth") <= wide
    sheet.settled(recession=10)
    talking.advance("closed", hide_numbers=False)
    talking.api.post(f"/panels/{talking.id}/aggregations", json={}).raise_for_status()
    while run_next(talking.workshop.store, "tests"):
        pass
    talking.api.post(f"/panels/{talking.id}/outcomes", json={"event": "recession", "outcome": True}).raise_for_status()
    sheet.page.goto(talking.link)
    text = plain(sheet.page.inner_text("main"))
    assert "Thank you, Alice. This is what the panel says" in text
    assert "It stood until the end. Your answers were counted as you gave them." in text
    assert "You 0.810" in " ".join(text.split())  # (0.1 - 1) squared
    assert violations(sheet.page) == []
    assert sheet.page.evaluate("document.documentElement.scrollWidth") <= wide


def press(page, button):
    """Press a button of the form, and wait for the page that it leads to."""
    with page.expect_navigation():
        button.click()


def test_the_discussion_is_a_form(open_talk, talking):
    sheet = open_talk(java_script_enabled=False)
    page = sheet.page
    sheet.field("recession").fill("45")
    voice = page.locator("#q6 .says li").first
    press(page, voice.get_by_role("button", name="This changed my mind"))  # what was typed is kept, too
    assert talking.answers()["recession"] == 45
    assert "was 30 %" in plain(sheet.row("recession").inner_text())
    press(page, voice.get_by_role("button", name="Changed my mind", exact=False))
    assert voice.get_by_role("button", name="This changed my mind").is_visible()
    press(page, sheet.row("recession").get_by_role("button", name="Undo"))
    assert talking.answers()["recession"] == 30
    page.locator("#q1 .why summary").click()
    page.locator("#q1 .why textarea").fill("Orders fall.")
    press(page, page.locator(".handin [data-hand]"))
    told = {one["event"]: one["reason"] for one in talking.alice.get("/sheet").json()["answers"]}
    assert told[talking.events["recession"]] == "Orders fall."
    talking.advance("revision", hide_numbers=True)
    page.reload()
    assert page.locator("circle.dot").count() == 0
    assert "The numbers of the others are hidden." in page.locator("#q1").inner_text()
    assert "Somebody." in page.locator("#q6 .says").inner_text()
