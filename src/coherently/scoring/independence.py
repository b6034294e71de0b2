r"""How many independent judges a panel's judges are worth.

Let $e_{ij}$ be the log-odds that judge j gives event i, less the mean log-odds of the judge's events with the same
outcome: the errors of Lindley's model, whose covariances say how much a further judge adds (Lindley 1985,
Reconciliation of discrete probability distributions, Bayesian Statistics 2). With $v$ the mean of $e_{ij}^2$ and $c$
the mean of $e_{ij} e_{ik}$ over all pairs of judges $j \neq k$ of the same event, $\rho = c / v$, and the mean of J
judges has the variance of the mean of

$$n = \frac{J}{1 + (J - 1) \rho}$$

independent ones (Clemen and Winkler 1985, Limits for the precision and value of information from dependent sources,
Operations Research 33). However many judges there are, n stays below $1 / \rho$.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import counted
from coherently.scoring.intervals import units_of
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel

LEAST_EVENTS, LEAST_VARIABLES = 20, 10
"""Minimum numbers of resolved events that several judges forecast, and of the independent variables they are about."""
CLIP = 0.01
"""Log-odds are those of probabilities clipped to [CLIP, 1 - CLIP]: certainty must not outweigh everything."""


@dataclass(frozen=True, slots=True)
class Diversity(Value):
    """How much judges err alike: the mean `variance` and `covariance` of their errors, in squared log-odds.

    `judges` and `events` count those that the covariance is from: resolved events that several judges forecast.
    """

    judges: int
    events: int
    variance: float
    covariance: float

    @property
    def correlation(self) -> float:
        """The correlation of two judges' errors: 0 if they err independently, 1 if they err alike."""
        return self.covariance / self.variance

    @property
    def effective(self) -> float:
        """The effective number of judges: how many independent ones they count as, at most their number."""
        return self.judges / (1 + (self.judges - 1) * min(max(self.correlation, 0.0), 1.0))

    @property
    def sentence(self) -> str:
        """What it means."""
        return (
            f"{self.judges:,} judges count as about {self.effective:.1f} independent ones: "
            f"on {counted(self.events, 'event')} that several of them forecast, the correlation of their errors is "
            f"{self.correlation:.2f}."
        )


def diversity(panel: Panel) -> Diversity | None:
    """Estimate from resolved events how many independent judges the panel's judges count as.

    It is None without outcomes, or if fewer than 20 resolved events, about fewer than 10 independent variables, have
    forecasts of several judges. All forecasts count alike, whatever their weight.

    >>> import coherently as co
    >>> print(co.diversity(co.simulate(judges=17, variables=30, seed=0)).sentence)
    17 judges count as about ... independent ones: on ... events that several of them forecast, the correlation of ...
    """
    judge, event, error, rows = _errors(panel)
    count = np.bincount(event) if len(event) else np.zeros(1, np.int64)
    several = count[event] > 1 if len(event) else np.zeros(0, bool)
    shared = int(np.sum(count > 1))
    if shared < LEAST_EVENTS or units_of(panel.select(np.sort(rows[several]))).count < LEAST_VARIABLES:
        return None
    event, error = event[several], error[several]
    total, squares, count = np.bincount(event, error), np.bincount(event, error**2), np.bincount(event)
    variance = float(np.mean(error**2))
    if variance == 0:
        return None
    covariance = float(np.sum(total**2 - squares) / np.sum(count * (count - 1)))
    return Diversity(len(np.unique(judge[several])), shared, variance, covariance)


def _errors(
    panel: Panel,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Judge, event, error and row of each resolved forecast; an event and its complement are one event.

    Only the first forecast of a judge of an event counts, and only if the judge has two events of that outcome.
    """
    written, which = panel.written, panel.event_index
    rows = np.flatnonzero((written.outcome[which] >= 0) & ~np.isnan(panel.probability))
    turned = written.event[which[rows]] % 2 == 1
    key = np.stack([written.event[which[rows]] // 2, written.condition[which[rows]]])
    event = np.unique(key, axis=1, return_inverse=True)[1].ravel()
    first = np.unique(panel.judge_index[rows] * (event.max(initial=0) + 1) + event, return_index=True)[1]
    rows, turned, event = rows[first], turned[first], event[first]
    clipped = np.clip(panel.probability[rows], CLIP, 1 - CLIP)
    odds = np.where(turned, -1.0, 1.0) * np.log(clipped / (1 - clipped))
    outcome = np.where(turned, 1 - written.outcome[which[rows]], written.outcome[which[rows]])
    judge = panel.judge_index[rows].astype(np.int64)
    kind = 2 * judge + outcome
    size = np.bincount(kind)[kind]
    keep = size > 1
    # A judge's errors vary around the judge's own means, and so too little by one part in n.
    error = (odds - (np.bincount(kind, odds)[kind] / size)) * np.sqrt(size / np.maximum(size - 1, 1))
    return judge[keep], event[keep].astype(np.int64), error[keep], rows[keep]
