"""Questions at the limits of formulas: no page and no call dies of what is made of them."""

import random

import pytest

from coherently.explain.judge_sheet import (
    Answered,
    AnswerState,
    Item,
    SheetSetting,
    ask_next,
    feedback,
    fit,
    follows,
    overview,
)
from tests.web.api.service import API, Service


def joined(sign, name, count):
    return f" {sign} ".join(f"{name}{i}" for i in range(count))


LAWS = ("variable rate: number", "variable winner: Ann, Bob, ...")
EVENTS = (
    joined("&", "supplier", 9),
    joined("&", "market", 9),
    joined("|", "wide", 16),
    joined("^", "odd", 16),
    f"~({joined('&', 'supplier', 16)})",
    "~(" * 30 + "deep" + ")" * 30,
    "(".join(f"nested{i % 8} & " for i in range(31)) + "nested9" + ")" * 30,
    " & ".join(f"long{'x' * 980}{i}" for i in range(10)),
    " | ".join(f"longer{'y' * 1090}{i}" for i in range(9)),
    f"exactly(3; {', '.join(f'of{i}' for i in range(40))})",
    f"{joined('&', 'supplier', 8)} given {joined('&', 'market', 8)}",
    "rate > 3",
    "rate > 5 & winner = Ann",
    "true",
    "false",
    "dull | ~dull",
)
"""Formulas of as many variables, letters and levels as may be, and of none at all."""


def sheet_of(events, seed=0):
    chance = random.Random(seed)
    items = tuple(Item(f"e{i}", event, f"title {i}", i + 1) for i, event in enumerate(events))
    return SheetSetting(items, LAWS), [Answered(item.id, round(chance.random(), 2)) for item in items]


def look_at_all(setting, answers):
    told = feedback(setting, answers, time_limit=2.0)
    assert set(told.states) == {answer.event for answer in answers}
    board = overview(setting, {"Ann": answers, "Bob": answers[::2]})
    assert len(board.spreads) == len(setting.items)
    for one in ask_next(setting, {"Ann": answers}):
        assert len(one.event) <= 10_000
        assert (
            feedback(SheetSetting((*setting.items, Item("new", one.event, one.title, 99)), LAWS), answers) is not None
        )
    assert isinstance(follows(setting), tuple)
    for clash in told.contradictions[:1]:
        assert isinstance(fit(setting, answers, clash.key), tuple)


@pytest.mark.parametrize("seed", range(10))
def test_any_questions_at_the_limits(seed):
    chance = random.Random(seed)
    look_at_all(*sheet_of(chance.sample(EVENTS, chance.randint(2, 7)), seed))


def test_two_questions_that_cannot_be_asked_together():
    setting, answers = sheet_of(EVENTS[:2])
    assert ask_next(setting, {"Ann": answers}) == ()
    three = SheetSetting((*setting.items, Item("rain", "rain", "rain", 3)))
    found = ask_next(three, {"Ann": [*(Answered(each.event, 0.5) for each in answers), Answered("rain", 0.5)]})
    assert len(found) == 2
    assert all("rain" in one.event for one in found)


def test_what_is_always_or_never_true_is_checked():
    setting, _ = sheet_of(("true", "false", "dull | ~dull", "rain"))
    told = feedback(setting, [Answered("e0", 0.9), Answered("e1", 0.0), Answered("e2", 0.4), Answered("e3", 0.3)])
    expected = [AnswerState.CONTRADICTS, AnswerState.FITS, AnswerState.CONTRADICTS, AnswerState.FITS]
    assert list(told.states.values()) == expected
    assert [(band.low, band.high) for band in told.bands] == [(1, 1), (0, 0), (1, 1), (0, 1)]


def test_all_pages_and_calls_of_a_panel_at_the_limits(tmp_path):
    with Service(f"sqlite:///{tmp_path}/store.db") as service, service.client(follow_redirects=True) as http:
        http.headers["X-CSRF-Token"] = http.post("/session", json={}).json()["csrf_token"]
        path = f"/panels/{http.post('/panels', json={'title': 'Limits'}).json()['id']}"
        for law in LAWS:
            http.post(f"{path}/laws", json={"statement": law}).raise_for_status()
        asked = [
            http.post(f"{path}/questions", json={"title": f"question {i}", "events": [{"event": event}]}).json()
            for i, event in enumerate(EVENTS)
        ]
        for name in ("Ann", "Bob"):
            made = http.post(f"{path}/judges", json={"name": name}).json()
            drafts = [{"event": one["events"][0]["id"], "probability": 0.5} for one in asked]
            judge = service.client(made["secret"])
            assert judge.post("/sheet/answers", json={"answers": drafts}).status_code == 200
            assert judge.get("/sheet").status_code == 200
            assert judge.get(f"{service.url}/j/{made['secret']}", follow_redirects=True).status_code == 200
        for part in ("/questions", "/preview", "/board", "/discussion", "/results"):
            assert http.get(f"{service.url}{path}{part}").status_code == 200, part
        for part in ("/board", "/laws", "/questions", "/names"):
            assert http.get(f"{API}{path}{part}".removeprefix(API)).status_code == 200, part
        for phase in ("discussion", "revision", "closed"):
            assert http.post(f"{path}/rounds", json={"phase": phase}).status_code == 201
        assert http.get(f"{path}/export.py").status_code == 200
