"""What the facilitator sees: spreads, contradictions, what to ask next, and what needs no law."""

import itertools

import numpy as np
import pytest

from coherently.explain.judge_sheet import (
    Answered,
    Item,
    SheetSetting,
    ask_next,
    averages,
    feedback,
    follows,
    overview,
    rises,
)
from tests.explain.judge_sheet.sheet_examples import ALICE, NORVIK, Brute, answered

BOB = ALICE | {"both": 20, "stop": 40, "recession": 45}


def test_overview():
    board = overview(NORVIK, {"Alice": answered(ALICE), "Bob": answered(BOB), "Cem": []}, time_limit=60.0)
    assert board.checked
    spread = {one.event: one for one in board.spreads}
    assert (spread["recession"].low, spread["recession"].mean, spread["recession"].high) == (0.3, 0.375, 0.45)
    assert spread["recession"].answers == (0.3, 0.45)
    assert spread["gins"].count == 0
    assert [one.event for one in board.widest][:2] == ["stop", "both"]
    assert set(board.contradictions) == {"Alice"}
    told = [clash.key for clash in feedback(NORVIK, answered(ALICE), time_limit=60.0).contradictions]
    assert [clash.key for clash in board.contradictions["Alice"]] == told
    assert board.of_averages == ()
    plain = board.as_dict()
    assert plain["widest"][0] == "stop"
    assert len(plain["contradictions"]["Alice"]) == 2


def test_what_is_meant_is_marked():
    key = feedback(NORVIK, answered(ALICE), time_limit=60.0).contradictions[1].key
    board = overview(NORVIK, {"Alice": answered(ALICE)}, {"Alice": {key}}, time_limit=60.0)
    assert [clash.meant for clash in board.contradictions["Alice"]] == [None, True]


def test_abstentions_and_last_answers():
    own = [Answered("cut", 0.2), Answered("cut", 0.4), Answered("recession", None, abstained=True)]
    assert averages(NORVIK, {"Alice": own}) == (Answered("cut", 0.4),)


def test_ask_next():
    found = ask_next(NORVIK, {"Alice": answered(BOB)}, count=3, time_limit=60.0)
    assert len(found) == 3
    assert [one.width for one in found] == sorted((one.width for one in found), reverse=True)
    assert len({frozenset(one.event.split(" & ")) for one in found}) == 3
    assert found[0].sentence.endswith("is open.")
    assert ask_next(NORVIK, {"Alice": []}) == ()


@pytest.mark.parametrize("seed", range(8))
def test_ask_next_by_brute_force(seed):
    """The widest bounds of all conjunctions of two variables, where nothing else was asked."""
    sheet = Brute(seed, conditionals=0)
    singles = [Item(name, name, name, number) for number, name in enumerate("pqrs", 1)]
    truth = np.array([[world[i] for world in sheet.worlds] for i in range(4)], float)
    share = np.array([sheet.chance.expovariate(1.0) for _ in sheet.worlds])
    value = truth @ (share / share.sum())
    answers = {"Ann": [Answered(item.id, float(v)) for item, v in zip(singles, value, strict=True)]}
    found = ask_next(SheetSetting(tuple(singles)), answers, count=6, time_limit=60.0)
    widths = {}
    for i, j in itertools.combinations(range(4), 2):
        low, high = max(0.0, value[i] + value[j] - 1.0), min(value[i], value[j])
        widths[f"{'pqrs'[i]} & {'pqrs'[j]}"] = (low, high)
    assert {one.event for one in found} == {event for event, (low, high) in widths.items() if high - low >= 0.01}
    for one in found:
        assert (one.low, one.high) == pytest.approx(widths[one.event], abs=1e-6)


def test_what_was_asked_is_not_asked_again():
    setting = SheetSetting((Item("a", "p", "p", 1), Item("b", "q", "q", 2), Item("c", "~(p & q)", "not both", 3)))
    assert ask_next(setting, {"Ann": [Answered("a", 0.5), Answered("b", 0.5)]}) == ()


def test_follows():
    assert [line.replace("\N{NO-BREAK SPACE}", " ") for line in follows(NORVIK)] == [
        "Question 4: the four options make 100 %.",
        "Question 5: a later step is never less likely.",
        "Question 3 is never likelier than 1 or 2.",
        "Question 7 is never likelier than 1 or 6.",
        "Question 8 times question 1 is question 7.",
    ]
    assert follows(SheetSetting((Item("a", "p &", "p", 1),))) == ()


def test_rises():
    assert rises(NORVIK, ["t1", "t2", "t3", "t4"])
    assert not rises(NORVIK, ["t4", "t3"])
