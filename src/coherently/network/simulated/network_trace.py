"""What is written down during a run: how far the values are from the central answer, over messages and over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.panel import to_frame
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.network.simulated.simulator import Simulator
    from coherently.panel import Columns

NOTES = 200
"""Number of notes in the course of a run."""


@dataclass(frozen=True, slots=True, eq=False)
class NetworkTrace(Value):
    """The course of a run, one entry per note: simulated seconds, and messages, bytes and projections so far.

    `largest` is the largest difference between a decided value and the central answer, `typical` the root of their
    weighted mean square; NaN if the run was not compared.
    """

    time: Vector
    messages: Indices
    bytes: Indices
    projections: Indices
    largest: Vector
    typical: Vector

    def __len__(self) -> int:
        return len(self.time)

    def columns(self) -> Columns:
        """The columns of `frame`."""
        names = ("time", "messages", "bytes", "projections", "largest", "typical")
        return {name: getattr(self, name) for name in names}

    def frame(self) -> Any:
        """One row per note, as a frame of pandas, polars or pyarrow."""
        return to_frame(self.columns(), None)


class Recording:
    """Follows the values that hosts decide, and makes notes of them."""

    def __init__(self, start: Vector, weight: Vector, reference: Vector | None, projections: int) -> None:
        self.value: list[float] = start.tolist()
        self.projections = 0
        self._simulator: Simulator | None = None
        self._weight, self._reference = weight, reference
        self._every = max(1, projections // NOTES)
        self._rows: list[tuple[float, int, int, int, float, float]] = []

    def follow(self, simulator: Simulator) -> None:
        """Take time and counts from a simulator, which is made with `decided` and so after this."""
        self._simulator = simulator

    def decided(self, _: int, events: tuple[int, ...], values: list[float]) -> None:
        """A host has decided a projection."""
        for event, value in zip(events, values, strict=True):
            self.value[event] = value
        if self.projections % self._every == 0:
            self.note()
        self.projections += 1

    def note(self) -> None:
        """Note how far the run is."""
        at = self._simulator
        assert at is not None
        largest, typical = self._apart()
        self._rows.append((at.now, at.messages, at.bytes, self.projections, largest, typical))

    def _apart(self) -> tuple[float, float]:
        if self._reference is None:
            return np.nan, np.nan
        apart = np.array(self.value) - self._reference
        typical = np.sqrt(np.sum(self._weight * apart**2) / self._weight.sum())
        return float(np.abs(apart).max(initial=0.0)), float(typical)

    def trace(self) -> NetworkTrace:
        """All notes."""
        rows = np.array(self._rows, np.float64).reshape(-1, 6).T
        messages, size, projections = rows[1:4].astype(np.int64)
        return NetworkTrace(
            time=rows[0], messages=messages, bytes=size, projections=projections, largest=rows[4], typical=rows[5]
        )
