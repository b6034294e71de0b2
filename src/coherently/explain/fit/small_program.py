"""Linear programs over a few states, in the compiled core."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Mask, Vector

    Truths = NDArray[np.bool_]

LOOSE = 1e-8
"""Rounding errors of answers that were made coherent, by which their rows may be missed."""


class Enclosed(NamedTuple):
    """The least and the greatest probability."""

    low: float
    high: float


def enclosed(low: float, high: float) -> Enclosed | None:
    """The ends, less rounding errors; None if they are infinite: there is no mixture."""
    if math.isinf(low) or math.isinf(high):
        return None
    low, high = min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
    return Enclosed(min(low, high), max(low, high))


class SmallProgram:
    """Mixtures of states, with the truth of items and pins in them: see `CliqueStates`."""

    def __init__(
        self,
        *,
        joint: Truths,
        given: Truths,
        conditional: Mask,
        pin_joint: Truths,
        pin_given: Truths,
        pin_low: Vector,
        pin_high: Vector,
        root: Mask,
        ties: Vector,
    ) -> None:
        self._core = _core.Answers(
            joint=_bytes(joint),
            given=_bytes(given),
            conditional=_bytes(conditional),
            pin_joint=_bytes(pin_joint),
            pin_given=_bytes(pin_given),
            pin_low=np.ascontiguousarray(pin_low),
            pin_high=np.ascontiguousarray(pin_high),
            root=_bytes(root),
            ties=np.ascontiguousarray(ties),
        )

    def misses(self, values: Vector, active: Mask, enough: float) -> Vector:
        """The misses of `MixtureProgram`; NaN also where rounding errors left it open."""
        return self._core.misses(np.ascontiguousarray(values), _bytes(active), enough)

    def bounds(self, items: Sequence[int], value: Vector, active: Mask, slack: float) -> list[Enclosed | None] | None:
        """The bounds of `MixtureProgram`; None if rounding errors left one of them open."""
        asked = np.array(items, np.int64)
        ends = self._core.bounds(np.ascontiguousarray(value), _bytes(active), slack, asked).tolist()
        if any(math.isnan(low) or (math.isnan(high) and not math.isinf(low)) for low, high in ends):
            return None
        return [enclosed(low, high) for low, high in ends]


def bounds_on_face(truth: Truths, active: Mask, item: int, near: Vector) -> Enclosed | None:
    """The least and greatest probability of an item in mixtures of a few worlds that give the active items `near`."""
    worlds, count = truth.shape
    none = np.zeros((worlds, 0), np.bool_)
    program = SmallProgram(
        joint=truth,
        given=np.ones(truth.shape, np.bool_),
        conditional=np.zeros(count, np.bool_),
        pin_joint=none,
        pin_given=none,
        pin_low=np.zeros(0),
        pin_high=np.zeros(0),
        root=np.ones(worlds, np.bool_),
        ties=np.zeros((0, worlds)),
    )
    ends = program.bounds([item], near, active, LOOSE)
    return None if ends is None else ends[0]


def _bytes(truth: Truths) -> NDArray[np.uint8]:
    return np.ascontiguousarray(truth).view(np.uint8)
