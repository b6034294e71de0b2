"""Numbers as people write them: decimal commas, per cent, odds, and what stands for no answer."""

from __future__ import annotations

import math
import re
from enum import Enum
from typing import TYPE_CHECKING

from coherently.panel.columnar.cell_values import MISSING
from coherently.panel.worksheets.sheet_grid import Percent, Uncomputed

if TYPE_CHECKING:
    from coherently.panel.worksheets.sheet_grid import Cell

NO_ANSWER = MISSING | {
    *("-", "–", "—", "−", "--", "·", "?"),
    *("n.a.", "n.a", "k.a.", "k. a.", "k.a", "keine angabe", "n.d.", "n/d", "nd", "s/d", "nsp", "n.r.", "none", "nil"),
    *("#n/a", "#nv", "#na", "#n/v"),
    *("abstain", "abstained", "enthaltung", "abstention", "abstención", "astenuto", "no answer", "missing"),
}
"""Texts that mean that somebody gave no answer, in small letters."""
NUMBER = re.compile(r"[+\-−]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?")
GROUPED = re.compile(r"[+\-−]?\d{1,3}(?:(?P<mark>[.,'’ \u00a0\u202f])\d{3})(?:(?P=mark)\d{3})*(?:[.,]\d+)?")
"""Thousands that are set apart, at least once."""
FRACTION = re.compile(r"(\d+(?:[.,]\d+)?)\s*(?:/|:|-)\s*(\d+(?:[.,]\d+)?)")
PER_CENT = re.compile(r"\s*(?:%|per ?cent|prozent|pour ?cent|por ?ciento|percento|pct\.?)\s*$", re.IGNORECASE)
ROUGHLY = re.compile(r"^\s*(?:~|≈|ca\.?|circa|approx\.?|about|rund|env\.?|environ)\s*(?=[\d.,])", re.IGNORECASE)
EVENS = frozenset({"evens", "even", "evs"})


class Decimals(Enum):
    """The mark before decimals in texts that are numbers."""

    POINT = "point"
    COMMA = "comma"
    BOTH = "comma or point"


def is_no_answer(cell: Cell | None) -> bool:
    """Whether a cell stands for no answer."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return True
    return isinstance(cell, str) and cell.strip().lower() in NO_ANSWER


def to_number(cell: Cell | None) -> float | None:
    """The number that a cell says, per cent as shares; None if it is not a number.

    >>> to_number("0,35"), to_number("35 %"), to_number("ca. 35,5%"), to_number("1.234,5"), to_number("12 345")
    (0.35, 0.35, 0.355, 1234.5, 12345.0)
    """
    if isinstance(cell, bool) or cell is None or isinstance(cell, Uncomputed):
        return None
    if isinstance(cell, float | int):
        return float(cell) if math.isfinite(cell) else None
    text = ROUGHLY.sub("", cell.strip())
    plain = PER_CENT.sub("", text)
    number = _plain_number(plain.strip())
    return number if number is None or plain == text else number / 100


def _plain_number(text: str) -> float | None:
    if NUMBER.fullmatch(text):
        return _finite(text.replace(",", ".").replace("−", "-"))
    if GROUPED.fullmatch(text):
        marks = [character for character in text if not character.isdigit() and character not in "+-−"]
        is_decimal = len(marks) > 1 and marks[-1] != marks[0]
        whole, _, decimals = text.rpartition(marks[-1]) if is_decimal else (text, "", "")
        digits = "".join(character for character in whole.replace("−", "-") if character.isdigit() or character in "+-")
        return _finite(f"{digits}.{decimals or '0'}")
    return None


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def is_answer(cell: Cell | None) -> bool:
    """Whether a cell may be somebody's number."""
    return to_number(cell) is not None


def is_per_cent(cell: Cell | None) -> bool:
    """Whether a cell says by itself that it is in per cent.

    >>> is_per_cent("35 %"), is_per_cent(Percent(0.35)), is_per_cent("35")
    (True, True, False)
    """
    return isinstance(cell, Percent) or (isinstance(cell, str) and PER_CENT.search(cell) is not None)


def decimals_of(cells: list[Cell | None]) -> Decimals | None:
    """Which mark stands before decimals in the texts among some cells; None if none has decimals.

    >>> decimals_of(["0,35", "1"]), decimals_of(["0,35", "0.4"]), decimals_of([0.5])
    (<Decimals.COMMA: 'comma'>, <Decimals.BOTH: 'comma or point'>, None)
    """
    texts = [PER_CENT.sub("", ROUGHLY.sub("", cell.strip())) for cell in cells if isinstance(cell, str)]
    numbers = [text for text in texts if NUMBER.fullmatch(text)]
    comma, point = (any(mark in text for text in numbers) for mark in ",.")
    if comma and point:
        return Decimals.BOTH
    return Decimals.COMMA if comma else Decimals.POINT if point else None


def share(cell: Cell | None, scale: float) -> Cell | None:
    """A probability as a share; None for no answer. What cannot be read stays as it is, to be refused with its place.

    >>> share("35 %", 1), share(Percent(0.35), 100), share("35", 100), share("-", 1), share("maybe", 1)
    (0.35, 0.35, 0.35, None, 'maybe')
    """
    if is_no_answer(cell):
        return None
    number = to_number(cell)
    if number is None:
        return cell
    value = number if is_per_cent(cell) else number / scale
    return value if 0 <= value <= 1 else cell


class OddsKind(Enum):
    """How odds are written."""

    DECIMAL = "decimal"
    FRACTIONAL = "fractional"
    AMERICAN = "American"


def odds_kind(cells: list[Cell | None]) -> OddsKind | None:
    """How the odds of a column are written; None if that is not clear.

    >>> odds_kind(["4/1", "evens"]), odds_kind(["+400", "-150"]), odds_kind([1.25, "5,0"]), odds_kind([150.0, 200.0])
    (<OddsKind.FRACTIONAL: 'fractional'>, <OddsKind.AMERICAN: 'American'>, <OddsKind.DECIMAL: 'decimal'>, None)
    """
    given = [cell for cell in cells if not is_no_answer(cell)]
    if not given:
        return None
    texts = [cell.strip().lower() for cell in given if isinstance(cell, str)]
    if any(FRACTION.fullmatch(text) or text in EVENS for text in texts):
        fits = all(FRACTION.fullmatch(text) or text in EVENS for text in texts) and len(texts) == len(given)
        return OddsKind.FRACTIONAL if fits else None
    numbers = [to_number(cell) for cell in given]
    known = [number for number in numbers if number is not None]
    if len(known) < len(given):
        return None
    signed = any(number < 0 for number in known) or any(text.startswith("+") for text in texts)
    if all(abs(number) >= 100 for number in known):
        return OddsKind.AMERICAN if signed else None
    return OddsKind.DECIMAL if min(known) >= 1 and not signed else None


def from_odds(cell: Cell | None, kind: OddsKind) -> Cell | None:
    """The probability that odds imply, with the margin in it; None for no answer, other cells as they are.

    >>> from_odds(4.0, OddsKind.DECIMAL), from_odds("4/1", OddsKind.FRACTIONAL), from_odds("-150", OddsKind.AMERICAN)
    (0.25, 0.2, 0.6)
    """
    if is_no_answer(cell):
        return None
    if kind is OddsKind.FRACTIONAL and isinstance(cell, str):
        found = FRACTION.fullmatch(cell.strip())
        if found is None:
            return 0.5 if cell.strip().lower() in EVENS else cell
        against, stake = (float(part.replace(",", ".")) for part in found.groups())
        return stake / (against + stake) if against + stake > 0 else cell
    number = to_number(cell)
    if number is None:
        return cell
    if kind is OddsKind.AMERICAN:
        return 100 / (number + 100) if number > 0 else -number / (-number + 100)
    return 1 / number if number >= 1 else cell
