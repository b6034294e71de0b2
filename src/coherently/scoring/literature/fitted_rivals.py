"""Answers of published rules on events that did not teach them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError, did_you_mean
from coherently.note_log import notes_unlogged
from coherently.problem import pose, pose_again, settled, unit_of
from coherently.result import individual
from coherently.scoring.literature.published_fits import PUBLISHED_FITS, PublishedFit, TaughtProblem
from coherently.scoring.tuning.blocks import ResolvedEvents, lies_in_time, make_blocks
from coherently.solve import AlternatingProjections, Method
from coherently.solve.budget import asked_budget
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Indices, Vector
    from coherently.panel import Panel
    from coherently.problem import Problem
    from coherently.solve import Budget


@dataclass(frozen=True, slots=True)
class FittedRival(Viewed):
    """A published rule that learns from outcomes, for `co.compare`: by its word, alone or followed by a method.

    `word` is karvetski, budescu-chen, satopaa, brier-platt or neyman-roughgarden; `co.literature()` has all of them.
    `then` is a method that makes what the rule gives coherent, such as `co.Exact()`. What is scored was fitted on other
    events, which share no variable, law or cluster with it.

    >>> import coherently as co
    >>> panel = co.simulate(judges=8, variables=12, basic=6, compound=0, seed=1)
    >>> co.compare(panel, [co.FittedRival("satopaa"), co.FittedRival("satopaa", then=co.Exact())]).methods[5:]
    ('Fitted extremes (Satopaa)', 'Fitted extremes (Satopaa), then exact')
    """

    word: str
    then: Method | None = None

    def __post_init__(self) -> None:
        if self.word not in PUBLISHED_FITS:
            raise MethodError(
                f"unknown rule of the literature {self.word!r}; the rules are {', '.join(PUBLISHED_FITS)}",
                code="unknown-rule",
                remedy=did_you_mean(self.word, PUBLISHED_FITS).strip() or None,
            )
        if self.then is not None and (isinstance(self.then, type) or not isinstance(self.then, Method)):
            raise MethodError(f"then is {self.then!r}; it must be a method object, such as co.Exact()")

    @property
    def fit(self) -> PublishedFit:
        """The rule itself."""
        return PUBLISHED_FITS[self.word]

    @property
    def name(self) -> str:
        """The name in tables."""
        return self.fit.name if self.then is None else f"{self.fit.name}, then {self.then.name}"

    @property
    def meaning(self) -> str:
        """What it is, in words."""
        return self.fit.meaning if self.then is None else f"{self.fit.meaning}; then {self.then.name}"


@dataclass(slots=True, eq=False)
class HeldOutEvents:
    """A panel with its resolved events in folds, and the answers of rules that were fitted without the event's fold."""

    panel: Panel
    problem: Problem
    blocks: ResolvedEvents
    alone: Vector | None = None
    answers: dict[str, Vector] = field(default_factory=dict)

    @staticmethod
    def of(panel: Panel, label: Indices | None) -> HeldOutEvents:
        """Fold as `co.tune` does: by clusters, over time where forecasts have times, else by components."""
        plain = settled(panel)
        problem = pose(plain, weight_unit=unit_of(panel.weight))
        by_time = label is None and lies_in_time(plain, problem)
        return HeldOutEvents(panel, problem, make_blocks(plain, problem, by_time=by_time, label=label))

    def made_coherent(self) -> Vector:
        """Each judge's forecasts, made locally coherent alone."""
        if self.alone is None:
            with notes_unlogged():
                self.alone = individual(self.panel, AlternatingProjections()).probability
        return self.alone

    def answer(self, rival: FittedRival, budget: Budget) -> Vector:
        """The probability of each event as written, by what other folds teach."""
        if rival.word not in self.answers:
            self.answers[rival.word] = self._fitted(rival.fit)
        numbers = self.answers[rival.word]
        if rival.then is None:
            return numbers
        # No component has events in two folds, so that one coherent step does for all of them.
        own = asked_budget(None, budget.cancel, budget.engine)
        return rival.then.solve(pose_again(self.problem, numbers), own).value

    def _fitted(self, fit: PublishedFit) -> Vector:
        blocks, count = self.blocks, len(self.problem.weight)
        untaught = TaughtProblem(self.problem, np.full(count, np.nan), self.made_coherent)
        found = fit.answer(untaught)
        of_event = blocks.fold_of_events(count)
        for k in blocks.folds:
            teachers = blocks.teachers(k)
            if teachers:
                among = np.isin(blocks.fold[blocks.block], teachers)
                outcome = np.full(count, np.nan)
                outcome[blocks.event[among]] = blocks.outcome[among]
                value = fit.answer(TaughtProblem(self.problem, outcome, self.made_coherent))
                found = np.where(of_event == k, value, found)
        return found

    @property
    def note(self) -> str:
        """How events were kept apart, in words."""
        blocks = self.blocks
        how = "in order of time, by earlier ones" if blocks.by_time else "by others"
        said = (
            f"rules of the literature are fitted out of fold: {blocks.components:,} independent groups of events in "
            f"{len(blocks.folds)} folds, {how}"
        )
        few = f"; nothing teaches for {blocks.untaught:,} of {len(blocks.event):,} resolved events"
        return said + (few if blocks.untaught else "")


def held_out_answers(
    panel: Panel, problem: Problem, blocks: ResolvedEvents, rivals: Sequence[FittedRival], *, budget: Budget
) -> list[Vector]:
    """The answers of rules for all events as written, with folds that are there already."""
    events = HeldOutEvents(panel, problem, blocks)
    return [events.answer(rival, budget) for rival in rivals]
