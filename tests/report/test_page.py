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


def rows_of(tree, name):
    """The cells of the table in the section of that heading, the head's first."""
    section = next(s for s in find_all(tree, "section") if s.get("aria-labelledby") == name)
    return [
        [text_of(cell) for cell in row if cell.get("class") != "bar"]
        for table in find_all(section, "table")[:1]
        for row in find_all(table, "tr")
    ]


def test_table_2_in_words_and_numbers():
    tree = parse(page_of(co.Panel.from_records(TABLE_2), name="table2.csv"))
    words = text_of(tree)
    assert text_of(find_all(tree, "h1")[0]) == "Coherent forecasts of table2.csv"
    assert rows_of(tree, "forecasts") == [
        ["event", "before", "after", "change"],
        ["p", "0.7667", "0.7667", "0"],
        ["q", "0.1000", "0.1833", "+0.0833"],
        ["p & q", "0.2667", "0.1833", "-0.0834"],
    ]
    assert rows_of(tree, "book") == [
        ["event", "trade", "stake", "price"],
        ["q", "buy", "0.0833", "0.1000"],
        ["p & q", "sell", "0.0833", "0.2667"],
    ]
    assert rows_of(tree, "judges") == [
        ["judge", "forecasts", "status", "distance", "saved"],
        ["Chris", "3", "incoherent", "0.4243", "0.1800"],
        ["Alice", "3", "coherent", "0", "0"],
        ["Bob", "3", "coherent", "0", "0"],
        ["the averages", "3", "incoherent", "0.1179", "0.0139"],
    ]
    for said in (
        "1 of 3 judges (Chris) contradicts itself, and the panel's averages contradict each other too.",
        "P(p & q) = 0.60 is above P(q) = 0.00",
        "Sure to win 0.18 whatever happens: buy 0.3 of [q] at 0.00 and sell 0.3 of [p & q] at 0.60.",
        "a mixture of 3 possible worlds. The largest change",
        "by at least 0.2900.",
    ):
        assert said in words


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
    assert "verified no:" in text_of(parse(pages.write_dossier(put_together(forged.panel, None, forged)))).replace(
        "verifiedno", "verified no"
    )


def test_check_page_has_the_smallest_repair():
    tree = parse(check_of(co.Panel.from_records(TABLE_2)))
    assert rows_of(tree, "repair") == [
        ["event", "before", "after", "change"],
        ["q", "0.1000", "0.1833", "+0.0833"],
        ["p & q", "0.2667", "0.1833", "-0.0834"],
    ]
    assert "P(p & q) = 0.60 is above P(q) = 0.00" in text_of(tree)


def test_coherent_forecasts_of_one_judge():
    panel = co.Panel.from_records([("Ann", "p", 0.5), ("Ann", "p & q", 0.25)])
    tree = parse(check_of(panel))
    assert "They do not contradict each other." in text_of(tree)
    assert "There is no sure profit" in text_of(tree)
    assert "To 4 decimals, they are the panel's averages." in text_of(parse(page_of(panel)))


def test_plain_averages_are_not_called_coherent():
    words = text_of(parse(page_of(co.Panel.from_records(TABLE_2), method="linear")))
    assert "and the panel's averages contradict each other too" in words
    assert "They are the panel's averages, not made coherent." in words
    assert "may contradict each other" not in words
    assert "after: pooled." in words
    assert "after: coherent" not in words
    assert "Coherent forecasts" not in words


def test_numbers_of_the_page_add_up():
    rows = [("Ann", f"r = {v}", p) for v, p in zip("abcd", (0.14506, 0.50596, 0.24506, 0.10392), strict=True)]
    panel = co.Panel.from_records(rows, laws=["variable r: a, b, c, d"])
    table = rows_of(parse(page_of(panel)), "forecasts")
    assert sum(round(10_000 * float(row[2])) for row in table[1:]) == 10_000
    assert [row[3] for row in table[1:]] == ["0"] * 4
    assert [row[1] for row in table[1:]] == [row[2] for row in table[1:]]


def test_a_repair_lists_what_changes_as_shown():
    rows = [("Ann", "p", 0.3), ("Ann", "p & q", 0.4), ("Ann", "s", 0.5), ("Ann", "s & t", 0.50000004)]
    table = rows_of(parse(check_of(co.Panel.from_records(rows))), "repair")
    assert table[1:] == [["p", "0.3000", "0.3500", "+0.0500"], ["p & q", "0.4000", "0.3500", "-0.0500"]]


def test_accuracy_and_calibration_where_outcomes_are_known():
    panel = co.Panel.from_records(TABLE_2, outcomes={"p": True, "q": False})
    tree = parse(page_of(panel))
    scores, after = co.score(panel), co.score(panel, co.aggregate(panel), by_judge=True)
    table = rows_of(tree, "accuracy")
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
    words = text_of(parse(page_of(panel)))
    assert "laws rain -> wind" in words.replace("lawsrain", "laws rain")
    free = co.aggregate(co.Panel.from_records(rows))
    forged = pages.write_dossier(put_together(panel, None, dataclasses.replace(free, panel=panel)))
    assert '<span class="bad">no</span>: ' in forged


def test_convergence_where_the_method_kept_a_trace():
    panel = co.Panel.from_records([("A", "p", 0.2), ("A", "q", 0.3), ("A", "p & q", 0.5), ("A", "p | q", 0.9)])
    method = co.AlternatingProjections(trace=True)
    result = co.aggregate(panel, method)
    tree = parse(page_of(panel, method))
    objective, violation = find_all(tree, "polyline")
    assert len(objective.get("points").split()) == len(violation.get("points").split()) == result.sweeps + 1
    assert objective.get("points").startswith("0.0,150.0 ")
    assert not find_all(parse(page_of(panel)), "polyline")


@pytest.mark.parametrize("panel", [hostile_panel(), hostile_formulas()], ids=["names", "formulas"])
@pytest.mark.parametrize("make", [page_of, check_of])
def test_hostile_names_are_text(panel, make):
    page = make(panel, name="<script>.csv")
    tree = parse(page)
    assert {e.tag for e in tree.iter() if isinstance(e.tag, str)}.isdisjoint({"script", "img", "iframe", "b", "i"})
    assert not [name for e in tree.iter() for name in e.attrib if name.startswith("on")]
    assert not set("\u202e\u2066\u2069\u200f\x07") & set(page)
    names = {text_of(bdi) for bdi in find_all(tree, "bdi")}
    for name in HOSTILE:
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
        assert all(th.get("scope") in ("row", "col") for th in find_all(table, "th"))
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
    assert f"The 500 most adjusted of {events:,} events; coherently aggregate -o FILE writes them all." in words
    assert "The first 100 of 2,950 judges; coherently check -o FILE writes them all." in words
    assert "The best 100 of 2,950 judges; coherently score -o FILE writes them all." in words
    assert "not in this page: it has" in words
    assert len(rows_of(tree, "forecasts")) == 501
    assert len(rows_of(tree, "adjustments")) == 11
    assert 'id="graph"' not in page


def test_a_panel_of_which_nothing_can_be_checked():
    panel = co.Panel.from_records([("Ann", "p", 0.5, 0.0)], outcomes={"p": True})
    page = pages.write_dossier(put_together(panel, None, co.aggregate(panel, "linear")))
    assert [row[:3] for row in rows_of(parse(page), "forecasts")[1:]] == [["p", "-", "-"]]
    assert rows_of(parse(page), "accuracy")[1] == ["Ann", "1", "0.2500", "0.6931", "-"]


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
    page = check_of(co.Panel.from_records(rows, labels=labels))
    assert "P(both) = 0.36 is above P(a recession) = 0.30" in page
    assert "A recession and a rate cut together (36 %) cannot be likelier than a recession alone (30 %)." in page
    assert "The least change: a recession from 30 % to 33 % and both from 36 % to 33 %." in page
