"""A comparison of methods as tables: on a terminal, in LaTeX and in HTML."""

from __future__ import annotations

from html import escape
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from coherently.errors import counted
from coherently.report.tables import _plain as plain
from coherently.report.tables import _table as make_table
from coherently.table_views import latex_text

if TYPE_CHECKING:
    from rich.table import Table

    from coherently.panel import Columns
    from coherently.scoring import Comparison, Difference
    from coherently.scoring.tuning.learned_judges import LearnedJudges

MOST_PAIRED = 10
"""The largest number of methods of which every two are compared; of more, each is compared with one of them."""
MOST_JUDGES = 30
"""Maximum number of judges in a table of what was learned about them."""
REFERENCE = "Aggregate (exact)"
"""The one, if it is there; otherwise it is the first."""


def _heads() -> dict[str, str]:
    from coherently.scoring import RULES

    return {rule.name: rule.head for rule in RULES}


def comparison_table(comparison: Comparison, over: str = "both") -> Table:
    """Each method with its mean scores and their intervals."""
    table = make_table("method", *_heads().values(), caption=_caption(comparison, over), left=("method",))
    columns = comparison.columns(over)
    for i, method in enumerate(comparison.methods):
        table.add_row(plain(method), *(_cell(columns, score, i) for score in _heads()))
    return table


def judges_table(judges: LearnedJudges) -> Table:
    """What outcomes taught about each judge, with intervals, those who count most first."""
    more = f" {MOST_JUDGES} of {len(judges):,} judges; all: --json" if len(judges) > MOST_JUDGES else ""
    caption = (
        f"{judges.sentence}\ntimes above 1: too timid, below 1: too bold; plus below 0: says yes too readily; "
        f"95% intervals in brackets.{more}"
    )
    heads = ("judge", "forecasts", "Brier", "weight", "times", "plus")
    table = make_table(*heads, caption=caption)
    columns = judges.columns()
    for i in judges.order[:MOST_JUDGES]:
        lines = [_estimate(columns, name, i) for name in ("weight", "exponent", "shift")]
        brier = columns["brier"][i]
        shown = "-" if np.isnan(brier) else f"{brier:.4f}"
        table.add_row(plain(judges.names[i]), f"{judges.forecasts[i]:,}", shown, *lines)
    return table


def _estimate(columns: Columns, name: str, i: int) -> str:
    low, high = columns[f"{name}_low"][i], columns[f"{name}_high"][i]
    return f"{columns[name][i]:.2f}" + ("" if np.isnan(low) else f" [{low:.2f}, {high:.2f}]")


def differences_table(comparison: Comparison, over: str = "both") -> Table:
    """The differences of the methods' scores (see `_pairs`); a star where the interval excludes 0."""
    chance = 1 - comparison.confidence
    caption = f"* the interval excludes 0; by chance alone, about {chance:.0%} of all intervals do so"
    if not comparison.has_intervals(over):
        caption = "No intervals, so any of this may be noise"
    if len(comparison.methods) > MOST_PAIRED:
        caption = f"{caption}\nAll other differences: --json"
    table = make_table("difference", *_heads().values(), caption=caption, left=("difference",))
    for first, second in _pairs(comparison):
        cells = []
        for score in _heads():
            found = comparison.difference(first, second, score, over)
            cells.append(_short(found) + ("*" if found.excludes_zero else " "))
        table.add_row(plain(f"{first} - {second}"), *cells)
    return table


def _pairs(comparison: Comparison) -> list[tuple[str, str]]:
    """Every two methods or, if they are many, each with the reference."""
    methods = comparison.methods
    if len(methods) <= MOST_PAIRED:
        return list(combinations(methods, 2))
    reference = REFERENCE if REFERENCE in methods else methods[0]
    return [(method, reference) for method in methods if method != reference]


def comparison_text(comparison: Comparison) -> Text:
    """What the rows and the intervals mean."""
    lines = [f"{row.name}: {row.meaning}{_how(row.status, row.gap)}." for row in comparison.rows]
    return Text("\n").append("\n".join(str(plain(line)) for line in lines))


def comparison_latex(comparison: Comparison, over: str = "both") -> str:
    """The table for a paper, as a tabular of the package booktabs."""
    columns = comparison.columns(over)
    body = [
        " & ".join([latex_text(method), *(_cell(columns, score, i) for score in _heads())]) + r" \\"
        for i, method in enumerate(comparison.methods)
    ]
    head = " & ".join(["Method", *_heads().values()]) + r" \\"
    lines = [f"% {_caption(comparison, over)}", r"\begin{tabular}{lrrr}", r"\toprule", head, r"\midrule"]
    return "\n".join([*lines, *body, r"\bottomrule", r"\end{tabular}"]) + "\n"


def comparison_html(comparison: Comparison, over: str = "both") -> str:
    """The table, the differences and what they mean, as one page without scripts or links."""
    columns = comparison.columns(over)
    rows = [[method, *(_cell(columns, score, i) for score in _heads())] for i, method in enumerate(comparison.methods)]
    said = [
        comparison.difference(first, second, score, over).sentence
        for first, second in _pairs(comparison)
        for score in _heads()
    ]
    meanings = [f"{row.name}: {row.meaning}{_how(row.status, row.gap)}." for row in comparison.rows]
    parts = [
        _PAGE,
        "<h1>Methods compared</h1>",
        _html_table(("method", *_heads().values()), rows, _caption(comparison, over)),
        "<h2>What the rows are</h2>",
        _html_list(meanings),
        "<h2>Differences</h2>",
        _html_list(said),
        *(["<h2>Notes</h2>", _html_list(list(comparison.notes))] if comparison.notes else []),
        "</html>",
    ]
    return "\n".join(parts) + "\n"


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Methods compared</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { caption-side: bottom; text-align: left; padding-top: .5rem; max-width: 45rem }
th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid #8888 }
th:first-child { text-align: left }
</style>"""


def _html_table(head: tuple[str, ...], rows: list[list[str]], caption: str) -> str:
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "\n".join(
        f'<tr><th scope="row">{escape(row[0])}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>"
        for row in rows
    )
    return f"<table>\n<caption>{escape(caption)}</caption>\n<tr>{top}</tr>\n{body}\n</table>"


def _html_list(items: list[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{escape(item)}</li>" for item in items) + "\n</ul>"


def _cell(columns: Columns, score: str, i: int) -> str:
    value, low, high = (float(columns[name][i]) for name in (score, f"{score}_low", f"{score}_high"))
    if np.isnan(value):
        return "-"
    return f"{value:.4f}" if np.isnan(low) else f"{value:.4f} [{low:.4f}, {high:.4f}]"


def _short(found: Difference) -> str:
    """A difference and its interval, so short that three fit beside each other."""
    if np.isnan(found.difference):
        return "-"
    numbers = [f"{found.difference:+.3f}", *(f"{end:.3f}" for end in found.interval or ())]
    value, *ends = (number.replace("0.", ".", 1) for number in numbers)
    return f"{value} [{', '.join(ends)}]" if ends else value


def _caption(comparison: Comparison, over: str) -> str:
    from coherently.scoring import DRAWN

    said = f"Means over {counted(comparison.judges, 'judge')}, {counted(comparison.scored, 'forecast')}"
    if not comparison.has_intervals(over):
        return f"{said}; no intervals"
    how = f"made again for {comparison.resamples:,} draws of the judges" if comparison.remade else "as they are"
    return f"{said}; {comparison.confidence:.0%} intervals over {DRAWN[over]}, aggregates {how}"


def _how(status: str | None, gap: float | None) -> str:
    if status is None:
        return ""
    return f" ({status})" if gap is None else f" ({status}, gap {gap:.1e})"
