"""Intervals of judges in wide tables: two columns for each judge, or two numbers in one cell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.panel.worksheets.cell_numbers import PER_CENT, to_number
from coherently.panel.worksheets.role_words import WORDS, listed_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.panel.worksheets.sheet_grid import Cell

BOUND_WORDS = {
    "lower": {*listed_words(WORDS["lower"]), "from", "von", "at least", "p5", "p10"},
    "upper": {*listed_words(WORDS["upper"]), "to", "bis", "at most", "p95", "p90"},
    "probability": {"best", "best guess", "most likely", "point", "mid", "middle", "central", "p50", "estimate"},
}
"""What people write beside the name of a judge, by the part that a column plays."""
BETWEEN = re.compile(r"[\s_:.,/()\[\]–—-]+")
RANGE = re.compile(
    r"(?P<low>\d*[.,]?\d+)\s*(?P<sign>%?)\s*(?:-|–|—|…|\.\.\.?|to|bis|à|a)\s*(?P<high>\d*[.,]?\d+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class JudgeColumns:
    """The columns of one judge: both bounds, and the probability between them if there is one."""

    judge: str
    lower: int
    upper: int
    probability: int | None = None

    @property
    def columns(self) -> tuple[int, ...]:
        """All of them."""
        return (self.lower, self.upper) if self.probability is None else (self.lower, self.probability, self.upper)


def bounded_judges(names: Mapping[int, str]) -> list[JudgeColumns]:
    """The judges that have a column for each bound, by the names of columns.

    >>> found = bounded_judges({1: "Ann low", 2: "Ann high", 3: "Bob (min)", 4: "Bob", 5: "Bob (max)", 6: "Cid"})
    >>> [(each.judge, each.columns) for each in found]
    [('Ann', (1, 2)), ('Bob', (3, 4, 5))]
    """
    found: dict[str, dict[str, int]] = {}
    for column, name in names.items():
        judge, part = _taken_apart(name)
        if judge:
            found.setdefault(judge, {}).setdefault(part, column)
    whole = {" ".join(filter(None, BETWEEN.split(name))): column for column, name in names.items()}
    return [
        JudgeColumns(judge, parts["lower"], parts["upper"], parts.get("probability", whole.get(judge)))
        for judge, parts in found.items()
        if {"lower", "upper"} <= parts.keys()
    ]


def _taken_apart(name: str) -> tuple[str, str]:
    """The name of a judge, and the part that a column plays for them; two empty texts if it plays none."""
    words = [word for word in BETWEEN.split(name) if word]
    for part, known in BOUND_WORDS.items():
        for count in (2, 1):
            for said, rest in ((words[-count:], words[:-count]), (words[:count], words[count:])):
                if rest and " ".join(said).lower() in known:
                    return " ".join(rest), part
    return "", ""


def to_range(cell: Cell | None) -> tuple[float, float] | None:
    """The two numbers of a cell that has an interval, per cent as shares; None if it has none.

    >>> to_range("20-40 %"), to_range("0,2 bis 0,4"), to_range("10% – 30%"), to_range("0.3"), to_range("40-20")
    ((0.2, 0.4), (0.2, 0.4), (0.1, 0.3), None, None)
    """
    if not isinstance(cell, str):
        return None
    text = cell.strip()
    plain = PER_CENT.sub("", text)
    found = RANGE.fullmatch(plain)
    if found is None:
        return None
    low, high = to_number(found["low"]), to_number(found["high"])
    if low is None or high is None or low > high or (found["sign"] and plain == text):
        return None
    scale = 1 if plain == text else 100
    return low / scale, high / scale
