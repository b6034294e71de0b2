"""Mixtures that satisfy the pins, or the pins that no mixture satisfies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.solve.budget import Budget
from coherently.solve.component.answer import KEPT
from coherently.solve.component.newton.limits import InfeasiblePinsError, PinRows, pin_rows
from coherently.solve.component.newton.support import Blend

if TYPE_CHECKING:
    from coherently.arrays import Truth
    from coherently.problem import Merged
    from coherently.solve.worlds.oracle import Oracle


USELESS = 1e-12
"""The smallest improvement for which a world is taken in."""
PATIENCE = 60.0
"""Maximum number of seconds for the best world."""
IDLE = 20
"""Maximum number of worlds in a row that improve nothing, in addition to one per pin."""


def make_engine(part: Merged, oracle: Oracle, pins: PinRows, seed: int) -> _core.RowEngine:
    """The engine for a component's models, under pins."""
    return _core.RowEngine(part.handle, seed, oracle.space, pins.sums(), pins.equal.astype(np.uint8))


def feasible_mixture(part: Merged, oracle: Oracle, worlds: Truth) -> Blend:
    """A mixture of the given and other worlds that satisfies the pins; an error names pins that none satisfies."""
    pins = pin_rows(part.terms.limits, len(part))
    engine = make_engine(part, oracle, pins, 0)
    engine.include(worlds)
    require_pins(engine, part, oracle, pins, budget=Budget())
    share, own = engine.worlds()
    return Blend(share / share.sum(), own, engine.sides())


def require_pins(engine: _core.RowEngine, part: Merged, oracle: Oracle, pins: PinRows, budget: Budget) -> None:
    """Work until the pins are satisfied; an error names a minimal set that no mixture satisfies."""
    if _keep_pins(engine, pins, oracle, budget):
        return
    blamed = np.abs(engine.prices()) > KEPT
    found = sorted(set(pins.pin[blamed].tolist())) or sorted(set(pins.pin.tolist()))
    worlds = engine.worlds()[1]
    for pin in list(found):
        fewer = [other for other in found if other != pin]
        if fewer:
            other_engine = make_engine(part, oracle, pins.of(fewer), 0)
            other_engine.include(worlds)
            if not _keep_pins(other_engine, pins.of(fewer), oracle, budget):
                found = fewer
    raise InfeasiblePinsError(tuple(found))


def _keep_pins(engine: _core.RowEngine, pins: PinRows, oracle: Oracle, budget: Budget) -> bool:
    """Whether the pins can be satisfied; true also if that is not known.

    The engine minimises the sum of violations. Let y be its prices, at least 0 for inequalities. A mixture that
    satisfies the pins G has <y, G> >= 0, so there is none if <y, G> < 0 in every world (Farkas 1902).
    """
    none = np.empty(0)
    rows = (np.zeros(1, np.int64), none.astype(np.int32), none.astype(np.uint8), none, none)
    engine.set(np.zeros(pins.size), rows, none)
    idle, before = 0, np.inf
    while not engine.is_feasible() and not budget.is_over() and idle <= IDLE + len(pins):
        seconds = budget.slice()
        done = engine.eliminate(seconds, 0.0) if oracle.is_exact else engine.search(seconds, 0.0, 1)
        if not done or engine.is_feasible():
            continue
        coefficients, fixed = pins.coefficients(engine.prices())
        least = oracle.least(-coefficients, budget.within(PATIENCE), KEPT)
        if least.bound - fixed > KEPT:
            return False
        if engine.level() - least.value <= USELESS:
            return engine.missing() <= KEPT
        idle, before = (0 if engine.missing() < before else idle + 1), min(before, engine.missing())
        engine.include(least.world[None])
    return True
