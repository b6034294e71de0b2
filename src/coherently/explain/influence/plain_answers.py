"""Answers of any method to a panel without something: the whole panel again, by the same method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.influence.changed_answers import Changed
from coherently.panel.left_out import PartKind, rows_of, without_parts
from coherently.result import aggregate
from coherently.solve import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Mask, Vector
    from coherently.panel.left_out import PanelPart
    from coherently.result import Result
    from coherently.solve.budget import Budget

FINISHED = (Status.OPTIMAL, Status.CONVERGED, Status.AVERAGED)
"""How a method ends that has done what it promises."""


@dataclass(frozen=True, slots=True, eq=False)
class PlainAnswers:
    """A result by a method that does not go component by component."""

    result: Result
    budget: Budget

    def without(self, part: PanelPart) -> Changed:
        """The answer without a judge, a question or a law."""
        return self.without_all([part])

    def without_all(self, parts: Sequence[PanelPart]) -> Changed:
        """The answer without several of them at once."""
        result = self.result
        kept = np.logical_and.reduce([_rows(result, part) for part in parts])
        if not (kept & (result.panel.weight > 0)).any():
            return Changed(np.full(len(result.panel.written), np.nan), proved=True)
        smaller = without_parts(result.panel, parts)
        again = aggregate(smaller, result.method, result.loss, cancel=self.budget.cancel)  # type: ignore[arg-type]
        known = {key: i for i, key in enumerate(_keys(again))}
        place = np.array([known.get(key, -1) for key in _keys(result)])
        value = np.append(again.solution.value, np.nan)[place]
        return Changed(value, again.status in FINISHED)

    def estimate(self, part: PanelPart) -> Vector:  # noqa: ARG002
        """Nothing: the method has no derivative."""
        return np.full(len(self.result.panel.written), np.nan)

    def is_still(self, part: PanelPart) -> bool:  # noqa: ARG002
        """Never known."""
        return False

    def pull(self, part: PanelPart) -> float:
        """How much is at stake: the distance of the forecasts from the answer."""
        panel, rows = self.result.panel, ~_rows(self.result, part)
        away = np.abs(panel.probability - self.result.solution.value[self.result.problem.forecasts.unit])
        return float(np.nansum((panel.weight * away)[rows]))


def _rows(result: Result, part: PanelPart) -> Mask:
    """Which forecasts stay."""
    if part.kind is PartKind.LAW:
        return np.ones(len(result.panel), np.bool_)
    return ~rows_of(result.panel, part)


def _keys(result: Result) -> list[tuple[int, int]]:
    written = result.panel.written
    return list(zip(written.event.tolist(), written.condition.tolist(), strict=True))
