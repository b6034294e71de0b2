"""What a judge sees, sends, and does not see."""

import threading

from tests.web.api.service import refused


def test_answers_are_kept_and_feedback_comes_with_them(weather):
    saved = weather.say(weather.ann, rain=0.75, wind=0.2, rain_wind=0.4).json()
    (clash,) = saved["feedback"]["contradictions"]
    assert clash["events"] == [weather.events["wind"], weather.events["rain & wind"]]
    sheet = weather.ann.get("/sheet").json()
    assert sheet["saved"] == saved["saved"]
    assert [answer["probability"] for answer in sheet["answers"]] == [0.75, 0.2, 0.4]
    assert sheet["feedback"] == saved["feedback"]
    changes = weather.ann.post("/sheet/fit", json={"key": clash["key"]}).json()["changes"]
    fitting = {change["event"]: change["to"] for change in changes}
    tried = {"answers": [{"event": event, "probability": p} for event, p in fitting.items()]}
    assert weather.ann.post("/sheet/try", json=tried).json()["feedback"]["contradictions"] == []
    assert weather.ann.get("/sheet").json()["answers"] == sheet["answers"]


def test_a_contradiction_can_be_meant_and_taken_back(weather):
    found = weather.say(weather.ann, wind=0.2, rain_wind=0.4).json()["feedback"]["contradictions"][0]
    refused(weather.ann.post("/sheet/meant", json={"key": "k0"}), 404)
    meant = weather.ann.post("/sheet/meant", json={"key": found["key"], "reason": "Gusts."}).json()
    assert meant["feedback"]["contradictions"][0]["meant"]
    (doubt,) = weather.api.get(f"{weather.path}/board").json()["doubts"]
    assert (doubt["judge"], doubt["reason"], doubt["sentence"]) == ("Ann", "Gusts.", "")  # the sentence has numbers
    assert weather.ann.get("/sheet").json()["meant"][0]["key"] == found["key"]
    back = weather.ann.delete(f"/sheet/meant/{found['key']}").json()
    assert not back["feedback"]["contradictions"][0]["meant"]
    weather.ann.post("/sheet/meant", json={"key": found["key"], "reason": "Gusts."})
    weather.close()
    (doubt,) = weather.api.get(f"{weather.path}/board").json()["doubts"]
    assert doubt["sentence"] == found["sentence"]


def test_abstaining_and_taking_an_answer_back(weather):
    rain = weather.events["rain"]
    weather.say(weather.ann, rain=0.3)
    weather.ann.post("/sheet/answers", json={"answers": [{"event": rain, "abstained": True}]})
    (answer,) = weather.ann.get("/sheet").json()["answers"]
    assert (answer["abstained"], answer["probability"]) == (True, None)
    weather.ann.post("/sheet/answers", json={"answers": [{"event": rain}]})
    assert weather.ann.get("/sheet").json()["answers"] == []
    both = {"answers": [{"event": rain, "abstained": True, "probability": 0.2}]}
    refused(weather.ann.post("/sheet/answers", json=both), 422, "not both")


def test_nothing_is_lost_and_the_past_can_be_seen(weather):
    weather.say(weather.ann, rain=0.3)
    before = weather.say(weather.ann, rain=0.4).json()["saved"]
    while weather.say(weather.ann, rain=0.5).json()["saved"] == before:
        pass
    weather.close()
    history = weather.api.get(f"{weather.path}/forecasts").json()["forecasts"]
    assert [each["probability"] for each in history][:2] == [0.3, 0.4]
    stood = weather.api.get(f"{weather.path}/forecasts", params={"as_of": before}).json()["forecasts"]
    assert [each["probability"] for each in stood] == [0.4]


def test_forecasts_come_in_pages(weather):
    for i in range(7):
        weather.say(weather.ann, rain=i / 10)
    weather.close()
    seen, after = [], "0"
    while after is not None:
        page = weather.api.get(f"{weather.path}/forecasts", params={"limit": 3, "after": after}).json()
        seen += [each["probability"] for each in page["forecasts"]]
        after = page["after"]
    assert seen == [i / 10 for i in range(7)]
    only = weather.api.get(f"{weather.path}/forecasts", params={"judge": weather.bob_record["id"]}).json()
    assert only == {"forecasts": [], "after": None}


def test_a_judge_sees_no_numbers_of_others_until_the_round_opens_them(weather):
    weather.say(weather.ann, rain=0.123)
    weather.say(weather.bob, rain=0.987)
    _, cid = weather.service.judge(weather.api, weather.id, "Cid")
    weather.bob.post("/sheet/comments", json={"text": "Dark clouds."})
    advance = lambda **draft: weather.api.post(f"{weather.path}/rounds", json=draft)  # noqa: E731
    private = weather.ann.get("/sheet")
    assert private.json()["others"] is None
    assert "0.987" not in private.text
    assert weather.ann.get("/sheet/comments").json()["comments"] == []
    advance(phase="discussion", hide_numbers=True)
    hidden = weather.ann.get("/sheet")
    assert "0.987" not in hidden.text
    (comment,) = weather.ann.get("/sheet/comments").json()["comments"]
    assert (comment["text"], comment["author"], comment["mine"]) == ("Dark clouds.", None, False)
    advance(phase="discussion", hide_numbers=False)
    assert weather.ann.get("/sheet").json()["others"] == []  # of two judges one would know whose it is
    record = {"judge": cid["id"], "event": weather.events["rain"]}
    weather.api.post(f"{weather.path}/forecasts", json={"forecasts": [record | {"probability": 0.5}]})
    assert weather.ann.get("/sheet").json()["others"][0]["probabilities"] == [0.5, 0.987]
    advance(phase="revision", hide_numbers=False)
    weather.say(weather.bob, rain=0.555)
    assert weather.ann.get("/sheet").json()["others"][0]["probabilities"] == [0.5, 0.987]
    assert "Bob" not in weather.ann.get("/sheet").text


def test_handing_in(weather):
    weather.say(weather.ann, rain=0.3)
    time = weather.ann.post("/sheet/hand-in").json()["handed_in"]
    assert weather.ann.get("/sheet").json()["handed_in"] == time
    states = {judge["name"]: judge for judge in weather.api.get(f"{weather.path}/judges").json()["judges"]}
    assert (states["Ann"]["handed_in"], states["Ann"]["answered"]) == (time, 1)
    assert (states["Bob"]["handed_in"], states["Bob"]["answered"]) == (None, 0)


def test_the_same_key_records_nothing_twice(weather):
    first = weather.say(weather.ann, "key 1".replace(" ", "-"), rain=0.3).json()
    again = weather.say(weather.ann, "key-1", rain=0.3).json()
    assert again["saved"] == first["saved"]
    refused(weather.say(weather.ann, "key-1", rain=0.4), 409, "key")
    assert weather.say(weather.bob, "key-1", rain=0.4).status_code == 200
    assert len(weather.api.get(f"{weather.path}/forecasts").json()["forecasts"]) == 2


def test_the_same_key_at_the_same_time_records_once(weather):
    replies = []

    def send():
        replies.append(weather.say(weather.ann, "at-once", rain=0.3).json()["saved"])

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(replies)) == 1
    assert len(weather.api.get(f"{weather.path}/forecasts").json()["forecasts"]) == 1


def test_keys_of_different_callers_have_nothing_to_do_with_each_other(weather):
    key = {"Idempotency-Key": "remark"}
    for judge in (weather.ann, weather.bob, weather.ann):
        assert judge.post("/sheet/comments", json={"text": "Dark clouds."}, headers=key).status_code == 201
    comments = weather.api.get(f"{weather.path}/comments").json()["comments"]
    assert [comment["author"] for comment in comments] == ["Ann", "Bob"]
    for _ in range(2):
        answer = weather.api.post(f"{weather.path}/comments", json={"text": "Indeed."}, headers=key)
        assert answer.json()["author"] == "facilitator"
    assert len(weather.api.get(f"{weather.path}/comments").json()["comments"]) == 3


def test_the_facilitator_records_all_or_nothing(weather):
    rows = [
        {"judge": weather.ann_record["id"], "event": weather.events["rain"], "probability": 0.2},
        {"judge": weather.bob_record["id"], "event": weather.events["wind"], "probability": None},
    ]
    key = {"Idempotency-Key": "bulk"}
    made = weather.api.post(f"{weather.path}/forecasts", json={"forecasts": rows}, headers=key)
    assert made.status_code == 201
    assert [row["state"] for row in made.json()["forecasts"]] == ["given", "abstained"]
    assert weather.api.post(f"{weather.path}/forecasts", json={"forecasts": rows}, headers=key).json() == made.json()
    wrong = [rows[0], {**rows[0], "event": "e_unknown"}]
    refused(weather.api.post(f"{weather.path}/forecasts", json={"forecasts": wrong}), 404)
    assert len(weather.api.get(f"{weather.path}/forecasts").json()["forecasts"]) == 2
