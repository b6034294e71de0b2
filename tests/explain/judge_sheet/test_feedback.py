"""Bands, contradictions and their least change: the numbers of the drawing, and brute force over all worlds."""

import time
from itertools import pairwise

import numpy as np
import pytest

from coherently.explain.judge_sheet import Answered, Item, SheetSetting, feedback, fit
from tests.explain.judge_sheet.sheet_examples import ALICE, GRACE, NORVIK, Brute, answered, answers_of

SEEDS = range(40)
PLENTY = 60.0


def bands(told):
    return {band.event: (round(100 * band.low), round(100 * band.high)) for band in told.bands}


def moves(clash):
    return {change.event: (round(100 * change.old), round(100 * change.new)) for change in clash.changes}


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_drawn_sheet():
    first = feedback(NORVIK, answered(ALICE, locked=["cut"], abstained=["rins"]), time_limit=PLENTY)
    stop = next(clash.key for clash in first.contradictions if clash.question == 9)
    told = feedback(NORVIK, answered(ALICE, locked=["cut"], abstained=["rins"]), frozenset([stop]), time_limit=PLENTY)
    assert told.checked
    economy = {
        "recession": (36, 81),
        "cut": (33, 100),
        "both": (0, 30),
        "inf1": (0, 24),
        "inf2": (0, 60),
        "inf3": (0, 40),
    }
    supplier = {"t1": (0, 30), "t2": (12, 44), "t3": (30, 55), "t4": (44, 100), "ins": (0, 55), "rins": (0, 25)}
    assert bands(told) == economy | supplier | {"stop": (0, 55)}
    assert [band.event for band in told.bands if not band.fits] == ["recession", "both", "stop"]
    both, meant = told.contradictions
    assert plain(both.sentence) == (
        "A recession and a rate cut together (36 %) cannot be likelier than a recession alone (30 %)."
    )
    assert (both.events, both.question, both.locked, both.stuck) == (("recession", "both"), 3, (), None)
    assert moves(both) == {"recession": (30, 33), "both": (36, 33)}
    assert plain(meant.sentence) == (
        "A stop (60 %) cannot be likelier than a missed delivery by 31 December (55 %): it means one."
    )
    assert meant.meant
    assert not meant.changes


def test_what_was_not_meant_narrows():
    told = feedback(NORVIK, answered(ALICE), time_limit=PLENTY)
    assert bands(told)["t4"] == (60, 100)
    assert bands(told)["ins"] == (0, 58)  # that of 57.5, between 55 and 60


SENTENCES = {
    "The four inflation answers make 110 %, not 100 %.": {"inf1": 12, "inf2": 48, "inf3": 28, "inf4": 22},
    "The four inflation answers make 90 %, not 100 %.": {"inf1": 12, "inf2": 48, "inf3": 18, "inf4": 12},
    "The three inflation answers make 106 %, more than 100 %.": {"inf1": 30, "inf2": 48, "inf3": 28},
    "By 31 March (30 %) cannot be likelier than by 30 June (20 %).": {"t1": 30, "t2": 20},
    "A recession (33 %) with an insolvency in 40 % of the cases makes both together 13 %, not 8 %.": {
        "recession": 33,
        "gins": 40,
        "rins": 8,
    },
    "A recession (30 %) with an insolvency in 90 % of the cases makes an insolvency at least 27 % likely, not 20 %.": {
        "recession": 30,
        "gins": 90,
        "ins": 20,
    },
    "A recession (80 %) and a rate cut (70 %) overlap in at least 50 %, not 20 %.": {
        "recession": 80,
        "cut": 70,
        "both": 20,
    },
    "An insolvency (60 %) cannot be likelier than a missed delivery by 31 December (50 %): it means one.": {
        "ins": 60,
        "t4": 50,
    },
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_one_sentence(sentence):
    told = feedback(NORVIK, answered(SENTENCES[sentence]), time_limit=PLENTY)
    assert [plain(clash.sentence) for clash in told.contradictions] == [sentence]
    assert set(told.contradictions[0].events) == set(SENTENCES[sentence])


def sheet(*events, laws=()):
    return SheetSetting(tuple(Item(f"e{i}", text, text, i) for i, text in enumerate(events, 1)), tuple(laws))


@pytest.mark.parametrize(
    ("events", "laws", "values", "sentence"),
    [
        (["p", "p | p & q"], [], [60, 50], "P (60 %) and p | p & q (50 %) mean the same, yet differ."),
        (
            ["p", "q given ~p", "q"],
            [],
            [50, 80, 20],
            "P (50 %) and q given ~p (80 %) make q at least 40 % likely, not 20 %: 80 % of the other 50 % make 40 %.",
        ),
        (
            ["p", "q given p", "p & ~q"],
            [],
            [50, 80, 30],
            "P (50 %) and q given p (80 %) make that together 10 %, not 30 %.",
        ),
        (
            ["p", "q given p", "~q"],
            [],
            [50, 20, 10],
            "P (50 %) and q given p (20 %) make “~q” at least 40 % likely, not 10 %: 80 % of 50 % make 40 %.",
        ),
        (["p", "~p"], [], [60, 30], "P (60 %) and “~p” (30 %) are opposites: they make 90 %, not 100 %."),
        (["p", "q"], ["~(p & q)"], [60, 50], "P (60 %) and q (50 %) exclude each other, yet make 110 %."),
        (["p", "q"], ["p | q"], [30, 40], "One of p (30 %) and q (40 %) must come true, yet they make only 70 %."),
        (["p"], ["~p"], [30], "P (30 %) can never come true."),
        (["p"], ["p"], [30], "P (30 %) is sure to come true."),
        (["p"], ["P(p) >= 50%"], [30], "P (30 %) does not fit with the laws."),
        (
            ["p | q", "p", "q"],
            [],
            [90, 30, 40],
            "P | q (90 %) needs one of p (30 %) and q (40 %), which make 70 % at most.",
        ),
        (
            ["p & ~q", "p & q", "p"],
            [],
            [30, 40, 50],
            "P & ~q (30 %) and p & q (40 %) exclude each other and make 70 %, more than p (50 %).",
        ),
        (
            ["p", "q", "p & q", "p | q"],
            [],
            [50, 40, 20, 60],
            "These four answers do not fit together: p (50 %), q (40 %), p & q (20 %) and p | q (60 %).",
        ),
        (
            ["q given p", "~q given p"],
            [],
            [60, 30],
            "Q given p (60 %) and “~q given p” (30 %) are opposites: they make 90 %, not 100 %.",
        ),
    ],
)
def test_words(events, laws, values, sentence):
    answers = [Answered(f"e{i}", value / 100) for i, value in enumerate(values, 1)]
    told = feedback(sheet(*events, laws=laws), answers, time_limit=PLENTY)
    assert [plain(clash.sentence).casefold() for clash in told.contradictions] == [sentence.casefold()]


def test_grace_of_half_a_per_cent():
    setting = sheet("p", "p & q")
    for less, fits in ((0.004, True), (0.005, True), (0.006, False)):
        told = feedback(setting, [Answered("e1", 0.30 - less), Answered("e2", 0.30)], time_limit=PLENTY)
        assert (not told.contradictions) == fits
        assert all(band.fits for band in told.bands) == fits


def test_numbers_that_look_alike_are_shown_apart():
    told = feedback(sheet("p", "p & q"), [Answered("e1", 0.296), Answered("e2", 0.304)], time_limit=PLENTY)
    assert "30.4" in told.contradictions[0].sentence
    assert "29.6" in told.contradictions[0].sentence


def test_a_band_of_contradictory_answers_is_that_of_their_nearest_version():
    setting = sheet("p & q", "p", "p | r")
    told = feedback(setting, [Answered("e1", 0.6), Answered("e2", 0.5), Answered("e3", None, abstained=True)])
    last = told.bands[-1]
    assert (last.low, last.high) == (pytest.approx(0.55, abs=1e-6), pytest.approx(1.0))
    assert last.mended
    assert last.fits
    assert not told.bands[0].mended


def test_no_band_before_an_answer():
    told = feedback(NORVIK, answered({"recession": 30}))
    assert [band.event for band in told.bands] == ["recession"]
    nothing = {"bands": [], "contradictions": [], "states": {}, "checked": True, "finished": True}
    assert feedback(NORVIK, []).as_dict() == nothing


def test_keys_stay_while_numbers_move():
    keys = set()
    for both in (34, 36, 50):
        told = feedback(NORVIK, answered(ALICE | {"both": both, "stop": 20}), time_limit=PLENTY)
        keys.add(tuple(clash.key for clash in told.contradictions))
    assert len(keys) == 1
    other = feedback(NORVIK, answered({"recession": 30, "both": 36}), time_limit=PLENTY)
    assert {clash.key for clash in other.contradictions} == set(keys.pop())


def test_locked_numbers_stay():
    values = ALICE | {"stop": 30}
    told = feedback(NORVIK, answered(values, locked=["recession"]), time_limit=PLENTY).contradictions[0]
    assert moves(told) == {"both": (36, 30)}
    assert told.locked == ("recession",)
    told = feedback(NORVIK, answered(values, locked=["recession", "both"]), time_limit=PLENTY).contradictions[0]
    assert not told.changes
    assert told.stuck.startswith("All of these are locked.")


def test_a_mend_moves_what_it_must_and_no_more():
    told = feedback(NORVIK, answered(ALICE | {"t1": 60}), time_limit=PLENTY)
    found = {clash.question: moves(clash) for clash in told.contradictions}
    assert found == {
        3: {"recession": (30, 33), "both": (36, 33)},
        5: {"t1": (60, 45), "t2": (30, 45), "t3": (44, 45)},
        9: {"t4": (55, 58), "stop": (60, 58)},
    }


def test_no_time_is_said():
    started = time.process_time()
    told = feedback(NORVIK, answered(ALICE | {"t1": 11}), time_limit=0.0)  # answers that were not looked at before
    assert not told.checked
    assert time.process_time() - started < 1.0


def test_what_cannot_be_read_takes_nothing_away():
    setting = SheetSetting((*NORVIK.items, Item("bad", "recession &", "bad", 10)), NORVIK.laws)
    told = feedback(setting, [*answered(ALICE), Answered("bad", 0.5), Answered("unknown", 0.5)], time_limit=PLENTY)
    assert len(told.contradictions) == 2
    assert not feedback(SheetSetting(NORVIK.items, ("p", "~p")), answered(ALICE)).checked


@pytest.mark.parametrize("seed", SEEDS)
def test_bands_of_coherent_answers(seed):
    sheet = Brute(seed, conditionals=seed % 3, laws=seed % 2)
    value = sheet.coherent()
    told = feedback(
        sheet.setting, [Answered(i.id, v) for i, v in zip(sheet.items, value, strict=True)], time_limit=PLENTY
    )
    assert told.checked
    assert not told.contradictions
    for i, band in enumerate(told.bands):
        assert band.fits
        assert not band.mended
        assert (band.low, band.high) == pytest.approx(sheet.band(value, i), abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_bands_of_abstentions(seed):
    sheet = Brute(seed, conditionals=seed % 3, laws=seed % 2)
    value = sheet.coherent()
    gone = [seed % 7, (seed + 3) % 7]
    told = feedback(
        sheet.setting,
        [Answered(item.id, None if i in gone else value[i], i in gone) for i, item in enumerate(sheet.items)],
        time_limit=PLENTY,
    )
    value[gone] = np.nan
    for i, band in enumerate(told.bands):
        assert (band.low, band.high) == pytest.approx(sheet.band(value, i), abs=1e-6)


def wrong(seed):
    """A sheet with whole per cents, some of which do not fit."""
    sheet = Brute(seed, conditionals=seed % 2, laws=(seed // 2) % 2)
    value = np.round(sheet.coherent(), 2)
    for i in sheet.chance.sample(range(7), 2):
        value[i] = round(sheet.chance.random(), 2)
    return sheet, value


@pytest.mark.parametrize("seed", SEEDS)
def test_contradictions_are_told_if_and_only_if_there_are_some(seed):
    sheet, value = wrong(seed)
    told = feedback(sheet.setting, answers_of(sheet, value), time_limit=PLENTY)
    assert told.checked
    number = {item.id: i for i, item in enumerate(sheet.items)}
    assert bool(told.contradictions) == (sheet.miss(value, list(range(7))) > GRACE + 1e-9)
    for clash in told.contradictions:
        assert sheet.miss(value, [number[event] for event in clash.events]) > GRACE
    blamed = {event for clash in told.contradictions for event in clash.events}
    assert {band.event for band in told.bands if not band.fits} <= blamed


@pytest.mark.parametrize("seed", SEEDS)
def test_a_mend_fits_as_shown_and_breaks_nothing(seed):
    sheet, value = wrong(seed)
    locked = {seed % 7}
    number = {item.id: i for i, item in enumerate(sheet.items)}
    for _ in range(12):
        answers = answers_of(sheet, value, locked)
        told = feedback(sheet.setting, answers, time_limit=PLENTY)
        clash = next((clash for clash in told.contradictions if clash.changes), None)
        if clash is None:
            break
        assert clash.changes == fit(sheet.setting, answers, clash.key)
        new = value.copy()
        for change in clash.changes:
            assert number[change.event] not in locked
            assert round(100 * change.new) == pytest.approx(100 * change.new, abs=1e-9)
            assert value[number[change.event]] == change.old
            new[number[change.event]] = change.new
        assert sheet.miss(new, [number[event] for event in clash.events]) <= GRACE + 1e-9
        after = feedback(sheet.setting, answers_of(sheet, new, locked), time_limit=PLENTY)
        assert clash.key not in {one.key for one in after.contradictions}
        for one in after.contradictions:
            # What is told now did not fit before either.
            assert sheet.miss(value, [number[event] for event in one.events]) > GRACE
        value = new
    assert all(clash.stuck for clash in told.contradictions)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_unlocked_can_be_mended(seed):
    sheet, value = wrong(seed)
    told = feedback(sheet.setting, answers_of(sheet, value), time_limit=PLENTY)
    assert [clash.stuck for clash in told.contradictions] == [None] * len(told.contradictions)


def test_nothing_to_fit_without_such_a_contradiction():
    assert fit(NORVIK, answered(ALICE), "k000") == ()


def test_answers_given_the_same_fit_where_it_holds():
    """Nobody answered the condition: without a look at its worlds only, it would be taken for impossible."""
    setting = sheet("q given p", "~q given p", "p")
    answers = [Answered("e1", 0.6), Answered("e2", 0.3), Answered("e3", None, abstained=True)]
    told = feedback(setting, answers, time_limit=PLENTY)
    assert [round(100 * change.new) for change in told.contradictions[0].changes] == [65, 35]
    assert [(round(band.low, 6), round(band.high, 6)) for band in told.bands] == [(0.7, 0.7), (0.4, 0.4), (0.0, 1.0)]
    told = feedback(setting, [Answered("e1", 0.6, locked=True), *answers[1:]], time_limit=PLENTY)
    assert [(change.event, round(100 * change.new)) for change in told.contradictions[0].changes] == [("e2", 40)]


def test_what_logic_settles_can_be_mended():
    told = feedback(sheet("p given p & q", "p"), [Answered("e1", 0.6), Answered("e2", 0.3)], time_limit=PLENTY)
    assert [(change.event, change.new) for change in told.contradictions[0].changes] == [("e1", 1.0)]


def test_many_variables():
    """A chain of 20 variables has too many worlds to list, and bounds by neighbours are exact."""
    names = [f"v{i}" for i in range(20)]
    events = [*names, *(f"{a} & {b}" for a, b in pairwise(names))]
    setting = sheet(*events)
    values = [0.5] * 20 + [0.4] * 18 + [0.6]
    told = feedback(setting, [Answered(f"e{i}", v) for i, v in enumerate(values, 1)], time_limit=PLENTY)
    assert told.checked
    assert {clash.events for clash in told.contradictions} == {("e19", "e39"), ("e20", "e39")}
    first = told.bands[0]
    assert (first.low, first.high) == pytest.approx((0.4, 0.9), abs=1e-6)
