"""What a judge sees of a panel that is closed."""

from __future__ import annotations

from typing import Any, Literal

from coherently.web.shapes.aggregation_shapes import CalibrationStep, EventResult
from coherently.web.shapes.drawn_shapes import DistributionView
from coherently.web.shapes.shape import Id, Shape

Fate = Literal["changed", "dropped", "meant", "stood"]
"""What became of a contradiction: the answers changed, the rule went, it was meant, or it stood."""


class OwnRow(Shape):
    """An event: the judge's own number at the end and before the last revision, and how it came out.

    `outcome` is yes, no, off, or empty while it is not known.
    """

    event: Id
    text: str
    own: float | None
    before: float | None
    outcome: str


class FateView(Shape):
    """A contradiction of the judge, as it stood at the end of a round, and what became of it.

    `law` is the rule against which it was meant, if one is to blame and still holds.
    """

    sentence: str
    round: int
    fate: Fate
    meant: bool
    reason: str
    law: str | None


class OwnScore(Shape):
    """Brier scores over the answers whose outcome is known; those of other judges are not among them.

    The panel's numbers count a question as often as it was answered. `judges` is the mean of all judges' scores.
    """

    known: int
    answered: int
    called_off: int
    own: float | None
    panel: float
    average: float
    judges: float
    worst: list[Id]
    best: list[Id]


class PanelRecordView(Shape):
    """The judge's own Brier score in one panel, over their answers with a known outcome."""

    title: str
    known: int
    brier: float


class OwnRecord(Shape):
    """The judge's own Brier score and calibration over all panels in which they took part as the same person.

    `calibration` is empty below 20 known answers. Nothing of other judges is in it.
    """

    panels: list[PanelRecordView]
    known: int
    brier: float
    calibration: list[CalibrationStep]


class ClosingView(Shape):
    """The end of a panel for a judge; `version` is null, and there are no `events`, until its result is made.

    `fates` is null while it is being worked out. `score` is about this panel, `record` about all panels of the judge.
    """

    version: int | None
    summary: dict[str, Any] | None
    laws: list[str]
    events: list[EventResult]
    rows: list[OwnRow]
    fates: list[FateView] | None
    minds: int
    handed_in: int
    judges: int
    distributions: list[DistributionView]
    score: OwnScore | None
    record: OwnRecord | None
