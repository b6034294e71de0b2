"""Panels, questions, laws and judges over REST, on both kinds of store."""

import pytest

from coherently.errors import CoherentlyError
from tests.web.api.service import Service, Weather, refused, slower


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


def numbers(weather):
    """The numbers of the questions by title, in their order."""
    listed = weather.api.get(f"{weather.path}/questions").json()["questions"]
    return {one["title"]: one["number"] for one in listed}


def question_of(weather, title):
    listed = weather.api.get(f"{weather.path}/questions").json()["questions"]
    return f"{weather.path}/questions/{next(one['id'] for one in listed if one['title'] == title)}"


def test_numbers_close_up_and_a_question_comes_back_where_it_stood(weather):
    weather.say(weather.ann, wind=0.4)
    path = question_of(weather, "wind")
    assert weather.api.delete(path).status_code == 204
    assert numbers(weather) == {"rain": 1, "rain & wind": 2}
    refused(weather.api.patch(path, json={"title": "Gone"}), 404)
    both = weather.api.patch(question_of(weather, "rain & wind"), json={"group": "Storm"}).json()
    assert (both["title"], both["group"], both["number"]) == ("rain & wind", "Storm", 2)
    assert weather.ann.get("/sheet").json()["feedback"]["bands"] == []
    assert weather.api.post(f"{path}/restore").json()["number"] == 2
    assert numbers(weather) == {"rain": 1, "wind": 2, "rain & wind": 3}
    assert weather.ann.get("/sheet").json()["answers"][0]["probability"] == 0.4
    weather.api.delete(path)
    assert (
        weather.api.post(f"{weather.path}/questions", json={"title": "hail", "events": [{"event": "hail"}]}).json()[
            "number"
        ]
        == 3
    )


def test_questions_are_moved_and_answers_stay_with_them(weather):
    weather.say(weather.ann, rain=0.75, wind=0.2, rain_wind=0.4)
    weather.api.delete(question_of(weather, "wind"))
    weather.api.post(f"{weather.path}/questions", json={"title": "hail", "events": [{"event": "hail"}]})
    order = ["rain", "rain & wind", "hail"]
    for title, place in (("hail", 1), ("rain", 3), ("rain & wind", 1), ("hail", 99), ("hail", 2)):
        told = weather.api.post(f"{question_of(weather, title)}/place", json={"number": place}).json()
        order.remove(title)
        order.insert(min(place, 3) - 1, title)
        assert told["number"] == order.index(title) + 1
        assert list(numbers(weather).items()) == [(one, i) for i, one in enumerate(order, 1)]
    answers = {one["event"]: one["probability"] for one in weather.ann.get("/sheet").json()["answers"]}
    assert answers[weather.events["rain"]] == 0.75
    assert answers[weather.events["rain & wind"]] == 0.4


def test_a_formula_is_changed_until_somebody_answers(weather):
    path = question_of(weather, "rain & wind")
    event = {"id": weather.events["rain & wind"], "event": "rain | wind", "title": "either"}
    told = weather.api.patch(path, json={"title": "either", "events": [event]}).json()
    assert (told["title"], told["events"][0]["event"]) == ("either", "rain | wind")
    error = refused(weather.api.patch(path, json={"events": [event | {"event": "rain &"}]}), 422, "after '&'")
    assert error["where"]["field"] == "body.events.0.event"
    weather.ann.post("/sheet/answers", json={"answers": [{"event": event["id"], "probability": 0.5}]})
    refused(weather.api.patch(path, json={"events": [event | {"event": "rain"}]}), 409, "judges have answered")
    assert weather.api.patch(path, json={"events": [event | {"title": "one of them"}]}).status_code == 200


def test_a_question_and_a_panel_are_copied(weather):
    partition = {
        "kind": "partition",
        "title": "Who wins?",
        "declaration": "variable winner: Ann, Bob",
        "events": [{"event": "winner = Ann", "title": "Ann"}, {"event": "winner = Bob", "title": "Bob"}],
    }
    weather.api.post(f"{weather.path}/questions", json=partition).raise_for_status()
    made = weather.api.post(f"{question_of(weather, 'wind')}/copy")
    assert (made.status_code, made.json()["number"], made.json()["events"][0]["event"]) == (201, 3, "wind")
    assert weather.api.post(f"{question_of(weather, 'Who wins?')}/copy").status_code == 201
    weather.api.post(f"{weather.path}/laws", json={"statement": "wind -> rain"}).raise_for_status()
    weather.say(weather.ann, rain=0.5)
    copy = weather.api.post(f"{weather.path}/copy", json={"title": "Weather again"}).json()
    assert (copy["title"], copy["questions"], copy["laws"], copy["judges"]) == ("Weather again", 6, 1, 0)
    assert weather.api.get(f"/panels/{copy['id']}/forecasts").json()["forecasts"] == []


def test_a_deleted_panel_comes_back_with_its_links(weather):
    other = Weather(weather.service)
    assert weather.api.delete(weather.path).status_code == 204
    refused(weather.ann.get("/sheet"), 401)
    refused(other.api.post(f"{weather.path}/restore"), 404)
    assert weather.api.post(f"{weather.path}/restore").json()["title"] == "Weather"
    assert weather.ann.get("/sheet").status_code == 200


def test_a_panel_that_is_put_aside_is_what_it_was(weather):
    before = weather.api.get(weather.path).json()
    assert before["aside"] is False
    assert weather.api.patch(weather.path, json={"aside": True}).json() == before | {"aside": True}
    assert [each["aside"] for each in weather.api.get("/panels").json()["panels"]] == [True]
    assert weather.ann.get("/sheet").status_code == 200
    assert weather.api.patch(weather.path, json={"title": "Weather"}).json()["aside"] is True
    archive = weather.api.get(f"{weather.path}/archive").content
    copied = weather.api.post("/panels/import", content=archive, headers={"Content-Type": "application/zip"}).json()
    assert copied["aside"] is False
    assert weather.api.post(f"{weather.path}/restore").json() == before


def test_names_that_nothing_else_uses_are_told_until_they_are_kept(weather):
    def told():
        found = weather.api.get(f"{weather.path}/names").json()["names"]
        return {one["name"]: (one["question"], one["near"], one["alone"]) for one in found}

    assert told() == {}
    for text in ("rainn & wind", "frost"):
        weather.ask(text)
    assert told() == {"rainn": (4, "rain", False), "frost": (5, None, True)}
    weather.api.post(f"{weather.path}/names", json={"name": "frost"}).raise_for_status()
    assert set(told()) == {"rainn"}
    refused(weather.api.post(f"{weather.path}/names", json={"name": "rain"}), 404)
    weather.api.post(f"{weather.path}/laws", json={"statement": "rainn -> rain"}).raise_for_status()
    assert told() == {}


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


def test_a_board_does_not_die_of_what_it_cannot_suggest(weather):
    """Two questions of nine variables each: together they have more than a formula may have."""
    texts = [" & ".join(f"{letter}{n}" for n in range(9)) for letter in "vw"]
    events = [weather.ask(text) for text in texts]
    answers = [{"event": event, "probability": 0.5} for event in events]
    assert weather.ann.post("/sheet/answers", json={"answers": answers}).status_code == 200
    assert weather.api.get(f"{weather.path}/board").status_code == 200
    weather.close()
    assert weather.api.get(f"{weather.path}/board").json()["round"]["phase"] == "discussion"


def test_questions_beyond_what_pages_can_show_are_refused_while_they_are_written(store_url):
    with Service(store_url, slower(questions=3, events=4)) as service:
        weather = Weather(service)
        title = {"title": "More", "kind": "partition"}
        draft = title | {"events": [{"event": f"more{i}", "title": f"more {i}"} for i in range(2)]}
        path = f"{weather.path}/questions"
        words = ("The panel has 3 questions, and this would be one more.", "at most 3 questions", "in another panel")
        refused(weather.api.post(path, json=draft), 429, *words)
        first = weather.api.get(path).json()["questions"][0]["id"]
        weather.api.delete(f"{path}/{first}").raise_for_status()
        draft["events"] += [{"event": "more2", "title": "more 2"}]
        words = (
            "The panel has 2 events, and this question would bring 3 more.",
            "at most 4 events",
            "in another panel",
        )
        refused(weather.api.post(path, json=draft), 429, *words)
        draft["events"].pop()
        assert weather.api.post(path, json=draft).status_code == 201
