"""What to ask next, over the API: what the library says of a version, and nothing of a round that is open."""

import httpx
import pytest

import coherently as co
from tests.web.api.service import Weather, panel_of, refused

SAID = {"rain": 0.7, "wind": 0.4, "storm": 0.3, "flood given hail": 0.6}


@pytest.fixture
def weather(service):
    found = Weather(service)
    for text in ("storm", "flood given hail"):
        found.events[text] = found.ask(text)
    found.api.post(f"{found.path}/laws", json={"statement": "storm -> wind"}).raise_for_status()
    say(found, found.ann, SAID)
    say(found, found.bob, {"rain": 0.5, "wind": 0.6})
    return found


def say(weather, judge, given):
    answers = [{"event": weather.events[text], "probability": value} for text, value in given.items()]
    judge.post("/sheet/answers", json={"answers": answers}).raise_for_status()


def ask(weather, path, about="all"):
    answer = weather.api.get(f"{path}/next-questions", params={"about": about})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_is_open_is_what_the_library_says(weather):
    weather.close()
    path = weather.aggregate()
    panel, _ = panel_of(weather.api.get(f"{path}/result").json())
    found = ask(weather, path)
    texts = [each["event"] for each in found["questions"]]
    assert texts[0] == "flood & hail"
    assert {"hail", "flood", "rain & storm"} <= set(texts)
    assert not set(texts) & set(weather.events)
    expected = co.ask_next(panel, 8, candidates=texts)
    told = co.NextQuestions.from_dict(found["next_questions"])
    assert found["sentences"] == told.sentences() == expected.sentences()
    assert found["open"] == pytest.approx(expected.open, abs=1e-6)
    about = ask(weather, path, weather.events["rain"])
    (best,) = (each for each in about["questions"] if each["event"] == "rain & storm")
    expected = co.ask_next(panel, about="rain", candidates=["rain & storm"])
    assert best["gain"] == pytest.approx(expected.questions[0].gain, abs=1e-6)
    assert best["gain"] > 0.1


def test_contradictions_are_what_the_library_says(weather):
    say(weather, weather.ann, {"rain & wind": 0.9})
    weather.close()
    path = weather.aggregate(weights={weather.bob_record["id"]: 3.0})
    panel, _ = panel_of(weather.api.get(f"{path}/result").json())
    found = ask(weather, path, "contradictions")
    expected = co.ask_next(panel, 8, about="contradictions")
    assert found["open"] == pytest.approx(expected.open, abs=1e-9)
    assert found["open"] > 0.01
    assert [each["event"] for each in found["questions"]] == [one.event for one in expected.questions]
    assert found["questions"][0]["title"] == "rain & wind"


def test_what_cannot_be_asked_is_refused_in_words(weather):
    weather.close()
    path = weather.aggregate()
    address, target = f"{path}/next-questions", weather.events["flood given hail"]
    refused(weather.api.get(address, params={"about": target}), 422, "leaves the probability of the condition open")
    refused(weather.api.get(address, params={"about": "e_none"}), 404, "There is no such event.")
    refused(weather.api.get(address, params={"about": "rain"}), 422, "about")


def test_a_question_that_was_added_is_suggested_no_more(weather):
    weather.close()
    path = weather.aggregate()
    assert "rain & storm" in [each["event"] for each in ask(weather, path)["questions"]]
    weather.ask("rain & storm")
    assert "rain & storm" not in [each["event"] for each in ask(weather, path)["questions"]]


def test_numbers_of_an_open_round_change_nothing(weather):
    assert weather.api.get(f"{weather.path}/aggregations").json()["aggregations"] == []
    weather.close()
    path = weather.aggregate()
    weather.api.post(f"{weather.path}/rounds", json={"phase": "revision"}).raise_for_status()
    say(weather, weather.ann, {"rain": 0.01, "rain & wind": 0.99})
    refused(weather.api.post(f"{weather.path}/aggregations", json={}), 409, "round")
    panel, _ = panel_of(weather.api.get(f"{path}/result").json())
    assert ask(weather, path, "contradictions")["open"] == co.ask_next(panel, about="contradictions").open


def test_judges_and_other_accounts_see_nothing(weather, service):
    weather.close()
    address = f"{weather.aggregate()}/next-questions"
    refused(weather.ann.get(address), 401)
    refused(service.http.get(address), 401)
    other = Weather(service)
    refused(other.api.get(address), 404)
    refused(other.api.get(address.replace(weather.id, other.id)), 404)
    page = f"{service.url}{weather.path}/next"
    for headers in ({}, *({"Authorization": each.headers["Authorization"]} for each in (weather.ann, other.api))):
        answer = httpx.get(page, headers=headers)
        assert answer.status_code == 404
        assert "hail" not in answer.text
