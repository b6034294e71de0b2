"""The launch panel from its first question to its scores: by mouse, without script, on a phone and by keyboard alone.

Thirteen questions are written without a formula, five judges answer on two devices, two rounds are held with reasons
that are read and minds that change, the panel is closed, reported, resolved and scored. The clicks of the
facilitator's mouse are counted and printed.
"""

import re
import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error

from tests.web.api.answer_schemas import checked_client
from tests.web.pages.conftest import PATIENCE, SIZES

MOST_CLICKS = 35
"""Clicks of the review's facilitator, who typed formulas."""
PLAIN = [
    "Norvik delivers late",
    "Teba delivers late",
    "The project is over budget",
    "A rival launches first",
    "The chief designer leaves",
    "The test lab closes",
    "The price is cut",
]
DATES = "2027-04-30\n2027-05-31\n2027-06-30"
NAMES = ["Ann", "Bob", "Cem", "Dana", "Erin"]
CHANCES = {
    "norvik_delivers_late": 40,
    "teba_delivers_late": 30,
    "project_over_budget": 35,
    "rival_launches_first": 20,
    "chief_designer_leaves": 10,
    "test_lab_closes": 5,
    "price_cut": 25,
}
OUTCOMES = {"norvik_delivers_late": "y", "teba_delivers_late": "n", "project_over_budget": "y", "price_cut": "n"}
"""Letters that choose an outcome in a list that has the focus; others stay open."""
MODES = {
    "mouse": {"people": 5},
    "no script": {"java_script_enabled": False},
    "phone": {"size": "phone"},
    "keyboard": {"keyboard": True},
}


class Hand:
    """A person at a page, with a mouse or with the keyboard alone; `clicks` counts those of the mouse."""

    def __init__(self, chromium, address, path, *, size="desktop", keyboard=False, java_script_enabled=True):
        viewport = dict(zip(("width", "height"), SIZES[size], strict=True))
        self.context = chromium.new_context(viewport=viewport, java_script_enabled=java_script_enabled)
        self.address, self.keyboard, self.script = address, keyboard, java_script_enabled
        self.page, self.clicks, self.troubles = self.context.new_page(), 0, []
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("response", self._answered)
        self.go(path)

    def _answered(self, answer):
        if answer.status >= 400:
            self.troubles.append(f"{answer.status} {answer.url}")

    def go(self, path):
        self.page.goto(self.address + path.removeprefix(self.address))

    def press(self, found, key="Enter"):
        """Press a button, a link, a box or what opens more of the page."""
        if self.keyboard:
            found.focus()
            self.page.keyboard.press(key)
        else:
            self.clicks += 1
            found.click()

    def tick(self, found):
        self.press(found, "Space")

    def choose(self, found, steps):
        """Choose the option that is so many steps below the first."""
        if self.keyboard:
            found.focus()
            for _ in range(steps):
                self.page.keyboard.press("ArrowDown")
        else:
            self.clicks += 1
            found.select_option(index=steps)

    def enter(self, field, text):
        """Type into the last field of a form, and send it with Enter."""
        field.fill(text)
        field.press("Enter")
        self.page.wait_for_load_state("load")

    def is_readable(self):
        if not self.script:
            return
        for _ in range(5):
            try:
                found = Axe().run(self.page).response["violations"]
                width = self.page.evaluate("document.documentElement.scrollWidth")
            except Error:  # the page of results loads itself anew when a version arrives
                self.page.wait_for_load_state("load")
            else:
                break
        assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
        assert width <= self.page.viewport_size["width"]


def write_questions(lead):
    """Thirteen questions, none of them as a formula."""
    page = lead.page
    listed = page.locator(".qlist h3")
    for number, title in enumerate(PLAIN, 1):
        lead.enter(page.get_by_role("form", name="New question").get_by_label("The question, as judges read it"), title)
        listed.nth(number - 1).wait_for()
    for name, shape, title, lines in (
        ("+ Options that share 100 %", 1, "Units sold", "20000\n40000"),
        ("+ Ladder", 0, "Launch", DATES),
        ("+ Ladder", 2, "Cost in thousands", "500\n800"),
    ):
        lead.press(page.locator("summary", has_text=name))
        form = page.get_by_role("form", name=re.compile(re.escape(name)))
        if shape:
            lead.choose(form.get_by_label("What it is about"), shape)
        form.locator("textarea").fill(lines)
        lead.enter(form.get_by_label("The question, as judges read it"), title)
        page.locator(".qlist").get_by_role("heading", name=title, exact=True).wait_for()
    june = "Launch: by 30 June"
    for way, picks, given, turned, title in (
        ("both", PLAIN[:2], None, False, "Both suppliers deliver late"),
        ("if", [june], 1, False, "Launch by 30 June if Norvik is late"),
        ("if", [june], 1, True, "Launch by 30 June if Norvik is on time"),
    ):
        lead.press(page.locator("summary", has_text="Combine questions"))
        form = page.get_by_role("form", name=re.compile("Combine questions"))
        if way != "both":
            lead.tick(form.locator(f"input[name=join][value={way}]"))
        for pick in picks:
            lead.tick(form.get_by_role("checkbox", name=pick))
        if given is not None:
            lead.choose(form.locator("select[name=given]"), given)
        if turned:
            lead.choose(form.locator("select[name=given-turn]"), 1)
        lead.enter(form.locator("input[name=title]"), title)
        page.locator(".qlist").get_by_role("heading", name=title, exact=True).wait_for()
    assert listed.count() == 13


def number_of(text, person):
    """What a judge says about an event, in per cent; the second judge contradicts themselves once."""
    shift = 4 * (person - 2)
    if text in CHANCES:
        return max(1, CHANCES[text] + shift // 2)
    if "given" in text:
        return 30 + shift if "~" not in text else 70 + shift
    if "norvik" in text:
        return 60 if person == 1 else 12 + shift // 4
    if text.startswith("units"):
        return 30 if "<" in text and ">" not in text else 45 if "&" in text else 25
    if text.startswith("launch"):
        return {"2027-04-30": 20, "2027-05-31": 40, "2027-06-30": 60}[text[-10:]] + shift
    return 60 + shift if "500" in text else 20 + shift


class Judge:
    """A judge at the page, or a program that answers in their place."""

    def __init__(self, served, link, person):
        self.served, self.link, self.person = served, link, person
        self.api = checked_client(
            base_url=f"{served}/api/v1", headers={"Authorization": f"Bearer {link.rpartition('/')[2]}"}, timeout=60.0
        )

    def events(self):
        questions = self.api.get("/sheet").json()["questions"]
        return {event["id"]: event["event"] for each in questions for event in each["events"]}

    def answer_by_program(self):
        given = [{"event": e, "probability": number_of(text, self.person) / 100} for e, text in self.events().items()]
        self.api.post("/sheet/answers", json={"answers": given}).raise_for_status()
        self.api.post("/sheet/hand-in").raise_for_status()

    def answer_at_the_page(self, hand):
        page, texts = hand.page, self.events()
        if hand.script:
            page.wait_for_selector("body[data-ready]")
        hand.is_readable()
        for event, text in texts.items():
            page.locator(f"input[name=a-{event}]").fill(str(number_of(text, self.person)))
        first = page.locator("#q1")
        hand.press(first.locator(".why > summary"))
        first.locator("textarea").fill(f"Reason {self.person}: their last three parts came late.")
        page.locator(f"input[name=a-{list(texts)[-1]}]").press("Enter")
        self.saved(hand)
        clash = page.locator(".note .clash").first
        if self.person == 1:
            clash.wait_for()
            key = clash.get_attribute("data-clash")
            hand.press(clash.get_by_role("button", name="Make it fit"))
            page.locator(f'.note [data-clash="{key}"]').wait_for(state="detached")
        self.hand_in(hand)

    def saved(self, hand):
        if hand.script:
            hand.page.wait_for_function(
                "() => /^Saved/.test(document.querySelector('.thumbbar [data-saved]').innerText)"
            )
        else:
            hand.page.wait_for_load_state("load")

    def hand_in(self, hand):
        below = hand.page.locator(".thumbbar [name=hand_in]")  # on a phone the bar at the bottom has the button
        hand.press(below if below.is_visible() else hand.page.locator(".handin [name=hand_in]"))
        hand.page.locator("#handed", has_text="handed in").wait_for()

    def revise(self, hand):
        """Read the others' reasons, change the mind, and change the number where one reads why."""
        page = hand.page
        hand.go("/sheet")
        if hand.script:
            page.wait_for_selector("body[data-ready]")
        hand.is_readable()
        topic = page.locator("#q1")
        topic.locator(".says", has_text="Reason").first.wait_for()
        hand.press(topic.get_by_role("button", name="This changed my mind").first)
        topic.locator("[name=unmind]").first.wait_for()
        if hand.script:
            page.wait_for_selector("body[data-ready]")
        field = topic.locator("input[data-event]").first
        field.fill("55")
        field.press("Enter")
        self.saved(hand)
        self.hand_in(hand)


def newest(lead, panel):
    for _ in range(int(4 * PATIENCE)):
        found = lead.context.request.get(f"{lead.address}/api/v1{panel}/aggregations").json()["aggregations"]
        if found and not any(each["status"] in ("queued", "running") for each in found):
            return found[0]
        time.sleep(0.25)
    raise AssertionError(found)


@pytest.mark.parametrize("mode", MODES)
def test_the_launch_panel(chromium, served, mode):
    options = dict(MODES[mode])
    at_pages = options.pop("people", 2)
    lead = Hand(chromium, served, "/", **options)
    page = lead.page
    lead.enter(page.get_by_label("Name"), f"The Halo launch ({mode})")
    panel = re.search(r"/panels/p_\w+", page.url)[0]
    write_questions(lead)
    lead.is_readable()
    page.get_by_label("Names, one on each line").fill("\n".join(NAMES))
    lead.press(page.get_by_role("button", name="Invite", exact=True))
    links = [page.get_by_label(name, exact=True).input_value() for name in NAMES]

    judges = [Judge(served, link, person) for person, link in enumerate(links)]
    hands = []
    for judge in judges:
        if judge.person >= at_pages:
            judge.answer_by_program()
            continue
        device = options.get("size") or ("phone" if judge.person % 2 else "desktop")
        hands.append(Hand(chromium, served, judge.link, **{**options, "size": device}))
        judge.answer_at_the_page(hands[-1])

    lead.press(page.get_by_role("link", name="Board"))
    page.locator(".lead", has_text="5 judges have handed in").wait_for()
    lead.press(page.get_by_role("button", name="Close round 1"))
    lead.press(page.get_by_role("button", name="Open the revision"))
    page.get_by_role("button", name="Close the panel").wait_for()
    for judge, hand in zip(judges, hands, strict=False):
        judge.revise(hand)
    lead.press(page.get_by_role("button", name="Close the panel"))
    version = newest(lead, panel)
    lead.press(page.get_by_role("link", name="Look at the results"))
    check_end(lead, panel, version, judges, hands)
    print(f"{mode}: the facilitator clicked {lead.clicks} times")
    assert lead.clicks < MOST_CLICKS
    assert lead.troubles == []
    for hand in (lead, *hands):
        hand.context.close()
    for judge in judges:
        judge.api.close()


def check_end(lead, panel, version, judges, hands):
    """Report, outcomes, scores and influence for the facilitator; result and score for the judges."""
    page = lead.page
    lead.is_readable()
    with page.expect_download() as waiting:
        lead.press(page.get_by_role("link", name="Download the report"))
    assert waiting.value.suggested_filename == "report.html"
    lead.press(page.locator("summary", has_text="Enter outcomes"))
    listed = lead.context.request.get(f"{lead.address}/api/v1{panel}/questions").json()["questions"]
    ids = {event["event"]: event["id"] for each in listed for event in each["events"]}
    for text, letter in OUTCOMES.items():
        page.locator(f"#o-{ids[text]}").press(letter)
    page.locator(f"#o-{ids['launch <= 2027-05-31']}").press("y")
    page.locator(".outs ~ div button").press("Enter")
    page.locator("h2", has_text="Accuracy").wait_for()
    lead.is_readable()
    scores = lead.context.request.get(f"{lead.address}/api/v1{panel}/aggregations/{version['id']}/scores").json()
    assert {each["name"] for each in scores["judges"]} == set(NAMES)
    assert scores["coherent"]["per_answer"] <= scores["average"]["per_answer"] + 1e-9
    lead.press(page.get_by_role("link", name="Influence"))
    page.locator("h2", has_text="Points moved when left out").wait_for()
    lead.is_readable()
    for judge, hand in zip(judges, hands, strict=False):
        hand.go(judge.link)
        hand.page.locator("h2", has_text="Your score").wait_for()
        hand.is_readable()
        assert hand.troubles == []
