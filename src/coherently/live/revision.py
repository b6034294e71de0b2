"""A revision: one change of a live panel, as it is recorded."""

from __future__ import annotations

import math
import numbers
import reprlib
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

import numpy as np

from coherently.errors import PanelError
from coherently.panel.columnar.cell_values import WEIGHT, Refusal, are_weights, probability


class Act(StrEnum):
    """What a revision does."""

    ADD = "add"
    REVISE = "revise"
    WITHDRAW = "withdraw"
    RESOLVE = "resolve"
    ADD_LAW = "add_law"
    DROP_LAW = "drop_law"


@dataclass(frozen=True, slots=True)
class Revision:
    """What is changed, at which time; what does not apply is None.

    A revised forecast keeps its weight if `weight` is None. An `outcome` of None, in a resolution, means that
    the event is open again.
    """

    act: Act
    time: float
    judge: str | None = None
    event: str | None = None
    probability: float | None = None
    weight: float | None = None
    lower: float | None = None
    upper: float | None = None
    outcome: int | float | str | None = None
    law: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """What is recorded."""
        known = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in known.items() if value is not None} | {"act": str(self.act)}

    @staticmethod
    def from_dict(values: dict[str, Any]) -> Revision:
        """Read a record."""
        return Revision(**{**values, "act": Act(values["act"])})


def read_name(value: object, what: str) -> str:
    """A judge or an event text, stripped."""
    if not isinstance(value, str) or not value.strip():
        raise PanelError(f"{what} is {reprlib.repr(value)}; it must be a text")
    return value.strip()


def read_forecast(
    judge: object, event: object, point: object, weight: object, lower: object, upper: object
) -> dict[str, Any]:
    """The parts of a forecast, checked."""
    low, high = _interval(lower, upper)
    return {
        "judge": read_name(judge, "judge"),
        "event": read_name(event, "event"),
        "probability": _point(point, low, high),
        "weight": None if weight is None else _weight(weight),
        "lower": low,
        "upper": high,
    }


def _probability(value: object, what: str = "probability") -> float:
    """A probability from 0 to 1, or a text such as 35%."""
    found = probability(value)
    if isinstance(found, Refusal):
        remedies = " ".join(found.remedies)
        raise PanelError(f"{what}: {found.reason.format(reprlib.repr(value))}. {remedies}")
    return found


def _interval(lower: object, upper: object) -> tuple[float | None, float | None]:
    """The ends of an interval, None where there is none."""
    low, high = (
        None if value is None else _probability(value, what) for what, value in (("lower", lower), ("upper", upper))
    )
    if low is not None and high is not None and low > high:
        raise PanelError(f"lower is {low} and upper is {high}; lower must not be above upper: swap or fix them")
    return low, high


def _point(value: object, low: float | None, high: float | None) -> float:
    """The probability of a forecast; with an interval it may be left out, and is then its middle."""
    if value is None and (low is not None or high is not None):
        return ((0.0 if low is None else low) + (1.0 if high is None else high)) / 2
    if value is None:
        raise PanelError("there is no probability: give one, or an interval with lower and upper")
    found = _probability(value)
    if (low is not None and found < low) or (high is not None and found > high):
        raise PanelError(f"probability {found} is outside its own interval, from {low} to {high}: fix one of the three")
    return found


def _weight(value: object) -> float:
    """A weight: 0, or a number in the range of weights."""
    found = _number(value)
    if found is None or not are_weights(np.float64(found)):
        raise PanelError(f"weight is {reprlib.repr(value)}. {WEIGHT}")
    return found


def _number(value: object) -> float | None:
    """A number of any kind as a float; None if it is none."""
    return None if isinstance(value, bool) or not isinstance(value, numbers.Real) else float(value)


def read_time(value: object) -> float:
    """A time: a number, a `datetime`, or an ISO date, which becomes seconds since 1970 (UTC if no zone is given)."""
    number = _number(value)
    if number is not None and math.isfinite(number):
        return number
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise PanelError(f"time is {reprlib.repr(value)}; it must be a number or an ISO date") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def read_outcome(value: object) -> int | float | str | None:
    """An outcome: true or false, 1 or 0, the value of a declared variable; None takes it back."""
    if value is None or isinstance(value, str):
        return value
    number = float(value) if isinstance(value, bool | np.bool_) else _number(value)
    if number is not None and math.isfinite(number):
        return int(number) if number.is_integer() else number
    if isinstance(value, date):
        return value.isoformat()
    raise PanelError(
        f"outcome is {reprlib.repr(value)}; it must be true or false, or the value of a declared variable (None takes "
        f"an outcome back)"
    )
