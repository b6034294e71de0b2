"""What the sections of a page say, as plain values for its template."""

from __future__ import annotations

import base64
import math
import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.event_names import EventNames
from coherently.explain.people_sentences import SPACE, percent
from coherently.explain.phrases import listing
from coherently.explain.verdicts import CheckStatus
from coherently.plot.data import ROUNDING
from coherently.problem import pose
from coherently.report.changes import ranked_changes, without_condition
from coherently.report.names import number
from coherently.report.tables import distance_words
from coherently.result.shown import DIGITS, rounded_changes
from coherently.scoring import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.events import Value
    from coherently.explain import Check, Finding
    from coherently.explain.bets import Book
    from coherently.explain.verdicts import Verdict
    from coherently.panel import Panel
    from coherently.result import Result
    from coherently.scoring import Scores
    from coherently.solve import Component

FORECASTS = 500
"""Maximum number of rows of the table of forecasts."""
SHORT = 25
"""The table of forecasts comes first if it has at most this many rows; otherwise the largest adjustments do."""
LONG_NAME = 30
"""Number of characters of an event that fit into a narrow table."""
LARGEST = 10
"""Number of largest adjustments."""
JUDGES = 100
"""Maximum number of rows of each table of judges."""
COMPONENTS = 10
"""Maximum number of rows of the table of components."""
BETS = 12
"""Maximum number of bets of a book that are listed."""
WORST, SAID = 5, 3
"""Maximum number of judges whose contradictions are put into words, and of contradictions of each."""
FEW = 4
"""Maximum number of bets of a judge's book, and of changes, that a sentence names."""
LONGEST_BOOK = 2_000
"""A book of a judge's own is looked for if the judge has at most this many forecasts."""
EMBEDDED = 1_000_000
"""Maximum size, in bytes, of a certificate inside a page: browsers save links of up to two megabytes."""
PACKAGES = ("coherently", "numpy", "scipy", "highspy")


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """A row of the table of forecasts, with numbers as they are shown; `label` is a readable name, if there is one.

    A forecast is not `ranked` if its condition counts as impossible: its value does not matter.
    """

    event: str
    label: str | None
    probability: float
    raw: float
    weight: float
    ranked: bool = True

    @property
    def change(self) -> float:
        """How far the shown probability is from the shown mean of the panel."""
        return self.probability - self.raw


@dataclass(frozen=True, slots=True)
class ForecastSection:
    """The forecasts that are shown, how many there are, and the number of decimals."""

    rows: tuple[ForecastRow, ...]
    total: int
    digits: int = DIGITS

    @property
    def is_long(self) -> bool:
        """Whether the table is too long to come first."""
        return len(self.rows) > SHORT

    @property
    def has_long_names(self) -> bool:
        """Whether some event is too long for a narrow table."""
        return any(len(row.label or row.event) > LONG_NAME for row in self.rows)

    def largest(self) -> list[ForecastRow]:
        """The forecasts that moved most, the largest change first."""
        return [row for row in sorted(self.rows, key=_moved) if _moved(row) < 0][:LARGEST]


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A row of the table of judges by incoherence; `distance` says in words what is known about the distance."""

    name: str
    forecasts: int
    status: str
    distance: str
    saved: float | None


@dataclass(frozen=True, slots=True)
class JudgeSection:
    """The judges that are shown (contradictions first, of these the farthest first), and counts over all judges.

    An `unfinished` judge has no proved distance, an `undecided` one no status either; `cut` counts those that time cut
    short. `means` are the panel's averages.
    """

    rows: tuple[JudgeRow, ...]
    total: int
    incoherent: tuple[str, ...]
    undecided: int
    unfinished: int
    cut: int
    rounding: int
    tolerance: float
    means: JudgeRow

    @property
    def bad(self) -> int:
        """How many judges contradict themselves."""
        return len(self.incoherent)


@dataclass(frozen=True, slots=True)
class ContradictionSection:
    """The contradictions of one judge, or of the panel's means, in sentences, and the book in one sentence.

    `people` are sentences in people's words, and `change` is the least change in whole per cents, or None.
    """

    name: str | None
    sentences: tuple[str, ...]
    book: str | None
    people: tuple[str, ...] = ()
    change: str | None = None


@dataclass(frozen=True, slots=True)
class BetRow:
    """A trade of a book."""

    event: str
    label: str | None
    trade: str
    stake: float
    price: float


@dataclass(frozen=True, slots=True)
class BetSection:
    """The largest bets of the book at the panel's means, the number of all bets, and the guaranteed profit."""

    rows: tuple[BetRow, ...]
    total: int
    profit: float
    sentence: str
    proof: str
    worst: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A row of the table of judges by accuracy; `replaced` is the Brier score of the answer in place of the judge."""

    name: str
    scored: int
    scores: tuple[float, ...]
    replaced: float | None


@dataclass(frozen=True, slots=True)
class AccuracySection:
    """The judges that are shown (the best Brier score first), how many there are, and the average judge.

    `heads` are the titles of the scores, `upward` the titles of scores where higher is better.
    """

    heads: tuple[str, ...]
    upward: tuple[str, ...]
    rows: tuple[Accuracy, ...]
    total: int
    average: Accuracy


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result as JSON, in a link that saves it; `link` is None if it is too large for a page."""

    link: str | None
    size: int
    components: tuple[Component, ...]
    total: int


def forecasts(result: Result) -> ForecastSection:
    """All forecasts in the panel's order, or those that moved most, the largest change first."""
    columns = result.columns()
    change, absent = ranked_changes(result).round(ROUNDING), without_condition(result)
    order = np.argsort(-change, kind="stable")[:FORECASTS]
    labels = result.panel.labels
    rows = np.arange(len(change)) if len(change) <= FORECASTS else order
    shown = result.shown(rows)

    def row(i: int, value: float, raw: float) -> ForecastRow:
        event = columns["event"][i]
        return ForecastRow(
            event, labels.get(event), value, raw, weight=float(columns["weight"][i]), ranked=not absent[i]
        )

    numbers = (rows.tolist(), shown.probability.tolist(), shown.raw.tolist())
    return ForecastSection(tuple(map(row, *numbers)), len(change), shown.digits)


def _moved(row: ForecastRow) -> float:
    """The key that sorts the largest changes first; equal ones keep their order."""
    return 0.0 if math.isnan(row.change) or not row.ranked else -round(abs(row.change), ROUNDING)


def repairs(book: Book, panel: Panel) -> ForecastSection:
    """The smallest change of the panel's means that makes them coherent: the events that change as they are shown."""
    number = {text: i for i, text in enumerate(panel.written.text)}
    before, after = np.full((2, len(number)), np.nan)
    for key, (old, new) in book.repair.items():
        before[number[str(key)]], after[number[str(key)]] = old, new
    changed = np.flatnonzero(np.isfinite(after))
    most = changed[np.argsort(-np.abs(after - before)[changed].round(ROUNDING), kind="stable")[:FORECASTS]]
    shown = rounded_changes(pose(panel), after, before, units=most)
    numbers = zip((panel.written.text[i] for i in most.tolist()), shown.probability, shown.raw, strict=True)
    rows = [
        ForecastRow(text, panel.labels.get(text), float(new), float(old), weight=math.nan) for text, new, old in numbers
    ]
    rows = [row for row in rows if row.change]
    return ForecastSection(tuple(rows), len(changed) - len(most) + len(rows), shown.digits)


def judges(found: Check) -> JudgeSection:
    """The judges: contradictions first, and among these the farthest from coherence first."""
    every, forecasts, means = found.judges, found.judges.forecasts, found.means
    verdicts = every.verdicts
    rows = tuple(_judge(found.judges.names[i], int(forecasts[i]), verdicts[i]) for i in every.order()[:JUDGES])
    return JudgeSection(
        rows,
        len(every),
        tuple(every.worst(len(every))),
        every.count(CheckStatus.UNDECIDED),
        unfinished=every.unfinished,
        cut=every.cut,
        rounding=every.count(CheckStatus.ROUNDING),
        tolerance=every.tolerance,
        means=_judge("", means.forecasts, means),
    )


def _judge(name: str, forecasts: int, verdict: Verdict) -> JudgeRow:
    return JudgeRow(name, forecasts, str(verdict.status), distance_words(verdict), saved=verdict.guaranteed_improvement)


def contradictions(found: Check) -> tuple[ContradictionSection, ...]:
    """The worst contradictions of the worst judges, then those of the panel's means."""
    said = []
    for name, finding in found.judges.explained(WORST).items():
        book = _in_short(finding.book) if finding.forecasts <= LONGEST_BOOK else None
        said.append(_contradiction(name, finding, book, found.panel))
    if len(found.judges) > 1 and found.contradictions:
        said.append(_contradiction(None, found.means, None, found.panel))
    return tuple(said)


def _contradiction(name: str | None, finding: Finding, book: str | None, panel: Panel) -> ContradictionSection:
    # Names are shown with what does not print as escapes, and a no-break space is such.
    people = tuple(sentence.replace(SPACE, " ") for sentence in finding.sentences("people")[:SAID])
    return ContradictionSection(name, finding.contradictions[:SAID], book, people, change=change_words(finding, panel))


def change_words(finding: Finding, panel: Panel) -> str | None:
    """The least change in whole per cents, or else exactly, with labels; None if there is none or it is long."""
    changes = finding.repair.whole or finding.repair.changes
    if not 0 < len(changes) <= FEW:
        return None
    digits, names = 0 if finding.repair.whole else 1, EventNames.of(panel)
    told = [
        f"{panel.labels.get(change.event) or names.composed(change.event) or change.event} "
        f"from {percent(change.old, digits)} to {percent(change.new, digits)}"
        for change in changes
    ]
    return f"The least change: {listing(told)}.".replace(SPACE, " ")


def _in_short(book: Book) -> str:
    if len(book.bets) <= FEW:
        return book.sentence()
    return f"Guaranteed profit of {number(book.sure_profit)} in every outcome, by {len(book.bets):,} bets."


def bets(book: Book, labels: Mapping[str, str]) -> BetSection:
    """The largest bets of a book, or why there is none."""
    largest = sorted(book.bets, key=lambda bet: -abs(bet.stake))[:BETS]
    rows = tuple(
        BetRow(
            bet.event,
            labels.get(bet.event),
            "sell" if bet.stake > 0 else "buy",
            abs(float(bet.stake)),
            price=float(bet.price),
        )
        for bet in largest
    )
    worst = tuple((name, _said(value)) for name, value in book.worst_world.items())
    return BetSection(
        rows,
        len(book.bets),
        book.sure_profit,
        book.sentence(),
        proof=book.proof,
        worst=worst if len(worst) <= 6 else (),
    )


def _said(value: Value) -> str:
    """The value of a variable in a world, in words."""
    if isinstance(value, bool):
        return str(value).lower()
    return "other" if value is None else f"{value:g}" if isinstance(value, float) else value


def accuracies(scores: Scores, replaced: Scores | None) -> AccuracySection:
    """The judges by mean Brier score, beside the Brier score of the result for the same events."""
    others = np.full(len(scores.judges), np.nan) if replaced is None else replaced.brier
    order = np.argsort(scores.brier, kind="stable")[:JUDGES]
    rows = tuple(
        Accuracy(
            scores.judges[i],
            int(scores.scored[i]),
            tuple(float(values[i]) for values in scores.by_rule.values()),
            None if replaced is None else float(others[i]),
        )
        for i in order.tolist()
    )
    together = None if replaced is None else replaced.average()["brier"]
    average = Accuracy("", int(scores.scored.sum()), tuple(scores.average().values()), together)
    heads, upward = (rule.head for rule in RULES), (rule.head for rule in RULES if rule.higher_is_better)
    return AccuracySection(tuple(heads), tuple(upward), rows, len(scores.judges), average=average)


def certificate(result: Result) -> Certificate:
    """What is needed, besides the panel, to verify the result."""
    text = result.to_json().encode("utf-8")
    link = None
    if len(text) <= EMBEDDED:
        link = f"data:application/json;base64,{base64.b64encode(text).decode('ascii')}"
    components = sorted(result.components, key=lambda part: part.lower_bound - part.objective)
    return Certificate(link, len(text), tuple(components[:COMPONENTS]), len(components))


def versions() -> tuple[tuple[str, str], ...]:
    """The versions of the software that computed the answer."""
    return (*((name, version(name)) for name in PACKAGES), ("Python", platform.python_version()))
