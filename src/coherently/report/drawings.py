"""Pictures of a page: positions of lines and points in a drawing, for its template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.scoring import Calibration

SIDE = 200.0
"""The side of a calibration diagram."""
LARGEST_POINT = 9.0
"""The radius of the point of the fullest bin."""


@dataclass(frozen=True, slots=True)
class Bin:
    """A point of a calibration diagram, with the numbers behind it."""

    x: float
    y: float
    radius: float
    lower: float
    upper: float
    count: int
    forecast: float
    observed: float


def bins(calibration: Calibration) -> tuple[Bin, ...]:
    """The filled bins, as points whose areas are their numbers of forecasts."""
    fullest = int(calibration.count.max())
    return tuple(
        Bin(
            SIDE * float(calibration.mean_forecast[i]),
            SIDE * (1 - float(calibration.observed[i])),
            max(2.0, LARGEST_POINT * float(np.sqrt(calibration.count[i] / fullest))),
            float(calibration.lower[i]),
            upper=float(calibration.upper[i]),
            count=int(calibration.count[i]),
            forecast=float(calibration.mean_forecast[i]),
            observed=float(calibration.observed[i]),
        )
        for i in np.flatnonzero(calibration.count).tolist()
    )
