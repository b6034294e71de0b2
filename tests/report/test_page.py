"""The pages as documents: what they say, that they are HTML by the book, and that no name can do harm."""

import base64
import dataclasses
import json
import re
from itertools import pairwise

import pytest

import coherently as co
from coherently.report import html_page as pages
from coherently.report.dossier import put_together
from coherently.report.names import shown
from tests.panels import TABLE_2, TRIANGLE
from tests.report.pages import HOSTILE, check_of, find_all, hostile_formulas, hostile_panel, page_of, parse, text_of

JARGON = ("Brier", "penalty", "violation", "world", "mixture", "P(", "Dutch", "objective", "squared")


def table_of(tree, css):
    """The cells of the first table of that class, without those of pictures, the head's first."""
    table = next(t for t in find_all(tree, "table") if css in (t.get("class") or "").split())
    return [[text_of(cell) for cell in row if cell.get("class") != "strip"] for row in find_all(table, "tr")]


def lead_of(tree):
    return text_of(next(p for p in find_all(tree, "p") if p.get("class") == "lead"))


def before_appendix(tree):
    """All words that stand before the appendix."""
    return text_of(find_all(tree, "main")[0]).partition(" Appendix ")[0]


def test_table_2_in_words_and_numbers():
    tree = parse(page_of(co.Panel.from_records(TABLE_2), name="table2.csv"))
    assert text_of(find_all(tree, "h1")[0]) == text_of(find_all(tree, "title")[0]) == "Table2"
    assert lead_of(tree) == (
        "P is likely: 77 %. Three judges gave 9 answers; one of three contradicts itself, and so do the averages. "
        "The numbers here are the nearest ones that contradict nothing, and that is proved."
    )
    assert table_of(tree, "forecasts") == [
        ["how likely is it", "before", "after", "change"],
        ["p", "77 %", "77 %", "0"],
        ["q", "10 %", "18 %", "+8"],
        ["p and q", "27 %", "18 %", "−9"],
    ]
    assert table_of(tree, "fit") == [["q", "0 %", "→", "30 %"], ["p and q", "60 %", "→", "30 %"]]
    assert table_of(tree, "answers")[1:] == [
        ["p", "75", "60", "95", "77", "77"],
        ["q", "20", "10", "0", "10", "18"],
        ["p and q", "10", "10", "60", "27", "18"],
        ["how much each judge counts", "1", "1", "1", "", ""],
    ]
    words = text_of(tree)
    for said in (
        "1 of 3 judges, and the averages.",
        "Alice and Bob contradict nothing.",
        "P and q together (60 %) cannot be likelier than q alone (0 %).",
        "No single judge decides it. Depending on who is left out, p is between 68 and 85 %.",
    ):
        assert said in words, said


def test_marked_answers_are_those_of_contradictions():
    tree = parse(page_of(co.Panel.from_records(TABLE_2)))
    marked = [text_of(cell) for cell in find_all(tree, "td") if cell.get("class") == "clash"]
    assert marked == ["0", "60"]


def test_nothing_before_the_appendix_needs_probability_theory():
    panel = co.simulate(judges=6, variables=12, seed=3)
    for tree in map(parse, (page_of(panel), check_of(panel), page_of(panel, "projections"), page_of(panel, "linear"))):
        words = before_appendix(tree)
        for jargon in JARGON:
            assert jargon not in words, jargon
        assert not re.search(r"\d\.\d{2}", words)


def test_the_certificate_in_the_page_can_be_verified():
    panel = co.Panel.from_records(TRIANGLE)
    page = page_of(panel)
    link = re.search(r'href="data:application/json;base64,([^"]+)"', page).group(1)
    text = base64.b64decode(link).decode("utf-8")
    assert co.verify(panel, co.Result.from_json(text))
    assert json.loads(text)["forecasts"][0]["event"] == "a"


def test_a_result_that_does_not_hold_is_called_so():
    panel = co.Panel.from_records(TABLE_2)
    record = json.loads(co.aggregate(panel, "exact").to_json())
    record["lower_bound"] = 0.5
    forged = co.Result.from_json(json.dumps(record))
    tree = parse(pages.write_dossier(put_together(forged.panel, None, forged)))
    assert "A check of this result found a fault: see the appendix." in lead_of(tree)
    assert '<dt>verified</dt><dd><span class="bad">no</span>: ' in pages.write_dossier(
        put_together(forged.panel, None, forged)
    )


def test_the_page_of_a_check_without_a_result_has_who_contradicts_what():
    tree = parse(check_of(co.Panel.from_records(TABLE_2)))
    assert table_of(tree, "fit") == [["q", "0 %", "→", "30 %"], ["p and q", "60 %", "→", "30 %"]]
    assert not [t for t in find_all(tree, "table") if "forecasts" in (t.get("class") or "")]


def test_coherent_forecasts_of_one_judge():
    panel = co.Panel.from_records([("Ann", "p", 0.5), ("Ann", "p & q", 0.25)])
    tree = parse(page_of(panel))
    assert "Ann gave 2 answers, which fit together. Nothing had to change" in lead_of(tree)
    assert "The answers fit together." in text_of(tree)
    assert "contradict each other" not in text_of(tree)


def test_plain_averages_are_not_called_coherent():
    words = text_of(parse(page_of(co.Panel.from_records(TABLE_2), method="linear")))
    assert "The numbers here are plain averages, which were not made to fit together." in words
    assert "and so do the averages" not in words  # nothing moves here, so that nothing shows it
    assert "after: pooled" in words
    assert "after: coherent" not in words
    median = text_of(parse(page_of(co.Panel.from_records(TABLE_2), method="median")))
    assert "Each number here was pooled on its own; the numbers may contradict each other." in median


def test_numbers_of_the_page_add_up():
    rows = [("Ann", f"r = {v}", p) for v, p in zip("abcd", (0.1451, 0.5059, 0.2451, 0.1039), strict=True)]
    panel = co.Panel.from_records(rows, laws=["variable r: a, b, c, d"])
    tree = parse(page_of(panel))
    table = [row for row in table_of(tree, "forecasts")[1:] if len(row) > 1]
    assert sum(int(row[2].split()[0]) for row in table) == 100
    assert [row[1] for row in table] == [row[2] for row in table]
    assert "The likeliest of r is r = b (51 %)." in lead_of(tree)


@pytest.mark.parametrize("seed", range(4))
def test_a_change_is_the_difference_of_the_numbers_shown(seed):
    panel = co.simulate(judges=5, variables=6, basic=5, compound=6, seed=seed)
    for row in table_of(parse(page_of(panel)), "forecasts")[1:]:
        if len(row) == 4:
            before, after = (float(cell.split()[0]) for cell in row[1:3])
            shown = float(row[3].replace("−", "-"))
            assert abs(after - before - shown) < 1e-9


def test_what_nobody_can_see_is_called_no_contradiction():
    rows = [("Ann", "p", 0.3), ("Ann", "p & q", 0.3004), ("Bob", "p", 0.4), ("Bob", "p & q", 0.4004)]
    panel = co.Panel.from_records(rows)
    assert co.check(panel).incoherent
    tree = parse(page_of(panel))
    assert [row[3] for row in table_of(tree, "forecasts")[1:]] == ["0", "0"]
    assert "nobody contradicts themselves, and the averages fit together" in lead_of(tree)
    assert "2 judges are off by less than half a per cent" in text_of(tree)


def test_accuracy_and_calibration_where_outcomes_are_known():
    panel = co.Panel.from_records(TABLE_2, outcomes={"p": True, "q": False})
    tree = parse(page_of(panel))
    scores, after = co.score(panel), co.score(panel, co.aggregate(panel), by_judge=True)
    table = table_of(find_all(tree, "section")[-1], "scores")
    assert table[0] == ["judge", "scored", "Brier", "after", "log score", "slope"]
    assert [row[0] for row in table[1:]] == ["Alice", "Bob", "Chris", "average judge"]
    assert [float(row[2]) for row in table[1:]] == pytest.approx(
        [*sorted(scores.brier), scores.average()["brier"]], abs=5e-5
    )
    assert float(table[-1][3]) == pytest.approx(after.average()["brier"], abs=5e-5)
    circles = [c.get("class") for c in find_all(tree, "circle")]
    assert circles.count("ring") == (scores.calibration.count > 0).sum()
    assert 'id="accuracy"' not in page_of(co.Panel.from_records(TABLE_2))


def test_the_diversity_of_judges_where_outcomes_show_it():
    panel = co.simulate(judges=12, variables=12, seed=1)
    assert f'<p id="diversity">{co.diversity(panel).sentence}</p>' in page_of(panel)
    few = co.simulate(judges=5, variables=6, basic=4, compound=8, seed=1)
    assert co.diversity(few) is None
    assert 'id="diversity"' not in page_of(few)
    assert 'id="accuracy"' in page_of(few)


def test_laws_are_named_and_a_broken_one_is_found_out():
    rows = [("Ann", "rain", 0.9), ("Ann", "wind", 0.2)]
    panel = co.Panel.from_records(rows, laws=["rain -> wind"])
    assert "Rain implies wind rain -> wind" in text_of(parse(page_of(panel)))
    free = co.aggregate(co.Panel.from_records(rows))
    forged = pages.write_dossier(put_together(panel, None, dataclasses.replace(free, panel=panel)))
    assert '<span class="bad">no</span>: ' in forged


@pytest.mark.parametrize("panel", [hostile_panel(), hostile_formulas()], ids=["names", "formulas"])
@pytest.mark.parametrize("make", [page_of, check_of])
def test_hostile_names_are_text(panel, make):
    page = make(panel, name="<script>.csv")
    tree = parse(page)
    assert {e.tag for e in tree.iter() if isinstance(e.tag, str)}.isdisjoint({"script", "img", "iframe", "b", "i"})
    assert not [name for e in tree.iter() for name in e.attrib if name.startswith("on")]
    assert not set("\u202e\u2066\u2069\u200f\x07") & set(page)
    names = {text_of(bdi) for bdi in find_all(tree, "bdi")}
    for name in (*panel.labels.values(), *HOSTILE[:1])[:1]:
        assert any(name in text for text in names), name
    for name in HOSTILE[1:]:
        assert any(" ".join(shown(name).split()) in text for text in names), name


def test_the_page_can_be_read_without_seeing_it():
    panel = co.Panel.from_records(TABLE_2, outcomes={"p": True, "q": False})
    tree = parse(page_of(panel, co.AlternatingProjections(trace=True)))
    assert tree.get("lang") == "en"
    levels = [int(e.tag[1]) for e in tree.iter() if e.tag in ("h1", "h2", "h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    for table in find_all(tree, "table"):
        assert text_of(find_all(table, "caption")[0])
        assert all(th.get("scope") in ("row", "col", "rowgroup") for th in find_all(table, "th"))
    for svg in find_all(tree, "svg"):
        assert svg.get("aria-hidden") == "true" or text_of(find_all(svg, "title")[0])
    ids = [e.get("id") for e in tree.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    wanted = [word for e in tree.iter() if e.get("aria-labelledby") for word in e.get("aria-labelledby").split()]
    assert set(wanted) <= set(ids)


def test_a_hundred_thousand_forecasts_stay_small_and_cut_tables_say_so():
    panel = co.simulate(judges=2950, variables=300, seed=0)
    assert len(panel) > 100_000
    page = page_of(panel)
    assert len(page.encode("utf-8")) < 1_000_000
    tree = parse(page)
    assert sum(1 for _ in tree.iter()) < 10_000
    words = text_of(tree)
    events = len(panel.written)
    assert f"The 24 of {events:,} events that moved most; the appendix has more" in words
    assert f"The 200 of {events:,} events that moved most; coherently aggregate -o FILE writes them all." in words
    assert "The first 100 of 2,950 judges." in words
    assert "The best 100 of 2,950 judges; coherently score -o FILE writes them all." in words
    assert "too many for this page" in words
    assert len([row for row in table_of(tree, "forecasts") if len(row) == 4]) == 25


def test_a_panel_of_which_nothing_can_be_checked():
    panel = co.Panel.from_records([("Ann", "p", 0.5, 0.0)], outcomes={"p": True})
    page = pages.write_dossier(put_together(panel, None, co.aggregate(panel, "linear")))
    assert [row[:3] for row in table_of(parse(page), "forecasts")[1:]] == [["p", "–", "–"]]
    assert table_of(parse(page), "scores")[1] == ["Ann", "1", "0.2500", "0.6931", "-"]


def test_a_report_is_replaced_whole_or_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    pages.write_page("old", path)
    pages.write_page("new", path)
    assert path.read_text() == "new"
    monkeypatch.setattr("pathlib.Path.replace", _fail)
    with pytest.raises(co.PanelError, match=r"report.html cannot be written: disk full"):
        pages.write_page("newer", path)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def _fail(*_):
    raise OSError(28, "disk full")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.csv", r"out.csv does not have the ending of a report: use .html or .htm"),
        ("folder.html", r"folder.html is a folder: name a file in it"),
        ("none/out.html", r"none is not a folder: create it first"),
    ],
)
def test_paths_that_a_report_cannot_have(tmp_path, name, message):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(co.PanelError, match=message):
        pages.check_page_path(tmp_path / name)


def test_without_jinja2_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "find_spec", lambda _: None)
    with pytest.raises(co.MissingDependencyError, match=r"a report needs jinja2: pip install jinja2"):
        pages.check_page_path(tmp_path / "out.html")


def test_contradictions_are_told_to_people_with_the_least_change():
    rows = [("Ann", "r", 0.30), ("Ann", "c", 0.55), ("Ann", "r & c", 0.36)]
    labels = {"r": "a recession", "c": "a rate cut", "r & c": "both"}
    tree = parse(check_of(co.Panel.from_records(rows, labels=labels)))
    assert "A recession and a rate cut together (36 %) cannot be likelier than a recession alone (30 %)." in text_of(
        tree
    )
    assert table_of(tree, "fit") == [["a recession", "30 %", "→", "33 %"], ["both", "36 %", "→", "33 %"]]
