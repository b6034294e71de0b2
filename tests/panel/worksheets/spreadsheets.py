"""One table of risks as fifty people keep it: written by openpyxl, pandas, XlsxWriter and hand, in three languages."""

from __future__ import annotations

import codecs
import gzip
import io
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pandas as pd
import xlsxwriter
import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JUDGES = ("Alice", "Bob", "Chris")
EVENTS = ("Supplier delay", "Budget overrun", "Supplier delay and Budget overrun")
SHARES = ((0.35, 0.4, 0.3), (0.5, 0.45, 0.55), (0.4, 0.2, None))
ROWS = [[event, *shares] for event, shares in zip(EVENTS, SHARES, strict=True)]
FORECASTS = {
    (judge, event): share
    for event, *shares in ROWS
    for judge, share in zip(JUDGES, shares, strict=True)
    if share is not None
}
"""What every variant says."""
GERMAN = {"Supplier delay": "Lieferverzug", "Budget overrun": "Budget überzogen"}


def cells(header=("event", *JUDGES), above=(), below=(), column=None, shown=lambda share: share, blank=None):
    """The table with rows above and below it, a column added at a place, and numbers as they are shown."""
    body = [[event, *(blank if s is None else shown(s) for s in shares)] for event, *shares in ROWS]
    rows = [list(header), *body]
    if column is not None:
        place, name, values = column
        rows = [[*row[:place], value, *row[place:]] for row, value in zip(rows, [name, *values], strict=True)]
    return [*map(list, above), *rows, *map(list, below)]


def text(rows, mark=",", end="\n"):
    """Rows as CSV, quoted only where it must be."""

    def cell(value):
        shown = "" if value is None else str(value)
        return '"' + shown.replace('"', '""') + '"' if any(sign in shown for sign in (mark, '"', "\n")) else shown

    width = max(map(len, rows))
    return "".join(mark.join(cell(value) for value in [*row, *[None] * (width - len(row))]) + end for row in rows)


def comma(share):
    return str(share).replace(".", ",")


def per_cent(share):
    return f"{share * 100:.0f} %"


def workbook(*sheets, percent=False, merge=(), hidden=()):
    """A workbook by openpyxl; each sheet is a title with rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        if percent:
            for row in sheet.iter_rows():
                for one in row:
                    if isinstance(one.value, float):
                        one.number_format = "0%"
        for area in merge:
            sheet.merge_cells(area)
        if title in hidden:
            sheet.sheet_state = "hidden"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def by_xlsxwriter(rows, formulas=(), **options):
    """A workbook by XlsxWriter; formulas are (row, column, formula, value)."""
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream, {"in_memory": True, **options})
    sheet, percent = book.add_worksheet("Risks"), book.add_format({"num_format": "0.0 %"})
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if isinstance(value, float):
                sheet.write_number(i, j, value, percent)
            elif value is not None:
                sheet.write(i, j, value)
    for row, column, formula, value in formulas:
        sheet.write_formula(row, column, formula, percent, value)
    book.close()
    return stream.getvalue()


def long_rows(header):
    return [list(header), *([judge, event, share] for (judge, event), share in FORECASTS.items())]


MEAN = (4, "Average", [0.35, 0.5, 0.3])
TITLE = [["Halo launch: risk workshop of 12 November 2026"], []]
NOTES = [[], ["Source: workshop; Chris joined late"]]


def review() -> Iterator[tuple[str, bytes]]:
    """The ten variants that were refused, as the review lists them."""
    yield "workbook.xlsx", workbook(("Risks", cells()))
    yield "title.csv", text(cells(above=TITLE)).encode()
    yield "blank_rows.csv", text([*cells()[:2], [], *cells()[2:], []]).encode()
    yield "risk.csv", text(cells(("Risk", *JUDGES))).encode()
    yield "ereignis.csv", text(cells(("Ereignis", *JUDGES))).encode()
    yield "comment.csv", text(cells(column=(1, "Comment", ["first castings", "", "see above"]))).encode()
    yield "decimal_comma.csv", text(cells(shown=comma), ";").encode()
    yield "utf16.csv", text(cells()).encode("utf-16")
    yield "windows_1252.csv", text(cells(above=[["Überblick für Müller"]])).encode("cp1252")
    yield "mean.csv", text(cells(column=MEAN)).encode()


def workbooks() -> Iterator[tuple[str, bytes]]:
    """Workbooks by three writers."""
    yield "percent.xlsx", workbook(("Risks", cells(("Risk", *JUDGES), TITLE, NOTES)), percent=True)
    yield "texts.xlsx", workbook(("Risks", cells(shown=per_cent)))
    yield "german_texts.xlsx", workbook(("Risiken", cells(("Risiko", *JUDGES), shown=comma)))
    yield "merged_title.xlsx", workbook(("Risks", cells(above=TITLE)), merge=["A1:D1"])
    yield (
        "two_header_rows.xlsx",
        workbook(("Risks", cells(("Risk", *JUDGES), above=[["Risk", "Experts"]])), merge=["A1:A2", "B1:D1"]),
    )
    yield (
        "notes_sheet.xlsx",
        workbook(("Notes", [["We met on Monday."], ["Bring coffee."]]), ("Launch risks", cells(("Risk", *JUDGES)))),
    )
    yield (
        "hidden.xlsx",
        workbook(("Old", cells(("Risk", "Zoe", "Yan", "Xi"))), ("New", cells(("Risk", *JUDGES))), hidden=["Old"]),
    )
    rows = cells(("Risk", *JUDGES))
    yield "by_xlsxwriter.xlsx", by_xlsxwriter(rows)
    yield (
        "formulas.xlsx",
        by_xlsxwriter(
            [[*rows[0], "Mean"], *([*row, None] for row in rows[1:])],
            [(i, 4, f"=AVERAGE(B{i + 1}:D{i + 1})", value) for i, value in enumerate([0.35, 0.5, 0.3], 1)],
        ),
    )
    yield "strings.xlsx", by_xlsxwriter(cells(shown=comma), strings_to_numbers=False)
    yield "constant_memory.xlsx", by_xlsxwriter(rows, constant_memory=True)
    stream = io.BytesIO()
    pd.DataFrame(rows[1:], columns=rows[0]).to_excel(stream, index=False)
    yield "by_pandas.xlsx", stream.getvalue()
    stream = io.BytesIO()
    pd.DataFrame(rows[1:], columns=rows[0]).set_index("Risk").to_excel(stream, startrow=3, startcol=2)
    yield "pandas_offset.xlsx", stream.getvalue()
    yield "long.xlsx", workbook(("Answers", long_rows(("Expert", "Question", "Probability"))))
    yield "turned.xlsx", workbook(("Answers", [["Expert", *EVENTS], *zip(JUDGES, *SHARES, strict=True)]))
    yield "macros.xlsm", workbook(("Risks", cells()))
    yield "renamed.csv", workbook(("Risks", cells()))
    yield (
        "headings.xlsx",
        workbook(
            ("Risks", [rows[0], ["Suppliers"], rows[1], ["Money"], rows[2], rows[3], ["Total", 1.25, 1.05, 0.85]])
        ),
    )
    yield "wide_margin.xlsx", workbook(("Risks", [[], [], *([None, None, *row] for row in rows)]))
    yield (
        "numbered.xlsx",
        workbook(("Risks", [["No", *rows[0], "Owner"], *([i, *row, "Kim"] for i, row in enumerate(rows[1:], 1))])),
    )


def texts() -> Iterator[tuple[str, bytes]]:
    """Texts as spreadsheets of three locales save them, and as people type them."""
    german = cells(("Risiko", *JUDGES), [["Risiken"]], [["Quelle: Workshop"]], shown=comma, blank="k.A.")
    yield "excel_de.csv", text(german, ";", "\r\n").encode("cp1252")
    yield "excel_de_utf8.csv", codecs.BOM_UTF8 + text(german, ";", "\r\n").encode()
    yield "excel_unicode.txt", text(cells(("Risiko", *JUDGES), shown=comma), "\t", "\r\n").encode("utf-16")
    yield "utf16_no_mark.csv", text(cells(("Risiko", *JUDGES), shown=comma), ";").encode("utf-16-le")
    french = cells(
        ("Évènement", *JUDGES), [["Risques du projet"]], [["Moyenne", "0,4", "0,4", "0,4"]], shown=comma, blank="-"
    )
    yield "excel_fr.csv", text(french, ";").encode("cp1252")
    yield "spanish.csv", text(cells(("Riesgo", *JUDGES), column=(4, "Promedio", [0.3, 0.5, 0.3]))).encode()
    yield "italian.csv", text(cells(("Rischio", *JUDGES), below=[["Totale", 1, 1, 1]])).encode()
    yield "signs.csv", text(cells(("Risk", *JUDGES), shown=per_cent)).encode()
    yield (
        "header_percent.csv",
        text(
            cells(
                ("Risk", *(f"{name}" for name in JUDGES)),
                above=[["All numbers in percent"]],
                shown=lambda s: f"{s * 100:.0f}",
            )
        ).encode(),
    )
    yield "bars.txt", text(cells(("Risk", *JUDGES)), "|").encode()
    yield "tabs.tsv", text(cells(("Risk", *JUDGES)), "\t").encode()
    yield "told.csv", b"sep=;\n" + text(cells(("Risk", *JUDGES), shown=comma), ";").encode()
    yield "roughly.csv", text(cells(("Risk", *JUDGES), shown=lambda share: f"ca. {share * 100:.0f}%")).encode()
    yield (
        "long_german.csv",
        text([[a, b, comma(c)] for a, b, c in long_rows(("Experte", "Ereignis", "Wahrscheinlichkeit"))], ";").encode(
            "cp1252"
        ),
    )
    yield (
        "long_french.csv",
        text([[a, b, comma(c)] for a, b, c in long_rows(("Répondant", "Question", "Probabilité"))], ";").encode(
            "cp1252"
        ),
    )
    yield (
        "long_reasons.csv",
        text(
            [
                [*row, note]
                for row, note in zip(long_rows(("judge", "event", "p_yes")), ["rationale", *"abcdefgh"], strict=True)
            ]
        ).encode(),
    )
    yield "header_again.csv", text([*cells()[:2], *cells()]).encode().replace(b"Supplier delay,0.35,0.4,0.3\n", b"", 1)
    yield "by_arithmetic.csv", text(cells(("Risk", *JUDGES), column=(4, "Team", [0.35, 0.5, 0.3]))).encode()
    yield "median.csv", text(cells(("Risk", *JUDGES), column=(4, "Median", [0.35, 0.5, 0.3]))).encode()
    yield "mixed_decimals.csv", text(cells(("Risk", *JUDGES), shown=lambda s: comma(s) if s > 0.4 else s), ";").encode()
    yield "old_mac.csv", text(cells(("Risk", *JUDGES)), end="\r").encode()
    yield "packed.csv.gz", gzip.compress(text(cells(("Risk", *JUDGES))).encode())
    yield "packed.csv.zst", zstandard.compress(text(cells(("Risk", *JUDGES))).encode())
    yield "quoted.csv", text(cells(("Risk", *JUDGES), shown=comma)).encode()
    yield "polls.csv", text(cells(("", *JUDGES), TITLE, NOTES)).encode()


KEPT = Path(__file__).parent / "kept"
"""Files that LibreOffice 7.4 wrote, in the locales en-US, de-DE and fr-FR."""


def variants() -> Iterator[tuple[str, bytes]]:
    """Every variant: its name and its bytes."""
    makers: tuple[Callable[[], Iterator[tuple[str, bytes]]], ...] = (review, workbooks, texts)
    for make in makers:
        yield from make()
    for path in sorted(KEPT.glob("*.*")):
        yield path.name, path.read_bytes()
