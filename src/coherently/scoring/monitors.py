"""Watching a model over time: an alarm if the incoherence of its answers has risen above a tolerance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from coherently.contract import (
    NUMBER,
    TEXT,
    WHOLE,
    Described,
    ListOf,
    ObjectOf,
    OrNull,
    Record,
    RecordField,
    numbers,
    plain,
)
from coherently.errors import MethodError, PanelError, counted
from coherently.note_log import notes_logged
from coherently.panel import Panel, Tabled, to_frame
from coherently.panel.texts import name_some
from coherently.problem import Log
from coherently.scoring.bet_capital import alarm_capital, mean_sequence, upper_limit
from coherently.scoring.tuple_distances import joint_distance
from coherently.solve import Exact
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.panel import Columns

AnswerSet: TypeAlias = "Panel | float"
"""The answers of a model to one set of questions, or their joint distance per answer."""
SET = ObjectOf(
    "an answer set",
    (
        RecordField("name", TEXT, "its name"),
        RecordField("distance", NUMBER, "the joint arbitrage per answer"),
        RecordField("e_value", NUMBER, "the evidence so far: the capital of a bet against the tolerance", derived=True),
        RecordField("low", NUMBER, "the lower end of the confidence sequence for the mean", derived=True),
        RecordField("high", NUMBER, "the upper end of the confidence sequence for the mean", derived=True),
    ),
)
MONITOR_RECORD = Record(
    "monitor",
    1,
    "How incoherent a model's answers are over time, and whether that has risen (`co.monitor`, `coherently watch`).",
    (
        RecordField("tolerance", NUMBER, "the mean distance per answer that is tolerated"),
        RecordField("alpha", NUMBER, "the largest probability of a false alarm, over all time"),
        RecordField("most", NUMBER, "larger distances count as this"),
        RecordField(
            "first", WHOLE, "the number of first sets that the tolerance was estimated from; 0 if it was stated"
        ),
        RecordField("threshold", NUMBER, "the evidence at which the alarm is raised", derived=True),
        RecordField("alarm", OrNull(TEXT), "the name of the set that raised the alarm; null without one", derived=True),
        RecordField("sets", ListOf(SET), "one object per answer set, in their order"),
        RecordField("notes", ListOf(TEXT), "what a reader should know"),
    ),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Monitor(Tabled, Value, Described):
    """Joint distances per answer of a stream of answer sets, and the evidence that their mean is above the tolerance.

    One entry per set: its name, its `distance`, the `e_value` (1 during the first sets, if the tolerance was estimated
    from these) and the ends `low` and `high` of a confidence sequence for the mean, at the level `alpha`. The alarm is
    raised at the first set whose e-value reaches `threshold`. If the mean distance given the past is at most the
    tolerance at all times, the probability that this ever happens is at most `alpha`. The confidence sequence contains
    the mean at all times with a probability of at least 1 - `alpha`, if it does not change.
    """

    record: ClassVar[Record] = MONITOR_RECORD

    names: tuple[str, ...]
    distance: Vector
    tolerance: float
    alpha: float
    most: float
    first: int
    e_value: Vector
    low: Vector
    high: Vector
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Monitor: {counted(len(self.names), 'answer set')}, {'an alarm' if self.alarm else 'no alarm'}>"

    @property
    def threshold(self) -> float:
        """The e-value at which the alarm is raised: 1 / alpha, or 2 / alpha if the tolerance was estimated."""
        return (2.0 if self.first else 1.0) / self.alpha

    @property
    def alarm(self) -> str | None:
        """The name of the set that raised the alarm; None without one."""
        place = np.flatnonzero(self.e_value >= self.threshold)
        return self.names[int(place[0])] if len(place) else None

    @property
    def sentence(self) -> str:
        """What the stream shows, and what it does not."""
        watched = len(self.names) - self.first
        tolerance = f"the tolerance of {self.tolerance:.4g}"
        if not watched:
            return f"{counted(self.first, 'first set')} gave {tolerance}; nothing has been watched yet."
        if self.alarm is None:
            largest = float(self.e_value.max(initial=1.0))
            return (
                f"No alarm in {counted(watched, 'answer set')}: no rise of the mean distance per answer above "
                f"{tolerance} is shown (evidence at most {largest:.3g}, the alarm is at {self.threshold:g})."
            )
        return (
            f"Alarm at {self.alarm}: the mean distance per answer has been above {tolerance}. Without that, the "
            f"probability of an alarm at any time is at most {self.alpha:g}."
        )

    def after(self, sets: Iterable[AnswerSet] | Mapping[str, AnswerSet], **options: Any) -> Monitor:
        """The monitor after further answer sets, with the same tolerance; `options` are those of `monitor` for panels.

        >>> import coherently as co
        >>> co.monitor([0.01, 0.02], tolerance=0.05).after([0.03]).names
        ('1', '2', '3')
        """
        names, distance, notes = _read_sets(sets, len(self.names), most=self.most, **options)
        return _watched(
            (*self.names, *names),
            np.concatenate([self.distance, distance]),
            self.tolerance,
            alpha=self.alpha,
            most=self.most,
            first=self.first,
            notes=(*self.notes, *notes),
        )

    def columns(self) -> Columns:
        """The columns of `frame`."""
        return {
            "set": list(self.names),
            "distance": self.distance,
            "e_value": self.e_value,
            "mean_low": self.low,
            "mean_high": self.high,
        }

    def frame(self) -> Any:
        """One row per answer set: set, distance, e_value, mean_low, mean_high."""
        return to_frame(self.columns(), None)

    def _plain(self) -> dict[str, Any]:
        columns = (self.names, self.distance, self.e_value, self.low, self.high)
        fields = ("name", "distance", "e_value", "low", "high")
        return plain(  # type: ignore[no-any-return]
            {
                "tolerance": self.tolerance,
                "alpha": self.alpha,
                "most": self.most,
                "first": self.first,
                "threshold": self.threshold,
                "alarm": self.alarm,
                "sets": [dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True)],
                "notes": self.notes,
            }
        )

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Monitor:
        rows = values["sets"]
        return _watched(
            tuple(row["name"] for row in rows),
            numbers([row["distance"] for row in rows]),
            float(values["tolerance"]),
            alpha=float(values["alpha"]),
            most=float(values["most"]),
            first=values["first"],
            notes=tuple(values["notes"]),
        )


@notes_logged(lambda watched: watched.notes)
def monitor(
    sets: Iterable[AnswerSet] | Mapping[str, AnswerSet],
    *,
    tolerance: float | None = None,
    first: int = 0,
    alpha: float = 0.05,
    most: float = 1.0,
    judge: str | None = None,
    clip: float = 1e-4,
    time_limit: float = 10.0,
) -> Monitor:
    """Watch the answer sets of a model over time, and raise an alarm if its answers have become less coherent.

    `sets` are panels in the order of time, each with the answers of one model (`judge` says whose, if a panel has
    several), or their joint distances per answer as `co.consistency` gives them; a mapping names them. The alarm is
    about the mean distance per answer: if that is at most `tolerance` given the past at all times, the probability of
    ever raising it is at most `alpha`, however long and however often one looks. State the tolerance beforehand, or let
    the `first` sets give it: then it is the upper confidence limit of their mean at the level alpha / 2, and the alarm
    is raised at twice the evidence, so that the promise is kept.

    Distances above `most` count as `most`; the smaller it is, the narrower are confidence sequences. A set whose joint
    distance was not finished in `time_limit` seconds counts by its proved lower bound, so that no alarm is the
    solver's. `clip` is as in `co.consistency`.

    >>> import coherently as co
    >>> calm = [0.01, 0.03, 0.02, 0.00, 0.02] * 8
    >>> co.monitor(calm, tolerance=0.03).sentence
    'No alarm in 40 answer sets: no rise of the mean distance per answer above the tolerance of 0.03 is shown (evidence
     at most 1, the alarm is at 20).'
    >>> watched = co.monitor(calm, tolerance=0.03).after([0.09, 0.08, 0.1, 0.07] * 5)
    >>> watched.alarm, watched == co.Monitor.from_json(watched.to_json())
    ('56', True)
    """
    _check_options(tolerance, first, alpha, most)
    names, distance, notes = _read_sets(sets, 0, most=most, judge=judge, clip=clip, time_limit=time_limit)
    if tolerance is None:
        tolerance = _estimated(distance, first, alpha, most)
    return _watched(names, distance, tolerance, alpha=alpha, most=most, first=first, notes=notes)


def _check_options(tolerance: float | None, first: int, alpha: float, most: float) -> None:
    if not 0 < alpha < 1:
        raise MethodError(f"alpha is {alpha}; it must be between 0 and 1")
    if not 0 < most < np.inf:
        raise MethodError(f"most is {most}; it must be a number above 0: the largest distance that counts")
    if (tolerance is None) == (first == 0):
        raise MethodError(
            "state the tolerance beforehand, or say from how many first sets it is estimated: either tolerance or first"
        )
    if tolerance is not None and not 0 < tolerance < most:
        raise MethodError(f"tolerance is {tolerance}; it must be above 0 and below most, which is {most:g}")
    if first < 0:
        raise MethodError(f"first is {first}; it must be a number of sets")


def _estimated(distance: Vector, first: int, alpha: float, most: float) -> float:
    """The upper confidence limit, at the level alpha / 2, of the mean of the first sets."""
    if len(distance) < first:
        raise MethodError(
            f"the tolerance is to be estimated from the first {first} sets, and there are {len(distance)}: wait for "
            "more, or say a smaller number"
        )
    limit = upper_limit(np.minimum(distance[:first], most) / most, alpha / 2.0)
    if limit >= 1.0:
        raise MethodError(
            f"{counted(first, 'first set')} cannot bound the mean below most, which is {most:g}: take more of them, "
            "choose a smaller most, or state a tolerance"
        )
    return most * limit


def _read_sets(
    sets: Iterable[AnswerSet] | Mapping[str, AnswerSet],
    known: int,
    *,
    most: float,
    judge: str | None = None,
    clip: float = 1e-4,
    time_limit: float = 10.0,
) -> tuple[tuple[str, ...], Vector, tuple[str, ...]]:
    """The names and distances of answer sets, and notes; `known` sets came before."""
    if isinstance(sets, str | bytes) or not isinstance(sets, Iterable):
        raise MethodError("sets must be a list of panels or of distances per answer, or a mapping from their names")
    named = sets.items() if isinstance(sets, Mapping) else ((str(known + i), one) for i, one in enumerate(sets, 1))
    names, found, late = list[str](), list[float](), list[str]()
    for name, one in named:
        if isinstance(one, Panel):
            value, is_finished = _distance(one, str(name), judge, loss=Log(clip), time_limit=time_limit)
            late += [] if is_finished else [str(name)]
        else:
            value = _number(one, str(name))
        names.append(str(name))
        found.append(value)
    notes = []
    if late:
        notes.append(
            f"joint distances not finished in {time_limit:g} s count by proved lower bounds: {name_some(late)}"
        )
    above = [name for name, value in zip(names, found, strict=True) if value > most]
    if above:
        notes.append(f"distances above {most:g} count as {most:g}: {name_some(above)}")
    return tuple(names), np.array(found, np.float64), tuple(notes)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= float(value) < np.inf:
        raise PanelError(f"answer set {name}: expected a panel or a distance of 0 or more, found {value!r}")
    return float(value)


def _distance(panel: Panel, name: str, judge: str | None, *, loss: Log, time_limit: float) -> tuple[float, bool]:
    """The joint distance per answer of a set, and whether it was finished."""
    if judge is None and len(panel.judges) > 1:
        raise PanelError(
            f"answer set {name} has answers of {counted(len(panel.judges), 'judge')}: say with judge who is watched"
        )
    own = panel if judge is None else panel.judge(judge)
    found = joint_distance(own, loss, Exact().tolerance, time_limit)
    return (found.value if found.is_finished else found.lower_bound) / max(1, len(own)), found.is_finished


def _watched(
    names: tuple[str, ...],
    distance: Vector,
    tolerance: float,
    *,
    alpha: float,
    most: float,
    first: int,
    notes: tuple[str, ...],
) -> Monitor:
    """The evidence and the confidence sequence of distances."""
    twice = sorted({name for name, count in Counter(names).items() if count > 1})
    if twice:
        raise PanelError(f"answer sets that are there twice: {name_some(twice)}; each counts once, so give each a name")
    scaled = np.minimum(distance, most) / most
    e_value = np.concatenate([np.ones(first), alarm_capital(scaled[first:], tolerance / most)])
    ends = mean_sequence(scaled, alpha)
    return Monitor(
        names,
        distance,
        tolerance,
        alpha=alpha,
        most=most,
        first=first,
        e_value=e_value[: len(names)],
        low=most * ends.low,
        high=most * ends.high,
        notes=notes,
    )
