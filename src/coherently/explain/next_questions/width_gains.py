r"""How much an answer about one event narrows what is implied for others.

Let M be the distributions that agree with the coherent answer of a panel. For an event T they leave the width
\(W_T = \max_M P(T) - \min_M P(T)\). An answer c about an event C leaves only those with P(C) = c, and so the width
\(w(c)\). With every answer that is possible, from \(l_C\) to \(u_C\), as likely as any other,

$$G(T \mid C) = W_T - \frac{1}{u_C - l_C} \int_{l_C}^{u_C} w(c) \, dc = W_T - \frac{\mathrm{area}(R)}{u_C - l_C},$$

where R is the set of pairs (P(C), P(T)) over M, a convex polygon whose section at c is as long as \(w(c)\). The gain of
an event about itself is its whole width, and the gain is 0 if nothing ties C to T, since R is a rectangle then.

Where all of M have the same P(H) = h > 0, the conditional C given H is C & H on another scale, P(C & H) / h. The mean
over c does not change with the scale of c, so an answer about C given H says as much of T as one about C & H; what is
said of a conditional target is divided by its h. Where P(H) is open, R is no polygon, and the question is refused.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.events import CERTAIN
from coherently.explain.next_questions.candidate_events import (
    LEAST_CONDITION,
    read_candidates,
    refuse_open_condition,
)
from coherently.problem import pose, settled, unit_of
from coherently.result.bounds import mixture_over, touched_together
from coherently.solve.implied.extremes import KnownAnswer, extremes
from coherently.solve.implied.fixed_rows import absent
from coherently.solve.implied.joint_range import joint_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.panel import Panel
    from coherently.problem import Merged, Problem
    from coherently.result import Result
    from coherently.result.bounds import AskedEvent
    from coherently.solve.budget import Budget

NARROW = 1e-6
"""An event with a range of at most this width is known already, and so is a gain of at most this nothing."""


@dataclass(frozen=True, slots=True)
class OpenEvent:
    """An event that the answer leaves open: its text, its coordinate, and the ends of its probability.

    `given` is the probability of the condition, 1 without one: the coordinate has that part of the probability.
    """

    text: str
    coordinate: int
    low: float
    high: float
    given: float = 1.0

    @property
    def width(self) -> float:
        """How much is open."""
        return self.high - self.low


class OpenRanges:
    """Events as coordinates of one problem with an answer, and what an answer about one says of another."""

    def __init__(self, result: Result, texts: Sequence[str], budget: Budget) -> None:
        self._result, self._budget = result, budget
        self._panel: Panel = replace(result.panel, events=deepcopy(result.panel.events))
        self._asked = read_candidates(self._panel.events, texts)
        self.unproved = 0
        self.leaves_out = False
        """Whether forecasts conditional on events that are impossible in the answer are left out, as bounds do."""
        every = np.array([side for one in self._asked for side in (one.joint, one.condition)], np.int32)
        used = np.unique(every[every != CERTAIN])
        self._problem: Problem = pose(settled(self._panel), result.loss, unit_of(self._panel.weight), used)

    def measured(self) -> list[OpenEvent]:
        """Those of the events that the answer leaves open, with the ends of their probabilities."""
        found = []
        for number, one in enumerate(self._asked):
            if self._budget.is_over():
                self.unproved += len(self._asked) - number
                break
            given = self._given(one)
            ends = None if given is None else self._ends(one.joint)
            self.unproved += ends is None
            if given is not None and ends is not None and ends[1] - ends[0] > NARROW * given:
                coordinate = self._problem.coordinate_of(one.joint)
                found.append(OpenEvent(one.text, coordinate, ends[0] / given, ends[1] / given, given=given))
        return found

    def _given(self, one: AskedEvent) -> float | None:
        """The probability of the condition of a candidate, which must be known; None if that is not proved."""
        if not one.is_conditional:
            return 1.0
        ends = self._ends(one.condition)
        if ends is None:
            return None
        if ends[1] - ends[0] > NARROW or ends[1] <= LEAST_CONDITION:
            refuse_open_condition(one.text, *ends)
        return (ends[0] + ends[1]) / 2

    def _ends(self, side: int) -> tuple[float, float] | None:
        """The least and the greatest probability of an event, None if they are not proved."""
        part = touched_together(self._problem.merged, [self._problem.coordinate_of(side)])
        assert part is not None
        answer = self._answer(part)
        self.leaves_out = self.leaves_out or absent(part, answer.worlds, answer.weight)
        ends = extremes(part, answer, self._budget).turned(side % 2 == 1)
        return (ends.low, ends.high) if ends.certified else None

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
        of_other, of_one = found.width(1) - found.mean_width(0), found.width(0) - found.mean_width(1)
        return of_other / other.given, of_one / one.given

    def _answer(self, part: Merged) -> KnownAnswer:
        weight, worlds = mixture_over(self._result, self._panel, part)
        return KnownAnswer(worlds, weight, self._result.loss)
