"""The answer with other weights or laws: only what that touches is solved again, from the worlds that are known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.explain.influence.derivatives import answer_moves, force_left
from coherently.panel.left_out import PartKind, same_question, without_laws
from coherently.problem import pose, pose_numbers, settled, split_some, unit_of
from coherently.problem.component_index import ComponentIndex
from coherently.solve import Exact, Global
from coherently.solve.component.answer import Ended
from coherently.solve.component.component_solver import solve_component
from coherently.solve.component.component_table import ComponentTable
from coherently.solve.component.objective import goal_of
from coherently.solve.implied.answer_response import AnswerResponse, response_of
from coherently.solve.implied.cluster_answers import ClusterAnswers, cluster_answers
from coherently.solve.measure import probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Truth, Vector
    from coherently.panel import Panel
    from coherently.panel.left_out import PanelPart
    from coherently.problem import Merged, Part, Problem
    from coherently.result import Result
    from coherently.solve.budget import Budget

STILL = 1e-9
"""A component whose events are all this near to their forecasts is not moved by any law."""


class Changed(NamedTuple):
    """The probability of each written event without something (NaN where nobody is asked about it then).

    `proved` says whether all of it is proved to the tolerance of the method.
    """

    value: Vector
    proved: bool


@dataclass(slots=True)
class ChangedAnswers:
    """The exact answer of a panel, component by component, and answers for the panel without something.

    `panel` has settled conditionals as constants; `problem` is in units of weight, and `x` has one entry per
    coordinate. What is found about a component is kept, for the next question.
    """

    panel: Panel
    problem: Problem
    method: Exact
    result: Result
    x: Vector
    index: ComponentIndex
    budget: Budget
    _clusters: dict[int, ClusterAnswers | None] = field(default_factory=dict)
    _responses: dict[int, AnswerResponse | None] = field(default_factory=dict)

    @staticmethod
    def of(result: Result, method: Exact, budget: Budget) -> ChangedAnswers:
        """Take the answer of an exact result apart."""
        assert isinstance(result.solution, Global)
        unit, panel = unit_of(result.panel.weight), settled(result.panel)
        problem = pose(panel, result.loss, unit)
        x = probabilities(result.problem, result.solution)
        index = ComponentIndex.of(problem.merged)
        tight = replace(budget, tolerance=0.5 * method.tolerance, floor=1.0 / max(1, len(index.coordinates.starts) - 1))
        return ChangedAnswers(panel, problem, method, result, x=x, index=index, budget=tight)

    @property
    def _linearised(self) -> bool:
        return self.method.conditionals == "linearised"

    def component_of(self, coordinate: Indices) -> Indices:
        """The components of coordinates."""
        home = np.empty(len(self.problem.merged), np.int64)
        rows = self.index.coordinates
        home[rows.items] = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
        found: Indices = home[coordinate]
        return found

    def unit_components(self) -> Indices:
        """The component of each written event."""
        problem, joint = self.problem, self.problem.merged.terms.conditionals.joint.coordinate
        place = np.append(np.arange(len(problem.merged)), joint).astype(np.int64)
        return self.component_of(place[problem.coordinate + len(problem.merged) * problem.conditional])

    def rows_of(self, part: PanelPart) -> Mask:
        """Which forecasts a judge made, or are about a question."""
        if part.kind is PartKind.JUDGE:
            found: Mask = self.panel.judge_index == part.number
            return found
        return same_question(self.result.panel, part.number)[self.panel.event_index]

    def with_less(self, rows: Mask) -> Problem:
        """The same problem with some forecasts at weight 0."""
        weight = np.where(rows, 0.0, self.panel.weight)
        return pose_numbers(self.problem, replace(self.panel, weight=weight), self.problem.weight_unit)

    def touched(self, rows: Mask) -> list[int]:
        """The components of forecasts that count."""
        units = np.unique(self.problem.forecasts.unit[rows & (self.panel.weight > 0)])
        found: list[int] = np.unique(self.unit_components()[units]).tolist()
        return found

    def without_rows(self, rows: Mask) -> Changed:
        """The answer without some forecasts."""
        changed = self.with_less(rows)
        touched = [i for i in self.touched(rows) if self._has_weight(changed.merged, i)]
        x, proved = self.x.copy(), True
        if touched:
            part = replace(self.index, merged=changed.merged).part(touched)
            x[part.coordinates], proved = self._solved(part.merged, part.merged.origin)
        value = np.where(asked(changed), changed.as_written(np.clip(x, 0.0, 1.0)), np.nan)
        return Changed(value, proved)

    def _has_weight(self, merged: Merged, component: int) -> bool:
        part = replace(self.index, merged=merged).part([component]).merged
        return bool((part.weights() > 0).any())

    def _solved(self, merged: Merged, origin: NDArray[np.int32]) -> tuple[Vector, bool]:
        """The answer for some components: by the table of small ones, over clusters, or from the worlds of before."""
        table = ComponentTable(merged, self.problem.loss, linearised=self._linearised)
        answers, left = table.solve(self.budget, 1)
        x, proved = answers.x.copy(), True
        for part in split_some(merged, table.tied, left):
            component = int(self.index.home[origin[part.merged.origin[0]]]) if part.merged.n_variables else -1
            found = self._over_clusters(component, part)
            if found is not None:
                x[part.coordinates], proved = found, False
                continue
            goal = goal_of(part.merged, self.problem.loss, linearised=self._linearised)
            start = self._start(component, part.merged)
            answer = solve_component(part.merged, goal, self.budget, start, seed=self.method.seed)
            x[part.coordinates] = answer.x
            proved &= answer.ended is Ended.PROVED
        return x, proved

    def _start(self, component: int, part: Merged) -> Truth | None:
        """The worlds of the answer, to begin with."""
        assert isinstance(self.result.solution, Global)
        if component < 0:
            return None
        worlds = self.result.solution.worlds[component].truth
        return worlds.view(np.uint8) if worlds.shape[1] == part.n_variables else None

    def _over_clusters(self, component: int, part: Part) -> Vector | None:
        if component < 0 or len(self.index.coordinates.all([component])) != len(part.merged):
            return None
        if component not in self._clusters:
            whole = self.index.part([component])
            loss, at = self.problem.loss, self.x[whole.coordinates]
            self._clusters[component] = cluster_answers(whole.merged, loss, at, self.budget)
        known = self._clusters[component]
        return None if known is None else known.answer(part.merged.weight, part.merged.mean, self.budget)

    def without(self, part: PanelPart) -> Changed:
        """The answer without a judge, a question or a law."""
        return self._without_law(part) if part.kind is PartKind.LAW else self.without_rows(self.rows_of(part))

    def components_of(self, law: PanelPart) -> list[int]:
        """The components that a law or pin is about."""
        laws, number = self.panel.laws, law.number
        pin = number - len(laws)
        sides = laws.side[[number]] if pin < 0 else np.array([laws.pins.event[pin], laws.pins.condition[pin]])
        home = np.full(self.panel.events.n_variables, -1, np.int64)
        home[self.problem.merged.origin] = self.index.home
        found = np.unique(home[self.panel.events.supports(sides // 2)[1]])
        return [int(i) for i in found if i >= 0]

    def is_still(self, part: PanelPart) -> bool:
        """Whether a law moves nothing, for certain: all its components are as they were forecast."""
        if part.kind is not PartKind.LAW or self._has_settled():
            return False
        return not any(self._moves(i) for i in self.components_of(part))

    def _has_settled(self) -> bool:
        """Whether laws settle conditionals, which are constants then and hang together with nothing."""
        return bool((self.panel.written.condition != self.result.panel.written.condition).any())

    def _moves(self, component: int) -> bool:
        """Whether a component's answer differs from its forecasts, so that what ties its events has an effect."""
        part = self.index.part([component])
        known, given = part.merged.weight > 0, part.merged.terms.conditionals
        at = self.x[part.coordinates]
        away = np.abs(at - part.merged.mean)[known]
        told = np.abs(given.value(at) - given.mean)[given.weight > 0]
        return bool((away > STILL).any() or (told > STILL).any() or len(part.merged.terms.intervals))

    def _without_law(self, part: PanelPart) -> Changed:
        """The answer without a law: the forecasts of its components, as a panel by themselves."""
        value = np.where(asked(self.problem), self.result.solution.value, np.nan)
        if self.is_still(part):
            return Changed(value, proved=True)
        whole = self.result.panel
        units = np.isin(self.unit_components(), self.components_of(part)) | self._has_settled()
        rows = np.flatnonzero(units[whole.event_index])
        panel = whole.select(rows)
        smaller = settled(replace(panel, laws=without_laws(panel.laws, [part.number])))
        problem = pose(smaller, self.result.loss, self.problem.weight_unit)
        answers = self.method.answers(problem, self.budget)
        value[whole.event_index[rows]] = problem.as_written(answers.x)[problem.forecasts.unit]
        proved = all(one.ended is Ended.PROVED for one in answers.others.values())
        return Changed(np.where(asked(self.problem), value, np.nan), proved)

    def estimate(self, part: PanelPart) -> Vector:
        """The change of each written event without something, to first order; NaN where it is not known."""
        if part.kind is not PartKind.LAW:
            return self._estimate_rows(self.rows_of(part))
        return np.full(len(self.problem.written), 0.0 if self.is_still(part) else np.nan)

    def pull(self, part: PanelPart) -> float:
        """How much is at stake where no estimate is known: the distance of forecasts, or of a law's events, from x."""
        problem, value = self.problem, self.result.solution.value
        if part.kind is not PartKind.LAW:
            rows, forecasts = self.rows_of(part), problem.forecasts
            away = np.abs(forecasts.probability - value[forecasts.unit])[rows]
            return float(np.nansum(forecasts.weight[rows] * away))
        units = np.isin(self.unit_components(), self.components_of(part))
        return float(np.nansum((problem.weight * np.abs(value - problem.mean))[units]))

    def response(self, component: int) -> AnswerResponse | None:
        """How a component's answer moves when its forecasts do; None if that is not known."""
        if component not in self._responses:
            part = self.index.part([component])
            loss, at = self.problem.loss, self.x[part.coordinates]
            self._responses[component] = response_of(part.merged, loss, at, linearised=self._linearised)
        return self._responses[component]

    def _estimate_rows(self, rows: Mask) -> Vector:
        """The change of each written event, to first order, if some forecasts are left out; NaN where unknown.

        The gradient of the objective that is left, at the answer, is the force that moves it.
        """
        changed, moved = self.with_less(rows), np.zeros(len(self.problem.written))
        index, home = replace(self.index, merged=changed.merged), self.unit_components()
        for component in self.touched(rows):
            part, mine = index.part([component]), home == component
            at = self.x[part.coordinates]
            force = force_left(part.merged, self.problem.loss, at, linearised=self._linearised)
            found = answer_moves(self, component, force[:, None])
            moved[mine] = np.nan if found is None else found[mine, 0]
        return np.where(asked(changed), moved, np.nan)


def asked(problem: Problem) -> Mask:
    """Which written events somebody is asked about: a forecast or an interval of theirs has weight."""
    merged, terms = problem.merged, problem.merged.terms
    told = np.append(merged.weight > 0, terms.conditionals.weight > 0)
    inner = terms.intervals
    heavy = inner.weight > 0
    told[inner.about[heavy] + len(merged) * inner.conditional[heavy]] = True
    found: Mask = told[problem.coordinate + len(merged) * problem.conditional]
    return found
