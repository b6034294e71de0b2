"""The own score over panels: of judges who are known to be one person, and of nobody else."""

import json
from itertools import pairwise

import numpy as np
import pytest

from tests.web.api.service import Weather, refused

KNOWN = 12
"""Questions of each panel, so that two panels have enough answers for calibration and one has not."""


class Season:
    """A closed panel of an account with outcomes; `links` are clients by the names of judges, `pairs` their answers."""

    def __init__(self, weather, title, seed, people, *, is_closed=True):
        api, service, rng = weather.api, weather.service, np.random.default_rng(seed)
        self.api, self.title = api, title
        self.path = f"/panels/{api.post('/panels', json={'title': title}).json()['id']}"
        events = []
        for number in range(KNOWN):
            draft = {"title": f"Event {number}", "events": [{"event": f"e{number}", "title": ""}]}
            events.append(api.post(f"{self.path}/questions", json=draft).json()["events"][0]["id"])
        truth = rng.random(KNOWN) < 0.5
        self.links, self.pairs = {}, {}
        for name, address in people.items():
            judge = api.post(f"{self.path}/judges", json={"name": name, "address": address}).json()
            self.links[name] = service.client(judge["secret"])
            said = np.round(rng.random(KNOWN), 2).tolist()
            given = [{"event": event, "probability": p} for event, p in zip(events, said, strict=True)]
            self.links[name].post("/sheet/answers", json={"answers": given}).raise_for_status()
            self.pairs[name] = list(zip(said, truth.tolist(), strict=True))
        for event, value in zip(events, truth, strict=True):
            api.post(f"{self.path}/outcomes", json={"event": event, "outcome": bool(value)}).raise_for_status()
        if is_closed:
            self.close()

    def close(self):
        self.api.post(f"{self.path}/rounds", json={"phase": "closed"}).raise_for_status()

    def record(self, name):
        return self.links[name].get("/sheet/closing").json()["record"]


def brier(pairs):
    return pytest.approx(np.mean([(p - truth) ** 2 for p, truth in pairs]))


def titles(record):
    return [each["title"] for each in record["panels"]]


@pytest.fixture
def seasons(weather):
    people = {"Ann": "", "Bob": ""}
    return [Season(weather, f"Season {seed}", seed, people) for seed in (1, 2)]


def test_a_name_alone_is_nobody_in_other_panels(seasons):
    for season in seasons:
        for name in ("Ann", "Bob"):
            record = season.record(name)
            assert titles(record) == [season.title]
            assert (record["known"], record["brier"]) == (KNOWN, brier(season.pairs[name]))
            assert record["calibration"] == []


def test_who_is_one_person_by_the_word_of_the_facilitator(weather, seasons):
    before = {each["name"]: each for each in weather.api.get("/scores").json()["judges"]}
    assert before == {}  # no version was made yet
    assert weather.api.post("/scores/people", json={"name": "Ann"}).status_code == 200
    every = [pair for season in seasons for pair in season.pairs["Ann"]]
    for season in seasons:
        record = season.record("Ann")
        assert titles(record) == ["Season 1", "Season 2"]
        assert (record["known"], record["brier"]) == (2 * KNOWN, brier(every))
        assert [each["brier"] for each in record["panels"]] == [brier(one.pairs["Ann"]) for one in seasons]
        steps = record["calibration"]
        assert sum(step["count"] for step in steps) == 2 * KNOWN
        edges = (0, 0.1, 0.3, 0.5, 0.7, 0.9, 2)
        cells = [[pair for pair in every if low <= pair[0] < high] for low, high in pairwise(edges)]
        for cell, step in zip(filter(None, cells), steps, strict=True):
            expected = np.mean([p for p, _ in cell]), np.mean([truth for _, truth in cell]), len(cell)
            assert (step["said"], step["came_true"], step["count"]) == pytest.approx(expected)
        assert titles(season.record("Bob")) == [season.title]
        assert "Bob" not in json.dumps(season.links["Ann"].get("/sheet/closing").json())
    weather.api.post("/scores/people", json={"name": "Ann", "same": False}).raise_for_status()
    assert [titles(season.record("Ann")) for season in seasons] == [["Season 1"], ["Season 2"]]


def test_a_judge_who_is_invited_later_is_another_person_until_that_is_said(weather, seasons):
    weather.api.post("/scores/people", json={"name": "Ann"}).raise_for_status()
    later = Season(weather, "Season 3", 3, {"Ann": ""})
    assert titles(later.record("Ann")) == ["Season 3"]
    assert titles(seasons[0].record("Ann")) == ["Season 1", "Season 2"]
    weather.api.post("/scores/people", json={"name": "Ann"}).raise_for_status()
    assert titles(later.record("Ann")) == ["Season 1", "Season 2", "Season 3"]


def test_who_is_one_person_by_name_and_mail_address(weather):
    mail = "ann@example.org"
    first = Season(weather, "First", 1, {"Ann": mail, "Bob": mail})
    Season(weather, "Second", 2, {"Ann": mail.upper(), "Bob": ""})
    Season(weather, "Third", 3, {"Ann": "other@example.org", "Cid": mail})
    assert titles(first.record("Ann")) == ["First", "Second"]
    assert titles(first.record("Bob")) == ["First"]


def test_other_accounts_open_rounds_and_deleted_panels_do_not_count(weather, service):
    people = {"Ann": "ann@example.org"}
    first, gone = Season(weather, "First", 1, people), Season(weather, "Gone", 2, people)
    running = Season(weather, "Running", 3, people, is_closed=False)
    Season(Weather(service), "Elsewhere", 4, people)
    weather.api.delete(gone.path).raise_for_status()
    assert titles(first.record("Ann")) == ["First"]
    running.close()
    assert titles(first.record("Ann")) == ["First", "Running"]


def test_only_whose_panels_they_are_says_who_is_one_person(service, seasons):
    refused(service.facilitator().post("/scores/people", json={"name": "Ann"}), 404, "no such judge")
    refused(seasons[0].links["Ann"].post("/scores/people", json={"name": "Ann"}), 401)
    assert titles(seasons[0].record("Ann")) == ["Season 1"]


def test_the_facilitator_sees_who_is_one_person(weather, service, seasons):
    for season in seasons:
        weather.api.post(f"{season.path}/aggregations", json={}).raise_for_status()
    service.work()

    def known():
        found = weather.api.get("/scores").json()["judges"]
        return {each["name"]: (each["together"], each["same"], each["joined"]) for each in found}

    # The panel of the fixture has an Ann and a Bob, too.
    assert known() == {"Ann": (3, False, False), "Bob": (3, False, False)}
    weather.api.post("/scores/people", json={"name": "Ann"}).raise_for_status()
    assert known() == {"Ann": (3, True, True), "Bob": (3, False, False)}


def test_which_person_a_judge_is_goes_into_no_archive(weather, service, seasons):
    weather.api.post("/scores/people", json={"name": "Ann"}).raise_for_status()
    archive = weather.api.get(f"{seasons[0].path}/archive").content
    copied = weather.api.post("/panels/import", content=archive, headers={"Content-Type": "application/zip"}).json()
    judges = service.store.judges.list(copied["id"])
    assert [each.person for each in judges] == ["", ""]
    assert [bool(each.person) for each in service.store.judges.list(seasons[0].path[8:])] == [True, False]
