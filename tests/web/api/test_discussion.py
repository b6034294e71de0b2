"""The discussion: reasons without names, minds that they change, replies, what is hidden, what moved, and the end."""

import json
from random import Random
from statistics import mean

import pytest

import coherently as co
from tests.web.api.service import Weather, refused

NAMES = ("Ann", "Bob", "Cid", "Dee")


class Debate(Weather):
    """Four judges who gave numbers and reasons, and a round that is closed."""

    def __init__(self, service):
        super().__init__(service)
        made = [service.judge(self.api, self.id, name) for name in NAMES[2:]]
        self.judges = dict(zip(NAMES, (self.ann, self.bob, *(client for client, _ in made)), strict=True))
        self.ids = dict(
            zip(NAMES, (self.ann_record["id"], self.bob_record["id"], *(one["id"] for _, one in made)), strict=True)
        )
        for number, judge in enumerate(self.judges.values()):
            for event in ("rain", "wind"):
                self.give(judge, event, 0.1 + 0.2 * number, f"Reason {number} about {event}.")

    def give(self, judge, event, probability, reason=""):
        draft = {"event": self.events[event], "probability": probability, "reason": reason}
        judge.post("/sheet/answers", json={"answers": [draft]}).raise_for_status()

    def go(self, phase, **more):
        self.api.post(f"{self.path}/rounds", json={"phase": phase, "hide_numbers": False, **more}).raise_for_status()

    def voices(self, name):
        return self.judges[name].get("/sheet").json()["voices"]

    def voice(self, reader, author, event="rain"):
        text = f"Reason {NAMES.index(author)} about {event}."
        return next(one for one in self.voices(reader) if one["text"] == text)


@pytest.fixture
def debate(service):
    made = Debate(service)
    made.go("discussion")
    return made


def test_reasons_have_numbers_and_no_names(debate):
    found = debate.voices("Ann")
    assert len(found) == 8
    for one in found:
        author = int(one["text"].split()[1])
        assert one["probability"] == pytest.approx(0.1 + 0.2 * author)
        assert one["mine"] == (author == 0)
    text = json.dumps(found)
    for name in NAMES:
        assert name not in text
        assert debate.ids[name] not in text
    rain = [one["probability"] for one in found if "rain" in one["text"] and not one["mine"]]
    assert rain == sorted(rain, reverse=True)  # the farthest from one's own number first


def test_nobody_can_be_followed_from_question_to_question(debate):
    keys = [one["key"] for one in debate.voices("Ann")]
    assert len(set(keys)) == 8
    assert {one["key"] for one in debate.voices("Bob")} == set(keys)  # one key per reason, whoever reads
    again = Debate(debate.service)
    again.go("discussion")
    assert not set(keys) & {one["key"] for one in again.voices("Ann")}


def test_hidden_numbers_are_nowhere_on_the_sheet(debate):
    debate.go("discussion", hide_numbers=True)
    sheet = debate.judges["Ann"].get("/sheet").json()
    assert sheet["others"] is None
    assert len(sheet["voices"]) == 8
    assert [one["probability"] for one in sheet["voices"]] == [None] * 8
    keys = [one["key"] for one in sheet["voices"] if not one["mine"]]
    assert keys == sorted(keys)  # no order tells what is hidden


def test_a_mind_is_changed_counted_and_taken_back(debate):
    key = debate.voice("Ann", "Bob")["key"]
    for judge in ("Ann", "Cid", "Cid"):
        told = debate.judges[judge].post("/sheet/minds", json={"reason": key}).json()
        assert told["changed"]
    assert told["minds"] == 2
    assert debate.voice("Bob", "Bob")["minds"] == 2
    assert not debate.voice("Dee", "Bob")["changed"]
    refused(debate.judges["Bob"].post("/sheet/minds", json={"reason": key}), 409, "your own")
    (seen,) = [one for one in debate.api.get(f"{debate.path}/reasons").json()["reasons"] if one["key"] == key]
    assert (seen["author"], seen["minds"]) == ("Bob", 2)
    assert "Ann" not in json.dumps(seen)
    assert "Cid" not in json.dumps(seen)
    assert debate.judges["Cid"].delete(f"/sheet/minds/{key}").json()["minds"] == 1
    refused(debate.judges["Cid"].post("/sheet/minds", json={"reason": "r_0123456789"}), 404)


def test_replies_are_nameless_too(debate):
    key = debate.voice("Ann", "Bob")["key"]
    debate.judges["Ann"].post("/sheet/comments", json={"reason": key, "text": "Not in May."}).raise_for_status()
    debate.api.post(f"{debate.path}/comments", json={"reason": key, "text": "Why May?"}).raise_for_status()
    told = [(one["text"], one["author"], one["mine"]) for one in debate.voice("Bob", "Bob")["replies"]]
    assert told == [("Not in May.", None, False), ("Why May?", "facilitator", False)]
    assert debate.voice("Ann", "Bob")["replies"][0]["mine"]
    assert debate.judges["Ann"].get("/sheet/comments").json()["comments"] == []
    (seen,) = [one for one in debate.api.get(f"{debate.path}/reasons").json()["reasons"] if one["key"] == key]
    assert [one["author"] for one in seen["replies"]] == ["Ann", "facilitator"]


def test_the_facilitator_hides_and_shows_again(debate):
    key = debate.voice("Ann", "Bob")["key"]
    reply = debate.judges["Ann"].post("/sheet/comments", json={"reason": key, "text": "Rude."}).json()["id"]
    path = f"{debate.path}/comments/{reply}/hidden"
    assert debate.api.put(path).status_code == 204
    assert debate.voice("Dee", "Bob")["replies"] == []
    assert debate.api.delete(path).status_code == 204
    assert len(debate.voice("Dee", "Bob")["replies"]) == 1
    assert debate.api.put(f"{debate.path}/reasons/{key}/hidden").json()["hidden"]
    assert "Reason 1 about rain." not in json.dumps(debate.voices("Dee"))
    assert debate.voice("Bob", "Bob")["hidden"]  # the author is told
    refused(debate.judges["Dee"].post("/sheet/comments", json={"reason": key, "text": "x"}), 404)
    refused(debate.judges["Dee"].post("/sheet/minds", json={"reason": key}), 404)
    assert not debate.api.delete(f"{debate.path}/reasons/{key}/hidden").json()["hidden"]
    assert debate.voice("Dee", "Bob")
    other = Weather(debate.service)
    refused(other.api.put(f"{debate.path}/reasons/{key}/hidden"), 404)
    refused(other.api.put(f"{other.path}/reasons/{key}/hidden"), 404)
    refused(other.api.put(f"{other.path}/comments/{reply}/hidden"), 404)


def test_nothing_is_discussed_before_and_after(service):
    debate = Debate(service)
    assert debate.voices("Ann") == []
    (key,) = {
        one["key"]
        for one in debate.api.get(f"{debate.path}/reasons").json()["reasons"]
        if one["text"] == "Reason 1 about rain."
    }
    refused(debate.judges["Ann"].post("/sheet/minds", json={"reason": key}), 409, "in the discussion")
    refused(debate.judges["Ann"].post("/sheet/comments", json={"reason": key, "text": "x"}), 409)
    debate.go("closed")
    refused(debate.judges["Ann"].post("/sheet/comments", json={"text": "x"}), 409, "closed")
    refused(debate.api.post(f"{debate.path}/comments", json={"text": "x"}), 409, "closed")


def test_what_moved_is_known_once_the_revision_is_closed(debate):
    assert debate.api.get(f"{debate.path}/moves").json() == {"known": False, "moves": []}
    debate.go("revision")
    assert debate.judges["Ann"].get("/sheet").json()["earlier"][0]["probability"] == pytest.approx(0.1)
    debate.give(debate.judges["Ann"], "rain", 0.4)
    debate.give(debate.judges["Bob"], "rain", 0.3)  # as before
    assert debate.api.get(f"{debate.path}/moves").json() == {"known": False, "moves": []}
    debate.go("closed")
    found = debate.api.get(f"{debate.path}/moves").json()
    assert found["known"]
    rain = next(one for one in found["moves"] if one["event"] == debate.events["rain"])
    assert rain["changed"] == 1
    assert rain["before"] == pytest.approx([0.1, 0.3, 0.5, 0.7])
    assert rain["after"] == pytest.approx([0.3, 0.4, 0.5, 0.7])
    wind = next(one for one in found["moves"] if one["event"] == debate.events["wind"])
    assert wind["changed"] == 0


@pytest.mark.parametrize("seed", range(3))
def test_in_a_revision_nobody_is_told_by_elimination(service, seed):
    """Numbers of round 1 are known with their names: a board with one new number among them would tell whose it is."""
    random = Random(seed)
    debate = Debate(service)
    debate.go("discussion")
    debate.go("revision")
    new = {}
    for place, (name, judge) in enumerate(debate.judges.items()):
        for event in ("rain", "wind", "rain & wind"):
            if random.random() < 0.5:
                value = round(0.011 + 0.0137 * place + random.randrange(60) / 100, 4)
                new.setdefault(event, {})[name] = value
                debate.give(judge, event, value)
        board = debate.api.get(f"{debate.path}/board")
        shown = {one["event"]: one["answers"] for one in board.json()["overview"]["spreads"]}
        for event, given in new.items():
            if len(given) < 2:
                assert not set(given.values()) & set(shown[debate.events[event]])
                assert all(str(value) not in board.text for value in given.values())
        told = debate.api.get(f"{debate.path}/forecasts").json()["forecasts"]
        assert all(one["probability"] is None for one in told if one["round"] == 2)
        if new:
            refused(debate.api.get(f"{debate.path}/export.csv"), 409, "still open")
            refused(debate.api.post(f"{debate.path}/aggregations", json={}), 409, "still open")


def close_panel(debate):
    debate.go("closed")
    debate.api.post(f"{debate.path}/aggregations", json={}).raise_for_status()
    debate.service.work()


def test_at_the_end_a_judge_sees_the_result_beside_the_own_numbers(debate):
    ann = debate.judges["Ann"]
    refused(ann.get("/sheet/closing"), 409, "not closed")
    debate.go("revision")
    debate.give(ann, "rain", 0.2)
    debate.go("closed")
    waiting = ann.get("/sheet/closing").json()
    assert (waiting["version"], waiting["events"], waiting["score"]) == (None, [], None)
    close_panel(debate)
    found = ann.get("/sheet/closing").json()
    rows = [(name, event, 0.1 + 0.2 * i) for i, name in enumerate(NAMES) for event in ("rain", "wind")]
    rows[0] = ("Ann", "rain", 0.2)
    expected = co.aggregate(co.Panel.from_records(rows))
    made = {one["event"]: one["probability"] for one in found["events"]}
    assert made == {event: pytest.approx(expected.probability(event), abs=1e-9) for event in ("rain", "wind")}
    assert [(one["text"], one["own"], one["before"]) for one in found["rows"]] == [
        ("rain", 0.2, pytest.approx(0.1)),
        ("wind", pytest.approx(0.1), pytest.approx(0.1)),
        ("rain & wind", None, None),
    ]
    assert found["fates"] == []
    for name in NAMES[1:]:
        assert name not in json.dumps(found)


def test_a_version_without_all_answers_is_not_the_result(debate):
    debate.aggregate()  # after round 1
    debate.go("revision")
    debate.give(debate.judges["Ann"], "rain", 0.2)
    debate.go("closed")
    assert debate.judges["Ann"].get("/sheet/closing").json()["version"] is None
    close_panel(debate)
    assert debate.judges["Ann"].get("/sheet/closing").json()["version"] == 2


def test_every_contradiction_has_an_end(debate):
    ann, bob, cid = (debate.judges[name] for name in NAMES[:3])
    debate.events["storm"] = debate.ask("storm")
    debate.api.post(f"{debate.path}/laws", json={"statement": "wind -> storm", "title": "Wind is a storm"})
    debate.go("revision")
    debate.give(ann, "rain & wind", 0.5)  # above 10 % for each
    debate.give(bob, "rain & wind", 0.6)
    debate.give(cid, "storm", 0.2)  # below wind, against the law
    for one in bob.get("/sheet").json()["feedback"]["contradictions"]:
        bob.post("/sheet/meant", json={"key": one["key"], "reason": "Gusts."}).raise_for_status()
    debate.go("discussion")
    debate.go("revision")
    debate.give(ann, "rain & wind", 0.1)
    law = debate.api.get(f"{debate.path}/laws").json()["laws"][0]["id"]
    assert debate.api.delete(f"{debate.path}/laws/{law}").status_code == 204
    close_panel(debate)
    fates = {name: debate.judges[name].get("/sheet/closing").json()["fates"] for name in NAMES}
    assert {one["fate"] for one in fates["Ann"]} == {"changed"}
    assert {(one["fate"], one["reason"], one["meant"]) for one in fates["Bob"]} == {("meant", "Gusts.", True)}
    assert [one["fate"] for one in fates["Cid"]] == ["dropped"]
    assert fates["Dee"] == []


def test_the_own_score_is_that_of_brute_force(debate):
    close_panel(debate)
    ann = debate.judges["Ann"]
    assert ann.get("/sheet/closing").json()["score"] is None
    debate.api.post(f"{debate.path}/outcomes", json={"event": "rain", "outcome": True}).raise_for_status()
    found = ann.get("/sheet/closing").json()
    made = {one["event"]: one["probability"] for one in found["events"]}
    score = found["score"]
    assert (score["known"], score["answered"]) == (1, 2)
    assert score["own"] == pytest.approx(0.81)
    assert score["panel"] == pytest.approx((made["rain"] - 1) ** 2)
    debate.api.post(f"{debate.path}/outcomes", json={"event": "wind", "outcome": False}).raise_for_status()
    score = ann.get("/sheet/closing").json()["score"]
    given = {event: [0.1, 0.3, 0.5, 0.7] for event in ("rain", "wind")}
    outcome = {"rain": 1, "wind": 0}
    of = lambda value: mean(  # noqa: E731
        (value(event, p) - outcome[event]) ** 2 for event, numbers in given.items() for p in numbers
    )
    assert score["own"] == pytest.approx(mean([0.81, 0.01]))
    assert score["panel"] == pytest.approx(of(lambda event, _: made[event]))
    assert score["average"] == pytest.approx(of(lambda event, _: mean(given[event])))
    assert score["judges"] == pytest.approx(of(lambda _, p: p))
    assert score["worst"] == [debate.events["rain"]]
    assert score["best"] == [debate.events["wind"]]
