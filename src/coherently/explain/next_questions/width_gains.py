r"""How much an answer about one event narrows what is implied for others.

Let M be the distributions that agree with the coherent answer of a panel. For an event T they leave the width
\(W_T = \max_M P(T) - \min_M P(T)\). An answer c about an event C leaves only those with P(C) = c, and so the width
\(w(c)\). With every answer that is possible, from \(l_C\) to \(u_C\), as likely as any other,

$$G(T \mid C) = W_T - \frac{1}{u_C - l_C} \int_{l_C}^{u_C} w(c) \, dc = W_T - \frac{\mathrm{area}(R)}{u_C - l_C},$$

where R is the set of pairs (P(C), P(T)) over M, a convex polygon whose section at c is as long as \(w(c)\). The gain of
an event about itself is its whole width, and the gain is 0 if nothing ties C to T, since R is a rectangle then.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.events import NEVER
from coherently.explain.next_questions.candidate_events import read_candidates
from coherently.problem import pose, settled, unit_of
from coherently.result.bounds import mixture_over, touched_together
from coherently.solve.implied.extremes import KnownAnswer, extremes
from coherently.solve.implied.joint_range import joint_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.panel import Panel
    from coherently.problem import Merged, Problem
    from coherently.result import Result
    from coherently.solve.budget import Budget

NARROW = 1e-6
"""An event with a range of at most this width is known already, and so is a gain of at most this nothing."""


@dataclass(frozen=True, slots=True)
class OpenEvent:
    """An event that the answer leaves open: its text, its coordinate, and the ends of its probability."""

    text: str
    coordinate: int
    low: float
    high: float

    @property
    def width(self) -> float:
        """How much is open."""
        return self.high - self.low


class OpenRanges:
    """Events as coordinates of one problem with an answer, and what an answer about one says of another."""

    def __init__(self, result: Result, texts: Sequence[str], budget: Budget) -> None:
        self._result, self._budget = result, budget
        self._panel: Panel = replace(result.panel, events=deepcopy(result.panel.events))
        sides = read_candidates(self._panel.events, texts)
        self.unproved = 0
        asked = {side & ~1: (text, side) for text, side in reversed(list(zip(texts, sides, strict=True)))}
        self._asked = [told for _, told in sorted(asked.items()) if told[1] // 2 != NEVER // 2]
        plain = settled(self._panel)
        every = np.array([side for _, side in self._asked], np.int32)
        self._problem: Problem = pose(plain, result.loss, unit_of(self._panel.weight), every)

    def measured(self) -> list[OpenEvent]:
        """Those of the events that the answer leaves open, with the ends of their probabilities."""
        found = []
        for number, (text, side) in enumerate(self._asked):
            if self._budget.is_over():
                self.unproved += len(self._asked) - number
                break
            coordinate = self._problem.coordinate_of(side)
            part = touched_together(self._problem.merged, [coordinate])
            assert part is not None
            ends = extremes(part, self._answer(part), self._budget).turned(side % 2 == 1)
            self.unproved += not ends.certified
            if ends.certified and ends.high - ends.low > NARROW:
                found.append(OpenEvent(text, coordinate, ends.low, ends.high))
        return found

    def gains(self, one: OpenEvent, other: OpenEvent) -> tuple[float, float]:
        """What an answer about the first says of the second, and the other way around."""
        if self._budget.is_over():
            self.unproved += 1
            return 0.0, 0.0
        part = touched_together(self._problem.merged, [one.coordinate, other.coordinate])
        if part is None:
            return 0.0, 0.0
        found = joint_range(part, self._answer(part), self._budget)
        self.unproved += found is None
        if found is None:
            return 0.0, 0.0
        return found.width(1) - found.mean_width(0), found.width(0) - found.mean_width(1)

    def _answer(self, part: Merged) -> KnownAnswer:
        weight, worlds = mixture_over(self._result, self._panel, part)
        return KnownAnswer(worlds, weight, self._result.loss)
