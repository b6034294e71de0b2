"""A form that is refused changes nothing, and still holds what somebody typed, where they typed it."""

import re
from html import unescape

import pytest

from tests.web.pages.conftest import Browser
from tests.web.pages.test_without_script import new_panel, words


def fields_of(text, label):
    """The values of the fields of one form, by name."""
    form = re.search(rf'<form[^>]*aria-label="{re.escape(label)}".*?</form>', text, re.DOTALL)[0]
    found = dict(re.findall(r'<input type="text"[^>]*name="([^"]*)"[^>]*value="([^"]*)"', form))
    found |= dict(re.findall(r'<textarea[^>]*name="([^"]*)"[^>]*>([^<]*)</textarea>', form))
    return {name: unescape(value) for name, value in found.items()}


def area(text, name):
    return unescape(re.search(rf'<textarea[^>]*name="{name}"[^>]*>([^<]*)</textarea>', text)[1])


def invited(browser, panel, names="Ann"):
    browser.post(f"{panel}/judges", names=names)
    return [unescape(link).partition("/j/")[2] for link in re.findall(r'readonly value="([^"]+)"', browser.text)]


def test_a_refused_ladder_keeps_its_words_to_itself(browser):
    panel = new_panel(browser)
    answer = browser.post(f"{panel}/questions", kind="ladder", title="Launch", shape="dates", lines="soon")
    assert answer.status_code == 422
    ladder = fields_of(browser.text, "+ Ladder of dates or numbers")
    assert (ladder["title"], ladder["lines"]) == ("Launch", "soon")
    assert fields_of(browser.text, "New question")["title"] == ""


def test_names_of_a_refused_invitation_can_be_mended(browser):
    panel = new_panel(browser, first="Rain")
    answer = browser.post(f"{panel}/judges", names="Ann\nBob\nAnn")
    assert answer.status_code == 422
    assert area(browser.text, "names") == "Ann\nBob\nAnn"
    browser.post(f"{panel}/judges", names="Ann\nBob")
    assert area(browser.text, "names") == ""


def test_a_refused_change_of_a_question_stays_in_its_own_form(browser):
    panel = new_panel(browser, first="Rain")
    question = re.search(r'<li id="(q_\w+)"', browser.text)[1]
    browser.get(f"{panel}/questions?edit={question}")
    event = re.search(r'name="event-(e_\w+)"', browser.text)[1]
    typed = {
        "title": "Heavy rain",
        "definition": "Over 20 mm",
        f"event-{event}": "rain & (",
        f"short-{event}": "it pours",
    }
    answer = browser.post(f"{panel}/questions/{question}", **typed)
    assert answer.status_code == 422
    form = fields_of(browser.text, "Edit question 1")
    assert {name: form[name] for name in typed} == typed
    assert fields_of(browser.text, "New question")["title"] == ""
    assert "<h3>Rain</h3>" in browser.text


def test_a_refused_file_is_called_by_its_name(browser):
    browser.get("/")
    answer = browser.post("/panels/import", files={"file": ("risks.pdf", b"%PDF-1.4 \x00 nothing", "application/pdf")})
    assert answer.status_code == 422
    assert "That was not done. risks.pdf line 1 contains a NUL byte, so it is not text." in words(browser.text)


def test_laws_as_text_are_kept_together_or_not_at_all(browser):
    panel = new_panel(browser, first="Rain")
    browser.post(f"{panel}/laws", statement="storm -> rain", title="A storm means rain.")
    text = "hail -> rain\nsleet -> rain\nsnow ->"
    answer = browser.post(f"{panel}/laws/text", text=text)
    assert answer.status_code == 422
    assert area(browser.text, "text") == text
    assert '<details class="more" open><summary class="tool">Edit as text' in browser.text
    browser.get(f"{panel}/questions")
    assert area(browser.text, "text") == "storm -> rain  # A storm means rain."


def test_laws_as_text_may_take_the_place_of_laws_that_they_contradict(browser):
    panel = new_panel(browser, first="Rain")
    browser.post(f"{panel}/laws", statement="rain")
    browser.post(f"{panel}/laws/text", text="~rain")
    assert "1 added, 1 dropped." in words(browser.text)
    assert area(browser.text, "text") == "~rain"


def test_outcomes_are_saved_together_or_not_at_all(browser):
    panel = new_panel(browser)
    for title, event in (("Rain", "rain"), ("Rain and wind", "rain & wind"), ("Frost", "frost")):
        browser.post(f"{panel}/questions", title=title, event=event)
    browser.get(f"{panel}/results")
    ids = re.findall(r'<select class="short" id="o-(e_\w+)"', browser.text)
    typed = dict(zip(ids, ("no", "yes", "yes"), strict=True))
    answer = browser.post(f"{panel}/outcomes", **typed)
    assert answer.status_code == 422
    chosen = re.findall(r'id="o-(e_\w+)"[^>]*>.*?<option value="(\w*)" selected', browser.text)
    assert dict(chosen) == typed
    browser.get(f"{panel}/results")
    assert set(re.findall(r'id="o-e_\w+"[^>]*>.*?<option value="(\w*)" selected', browser.text)) == {""}


def test_an_end_that_is_over_is_told_as_people_tell_times(browser):
    panel = new_panel(browser, first="Rain")
    browser.post(f"{panel}/zone", time_zone="Asia/Tokyo")
    answer = browser.post(f"{panel}/rounds", phase="private", closes_at="2020-01-01T10:00")
    assert answer.status_code == 422
    said = words(browser.text)
    assert "That end is over already: Wednesday 1 January 2020, 10:00 (Asia/Tokyo; 01:00 UTC)." in said
    assert "2020-01-01T" not in said


@pytest.mark.parametrize(
    ("way", "given", "told"),
    [
        ("quantiles", {"low": "2027-05-20", "middle": "2027-05-01", "high": "2027-09-01"}, "The three must rise"),
        ("bins", {"first": "2027-05-20", "last": "2027-05-01", "3": "4"}, "The histogram must end after it begins"),
    ],
)
def test_a_drawing_the_wrong_way_round_is_refused_in_words_of_the_form(browser, served, way, given, told):
    panel = new_panel(browser)
    browser.post(
        f"{panel}/questions", kind="ladder", title="Launch", shape="dates", lines="30.4.2027\n31 May 2027\n6/30/2027"
    )
    (secret,) = invited(browser, panel)
    with Browser(served) as ann:
        ann.get(f"/j/{secret}")
        question = re.search(r'data-question="(q_\w+)"', ann.text)[1]
        answer = ann.post("/sheet", draw=f"{way}:{question}", **{f"draw-{k}-{question}": v for k, v in given.items()})
        assert answer.status_code == 422
        assert told in words(ann.text)
        assert "knots" not in words(ann.text)


def test_nobody_is_at_it_when_the_panel_is_closed(browser, served):
    panel = new_panel(browser, first="Rain")
    secrets = invited(browser, panel, "Ann\nBob\nCem")
    for place, secret in enumerate(secrets[:2]):
        with Browser(served) as judge:
            judge.get(f"/j/{secret}")
            if place == 0:
                event = re.search(r'name="a-(e_\w+)"', judge.text)[1]
                judge.post("/sheet", **{f"a-{event}": "30"})
    assert "2 are at it" in words(browser.get(f"{panel}/board").text)
    browser.post(f"{panel}/rounds", phase="closed")
    said = words(browser.get(f"{panel}/board").text)
    assert "1 judge answered, 1 did not answer and 1 has not opened the link." in said
    assert "at it" not in said.lower()
