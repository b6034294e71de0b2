"""Scores of each judge of a panel, or of an aggregate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
from coherently.panel import Tabled, records, text_table, to_frame
from coherently.scoring.calibration import Calibration, binned
from coherently.scoring.event_clusters import cluster_labels, labels_of_rows
from coherently.scoring.intervals import Tally, own_half_widths, units_of, variation
from coherently.scoring.scoring_rules import RULES, brier, rule_names
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Vector
    from coherently.panel import Columns, Panel
    from coherently.result import Result
    from coherently.scoring.event_clusters import Clusters
    from coherently.scoring.intervals import Units

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
ENDINGS = ("low", "high")
"""What the names of the ends of intervals end with."""


def _end_names() -> list[str]:
    """The names of the ends of intervals."""
    return [f"{name}_{end}" for name in rule_names() for end in ENDINGS]


ENDS = ObjectOf("the ends", (), OtherFields(_end_names, OrNull(NUMBER), "an end of the interval; null without any"))
INTERVALS = ObjectOf(
    "the intervals",
    (
        RecordField("confidence", NUMBER, "the confidence level"),
        RecordField("variables", WHOLE, "the number of independent variables, or clusters, that the events depend on"),
        RecordField("judges", ListOf(ENDS), "the intervals over events of each judge's scores, in the order of judges"),
        RecordField("average", ENDS, "the intervals over events of the means over judges"),
    ),
)
SCORES_RECORD = Record(
    "scores",
    2,
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
        RecordField("intervals", OrNull(INTERVALS), "null if none were asked for", since=2),
    ),
)
CONFIDENCE = 0.95
"""The confidence level of intervals by clusters, if no other is asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreIntervals(Value):
    """Intervals of scores over events: `low` and `high` have, by rule, one end per judge, and then that of the mean.

    An end is NaN where there is no interval. Events that share a variable, a law or a cluster count as one of the
    `variables`; a judge on fewer than 5 of them has no interval.
    """

    confidence: float
    variables: int
    low: dict[str, Vector]
    high: dict[str, Vector]

    def columns(self) -> Columns:
        """The ends of the judges' intervals, in columns."""
        ends = zip(self.low.items(), self.high.values(), strict=True)
        pairs = [(f"{name}_low", low[:-1], f"{name}_high", high[:-1]) for (name, low), high in ends]
        return {name: end for one in pairs for name, end in (one[:2], one[2:])}

    def average(self) -> dict[str, tuple[float, float]]:
        """The interval of the mean over judges of each score."""
        return {name: (float(low[-1]), float(self.high[name][-1])) for name, low in self.low.items()}

    def as_plain(self) -> dict[str, Any]:
        """The intervals as plain values."""
        mean = {f"{name}_{end}": at for name, pair in self.average().items() for end, at in _ends(pair)}
        told = {"confidence": float(self.confidence), "variables": self.variables, "judges": records(self.columns())}
        return plain({**told, "average": mean})  # type: ignore[no-any-return]

    @staticmethod
    def from_plain(values: dict[str, Any]) -> ScoreIntervals:
        """The intervals that were told."""
        rows = [*values["judges"], values["average"]]
        low, high = ({n: numbers([row.get(f"{n}_{end}") for row in rows]) for n in rule_names()} for end in ENDINGS)
        return ScoreIntervals(float(values["confidence"]), values["variables"], low, high)


def _ends(pair: tuple[float, float]) -> list[tuple[str, float]]:
    return list(zip(ENDINGS, pair, strict=True))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Tabled, Value, Described):
    """One entry per judge, or one for an aggregate: the number of scored forecasts and their scores (NaN without any).

    `by_rule` has the scores by the names of the rules. `brier` and `log` are means over the judge's resolved forecasts,
    `brier_sum` is the sum; lower is better. `slope` is the mean forecast of true events minus that of false ones;
    higher is better. All forecasts count alike, whatever their weight; called-off conditionals do not count. `clipped`
    counts the forecasts outside [`clip`, `1 - clip`]. `calibration` is of all scored forecasts together.
    `intervals` are over events, None if none were asked for.
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
    intervals: ScoreIntervals | None = None

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
        ends = {} if self.intervals is None else self.intervals.columns()
        return {"judge": list(self.judges), **named, **self.by_rule, **ends}

    def frame(self) -> Any:
        """One row per judge: judge, scored, brier, brier_sum, log, slope; maybe each score with _low and _high."""
        return to_frame(self.columns(), self.library)

    def _plain(self) -> dict[str, Any]:
        parts = ("brier", "reliability", "resolution", "uncertainty", "within_bin")
        rules = self.by_rule
        return {
            "average": {name: shown_score(value) for name, value in self.average().items()},
            "judges": [
                {**row, **{name: shown_score(row[name]) for name in rules}}
                for row in records(replace(self, intervals=None).columns())
            ],
            "clip": float(self.clip),
            "clipped": self.clipped,
            "calibration": plain(
                {name: getattr(self.calibration, name) for name in parts}
                | {"bins": records({each.name: getattr(self.calibration, each.name) for each in BIN.fields})}
            ),
            "intervals": None if self.intervals is None else self.intervals.as_plain(),
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
            intervals=None if values.get("intervals") is None else ScoreIntervals.from_plain(values["intervals"]),
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
    panel: Panel,
    result: Result | None = None,
    *,
    by_judge: bool = False,
    clip: float = 1e-4,
    bins: int = 10,
    confidence: float | None = None,
    cluster: Clusters | None = None,
) -> Scores:
    """Score each judge against the outcomes in the panel, or the aggregate of a `result`.

    A result has one row, in which every resolved event as written counts once. With `by_judge` there is one row per
    judge instead, whose forecasts are replaced by the result's for the same events, as the paper scores an aggregate
    (Predd, Kulkarni, Poor and Osherson 2006, section 5.2). The log score clips probabilities to [`clip`, `1 - clip`];
    `bins` is the number of bins of the calibration.

    With a `confidence`, such as 0.95, each score has an interval over events (see `co.compare`): events that share a
    variable or a law count as one. `cluster` names events that come true together for reasons that no law states, such
    as a date or a place, so that intervals take them as one, as in `co.compare`; with it there are intervals of 95%
    unless `confidence` says otherwise.

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
    >>> rows = [("Ann", f"{place}_{day}", 0.3 + 0.01 * day) for place in "abcdef" for day in range(9)]
    >>> panel = co.Panel.from_records(rows, outcomes={event: event < "c" for _, event, _ in rows})
    >>> scores = co.score(panel, cluster=lambda event: event[0])
    >>> scores.frame()[["judge", "brier", "brier_low", "brier_high"]].round(2)
      judge  brier  brier_low  brier_high
    0   Ann   0.22       0.03        0.41
    """
    if not 0 <= clip < 0.5:
        raise MethodError(f"clip is {clip}; it must be at least 0 and below 0.5")
    if confidence is not None and not 0 < confidence < 1:
        raise MethodError(f"confidence is {confidence}; it must lie between 0 and 1")
    label = cluster_labels(panel, cluster)
    outcome, forecast = panel.written.outcome[panel.event_index], _forecasts(panel, result)
    judge, judges = panel.judge_index, panel.judges
    known = (outcome >= 0) & ~np.isnan(forecast)
    if result is not None and not by_judge:
        first = np.zeros_like(known)
        first[np.unique(panel.event_index, return_index=True)[1]] = True
        known &= first
        judge, judges = np.zeros_like(judge), (AGGREGATE,)
    rows = np.flatnonzero(known)
    if not len(rows):
        raise PanelError(NO_OUTCOMES)
    forecast, told = forecast[rows], outcome[rows].astype(np.float64)
    judge, count = judge[rows], len(judges)
    scores = Scores(
        judges=judges,
        scored=np.bincount(judge, minlength=count),
        by_rule={rule.name: rule.by_judge(forecast, told, judge, count, clip) for rule in RULES},
        brier_sum=np.bincount(judge, brier(forecast, told), count).astype(np.float64),
        calibration=binned(forecast, told, bins),
        clip=clip,
        clipped=int(np.sum((forecast < clip) | (forecast > 1 - clip))),
        library=panel.library,
    )
    if confidence is None and label is None:
        return scores
    scored = panel.select(rows)
    event = scored.event_index.astype(np.int64)
    tally = Tally.of(forecast[None], told, judge.astype(np.int64), event, judges=count, clip=clip)
    units = units_of(scored, labels_of_rows(scored, panel, rows, label))
    return replace(scores, intervals=_intervals(scores, tally, units, confidence or CONFIDENCE))


def _intervals(scores: Scores, tally: Tally, units: Units, confidence: float) -> ScoreIntervals:
    """The intervals of each judge's scores and of their means."""
    halves = own_half_widths(tally, units, confidence)
    mean = variation(tally, units).half_width(np.ones(1), "events", confidence)
    low, high = {}, {}
    for rule, own, whole, average in zip(RULES, halves, mean, scores.average().values(), strict=True):
        value, half = np.append(scores.by_rule[rule.name], average), np.append(own, whole)
        half = np.where(np.isfinite(value), half, np.nan)
        low[rule.name] = np.maximum(value - half, rule.least)
        high[rule.name] = np.minimum(value + half, rule.most)
    return ScoreIntervals(confidence, units.count, low, high)


def _forecasts(panel: Panel, result: Result | None) -> NDArray[np.float64]:
    if result is None:
        return panel.probability
    if result.panel.event_index is not panel.event_index:
        raise MethodError("the result is of another panel; aggregate this one")
    return result.solution.value[panel.event_index]
