"""Calibration: whether events forecast at 70% come true 70% of the time, and what it costs if not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError, PanelError
from coherently.scoring.scoring_rules import brier, by_group
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ON_EDGE = 1e-9
"""A forecast counts as on an edge if it is less than this fraction of a bin's width below it."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration(Value):
    r"""Forecasts in bins of equal width, one entry per bin, and the parts of their mean Brier score.

    $$\text{brier} = \text{reliability} - \text{resolution} + \text{uncertainty} + \text{within\_bin}$$

    `lower` and `upper` are the edges, `count` the number of forecasts, `mean_forecast` their mean and
    `observed` the share of their events that came true (NaN where a bin is empty). `within_bin` is what the
    bins hide: the variance of the forecasts inside them minus twice their covariance with the outcomes. It is 0 if
    the forecasts of each bin are equal.

    Murphy (1973), A new vector partition of the probability score, Journal of Applied Meteorology 12;
    Stephenson, Coelho and Jolliffe (2008), Two extra components in the Brier score decomposition, Weather
    and Forecasting 23.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    count: NDArray[np.int64]
    mean_forecast: NDArray[np.float64]
    observed: NDArray[np.float64]
    brier: float
    within_bin: float

    @property
    def reliability(self) -> float:
        """Mean squared distance of a bin's observed frequency from its mean forecast: 0 is best."""
        return self._mean(np.square(self.mean_forecast - self.observed))

    @property
    def resolution(self) -> float:
        """Mean squared distance of a bin's observed frequency from the overall frequency: more is better."""
        return self._mean(np.square(self.observed - self._mean(self.observed)))

    @property
    def uncertainty(self) -> float:
        """Brier score of forecasting the overall frequency of true events for each event."""
        frequency = self._mean(self.observed)
        return frequency * (1 - frequency)

    def columns(self) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
        """Give the bins as the columns of a table."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "count": self.count,
            "mean_forecast": self.mean_forecast,
            "observed": self.observed,
        }

    def _mean(self, values: NDArray[np.float64]) -> float:
        """Mean over forecasts of a value that is constant in each bin."""
        filled = self.count > 0
        return float(np.average(values[filled], weights=self.count[filled]))


def calibration(forecast: ArrayLike, outcome: ArrayLike, bins: int = 10) -> Calibration:
    """Sort resolved forecasts into bins of equal width and split their mean Brier score into parts.

    A forecast on an edge belongs to the bin above it, a forecast of 1 to the last bin. Rounding errors of floats do not
    move a forecast off an edge: 0.7 + 0.1, a little less than 0.8, counts as 0.8.

    >>> table = calibration([0.25, 0.25, 0.75, 0.75], [0, 1, 1, 1], bins=2)
    >>> table.observed
    array([0.5, 1. ])
    >>> table.reliability, table.resolution, table.uncertainty, table.within_bin, table.brier
    (0.0625, 0.0625, 0.1875, 0.0, 0.1875)
    """
    forecast, outcome = np.asarray(forecast, dtype=np.float64), np.asarray(outcome, dtype=np.float64)
    if forecast.size == 0:
        raise PanelError("calibration needs at least one forecast with an outcome; found none")
    if bins < 1:
        raise MethodError(f"calibration needs at least 1 bin; found {bins}")
    group = np.minimum((forecast * bins + ON_EDGE).astype(np.int64), bins - 1)
    mean_forecast, observed = by_group(forecast, group, bins), by_group(outcome, group, bins)
    spread = forecast - mean_forecast[group]
    edges = np.arange(bins + 1) / bins
    return Calibration(
        lower=edges[:-1],
        upper=edges[1:],
        count=np.bincount(group, minlength=bins),
        mean_forecast=mean_forecast,
        observed=observed,
        brier=float(brier(forecast, outcome).mean()),
        within_bin=float(np.mean(spread * (spread - 2 * (outcome - observed[group])))),
    )
