"""The loop and Dykstra's algorithm under losses other than Brier's, in the dual coordinates phi'(x)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.solve.facts import Status
from coherently.solve.relaxed.certificate import least_on_rows
from coherently.solve.solution import Local, Trace

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Groups, Problem
    from coherently.solve.budget import Budget
    from coherently.solve.relaxed.colours import Colours


@dataclass(slots=True, eq=False)
class BregmanRun:
    """Sweeps over groups: `z` is phi' of the answer and `increments` Dykstra's, one entry per membership."""

    problem: Problem
    groups: Groups
    colours: Colours | None
    corrected: bool
    tolerance: float

    def solve(self, sweeps: int, budget: Budget, *, traced: bool) -> Local:
        """Sweep until converged: no probability moves, or with correction the bound proves the objective."""
        loss, merged, groups = self.problem.loss, self.problem.merged, self.groups
        projector = _core.BregmanProjector(
            *(loss.name, groups.starts, groups.members, groups.pattern, list(groups.patterns), merged.weight),
            *(() if self.colours is None else (self.colours.starts, self.colours.threads)),
        )
        z, increments = loss.gradient(merged.mean), np.zeros(len(groups.members))
        x, status, sweep = merged.mean, Status.SWEEP_LIMIT, 0
        noted = [(x, projector.violation(z))] if traced else []
        while sweep < sweeps and status is Status.SWEEP_LIMIT:
            if budget.is_stopped:
                status = Status.INTERRUPTED
                break
            before = x
            if self.corrected:
                projector.dykstra(z, increments)
            else:
                projector.sweep(z)
            sweep += 1
            x = loss.inverse(z)
            if traced:
                noted.append((x, projector.violation(z)))
            budget.tell(sweep / sweeps)
            if self._is_done(np.abs(x - before).max(initial=0.0), x, increments, projector.violation(z)):
                status = Status.CONVERGED
        return Local(
            self.problem.as_written(x),
            status,
            objective=self._objective(x),
            lower_bound=min(self._bound(x, increments), self._objective(x)) if self.corrected else None,
            groups=groups.design,
            sweeps=sweep,
            violation=projector.violation(z),
            trace=self._trace(noted) if traced else None,
        )

    def _is_done(self, moved: float, x: Vector, increments: Vector, violation: float) -> bool:
        if moved > self.tolerance or violation > self.tolerance:
            return False
        if not self.corrected:
            return True
        objective = self._objective(x)
        return abs(objective - self._bound(x, increments)) <= self.tolerance * max(1.0, objective)

    def _objective(self, x: Vector) -> float:
        merged = self.problem.merged
        return float(np.sum(merged.weight * self.problem.loss.divergence(x, merged.mean)))

    def _bound(self, x: Vector, increments: Vector) -> float:
        """The Lagrangian at Dykstra's increments, whose minimiser is x itself."""
        merged, groups = self.problem.merged, self.groups
        forces = -merged.weight[groups.members] * increments
        pull = np.bincount(groups.members, forces, len(x))
        return self._objective(x) - float(pull @ x) + least_on_rows(groups, forces)

    def _trace(self, noted: list[tuple[Vector, float]]) -> Trace:
        return Trace(
            np.stack([self.problem.as_written(x) for x, _ in noted]),
            np.array([self._objective(x) for x, _ in noted]),
            np.array([violation for _, violation in noted]),
        )
