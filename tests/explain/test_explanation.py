"""People's sentences, bands and repairs of findings: those of the sheet, in two voices, with their arithmetic."""

import pickle
from typing import get_args

import pytest

import coherently as co
from coherently.explain import explanation
from coherently.explain.findings import VOICES, Voice
from coherently.explain.judge_sheet import feedback
from tests.explain import explanation_checks
from tests.explain.judge_sheet.sheet_examples import Brute, answers_of

LABELS = {
    "r": "a recession",
    "c": "a rate cut",
    "c given r": "a rate cut in a recession",
    "c given ~r": "a rate cut without one",
    "r & c": "both",
}


def finding(values, judge="Ann"):
    rows = [(judge, event, value) for event, value in values.items()]
    return co.check(co.Panel.from_records(rows, labels=LABELS)).judges[judge]


def people(found):
    return [sentence.replace("\N{NO-BREAK SPACE}", " ") for sentence in found.sentences("people")]


@pytest.mark.parametrize("seed", range(6))
def test_a_check_says_what_the_sheet_says(seed):
    explanation_checks.check_explanations(seed, 8)


def test_a_share_of_a_condition():
    found = finding({"r": 0.30, "c given r": 0.45, "r & c": 0.25})
    assert found.sentences() == ("P(both) = 0.25 is above P(a rate cut in a recession) * P(a recession) = 0.135",)
    (sentence,) = people(found)
    assert sentence.startswith(
        "A recession (30 %) and a rate cut in a recession (45 %) make that together 14 %, not 25 %"
    )


TOTAL = {"r": 0.38, "c given r": 0.43, "c given ~r": 0.76, "c": 0.70}


def test_two_conditionals_and_their_condition():
    found = finding(TOTAL)
    assert found.sentences() == (
        "P(a rate cut) = 0.70 is above P(a rate cut in a recession) * P(a recession) + P(a rate cut without one) * "
        "(1 - P(a recession)) = 0.6346",
    )
    assert people(found) == [
        "A recession (38 %), a rate cut in a recession (43 %) and a rate cut without one (76 %) make a rate cut 63 % "
        "likely, not 70 %: 43 % of 38 % and 76 % of the rest make 63 %."
    ]
    low = finding(TOTAL | {"c": 0.60})
    assert "make a rate cut 63 % likely, not 60 %: 43 % of 38 % and 76 % of the rest make 63 %." in people(low)[0]
    assert low.sentences()[0].endswith("= 0.6346 is above P(a rate cut) = 0.60")
    turned = finding({"r": 0.38, "~c given r": 0.57, "c given ~r": 0.76, "c": 0.70})
    assert people(turned)[0].endswith("likely, not 70 %: 43 % of 38 % and 76 % of the rest make 63 %.")


def test_the_means_are_explained_too():
    rows = [
        (judge, event, value + off) for judge, off in (("Ann", 0.01), ("Bob", -0.01)) for event, value in TOTAL.items()
    ]
    found = co.check(co.Panel.from_records(rows, labels=LABELS)).means
    assert "43 % of 38 % and 76 % of the rest make 63 %" in people(found)[0]
    assert "P(a rate cut in a recession) * P(a recession)" in found.contradictions[0]
    assert [band.event for band in found.bands] == list(TOTAL)
    assert found.repair.changes


def test_people_do_not_notice_half_a_per_cent():
    found = finding({"r": 0.300, "r & c": 0.304})
    assert found.contradictions == ("P(both) = 0.304 is above P(a recession) = 0.30",)
    assert found.sentences("people") == ()
    assert found.repair.changes
    assert found.repair.whole == ()


def test_whole_per_cents_that_are_proposed_contradict_nothing():
    """Misses of conditionals count as much as the condition is likely: 52 and 49 per cent would miss by little."""
    old = {
        "s": 0.54,
        "s | r": 0.02,
        "r & s": 0.17,
        "p & ~s": 0.36,
        "(q & ~p) given (r ^ s)": 0.89,
        "(q & r) given ((p | r) & q)": 0.02,
        "((p | s) & r) given (s ^ r)": 0.86,
    }
    found = finding(old)
    new = old | {change.event: change.new for change in found.repair.whole}
    assert people(found)
    assert people(finding(new)) == []


def test_an_unknown_voice():
    with pytest.raises(co.CoherentlyError, match="unknown voice 'loud'; the voices are symbols, people"):
        finding({"r": 0.3}).sentences("loud")


def test_what_is_too_much_is_said(monkeypatch):
    monkeypatch.setattr(explanation, "MOST_EXPLAINED", 2)
    found = finding({"r": 0.3, "c": 0.5, "r & c": 0.4})
    assert found.unchecked == ("r", "c", "r & c")
    assert found.bands == ()
    assert found.repair.whole is None
    assert "not rounded together" in found.repair.stuck
    assert found.contradictions


def test_quotes_in_peoples_words():
    rows = [{"event": "r", "lower": 0.2, "upper": 0.3}, {"event": "r & c", "lower": 0.4, "upper": 0.5}]
    found = co.check(co.Panel.from_records(rows, labels=LABELS)).means
    assert people(found) == ["A recession (20 % to 30 %) and both (40 % to 50 %) do not fit together."]
    assert found.bands == ()
    assert found.repair.whole is None
    assert [(change.event, change.old) for change in found.repair.changes] == [("r", 0.3), ("r & c", 0.4)]


def test_bands_of_coherent_forecasts():
    for seed in range(6):
        sheet = Brute(seed, conditionals=seed % 3)
        value = sheet.coherent()
        found = explanation_checks.finding_of(sheet, value)
        assert found.sentences("people") == ()
        for i, band in enumerate(found.bands):
            assert (band.low, band.high) == pytest.approx(sheet.band(value, i), abs=1e-6)
            assert band.fits
        assert len(found.bands) == len(sheet.items)
        assert not feedback(sheet.setting, answers_of(sheet, value), time_limit=60.0).contradictions


def test_the_record_has_what_explains_the_finding():
    for values in (TOTAL, {"r": 0.30, "c given r": 0.45, "r & c": 0.25}, {"r": 0.3, "r & c": 0.2}):
        found = finding(values)
        told = found.as_dict()
        again = co.Finding.from_dict(told)
        assert told["sentences"] == {voice: list(found.sentences(voice)) for voice in ("symbols", "people")}
        assert told["contradictions"] == told["sentences"]["symbols"]
        assert [again.sentences(voice) for voice in VOICES] == [found.sentences(voice) for voice in VOICES]
        assert (again.repair, again.bands, again.unchecked) == (found.repair, found.bands, found.unchecked)
        assert again == found
        assert pickle.loads(pickle.dumps(found)).as_dict() == told


def test_a_check_explains_means_and_the_worst_judges():
    rows = [("Ann", event, value) for event, value in TOTAL.items()]
    rows += [("Bob", event, value) for event, value in {"r": 0.3, "r & c": 0.2}.items()]
    found = co.check(co.Panel.from_records(rows, labels=LABELS))
    told = found.as_dict()
    ann, bob = told["judges"]
    assert ann["sentences"]["people"] == list(found.judges["Ann"].sentences("people"))
    assert [band["event"] for band in ann["bands"]] == list(TOTAL)
    assert "sentences" not in bob  # nothing to explain
    assert told["repair"] == found.means.repair.as_dict()
    again = co.Check.from_json(found.to_json())
    assert again.judges["Ann"].repair == found.judges["Ann"].repair
    assert again.means.bands == found.means.bands
    with pytest.raises(co.ResultError, match="read from JSON"):
        _ = again.judges["Bob"].bands


def test_a_check_alone_explains_nothing(monkeypatch):
    """What explains a finding is worked out when somebody asks."""
    monkeypatch.setattr(explanation, "looked_at", lambda *_: pytest.fail("nobody asked"))
    found = co.check(co.Panel.from_records([("Ann", event, value) for event, value in TOTAL.items()]))
    assert found.judges["Ann"].contradictions


def test_without_time_the_record_says_what_is_unchecked():
    rows = [(f"j{i}", event, value) for i in range(3) for event, value in TOTAL.items()]
    late = co.check(co.Panel.from_records(rows))
    late.judges._allowance.left = 0.0
    told = late.as_dict()
    assert all("sentences" not in row for row in told["judges"])
    assert told["unchecked"] == list(TOTAL)
    assert (told["bands"], told["repair"]["whole"]) == ([], None)
    assert late.as_dict() == told
    assert co.Check.from_dict(told).as_dict() == told


def test_records_of_the_first_version_explain_in_symbols_alone():
    told = finding(TOTAL).as_dict()
    first = {name: value for name, value in told.items() if name not in ("sentences", "repair", "bands", "unchecked")}
    again = co.Finding.from_dict(first | {"version": 1})
    assert again.contradictions == finding(TOTAL).contradictions
    for ask in (lambda: again.sentences("people"), lambda: again.repair, lambda: again.bands):
        with pytest.raises(co.ResultError, match="read from JSON"):
            ask()
    with pytest.raises(co.ResultError, match=r"the field \w+ is not one of a finding"):
        co.Finding.from_dict(told | {"version": 1})


def test_voices_are_those_of_the_type():
    assert list(VOICES) == list(get_args(Voice))
