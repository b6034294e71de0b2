"""Until a round closes, nobody is shown whose numbers are whose: not on a page, not by a call, not in a file."""

import io
import json
import re
import zipfile

import pytest

from tests.web.api.facilitator import Facilitator
from tests.web.api.privacy_checks import check_privacy
from tests.web.api.service import API, Service, refused

ANN, BOB = "Ann Quintessa", "Bob Zebedee"
NUMBERS = {"rain": 0.3719, "wind": 0.2347, "rain & wind": 0.4183}
SHOWN = re.compile(
    r"0?\.3719|37\.19|\b37(?:&nbsp;|\s|\u00a0)?%|0?\.2347|23\.47|\b23(?:&nbsp;|\s|\u00a0)?%|0?\.4183|41\.83"
)
"""Ann's numbers, however they are written."""
STRIPS = re.compile(r'<table class="list dots">.*?</table>', re.DOTALL)
"""Where pages show numbers without names."""


@pytest.fixture
def desk(tmp_path):
    with Service(f"sqlite:///{tmp_path}/store.db") as service:
        yield Facilitator(service)


def test_of_a_single_judge_no_number_is_shown_anywhere(desk):
    ann = desk.invite(ANN)
    told = desk.say(ann, NUMBERS, reason="Base rate.")
    assert told["contradictions"]
    ann.post("/sheet/meant", json={"key": told["contradictions"][0]["key"], "reason": "Gusts."})
    for path, answer in desk.reads().items():
        assert not SHOWN.search(answer.text), path
    board = desk.http.get(f"{desk.path}/board").json()
    assert board["hidden"] == [desk.judges[ANN]]
    clashes = board["overview"]["contradictions"][desk.judges[ANN]]
    assert clashes
    assert all(clash["sentence"] == "" and clash["events"] for clash in clashes)
    page = desk.http.get(f"{desk.service.url}{desk.path}/board").text
    assert "Questions 2 and 3 contradict each other." in page
    for name in ("export.csv", "export.json", "export.py", "archive"):
        refused(desk.http.get(f"{desk.path}/{name}"), 409, "Close the round")
    refused(desk.http.post(f"{desk.path}/aggregations", json={}), 409, "still open", "Close the round")


def test_numbers_of_an_open_round_have_no_names(desk):
    ann, bob = desk.invite(ANN), desk.invite(BOB)
    desk.say(ann, NUMBERS)
    desk.say(bob, {"rain": 0.6143, "wind": 0.55, "rain & wind": 0.31})
    reads = desk.reads()
    for path, answer in reads.items():
        text = answer.text
        if path.endswith("/board") and path.startswith(API):
            told = answer.json()
            numbers = {one["event"]: one["answers"] for one in told["overview"].pop("spreads")}
            assert numbers[desk.events["rain"]] == [0.3719, 0.6143]  # without names
            text = json.dumps(told)
        text = STRIPS.sub("", text)
        assert not (SHOWN.search(text) and ANN in text), path
    for name in ("export.csv", "export.json", "export.py", "archive"):
        assert reads[f"{API}{desk.path}/{name}"].status_code == 409
    refused(desk.http.post(f"{desk.path}/aggregations", json={}), 409, "still open", "Close the round")
    desk.advance("discussion")
    assert "0.3719" in desk.http.get(f"{desk.path}/forecasts", params={"judge": desk.judges[ANN]}).text
    assert ANN in desk.http.get(f"{desk.path}/export.csv").text
    archive = zipfile.ZipFile(io.BytesIO(desk.http.get(f"{desk.path}/archive").content))
    assert any(b"0.3719" in archive.read(name) for name in archive.namelist())


def test_a_revision_hides_what_is_new_and_nothing_else(desk):
    ann, bob = desk.invite(ANN), desk.invite(BOB)
    desk.say(ann, NUMBERS)
    desk.say(bob, {"rain": 0.6143})
    desk.advance("discussion")
    desk.advance("revision")
    desk.say(ann, {"rain": 0.2718})
    told = desk.http.get(f"{desk.path}/forecasts", params={"judge": desk.judges[ANN]}).json()["forecasts"]
    assert [(one["round"], one["probability"]) for one in told] == [(1, 0.3719), (1, 0.2347), (1, 0.4183), (2, None)]
    assert told[-1]["state"] == "given"
    for path, answer in desk.reads().items():
        assert "0.2718" not in answer.text, path
    desk.advance("closed")
    assert "0.2718" in desk.http.get(f"{desk.path}/export.csv").text


def test_judges_of_a_file_keep_their_names(desk):
    table = f"event,{ANN},{BOB}\nrain,0.3719,0.5\n"
    made = desk.http.post("/panels/import", content=table, headers={"Content-Type": "text/csv"}).json()["id"]
    assert ANN in desk.http.get(f"/panels/{made}/export.csv").text
    assert desk.http.get(f"/panels/{made}/archive").status_code == 200
    assert desk.http.get(f"/panels/{made}/forecasts").json()["forecasts"][0]["probability"] == 0.3719


def test_the_sheet_says_who_sees_what(desk):
    made = desk.post(f"{desk.path}/judges", {"name": ANN})
    with desk.service.client(follow_redirects=True) as browser:
        page = browser.get(f"{desk.service.url}/j/{made['secret']}").text
    assert "Nobody is shown which numbers are yours before the round closes." in page
    assert "Whoever runs this server can read its database." in page
    assert "nobody sees your numbers" not in page.lower()


def test_a_link_that_is_opened_again_leaves_open_pages_at_work(desk):
    ann, bob = (desk.post(f"{desk.path}/judges", {"name": name})["secret"] for name in (ANN, BOB))
    with desk.service.client(follow_redirects=True) as browser:

        def open_link(secret):
            page = browser.get(f"{desk.service.url}/j/{secret}").text
            return re.search(r'name="csrf_token" value="([^"]+)"', page)[1], dict(browser.cookies)

        def hands_in(token):
            headers = {"X-CSRF-Token": token, "Origin": desk.service.url}
            return browser.post(f"{desk.service.url}/api/v1/sheet/hand-in", headers=headers, json={}).status_code

        first, kept = open_link(ann)
        second, again = open_link(ann)
        assert (first, kept) == (second, again)
        assert hands_in(first) == 200
        third, other = open_link(bob)  # another judge: the session before it has ended
        assert third != first
        assert hands_in(first) == 403
        browser.cookies.clear()
        browser.cookies.update(kept)
        assert browser.get(f"{desk.service.url}/sheet").status_code == 401
        assert other != kept


def test_reasons_of_others_without_names_once_the_round_opens_them(weather):
    reason = {"rain": "Clouds from the west.", "wind": "The glass falls."}

    def say(judge, event, text, value=0.4):
        drafts = [{"event": weather.events[event], "probability": value, "reason": text}]
        judge.post("/sheet/answers", json={"answers": drafts}).raise_for_status()

    def seen(judge):
        order = {question["id"]: question["number"] for question in judge.get("/sheet").json()["questions"]}
        others = [voice for voice in judge.get("/sheet").json()["voices"] if not voice["mine"]]
        return [voice["text"] for voice in sorted(others, key=lambda voice: order[voice["question"]])]

    say(weather.ann, "rain", reason["rain"])
    say(weather.bob, "rain", "Own reason.")
    say(weather.ann, "wind", reason["wind"])
    assert seen(weather.bob) == []
    weather.close()
    assert seen(weather.bob) == [reason["rain"], reason["wind"]]
    assert seen(weather.ann) == ["Own reason."]
    assert "Ann" not in json.dumps(weather.bob.get("/sheet").json())
    with weather.service.client(follow_redirects=True) as browser:
        secret = weather.bob.headers["Authorization"].removeprefix("Bearer ")
        page = browser.get(f"{weather.service.url}/j/{secret}").text
    assert reason["rain"] in page
    assert "Somebody." in page
    assert "Ann" not in page
    weather.api.post(f"{weather.path}/rounds", json={"phase": "revision"}).raise_for_status()
    say(weather.ann, "rain", "Something new, in private.")
    assert seen(weather.bob) == [reason["rain"], reason["wind"]]
    weather.api.post(f"{weather.path}/rounds", json={"phase": "closed"}).raise_for_status()
    assert seen(weather.bob) == ["Something new, in private.", reason["wind"]]


def test_whatever_people_do_nobody_is_shown_whose_numbers_are_whose(store_url):
    check_privacy(store_url, 1, steps=3)
