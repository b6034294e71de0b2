"""Mixtures that keep the pins, or the pins that none keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently import _core
from coherently.solve.component.budget import SLICE, Budget
from coherently.solve.component.limits import InfeasiblePinsError, PinRows, pin_rows
from coherently.solve.component.support import Blend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Merged
    from coherently.solve.oracle import Oracle

    Truth: TypeAlias = "NDArray[np.uint8]"

KEPT = 1e-9
"""What probabilities may miss their pins by, summed over all pins."""
USELESS = 1e-12
"""How little a world that is better may bring."""


def make_engine(part: Merged, oracle: Oracle, pins: PinRows, seed: int) -> _core.RowEngine:
    """The engine for a component's models, under pins."""
    return _core.RowEngine(*part.functions, seed, oracle.space, pins.sums(), pins.equal.astype(np.uint8))


def feasible_mixture(part: Merged, oracle: Oracle, worlds: Truth) -> Blend:
    """Shares that keep the pins, of some worlds and others; an error names pins that no mixture keeps."""
    pins = pin_rows(part.terms.limits, len(part))
    engine = make_engine(part, oracle, pins, 0)
    engine.include(worlds)
    require_pins(engine, part, oracle, pins, Budget())
    share, own = engine.worlds()
    return Blend(share / share.sum(), own, engine.sides())


def require_pins(engine: _core.RowEngine, part: Merged, oracle: Oracle, pins: PinRows, budget: Budget) -> None:
    """Go on until the pins are kept; an error names as few as can be that no mixture keeps."""
    if _keep_pins(engine, len(part), oracle, budget):
        return
    blamed = np.abs(engine.prices()) > KEPT
    found = sorted(set(pins.pin[blamed].tolist())) or sorted(set(pins.pin.tolist()))
    worlds = engine.worlds()[1]
    for pin in list(found):
        fewer = [other for other in found if other != pin]
        if fewer:
            other_engine = make_engine(part, oracle, pins.of(fewer), 0)
            other_engine.include(worlds)
            if not _keep_pins(other_engine, len(part), oracle, budget):
                found = fewer
    raise InfeasiblePinsError(tuple(found))


def _keep_pins(engine: _core.RowEngine, size: int, oracle: Oracle, budget: Budget) -> bool:
    """Whether the pins can be kept; true, too, where the time does not suffice to tell.

    The engine minimises the sum of what is missed. By its prices no mixture misses less than the present one, but for
    how far the best world lies below the level.
    """
    none = np.empty(0)
    engine.set(np.zeros(size), (np.zeros(1, np.int64), none.astype(np.int32), none.astype(np.uint8), none, none), none)
    while not engine.is_feasible() and not budget.is_over():
        seconds = min(SLICE, budget.left())
        done = engine.eliminate(seconds, 0.0) if oracle.is_exact else engine.search(seconds, 1, 0.0, 0.0)
        if not done or engine.is_feasible():
            continue
        least = oracle.least(engine.gradient(), budget.left(), KEPT)
        if engine.missing() - (engine.level() - least.bound) > KEPT:
            return False
        if engine.level() - least.value <= USELESS:
            return engine.missing() <= KEPT
        engine.include(least.world[None])
    return True
