"""Panels, questions, laws and judges over REST, on both kinds of store."""

import pytest

from coherently.errors import CoherentlyError
from tests.web.api.service import refused


def test_a_panel_is_made_edited_listed_and_deleted(service):
    api = service.facilitator()
    made = api.post("/panels", json={"title": "Economy", "description": "Ten questions."})
    assert made.status_code == 201
    panel = made.json()
    assert panel["round"] == {
        "number": 1,
        "phase": "private",
        "closes_at": None,
        "hide_numbers": True,
        "time": panel["created"],
    }
    path = f"/panels/{panel['id']}"
    assert api.patch(path, json={"title": "Economy 2026"}).json()["title"] == "Economy 2026"
    assert api.get(path).json()["description"] == "Ten questions."
    assert panel["tag"] == ""
    assert api.patch(path, json={"tag": "economy"}).json()["tag"] == "economy"
    assert api.patch(path, json={"title": "Economy 2027"}).json()["tag"] == "economy"
    refused(api.patch(path, json={"tag": "x" * 41}), 422)
    assert api.post("/panels", json={"title": "Other", "tag": "weather"}).json()["tag"] == "weather"
    assert {each["tag"] for each in api.get("/panels").json()["panels"]} == {"economy", "weather"}
    api.delete(f"/panels/{api.get('/panels').json()['panels'][0]['id']}")
    assert [each["id"] for each in api.get("/panels").json()["panels"]] == [panel["id"]]
    assert api.delete(path).status_code == 204
    refused(api.get(path), 404)
    assert api.get("/panels").json() == {"panels": []}


def test_panels_come_in_pages(service):
    api = service.facilitator()
    ids = [api.post("/panels", json={"title": f"Panel {i}"}).json()["id"] for i in range(5)]
    first = [each["id"] for each in api.get("/panels", params={"limit": 2}).json()["panels"]]
    rest = [each["id"] for each in api.get("/panels", params={"limit": 9, "after": first[-1]}).json()["panels"]]
    assert sorted([*first, *rest]) == sorted(ids)
    assert len(first) == 2


def test_questions_and_laws_are_read_together(weather):
    api, path = weather.api, weather.path
    assert [q["number"] for q in api.get(f"{path}/questions").json()["questions"]] == [1, 2, 3]
    draft = {
        "kind": "partition",
        "title": "Who wins?",
        "declaration": "variable winner: Ann, Bob, Cid",
        "events": [{"event": f"winner = {name}", "title": name} for name in ("Ann", "Bob", "Cid")],
    }
    question = api.post(f"{path}/questions", json=draft).json()
    assert [event["event"] for event in question["events"]] == ["winner = Ann", "winner = Bob", "winner = Cid"]
    law = api.post(f"{path}/laws", json={"statement": "storm -> wind & rain"}).json()
    refused(api.post(f"{path}/laws", json={"statement": "~(storm -> wind & rain)"}), 422, "contradict")
    refused(api.post(f"{path}/laws", json={"statement": "storm ->"}), 422, "column 9")
    assert [each["statement"] for each in api.get(f"{path}/laws").json()["laws"]] == ["storm -> wind & rain"]
    assert api.delete(f"{path}/laws/{law['id']}").status_code == 204
    refused(api.delete(f"{path}/laws/{law['id']}"), 404)
    assert api.get(f"{path}/laws").json()["laws"] == []


def test_a_declaration_that_others_need_stays(weather):
    api, path = weather.api, weather.path
    draft = {
        "title": "Growth",
        "kind": "ladder",
        "declaration": "variable growth: number",
        "events": [{"event": "growth < 1"}],
    }
    question = api.post(f"{path}/questions", json=draft).json()
    api.post(f"{path}/questions", json={"title": "Both", "events": [{"event": "growth < 0 & rain"}]})
    refused(api.delete(f"{path}/questions/{question['id']}"), 409, "need it")


def test_a_question_keeps_its_number_when_another_is_withdrawn(weather):
    api, path = weather.api, weather.path
    first, second, third = api.get(f"{path}/questions").json()["questions"]
    assert api.delete(f"{path}/questions/{second['id']}").status_code == 204
    assert [q["number"] for q in api.get(f"{path}/questions").json()["questions"]] == [1, 3]
    edited = api.patch(f"{path}/questions/{third['id']}", json={"title": "Both", "group": "Storm"}).json()
    assert (edited["title"], edited["group"], edited["events"]) == ("Both", "Storm", third["events"])
    refused(api.patch(f"{path}/questions/{second['id']}", json={"title": "Gone"}), 404)
    assert first["title"] == "rain"


def test_a_draft_is_read_while_it_is_typed(weather):
    found = weather.api.post(f"{weather.path}/read", json={"text": "rain &"}).json()
    assert found["column"] == 7
    assert "expected an event" in found["fault"]
    same = weather.api.post(f"{weather.path}/read", json={"text": "~(~rain | ~wind)"}).json()
    assert same["same_as"] == 3


def test_judges_are_invited_once_and_links_end(weather):
    api, path = weather.api, weather.path
    refused(api.post(f"{path}/judges", json={"name": "Ann"}), 409, "Ann")
    judges = api.get(f"{path}/judges")
    assert [judge["name"] for judge in judges.json()["judges"]] == ["Ann", "Bob"]
    assert weather.ann_record["secret"] not in judges.text
    judge = weather.ann_record["id"]
    renewed = api.post(f"{path}/judges/{judge}/link").json()
    refused(weather.ann.get("/sheet"), 401)
    new = weather.service.client(renewed["secret"])
    assert new.get("/sheet").json()["judge"] == {"name": "Ann"}
    assert api.delete(f"{path}/judges/{judge}/link").status_code == 204
    refused(new.get("/sheet"), 401, "Ask who sent it")


def test_judges_are_invited_all_or_none(weather):
    from coherently.web.access.callers import AccountCaller
    from coherently.web.operations.invitations import invite_judges
    from coherently.web.shapes.judging_shapes import JudgeDraft

    store = weather.service.store
    caller = AccountCaller(store.panels.get(weather.id).owner, "tests")
    for names in (("Cem", "Dora", "Cem"), ("Cem", "Bob", "Dora")):
        with pytest.raises(CoherentlyError, match=r"twice|already"):
            invite_judges(weather.service.bench, caller, weather.id, [JudgeDraft(name=name) for name in names])
        assert [judge.name for judge in store.judges.list(weather.id)] == ["Ann", "Bob"]
    made = invite_judges(weather.service.bench, caller, weather.id, [JudgeDraft(name=name) for name in ("Cem", "Dora")])
    assert [judge.name for judge in store.judges.list(weather.id)] == ["Ann", "Bob", *(judge.name for judge in made)]
    assert all(weather.service.client(judge.secret).get("/sheet").status_code == 200 for judge in made)


def test_rounds_follow_each_other(weather):
    api, path = weather.api, weather.path
    for phase, number in [("discussion", 1), ("revision", 2), ("closed", 2)]:
        found = api.post(f"{path}/rounds", json={"phase": phase, "closes_at": "2031-03-31T12:00:00+02:00"}).json()
        assert (found["phase"], found["number"], found["closes_at"]) == (phase, number, "2031-03-31T10:00:00.000Z")
    assert [each["phase"] for each in api.get(f"{path}/rounds").json()["rounds"]] == [
        *("private", "discussion", "revision", "closed")
    ]
    refused(weather.say(weather.ann, rain=0.5), 409, "closed")


@pytest.mark.parametrize(
    "closes_at", ["tomorrow", "2026-13-01T00:00:00Z", "2026-01-01", 5, "9999-12-31T23:59:59-23:59"]
)
def test_times_are_times(weather, closes_at):
    refused(weather.api.post(f"{weather.path}/rounds", json={"phase": "discussion", "closes_at": closes_at}), 422)


def test_outcomes_must_go_together(weather):
    api, path = weather.api, weather.path
    assert api.post(f"{path}/outcomes", json={"event": "rain & wind", "outcome": True}).status_code == 201
    refused(api.post(f"{path}/outcomes", json={"event": "rain", "outcome": False}), 422)
    api.post(f"{path}/outcomes", json={"event": "rain & wind", "outcome": None})
    assert api.post(f"{path}/outcomes", json={"event": "rain", "outcome": False}).status_code == 201
    assert [(o["event"], o["outcome"]) for o in api.get(f"{path}/outcomes").json()["outcomes"]] == [("rain", False)]


def test_an_outcome_is_taken_by_the_id_of_an_event_or_of_its_question_and_refused_if_it_resolves_nothing(weather):
    api, path = weather.api, weather.path
    rain, wind, _ = api.get(f"{path}/questions").json()["questions"]
    for event, text in ((rain["id"], "rain"), (wind["events"][0]["id"], "wind")):
        answer = api.post(f"{path}/outcomes", json={"event": event, "outcome": True})
        assert (answer.status_code, answer.json()["event"]) == (201, text)
    assert {each["event"] for each in api.get(f"{path}/outcomes").json()["outcomes"]} == {"rain", "wind"}
    for event in ("q_1234567890", "snow", "true"):
        error = refused(api.post(f"{path}/outcomes", json={"event": event, "outcome": True}), 422, "resolve nothing")
        assert (error["code"], error["where"]["field"]) == ("unknown-event", "body.event")
    events = [{"event": f"winner = {name}", "title": name} for name in ("Ann", "Bob")]
    draft = {"kind": "partition", "title": "Who", "events": events, "declaration": "variable winner: Ann, Bob"}
    who = api.post(f"{path}/questions", json=draft).json()
    error = refused(api.post(f"{path}/outcomes", json={"event": who["id"], "outcome": True}), 422, "2 events")
    assert error["allowed"] == ", ".join(each["id"] for each in who["events"])
    assert api.post(f"{path}/outcomes", json={"event": "winner", "outcome": "Ann"}).status_code == 201


def test_what_is_made_with_a_key_is_made_once(service):
    api = service.facilitator()
    key = {"Idempotency-Key": "first"}
    made = [api.post("/panels", json={"title": "Weather"}, headers=key).json() for _ in range(2)]
    assert made[0] == made[1]
    path = f"/panels/{made[0]['id']}"
    drafts = {
        "questions": {"title": "rain", "events": [{"event": "rain", "title": "rain"}]},
        "laws": {"statement": "storm -> rain"},
        "judges": {"name": "Ann"},
    }
    for name, draft in drafts.items():
        first, again = (api.post(f"{path}/{name}", json=draft, headers=key) for _ in range(2))
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json()["id"] == again.json()["id"]
        assert len(api.get(f"{path}/{name}").json()[name]) == 1
        other = {**draft, "title": "other"} if name != "judges" else {"name": "Bob"}
        assert refused(api.post(f"{path}/{name}", json=other, headers=key), 409)["code"] == "key-used"
    assert len(api.get("/panels").json()["panels"]) == 1


def test_the_secret_of_a_link_is_shown_once(service):
    api = service.facilitator()
    path = f"/panels/{api.post('/panels', json={'title': 'Weather'}).json()['id']}/judges"
    first, again = (api.post(path, json={"name": "Ann"}, headers={"Idempotency-Key": "k"}).json() for _ in range(2))
    assert first["secret"]
    assert first["link"].endswith(first["secret"])
    assert again == {**first, "secret": None, "link": None}
    assert service.client(first["secret"]).get("/sheet").status_code == 200


def test_a_text_that_cannot_be_read_is_placed_in_the_body(weather):
    api, path = weather.api, weather.path
    events = [{"event": "snow", "title": "snow"}, {"event": "snow & & ice", "title": "both"}]
    error = refused(api.post(f"{path}/questions", json={"title": "Winter", "kind": "ladder", "events": events}), 422)
    where = error["where"]
    assert (error["code"], where["field"], where["event"]) == ("bad-event", "body.events.1.event", "snow & & ice")
    assert where["span"] == [7, 8]
    error = refused(api.post(f"{path}/laws", json={"statement": "storm -> "}), 422)
    assert (error["code"], error["where"]["field"]) == ("bad-event", "body.statement")
    api.post(f"{path}/laws", json={"statement": "rain"})
    error = refused(api.post(f"{path}/laws", json={"statement": "~rain"}), 422)
    assert error["code"] == "contradictory-laws"
    assert [each["where"]["field"] for each in error["problems"]] == [None, "body.statement"]
