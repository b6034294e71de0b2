"""What a page says first, what that hangs on, and what would change it: against the answer itself."""

import re
from dataclasses import replace

import numpy as np
import pytest

import coherently as co
from coherently.report.before_after import EventRow, before_after, page_numbers
from coherently.report.dossier import put_together
from coherently.report.event_titles import EventTitles
from coherently.report.headline import headline_number, hinge_of
from coherently.report.html_page import Origin, write_dossier
from coherently.report.levers import next_question
from coherently.report.move_reasons import left_out, without_judges
from coherently.report.summary_sentences import proof_sentence
from coherently.solve import Status
from tests.report.pages import find_all, parse, text_of

LAWS = ["variable launch: date", "variable units: number"]
LABELS = {
    "late": "Norvik delivers late",
    "launch <= 2027-05-31": "Launch by 31 May",
    "launch <= 2027-06-30": "Launch by 30 June",
    "units": "Units sold",
    "units < 20": "under 20",
    "units >= 20 & units < 40": "20 to 40",
    "units >= 40": "40 or more",
    "over": "Over budget",
}
EVENTS = {
    "late": (0.4, 0.5, 0.3),
    "launch <= 2027-05-31": (0.5, 0.6, 0.52),
    "launch <= 2027-06-30": (0.7, 0.8, 0.46),
    "launch <= 2027-06-30 given late": (0.5, 0.4, 0.3),
    "launch <= 2027-06-30 given ~late": (0.8, 0.9, 0.6),
    "units < 20": (0.2, 0.3, 0.25),
    "units >= 20 & units < 40": (0.5, 0.45, 0.55),
    "units >= 40": (0.35, 0.25, 0.3),
    "over": (0.3, 0.4, 0.5),
}
JUNE = "launch <= 2027-06-30"


@pytest.fixture(scope="module")
def panel():
    rows = [(name, text, p) for text, own in EVENTS.items() for name, p in zip("ABC", own, strict=True)]
    return co.Panel.from_records(rows, laws=LAWS, labels=LABELS)


@pytest.fixture(scope="module")
def result(panel):
    return co.aggregate(panel, "exact")


def rows_of(result):
    return before_after(result, page_numbers(result), EventTitles(result.panel))


def row_of(table, event):
    return next(row for row in table.rows if row.event == event)


def test_the_page_is_about_what_a_conditional_is_about_unless_it_is_asked_for(panel):
    texts = list(panel.written.text)
    assert texts[headline_number(panel)] == JUNE
    assert texts[headline_number(panel, "over")] == texts[headline_number(panel, "Over budget")] == "over"
    assert texts[headline_number(panel, "not (launch > 2027-06-30)")] == JUNE
    with pytest.raises(co.PanelError, match=r"nobody forecast 'x'"):
        headline_number(panel, "x")
    only = co.Panel.from_records([("A", "p given q", 0.5)])
    assert headline_number(only) is None
    assert "How likely" not in text_of(parse(write_dossier(put_together(only, None, co.aggregate(only)))))


def test_what_it_hangs_on_is_what_the_answer_says_of_both_cases(result):
    table = rows_of(result)
    hinge = hinge_of(result, table.rows, row_of(table, JUNE))
    assert hinge.condition.event == "late"
    assert hinge.if_true == pytest.approx(result.probability(f"{JUNE} given late"), abs=1e-6)
    assert hinge.if_false == pytest.approx(result.probability(f"{JUNE} given ~late"), abs=1e-6)
    chance, even = result.probability("late"), hinge.break_even
    mixed = chance * hinge.if_true + (1 - chance) * hinge.if_false
    assert mixed == pytest.approx(result.probability(JUNE), abs=1e-6)
    if even is not None:
        assert even * hinge.if_true + (1 - even) * hinge.if_false == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "value"), [("e & h", 0.12), ("e given h", 0.4), ("e given ~h", 0.8), ("e | h", 0.86), ("~e given h", 0.6)]
)
def test_any_number_about_both_tells_the_two_cases(text, value):
    # P(e) = 0.3 * 0.4 + 0.7 * 0.8 = 0.68; e & h = 0.12 and e | h = 0.86 in each case.
    panel = co.Panel.from_records([("A", "e", 0.68), ("A", "h", 0.3), ("A", text, value)])
    result = co.aggregate(panel, "exact")
    table = rows_of(result)
    hinge = hinge_of(result, table.rows, row_of(table, "e"))
    assert (hinge.condition.event, hinge.if_true, hinge.if_false) == ("h", pytest.approx(0.4), pytest.approx(0.8))


def test_what_is_tied_by_its_meaning_is_no_hinge(result):
    table = rows_of(result)
    rows = [row for row in table.rows if row.event in (JUNE, "launch <= 2027-05-31")]
    assert hinge_of(result, rows, row_of(table, JUNE)) is None
    assert hinge_of(co.aggregate(result.panel, "linear"), table.rows, row_of(table, JUNE)) is None


def test_without_each_judge_is_the_answer_without_that_judge(panel, result):
    table = rows_of(result)
    row = row_of(table, JUNE)
    without = without_judges(result, 60.0)
    for name, own in zip(without.judges, without.value, strict=True):
        alone = co.aggregate(panel.drop_judges(name), "exact")
        np.testing.assert_allclose(own, [alone.probability(text) for text in panel.written.text], atol=1e-9)
    shown = left_out(without, row, 2)
    assert [each.after for each in shown] == sorted(each.after for each in shown)
    for each in shown:
        own = without.value[panel.judges.index(each.name), row.number]
        assert abs(each.after - own) <= 0.005 + 1e-9
        assert each.change == pytest.approx(each.after - row.after)


def test_the_next_question_is_the_widest_open_one(result):
    table = rows_of(result)
    other, bounds = next_question(result, row_of(table, JUNE), table.rows)
    widths = {}
    for row in table.rows:
        if row.event != JUNE and " given " not in row.event:
            low, high = result.bounds(f"({JUNE}) & ({row.event})")
            widths[row.event] = high - low
    assert bounds[1] - bounds[0] == pytest.approx(max(widths.values()), abs=1e-6)
    assert widths[other.event] == pytest.approx(max(widths.values()), abs=1e-6)


def test_the_words_of_the_page(panel, result):
    tree = parse(write_dossier(put_together(panel, co.check(panel), result), Origin(title="Halo")))
    lead = text_of(next(p for p in find_all(tree, "p") if p.get("class") == "lead"))
    june, late = (round(100 * result.shown(digits=2).probability[i]) for i in (2, 0))
    assert lead.startswith(f"“Launch by 30 June” is likelier than not: {june} %. It hangs on “Norvik delivers late” (")
    assert f"late” ({late} %): if that comes true" in lead
    assert "The likeliest of “Units sold” is 20 to 40 (" in lead
    words = text_of(tree)
    assert "The three answers to “Units sold” make 105 %, not 100 %." in words
    assert "Units sold: under 20" in words
    numbers = [text_of(n) for n in find_all(tree, "span") if n.get("class") == "n"]
    assert all(re.search(r"\d %$", each) for each in numbers)


def test_numbers_of_one_event_are_the_same_everywhere_on_a_page():
    panel = co.simulate(judges=4, variables=14, compound=20, seed=5)
    assert len(panel.written) > 24
    tree = parse(write_dossier(put_together(panel, co.check(panel), co.aggregate(panel))))
    tables = {t.get("class"): t for t in find_all(tree, "table")[::-1]}
    first = {text_of(row[0]): [text_of(c) for c in row] for row in find_all(tables["list forecasts"], "tr")}
    answers = {text_of(row[0]): [text_of(c) for c in row] for row in find_all(tables["list answers"], "tr")}
    for name, row in first.items():
        if len(row) == 5 and name in answers:
            assert [cell.removesuffix(" %") for cell in row[2:4]] == answers[name][-2:], name


def test_an_answer_without_a_proof_says_how_far_it_may_be_off(result):
    plain = co.aggregate(co.Panel.from_records([("A", "p", 0.3), ("A", "p & q", 0.4)]), "exact")
    bound = plain.lower_bound - 1.6e-5
    late = replace(plain, solution=replace(plain.solution, status=Status.TIME_LIMIT, lower_bound=bound))
    said = "The numbers here contradict nothing and are the nearest that were found, within 0.4 points."
    assert proof_sentence(late, moved=True) == said
    given = replace(result, solution=replace(result.solution, status=Status.TIME_LIMIT))
    assert proof_sentence(given, moved=True).endswith("they are the nearest that were found, which is not proved.")


def test_rows_that_differ_in_nothing_shown_have_not_moved():
    assert not EventRow(0, "p", "p", 0.3, 0.3).moved
    assert EventRow(0, "p", "p", 0.3, 0.31).moved
    assert not EventRow(0, "p", "p", float("nan"), 0.31).moved
