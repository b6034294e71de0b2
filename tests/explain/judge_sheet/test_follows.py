"""What follows from meanings is found among events that share variables: the same as among all pairs."""

import random

import numpy as np
import pytest

from coherently.explain.judge_sheet import Item, SheetSetting, follows, panel_overview

LAWS = ("variable w: x, y, z", "variable rate: number")


def every_pair(sheet):
    plain = np.flatnonzero(~sheet.conditional).tolist()
    return ((i, plain) for i in plain)


def sheet_of(rng):
    names = [f"v{k}" for k in range(rng.randint(2, 6))]
    events = []
    for _ in range(rng.randint(2, 12)):
        a, b = rng.sample(names, 2)
        forms = [a, f"~{a}", f"{a} & {b}", f"{a} | {b}", f"{a} given {b}", f"rate < 2 | {a}", f"{a} | ~{a}"]
        events.append(rng.choice([*forms, "true", "false", "w = x", "w != y", "rate < 3"]))
    return SheetSetting(tuple(Item(f"e{i}", event, event, i + 1) for i, event in enumerate(events)), LAWS)


@pytest.mark.parametrize("seed", range(10))
def test_all_pairs_say_the_same(seed, monkeypatch):
    rng = random.Random(seed)
    sheets = [sheet_of(rng) for _ in range(20)]
    told = [follows(sheet) for sheet in sheets]
    assert any(told)
    monkeypatch.setattr(panel_overview, "_related", every_pair)
    assert told == [follows(sheet) for sheet in sheets]


def test_unrelated_events_are_not_compared(monkeypatch):
    compared = []
    never = panel_overview._never
    monkeypatch.setattr(panel_overview, "_never", lambda *sides: compared.append(sides) or never(*sides))
    items = (Item(f"e{i}", f"a{i // 2} & b" if i < 2 else f"a{i // 2}", f"t{i}", i + 1) for i in range(100))
    follows(SheetSetting(tuple(items)))
    assert len(compared) < 200  # of 9,900 pairs
