"""Scores of each judge of a panel, or of an aggregate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import (
    NUMBER,
    SCORE,
    TEXT,
    WHOLE,
    Described,
    ListOf,
    ObjectOf,
    OrNull,
    OtherFields,
    Record,
    RecordField,
    numbers,
    plain,
    score_of,
    shown_score,
)
from coherently.errors import MethodError, PanelError, counted
from coherently.panel import records, text_table, to_frame
from coherently.scoring.calibration import Calibration, calibration
from coherently.scoring.scoring_rules import RULES, brier, rule_names
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Columns, Panel
    from coherently.result import Result

NO_OUTCOMES = (
    "no forecast of the panel has an outcome, so nothing can be scored: add an outcome column "
    "(0 or 1), or pass outcomes, a file with the columns event and outcome"
)


BIN = ObjectOf(
    "a bin",
    (
        RecordField("lower", NUMBER, "the lower edge"),
        RecordField("upper", NUMBER, "the upper edge"),
        RecordField("count", WHOLE, "the number of forecasts"),
        RecordField("mean_forecast", OrNull(NUMBER), "their mean; null for an empty bin"),
        RecordField("observed", OrNull(NUMBER), "the share of their events that came true; null for an empty bin"),
    ),
)
CALIBRATION = ObjectOf(
    "a calibration",
    (
        RecordField("brier", NUMBER, "the mean Brier score, the sum of the parts below, resolution counted negatively"),
        RecordField("reliability", NUMBER, "how far observed frequencies are from forecasts", derived=True),
        RecordField("resolution", NUMBER, "how far observed frequencies are from their mean", derived=True),
        RecordField("uncertainty", NUMBER, "the score of forecasting the mean frequency", derived=True),
        RecordField("within_bin", NUMBER, "what the bins hide"),
        RecordField("bins", ListOf(BIN), "bins of equal width"),
    ),
)
SCORES_RECORD = Record(
    "scores",
    1,
    "Scores of each judge, or of an aggregate (`co.score`, `coherently score --json`).",
    (
        RecordField(
            "average",
            ObjectOf("the averages", (), OtherFields(rule_names, SCORE, "the mean over judges of the score")),
            "the mean over judges of each score",
            derived=True,
        ),
        RecordField(
            "judges",
            ListOf(
                ObjectOf(
                    "a judge",
                    (
                        RecordField("judge", TEXT, "the name; aggregate for the row of a result"),
                        RecordField("scored", WHOLE, "the number of scored forecasts"),
                        RecordField("brier_sum", NUMBER, "the sum of the Brier scores"),
                    ),
                    OtherFields(rule_names, SCORE, "the score by this rule; null without any"),
                )
            ),
            "one object per judge, with one field per scoring rule",
        ),
        RecordField("clip", NUMBER, "the log score clips probabilities to [clip, 1 - clip]"),
        RecordField("clipped", WHOLE, "the number of forecasts outside of it"),
        RecordField("calibration", CALIBRATION, "the calibration of all scored forecasts together"),
    ),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Value, Described):
    """One entry per judge, or one for an aggregate: the number of scored forecasts and their scores (NaN without any).

    `by_rule` has the scores by the names of the rules. `brier` and `log` are means over the judge's resolved forecasts,
    `brier_sum` is the sum; lower is better. `slope` is the mean forecast of true events minus that of false ones;
    higher is better. All forecasts count alike, whatever their weight; called-off conditionals do not count. `clipped`
    counts the forecasts outside [`clip`, `1 - clip`]. `calibration` is of all scored forecasts together.
    """

    record: ClassVar[Record] = SCORES_RECORD

    judges: tuple[str, ...]
    scored: NDArray[np.int64]
    by_rule: dict[str, NDArray[np.float64]]
    brier_sum: NDArray[np.float64]
    calibration: Calibration
    clip: float
    clipped: int
    library: str | None = field(default=None, compare=False)

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

    def _plain(self) -> dict[str, Any]:
        parts = ("brier", "reliability", "resolution", "uncertainty", "within_bin")
        rules = self.by_rule
        return {
            "average": {name: shown_score(value) for name, value in self.average().items()},
            "judges": [{**row, **{name: shown_score(row[name]) for name in rules}} for row in records(self.columns())],
            "clip": float(self.clip),
            "clipped": self.clipped,
            "calibration": plain(
                {name: getattr(self.calibration, name) for name in parts}
                | {"bins": records(self.calibration.columns())}
            ),
        }

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Scores:
        rows, told = values["judges"], values["calibration"]
        rules = [name for name in (rows[0] if rows else ()) if name not in ("judge", "scored", "brier_sum")]
        ends = ("lower", "upper", "mean_forecast", "observed")
        bins = {name: numbers([each[name] for each in told["bins"]]) for name in ends}
        return cls(
            judges=tuple(row["judge"] for row in rows),
            scored=np.array([row["scored"] for row in rows], np.int64),
            by_rule={name: np.array([score_of(row.get(name)) for row in rows]) for name in rules},
            brier_sum=numbers([row["brier_sum"] for row in rows]),
            calibration=Calibration(
                count=np.array([each["count"] for each in told["bins"]], np.int64),
                brier=float(told["brier"]),
                within_bin=float(told["within_bin"]),
                **bins,
            ),
            clip=float(values["clip"]),
            clipped=values["clipped"],
        )

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
