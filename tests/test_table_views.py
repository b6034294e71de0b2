"""Values in notebooks, and tables for papers and spreadsheets: small, escaped, without script, nothing lost."""

import inspect
import math
import re
import zipfile
from enum import Enum
from xml.etree import ElementTree as ET

import html5lib
import numpy as np
import pytest

import coherently as co
from coherently.table_views import LONGEST, display_columns, html_table, latex_table
from tests.contract.examples import examples
from tests.report.pages import HOSTILE, hostile_formulas, hostile_panel

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
NOT_SHOWN = ("Asked", "Design", "Engine", "Weights")
"""Public names of kinds of arguments."""


def tree_of(text):
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parseFragment(text)


def words_of(text):
    return " ".join("".join(tree_of(text).itertext()).split())


def test_every_public_class_of_values_shows_itself_in_a_notebook():
    for name in co.__all__:
        kind = getattr(co, name)
        protocol = getattr(kind, "_is_protocol", False)
        if not inspect.isclass(kind) or issubclass(kind, BaseException | Enum) or protocol or name in NOT_SHOWN:
            continue
        assert hasattr(kind, "_repr_html_"), name


@pytest.mark.parametrize(("name", "value"), list(examples()), ids=lambda each: each if isinstance(each, str) else "")
def test_the_view_of_every_value_is_small_html_without_script(name, value):
    view = value._repr_html_()
    tags = {each.tag for each in tree_of(view).iter() if isinstance(each.tag, str)}
    shown = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "DOCUMENT_FRAGMENT"}
    assert tags <= shown, (name, tags - shown)
    assert "http" not in view
    assert len(view) < 60_000
    # Colours are the notebook's: only a rule that is seen on any ground has one of its own.
    styles = " ".join(re.findall(r'style="([^"]*)"', view))
    assert not re.search(r"#|(?<!-)color:|font-family|background(?!:none)", styles)


@pytest.mark.parametrize("panel", [hostile_panel(), hostile_formulas()], ids=["names", "formulas"])
def test_hostile_names_are_text(panel):
    for value in (panel, co.aggregate(panel), co.check(panel), co.check(panel).means):
        view = value._repr_html_()
        tags = {each.tag for each in tree_of(view).iter() if isinstance(each.tag, str)}
        assert not tags & {"script", "img", "svg", "b", "i", "style", "title"}
        assert not set("\u202e\u2066\u2069\u200f\x07") & set(view)
    assert "<script>alert(1)</script>" in words_of(hostile_panel()._repr_html_())


def test_the_view_of_a_result_has_labels_and_numbers_that_add_up():
    rows = [("Ann", f"r = {v}", p) for v, p in zip("abcd", (0.14506, 0.50596, 0.24506, 0.10392), strict=True)]
    panel = co.Panel.from_records(rows, laws=["variable r: a, b, c, d"], labels={"r = a": "Option A"})
    cells = [
        [words_of(f"<p>{'x'}</p>") and "".join(td.itertext()) for td in tr]
        for tr in tree_of(co.aggregate(panel)._repr_html_()).iter("tr")
    ]
    assert cells[1][0] == "Option A"
    assert round(sum(float(row[1]) for row in cells[1:]), 6) == 1.0


def test_long_tables_and_texts_are_cut_and_say_so():
    panel = co.Panel.from_records([(f"J{i}", f"event_{i}", 0.5) for i in range(50)])
    assert "and 30 more" in panel._repr_html_()
    assert "x" * (LONGEST + 1) not in html_table({"event": ["x" * 500]})


def test_the_report_shows_itself_in_a_frame_where_nothing_runs():
    report = co.aggregate(co.Panel.from_records([("Ann", "p", 0.3), ("Ann", "p & q", 0.4)])).report(title='"T" <x>')
    frame = next(tree_of(report._repr_html_()).iter("iframe"))
    assert frame.get("sandbox") == ""
    assert frame.get("srcdoc") == report.page
    assert frame.get("title") == '"T" <x>'
    assert repr(report) == '<Report: "T" <x>>'


def test_a_report_is_saved_by_its_ending(tmp_path):
    report = co.aggregate(co.Panel.from_records([("Ann", "p", 0.3), ("Ann", "p & q", 0.4)])).report(about="p & q")
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == report.page
    with pytest.raises(co.PanelError, match=r"does not have the ending of a report: use .html or .htm"):
        report.save(tmp_path / "page.docx")


def tabled():
    scored = co.simulate(judges=8, variables=20, seed=1, compound=6, basic=10)
    result = co.aggregate(scored)
    yield from (scored, result, co.check(scored), co.score(scored, confidence=0.9), co.compare(scored, bootstrap=20))
    yield from (co.calibration(scored), result.bounds_table(list(scored.written.text[:2])), co.consistency(scored))


@pytest.mark.parametrize("value", list(tabled()), ids=lambda each: type(each).__name__)
def test_tables_in_latex_html_and_workbooks_have_every_row_and_column(value, tmp_path):
    columns = value.columns()
    shown = display_columns(columns)
    count = len(shown[0].texts)
    latex = value.to_latex().splitlines()
    assert latex[0] == r"\begin{tabular}{" + "".join("lr"[each.numeric] for each in shown) + "}"
    assert len(latex) == count + 6
    assert all(line.count(" & ") == len(shown) - 1 for line in latex[4:-2])
    assert len(list(tree_of(value.to_html()).iter("tr"))) == count + 1
    value.to_excel(tmp_path / "table.xlsx")
    rows = cells_of(tmp_path / "table.xlsx")
    assert rows[0] == list(columns)
    assert len(rows) == count + 1
    for k, (name, column) in enumerate(columns.items()):
        for row, cell in zip(rows[1:], column, strict=True):
            assert same(row[k], cell), (name, row[k], cell)


def same(found, cell):
    cell = cell.item() if isinstance(cell, np.generic) else cell
    missing = cell is None or (isinstance(cell, float) and math.isnan(cell))
    if missing or isinstance(cell, bool):
        return found == (None if missing else cell)
    return found == cell if isinstance(cell, int | float) and math.isfinite(cell) else found == str(cell)


def cells_of(path):
    """The cells of the sheet of a workbook, read as the standard says."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            ET.fromstring(archive.read(name))
        sheet = ET.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows = []
    for row in sheet.iter(f"{MAIN}row"):
        assert not list(row.iter(f"{MAIN}f"))  # no formula
        rows.append([value_of(cell) for cell in row])
    return rows


def value_of(cell):
    if cell.get("t") == "inlineStr":
        return "".join(cell.itertext())
    if not len(cell):
        return None
    text = cell.find(f"{MAIN}v").text
    return bool(int(text)) if cell.get("t") == "b" else float(text)


def test_no_cell_of_a_workbook_is_a_formula_and_odd_characters_survive(tmp_path):
    names = ["=1+1", "+1", "@x", "a\x07b", " spaced ", "<&>\"'", "日本", *HOSTILE]
    panel = co.Panel.from_records([("Ann", name, 0.5) for name in names], plain_events=True)
    co.aggregate(panel).to_excel(tmp_path / "x.xlsx")
    read = [row[0] for row in cells_of(tmp_path / "x.xlsx")[1:]]
    assert read == [text.replace("\x07", "") for text in panel.written.text]  # XML cannot have the bell
    first = (tmp_path / "x.xlsx").read_bytes()
    co.aggregate(panel).to_excel(tmp_path / "x.xlsx")
    assert (tmp_path / "x.xlsx").read_bytes() == first


def test_spreadsheet_programs_read_the_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    panel = co.Panel.from_records([("Ann", "=1+1", 0.25), ("Bob", "p", 1 / 3)], plain_events=True)
    panel.to_excel(tmp_path / "x.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "x.xlsx").active
    assert [[cell.value for cell in row] for row in sheet.rows] == [
        ["judge", "event", "probability"],
        ["Ann", "=1+1", 0.25],
        ["Bob", "p", 1 / 3],
    ]
    assert [cell.data_type for cell in list(sheet.rows)[1]] == ["s", "s", "n"]


def test_what_cannot_be_a_workbook_is_refused(tmp_path):
    panel = co.Panel.from_records([("Ann", "p", 0.5)])
    with pytest.raises(co.PanelError, match=r"x.csv does not have the ending of a workbook: use .xlsx"):
        panel.to_excel(tmp_path / "x.csv")
    with pytest.raises(co.PanelError, match=r"is not a folder: create it first"):
        panel.to_excel(tmp_path / "none" / "x.xlsx")
    long = co.Panel.from_records([("Ann", "p" * 40_000, 0.5)], plain_events=True)
    (tmp_path / "x.xlsx").write_text("old")
    with pytest.raises(co.PanelError, match=r"at most 32,767 characters, and one text has 40,000"):
        long.to_excel(tmp_path / "x.xlsx")
    assert (tmp_path / "x.xlsx").read_text() == "old"


def test_latex_prints_names_as_they_are():
    text = latex_table({"a_b": ["50% & $x^2$ {~} \\ #1"], "n": [None]})
    body = text.splitlines()[4]
    assert body == r"50\% \& \$x\textasciicircum{}2\$ \{\textasciitilde{}\} \textbackslash{} \#1 & - \\"


def test_intervals_stand_beside_their_numbers_and_lonely_ends_stay():
    ends = {"p": np.array([0.5, 0.25]), "p_low": np.array([0.4, np.nan]), "p_high": np.array([0.6, np.nan])}
    assert display_columns(ends)[0].texts == ["0.50 [0.40, 0.60]", "0.25"]
    assert [each.name for each in display_columns({"low": [1], "p_low": [2]})] == ["low", "p_low"]
