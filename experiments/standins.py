"""Simulated panels in the place of the paper's data, which are not public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

import coherently as co

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel
    from experiments.published import Published

HALF_WIDTH = 0.05
"""Judges differ: the deviation of their noise is uniform within this of the fitted one."""
DIGITS = 3
"""Decimals of the fitted numbers, so that a command line can repeat them."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """A data set's size with the two numbers that were fitted to the raw forecasts' Brier score and slope."""

    published: Published
    noise: float
    conservatism: float
    nested: bool = False

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest deviation of a judge's noise."""
        return round(max(self.noise - HALF_WIDTH, 0.0), DIGITS), round(self.noise + HALF_WIDTH, DIGITS)

    def panel(self, seed: int) -> Panel:
        """One draw of truth, judges and world."""
        published = self.published
        return co.simulate(
            published.judges,
            published.variables,
            nested=self.nested,
            noise=self.range,
            conservatism=self.conservatism,
            seed=seed,
        )

    def raw(self, panels: int) -> NDArray[np.float64]:
        """Brier score and slope of the raw forecasts, a row a panel."""
        means = [co.score(self.panel(seed)).average() for seed in range(panels)]
        return np.array([(mean["brier"], mean["slope"]) for mean in means])

    @property
    def command(self) -> str:
        """The command that writes the first panel."""
        low, high = self.range
        return (
            f"coherently simulate --judges {self.published.judges} --variables {self.published.variables} "
            f"--noise {low:g} {high:g} --conservatism {self.conservatism:g} --seed 0 "
            f"-o {self.published.name.lower()}.csv"
        )


def fit(published: Published, panels: int, *, nested: bool = False) -> StandIn:
    """Choose noise and conservatism so that the mean raw Brier score and slope over panels are the published ones."""
    target = np.array([published.brier["Raw"], published.slope["Raw"]])

    def miss(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(StandIn(published, x[0], x[1], nested).raw(panels).mean(axis=0) - target)

    found = optimize.least_squares(miss, [0.3, 0.5], bounds=([0.0, 0.0], [2.0, 1.0]), diff_step=0.02, xtol=1e-4)
    noise, conservatism = (round(float(x), DIGITS) for x in found.x)
    return StandIn(published, noise, conservatism, nested)


def fit_noise(published: Published, panels: int) -> StandIn:
    """Choose the noise alone, without conservatism, so that the raw Brier score is the published one."""

    def miss(noise: float) -> float:
        return float(StandIn(published, noise, 0.0).raw(panels)[:, 0].mean() - published.brier["Raw"])

    return StandIn(published, round(optimize.brentq(miss, 0.0, 2.0, xtol=1e-4), DIGITS), 0.0)
