"""Everything that a form can do works without script, and nothing that people write does anything on a page."""

import io
import json
import re
import subprocess
import sys
import time
import zipfile
from html import unescape

import pytest

import coherently as co
from tests.panel.worksheets.spreadsheets import MEAN, cells, workbook
from tests.report.pages import printed_by, verifying_code_of
from tests.web.pages.conftest import Browser

HOSTILE = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 * 7 }}"


def new_panel(browser, title="A panel", **fields):
    browser.get("/")
    answer = browser.post("/panels", title=title, **fields)
    assert answer.status_code == 200
    return re.fullmatch(r"(/panels/p_\w+)/questions", answer.url.path)[1]


def words(text):
    """What a page says, without its marks."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def test_a_panel_with_its_first_question(browser):
    new_panel(browser, "Outlook", first="The euro area is in recession in 2027")
    assert "1 question makes 1 event." in words(browser.text)
    assert "The euro area is in recession in 2027" in browser.text
    assert "<code>euro_area_recession</code>" in browser.text


def test_a_tag_is_given_shown_and_changed(browser):
    panel = new_panel(browser, "Outlook", tag=f" eco {HOSTILE[:20]} ")
    assert words(browser.text).count("eco </title>") == 1
    assert "<script>alert" not in browser.text
    for tab in ("questions", "board", "discussion", "results"):
        browser.get(f"{panel}/{tab}")
        answer = browser.post(panel, tag=f"economy {tab}", tab=tab)
        assert answer.url.path == f"{panel}/{tab}"
        assert f'<span class="chip tag">economy {tab}</span>' in browser.text
    browser.get("/")
    assert '<span class="chip tag">economy results</span>' in browser.text
    browser.get(f"{panel}/questions")
    answer = browser.post(panel, tag="x" * 41, tab="questions")
    assert answer.status_code == 422
    assert "Tag is too long: at most 40 characters." in words(browser.text)
    browser.get(f"{panel}/questions")
    assert 'value="economy results"' in browser.text
    browser.post(panel, tag="", tab="questions")
    assert "chip tag" not in browser.text


def test_a_panel_needs_a_name(browser):
    browser.get("/")
    answer = browser.post("/panels", title="  ", first="kept")
    assert answer.status_code == 422
    assert "The title is empty." in words(browser.text)
    assert 'value="kept"' in browser.text


def test_questions_are_added_edited_and_withdrawn(browser):
    panel = new_panel(browser)
    browser.post(f"{panel}/questions", title="Rain", event="rain")
    browser.post(f"{panel}/questions", title="Rain and wind", event="rain & wind", group="Weather")
    options = {"kind": "partition", "shape": "named", "lines": "Ann\nBob", "variable": "winner"}
    browser.post(f"{panel}/questions", title="Who wins?", **options)
    browser.post(f"{panel}/questions", title="Late", kind="ladder", shape="dates", lines="2027-01-31\n2027-02-28")
    said = words(browser.text)
    assert "4 questions make 6 events. Nothing is asked twice." in said
    assert "Question 4 is on the sheet." in said
    assert "by 31 January" in said
    question = re.search(r'<li id="(q_\w+)"><span class="no">2', browser.text)[1]
    browser.get(f"{panel}/questions?edit={question}")
    assert 'value="Rain and wind"' in browser.text
    browser.post(f"{panel}/questions/{question}", title="Rain, and wind", definition="Both.", group="")
    assert "Rain, and wind" in browser.text
    browser.post(f"{panel}/questions/{question}", withdraw="1")
    assert "Rain, and wind" not in browser.text


def test_questions_are_moved_copied_changed_and_asked_again(browser):
    panel = new_panel(browser)
    for event in ("rain", "wind", "rain & wind"):
        browser.post(f"{panel}/questions", title=event.capitalize(), event=event)

    def listed():
        return re.findall(
            r'<li id="(q_\w+)"><span class="no">\d+</span><div>.*?<h3>([^<]+)</h3>', browser.text, re.DOTALL
        )

    ids = {title: name for name, title in listed()}
    browser.post(f"{panel}/questions/{ids['Rain &amp; wind']}", place="1")
    assert [title for _, title in listed()] == ["Rain &amp; wind", "Rain", "Wind"]
    browser.post(f"{panel}/questions/{ids['Wind']}", withdraw="1")
    assert "Ask it again after all" in browser.text
    browser.post(f"{panel}/questions/{ids['Wind']}", restore="1")
    assert [title for _, title in listed()] == ["Rain &amp; wind", "Rain", "Wind"]
    browser.post(f"{panel}/questions/{ids['Rain']}", copy="1")
    copy = listed()[2][0]
    event = re.search(r'name="event-(e_\w+)" value="rain"', browser.text)[1]
    fields = {f"event-{event}": "rain | wind", f"short-{event}": "either"}
    browser.post(f"{panel}/questions/{copy}", title="Rain or wind", **fields)
    assert "<code>rain | wind</code>" in browser.text
    assert "Nothing is asked twice." in words(browser.text)
    browser.get(f"{panel}/questions?undo={copy}/../laws")
    assert "Ask it again after all" not in browser.text  # no address is made of what is no id


def test_a_panel_is_renamed_copied_deleted_and_brought_back(browser):
    panel = new_panel(browser, "Outlok", first="Rain")
    browser.post(panel, title="Outlook", tag="", tab="questions")
    assert "<h1>Outlook</h1>" in browser.text
    assert browser.post(f"{panel}/copy").url.path != f"{panel}/questions"
    assert "<h1>Copy of Outlook</h1>" in browser.text
    assert "1 question makes 1 event." in words(browser.text)
    browser.post(f"{panel}/delete")
    assert f'href="{panel}"' not in browser.text
    assert "The panel is deleted" in words(browser.text)
    browser.post(f"{panel}/restore")
    assert "<h1>Outlook</h1>" in browser.text
    assert "The panel is back" in words(browser.text)


def test_a_panel_is_put_aside_and_taken_back(browser):
    def listed():
        """Where the start page has the panel: above or below the line that opens what was put aside."""
        above, _, below = browser.get("/").text.partition("put aside</summary>")
        return f'href="{panel}"' in above, f'href="{panel}"' in below

    panel = new_panel(browser, "Of last year", first="Rain")
    assert listed() == (True, False)
    browser.post(f"{panel}/aside")
    assert "The panel is put aside" in words(browser.text)
    assert f'action="{panel}/restore"' in browser.text  # undo
    assert listed() == (False, True)
    browser.get(f"{panel}/questions")
    assert "Take it back" in words(browser.text)
    browser.post(f"{panel}/restore")
    assert "The panel is back" in words(browser.text)
    assert listed() == (True, False)


def test_a_name_that_nothing_else_uses_is_asked_about_until_it_is_resolved(browser):
    panel = new_panel(browser)
    for event in ("norvik", "norvik & strike", "norvic & strike", "frost"):
        browser.post(f"{panel}/questions", title=event.capitalize(), event=event)
    browser.get(f"{panel}/questions")
    said = words(browser.text)
    assert "“norvic” is used nowhere else. Did you mean “norvik”?" in said
    assert "Nothing else uses “frost”. Answers to this question cannot be checked against any other." in said
    browser.post(f"{panel}/names", name="norvic", near="norvik")
    assert "<code>norvic &amp; strike</code>" not in browser.text
    assert "“norvic”" not in words(browser.text)
    browser.post(f"{panel}/names", name="frost")
    assert "Nothing else uses" not in words(browser.text)


def test_questions_are_built_by_picking_others(browser):
    panel = new_panel(browser)
    for title in ("Norvik delivers late", "Teba delivers late", "The project is over budget"):
        browser.post(f"{panel}/questions", title=title)
    picks = list(dict.fromkeys(re.findall(r'name="pick-(e_\w+)"', browser.text)))
    assert len(picks) == 3
    chosen = {f"pick-{picks[0]}": "1", f"pick-{picks[2]}": "1"}
    browser.post(f"{panel}/questions", kind="combine", join="both", show="1", **chosen)
    said = words(browser.text)
    assert "This asks: How likely is it: “Norvik delivers late” and “The project is over budget”?" in said
    assert "<code>norvik_delivers_late &amp; project_over_budget</code>" in browser.text
    assert browser.text.count("checked") >= 3  # what was picked stays picked
    assert "3 questions make 3 events." in said  # nothing was added yet
    turned = {f"turn-{picks[2]}": "not"}
    browser.post(f"{panel}/questions", kind="combine", join="both", title="Late, and within budget", **chosen, **turned)
    assert "<code>norvik_delivers_late &amp; ~project_over_budget</code>" in browser.text
    given = {"given": picks[1], "given-turn": "not", f"pick-{picks[0]}": "1"}
    browser.post(f"{panel}/questions", kind="combine", join="if", **given)
    assert "<code>norvik_delivers_late given ~teba_delivers_late</code>" in browser.text
    assert "If not “Teba delivers late”: how likely is “Norvik delivers late”?" in words(browser.text)
    every = {f"pick-{name}": "1" for name in picks}
    browser.post(f"{panel}/questions", kind="combine", join="at-least", least="2", **every)
    assert "at_least(2; norvik_delivers_late, teba_delivers_late, project_over_budget)" in browser.text
    answer = browser.post(f"{panel}/questions", kind="combine", join="not", **every)
    assert answer.status_code == 422
    assert "“Not” takes exactly one question" in words(browser.text)


def test_laws_are_built_by_picking_questions_and_their_formula_can_be_changed(browser):
    panel = new_panel(browser)
    for title in ("Norvik delivers late", "Teba delivers late", "The project is over budget"):
        browser.post(f"{panel}/questions", title=title)
    norvik, teba, budget = dict.fromkeys(re.findall(r'name="pick-(e_\w+)"', browser.text))
    sent = {"relation": "if", "given": norvik, f"pick-{budget}": "1"}
    browser.post(f"{panel}/laws", show="1", **sent)
    assert "This says: If “Norvik delivers late”, then “The project is over budget”." in words(browser.text)
    assert 'name="statement" value="norvik_delivers_late -&gt; project_over_budget"' in browser.text
    assert f'name="turn-{budget}"' in browser.text  # a part can be turned round now
    assert browser.client.get(f"/api/v1{panel}/laws").json()["laws"] == []  # nothing holds yet
    browser.post(f"{panel}/laws", show="1", **sent | {"relation": "same", f"pick-{norvik}": "1"})
    assert "This says: “Norvik delivers late” and “The project is over budget” mean the same." in words(browser.text)
    browser.post(f"{panel}/laws", **sent, **{f"turn-{budget}": "not"})
    browser.post(f"{panel}/laws", relation="exactly-one", **{f"pick-{each}": "1" for each in (teba, budget)})
    assert [
        (each["statement"], each["title"]) for each in browser.client.get(f"/api/v1{panel}/laws").json()["laws"]
    ] == [
        (
            "norvik_delivers_late -> ~project_over_budget",
            "If “Norvik delivers late”, then not “The project is over budget”.",
        ),
        (
            "exactly(1; teba_delivers_late, project_over_budget)",
            "Exactly one of these comes true: “Teba delivers late” and “The project is over budget”.",
        ),
    ]
    clash = {"relation": "same", f"pick-{teba}": "1", f"pick-{budget}": "1"}
    browser.post(f"{panel}/laws", show="1", **clash)
    assert "This contradicts “exactly(1; teba_delivers_late, project_over_budget)”." in words(browser.text)
    assert browser.post(f"{panel}/laws", **clash).status_code == 422
    assert "<code>teba_delivers_late &lt;-&gt; project_over_budget</code>" not in browser.text
    assert browser.post(f"{panel}/laws", relation="not-both", **{f"pick-{teba}": "1"}).status_code == 422
    assert "Pick exactly two questions." in words(browser.text)


def test_numbers_are_shown_back_before_they_are_saved(browser):
    panel = new_panel(browser)
    sent = {"kind": "partition", "shape": "ranges", "title": "Units sold", "variable": "sales"}
    browser.post(f"{panel}/questions", show="1", lines="40 000\n20.000,5", **sent)
    said = words(browser.text)
    assert "under 20,000.5" in said
    assert "20,000.5 to 40,000" in said
    assert "No question yet." in said
    browser.post(f"{panel}/questions", title="Sales above 50,000", event="profit > 50000")  # the form makes the number
    assert "<code>profit &gt; 50000</code>" in browser.text


def test_small_things_that_annoyed(browser):
    panel = new_panel(browser)
    browser.post(f"{panel}/questions", title="Rain", event="rain", group="Weather")
    browser.post(f"{panel}/questions", title="Prices", event="prices")
    browser.post(f"{panel}/questions", title="Wind", event="wind & rain", group="Weather")
    assert browser.text.count('<li class="grouphead">Weather</li>') == 1  # a heading is there once
    browser.post(f"{panel}/laws", statement="rain & ~rain")
    assert "can never be true:." not in words(browser.text)
    assert "rain & ~rain" in words(browser.text)
    answer = browser.post(f"{panel}/rounds", phase="private", closes_at="2020-01-02T17:00")
    assert answer.status_code == 422
    assert "a time that lies ahead" in words(browser.text)
    browser.post(f"{panel}/judges", names="Ann")
    for part in ("judges", "laws", "rounds", "comments", "outcomes"):
        assert browser.get(f"{panel}/{part}").status_code == 200  # a reload after a form
    browser.get(f"{panel}/board")
    assert "Copy a reminder for 1" in words(browser.text)
    for phase in ("discussion", "revision", "closed"):
        browser.post(f"{panel}/rounds", phase=phase)
    assert "Copy a reminder" not in words(browser.text)
    assert browser.post(f"{panel}/comments", text="Too late.").status_code == 422
    assert 'name="text"' not in browser.get(f"{panel}/discussion").text


def test_no_page_dies_of_a_question_that_cannot_be_suggested(browser):
    """Two questions of nine variables each: together they have more than a formula may have."""
    panel = new_panel(browser)
    for letter in "vw":
        event = " & ".join(f"{letter}{number}" for number in range(9))
        browser.post(f"{panel}/questions", title=f"All of {letter}", event=event)
    browser.post(f"{panel}/judges", names="Ann")
    with Browser(str(browser.client.base_url)) as ann:
        events = re.findall(r'name="a-(e_\w+)"', ann.get(re.search(r"/j/\w+", browser.text)[0]).text)
        assert ann.post("/sheet", **{f"a-{event}": "40" for event in events}).status_code == 200
    for page in ("questions", "people", "board", "discussion", "results", "influence", "next"):
        assert browser.get(f"{panel}/{page}").status_code == 200
    assert browser.post(f"{panel}/rounds", phase="discussion").status_code == 200
    assert "Discussion" in browser.get(f"{panel}/board").text


def test_a_board_writes_out_some_contradictions_of_each_judge(browser):
    """So that the page of many judges who contradict themselves everywhere stays small."""
    panel = new_panel(browser)
    browser.post(f"{panel}/questions", title="Rain", event="rain")
    for number in range(20):
        browser.post(f"{panel}/questions", title=f"Rain and {number}", event=f"rain & x{number}")
    browser.post(f"{panel}/judges", names="Ann")
    with Browser(str(browser.client.base_url)) as ann:
        first, *rest = re.findall(r'name="a-(e_\w+)"', ann.get(re.search(r"/j/\w+", browser.text)[0]).text)
        ann.post("/sheet", **{f"a-{first}": "10"} | {f"a-{event}": "90" for event in rest})
    browser.post(f"{panel}/rounds", phase="discussion")
    for _ in range(240):
        told = browser.get(f"{panel}/board").text
        if "8 more" in words(told):
            break
        time.sleep(0.25)
    listed = re.search(r"<li><b>Ann</b>(.*?)</li>", told, re.DOTALL)[1]
    assert listed.count("cannot be likelier") == 12
    assert "8 more" in words(listed)


def test_two_equals_signs_are_answered_rightly(browser):
    panel = new_panel(browser)
    browser.post(f"{panel}/questions", title="Same", event="rain == wind")
    assert "write '<->' between two events" in words(browser.text)
    assert browser.post(f"{panel}/questions", title="Same", event="rain <-> wind").status_code == 200


def test_a_formula_that_cannot_be_read_stays_in_its_field_with_the_place(browser):
    panel = new_panel(browser)
    answer = browser.post(f"{panel}/questions", title="A question", event="rain &")
    assert answer.status_code == 422
    assert 'value="rain &amp;"' in browser.text
    assert 'aria-invalid="true"' in browser.text
    assert '<span class="caret" aria-hidden="true">' in browser.text
    assert 'value="A question"' in browser.text


def test_what_is_asked_twice_is_said(browser):
    panel = new_panel(browser)
    browser.post(f"{panel}/questions", title="Rain and wind", event="rain & wind")
    browser.post(f"{panel}/questions", title="Wind and rain", event="~(wind -> ~rain)")
    assert "Questions 1 and 2: the same is asked twice." in words(browser.text)


def test_laws_one_by_one_and_as_text(browser):
    panel = new_panel(browser, first="Rain")
    browser.post(f"{panel}/laws", statement="storm -> rain", title="A storm means rain.")
    assert "A storm means rain." in browser.text
    answer = browser.post(f"{panel}/laws", statement="storm ->")
    assert answer.status_code == 422
    browser.post(f"{panel}/laws/text", text="storm -> rain  # A storm means rain.\nhail -> rain")
    assert "1 added, 0 dropped." in words(browser.text)
    browser.post(f"{panel}/laws/text", text="hail -> rain")
    assert "0 added, 1 dropped." in words(browser.text)
    assert "A storm means rain." not in browser.text


def test_relations_are_offered_when_questions_are_written_and_decided_by_forms(browser):
    panel = browser.post("/panels", title="Launch", first="Launch by June 30, 2027").url.path.removesuffix("/questions")
    assert "How the questions are related" not in words(browser.text)
    browser.post(f"{panel}/questions", kind="yes-no", title="Launch by December 31, 2027")
    said = words(browser.text)
    assert "If “Launch by June 30, 2027” comes true, so does “Launch by December 31, 2027”." in said
    assert "1 waits for you" in said
    family = re.search(r'name="family" value="([0-9a-f]+)"', browser.text)[1]
    answer = browser.post(f"{panel}/relations", family=family, decision="accept", by="", back="questions")
    browser.post(
        f"{panel}/relations", family=family, decision="reject", by="Ann", reason="It opens later.", back="questions"
    )
    said = words(browser.get(f"{panel}/relations").text)
    assert answer.status_code == 200
    assert "rejected: launch by june 30, 2027 / launch by december 31, 2027 It opens later." in said
    assert "launch_june_30 -&gt; launch_december_31" not in browser.get(f"{panel}/questions").text
    browser.post(f"{panel}/relations", family=family, decision="edit", law="launch_june_30 ->", by="Ann")
    assert "column" in words(browser.text)
    browser.post(f"{panel}/relations", family=family, decision="accept", by="Ann", back="questions")
    assert "likely: deadline ladder; accepted by Ann" in words(browser.text)
    browser.post(f"{panel}/relations", family="0" * 20, decision="accept", by="Ann")
    assert "may have changed" in words(browser.text)


def test_links_are_shown_once_and_can_be_withdrawn(browser):
    panel = new_panel(browser, first="Rain")
    browser.post(f"{panel}/judges", names="Ann\n\nBob\n")
    links = re.findall(r'value="(http://[^"]+/j/[^"]+)"', browser.text)
    assert len(links) == len(set(links)) == 2
    judge = re.search(r"/judges/(j_\w+)/link", browser.text)[1]
    browser.get(f"{panel}/questions")
    assert "/j/" not in browser.text
    browser.post(f"{panel}/judges/{judge}/link", revoke="1")
    assert "The link of Ann is withdrawn." in words(browser.text)
    browser.post(f"{panel}/judges/{judge}/link")
    assert len(re.findall(r"/j/[^\"]+", browser.text)) == 3  # the field, the button to copy it, the letter


def test_a_first_question_that_is_refused_leaves_no_panel(browser):
    answer = browser.post("/panels", title="No panel of this name", first="x" * 400)
    assert answer.status_code == 422
    assert "too long" in words(browser.text)
    assert "No panel of this name</a>" not in browser.get("/").text


def test_inviting_is_all_or_nothing(browser):
    panel = new_panel(browser, first="Rain")
    answer = browser.post(f"{panel}/judges", names="Ann\nBob\nAnn")
    assert answer.status_code == 422
    assert "That was not done. The name 'Ann' is there twice. Nobody was invited." in words(browser.text)
    assert "/link" not in browser.get(f"{panel}/questions").text
    browser.post(f"{panel}/judges", names="Ann\nBob")
    assert len(re.findall(r'value="(http://[^"]+/j/[^"]+)"', browser.text)) == 2
    browser.post(f"{panel}/judges", names="Cem\nBob\nDora")
    assert "That was not done." in words(browser.text)
    assert "already" in words(browser.text)
    assert len(re.findall(r"/judges/j_\w+/link", browser.get(f"{panel}/questions").text)) == 2


def test_links_that_work_here_only_say_so(browser):
    panel = new_panel(browser, first="Rain")
    browser.post(f"{panel}/judges", names="Ann")
    assert "These links open on this computer only" in words(browser.text)
    assert "--allow-host" in words(browser.text)
    assert "on this computer only" not in browser.get(f"{panel}/questions").text


def test_a_number_with_two_readings_is_asked_about(browser):
    panel = new_panel(browser, first="Rain")
    fields = {"kind": "partition", "shape": "ranges", "title": "Sales", "variable": "sales"}
    answer = browser.post(f"{panel}/questions", lines="40,000\n60,000", **fields)
    assert answer.status_code == 422
    assert "“40,000” can be read as 40000 or as 40. Write 40000 or 40." in words(browser.text)
    browser.post(f"{panel}/questions", lines="40 000\n60'000", **fields)
    assert "under 40,000" in words(browser.text)
    assert "60,000 or more" in words(browser.text)


def test_a_table_becomes_a_panel_or_goes_into_one(browser):
    browser.get("/")
    table = "event,Ann,Bob\nrain,30%,40%\nrain & wind,36%,\n"
    browser.post("/panels/import", files={"file": ("weather.csv", table)}, do="use")
    assert "<h1>weather</h1>" in browser.text
    panel = new_panel(browser, first="Rain")
    browser.get(f"{panel}/questions")
    browser.post(f"{panel}/import", files={"file": ("weather.csv", table)}, do="use")
    assert "1 question and 3 forecasts were read." in words(browser.text)
    browser.get(f"{panel}/board")
    assert "cannot be likelier than" in words(browser.text)


def fields_of(page):
    """What the form of a page would send, as it stands."""
    hidden = dict(re.findall(r'<input type="hidden" name="(kept\w*)" value="([^"]*)"', page))
    chosen = {
        unescape(name): found[1]
        for name, options in re.findall(r'<select name="(role-[^"]*)">(.*?)</select>', page)
        if (found := re.search(r'<option value="(\w+)" selected', options))
    }
    return {**{name: unescape(value) for name, value in hidden.items()}, **chosen}


def test_a_workbook_is_shown_before_it_is_stored(browser):
    rows = cells(("Risk", "Alice", "Bob", "Chris"), above=[["Workshop"], []], column=MEAN)
    book = workbook(("Launch risks", rows), ("Notes", [["Bring coffee."]]), percent=True)
    browser.get("/")
    answer = browser.post("/panels/import", files={"file": ("risks.xlsx", book)})
    said = words(browser.text)
    assert answer.status_code == 200
    assert "This is how I read risks.xlsx" in said
    assert "8 answers by 3 judges on 3 events" in said
    assert "columns left out: Average (the mean of the others, by its name)" in said
    assert "<s>Workshop</s>" in browser.text
    fields = fields_of(browser.text)
    assert fields["role-Average"] == "ignore"
    browser.post("/panels/import", do="again", **{**fields, "role-Average": "judge"})
    assert "11 answers by 4 judges" in words(browser.text)
    browser.post("/panels/import", do="use", **fields)
    assert "<h1>risks</h1>" in browser.text
    assert "Supplier delay and Budget overrun" in words(browser.text)
    panel = new_panel(browser, first="Rain")
    browser.get(f"{panel}/questions")
    browser.post(f"{panel}/import", files={"file": ("risks.xlsx", book)})
    browser.post(f"{panel}/import", do="use", **fields_of(browser.text))
    assert "3 questions and 8 forecasts were read." in words(browser.text)


def number_of_panels(browser):
    return len(re.findall(r'<li><a href="/panels/', browser.get("/").text))


def test_a_plain_table_is_shown_before_it_is_stored_too(browser):
    before = number_of_panels(browser)
    browser.post("/panels/import", files={"file": ("plain.csv", "event,Ann,Bob\nrain,30%,40%\nrain & wind,36%,\n")})
    said = words(browser.text)
    assert "This is how I read plain.csv" in said
    assert "3 answers by 2 judges on 2 events" in said
    assert "rain & wind" in said
    fields = fields_of(browser.text)
    assert number_of_panels(browser) == before
    browser.post("/panels/import", do="use", **fields)
    assert "<h1>plain</h1>" in browser.text


def test_what_a_table_leaves_open_is_answered_in_the_browser(browser):
    before = number_of_panels(browser)
    table = "Name,Fire,Flood\nAnn,0.2,0.3\nBob,0.4,0.1\n"
    browser.post("/panels/import", files={"file": ("people.csv", table)}, do="use")
    said = words(browser.text)
    assert "Does the column 'Name' have the events or the judges?" in said
    assert "Bob" in said
    answers = [unescape(each) for each in re.findall(r'name="answer" value="([^"]*)"', browser.text)]
    assert [list(json.loads(each)["columns"]) for each in answers] == [["event"], ["judge"]]
    assert "checked" not in re.search(r'<div class="pickchips">.*?</div>', browser.text)[0]
    kept = fields_of(browser.text)
    browser.post("/panels/import", do="again", answer=answers[1], **kept)
    said = words(browser.text)
    assert "4 answers by 2 judges on 2 events" in said
    assert "coherently check people.csv --columns judge=Name" in said
    assert number_of_panels(browser) == before
    browser.get("/")
    browser.post("/panels/import", do="use", answer=answers[1], **kept)
    assert "<h1>people</h1>" in browser.text
    browser.get("/")
    browser.post("/panels/import", do="use", answer='{"columns": 7}', **kept)
    assert "Does the column 'Name' have the events or the judges?" in words(browser.text)


def test_which_sheet_is_asked_with_all_sheets_to_choose_from(browser):
    rows = cells(("Risk", "Alice", "Bob", "Chris"))
    book = workbook(("Round 1", rows), ("Round 2", rows))
    browser.post("/panels/import", files={"file": ("rounds.xlsx", book)})
    assert "2 sheets have forecasts: 'Round 1', 'Round 2'. Which one should be read?" in words(browser.text)
    answers = [unescape(each) for each in re.findall(r'name="answer" value="([^"]*)"', browser.text)]
    browser.post("/panels/import", do="again", answer=answers[1], **fields_of(browser.text))
    assert "not read: Round 1" in words(browser.text)


def test_a_sheet_without_a_table_is_shown_so_that_its_header_can_be_named(browser):
    book = workbook(("Notes", [["We met on Monday."], ["Bring", "coffee"]]))
    browser.post("/panels/import", files={"file": ("notes.xlsx", book)})
    said = words(browser.text)
    assert "no sheet with a table of forecasts" in said
    assert "We met on Monday." in said


def test_relations_beside_a_table_are_decided_with_it_and_only_then_used(browser):
    table = "event,Ann\nLaunch by 30 April 2027,0.5\nLaunch by 31 May 2027,0.4\nGold above $3k on 1 June 2027,0.2\n"
    table += "Gold above $2k on 1 June 2027,0.6\n"
    browser.get("/")
    browser.post("/panels/import", files={"file": ("launch.csv", table)})
    assert "1 is open. You can use the file all the same." in words(browser.text)
    chosen = re.findall(r'name="(related-[0-9a-f]+)" value="(\w+)"( checked)?', browser.text)
    assert [(word, bool(mark)) for _, word, mark in chosen] == [
        ("accept", False),
        ("reject", False),
        ("accept", True),
        ("reject", False),
    ]
    fields = {**fields_of(browser.text), chosen[2][0]: "accept", "by": "Ann Lee"}
    browser.post("/panels/import", do="use", **fields)
    panel = re.search(r'data-panel="(p_\w+)"', browser.text)[1]
    said = words(browser.get(f"/panels/{panel}/questions").text)
    assert "certain: threshold ladder; accepted by Ann Lee" in said
    assert "1 waits for you" in said
    assert "deadline ladder; accepted" not in said


def test_a_file_that_is_no_table_is_refused_with_its_place(browser):
    browser.get("/")
    answer = browser.post("/panels/import", files={"file": ("bad.csv", "event,Ann\nrain &,30%\n")})
    assert answer.status_code == 422
    assert "row 2" in words(browser.text)
    answer = browser.post("/panels/import")
    assert "Choose a file first." in words(browser.text)


def test_the_rounds_go_on_and_can_be_changed(browser):
    panel = new_panel(browser, first="Rain")
    browser.get(f"{panel}/board")
    browser.post(f"{panel}/rounds", phase="private", closes_at="2030-01-02T17:00")
    assert "2030" in browser.text
    browser.post(f"{panel}/rounds", phase="discussion", hide_numbers="1")
    assert "numbers stay hidden" in words(browser.text)
    browser.post(f"{panel}/rounds", phase="discussion")
    assert "numbers without names" in words(browser.text)
    browser.get(f"{panel}/discussion")
    browser.post(f"{panel}/comments", text="What would change your mind?", question="")
    assert words(browser.text).count("What would change your mind?") == 1
    browser.get(f"{panel}/board")
    browser.post(f"{panel}/rounds", phase="revision")
    browser.post(f"{panel}/rounds", phase="closed")
    assert "Look at the results" in words(browser.text)


def test_a_law_in_doubt_can_be_kept_or_dropped(browser, panels):
    browser.get(f"{panels['open']}/board")
    said = words(browser.text)
    assert "Alice meant otherwise: A strike at our own plant would stop the line too." in said
    law = re.search(r"/laws/(l_\w+)/keep", browser.text)[1]
    browser.post(f"{panels['open']}/laws/{law}/keep")
    assert "Alice meant otherwise" not in words(browser.text)


def test_ask_it_puts_the_event_on_the_sheet(browser, panels):
    browser.get(f"{panels['open']}/board")
    event = unescape(re.search(r'name="event" value="([^"]*)"', browser.text)[1])
    title = unescape(re.search(r'name="title" value="([^"]*)"', browser.text)[1])
    browser.post(f"{panels['open']}/questions", kind="yes-no", event=event, title=title, back="board")
    assert re.search(r"Question \d+ is on the sheet\.", words(browser.text))
    browser.get(f"{panels['open']}/questions")
    assert words(title) in words(browser.text)


@pytest.mark.parametrize("tab", ["questions", "board", "discussion", "results"])
def test_what_people_write_is_only_shown(browser, tab):
    panel = new_panel(browser, HOSTILE, first=HOSTILE)
    browser.post(f"{panel}/questions", title=HOSTILE, definition=HOSTILE, group=HOSTILE, event="rain", short=HOSTILE)
    browser.post(f"{panel}/laws", statement="storm -> rain", title=HOSTILE)
    browser.post(f"{panel}/judges", names=HOSTILE)
    browser.post(f"{panel}/comments", text=HOSTILE)
    browser.get(f"{panel}/{tab}")
    assert "<script>" not in browser.text
    assert "<img" not in browser.text
    assert "49" not in re.sub(r"[\w/-]*_\w+", "", words(browser.text))
    assert words(browser.text).count("{{ 7 * 7 }}") >= 1


def test_a_form_of_somebody_else_is_refused(browser):
    browser.get("/")
    answer = browser.client.post("/panels", data={"title": "x", "csrf_token": "wrong"})
    assert answer.status_code == 403
    token = re.search(r'name="csrf_token" value="([^"]*)"', browser.text)[1]
    elsewhere = {"Origin": "http://evil.example"}
    answer = browser.client.post("/panels", data={"title": "x", "csrf_token": token}, headers=elsewhere)
    assert answer.status_code == 403


def test_the_address_of_a_page_says_only_what_the_catalogue_says(browser):
    answer = browser.get("/?done=<b>you%20won</b>")
    assert answer.status_code == 200
    assert "you won" not in browser.text
    browser.get("/?done=questions.added&number=<script>")
    assert "<script>" not in browser.text.replace('<script type="module"', "")


def test_files_have_their_types_and_tags(browser):
    kinds = {
        "style.css": "text/css; charset=utf-8",
        "page.js": "text/javascript; charset=utf-8",
        "icon.svg": "image/svg+xml",
        "texts.js": "text/javascript; charset=utf-8",
    }
    for name, kind in kinds.items():
        answer = browser.client.get(f"/static/{name}")
        assert answer.headers["content-type"] == kind
        assert answer.headers["x-content-type-options"] == "nosniff"
        again = browser.client.get(f"/static/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
        assert not again.content


@pytest.mark.parametrize(
    "name", ["nothing.css", "../rendering.py", "..%2Frendering.py", "%2e%2e/rendering.py", "rendering.py"]
)
def test_no_other_file_is_served(browser, name):
    assert browser.client.get(f"/static/{name}").status_code == 404


def test_a_page_that_is_not_there_says_so(browser):
    for path in ("/panels/p_nothing/board", "/nothing"):
        answer = browser.get(path)
        assert answer.status_code == 404
        assert "There is no such page." in words(browser.text)


def test_the_results_of_the_demo_verify(browser, panels):
    browser.get(f"{panels['closed']}/results")
    said = words(browser.text)
    assert "Jointly coherent, and proved to be the nearest to the answers." in said
    assert "All questions are resolved." in said
    found = re.search(r"(/panels/p_\w+/aggregations/a_\w+)/certificate.json", browser.text)[1]
    result = co.Result.from_json(browser.client.get(f"{found}/certificate.json").text)
    inputs = browser.client.get(f"/api/v1{found}/result").json()
    rows = [(row["judge"], row["event"], row["probability"]) for row in inputs["forecasts"]]
    assert co.verify(co.Panel.from_records(rows, laws=inputs["laws"], outcomes=inputs["outcomes"] or None), result)
    table = browser.client.get(f"{found}/accuracy.csv").text.splitlines()
    assert table[0] == "who,per_answer,per_event"
    assert len(table) == 1 + 3 + 8
    assert browser.client.get(f"{found}/accuracy.json").json()["scores"][0]["who"] == "Panel, coherent"
    assert "co.score" in browser.client.get(f"{found}/accuracy.py").text
    assert browser.client.get(f"{found}/accuracy.exe").status_code == 404


def test_the_code_that_checks_a_certificate_runs_as_printed(browser, panels, tmp_path):
    browser.get(f"{panels['closed']}/results")
    page = browser.text
    (found,) = set(re.findall(r"/panels/p_\w+/aggregations/a_\w+(?=/certificate.json)", page))
    for place in (f"{found}/certificate.json", f"/api/v1{found}/forecasts.py"):
        (tmp_path / place.rpartition("/")[2]).write_text(browser.client.get(place).text, "utf-8")
    report = browser.client.get(f"/api/v1{found}/report").text
    kept = "<Verification: every promise that could be checked is kept"
    for text in (page, report):
        assert printed_by(tmp_path, verifying_code_of(text)).splitlines()[-1].startswith(kept)
    text = (tmp_path / "certificate.json").read_text("utf-8")
    (tmp_path / "certificate.json").write_text(text.replace('"method": "auto"', '"method": "linear"'), "utf-8")
    assert "promises broken" in printed_by(tmp_path, verifying_code_of(page)).splitlines()[-1]
    (tmp_path / "certificate.json").write_text(text, "utf-8")
    forecasts = (tmp_path / "forecasts.py").read_text("utf-8")
    (tmp_path / "forecasts.py").write_text(forecasts.replace(", 0.", ", 0.0", 1), "utf-8")
    assert "the result was made from another panel" in printed_by(tmp_path, verifying_code_of(page))


def test_the_page_offers_the_proof_and_the_command_that_checks_it(browser, panels, tmp_path):
    browser.get(f"{panels['closed']}/results")
    (found,) = re.findall(r'href="(/api/v1/panels/p_\w+/aggregations/a_\w+/proof)" download>proof.zip', browser.text)
    zipfile.ZipFile(io.BytesIO(browser.client.get(found).content)).extractall(tmp_path)
    (command,) = re.findall(r"python (-m coherently.proofcheck [^<]*)</pre>", browser.text)
    checked = subprocess.run(
        [sys.executable, *command.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout.partition(":")[0]) == (0, "proved"), checked


def shown_rows(text):
    """The rows of the table of forecasts by heading: whole per cents before and after, and the change."""
    cells = r'<td class="quiet">(\d+)\s%</td><td><b>(\d+)\s%</b></td><td class="\w*">([+−]?\d+)</td>'
    found = {}
    for group in re.split(r'<tr class="grp">', text)[1:]:
        heading = re.search(r'colspan="6">([^<]*)<', group)[1]
        rows = [(int(a), int(b), int(c.replace("−", "-"))) for a, b, c in re.findall(cells, group.split("</tbody>")[0])]
        found[heading] = rows
    return found


def test_per_cents_of_the_demo_add_up(browser, panels):
    for version in ("1", "2", "3"):
        browser.get(f"{panels['closed']}/results?version={version}")
        rows = shown_rows(browser.text)
        (inflation,) = (rows[heading] for heading in rows if "inflation" in heading.lower())
        assert len(inflation) == 4
        assert sum(after for _, after, _ in inflation) == 100
        for before, after, change in (row for own in rows.values() for row in own):
            assert change == after - before


def test_plain_averages_that_contradict_each_other_are_called_so(browser):
    panel = new_panel(browser)
    table = b"event,Ann,Bob\np,0.3,0.3\np & q,0.5,0.5\n"
    browser.get(f"{panel}/questions")
    browser.post(f"{panel}/import", files={"file": ("table.csv", table, "text/csv")}, do="use")
    for method, expected, after in (
        ("linear", "These are plain averages, and they contradict each other.", "after: not made coherent"),
        ("auto", "The averages contradict each other; these are the nearest forecasts that do not.", "after: coherent"),
    ):
        browser.get(f"{panel}/results")
        browser.post(f"{panel}/aggregations", method=method)
        said = finished_version(browser, panel, expected)
        assert after in said
        assert "fit together as they are" not in said
    browser.post(f"{panel}/outcomes", **dict.fromkeys(re.findall(r'id="o-(e_\w+)"', browser.text), "yes"))
    said = words(browser.get(f"{panel}/results?version=1").text)
    assert "Panel, this version" in said
    assert "Panel, coherent" not in said
    assert "Panel, coherent" in words(browser.get(f"{panel}/results?version=2").text)


def finished_version(browser, panel, expected):
    """The words of the page of results once it says what is expected."""
    for _ in range(600):
        said = words(browser.get(f"{panel}/results").text)
        if expected in said:
            break
        time.sleep(0.1)
    assert expected in said
    return said


def test_versions_are_compared(browser, panels):
    browser.get(f"{panels['closed']}/results?from=1&to=3")
    said = words(browser.text)
    assert "Version 3 beside version 1" in said
    browser.get(f"{panels['closed']}/results?version=1")
    assert "by 7 judges" in words(browser.text)
    assert browser.get(f"{panels['closed']}/results?version=9").status_code == 404


def test_of_options_that_share_everything_one_is_chosen(browser):
    panel = new_panel(browser)
    options = {"kind": "partition", "shape": "named", "lines": "Ann\nBob\nCid", "variable": "winner"}
    browser.post(f"{panel}/questions", title="Who wins?", **options)
    browser.get(f"{panel}/results?outcomes=1")
    question = re.search(r'<select class="wide" id="o-(q_\w+)"', browser.text)[1]
    ann, bob, _ = re.findall(r'<option value="(e_\w+)">', browser.text)
    for chosen, told in ((ann, "1 outcome is saved."), (bob, "2 outcomes are saved."), (bob, "0 outcomes are saved.")):
        browser.post(f"{panel}/outcomes", **{question: chosen})
        assert told in words(browser.text)
    browser.get(f"{panel}/results?outcomes=1")
    assert f'<option value="{bob}" selected>' in browser.text
    browser.post(f"{panel}/outcomes", **{question: ""})
    assert "1 outcome is saved." in words(browser.text)


def test_outcomes_are_entered_and_taken_back(browser):
    panel = new_panel(browser)
    browser.post(f"{panel}/questions", title="Rain", event="rain")
    browser.post(f"{panel}/questions", title="Rain and wind", event="rain & wind")
    browser.get(f"{panel}/results")
    first, second = re.findall(r'<select class="short" id="o-(e_\w+)"', browser.text)
    browser.post(f"{panel}/outcomes", **{first: "no", second: ""})
    assert "1 outcome is saved." in words(browser.text)
    answer = browser.post(f"{panel}/outcomes", **{first: "no", second: "yes"})
    assert answer.status_code == 422
    browser.post(f"{panel}/outcomes", **{first: "", second: ""})
    assert "1 outcome is saved." in words(browser.text)
