"""The answer for a neighbourhood, and which answer is the last for each variable."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakSet

import numpy as np

from coherently.live.assembly import numbers_of, panel_of
from coherently.live.ledger import Contents
from coherently.problem import pose, pose_numbers, settled, split, unit_of
from coherently.result.idle import with_idle
from coherently.result.notes import pins_in_conflict
from coherently.solve import Budget, Global, InfeasiblePinsError, Status
from coherently.solve.methods.exact import Known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coherently.live.vocabulary import Key, Meaning
    from coherently.panel import Panel
    from coherently.problem import Loss, Merged, Problem
    from coherently.solve import Component, Exact
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.answer_table import AnswerTable


@dataclass(frozen=True, slots=True)
class Rules:
    """How neighbourhoods are solved: the method, the loss, and the largest unit of weights."""

    exact: Exact
    loss: Loss
    unit: float


NO_ANSWERS = Global(np.empty(0), Status.OPTIMAL, worlds=())
"""The solution for nothing."""


@dataclass(eq=False, slots=True)
class Edition:
    """The answer for what stood in a neighbourhood, by an ordinary panel of only that.

    `answers` are for the components of `problem`, in the order of `split`; None if nothing stands. `since` numbers the
    editions in the order in which they came out, and `replaces` are those that this one took the place of, kept for
    whoever reads the answers of that time.
    """

    contents: Contents
    variables: frozenset[str]
    panel: Panel
    problem: Problem
    answers: AnswerTable | None
    solution: Global
    since: int = 0
    replaces: tuple[Edition, ...] = ()
    place_of: dict[Key, int] = field(init=False)

    def __post_init__(self) -> None:
        index = self.panel.event_index.tolist()
        self.place_of = {one.meaning.key: i for one, i in zip(self.contents.forecasts, index, strict=True)}

    @staticmethod
    def nothing(variables: frozenset[str], since: int, replaced: tuple[Edition, ...]) -> Edition:
        """What takes the place of others when nothing stands about their variables any more."""
        empty = Contents()
        panel = panel_of(empty)
        return Edition(
            empty, variables, panel, pose(panel), answers=None, solution=NO_ANSWERS, since=since, replaces=replaced
        )

    @property
    def is_nothing(self) -> bool:
        """Whether nothing stands about its variables."""
        return not self.place_of and not self.contents.laws and not self.contents.outcomes

    def probability(self, meaning: Meaning) -> float | None:
        """The probability of an event that somebody forecast, or whose complement somebody did; else None."""
        for key, turn in ((meaning.key, False), (meaning.opposite, True)):
            if (place := self.place_of.get(key)) is not None:
                found = float(self.solution.value[place])
                return 1.0 - found if turn else found
        return None

    def component(self, meaning: Meaning) -> Component | None:
        """What was done about the component of an event that somebody forecast."""
        place = self.place_of.get(meaning.key, self.place_of.get(meaning.opposite))
        if place is None:
            return None
        problem, coordinate = self.problem, int(self.problem.coordinate[place])
        if problem.conditional[place]:
            coordinate = int(problem.merged.terms.conditionals.joint.coordinate[coordinate])
        return self.solution.components[int(problem.merged.components()[coordinate])]

    def parts(self) -> list[Merged]:
        """The components that were solved."""
        return [part.merged for part in split(self.problem.merged)]

    def is_enough(self, budget: Budget) -> bool:
        """Whether the gap of each component is small enough for a budget."""
        answers = self.answers
        if answers is None:
            return True
        enough = budget.tolerance * np.maximum(answers.objective, budget.floor)
        return bool((answers.objective - answers.bound <= enough).all())


def solve(contents: Contents, rules: Rules, budget: Budget, last: Sequence[Edition]) -> Edition:
    """Make what stands coherent; `last` are the editions that it comes from."""
    same = _unchanged(contents, last)
    panel = panel_of(contents) if same is None else replace(same.panel, **numbers_of(contents.forecasts))
    unit = min(unit_of(panel.weight), rules.unit)
    problem = pose(settled(panel), rules.loss, unit) if same is None else pose_numbers(same.problem, panel, unit)
    budget = budget.within(rules.exact.time_limit)
    try:
        answers = rules.exact.answers(problem, budget, Known(before=None if same is None else same.answers))
        solution = rules.exact.joined(problem, answers).in_weights(unit)
        if len(panel.laws.pins):  # pins about what nobody forecast must be possible too
            with_idle(panel, problem.in_weights(), solution)
    except InfeasiblePinsError as error:
        raise pins_in_conflict(panel, error.pins) from None
    return Edition(contents, contents.variables(), panel, problem, answers=answers, solution=solution)


def _unchanged(contents: Contents, last: Sequence[Edition]) -> Edition | None:
    """The last edition, if since then only numbers changed: no text is read again, and its worlds are possible."""
    if len(last) != 1:
        return None
    old = last[0].contents
    same = len(old.forecasts) == len(contents.forecasts) and all(
        one.place == other.place and one.judge == other.judge and one.event == other.event
        for one, other in zip(old.forecasts, contents.forecasts, strict=True)
    )
    return last[0] if same and old.laws == contents.laws and old.outcomes == contents.outcomes else None


class Reader:
    """Somebody who reads the answers of one moment."""

    __slots__ = ("__weakref__", "moment")

    def __init__(self, moment: int) -> None:
        self.moment = moment


class Shelf:
    """The last edition for each variable, and earlier ones as long as somebody reads them."""

    def __init__(self) -> None:
        self.moment = 0
        self.count = 0
        """The number of last editions."""
        self._last: dict[str, Edition] = {}
        self._gone: set[str] = set()
        self._readers: WeakSet[Reader] = WeakSet()

    def reader(self) -> Reader:
        """A reader of the present moment."""
        reader = Reader(self.moment)
        self._readers.add(reader)
        return reader

    def find(self, variables: Iterable[str], moment: int | None = None) -> Edition | None:
        """The edition about variables that was the last one at a moment (now, by default)."""
        for name in variables:
            found = self._last.get(name)
            while found is not None and moment is not None and found.since > moment:
                found = next((one for one in found.replaces if name in one.variables), None)
            if found is not None and not found.is_nothing:
                return found
        return None

    def about(self, variables: Iterable[str]) -> list[Edition]:
        """The last editions about variables."""
        found = {id(one): one for name in variables if (one := self._last.get(name)) is not None}
        return [one for one in found.values() if not one.is_nothing]

    def all(self, moment: int) -> list[Edition]:
        """The editions that were the last ones at a moment."""
        every = (self.find((name,), moment) for name in self._last)
        return list({id(one): one for one in every if one is not None}.values())

    def publish(self, editions: Sequence[Edition], variables: Iterable[str]) -> None:
        """Put editions in the place of all that is there about the variables and about those of the editions."""
        self.moment += 1
        names = {*variables, *(name for one in editions for name in one.variables)}
        before = {id(one): one for name in names if (one := self._last.get(name)) is not None}
        names |= {name for one in before.values() for name in one.variables}
        self.count += len(editions) - sum(not one.is_nothing for one in before.values())
        replaced = self._still_read(before.values())
        for one in editions:
            one.since, one.replaces = self.moment, replaced
            self._last.update(dict.fromkeys(one.variables, one))
            names -= one.variables
        self._bury(names, replaced)

    def _still_read(self, editions: Iterable[Edition]) -> tuple[Edition, ...]:
        """Those editions that somebody reads, or what is read of those before them."""
        moments = [reader.moment for reader in self._readers]
        oldest, newest = min(moments, default=math.inf), max(moments, default=-1)
        kept: dict[int, Edition] = {}
        for one in editions:
            if one.since <= oldest:
                one.replaces = ()
            kept |= {id(other): other for other in ((one,) if one.since <= newest else one.replaces)}
        return tuple(kept.values())

    def _bury(self, names: set[str], replaced: tuple[Edition, ...]) -> None:
        """Forget variables about which nothing is known any more, unless somebody reads what was known."""
        self._gone |= names
        if replaced:
            nothing = Edition.nothing(frozenset(names), self.moment, replaced)
            self._last.update(dict.fromkeys(names, nothing))
        elif not self._readers:
            for name in self._gone:
                if name in names or (name in self._last and self._last[name].is_nothing):
                    self._last.pop(name, None)
            self._gone.clear()
        else:
            for name in names:
                self._last.pop(name, None)


def scaled(answer: Answer, factor: float) -> Answer:
    """An answer with all sums of weights multiplied by a power of two."""
    if factor == 1:
        return answer
    return replace(
        answer,
        objective=answer.objective * factor,
        bound=answer.bound * factor,
        saved=answer.saved * factor,
        shortfall=answer.shortfall * factor,
    )


def is_same(part: Merged, other: Merged, factor: float) -> bool:
    """Whether a component is another one with its weights multiplied, so that what is proved of one holds for both."""
    if len(part) != len(other) or part.n_variables != other.n_variables or len(part.terms) != len(other.terms):
        return False
    other = other.times(factor)
    terms = replace(part.terms, limits=replace(part.terms.limits, pin=other.terms.limits.pin))
    return replace(part, event=other.event, origin=other.origin, terms=terms) == other
