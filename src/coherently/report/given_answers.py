"""Who answered what: the table of the appendix, with weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.people_sentences import SPACE
from coherently.report.before_after import EVENTS
from coherently.report.names import answer, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.arrays import Indices
    from coherently.explain import Check
    from coherently.panel import Panel
    from coherently.report.before_after import PageNumbers
    from coherently.report.event_titles import EventTitles

COLUMNS = 10
"""Maximum number of judges with a column each; of more, a row has how many answered, and how far they are apart."""
JUDGES = 100
"""Maximum number of judges whose weights are listed."""
REPEATS = 3
"""Maximum number of answers of one judge to one event that a cell lists."""


@dataclass(frozen=True, slots=True)
class AnswerCell:
    """What stands in a cell, and whether that answer is part of a contradiction."""

    words: str
    contradicts: bool = False


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An event with the answers, and with the numbers before and after as shown, without the per cent sign."""

    title: str
    cells: tuple[AnswerCell, ...]
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class GivenAnswers:
    """Rows of answers below `heads`, which are judges or words; `filled` of `places` are there."""

    heads: tuple[str, ...]
    rows: tuple[AnswerRow, ...]
    total: int
    filled: int
    places: int
    by_judge: bool


@dataclass(frozen=True, slots=True)
class JudgeCount:
    """How many answers a judge gave, and how much these count."""

    name: str
    answers: int
    weight: str


def given_answers(panel: Panel, numbers: PageNumbers | None, found: Check | None, titles: EventTitles) -> GivenAnswers:
    """The answers to the events of a page; without a result, to the first events."""
    units = np.arange(min(EVENTS, len(panel.written))) if numbers is None else numbers.units
    by_judge = len(panel.judges) <= COLUMNS
    cells = _by_judge(panel, units, _suspects(found)) if by_judge else _in_short(panel, units)
    texts = panel.written.text
    rows = tuple(
        AnswerRow(titles.alone(texts[i]), tuple(own), *_before_and_after(numbers, i))
        for i, own in zip(units.tolist(), cells, strict=True)
    )
    filled = len(np.unique(panel.event_index.astype(np.int64) * len(panel.judges) + panel.judge_index))
    return GivenAnswers(
        heads=panel.judges if by_judge else ("answers", "lowest", "middle", "highest"),
        rows=rows,
        total=len(panel.written),
        filled=filled,
        places=len(panel.written) * len(panel.judges),
        by_judge=by_judge,
    )


def _before_and_after(numbers: PageNumbers | None, unit: int) -> tuple[str, str]:
    """The two numbers as shown, without the per cent sign."""
    if numbers is None:
        return "", ""
    before, after = (percent(value, numbers.shown.digits).partition(SPACE)[0] for value in numbers.of(unit))
    return before, after


def _suspects(found: Check | None) -> Mapping[str, frozenset[str]]:
    """By judge, the events of answers that are part of a named contradiction."""
    if found is None:
        return {}
    return {
        name: frozenset(event for each in found.judges[name].told for event in each.events)
        for name in found.judges.explained(COLUMNS)
    }


def _by_judge(panel: Panel, units: Indices, suspects: Mapping[str, frozenset[str]]) -> list[list[AnswerCell]]:
    """One cell per judge; a dash where there is no answer."""
    given: dict[tuple[int, int], list[str]] = {}
    for event, judge, value in zip(panel.event_index.tolist(), panel.judge_index.tolist(), _stated(panel), strict=True):
        given.setdefault((event, judge), []).append(value)
    texts = panel.written.text

    def cell(event: int, judge: int, name: str) -> AnswerCell:
        own = given.get((event, judge), [])
        words = ", ".join(own[:REPEATS]) + (" ..." if len(own) > REPEATS else "")
        return AnswerCell(words or "–", texts[event] in suspects.get(name, ()))

    return [[cell(i, j, name) for j, name in enumerate(panel.judges)] for i in units.tolist()]


def _stated(panel: Panel) -> list[str]:
    """Each answer in per cents; quotes have two ends."""
    if panel.lower is None or panel.upper is None:
        return [answer(value) for value in panel.probability.tolist()]
    ends = zip(panel.probability.tolist(), panel.lower.tolist(), panel.upper.tolist(), strict=True)
    return [answer(p) if p == p else f"{answer(low)} to {answer(high)}" for p, low, high in ends]  # noqa: PLR0124


def _in_short(panel: Panel, units: Indices) -> list[list[AnswerCell]]:
    """How many answered, and the lowest, middle and highest answer."""
    order = np.argsort(panel.event_index, kind="stable")
    starts = np.searchsorted(panel.event_index[order], np.arange(len(panel.written) + 1))
    rows = []
    for i in units.tolist():
        own = panel.probability[order[starts[i] : starts[i + 1]]]
        known = own[~np.isnan(own)]
        ends = (known.min(), np.median(known), known.max()) if len(known) else ()
        words = [f"{len(own):,}", *(answer(round(float(value), 3)) for value in ends), *["–"] * (3 - len(ends))]
        rows.append([AnswerCell(each) for each in words])
    return rows


def judge_counts(panel: Panel) -> tuple[JudgeCount, ...]:
    """How much the first judges count."""
    order = np.argsort(panel.judge_index, kind="stable")
    starts = np.searchsorted(panel.judge_index[order], np.arange(len(panel.judges) + 1))
    found = []
    for name, first, last in zip(panel.judges[:JUDGES], starts[:-1].tolist(), starts[1:].tolist(), strict=False):
        own = np.unique(panel.weight[order[first:last]].round(9))
        found.append(JudgeCount(name, last - first, f"{own[0]:.3g}" if len(own) == 1 else "varies"))
    return tuple(found)
