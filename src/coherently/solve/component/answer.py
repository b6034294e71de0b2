"""The answer for one component: a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Ended(Enum):
    """Why the work on a component ended."""

    PROVED = "the gap is at most the tolerance"
    ROUNDING = "rounding allows no more"
    TIME = "the time was over"
    INTERRUPTED = "it was interrupted"


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A mixture of worlds and what is known of it.

    `share` and `worlds` are the mixture, a row a world; `x` has the probability of each event. `objective` is what it
    loses, `bound` a proved lower bound on what any coherent answer loses, which rests on `proof`. `violation` is
    the largest amount by which it misses a pin, and `prices` those of the rows of the pins.
    """

    share: NDArray[np.float64]
    worlds: NDArray[np.uint8]
    x: NDArray[np.float64]
    objective: float
    bound: float
    route: str
    proof: str
    ended: Ended
    violation: float
    prices: NDArray[np.float64]
    steps: int
