"""Feedback that ran out of time says so, everywhere; a busy machine changes nothing; asking again goes on."""

import threading
import time
from dataclasses import replace

import pytest

from coherently.explain.judge_sheet import (
    Answered,
    AnswerState,
    Attempts,
    Feedback,
    Item,
    SheetSetting,
    feedback,
    live_feedback,
    overview,
    panel_overview,
)
from coherently.explain.judge_sheet.attempts import processor_budget
from coherently.explain.recent_values import Lately, kept_with_owner
from tests.explain.judge_sheet.sheet_examples import ALICE, NORVIK, answered
from tests.web.api.service import Service, slower

PLENTY = 60.0


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """Each test looks at its answers for the first time."""
    monkeypatch.setattr(live_feedback, "_LATELY", Attempts(500, live_feedback.LONGEST))
    monkeypatch.setattr(live_feedback, "_CLASHES", Lately(500))
    monkeypatch.setattr(live_feedback, "_told_lately", kept_with_owner(lambda _: Lately(500)))


def test_nothing_fits_that_was_not_checked():
    told = feedback(NORVIK, answered(ALICE), time_limit=0.0)
    assert AnswerState.FITS not in told.states.values()
    assert set(told.states) == {one.event for one in answered(ALICE) if not one.abstained}
    assert not told.checked
    assert not told.finished
    plain = told.as_dict()
    assert (plain["checked"], plain["finished"]) == (False, False)
    assert set(plain["states"].values()) <= {"not-checked", "contradicts"}


def test_the_state_of_every_answer():
    told = feedback(NORVIK, answered(ALICE), time_limit=PLENTY)
    wrong = {event for clash in told.contradictions for event in clash.events}
    assert wrong
    assert {event for event, state in told.states.items() if state is AnswerState.CONTRADICTS} == wrong
    assert {state for event, state in told.states.items() if event not in wrong} == {AnswerState.FITS}
    assert told.checked
    assert told.finished


def test_what_cannot_be_read_is_not_said_to_fit():
    setting = SheetSetting((*NORVIK.items, Item("bad", "recession &", "bad", 10)), NORVIK.laws)
    told = feedback(setting, [*answered(ALICE), Answered("bad", 0.5)], time_limit=PLENTY)
    assert told.states["bad"] is AnswerState.TOO_MUCH
    assert told.finished  # more time would not help
    assert not told.checked
    broken = feedback(SheetSetting(NORVIK.items, ("p", "~p")), answered(ALICE), time_limit=PLENTY)
    assert set(broken.states.values()) == {AnswerState.TOO_MUCH}


def test_more_sets_than_are_looked_for_are_not_said_to_fit(monkeypatch):
    monkeypatch.setattr("coherently.explain.fit.piece_check.MOST_SETS", 0)
    events = ("a", "b", "c", "d", "exactly(1; a, b, c, d)")
    setting = SheetSetting(tuple(Item(event[:1] + str(i), event, event, i) for i, event in enumerate(events)))
    values = (0.1, 0.1, 0.1, 0.1, 0.9)
    told = feedback(setting, [Answered(i.id, v) for i, v in zip(setting.items, values, strict=True)], time_limit=PLENTY)
    assert told.contradictions == ()
    assert set(told.states.values()) == {AnswerState.NOT_CHECKED}


def test_contradictions_are_known_before_bands_and_changes(monkeypatch):
    """All time is gone once the contradictions are known: they are told all the same, and nothing looks finished."""
    stop = threading.Event()
    budget = processor_budget(PLENTY)
    look = live_feedback.looked_at

    def and_then_stop(*given):
        checks = look(*given)
        stop.set()
        return checks

    monkeypatch.setattr(live_feedback, "looked_at", and_then_stop)
    monkeypatch.setattr(live_feedback, "processor_budget", lambda _: replace(budget, cancel=stop))
    told = feedback(NORVIK, answered(ALICE))
    assert told.checked
    assert not told.finished
    assert len(told.contradictions) == 2
    assert all(clash.stuck and not clash.changes for clash in told.contradictions)
    assert told.bands == ()


def test_the_board_says_whose_answers_are_not_checked():
    board = overview(NORVIK, {"Alice": answered(ALICE), "Cem": []}, time_limit=0.0)
    assert (board.unchecked, board.averages_checked, board.checked, board.finished) == (("Alice",), False, False, False)
    again = overview(NORVIK, {"Alice": answered(ALICE), "Cem": []}, time_limit=PLENTY)
    assert (again.unchecked, again.averages_checked, again.checked, again.finished) == ((), True, True, True)
    told = feedback(NORVIK, answered(ALICE), time_limit=PLENTY)
    assert [c.key for c in again.contradictions["Alice"]] == [c.key for c in told.contradictions]


def test_asking_again_takes_more_time_until_it_is_finished():
    asked = []

    def find(seconds):
        asked.append(seconds)
        return Feedback(finished=seconds >= 2.0)

    kept = Attempts(10, most=4.0)
    assert [kept.get("sheet", 0.25, find).finished for _ in range(4)] == [False, False, True, True]
    assert asked == [0.25, 1.0, 4.0]
    asked.clear()
    never = Attempts(10, most=4.0)
    for _ in range(6):
        never.get("sheet", 0.25, lambda seconds: asked.append(seconds) or Feedback(finished=False))
    assert asked == [0.25, 1.0, 4.0]


def test_one_long_attempt_at_a_time():
    kept, begun, end = Attempts(10, most=4.0), threading.Event(), threading.Event()

    def slowly(seconds):
        if seconds > 0.25:
            begun.set()
            end.wait(PLENTY)
        return Feedback(finished=False)

    kept.get("one", 0.25, slowly)
    kept.get("other", 0.25, slowly)
    busy = threading.Thread(target=kept.get, args=("one", 0.25, slowly))
    busy.start()
    assert begun.wait(PLENTY)
    assert not kept.get("other", 0.25, slowly).finished  # at once, with what is known
    end.set()
    busy.join()


def test_the_clock_does_not_count_while_others_work():
    """Time that passes without this thread's work is not spent; its own work is."""
    budget = processor_budget(0.2)
    time.sleep(0.3)
    assert not budget.is_over()
    begun = time.thread_time()
    while time.thread_time() - begun < 0.25:
        pass
    assert budget.is_over()
    seen = []
    asking = threading.Thread(target=lambda: seen.append(budget.is_over()))
    asking.start()
    asking.join()
    assert seen == [True]


def test_the_board_and_the_sheet_say_the_same(tmp_path, monkeypatch):
    """Without time both say that not all is checked, by page and by call; with time both have the same count."""
    usual = processor_budget
    limits = slower(feedback_seconds=0.25)
    with Service(f"sqlite:///{tmp_path}/store.db", limits) as service, service.client(follow_redirects=True) as http:
        http.headers["X-CSRF-Token"] = http.post("/session", json={}).json()["csrf_token"]
        path = f"/panels/{http.post('/panels', json={'title': 'Weather'}).json()['id']}"
        for event in ("rain", "rain & wind"):
            http.post(f"{path}/questions", json={"title": event, "events": [{"event": event}]}).raise_for_status()
        judge = service.client(http.post(f"{path}/judges", json={"name": "Ann"}).json()["secret"])
        events = [one["events"][0]["id"] for one in judge.get("/sheet").json()["questions"]]
        for module in (live_feedback, panel_overview):
            monkeypatch.setattr(module, "processor_budget", lambda _: usual(0.0))
        drafts = [{"event": event, "probability": p} for event, p in zip(events, (0.3, 0.4), strict=True)]
        assert judge.post("/sheet/answers", json={"answers": drafts}).json()["feedback"]["checked"] is False
        board = http.get(f"{path}/board").json()
        assert (board["overview"]["checked"], len(board["overview"]["unchecked"])) == (False, 1)
        page = http.get(f"{service.url}{path}/board").text
        assert "Nobody is known to contradict themselves, but not everything is checked yet." in page
        assert "Not checked: Ann and the averages." in page
        assert "Everybody’s answers fit together" not in page
        for module in (live_feedback, panel_overview):
            monkeypatch.setattr(module, "processor_budget", usual)
        board = http.get(f"{path}/board").json()["overview"]  # asking again is enough
        (clashes,) = board["contradictions"].values()
        told = judge.get("/sheet").json()["feedback"]
        assert board["checked"]
        assert told["checked"]
        assert [one["key"] for one in clashes] == [one["key"] for one in told["contradictions"]]
        assert "1 of 1 contradicts themselves" in http.get(f"{service.url}{path}/board").text


def test_only_the_piece_of_a_new_answer_is_looked_at_again(monkeypatch):
    setting = SheetSetting(tuple(Item(event, event, event, i) for i, event in enumerate(("p", "p & q", "r", "r & s"))))
    values = dict(zip(("p", "p & q", "r", "r & s"), (0.3, 0.4, 0.5, 0.6), strict=True))
    before = feedback(setting, [Answered(*one) for one in values.items()], time_limit=PLENTY)
    look, asked = live_feedback.looked_at, []

    def noted(answers, meant, budget, pieces):
        asked.append([[setting.items[i].id for i in piece.items] for piece in pieces])
        return look(answers, meant, budget, pieces)

    monkeypatch.setattr(live_feedback, "looked_at", noted)
    changed = [Answered(*one) for one in (values | {"r & s": 0.2}).items()]
    after = feedback(setting, changed, time_limit=PLENTY)
    assert asked == [[["r", "r & s"]]]
    assert [clash.sentence for clash in after.contradictions] == [before.contradictions[0].sentence]
    monkeypatch.setattr(live_feedback, "_told_lately", kept_with_owner(lambda _: Lately(500)))
    monkeypatch.setattr(live_feedback, "_LATELY", Attempts(500, live_feedback.LONGEST))
    assert feedback(setting, changed, time_limit=PLENTY) == after
    fewer = feedback(setting, changed[:3], time_limit=PLENTY)  # the first piece is the same without the last answer
    assert asked[-1] == [["r"]]
    assert fewer.contradictions == after.contradictions
    meant = feedback(setting, changed, frozenset({after.contradictions[0].key}), PLENTY)
    assert meant.contradictions[0].meant
