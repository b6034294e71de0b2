"""Judges by a score, with the ranks that intervals support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

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
from coherently.errors import counted
from coherently.panel import Tabled, to_frame
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.panel import Columns
    from coherently.scoring.intervals import ClusterRatios

PLACE = ObjectOf(
    "a judge",
    (
        RecordField("judge", TEXT, "the name"),
        RecordField("score", OrNull(NUMBER), "the score; null without answers"),
        RecordField("low", OrNull(NUMBER), "the lower end of its interval; null without one"),
        RecordField("high", OrNull(NUMBER), "the upper end of its interval; null without one"),
        RecordField("best", WHOLE, "the best rank that the comparisons leave"),
        RecordField("worst", WHOLE, "the worst rank that they leave"),
    ),
)
LEADERBOARD_RECORD = Record(
    "leaderboard",
    1,
    "Judges by a score, with the ranks that intervals support (`co.consistency(...).leaderboard()`).",
    (
        RecordField("score", TEXT, "the name of the score"),
        RecordField("word", TEXT, "the score in words"),
        RecordField("confidence", NUMBER, "the confidence level, of each interval and of all ranks together"),
        RecordField("judges", ListOf(PLACE), "one object per judge, the lowest score first"),
    ),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Leaderboard(Tabled, Value, Described):
    """Judges by a score, the lowest (best) first, one entry per judge; `low` and `high` are NaN without an interval.

    `best` and `worst` are the ranks that comparisons of every two judges leave to each of them, all together with the
    `confidence`: judges whose ranks overlap are tied as far as these answers show.
    """

    record: ClassVar[Record] = LEADERBOARD_RECORD

    score: str
    word: str
    confidence: float
    judges: tuple[str, ...]
    value: Vector
    low: Vector
    high: Vector
    best: Indices
    worst: Indices

    def __repr__(self) -> str:
        return f"<Leaderboard: {counted(len(self.judges), 'judge')} by {self.word}>"

    def columns(self) -> Columns:
        """The columns of `frame`."""
        pairs = zip(self.best.tolist(), self.worst.tolist(), strict=True)
        return {
            "rank": [str(best) if best == worst else f"{best}-{worst}" for best, worst in pairs],
            "judge": list(self.judges),
            "score": self.value,
            "score_low": self.low,
            "score_high": self.high,
        }

    def frame(self) -> Any:
        """One row per judge: rank (a range where judges are tied), judge, score, score_low, score_high."""
        return to_frame(self.columns(), None)

    def _plain(self) -> dict[str, Any]:
        columns = (self.judges, self.value, self.low, self.high, self.best, self.worst)
        names = ("judge", "score", "low", "high", "best", "worst")
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        return plain(  # type: ignore[no-any-return]
            {"score": self.score, "word": self.word, "confidence": float(self.confidence), "judges": rows}
        )

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Leaderboard:
        rows = values["judges"]
        return cls(
            score=values["score"],
            word=values["word"],
            confidence=float(values["confidence"]),
            judges=tuple(row["judge"] for row in rows),
            value=numbers([row["score"] for row in rows]),
            low=numbers([row["low"] for row in rows]),
            high=numbers([row["high"] for row in rows]),
            best=np.array([row["best"] for row in rows], np.int64),
            worst=np.array([row["worst"] for row in rows], np.int64),
        )


def supported_ranks(sums: ClusterRatios, confidence: float) -> tuple[Indices, Indices]:
    """The best and the worst rank of each judge that differences of all pairs leave, together with the confidence.

    Lower is better. If every one of the P intervals of differences holds, which fails with a probability of at most
    P times (1 - confidence) / P, so does every rank: those shown to be better are better.
    """
    count = len(sums.values)
    first, second = np.triu_indices(count, 1)
    contrasts = np.zeros((len(first), count))
    contrasts[np.arange(len(first)), first], contrasts[np.arange(len(first)), second] = 1.0, -1.0
    half = sums.half_widths(contrasts, 1.0 - (1.0 - confidence) / max(1, len(first)))
    ratio = sums.ratios()
    with np.errstate(invalid="ignore"):
        apart = np.sign(ratio[first] - ratio[second]) * (np.abs(ratio[first] - ratio[second]) > half)
    apart = np.nan_to_num(apart)
    better = np.bincount(first, apart > 0, count) + np.bincount(second, apart < 0, count)
    worse = np.bincount(first, apart < 0, count) + np.bincount(second, apart > 0, count)
    return (1 + better).astype(np.int64), (count - worse).astype(np.int64)
