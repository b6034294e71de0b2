"""What a model says about a quantity: its distribution at some thresholds, or its probabilities of categories."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from coherently.conversion.hub.hub_cells import cell_day, cell_number, plain_number
from coherently.errors import PanelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.conversion.hub.entries import Entry

Threshold: TypeAlias = tuple[float, bool]
"""A number and whether it is included: `x <= 5` is (5, True), `x < 5` is (5, False) and comes before it."""
ROUNDING: Final = 1e-3
"""How far the probabilities of categories may be from 1 in all."""
BIN: Final = re.compile(r"([\[(])\s*([^,\s]+)\s*,\s*([^,\s]+)\s*([\])])")


@dataclass(frozen=True, slots=True)
class Distribution:
    """The probability of at most each threshold, ascending; of samples, every sample is a threshold."""

    thresholds: tuple[Threshold, ...]
    levels: tuple[float, ...]
    samples: bool = False

    def probability(self, threshold: Threshold) -> float:
        """The probability of at most a threshold.

        Between two thresholds it is interpolated; below the first and above the last, where the model says only that
        little is left, it is half of what is left.

        >>> said = Distribution(((10.0, True), (20.0, True)), (0.25, 0.75))
        >>> [said.probability((x, True)) for x in (0.0, 10.0, 14.0, 20.0, 30.0)]
        [0.125, 0.25, 0.45, 0.75, 0.875]
        """
        at = bisect.bisect_right(self.thresholds, threshold)
        if self.samples:
            return at / len(self.thresholds)
        if at and self.thresholds[at - 1] == threshold:
            return self.levels[at - 1]
        if at == 0:
            return round(self.levels[0] / 2, 9)
        if at == len(self.thresholds):
            return round((1 + self.levels[-1]) / 2, 9)
        (left, _), (right, _) = self.thresholds[at - 1 : at + 1]
        low, high = self.levels[at - 1 : at + 1]
        share = (threshold[0] - left) / (right - left) if right > left else 0.0
        return round(low + share * (high - low), 9)


def quantiles(entries: Sequence[Entry]) -> tuple[Distribution | None, int, int]:
    """Read quantiles; a median is the quantile 0.5.

    Returns also how many levels have the value of a higher one, which says more, and how many are 0 or 1.
    """
    levels: dict[float, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.type == "median"):
        level = 0.5 if entry.type == "median" else cell_number(entry.id)
        if level is None or not 0.0 <= level <= 1.0:
            found = f"{entry.id!r} is not a level" if entry.id else "no level"
            raise PanelError(
                f"{entry.place('output_type_id')}: {found}; the level of a quantile lies between 0 and 1: "
                f"write 0.25, not 25, or delete the row"
            )
        levels.setdefault(level, entry)
    said = sorted(levels.items(), key=lambda item: item[0])
    for (low, before), (high, after) in pairwise(said):
        if after.value < before.value:
            raise PanelError(
                f"{after.place('value')}: the quantile {high:g} is {plain_number(after.value)}, below the quantile "
                f"{low:g}, which is {plain_number(before.value)} ({before.row}); quantiles must not decrease: "
                f"sort the values, or delete the rows"
            )
    inside = {(entry.value, True): level for level, entry in said if 0.0 < level < 1.0}
    ends = sum(not 0.0 < level < 1.0 for level, _ in said)
    tied = len(said) - ends - len(inside)
    return (Distribution(tuple(inside), tuple(inside.values())) if inside else None), tied, ends


def cumulative(entries: Sequence[Entry]) -> Distribution:
    """Read a cumulative distribution at numbers or days."""
    said = []
    for entry in entries:
        day = cell_day(entry.id)
        number = cell_number(entry.id) if day is None else float(day.toordinal())
        if number is None:
            raise PanelError(f"{entry.place('output_type_id')}: expected a number or a date, found {entry.id!r}")
        said.append(((number, True), _probability(entry), entry))
    return _ascending(sorted(said, key=lambda item: item[0]))


def _ascending(said: Sequence[tuple[Threshold, float, Entry]]) -> Distribution:
    for (_, low, before), (_, high, after) in pairwise(said):
        if high < low:
            raise PanelError(
                f"{after.place('value')}: {high:g} at {after.id}, below {low:g} at {before.id} ({before.row}); "
                f"a cumulative distribution must not decrease: correct one of the two values"
            )
    return Distribution(tuple(threshold for threshold, _, _ in said), tuple(level for _, level, _ in said))


def sampled(entries: Sequence[Entry]) -> Distribution:
    """Take the samples as a distribution in steps."""
    values = sorted((entry.value, True) for entry in entries)
    return Distribution(tuple(values), (), samples=True)


def shares(entries: Sequence[Entry]) -> dict[str, float]:
    """Read the probabilities of categories, which sum to 1."""
    said: dict[str, float] = {}
    total = 0.0
    for entry in entries:
        if not entry.id:
            raise PanelError(f"{entry.place('output_type_id')}: no category; name it, or delete the row")
        said[entry.id] = _probability(entry)
        total += said[entry.id]
        if total > 1.0 + ROUNDING:
            raise _wrong_sum(entry, f"{total:g} up to this row")
    if total < 1.0 - ROUNDING:
        raise _wrong_sum(entries[-1], f"{total:g}")
    return said


def _wrong_sum(entry: Entry, total: str) -> PanelError:
    return PanelError(
        f"{entry.place('value')}: the probabilities of {entry.model}'s categories sum to {total}; "
        f"they must sum to 1: correct them, or divide each by their sum"
    )


def binned(entries: Sequence[Entry]) -> Distribution:
    """Read the probabilities of bins, or of the values of a discrete quantity, as those of at most their upper ends."""
    shares(entries)
    bins = sorted(((ends, entry) for entry in entries if (ends := read_bin(entry.id))), key=lambda item: item[0])
    total, below = 0.0, (float("-inf"), False)
    said: dict[Threshold, float] = {}
    for number, ((low, high), entry) in enumerate(bins):
        if low < below:
            other = bins[number - 1][1]
            raise PanelError(
                f"{entry.place('output_type_id')}: the bin {entry.id} overlaps {other.id} ({other.row}); "
                f"bins must not overlap: correct one of the two"
            )
        below = high
        total += entry.value
        if high[0] != float("inf"):
            said[high] = min(round(total, 12), 1.0)
    return Distribution(tuple(said), tuple(said.values()))


def read_bin(text: str) -> tuple[Threshold, Threshold] | None:
    """The ends of a bin as thresholds: what lies below it, and what lies in or below it; None if the text is no bin.

    >>> read_bin("[0, 0.5)"), read_bin("(5,Inf)"), read_bin("3"), read_bin("low")
    (((0.0, False), (0.5, False)), ((5.0, True), (inf, False)), ((3.0, False), (3.0, True)), None)
    """
    number = cell_number(text)
    if number is not None:
        return (number, False), (number, True)
    match = BIN.fullmatch(text)
    if match is None:
        return None
    low, high = _end(match[2]), _end(match[3])
    if low is None or high is None or low >= high:
        return None
    return (low, match[1] == "("), (high, match[4] == "]")


def _end(text: str) -> float | None:
    return float(text) if text.lower() in {"inf", "+inf", "-inf"} else cell_number(text)


def _probability(entry: Entry) -> float:
    if not 0.0 <= entry.value <= 1.0:
        raise PanelError(
            f"{entry.place('value')}: {entry.value:g} is not a probability; the value of a {entry.type} lies between "
            f"0 and 1: correct it, or delete the row"
        )
    return entry.value
