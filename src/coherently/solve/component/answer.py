"""The answer for one component: a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from coherently.values import Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from coherently.solve.facts import Proof, Route


KEPT = 1e-9
"""The amount by which probabilities may miss their pins, summed over all pins."""


class Ended(Enum):
    """Why the work on a component ended."""

    PROVED = "the gap is at most the tolerance"
    ROUNDING = "rounding allows no more"
    TIME = "the time was over"
    INTERRUPTED = "it was interrupted"


@dataclass(frozen=True, slots=True, eq=False)
class Answer(Value):
    """A mixture of worlds and what is known of it.

    `share` and `worlds` are the mixture, one row per world; `x` has the probability of each event. `objective` is what
    it loses and `bound` a proved lower bound on what any coherent answer loses, which rests on `proof`. `violation` is
    the largest amount by which a pin is missed. `saved` is the Brier penalty that x saves at least in every world, and
    `shortfall` the most by which a world may lie below the plane at x; the one that does not apply is NaN.
    `degenerate` lists the conditionals whose condition is impossible or certain though no forecast or law says so.
    """

    share: NDArray[np.float64]
    worlds: NDArray[np.uint8]
    x: NDArray[np.float64]
    objective: float
    bound: float
    route: Route
    proof: Proof
    ended: Ended
    violation: float
    saved: float
    shortfall: float
    degenerate: NDArray[np.int64]
    steps: int

    @property
    def gap(self) -> float:
        """How much nearer coherent forecasts might be."""
        return self.objective - self.bound
