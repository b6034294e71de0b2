"""All components of few worlds in one compiled call; what it does not prove is left to the general method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.engine.threads import count_threads
from coherently.problem import KERNELS
from coherently.solve.component.answer_table import AnswerTable, ComponentRows, TabledWorlds
from coherently.solve.component.component_solver import solve_component
from coherently.solve.worlds.lawful import block_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Mask
    from coherently.problem import Block, Loss, Merged, Sides
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.objective import Objective, Squares
    from coherently.solve.lazy_table import WorldRows

MOST_WORLDS = 64
"""Maximum number of worlds of a component that is solved in the table: one bit of a word for each."""
MOST_VARIABLES = 64
"""Maximum number of variables of a component in the table: one bit of a word for each."""
MANY = 4_000
"""Minimum number of components for which threads are worth their start."""
FINISHED = 1e-10
"""Largest gap, relative to the objective or the weights, of an answer that nobody looks at again."""


class ComponentTable:
    """The components of a problem; `tied` are the labels of `Merged.tied`, if they are known already."""

    def __init__(self, merged: Merged, loss: Loss, *, linearised: bool, tied: NDArray[np.int32] | None = None) -> None:
        self.merged, self.loss = merged, loss
        self.tied = merged.tied() if tied is None else tied
        space, given = merged.space, merged.terms.conditionals
        known = loss.is_quadratic or type(loss) in KERNELS
        self.core = _core.ComponentTable(
            merged.handle,
            merged.weight,
            merged.mean,
            self.tied,
            block_arrays([_unless_large(block) for block in space.blocks]),
            space.laws.handle(merged.n_variables),
            space.laws.truth.view(np.uint8),
            (_side(given.joint), _side(given.condition), given.weight, given.mean),
            _barred(merged) if known else np.arange(len(merged), dtype=np.int32),
            loss.name if known and not loss.is_quadratic else "brier",
            linearised,
            MOST_WORLDS,
        )

    def __len__(self) -> int:
        return len(self.core)

    def solve(self, budget: Budget, threads: int) -> tuple[AnswerTable, Mask]:
        """The answers, and which components are left: those not proved to the tolerance when the budget is over."""
        count = count_threads(threads) if len(self) >= MANY else 1
        while (seconds := budget.slice()) > 0:
            if self.core.solve(seconds, count):
                break
        table = self._answers()
        scale = np.maximum(table.objective, budget.floor)
        gap = table.objective - table.bound
        proved = self.core.solved().view(np.bool_) & (gap <= budget.tolerance * scale)
        proved &= gap <= FINISHED * np.maximum(scale, table.events.sums(self.merged.weight))
        return table, ~proved

    def _answers(self) -> AnswerTable:
        core, quadratic = self.core, self.loss.is_quadratic
        shortfall, steps = core.shortfall(), core.steps()
        return AnswerTable(
            events=ComponentRows(*core.events()),
            variables=ComponentRows(*core.variables()),
            x=core.probabilities(),
            objective=core.objective(),
            bound=core.bound(),
            saved=core.saved(),
            shortfall=shortfall,
            steps=steps,
            enumerated=(steps == 0) | (quadratic & ~np.isnan(shortfall)),
            mixtures=TabledWorlds(*core.mixtures()),
        )


def solve_alone(
    part: Merged, objective: Objective | Squares, budget: Budget, start: WorldRows | None = None, *, seed: int = 0
) -> Answer:
    """The answer for one component by itself: that of the table if it is proved, else that of the general method."""
    table = ComponentTable(part, objective.loss, linearised=objective.has_linear)
    if len(table) == 1:
        answers, left = table.solve(budget, 1)
        if not left[0]:
            return answers[0]
    return solve_component(part, objective, budget, start, seed=seed)


def _side(sides: Sides) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    return sides.coordinate, sides.turned.view(np.uint8)


def _barred(merged: Merged) -> NDArray[np.int32]:
    """Coordinates that intervals and pins are about."""
    terms = merged.terms
    if not len(terms.intervals) and not len(terms.limits):
        return np.empty(0, np.int32)
    joint, _ = terms.of_intervals()
    return np.concatenate([joint.coordinate, terms.limits.joint.coordinate]).astype(np.int32)


def _unless_large(block: Block) -> Block:
    """The block; one that the table does not look at with one state, as a list of all has the square of its size."""
    if len(block.variables) <= MOST_VARIABLES:
        return block
    return replace(block, listed=np.zeros((1, len(block.variables)), np.uint8))
