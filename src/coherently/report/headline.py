"""What a page says first: the event that it is about, what that hangs on, and the numbers worth a box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import EventError, PanelError
from coherently.events import CERTAIN, find_world
from coherently.explain.people_sentences import number_word, opened, quoted
from coherently.panel.canonical import is_plain
from coherently.report.names import percent
from coherently.solve import Coherence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.panel import Panel
    from coherently.report.before_after import BeforeAfter, EventGroup, EventRow
    from coherently.report.event_titles import EventTitles
    from coherently.result import Result

SCALE = (
    (0.05, "is very unlikely"),
    (0.25, "is unlikely"),
    (0.45, "is less likely than not"),
    (0.55, "is about as likely as not"),
    (0.75, "is likelier than not"),
    (0.95, "is likely"),
    (1.01, "is almost certain"),
)
"""What a probability is called that is below a number."""
TIED = 0.005
"""An event that is so near to certain or impossible, given another, is tied to it by its meaning: that is no news."""
MATTERS = 0.1
"""The least difference that a condition makes if the headline hangs on it."""
RANGES = 2
"""How many declared variables the first paragraph speaks of."""


@dataclass(frozen=True, slots=True)
class Hinge:
    """A condition, with the headline's probability if it comes true and if not, and where that would be one half."""

    condition: EventRow
    if_true: float
    if_false: float

    @property
    def difference(self) -> float:
        """How much hangs on it."""
        return abs(self.if_true - self.if_false)

    @property
    def break_even(self) -> float | None:
        """The probability of the condition at which the headline's event is as likely as not."""
        if self.if_true == self.if_false:
            return None
        found = (self.if_false - 0.5) / (self.if_false - self.if_true)
        return found if 0.0 < found < 1.0 else None


@dataclass(frozen=True, slots=True)
class BoxedNumber:
    """One of the numbers in boxes."""

    title: str
    after: float
    remark: str


def headline_number(panel: Panel, about: str | None = None) -> int | None:
    """The number of the event that a page is about: the one that is asked for, else the first with a conditional.

    Without conditionals it is the first event; None if there are only conditionals.
    """
    written = panel.written
    if about is not None:
        return _asked(panel, about)
    plain = np.flatnonzero(written.condition == CERTAIN)
    if not len(plain):
        return None
    if len(plain) == len(written) or is_plain(panel):
        return int(plain[0])
    heads = [text.rpartition(" given ")[0] for text in (written.text[i] for i in _conditionals(panel))]
    sides = panel.events.find([head for head in heads if head]).event.tolist()
    by_side = {int(written.event[i]): int(i) for i in plain[::-1]}
    return next((by_side[side] for side in sides if side in by_side), int(plain[0]))


def _conditionals(panel: Panel) -> list[int]:
    return np.flatnonzero(panel.written.condition != CERTAIN).tolist()


def _asked(panel: Panel, about: str) -> int:
    """The number of an event that is named by its text, however it is written, or by its label."""
    by_label = {label: text for text, label in panel.labels.items()}
    reading = panel.events.find([by_label.get(about, about)])
    if not reading.faults:
        side, condition, _ = reading.sides[0].tolist()
        match = np.flatnonzero((panel.written.event == side) & (panel.written.condition == condition))
        if len(match):
            return int(match[0])
    raise PanelError(f"nobody forecast {about!r}: name an event of the panel as it is written there, or its label")


def hinge_of(result: Result, rows: Sequence[EventRow], row: EventRow) -> Hinge | None:
    """The condition that moves an event most, among the events of the page; None if the answer has no such number.

    From P(E), P(H) and one number about both (E & H, E | H, E given H or E given ~H) follow P(E | H) and P(E | ~H).
    What decides most is the condition for which the mean of these varies most: |difference| * sqrt(P(H) P(~H)).
    """
    if result.coherence is not Coherence.GLOBAL or is_plain(result.panel):
        return None
    found = [hinge for other in rows if other is not row and (hinge := _hinge(result, row, other)) is not None]
    value = result.solution.value

    def decided(hinge: Hinge) -> float:
        chance = float(value[hinge.condition.number])
        return hinge.difference * math.sqrt(chance * (1.0 - chance))

    best = max(found, key=decided, default=None)
    return best if best is not None and best.difference >= MATTERS else None


def _hinge(result: Result, row: EventRow, other: EventRow) -> Hinge | None:
    if result.panel.written.condition[other.number] != CERTAIN:
        return None
    event, chance = (float(result.solution.value[i]) for i in (row.number, other.number))
    if not TIED < chance < 1.0 - TIED:
        return None
    both = next(_joint(result, row, other), None)
    if both is None:
        return None
    if_true, if_false = both / chance, (event - both) / (1.0 - chance)
    if not all(TIED < each < 1.0 - TIED for each in (if_true, if_false)):
        return None
    return Hinge(other, if_true, if_false)


def _joint(result: Result, row: EventRow, other: EventRow) -> Iterator[float]:
    """The probability that two events come true together, as far as the answer has numbers that say it."""
    one, two = f"({row.event})", f"({other.event})"
    event, chance = (float(result.solution.value[i]) for i in (row.number, other.number))
    # Each way: the text, and the joint probability as a + b * p.
    ways = (
        (f"{one} & {two}", 0.0, 1.0),
        (f"{one} given {two}", 0.0, chance),
        (f"{one} given ~{two}", event, chance - 1.0),
        (f"{one} | {two}", event + chance, -1.0),
    )
    for text, constant, factor in ways:
        try:
            yield constant + factor * result.probability(text)
        except EventError:
            continue


def first_sentence(row: EventRow, titles: EventTitles, digits: int) -> str:
    """The answer in one sentence."""
    words = next(words for most, words in SCALE if row.after < most)
    return opened(f"{titles.inside(row.event)} {words}: {percent(row.after, digits)}.")


def hinge_sentence(hinge: Hinge, titles: EventTitles, digits: int) -> str:
    """What the answer hangs on."""
    condition = f"{titles.inside(hinge.condition.event)} ({percent(hinge.condition.after, digits)})"
    ends = percent(hinge.if_true), percent(hinge.if_false)
    return f"It hangs on {condition}: if that comes true, it is {ends[0]}; if not, {ends[1]}."


def range_sentences(panel: Panel, groups: Sequence[EventGroup], digits: int) -> tuple[str, ...]:
    """The likeliest value of each of the first declared variables whose values are all on the page."""
    told = []
    for group in groups:
        if group.title is None or len(group.rows) < 3 or not _is_partition(panel, group.rows):
            continue
        best = max(group.rows, key=lambda row: row.after)
        told.append(f"The likeliest of {quoted(group.title)} is {best.title} ({percent(best.after, digits)}).")
    return tuple(told[:RANGES])


def _is_partition(panel: Panel, rows: Sequence[EventRow]) -> bool:
    sides = panel.written.event[[row.number for row in rows]]
    if abs(sum(row.after for row in rows) - 1.0) > 1e-9 or find_world(panel.events, sides ^ 1) is not None:
        return False
    return all(find_world(panel.events, np.array(pair, np.int32)) is None for pair in combinations(sides.tolist(), 2))


def counted_word(count: int, total: int) -> str:
    """How many of some, with small numbers as words."""
    return f"{number_word(count)} of {number_word(total)}" if count < total else f"all {number_word(total)}"


def boxed_numbers(
    table: BeforeAfter, row: EventRow | None, hinge: Hinge | None, titles: EventTitles
) -> tuple[BoxedNumber, ...]:
    """Up to three numbers: that of the headline, its hinge, then those that moved most, then the first."""
    chosen = [] if row is None else [row]
    chosen += [] if hinge is None else [hinge.condition]
    others = [*table.most_moved(3), *(each for each in table.rows if not math.isnan(each.after))]
    chosen += [each for each in dict.fromkeys(others) if each not in chosen]
    return tuple(
        BoxedNumber(titles.alone(each.event), each.after, _remark(each, hinge, table.digits)) for each in chosen[:3]
    )


def _remark(row: EventRow, hinge: Hinge | None, digits: int) -> str:
    if hinge is not None and row is hinge.condition:
        return "decides most of the above"
    if math.isnan(row.before):
        return ""
    return f"the plain average said {percent(row.before, digits)}" if row.moved else "as the plain average said"
