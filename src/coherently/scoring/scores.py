"""Scores of each judge of a panel, or of an aggregate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import MethodError, PanelError, counted
from coherently.panel import records, text_table, to_frame
from coherently.scoring.calibration import Calibration, calibration
from coherently.scoring.scoring_rules import RULES, brier
from coherently.values import Told

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Columns, Panel
    from coherently.result import Result

NO_OUTCOMES = (
    "no forecast of the panel has an outcome, so nothing can be scored: add an outcome column "
    "(0 or 1), or pass outcomes, a file with the columns event and outcome"
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Told):
    """One entry per judge, or one for an aggregate: the number of scored forecasts and their scores (NaN without any).

    `by_rule` has the scores by the names of the rules. `brier` and `log` are means over the judge's resolved forecasts,
    `brier_sum` is the sum; lower is better. `slope` is the mean forecast of true events minus that of false ones;
    higher is better. All forecasts count alike, whatever their weight; called-off conditionals do not count. `clipped`
    counts the forecasts outside [`clip`, `1 - clip`]. `calibration` is of all scored forecasts together.
    """

    judges: tuple[str, ...]
    scored: NDArray[np.int64]
    by_rule: dict[str, NDArray[np.float64]]
    brier_sum: NDArray[np.float64]
    calibration: Calibration
    clip: float
    clipped: int
    library: str | None

    def __repr__(self) -> str:
        return f"<Scores: {counted(int(self.scored.sum()), 'forecast')} of {counted(len(self.judges), 'judge')}>"

    def __str__(self) -> str:
        return f"{self!r}\n{text_table(self.columns())}"

    @property
    def brier(self) -> NDArray[np.float64]:
        """Each judge's mean Brier score."""
        return self.by_rule["brier"]

    @property
    def log(self) -> NDArray[np.float64]:
        """Each judge's mean log score."""
        return self.by_rule["log"]

    @property
    def slope(self) -> NDArray[np.float64]:
        """Each judge's slope."""
        return self.by_rule["slope"]

    def columns(self) -> Columns:
        """The columns of `frame`."""
        named = {"scored": self.scored, "brier": self.brier, "brier_sum": self.brier_sum}
        return {"judge": list(self.judges), **named, **self.by_rule}

    def frame(self) -> Any:
        """One row per judge: judge, scored, brier, brier_sum, log, slope."""
        return to_frame(self.columns(), self.library)

    def as_dict(self) -> dict[str, Any]:
        """Everything, in plain lists and numbers."""
        parts = ("brier", "reliability", "resolution", "uncertainty", "within_bin")
        return {
            "average": self.average(),
            "judges": records(self.columns()),
            "clip": self.clip,
            "clipped": self.clipped,
            "calibration": {name: getattr(self.calibration, name) for name in parts}
            | {"bins": records(self.calibration.columns())},
        }

    def average(self) -> dict[str, float]:
        """The mean over judges of each score, as in the paper's Tables 6 and 7.

        Judges without that score are left out.
        """
        return {
            name: float("nan") if np.isnan(values).all() else float(np.nanmean(values))
            for name, values in self.by_rule.items()
        }


AGGREGATE = "aggregate"
"""The name of an aggregate in the place of a judge's."""


def score(
    panel: Panel, result: Result | None = None, *, by_judge: bool = False, clip: float = 1e-4, bins: int = 10
) -> Scores:
    """Score each judge against the outcomes in the panel, or the aggregate of a `result`.

    A result has one row, in which every resolved event as written counts once. With `by_judge` there is one row per
    judge instead, whose forecasts are replaced by the result's for the same events, as the paper scores an aggregate
    (Predd, Kulkarni, Poor and Osherson 2006, section 5.2). The log score clips probabilities to [`clip`, `1 - clip`];
    `bins` is the number of bins of the calibration.

    >>> import coherently as co
    >>> rows = [("Ann", "p", 0.9), ("Ann", "q", 0.4), ("Bob", "p & q", 0.5)]
    >>> panel = co.Panel.from_records(rows, outcomes={"p": True, "q": False})
    >>> co.score(panel).frame().round(3)
      judge  scored  brier  brier_sum    log  slope
    0   Ann       2  0.085       0.17  0.308    0.5
    1   Bob       1  0.250       0.25  0.693    NaN
    >>> co.score(panel, co.aggregate(panel)).frame()[["judge", "scored", "brier"]].round(3)
           judge  scored  brier
    0  aggregate       3  0.138
    """
    if not 0 <= clip < 0.5:
        raise MethodError(f"clip is {clip}; it must be at least 0 and below 0.5")
    outcome, forecast = panel.written.outcome[panel.event_index], _forecasts(panel, result)
    judge, judges = panel.judge_index, panel.judges
    if result is not None and not by_judge:
        events = np.unique(panel.event_index, return_index=True)[1]
        outcome, forecast = outcome[events], forecast[events]
        judge, judges = np.zeros_like(judge[events]), (AGGREGATE,)
    rows = np.flatnonzero((outcome >= 0) & ~np.isnan(forecast))
    if not len(rows):
        raise PanelError(NO_OUTCOMES)
    forecast, told = forecast[rows], outcome[rows].astype(np.float64)
    judge, count = judge[rows], len(judges)
    return Scores(
        judges=judges,
        scored=np.bincount(judge, minlength=count),
        by_rule={rule.name: rule.by_judge(forecast, told, judge, count, clip) for rule in RULES},
        brier_sum=np.bincount(judge, brier(forecast, told), count).astype(np.float64),
        calibration=calibration(forecast, told, bins),
        clip=clip,
        clipped=int(np.sum((forecast < clip) | (forecast > 1 - clip))),
        library=panel.library,
    )


def _forecasts(panel: Panel, result: Result | None) -> NDArray[np.float64]:
    if result is None:
        return panel.probability
    if result.panel.event_index is not panel.event_index:
        raise MethodError("the result is of another panel; aggregate this one")
    return result.solution.value[panel.event_index]
