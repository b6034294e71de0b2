"""Weights, leaving out, recipes, what past panels teach, influence, and scores over panels."""

import numpy as np
import pytest

import coherently as co
from tests.web.api.service import Weather, panel_of, refused

SAID = {"Ann": {"rain": 0.7, "wind": 0.4, "rain_wind": 0.5}, "Bob": {"rain": 0.3, "wind": 0.6, "rain_wind": 0.1}}


@pytest.fixture
def weather(service):
    found = Weather(service)
    found.say(found.ann, **SAID["Ann"])
    found.say(found.bob, **SAID["Bob"])
    found.close()
    return found


def rows(**left):
    names = {"rain_wind": "rain & wind"}
    return [(judge, names.get(k, k), p) for judge, given in SAID.items() for k, p in given.items() if judge not in left]


def numbers(weather, path):
    return {row["event"]: row["probability"] for row in weather.api.get(f"{path}/result").json()["events"]}


def test_weights_count_and_the_result_verifies_with_them(weather):
    path = weather.aggregate(weights={weather.ann_record["id"]: 3.0})
    body = weather.api.get(f"{path}/result").json()
    expected = co.aggregate(co.Panel.from_records(rows()), weights={"Ann": 3.0, "Bob": 1.0})
    assert body["aggregation"]["weights"] == {"Ann": 3.0}
    for event, value in numbers(weather, path).items():
        assert value == pytest.approx(expected.probability(event), abs=1e-6)
    panel, result = panel_of(body)
    assert co.verify(panel, result)
    assert sorted({row["weight"] for row in body["forecasts"]}) == [1.0, 3.0]
    script = weather.api.get(f"{path}/forecasts.py").text
    told = {}
    exec(script, told)
    assert told["result"].probability("rain") == pytest.approx(expected.probability("rain"), abs=1e-6)


def test_a_judge_of_weight_0_and_one_who_is_left_out_are_the_same(weather):
    bob = weather.bob_record["id"]
    expected = co.aggregate(co.Panel.from_records(rows(Bob=True)))
    for draft in ({"weights": {bob: 0.0}}, {"without": [bob]}):
        path = weather.aggregate(**draft)
        assert weather.api.get(path).json()["left_out"] == ["Bob"]
        assert numbers(weather, path) == pytest.approx(
            {event: expected.probability(event) for event in ("rain", "wind", "rain & wind")}, abs=1e-6
        )


def test_a_question_and_a_law_are_left_out(weather):
    law = weather.api.post(f"{weather.path}/laws", json={"statement": "rain -> wind", "title": "Wet is windy"}).json()
    questions = weather.api.get(f"{weather.path}/questions").json()["questions"]
    both = next(each for each in questions if each["title"] == "rain & wind")
    path = weather.aggregate(without=[both["id"], law["id"]])
    body = weather.api.get(f"{path}/result").json()
    assert body["aggregation"]["left_out"] == ["rain & wind", "Wet is windy"]
    assert numbers(weather, path) == pytest.approx({"rain": 0.5, "wind": 0.5})
    assert body["laws"] == []


def test_what_is_not_of_the_panel_cannot_be_left_out_or_weighed(weather, service):
    other = Weather(service)
    for draft in ({"without": [other.ann_record["id"]]}, {"weights": {other.ann_record["id"]: 1.0}}):
        refused(weather.api.post(f"{weather.path}/aggregations", json=draft), 404, "The panel has no judge")
    everyone = [weather.ann_record["id"], weather.bob_record["id"]]
    refused(weather.api.post(f"{weather.path}/aggregations", json={"without": everyone}), 409, "no answer is left")


def test_a_recipe_file_is_used(weather):
    recipe = co.Recipe("median", exponent=1.5)
    path = weather.aggregate(method=recipe.as_dict())
    body = weather.api.get(f"{path}/result").json()
    expected = co.aggregate(co.Panel.from_records(rows()), recipe)
    assert body["aggregation"]["method"] == "recipe"
    assert numbers(weather, path)["rain"] == pytest.approx(expected.probability("rain"), abs=1e-6)
    assert co.Recipe.from_dict(body["recipe"]).exponent == 1.5
    told = {}
    exec(weather.api.get(f"{path}/forecasts.py").text, told)
    assert told["result"].probability("wind") == pytest.approx(expected.probability("wind"), abs=1e-6)
    wrong = weather.api.post(f"{weather.path}/aggregations", json={"method": {**recipe.as_dict(), "pool": "guess"}})
    refused(wrong, 422, "pool")


def past_panel(weather, service, count, seed):
    """A panel of the same account and judges, with outcomes: Ann knows, Bob guesses; names repeat between panels."""
    api, rng = weather.api, np.random.default_rng(seed)
    panel = api.post("/panels", json={"title": f"Past {seed}"}).json()["id"]
    events = []
    for number in range(count):
        draft = {"title": f"Event {number}", "events": [{"event": f"e{number}", "title": ""}]}
        events.append(api.post(f"/panels/{panel}/questions", json=draft).json()["events"][0]["id"])
    truth = rng.random(count) < 0.5
    for name, skill in (("Ann", 0.9), ("Bob", 0.55)):
        judge = api.post(f"/panels/{panel}/judges", json={"name": name}).json()
        said = np.where(truth, skill, 1 - skill) + rng.normal(0, 0.05, count)
        given = [{"judge": judge["id"], "event": e, "probability": float(np.clip(p, 0.01, 0.99))}
                 for e, p in zip(events, said, strict=True)]  # fmt: skip
        api.post(f"/panels/{panel}/forecasts", json={"forecasts": given}).raise_for_status()
    for event, value in zip(events, truth, strict=True):
        api.post(f"/panels/{panel}/outcomes", json={"event": event, "outcome": bool(value)}).raise_for_status()
    api.post(f"/panels/{panel}/rounds", json={"phase": "closed"}).raise_for_status()
    api.post(f"/panels/{panel}/aggregations", json={}).raise_for_status()
    service.work()
    return panel


def test_weights_and_a_recipe_are_learned_from_past_panels(weather, service):
    refused(weather.api.post(f"{weather.path}/aggregations", json={"learn": "weights"}), 409, "nothing to learn from")
    first = past_panel(weather, service, 12, 1)
    past_panel(weather, service, 12, 2)
    path = weather.aggregate(learn="weights")
    found = weather.api.get(path).json()
    assert found["weights"]["Ann"] > 1 > found["weights"]["Bob"] > 0
    assert "past Brier scores" in found["summary"]["learned"]
    body = weather.api.get(f"{path}/result").json()
    assert co.verify(*panel_of(body))
    path = weather.aggregate(learn="recipe", past=[first])
    body = weather.api.get(f"{path}/result").json()
    assert body["aggregation"]["method"] == "recipe"
    assert body["aggregation"]["summary"]["learned"]
    recipe = co.Recipe.from_dict(body["recipe"])
    expected = co.aggregate(co.Panel.from_records(rows()), recipe)
    assert numbers(weather, path)["rain"] == pytest.approx(expected.probability("rain"), abs=1e-6)


def test_the_influence_is_that_of_the_library(weather):
    path = weather.aggregate()
    found = weather.api.get(f"{path}/influence").json()
    result = co.aggregate(co.Panel.from_records(rows()))
    table = result.influence()
    for row in found["left_out"]:
        kind = {"question": "event"}.get(row["kind"], row["kind"])
        own = next(each for each in table.of_kind(kind) if each.name == row["name"])
        np.testing.assert_allclose(np.array(row["change"], float), own.change, atol=1e-6)
    assert {row["kind"] for row in found["left_out"]} == {"judge", "question"}
    bob = weather.bob_record["id"]
    assert bob in {row["id"] for row in found["left_out"]}
    without = weather.api.get(f"{path}/influence", params={"without": bob}).json()
    (row,) = without["left_out"]
    alone = co.aggregate(co.Panel.from_records(rows(Bob=True)))
    at = [without["probability"][i] + row["change"][i] for i in range(3)]
    np.testing.assert_allclose(at, [alone.probability(event) for event in without["events"]], atol=1e-6)
    refused(weather.api.get(f"{path}/influence", params={"without": "j_none"}), 404, "no judge, question or law")


def test_why_a_number_is_what_it_is_is_that_of_the_library(weather, service):
    path = weather.aggregate()
    titles = {event: weather.api.get(f"{path}/result").json()["events"] for event in weather.events}
    labels = {row["event"]: row["title"] for rows_ in titles.values() for row in rows_ if row["title"]}
    result = co.aggregate(co.Panel.from_records(rows(), labels=labels))
    for event, name in weather.events.items():
        found = weather.api.get(f"{path}/why", params={"event": name}).json()
        why = result.why(event)
        assert (found["event"], found["why"]["event"]) == (name, event)
        assert found["why"]["probability"] == pytest.approx(why.probability, abs=1e-6)
        assert found["sentences"] == list(why.sentences)
        moved = {(one["kind"], one["name"]): one["change"] for one in found["why"]["pulls"]}
        assert moved == pytest.approx({(one.kind, one.name): one.change for one in why.pulls}, abs=1e-6, nan_ok=True)
    later = weather.ask("hail")
    refused(weather.api.get(f"{path}/why", params={"event": later}), 404, "no such event in this version")
    refused(weather.api.get(f"{path}/why"), 422)
    refused(service.facilitator().get(f"{path}/why", params={"event": name}), 404)
    refused(weather.ann.get(f"{path}/why", params={"event": name}), 401)


def test_a_question_of_several_events_is_left_out_as_a_whole(service):
    weather = Weather(service)
    draft = {"kind": "ladder", "title": "When?", "declaration": "variable due: date",
             "events": [{"event": f"due <= 2027-0{month}-01", "title": f"by {month}"} for month in (3, 6)]}  # fmt: skip
    ladder = weather.api.post(f"{weather.path}/questions", json=draft).json()
    for judge, values in ((weather.ann, (0.6, 0.4)), (weather.bob, (0.2, 0.3))):
        given = [{"event": e["id"], "probability": p} for e, p in zip(ladder["events"], values, strict=True)]
        judge.post("/sheet/answers", json={"answers": given}).raise_for_status()
    weather.say(weather.ann, rain=0.5)
    weather.close()
    found = weather.api.get(f"{weather.aggregate()}/influence").json()
    assert "left_out" in found, found
    row = next(each for each in found["left_out"] if each["id"] == ladder["id"])
    assert row["change"] == [None, None, 0.0]
    assert sum(each["kind"] == "question" for each in found["left_out"]) == 2


def brier(pairs):
    return np.mean([(p - truth) ** 2 for p, truth in pairs])


def test_scores_per_answer_and_per_event(service):
    weather = Weather(service)
    weather.say(weather.ann, rain=0.7, wind=0.4)
    weather.say(weather.bob, rain=0.3)
    weather.close()
    path = weather.aggregate()
    refused(weather.api.get(f"{path}/scores"), 409, "No outcome")
    for event, value in (("rain", True), ("wind", False)):
        weather.api.post(f"{weather.path}/outcomes", json={"event": event, "outcome": value}).raise_for_status()
    found = weather.api.get(f"{path}/scores").json()
    assert found["coherent"]["per_answer"] == pytest.approx(brier([(0.5, 1), (0.5, 1), (0.4, 0)]))
    assert found["coherent"]["per_event"] == pytest.approx(brier([(0.5, 1), (0.4, 0)]))
    assert found["average"]["per_answer"] == pytest.approx(found["coherent"]["per_answer"])
    judges = {each["name"]: each["per_answer"] for each in found["judges"]}
    assert judges == pytest.approx({"Ann": brier([(0.7, 1), (0.4, 0)]), "Bob": 0.49})


def test_judges_are_scored_over_all_panels_of_the_account(weather, service):
    assert weather.api.get("/scores").json() == {"panels": [], "judges": []}
    past_panel(weather, service, 12, 3)
    past_panel(weather, service, 12, 4)
    found = weather.api.get("/scores").json()
    assert [each["title"] for each in found["panels"]] == ["Past 3", "Past 4"]
    ann, bob = found["judges"]
    assert (ann["name"], ann["panels"], ann["known"], bob["known"]) == ("Ann", 2, 24, 24)
    assert ann["brier"] < bob["brier"]
    assert sum(step["count"] for step in ann["calibration"]) == 24
    assert service.facilitator().get("/scores").json() == {"panels": [], "judges": []}
