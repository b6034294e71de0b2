"""What a single cell means, or why it cannot be used."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MISSING = frozenset({"", "na", "n/a", "null", "nan"})
"""Texts that mean a missing value; case and surrounding spaces do not matter."""
FLOATS = (float, np.floating)
NUMERIC = (str, int, np.integer, Decimal, *FLOATS)
NULLS = frozenset({"NoneType", "NAType", "NaTType"})
"""Types that mean a missing value, by name, because pandas is not imported."""
OUTCOMES = {"true": 1, "yes": 1, "false": 0, "no": 0}
ROUNDING = 1e-12
"""A probability that lies at most this far outside [0, 1] counts as 0 or 1. A sum of n probabilities is off by at most
n 2^-53, so this is what a sum of some 9,000 of them can lose to rounding."""
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")

PROBABILITY = {
    scale: f"A probability is a number from 0 to {scale}, or a percentage such as 35%." for scale in (1, 100)
}
ABSTENTION = "A long table has no row for an abstention: delete the row, or pass --missing abstain (missing='abstain')."
PERCENT = "If the column holds percentages, pass --percent (percent=True)."
LIGHTEST, HEAVIEST = 1e-50, 1e50
"""The least and the greatest weight above 0: the cube of a ratio of two weights is still an ordinary double."""
WEIGHT = (
    "A weight is 0, or a number from 1e-50 to 1e50; every row has one. Only the ratios of weights matter: divide all "
    "of them by the same number, or write 0 to leave a forecast out."
)
NAME = "Judges and events are texts or whole numbers: write one in every row."
OUTCOME = "An outcome is 0 or 1, true or false, yes or no, or an empty cell while it is unresolved."
TIME = "A time is a number, or an ISO date such as 2024-05-31 or 2024-05-31T12:00; every row has one."


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a cell cannot be used (`reason`, where {} stands for the cell), what to do about it, and the kind of it."""

    reason: str
    remedies: tuple[str, ...]
    code: str


EMPTY = Refusal("the cell is empty", (NAME,), "bad-name")


def probability(cell: object) -> float | Refusal:
    """Read one probability."""
    return to_probability(cell, 1, abstain=False)


def _is_null(cell: object) -> bool:
    return type(cell).__name__ in NULLS or (isinstance(cell, FLOATS) and math.isnan(cell))


def is_unicode(text: str) -> bool:
    """Whether a text is without halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_odd(cell: object) -> bool:
    """Whether a cell is a number to Python but not to a person: True, and 1_000."""
    return isinstance(cell, bool) or (isinstance(cell, str) and "_" in cell)


def is_missing(cell: object) -> bool:
    """Whether a cell means a missing value."""
    return _is_null(cell) or (isinstance(cell, str) and cell.strip().lower() in MISSING)


def _number(cell: object, code: str, *remedies: str) -> float | Refusal:
    """Return a finite number, or NaN for a missing one."""
    if is_missing(cell):
        return math.nan
    value = math.nan
    if isinstance(cell, NUMERIC) and not _is_odd(cell):
        try:
            value = float(cell)
        except OverflowError:
            value = math.inf
        except ValueError:
            pass
    if math.isfinite(value):
        return value
    if isinstance(cell, str) and DECIMAL_COMMA.fullmatch(cell):
        remedies = (*remedies, "Write decimals with a point: 0.35, not 0,35.")
    return Refusal("{} is not a number" if math.isnan(value) else "{} is not finite", remedies, code)


def to_probability(cell: object, scale: int, abstain: bool) -> float | Refusal:
    """Read a probability, NaN for an abstention; plain numbers are divided by `scale`."""
    top, number = scale, cell
    if isinstance(cell, str) and cell.rstrip().endswith("%"):
        top, number = 100, cell.rstrip()[:-1]
    value = _number(number, "bad-probability", PROBABILITY[scale])
    if isinstance(value, Refusal):
        return value
    if math.isnan(value) and number is not cell:
        return Refusal("{} is not a number", (PROBABILITY[scale],), "bad-probability")
    if math.isnan(value):
        return value if abstain else Refusal("no probability", (ABSTENTION,), "missing-probability")
    share = value / top
    if share < -ROUNDING:
        return Refusal("{} is below 0", (PROBABILITY[scale],), "bad-probability")
    if share > 1 + ROUNDING:
        hint = (PERCENT,) if top == 1 and value <= 100 else ()
        return Refusal(f"{{}} is above {top}", (PROBABILITY[scale], *hint), "bad-probability")
    return min(max(share, 0.0), 1.0)


def to_weight(cell: object) -> float | Refusal:
    """Read a weight: 0, or a number in the range of weights."""
    value = _number(cell, "bad-weight", WEIGHT)
    if isinstance(value, Refusal) or are_weights(np.float64(value)):
        return value
    if math.isnan(value):
        return Refusal("no weight", (WEIGHT,), "bad-weight")
    reason = "{} is below 0" if value < 0 else f"{{}} is too {'small' if value < 1 else 'large'}"
    return Refusal(reason, (WEIGHT,), "bad-weight")


def are_weights(values: NDArray[np.float64] | np.float64) -> NDArray[np.bool_]:
    """Which numbers may be weights."""
    allowed: NDArray[np.bool_] = (values == 0) | ((values >= LIGHTEST) & (values <= HEAVIEST))
    return allowed


def to_text(cell: object) -> str | Refusal:
    """Read a name, stripped."""
    if isinstance(cell, (int, np.integer, *FLOATS)) and cell == cell // 1 and not isinstance(cell, bool):
        return str(int(cell))
    if _is_null(cell) or (isinstance(cell, str) and not cell.strip()):
        return EMPTY
    if not isinstance(cell, str):
        return Refusal("{} is neither a text nor a whole number", (NAME,), "bad-name")
    if not is_unicode(cell):
        return Refusal("{} contains half a character (a lone surrogate)", ("Write the text again.",), "bad-name")
    return cell.strip()


def to_outcome(cell: object) -> int | Refusal:
    """Read an outcome: 1 true, 0 false, -1 unresolved."""
    word = str(cell).strip().lower() if isinstance(cell, str | bool | np.bool_) else ""
    value = OUTCOMES.get(word, _number(cell, "bad-outcome"))
    if isinstance(value, Refusal) or value not in {0, 1}:
        absent = isinstance(value, float) and math.isnan(value)
        return -1 if absent else Refusal("{} is not an outcome", (OUTCOME,), "bad-outcome")
    return int(value)


def to_moment(cell: object) -> float | datetime | Refusal:
    """Read a number, or an ISO date."""
    value = _number(cell, "bad-time", TIME)
    if isinstance(value, float):
        return Refusal("no time", (TIME,), "bad-time") if math.isnan(value) else value
    try:
        text = cell.isoformat() if isinstance(cell, date) else str(cell).strip()
        moment = datetime.fromisoformat(text)
    except ValueError:
        return Refusal("{} is not a time", (TIME,), "bad-time")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
