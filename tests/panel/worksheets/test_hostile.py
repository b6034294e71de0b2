"""Broken, huge and hostile files are refused or read, clearly, in bounded memory; nothing in a cell is run."""

import io
import re
import tracemalloc
import zipfile

import openpyxl
import pytest

import coherently as co
from coherently.panel.worksheets import sheet_grid, workbook_parts
from tests.panel.worksheets.spreadsheets import cells, text, workbook

MEMORY = 150_000_000
"""Number of bytes that reading a hostile file may take."""


def refused(tmp_path, data, name="risks.xlsx"):
    """The message about a file that is refused, within the memory that it may take."""
    (tmp_path / name).write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(co.CoherentlyError) as raised:
            co.read_panel(tmp_path / name)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
    assert name in str(raised.value)
    return str(raised.value)


def packed(parts, base=None):
    """A workbook with some parts replaced or added."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        if base is not None:
            with zipfile.ZipFile(io.BytesIO(base)) as old:
                for name in old.namelist():
                    if name not in parts:
                        archive.writestr(name, old.read(name))
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


BOOK = workbook(("Risks", cells()))
SHEET = "xl/worksheets/sheet1.xml"


def sheet_xml(rows):
    return f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'


def test_a_bomb_is_refused_when_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook_parts, "UNPACKED", 5_000_000)
    bomb = packed({SHEET: sheet_xml(" " * 40_000_000)}, BOOK)
    assert len(bomb) < 100_000
    assert "5,000,000 bytes when it is unpacked" in refused(tmp_path, bomb)


def test_too_many_cells_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sheet_grid, "MOST_CELLS", 5_000)
    row = '<row><c t="n"><v>1</v></c><c><v>0.5</v></c></row>'
    assert "over 5,000 cells" in refused(tmp_path, packed({SHEET: sheet_xml(row * 4_000)}, BOOK))


def test_a_sheet_with_one_cell_in_the_last_corner_costs_nothing(tmp_path):
    book = openpyxl.load_workbook(io.BytesIO(BOOK))
    book.active["XFD1048576"] = "far away"
    stream = io.BytesIO()
    book.save(stream)
    (tmp_path / "far.xlsx").write_bytes(stream.getvalue())
    panel = co.read_panel(tmp_path / "far.xlsx")
    assert len(panel) == 8
    assert any("1048576 (far away)" in note for note in panel.notes)


def test_repeated_cells_of_open_document_are_counted(tmp_path):
    office = 'xmlns:table="t" xmlns:office="o" xmlns:text="x"'
    cell = (
        '<table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="0.5">'
        "</table:table-cell>"
    )
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    content = f'<office:document {office}><table:table table:name="A">{row}</table:table></office:document>'
    assert "over 1,000,000 cells" in refused(tmp_path, packed({"content.xml": content}), "bomb.ods")


def test_entities_are_refused(tmp_path):
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + sheet_xml("&b;")
    assert "declares entities" in refused(tmp_path, packed({SHEET: laughs}, BOOK))


def test_external_entities_and_links_are_not_followed(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("0.123")
    outside = f'<!DOCTYPE x [<!ENTITY s SYSTEM "file://{secret}">]>' + sheet_xml("<row><c><v>&s;</v></c></row>")
    assert "0.123" not in refused(tmp_path, packed({SHEET: outside}, BOOK))
    rels = "xl/_rels/workbook.xml.rels"
    with zipfile.ZipFile(io.BytesIO(BOOK)) as old:
        linked = re.sub(
            r'(?:/xl/)?worksheets/sheet1.xml"', f'file://{secret}" TargetMode="External"', old.read(rels).decode()
        )
    assert "no sheet with a table" in refused(tmp_path, packed({rels: linked}, BOOK))


def test_formulas_are_read_by_their_values_and_never_run(tmp_path):
    book = openpyxl.Workbook()
    for row in (["Risk", "Ann", "Mean"], ["Fire", 0.2, "=AVERAGE(B2)"], ["Flood", '=WEBSERVICE("http://x")', "=B3"]):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    said = refused(tmp_path, stream.getvalue())
    assert 'row 3, column Ann: the formula =WEBSERVICE("http://x") has no value in the file' in said
    assert "save it there" in said


def test_a_formula_without_a_value_beside_the_answers_does_no_harm(tmp_path):
    (tmp_path / "mean.xlsx").write_bytes(workbook(("R", [["Risk", "Ann", "Mean"], ["Fire", 0.2, "=AVERAGE(B2)"]])))
    assert co.read_panel(tmp_path / "mean.xlsx").judges == ("Ann",)


def test_macros_are_not_looked_at(tmp_path):
    (tmp_path / "macros.xlsm").write_bytes(packed({"xl/vbaProject.bin": b"\0" * 1000}, BOOK))
    assert len(co.read_panel(tmp_path / "macros.xlsm")) == 8


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("locked.xlsx", workbook_parts.COMPOUND + b"\0" * 600 + workbook_parts.ENCRYPTED, "protected by a password"),
        ("old.xls", workbook_parts.COMPOUND + b"\0" * 600, "Excel before 2007"),
        ("binary.xlsb", packed({"xl/workbook.bin": b""}), "binary workbook"),
        ("paper.docx", packed({"word/document.xml": "<x/>"}), "a Word document"),
        ("sheet.numbers", packed({"Index/Document.iwa": b""}), "Apple Numbers"),
        ("other.zip", packed({"a.txt": b"a"}), "without a workbook"),
        ("cut.xlsx", BOOK[: len(BOOK) // 2], "not a complete workbook"),
        ("noise.xlsx", b"\x8f\0\xff" * 500, "not a complete workbook"),
        ("broken.xlsx", packed({SHEET: "<worksheet><row>"}, BOOK), "broken workbook"),
        ("locked.ods", packed({"content.xml": b"x", "META-INF/manifest.xml": "<m><encryption-data/></m>"}), "password"),
        ("empty.xlsx", workbook(("Empty", [])), "no sheet with a table"),
        ("words.xlsx", workbook(("Words", [["We met."], ["Bring coffee."]])), "no sheet with a table"),
        ("same.xlsx", workbook(("A", cells()), ("B", cells())), "--sheet 'A' or --sheet 'B'"),
    ],
)
def test_what_is_no_readable_workbook_is_refused_by_its_kind(tmp_path, name, data, words):
    assert words in refused(tmp_path, data, name)


@pytest.mark.parametrize("place", range(0, 100, 7))
def test_damaged_bytes_never_end_in_a_traceback(tmp_path, place):
    damaged = bytearray(BOOK)
    for at in range(place * len(BOOK) // 100, place * len(BOOK) // 100 + 20):
        damaged[at % len(BOOK)] ^= 0x5A
    (tmp_path / "damaged.xlsx").write_bytes(bytes(damaged))
    try:
        co.read_panel(tmp_path / "damaged.xlsx")
    except co.CoherentlyError as error:
        assert "damaged.xlsx" in str(error)


def test_a_long_table_of_many_rows_goes_the_plain_way(tmp_path):
    rows = "".join(f"j{i % 50},e{i % 1000},0.{i % 9 + 1}\n" for i in range(100_000))
    (tmp_path / "many.csv").write_text(f"judge,event,probability\n{rows}")
    panel = co.read_panel(tmp_path / "many.csv")
    assert (len(panel), panel.reading.careful) == (100_000, False)


def test_a_large_text_that_is_not_plain_is_refused_as_before(tmp_path, monkeypatch):
    from coherently.panel.worksheets import real_table

    monkeypatch.setattr(real_table, "LARGEST_TEXT", 200_000)
    rows = "".join(f"Risk number {i};0,5\n" for i in range(30_000))
    (tmp_path / "large.csv").write_text(f"Risiko;Ann\n{rows}")
    with pytest.raises(co.PanelError, match="neither a long nor a wide table"):
        co.read_panel(tmp_path / "large.csv")


def test_a_cell_that_looks_like_a_command_is_a_text(tmp_path):
    (tmp_path / "dde.csv").write_text(text([["Risk", "Ann"], ["=cmd|' /C calc'!A0", 0.5], ["Fire in B", 0.2]]))
    try:
        panel = co.read_panel(tmp_path / "dde.csv")
    except co.PanelError as error:
        assert "row 2" in str(error)
    else:
        assert len(panel) == 2
