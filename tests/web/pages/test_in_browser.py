"""The pages in a real browser: readable by everybody, quiet, and live."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.web.api.answer_schemas import checked_client
from tests.web.pages.conftest import Seen

PAGES = {
    "start": "/",
    "login": "/login",
    "missing": "/panels/p_nothing/board",
    "questions": "{open}/questions",
    "partition": "{open}/questions#add-partition",
    "board": "{open}/board",
    "no results": "{open}/results",
    "closed board": "{closed}/board",
    "discussion": "{closed}/discussion",
    "results": "{closed}/results?from=1&to=3&outcomes=1",
    "people": "{open}/people",
    "influence": "{closed}/influence",
    "next": "{closed}/next",
    "contradictions": "{closed}/next?about=contradictions",
    "scores": "/scores",
}
EXPECTED = {"missing": ["Failed to load resource: the server responded with a status of 404 (Not Found)"]}


@pytest.fixture
def see(chromium, served, panels):
    opened = []

    def go(path, **options):
        opened.append(Seen(chromium, served, path.format(**panels), **options))
        # The page of influence loads itself anew once its table is there.
        opened[-1].page.wait_for_selector("body:not([data-whole=unfinished])")
        return opened[-1]

    yield go
    for each in opened:
        each.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_and_nothing_is_out_of_place(see, name, scheme):
    seen = see(PAGES[name], scheme=scheme, size="desktop" if scheme == "light" else "phone")
    seen.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    found = Axe().run(seen.page).response["violations"]
    assert [(each["id"], each["impact"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
    assert seen.troubles == EXPECTED.get(name, [])
    assert seen.width() <= seen.page.viewport_size["width"]
    seen.page.set_viewport_size({"width": 320, "height": 700})
    assert seen.width() <= 320


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_numbers_of_two_digits_leave_titles_room(see, browser, size):
    panel = new_panel(browser)
    for number in range(1, 12):
        browser.post(f"{panel}/questions", title=f"Question of number {number}")
    browser.post(f"{panel}/judges", names="Ann")
    link = re.search(r"/j/\w+", browser.text)[0]
    for path, number, title in (
        (f"{panel}/questions", ".qlist > li:last-child > .no", ".qlist > li:last-child h3"),
        (link, "h3 .no >> nth=10", "h3 .no + span >> nth=10"),
    ):
        page = see(path, size=size).page
        page.evaluate(
            "for (const each of document.querySelectorAll('.no')) each.innerHTML = `<i>${each.innerHTML}</i>`"
        )
        ends = page.locator(f"{number} >> i").bounding_box()
        begins = page.locator(title).bounding_box()
        assert page.locator(f"{number} >> i").inner_text() == "11"
        assert begins["x"] - (ends["x"] + ends["width"]) >= 4


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_how_a_file_is_read_is_shown_to_everybody(see, tmp_path, size):
    file = tmp_path / "Risiken.csv"
    file.write_text(
        "Risiken 2027;;;\nRisiko;Ann;Bob;Mittelwert\nBrand;0,35;0,4;0,375\nStreik;12 %;20 %;16 %\n", "utf-8"
    )
    seen = see("/", size=size)
    page = seen.page
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_role("heading", name="This is how I read Risiken.csv").wait_for()
    assert "4 answers by 2 judges on 2 events." in page.inner_text("main")
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
    assert seen.width() <= page.viewport_size["width"]


def test_steps_are_shown_as_the_service_reads_them_while_they_are_typed(see, browser):
    seen = see(f"{new_panel(browser)}/questions")
    page = seen.page
    page.locator("summary", has_text="+ Ladder").click()
    form = page.get_by_role("form", name=re.compile("Ladder"))
    lines = ["31 August 2027", "30.4.2027", "6/30/2027", "Sept. 1st, 2027"]
    shown = ["by 30 April", "by 30 June", "by 31 August", "by 1 September"]
    form.locator("textarea").fill("\n".join([*lines, "3/4/2027", "soon"]))
    assert sorted(form.locator("[data-preview] .opt").all_inner_texts()) == sorted([*shown, "by ?"])
    form.locator("textarea").fill("\n".join(lines))
    assert form.locator("[data-preview] .opt").all_inner_texts() == shown
    form.get_by_label("The question, as judges read it").fill("Launch")
    form.get_by_label("The question, as judges read it").press("Enter")
    page.locator(".qlist h3", has_text="Launch").wait_for()
    assert page.locator(".qlist .opt").all_inner_texts() == shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_law_of_chips_is_shown_and_changed_before_it_holds(see, browser, scheme):
    panel = new_panel(browser)
    for title in ("Norvik delivers late", "Teba delivers late", "The project is over budget"):
        browser.post(f"{panel}/questions", title=title)
    seen = see(f"{panel}/questions", scheme=scheme, size="desktop" if scheme == "light" else "phone")
    page = seen.page
    page.locator("summary", has_text="Law by picking questions").click()
    form = page.get_by_role("form", name="+ Law by picking questions")
    form.locator("input[name=relation][value=if]").check()
    form.get_by_role("checkbox", name="The project is over budget").check()
    form.get_by_label("which is the condition").select_option(index=1)
    form.get_by_role("button", name="Show what it says").click()
    form.get_by_role("status").wait_for()
    assert "If “Norvik delivers late”, then “The project is over budget”." in form.get_by_role("status").inner_text()
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
    assert seen.width() <= page.viewport_size["width"]
    field = page.get_by_label("New law")
    assert field.input_value() == "norvik_delivers_late -> project_over_budget"
    field.fill("norvik_delivers_late & teba_delivers_late -> project_over_budget")
    page.get_by_label("In words").fill("If both are late, it costs more")
    page.locator("form", has=field).get_by_role("button", name="Add the law").click()
    page.locator("ul.laws", has_text="If both are late, it costs more").wait_for()
    assert "norvik_delivers_late & teba_delivers_late -> project_over_budget" in page.inner_text("ul.laws")
    assert seen.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_influence_says_why(see, scheme):
    seen = see("{closed}/influence", scheme=scheme, size="desktop" if scheme == "light" else "phone")
    page = seen.page
    page.get_by_label("The number of").select_option(index=2)  # takes effect at once
    page.wait_for_url("**why=e_*")
    assert page.locator("section[aria-labelledby=why] li").count() > 0
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
    assert seen.width() <= page.viewport_size["width"]
    assert seen.troubles == []


@pytest.mark.parametrize("name", ["questions", "people", "board", "discussion", "results", "influence", "next"])
def test_every_control_is_large_enough_for_a_finger(see, name):
    seen = see(PAGES[name], size="phone")
    small = seen.page.evaluate(
        """() => [...document.querySelectorAll('.btn, select, textarea, input')]
          .filter(each => !each.matches('[type=hidden], [type=checkbox], [type=radio]'))  // labels are
          .filter(each => each.getClientRects().length && each.getBoundingClientRect().height < 44)
          .map(each => each.outerHTML.slice(0, 120))"""
    )
    assert small == []


def new_panel(browser, **fields):
    return browser.post("/panels", title="A panel", **fields).url.path.removesuffix("/questions")


def test_a_formula_is_read_while_it_is_typed(see, browser):
    panel = new_panel(browser)
    for event in ("recession & insolvency", "stop"):
        browser.post(f"{panel}/questions", title=event, event=event)
    seen = see(f"{panel}/questions")
    field, said = seen.page.locator("#event-formula"), seen.page.locator("#event-formula-read")
    field.press_sequentially("recession | stop &")
    said.get_by_text("column 19").wait_for()
    assert said.locator(".caret").text_content() == " " * 18 + "^"
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("~(recession -> ~insolvency)")
    said.get_by_text("Means the same as question 1.").wait_for()
    assert seen.page.get_by_role("button", name="Add it all the same").is_visible()
    field.fill("insolvncy")
    said.get_by_role("button", name="insolvency").click()
    assert field.input_value() == "insolvency"
    said.get_by_text("Fine.").wait_for()
    field.fill("")
    seen.page.wait_for_function("document.getElementById('event-formula-read').childElementCount === 0")
    assert seen.troubles == []


def test_options_are_shown_while_they_are_typed(see, browser):
    panel = new_panel(browser)
    seen = see(f"{panel}/questions")
    seen.page.get_by_text("+ Options that share 100 %").click()
    form = seen.page.get_by_role("form", name="+ Options that share 100 %")
    form.get_by_label("The question, as judges read it").fill("Inflation")
    form.get_by_label("What it is about").select_option("ranges")
    form.get_by_label("Options, one on each line").fill("1.5\n2.5 %")
    shown = [text.replace("\u00a0", " ") for text in form.locator(".opt").all_text_contents()]
    assert shown == ["under 1.5 %", "1.5 to 2.5 %", "2.5 % or more"]
    form.get_by_role("button", name="Add the question").click()
    listed = [text.replace("\u00a0", " ") for text in seen.page.locator(".qlist .opt").all_text_contents()]
    assert listed == shown


def test_a_file_that_is_chosen_is_read_at_once(see):
    seen = see("/")
    table = "event,Ann,Bob\nrain,30%,40%\n"
    seen.page.get_by_label("Choose a spreadsheet or the archive of a panel").set_input_files(
        {"name": "weather.csv", "mimeType": "text/csv", "buffer": table.encode()}
    )
    seen.page.get_by_role("heading", name="This is how I read weather.csv").wait_for()
    seen.page.get_by_role("button", name="Use it").click()
    seen.page.wait_for_url(re.compile("/board$"))
    assert seen.page.get_by_role("heading", name="weather").is_visible()


def test_links_are_copied(served, see, browser):
    panel = new_panel(browser, first="Rain")
    seen = see(f"{panel}/questions")
    seen.context.grant_permissions(["clipboard-read", "clipboard-write"])
    seen.page.get_by_label("Names, one on each line").fill("Ann")
    seen.page.get_by_role("button", name="Invite", exact=True).click()
    seen.page.get_by_role("button", name="Copy the link of Ann").click()
    seen.page.get_by_text("Copied").wait_for()
    assert seen.page.evaluate("navigator.clipboard.readText()").startswith(f"{served}/j/")


def test_the_board_shows_an_answer_when_it_arrives(see, served, browser):
    panel = new_panel(browser)
    for event in ("rain", "rain & wind"):
        browser.post(f"{panel}/questions", title=event.capitalize(), event=event)
    browser.post(f"{panel}/judges", names="Ann")
    secret = re.search(r'/j/([^"]+)"', browser.text)[1]
    seen = see(f"{panel}/board")
    seen.page.locator(".lead", has_text="Nobody has answered yet.").wait_for()
    judge = checked_client(base_url=f"{served}/api/v1", headers={"Authorization": f"Bearer {secret}"}, timeout=60.0)
    events = [event["id"] for each in judge.get("/sheet").json()["questions"] for event in each["events"]]
    answers = [{"event": event, "probability": value} for event, value in zip(events, (0.3, 0.36), strict=True)]
    assert judge.post("/sheet/answers", json={"answers": answers}).status_code == 200
    judge.close()
    box = seen.page.locator("[data-live=contradictions]")
    box.get_by_text("Questions 1 and 2 contradict each other.").first.wait_for()
    assert "36" not in box.text_content()  # whose numbers are whose is not shown before the round closes
    assert "1 of 1 contradicts themselves" in seen.page.locator(".lead").text_content()
    assert seen.troubles == []


def test_a_keyboard_reaches_everything_in_order(see):
    seen = see("{open}/board", size="desktop")
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.className") == "skip"
    seen.page.keyboard.press("Enter")
    reached = []
    for _ in range(60):
        seen.page.keyboard.press("Tab")
        reached.append(seen.page.evaluate("document.activeElement.textContent.trim().slice(0, 30)"))
    for name in ("Close round 1", "Ask it", "Invite"):
        assert name in reached


def test_print_is_black_on_white(see):
    seen = see("{closed}/results", scheme="dark")
    seen.page.emulate_media(media="print")
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
