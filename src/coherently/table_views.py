"""Tables and values as notebooks and papers show them: small HTML without script, and LaTeX."""

from __future__ import annotations

import itertools
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS = 20
"""How many rows a notebook shows before the rest is only counted."""
LONGEST = 200
"""How many characters of a text a notebook shows."""
DECIMALS = 4
NOTES = 5
"""How many notes a notebook shows."""
LOW, HIGH = "_low", "_high"
"""What the names of the ends of an interval end with."""
LINE = "1px solid rgba(128, 128, 128, .35)"
"""A rule that is seen on light and on dark ground; all other colours are those of the notebook."""
CELL = "padding:.15em .8em .15em 0;vertical-align:top"
_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ", "\r": " "}
)


def html_view(value: object) -> str:
    """A value as a notebook shows it: what it is, its table or its fields, and its notes.

    >>> html_view(3.5)
    '<div><p style="margin:0 0 .3em"><strong>3.5</strong></p></div>'
    """
    head = f'<p style="margin:0 0 .3em"><strong>{_short(_headline(value))}</strong></p>'
    columns = _columns(value)
    filled = columns is not None and any(len(column) for column in columns.values())
    table = html_table(columns, most=ROWS) if columns is not None and filled else ""
    return f"<div>{head}{table}{_notes(value)}</div>"


def _headline(value: object) -> str:
    """What a value says of itself, without the brackets around it; of a dataclass that tells its fields, its name."""
    text = repr(value)
    if text.startswith("<") and text.endswith(">"):
        return text[1:-1]
    return type(value).__name__ if is_dataclass(value) else text


def _columns(value: object) -> Mapping[str, Any] | None:
    """The table of a value: its own, or else one row per field."""
    for name in ("_view_columns", "columns"):
        make = getattr(value, name, None)
        if callable(make):
            found: Mapping[str, Any] = make()
            return found
    if not is_dataclass(value):
        return None
    own = [each.name for each in fields(value) if not each.name.startswith("_") and each.repr]
    return {"field": own, "value": [_field_text(getattr(value, name, None)) for name in own]} if own else None


def _field_text(value: object) -> str:
    """A field in few words."""
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"array of {' x '.join(map(str, value.shape))}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else repr(value)


def _notes(value: object) -> str:
    found = getattr(value, "notes", None)
    notes = list(found) if isinstance(found, tuple | list) else []
    if isinstance(note := getattr(value, "note", None), str):
        notes.append(note)
    if not notes:
        return ""
    more = [f"and {len(notes) - NOTES} more"] if len(notes) > NOTES else []
    items = "".join(f"<li>{_short(str(each))}</li>" for each in [*notes[:NOTES], *more])
    return f'<ul style="margin:.3em 0 0;padding-left:1.2em;opacity:.75">{items}</ul>'


class DisplayColumn(NamedTuple):
    """A column as it is shown: its name, its cells as text, and whether these are numbers."""

    name: str
    texts: list[str]
    numeric: bool


def html_table(columns: Mapping[str, Any], *, most: int | None = None, decimals: int = DECIMALS) -> str:
    """Columns as a table of HTML, texts to the left and numbers to the right; `most` limits the rows.

    >>> html_table({"event": ["a < b"], "raw": np.array([0.5])})
    '<table ...<td style="...text-align:left...">a &lt; b</td><td style="...">0.5</td></tr></tbody></table>'
    """
    count = len(next(iter(columns.values()))) if columns else 0
    shown = display_columns({name: column[:most] for name, column in columns.items()}, decimals)
    sides = [f"text-align:{'right' if each.numeric else 'left'};{CELL}" for each in shown]
    head = "".join(
        f'<th scope="col" style="{side};border-bottom:{LINE};font-weight:600">{_short(each.name)}</th>'
        for side, each in zip(sides, shown, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{side}">{_short(cell)}</td>' for side, cell in zip(sides, row, strict=True))
        + "</tr>"
        for row in zip(*(each.texts for each in shown), strict=True)
    )
    rest = count - (count if most is None else min(count, most))
    more = f'<p style="margin:.2em 0 0;opacity:.75">and {rest:,} more</p>' if rest else ""
    style = "border-collapse:collapse;font-variant-numeric:tabular-nums;background:none"
    return f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def latex_table(columns: Mapping[str, Any], *, decimals: int = DECIMALS) -> str:
    r"""Columns as a tabular of the package booktabs.

    >>> print(latex_table({"judge": ["A & B"], "brier": np.array([0.2]), "brier_low": np.array([0.1]),
    ...                    "brier_high": np.array([0.31])}))
    \begin{tabular}{lr}
    \toprule
    judge & brier \\
    \midrule
    A \& B & 0.20 [0.10, 0.31] \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    shown = display_columns(columns, decimals)
    sides = "".join("r" if each.numeric else "l" for each in shown)
    rows = [[each.name for each in shown], *zip(*(each.texts for each in shown), strict=True)]
    first, *others = (" & ".join(map(latex_text, row)) + r" \\" for row in rows)
    lines = [r"\begin{tabular}{" + sides + "}", r"\toprule", first, r"\midrule", *others]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def display_columns(columns: Mapping[str, Any], decimals: int = DECIMALS) -> list[DisplayColumn]:
    """The columns as they are shown: an interval stands beside its number, in one column.

    >>> low = np.array([0.4, np.nan])
    >>> display_columns({"x": [1, None], "p": np.array([0.5, 0.5]), "p_low": low, "p_high": np.ones(2)})
    [DisplayColumn(name='x', texts=['1', '-'], numeric=True),
     DisplayColumn(name='p', texts=['0.5 [0.4, 1.0]', '0.5'], numeric=True)]
    """
    found = []
    for name, column in columns.items():
        if _is_end(name, columns):
            continue
        ends = [columns[f"{name}{end}"] for end in (LOW, HIGH) if f"{name}{end}" in columns]
        numbers = _numbers(column)
        if numbers is None:
            texts = [_cell_text(cell, decimals) for cell in column]
        elif len(ends) == 2:
            texts = _with_intervals(np.array([numbers, *ends], np.float64), decimals)
        else:
            texts = number_cells(numbers, decimals)
        found.append(DisplayColumn(name.strip(), texts, numbers is not None))
    return found


def _numbers(column: Any) -> np.ndarray[Any, Any] | None:
    """A column of numbers as an array, NaN where there is none; None for any other column."""
    if isinstance(column, np.ndarray):
        return column if column.dtype.kind in "fiu" else None
    known = [cell for cell in column if cell is not None]
    if not known or any(isinstance(cell, bool) or not isinstance(cell, int | float) for cell in known):
        return None
    return np.array([np.nan if cell is None else cell for cell in column], np.float64)


def _with_intervals(rows: np.ndarray[Any, Any], decimals: int) -> list[str]:
    """Numbers, low ends and high ends as texts, with the same decimals."""
    texts = number_cells(rows.ravel(), decimals)
    count = rows.shape[1]
    threes = zip(texts[:count], texts[count : 2 * count], texts[2 * count :], strict=True)
    return [value if "-" in (low, high) else f"{value} [{low}, {high}]" for value, low, high in threes]


def _is_end(name: str, columns: Mapping[str, Any]) -> bool:
    """Whether a column is the end of the interval of another."""
    return any(
        name.endswith(end) and name.removesuffix(end) in columns and f"{name.removesuffix(end)}{other}" in columns
        for end, other in ((LOW, HIGH), (HIGH, LOW))
    )


def latex_text(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> latex_text("50% of a_b & c")
    '50\\% of a\\_b \\& c'
    """
    return text.translate(_LATEX)


def number_cells(values: np.ndarray[Any, Any], most: int = DECIMALS) -> list[str]:
    """Numbers with as many decimals, up to `most`, as the column needs; a dash where a number is missing.

    >>> number_cells(np.array([0.25, 1.0, np.nan])), number_cells(np.array([1200, 3]))
    (['0.25', '1.00', '-'], ['1,200', '3'])
    """
    rounded = np.round(values.astype(np.float64), most) + 0.0  # no minus before a zero
    known = rounded[np.isfinite(rounded)]
    enough = (d for d in itertools.count() if d == most or np.array_equal(np.round(known, d), known))
    decimals = next(enough)
    return ["-" if np.isnan(value) else f"{value:,.{decimals}f}" for value in rounded.tolist()]


def _cell_text(cell: object, decimals: int) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if isinstance(cell, float | np.floating):
        return number_cells(np.array([float(cell)]), decimals)[0]
    return str(cell)


def _short(text: str) -> str:
    """Escaped text, cut where it is long; what acts on the text around it is written as an escape."""
    kept = text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
    return escape("".join(c if c.isprintable() or c == "\xa0" else c.encode("unicode_escape").decode() for c in kept))
