"""The page of what to ask next, as a browser without script uses it."""

import re
from html import unescape

import pytest

import coherently as co
from tests.web.pages.conftest import Browser
from tests.web.pages.test_influence import versions

ROWS = [("Ann", "flood", 0.3), ("Ann", "strike", 0.4), ("Ann", "delay given cold", 0.5)]


@pytest.fixture(scope="module")
def supplies(served):
    """A panel with a version of numbers from a file: two events apart, and a conditional whose condition is open."""
    with Browser(served) as made:
        made.get("/")
        made.post("/panels", title="Supplies")
        panel = re.search(r"/panels/p_\w+", made.text)[0]
        for title, event in (("Flood", "flood"), ("Strike", "strike"), ("Delay if cold", "delay given cold")):
            made.post(f"{panel}/questions", title=title, event=event)
        csv = "\n".join(["judge,event,probability", *(",".join(map(str, row)) for row in ROWS)]).encode()
        made.post(f"{panel}/import", files={"file": ("answers.csv", csv, "text/csv")}, do="use")
        made.get(f"{panel}/results")
        made.post(f"{panel}/aggregations")
        assert [each["status"] for each in versions(made, panel)] == ["done"]
        yield panel


def chosen(page, title):
    return re.search(rf'<option value="(e_\w+)"[^>]*>{title}</option>', page)[1]


def test_the_best_question_is_asked_with_one_click(browser, supplies):
    assert f'href="{supplies}/next?version=1"' in browser.get(f"{supplies}/results").text
    assert f'href="{supplies}/next"' in browser.get(f"{supplies}/board").text
    page = browser.get(f"{supplies}/next").text
    texts = [unescape(each) for each in re.findall(r'name="event" value="([^"]+)"', page)]
    assert set(texts) == {"cold", "delay", "delay & cold", "flood & strike"}
    expected = co.ask_next(co.Panel.from_records(ROWS), candidates=texts)
    assert f"The questions that were looked at are open by {round(100 * expected.open)} points in all." in page
    assert [f"{round(100 * one.gain)} points" for one in expected.questions] == re.findall(
        r"narrows that by (\d+ points)", page
    )
    assert texts == [one.event for one in expected.questions]
    assert "<b>“Flood” and “Strike”</b>" in page
    page = browser.get(f"{supplies}/next?about={chosen(page, 'Strike')}").text
    assert "Without its own answers, “Strike” is open by 100 points." in page
    browser.get(f"{supplies}/next")
    browser.post(f"{supplies}/questions", kind="yes-no", event="flood & strike", title="Both of them", back="next")
    assert "“Flood” and “Strike”" not in browser.text
    assert "Both of them" in browser.text  # among the events to choose
    page = browser.get(f"{supplies}/next?about=contradictions").text
    assert "The averages do not contradict each other" in page


def test_a_refusal_is_a_sentence_on_the_page(browser, supplies):
    page = browser.get(f"{supplies}/next").text
    answer = browser.get(f"{supplies}/next?about={chosen(page, 'Delay if cold')}")
    assert answer.status_code == 422
    assert "leaves the probability of the condition open" in answer.text
    assert '<select name="about">' in answer.text


def test_without_an_aggregate_the_page_says_so(browser):
    browser.post("/panels", title="Empty")
    panel = re.search(r"/panels/p_\w+", browser.text)[0]
    assert "There is no aggregate yet" in browser.get(f"{panel}/next").text
    assert browser.get("/panels/p_none/next").status_code == 404


def test_contradictions_hang_on_some_questions(browser, panels):
    page = browser.get(f"{panels['closed']}/next?about=contradictions").text
    assert "The averages contradict each other." in page
    shares = [int(each) for each in re.findall(r"removes up to (\d+)\W%", page)]
    assert shares == sorted(shares, reverse=True)
    assert 0 < shares[0] <= 100
    assert "Ask it" not in page
