"""What outcomes taught about each judge, for people: weights, lines, and how many judges they are worth together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.contract import NUMBER, TEXT, WHOLE, ListOf, ObjectOf, OrNull, RecordField, number_or_nan
from coherently.errors import counted
from coherently.panel import to_frame
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Indices, Vector
    from coherently.panel import Columns

CONFIDENCE = 0.95
MEANINGS = {
    "weight": "how much the judge counts, 1 for a mean judge",
    "exponent": "what would have to multiply the judge's log-odds: above 1 the judge is too timid, below 1 too bold",
    "shift": "what would have to be added to that: below 0 the judge says yes too readily, above 0 too rarely",
}
"""What is told of each judge, each with an interval."""
FAULTS = {
    "too timid": ("exponent", 1.0, True),
    "too bold": ("exponent", 1.0, False),
    "says yes too readily": ("shift", 0.0, False),
    "says yes too rarely": ("shift", 0.0, True),
}
"""What a judge's line may show: the number, its value without the fault, and whether it is above that."""
JUDGE_FIELDS = (
    RecordField("judge", TEXT, "the judge's name"),
    RecordField("forecasts", WHOLE, "the number of the judge's forecasts with an outcome that taught"),
    RecordField("brier", OrNull(NUMBER), "their mean Brier score; null if there are none"),
    *(
        RecordField(f"{name}{end}", OrNull(NUMBER), f"{meaning}{said}")
        for name, meaning in MEANINGS.items()
        for end, said in (("", ""), ("_low", ": the lower end of its 95% interval"), ("_high", ": the upper end"))
    ),
)
JUDGES = ListOf(ObjectOf("a judge", JUDGE_FIELDS))
"""Judges in a record."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate(Value):
    """A number for each judge, and the ends of its interval, NaN where outcomes cannot tell them."""

    value: Vector
    low: Vector
    high: Vector


@dataclass(frozen=True, slots=True, eq=False)
class LearnedJudges(Value):
    """What outcomes taught about each judge; `frame()` is the table, and `sentences` say it in words.

    `weight` is how much the judge counts in the recipe, 1 for a mean judge. `exponent` and `shift` are the judge's own
    line in log-odds, shrunk to that of all judges, which the recipe does not use: an exponent above 1 means that the
    judge is too timid, below 1 too bold; a shift below 0 that the judge says yes too readily. Intervals are of 95%,
    with the variance that leaving out the folds one by one shows (the jackknife). `forecasts` counts those that
    taught, and `brier` is their mean score. `correlation` is that of judges' errors, None if outcomes do not show it.
    """

    names: tuple[str, ...]
    forecasts: Indices
    brier: Vector
    weight: Estimate
    exponent: Estimate
    shift: Estimate
    correlation: float | None = None
    library: str | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<LearnedJudges: {counted(len(self), 'judge')}, worth {self.effective:.1f}>"

    @property
    def effective(self) -> float:
        r"""How many judges who count alike and err independently these are worth.

        With weights w that sum to 1 and errors of equal variance and correlation $\rho$ (0 if it is not known), their
        weighted mean has the variance of the mean of $1 / (\rho + (1 - \rho) \sum w^2)$ independent ones.
        """
        share = self.weight.value / self.weight.value.sum()
        common = min(max(self.correlation or 0.0, 0.0), 1.0)
        return float(1.0 / (common + (1.0 - common) * np.sum(share**2)))

    def columns(self) -> Columns:
        """The columns of `frame`."""
        columns: dict[str, Any] = {"judge": list(self.names), "forecasts": self.forecasts, "brier": self.brier}
        for name in MEANINGS:
            estimate: Estimate = getattr(self, name)
            columns |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        return columns

    def frame(self) -> Any:
        """One row per judge: judge, forecasts, brier, and weight, exponent and shift, each with _low and _high."""
        return to_frame(self.columns(), self.library)

    @property
    def order(self) -> list[int]:
        """The places of the judges, those who count most first."""
        places: list[int] = np.argsort(-self.weight.value, kind="stable").tolist()
        return places

    @property
    def sentences(self) -> tuple[str, ...]:
        """One plain sentence per judge, those who count most first; only what intervals show is said."""
        return tuple(self._sentence(i) for i in self.order)

    @property
    def sentence(self) -> str:
        """What the judges are worth together."""
        known = "if they err independently" if self.correlation is None else f"errors correlate {self.correlation:.2f}"
        return f"{counted(len(self), 'judge')} count as about {self.effective:.1f} equal, independent ones ({known})."

    def _sentence(self, i: int) -> str:
        weight = self.weight
        times, low, high = (f"{ends[i]:.2g}" for ends in (weight.value, weight.low, weight.high))
        between = "" if low == high else f" ({low} to {high})"  # NaN, too, and what no outcome moves
        often = "" if times == "1" else f"{times} times "
        said = f"{self.names[i]} counts {often}as much as a mean judge{between}"
        return f"{said}: {_and(self._faults(i)) or 'no other fault is shown'}."

    def mark(self, i: int) -> str:
        """A few words for a judge whose line shows a fault, for pictures; empty for others."""
        words = [word for word in FAULTS if self._has(word, i)]
        return f" ({', '.join(words)})" if words else ""

    def _has(self, fault: str, i: int) -> bool:
        """Whether the judge's line shows a fault with 95% confidence."""
        name, none, above = FAULTS[fault]
        estimate: Estimate = getattr(self, name)
        return bool(estimate.low[i] > none if above else estimate.high[i] < none)

    def _faults(self, i: int) -> list[str]:
        times, plus = self.exponent.value[i], abs(self.shift.value[i])
        how = {"exponent": f", log-odds should be {times:.2g} times as large", "shift": f", by {plus:.2g} in log-odds"}
        return [f"{fault}{how[FAULTS[fault][0]]}" for fault in FAULTS if self._has(fault, i)]

    def rows(self) -> list[dict[str, Any]]:
        """The judges in plain values, as in the record."""
        columns = {name: list(cells) for name, cells in self.columns().items()}
        cells = zip(*(map(_cell, column) for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in cells]

    @classmethod
    def of_rows(cls, rows: Sequence[dict[str, Any]], correlation: float | None) -> LearnedJudges:
        """The judges of plain values."""

        def numbers(name: str) -> Vector:
            return np.array([number_or_nan(row[name]) for row in rows], np.float64)

        def estimate(name: str) -> Estimate:
            return Estimate(numbers(name), numbers(f"{name}_low"), numbers(f"{name}_high"))

        names, counts = tuple(row["judge"] for row in rows), np.array([row["forecasts"] for row in rows], np.int64)
        return cls(
            names,
            counts,
            numbers("brier"),
            weight=estimate("weight"),
            exponent=estimate("exponent"),
            shift=estimate("shift"),
            correlation=correlation,
        )


def jackknifed(value: Vector, without: Sequence[Vector]) -> Estimate:
    """The interval around a value that leaving out each of some equal parts shows; NaN with fewer than three parts.

    Student's t with one less than the parts as degrees of freedom: var = (g - 1) / g * sum (v_k - mean)^2.

    >>> one = jackknifed(np.array([1.0]), [np.array([0.9]), np.array([1.0]), np.array([1.1])])
    >>> one.low.round(3).tolist(), one.high.round(3).tolist()
    ([0.503], [1.497])
    """
    parts = len(without)
    if parts < 3:
        nothing = np.full(len(value), np.nan)
        return Estimate(value, nothing, nothing)
    from scipy.special import stdtrit

    table = np.stack(without)
    error = np.sqrt((parts - 1) / parts * np.sum(np.square(table - table.mean(axis=0)), axis=0))
    half = stdtrit(parts - 1, 0.5 + CONFIDENCE / 2) * error
    return Estimate(value, value - half, value + half)


def times_jackknifed(value: Vector, without: Sequence[Vector]) -> Estimate:
    """The same for factors: what varies is their logarithm, so that the ends are above 0."""
    found = jackknifed(np.log(value), [np.log(each) for each in without])
    return Estimate(value, np.exp(found.low), np.exp(found.high))


def _cell(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not np.isfinite(plain) else plain


def _and(faults: list[str]) -> str:
    return " and ".join(faults)
