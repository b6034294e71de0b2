"""Laws: what holds in every possible world, and probabilities that are certain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _no_sides() -> NDArray[np.int32]:
    return np.empty(0, np.int32)


def _no_numbers() -> NDArray[np.float64]:
    return np.empty(0, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Pins:
    """Probabilities that laws fix or limit, an entry a statement: the probability lies in [`low`, `high`].

    `event` and `condition` are sides as in `coherently.events.Reading`: for P(E given H) the event is E & H.
    """

    text: tuple[str, ...] = ()
    event: NDArray[np.int32] = field(default_factory=_no_sides)
    condition: NDArray[np.int32] = field(default_factory=_no_sides)
    low: NDArray[np.float64] = field(default_factory=_no_numbers)
    high: NDArray[np.float64] = field(default_factory=_no_numbers)

    def __len__(self) -> int:
        return len(self.text)


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """Formulas that are true in every possible world, as sides, with their texts and where each stands; and pins.

    What declarations of variables say is with the events (`coherently.events.Events.choices`).
    """

    text: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    side: NDArray[np.int32] = field(default_factory=_no_sides)
    pins: Pins = field(default_factory=Pins)

    def __len__(self) -> int:
        return len(self.text)


NO_LAWS = Laws()
