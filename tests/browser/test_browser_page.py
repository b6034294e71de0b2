"""The page that needs no installation, in a real browser without a network."""

import csv
from urllib.parse import unquote

import pytest
from axe_playwright_python.sync_playwright import Axe

import coherently as co
from tests.browser.page_checks import check_agreement

PHONE = (390, 844)
EXAMPLE = "Ann, rain, 75%\nAnn, wind, 20%\nAnn, rain & wind, 30%"


def test_a_thousand_panels_are_answered_as_by_python(visit):
    seen = visit()
    kinds = check_agreement(seen.page, 0, 1_000)
    assert seen.troubles == []
    assert kinds["wholly answered"] >= 800, kinds
    assert all(kinds[f"a judge is {status}"] for status in ("coherent", "incoherent", "rounding")), kinds


@pytest.mark.parametrize(("size", "scheme"), [((1280, 900), "light"), (PHONE, "dark")])
def test_axe_finds_nothing_and_nothing_is_out_of_place(visit, size, scheme):
    seen = visit(size=size, scheme=scheme)
    for panel in (
        (EXAMPLE, "rain -> clouds", "clouds"),
        ("Ann, rain, 2", "", ""),
        ("Ann, p given q, 0\nAnn, q, 0", "", "r"),
    ):
        seen.fill(*panel)
        found = Axe().run(seen.page).response["violations"]
        assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
        assert seen.width() <= size[0]
    seen.page.set_viewport_size({"width": 320, "height": 700})
    assert seen.width() <= 320
    assert seen.troubles == []


def test_the_example_is_there_from_the_beginning(visit):
    seen = visit()
    assert "2 of 3 judges contradict themselves." in seen.answer
    assert "The coherent forecasts" in seen.page.locator("#bounds").inner_text()
    rows = [row.split("\t") for row in seen.page.locator(".answers").first.locator("tbody tr").all_inner_texts()]
    records = [
        [cell.strip() for cell in line.split(",")]
        for line in seen.page.get_by_label("Forecasts", exact=True).input_value().splitlines()[1:]
    ]
    panel = co.Panel.from_records([(*names, float(p[:-1]) / 100) for *names, p in records], laws=["storm -> wind"])
    result = co.aggregate(panel, co.Exact())
    assert [row[2] for row in rows] == [f"{100 * result.probability(row[0]):.1f} %" for row in rows]


def test_it_works_by_keyboard(visit):
    seen = visit()
    seen.page.get_by_label("Forecasts", exact=True).fill("Ann\tp\t60%\nAnn\t~p\t60%")
    seen.page.keyboard.press("Control+Enter")
    seen.wait(2)
    assert "50.0 %" in seen.answer
    seen.page.keyboard.press("Tab")
    seen.page.keyboard.type("p")
    seen.page.keyboard.press("Tab")
    seen.page.keyboard.press("Enter")  # in a field of one line, as everywhere
    seen.wait(3)
    assert "100.0 %" in seen.answer


def test_the_answer_can_be_taken_along(visit):
    seen = visit()
    seen.fill('Ann,"p & ""a, b""",0.5\nAnn,p,0.25')
    text = unquote(seen.page.get_by_role("link", name="Download as CSV").get_attribute("href").split(",", 1)[1])
    header, *rows = csv.reader(text.splitlines())
    assert header == ["event", "mean", "probability"]
    assert [row[:2] for row in rows] == [['p & "a, b"', "0.5"], ["p", "0.25"]]
    assert [float(row[2]) for row in rows] == pytest.approx([0.375, 0.375], abs=1e-12)


HOSTILE = {
    "": "there is no forecast",
    "   \n\n": "there is no forecast",
    "Ann, p": "three columns",
    "judge, event, probability, weight\nAnn, p, 0.5, 2": "Other columns, such as weight",
    "Ann, p, 0.5\nBob, q": "row 2: has 2 cells instead of 3",
    "Ann, p, 0.5\nBob, q, maybe": "row 2: 'maybe' is not a number",
    "Ann; p; 0.5\nBob; q; 0,5": "0.35, not 0,35",
    "Ann, p, 1.5": "row 1: '1.5' is above 1",
    "Ann, p, -3%": "row 1: '-3%' is below 0",
    "Ann, p, 0.5\nAnn, , 0.5": "row 2: no event",
    ", p, 0.5": "row 1: no judge",
    "Ann, p, 0.5\nAnn, q,": "row 2: no probability",
    "Ann, p &, 0.5": "row 1, character 4 of the text: expected an event after '&'",
    'Ann,"p,0.5': "no closing quote",
    "Ann, p given p & ~p, 0.5": "row 1",
    "Ann, winner = Bob, 0.5": "not declared",
    "Ann, " + "(" * 5_000 + "p, 0.5": "row 1",
    "Ann, " + "p" * 20_000 + ", 0.5": "more than 10000 characters",
    "Ann, a\x1eb, 0.5": "control characters",
    "Ann, p\x00, 0.5": "row 1",
    "Ann, \ud800, 0.5": "half a character",
    "\n".join(f"Ann, p{i}, 0.5" for i in range(2_001)): "this page takes at most 2000",
    "x" * 1_000_001: "characters",
}


def test_hostile_text_is_refused_with_what_to_mend(visit):
    seen = visit()
    for text, words in HOSTILE.items():
        seen.page.evaluate("([text]) => { document.getElementById('forecasts').value = text; }", [text])
        before = int(seen.page.get_attribute("body", "data-shown"))
        seen.page.get_by_role("button", name="Make coherent").click()
        seen.wait(before + 1)
        assert words in seen.refusal, (text[:40], seen.refusal)
        assert seen.answer == ""
    seen.fill("Ann, p, 0.5")
    assert seen.refusal == ""
    assert seen.troubles == []


LAWS = {
    "p -> q\nq -> r # a comment\np & ~r": "law in line 1: p -> q\nlaw in line 2: q -> r\nlaw in line 3: p & ~r",
    "p & ~p": "this law can never be true",
    "P(p) <= 0.3": "needs the installed package",
    "p given q": "a formula without 'given'",
    "variable p: a": "law in line 1",
    "variable w: a, b\nvariable w: c, d": "declared before",
}


@pytest.mark.parametrize("laws", LAWS)
def test_laws_that_cannot_be_are_refused(visit, laws):
    seen = visit()
    seen.fill("Ann, p, 0.5", laws)
    assert LAWS[laws] in seen.refusal


def test_names_are_shown_as_text_and_may_be_of_any_script(visit):
    seen = visit()
    named = '"<b onclick=""x()"">Ann</b>","""<img src=x onerror=alert(1)>""",0.5'
    seen.fill(f"{named}\nÅsa,größe & 雨,0.7\nÅsa,雨,0.6")
    assert seen.page.locator("#answer img, #answer b[onclick]").count() == 0
    assert "<img src=x onerror=alert(1)>" in seen.answer
    assert "größe & 雨" in seen.answer
    assert seen.troubles == []


@pytest.mark.parametrize(("number", "status"), [("0.501", "rounding"), ("0.502", "incoherent")])
def test_a_small_contradiction_is_rounding_only_if_the_decimals_explain_it(visit, number, status):
    # Nine forecasts that fit leave room for the square of the difference, but not for the difference itself.
    rows = [("Ann", "p", "0.5"), ("Ann", "p & q", number), *(("Ann", f"p | r{i}", "0.6") for i in range(9))]
    panel = co.Panel.from_records([(judge, event, float(text)) for judge, event, text in rows])
    assert str(co.check(panel).judges["Ann"].status) == status
    table = "\n".join("\t".join(row) for row in rows)
    found = visit().page.evaluate("(table) => window.coherently.answer(table)", table)
    assert found["judges"][0]["status"] == status


def test_nothing_is_told_given_what_may_be_impossible(visit):
    seen = visit()
    seen.fill("Ann, p | q, 50%", question="p given q")
    assert "allow that the condition after 'given' is impossible" in seen.answer
    seen.fill("Ann, p | q, 50%\nAnn, q, 20%\nAnn, p & q, 5%", question="p given q")
    assert "The coherent forecasts give it 25.0 %." in seen.answer


def test_limits_are_told_and_kept(visit):
    seen = visit()
    told = seen.page.locator(".limits").inner_text()
    assert all(limit in told for limit in ("2,000 forecasts", "16,384 combinations", "at most 64"))
    chain = [f"Ann\tv{i} -> v{i + 1}\t0.5" for i in range(14)]
    seen.fill("\n".join(chain[:13]))
    assert "50.0 %" in seen.answer
    seen.fill("\n".join(chain))
    assert "15 variables (v0, v1, v2, ...) have more than 16384 combinations" in seen.answer
    seen.fill("\n".join([*chain[:7], "Ann\tv0 given v1\t0.5"]))
    assert "with conditional forecasts this page takes at most 64" in seen.answer


def test_the_page_has_all_it_needs_inside(visit):
    seen = visit()
    text = seen.page.content()
    assert not any(f'{name}="http' in text for name in ("src", "href", "action"))
    assert len(text) < 600_000
