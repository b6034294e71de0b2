"""Calibration: whether events forecast at 70% come true 70% of the time, and what it costs if not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError, PanelError
from coherently.panel import Tabled
from coherently.scoring.scoring_rules import brier, by_group
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from coherently.panel import Panel
    from coherently.result import Result

NORMAL_95 = 1.959963984540054
"""Between minus and plus this lie 95% of the normal distribution."""
ON_EDGE = 1e-9
"""A forecast counts as on an edge if it is less than this fraction of a bin's width below it."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration(Tabled, Value):
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
            "observed_low": self.observed_low,
            "observed_high": self.observed_high,
        }

    @property
    def observed_low(self) -> NDArray[np.float64]:
        """The lower end of an interval of 95% for `observed`; NaN where a bin is empty."""
        return self._wilson(-1.0)

    @property
    def observed_high(self) -> NDArray[np.float64]:
        """The upper end of the same."""
        return self._wilson(1.0)

    def _wilson(self, side: float) -> NDArray[np.float64]:
        """An end of the score interval of a share (Wilson 1927), as if forecasts of a bin were independent.

        Its ends are where the share $s$ of $n$ lies $z$ standard errors from $p$: $(s - p)^2 = z^2 p (1 - p) / n$.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            n, z = self.count.astype(np.float64), NORMAL_95
            middle = self.observed + z * z / (2 * n)
            half = z * np.sqrt(self.observed * (1 - self.observed) / n + z * z / (4 * n * n))
            found: NDArray[np.float64] = np.clip((middle + side * half) / (1 + z * z / n), 0.0, 1.0)
        found[self.count == 0] = np.nan
        return found

    def _mean(self, values: NDArray[np.float64]) -> float:
        """Mean over forecasts of a value that is constant in each bin."""
        filled = self.count > 0
        return float(np.average(values[filled], weights=self.count[filled]))


def calibration(panel: Panel, judge: str | None = None, *, result: Result | None = None, bins: int = 10) -> Calibration:
    """How often events came true, by what was forecast: of all judges, of one `judge`, or of a `result` in their place.

    `bins` is the number of bins of equal width. Intervals of the shares take the forecasts of a bin as independent;
    those of one judge usually nearly are, those of many judges about the same events are not.

    >>> import coherently as co
    >>> panel = co.simulate(judges=6, variables=40, basic=30, compound=0, seed=1)
    >>> found = co.calibration(panel, panel.judges[0], bins=2)
    >>> int(found.count.sum()), bool((found.observed_low <= found.observed).all())
    (30, True)
    """
    if judge is not None:
        panel = panel.judge(judge)
    forecast = panel.probability
    if result is not None:
        value = dict(zip(result.panel.written.text, result.solution.value.tolist(), strict=True))
        forecast = np.array([value.get(text, np.nan) for text in panel.written.text])[panel.event_index]
    outcome = panel.written.outcome[panel.event_index]
    known = (outcome >= 0) & ~np.isnan(forecast)
    return binned(forecast[known], outcome[known], bins)


def binned(forecast: ArrayLike, outcome: ArrayLike, bins: int = 10) -> Calibration:
    """Sort resolved forecasts into bins of equal width and split their mean Brier score into parts.

    A forecast on an edge belongs to the bin above it, a forecast of 1 to the last bin. Rounding errors of floats do not
    move a forecast off an edge: 0.7 + 0.1, a little less than 0.8, counts as 0.8.

    >>> table = binned([0.25, 0.25, 0.75, 0.75], [0, 1, 1, 1], bins=2)
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
