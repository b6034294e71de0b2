"""Which ratios the possible worlds fix at 0 or 1: a loss that is infinitely steep there has no slope."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from coherently import _core
    from coherently.arrays import Mask, Truth
    from coherently.problem import Merged
    from coherently.solve.component.objective import Objective
    from coherently.solve.worlds.examples import Examples


class Settled(NamedTuple):
    """The objective with fixed ratios, worlds that show that the others are free, and whether all this is proved."""

    objective: Objective
    worlds: Truth
    is_proved: bool


def settle_terms(
    part: Merged, objective: Objective, engine: _core.RowEngine, examples: Examples, *, is_exact: bool
) -> Settled:
    """Find the ratios that the possible worlds fix.

    The examples show every event, but not every condition without its event. If the best world is known for
    certain, such worlds are added, and a ratio is settled at 1 if there is none.
    """
    worlds, proved = examples.worlds, True
    never, always = _unseen(part, objective, worlds)
    for i in np.flatnonzero(always & ~never & ~objective.certain).tolist():
        always[i] = False
        if is_exact:
            coefficients, constant = objective.coefficients(*np.outer([1.0, -1.0], np.arange(len(objective)) == i))
            # The least of u - h, which is -1 where the condition holds without the event.
            least, world = engine.minimise(coefficients)
            always[i] = least + constant > -0.5
            worlds = worlds if always[i] else np.vstack([worlds, world])
    if examples.doubtful.any():
        some = np.concatenate([examples.doubtful, examples.doubtful, [False]])
        proved = not bool((some[objective.joint] | some[objective.condition]).any())
    return Settled(objective.with_settled(np.where(never, 0.0, np.where(always, 1.0, np.nan))), worlds, proved)


def _unseen(part: Merged, objective: Objective, worlds: Truth) -> tuple[Mask, Mask]:
    """The terms whose event never holds in some worlds, and those whose event holds wherever its condition does."""
    truth = part.functions.hold(worlds)
    sides = np.hstack([truth, ~truth, np.ones((len(truth), 1), np.bool_)])
    u, h = sides[:, objective.joint], sides[:, objective.condition]
    return np.asarray(~u.any(axis=0)), np.asarray((u == h).all(axis=0))
