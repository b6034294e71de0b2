"""What the answers on one piece of a sheet contradict, and what they allow."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.explain.fit.hull_point import nearest_in_hull
from coherently.explain.fit.mixture_program import GRACE, MixtureProgram
from coherently.explain.fit.nearest_answers import mended, mended_where_granted, nearest_in_few_worlds
from coherently.explain.fit.sheet_values import AnswerState, Band
from coherently.explain.fit.small_program import LOOSE, Enclosed, bounds_on_face
from coherently.explain.people_sentences import Wording
from coherently.explain.relations.relation import Assertion, Relation, RelationShape
from coherently.explain.relations.scope_relations import (
    FreshRelations,
    SimpleRelations,
    broken_relations,
    fresh_relations,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Set

    from numpy.typing import NDArray

    from coherently.explain.fit.answer_sheet import AnswerSheet
    from coherently.explain.fit.hull_point import HullPoint
    from coherently.explain.fit.pieces import SheetPiece
    from coherently.explain.fit.sheet_values import Item
    from coherently.solve.budget import Budget

    Vector = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Truths = NDArray[np.bool_]

EXACT = 1e-8
"""Misses and moves up to this are rounding errors."""
EDGE = 1e-9
"""What may be missing at the edge of a band."""
AT_ONCE = 16
"""Number of bands that are found between two looks at the clock."""
MOST_SETS = 3
"""Maximum number of larger sets of contradictory answers that are looked for in a piece."""


@dataclass(frozen=True, eq=False)
class PieceCheck:
    """A piece with its answers: `value` and `locked` have one entry per item of the piece."""

    answers: AnswerSheet
    piece: SheetPiece
    meant: Set[str]
    budget: Budget
    program: MixtureProgram

    @cached_property
    def value(self) -> Vector:
        """The answers, NaN where there is none."""
        return self.answers.value[self.piece.items]

    @cached_property
    def answered(self) -> Mask:
        """Which items have an answer."""
        return ~np.isnan(self.value)

    @cached_property
    def items(self) -> list[Item]:
        """The items of the piece."""
        return [self.answers.sheet.items[i] for i in self.piece.items.tolist()]

    def miss(self, active: Mask) -> float:
        """The least sum of misses of some answers; infinite if even the laws do not fit."""
        return float(self.program.misses(self.value[None], active)[0])

    @cached_property
    def _simple(self) -> SimpleRelations:
        return broken_relations(self.piece.scopes, self.value, self._families, GRACE, budget=self.budget)

    @cached_property
    def _families(self) -> list[frozenset[int]]:
        return self.answers.families(self.piece)

    @property
    def simple(self) -> list[Relation]:
        """All simple misfits, the worst first."""
        return self._simple.found

    @cached_property
    def senses(self) -> frozenset[Hashable]:
        """What these say."""
        return frozenset(one.sense for one in self.simple)

    @cached_property
    def fresh(self) -> FreshRelations:
        """The relations that must stay unbroken when new answers mend one of the broken ones."""
        return fresh_relations(self.piece.scopes, self.value, self._families, self.simple)

    def later(self, budget: Budget) -> PieceCheck:
        """The same, and what is known of it, with another budget."""
        made = replace(self, budget=budget)
        vars(made).update({name: known for name, known in vars(self).items() if name != "budget"})
        return made

    def at(self, value: Vector) -> PieceCheck:
        """The same with other answers on the items of the piece."""
        every = self.answers.value.copy()
        every[self.piece.items] = value
        made = replace(self, answers=replace(self.answers, value=every))
        vars(made)["_families"] = self._families  # it is the same for all answers
        return made

    @cached_property
    def _looked(self) -> tuple[list[Relation], bool]:
        """The misfits to be told, and whether what is not told of fits."""
        told = [misfit for misfit in self.simple if not self._is_explained(misfit)]
        sets, rest = self._sets(told)
        is_checked = self._simple.finished and not self.budget.is_over() and self.miss(rest) <= GRACE
        return sorted([*told, *sets], key=lambda misfit: (max(misfit.forecasts), sorted(misfit.forecasts))), is_checked

    def look(self) -> None:
        """Look for misfits now."""
        self._looked  # noqa: B018

    @property
    def misfits(self) -> list[Relation]:
        """The misfits to be told, in the order of the sheet: the simple ones that no other explains, then sets."""
        return self._looked[0]

    @property
    def is_checked(self) -> bool:
        """Whether all misfits were looked for, so that answers that none is about fit."""
        return self._looked[1]

    def _is_explained(self, misfit: Relation) -> bool:
        """Whether a pair on a ladder does not fit because of a step between, which is told."""
        if not _is_step(misfit):
            return False
        more, less = misfit.assertions
        after, before = self._steps
        return any(
            _is_between(low, more.worlds, less.worlds) for low in after.get((misfit.scope, more.worlds), ())
        ) or any(_is_between(high, more.worlds, less.worlds) for high in before.get((misfit.scope, less.worlds), ()))

    @cached_property
    def _steps(self) -> tuple[dict[tuple[int, int], list[int]], dict[tuple[int, int], list[int]]]:
        """Broken steps of ladders that are told: by scope and worlds, the worlds after them, and before them."""
        after: dict[tuple[int, int], list[int]] = {}
        before: dict[tuple[int, int], list[int]] = {}
        for misfit in self.simple:
            if _is_step(misfit) and not (self.meant and self.key(misfit) in self.meant):
                high, low = misfit.assertions
                after.setdefault((misfit.scope, high.worlds), []).append(low.worlds)
                before.setdefault((misfit.scope, low.worlds), []).append(high.worlds)
        return after, before

    def _sets(self, told: list[Relation]) -> tuple[list[Relation], Mask]:
        """Larger sets of answers that contradict each other, among those that nothing is told of, and the rest."""
        rest = self.answered.copy()
        for misfit in told:
            meant = self.key(misfit) in self.meant
            rest[[max(misfit.forecasts)] if meant else list(misfit.forecasts)] = False
        found: list[Relation] = []
        for relation in self._simple.sums:
            if len(found) < MOST_SETS and rest[list(relation.forecasts)].all():
                found.append(self._set(relation.forecasts))
                rest[max(relation.forecasts)] = False
        while len(found) < MOST_SETS and not self.budget.is_over() and self.miss(rest) > GRACE:
            members = rest.copy()
            for item in np.flatnonzero(rest).tolist():
                members[item] = False
                if self.miss(members) <= GRACE:
                    members[item] = True
            own = np.flatnonzero(members).tolist()
            found.append(self._set(own))
            rest[max(own)] = False
        return found, rest

    def _set(self, items: Iterable[int]) -> Relation:
        """Answers that contradict each other, in the order of the sheet."""
        assertions = tuple(Assertion((i,), float(self.value[i])) for i in sorted(items))
        return Relation("set", assertions, (False,) * len(assertions))

    def states(self) -> Iterator[tuple[str, AnswerState]]:
        """Each answer, and whether it fits; what a step of a ladder explains does not fit either."""
        wrong = {item for misfit in (*self.misfits, *self.simple) for item in misfit.forecasts}
        rest = AnswerState.FITS if self.is_checked else AnswerState.NOT_CHECKED
        for i in np.flatnonzero(self.answered).tolist():
            yield self.items[i].id, AnswerState.CONTRADICTS if i in wrong else rest

    def key(self, misfit: Relation) -> str:
        """A short text that stays the same while the same answers contradict each other in the same way."""
        names = [" and ".join(self.items[i].id for i in assertion.forecasts) for assertion in misfit.assertions]
        signs = zip(names, misfit.negated, (assertion.rest for assertion in misfit.assertions), strict=True)
        parts = sorted(f"{'not ' * turned}{'rest of ' * rest}{name}" for name, turned, rest in signs)
        text = "|".join([misfit.shape, str(misfit.granted), *parts])
        return f"k{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def sentence(self, misfit: Relation) -> str:
        """The misfit in words."""
        wording = Wording(self.items, self.value.tolist(), self._other_half)
        return wording.sentence(misfit)

    def _other_half(self, assertion: Assertion, one: int) -> Item | None:
        event = self.answers.sheet.event[self.piece.items[assertion.forecasts[0]]]
        return self.answers.other_half(int(event), int(self.piece.items[one]))

    @cached_property
    def standing(self) -> Mask:
        """The answers that narrow the bands of others: all but the last of what was meant."""
        standing = self.answered.copy()
        for misfit in self.misfits:
            if self.key(misfit) in self.meant:
                standing[max(misfit.forecasts)] = False
        return standing

    def bands(self) -> Iterator[Band]:
        """What the other answers allow for each item."""
        blamed = {item for misfit in self.misfits for item in misfit.forecasts}
        base = self._fitting(self.standing)
        moved = np.zeros(len(self.piece), np.bool_)
        if base is not None:
            moved = self.standing & ~(np.abs(base.value - self.value) <= EXACT)
        ends = self._ends(base, np.flatnonzero(~moved).tolist())
        for i, item in enumerate(self.items):
            others = self.standing.copy()
            others[i] = False
            own = self._fitting(others) if moved[i] else base
            if own is None or self.budget.is_over():
                continue
            enclosed = (self._ends(own, [i], others) if moved[i] else ends)[i] or self._logical(i)
            answer = float(self.value[i])
            if self.budget.is_over():
                return  # time ran out, so a nearer version may exist
            inside = enclosed.low - GRACE - EDGE <= answer <= enclosed.high + GRACE + EDGE
            fits = not self.answered[i] or inside or (self.is_checked and i not in blamed)
            yield Band(
                event=item.id,
                low=enclosed.low,
                high=enclosed.high,
                fits=bool(fits),
                mended=own.off(self.value, others) > GRACE,
            )

    def _ends(
        self, fitting: Fitting | None, items: list[int], active: Mask | None = None
    ) -> dict[int, Enclosed | None]:
        """What answers that fit together, but for itself, allow for each item, as far as time goes."""
        active = self.standing if active is None else active
        ends: dict[int, Enclosed | None] = {}
        for start in range(0, len(items), AT_ONCE):
            if fitting is None or self.budget.is_over():
                break
            some = items[start : start + AT_ONCE]
            ends |= zip(some, fitting.bounds(some, active), strict=True)
        return ends

    def _fitting(self, active: Mask) -> Fitting | None:
        """The nearest version of some answers that fits; None if none was found in time."""
        value = mended_where_granted(self.piece, self.value, active)
        # Once some answers contradict each other, the nearest mixture tells whether the others fit, too.
        mixture = self._nearest_in_worlds(active) if self._mixtures[-1] is not None else None
        if mixture is None:
            if float(self.program.misses(value[None], active)[0]) <= EXACT:
                return Fitting(value, self.program)
            mixture = self._nearest_in_worlds(active)
        if mixture is not None:
            near = mixture.share @ self._truth[mixture.worlds]
            if np.abs(near - value)[active].sum() <= EXACT:
                return Fitting(value, self.program)
            return Fitting(near, self.program, self._truth[mixture.face], LOOSE)
        found = self._mended(value, active)
        return None if found is None else Fitting(found, self.program, slack=LOOSE)

    @property
    def _truth(self) -> Truths:
        """The truth of items in all worlds, if these are listed."""
        return self.piece.scopes[0].joint

    @cached_property
    def _hull(self) -> _core.Hull:
        return _core.Hull(np.ascontiguousarray(self._truth).view(np.uint8))

    def _nearest_in_worlds(self, active: Mask) -> HullPoint | None:
        """The mixture nearest to some answers if all worlds are listed and nothing is conditional; None if unproved.

        Without one answer more or less the nearest mixture is nearly the same: the search goes on from the last one.
        """
        piece = self.piece
        whole = len(piece.scopes) == 1 and len(piece.scopes[0].items) == len(piece)
        if not whole or piece.conditional.any() or len(piece.pin_low) or self.budget.is_over():
            return None
        found = nearest_in_hull(self._hull, self.value, active, self._mixtures[-1])
        self._mixtures[-1] = self._mixtures[-1] or found
        return found

    @cached_property
    def _mixtures(self) -> list[HullPoint | None]:
        """The mixture that is nearest to all answers, once it was looked for."""
        return [None]

    def nearest(self, active: Mask, locked: Mask) -> Vector | None:
        """The nearest answers that fit together, where locked ones keep theirs; None if there are none."""
        value = mended_where_granted(self.piece, self.value, active, locked)
        return self._mended(value, active, locked)

    def _mended(self, value: Vector, active: Mask, locked: Mask | None = None) -> Vector | None:
        near = None
        if locked is None or not locked.any():
            near = nearest_in_few_worlds(self.piece, value, active)
        if near is not None:
            return near
        key = (value.tobytes(), active.tobytes(), None if locked is None else locked.tobytes())
        near = self._exact.get(key)
        if near is None:
            near = mended(self.answers.sheet, self.piece.items, value, active=active, budget=self.budget, locked=locked)
        if near is not None:
            self._exact[key] = near
        return near

    @cached_property
    def _exact(self) -> dict[tuple[bytes | None, ...], Vector]:
        """What the exact solver found, which takes its time: several contradictions ask it the same."""
        return {}

    def _logical(self, i: int) -> Enclosed:
        """What logic and laws allow for an item whose condition the other answers make impossible."""
        assert self.piece.columns is not None
        here = self.piece.columns.joint[self.piece.columns.given[:, i], i]
        return Enclosed(float(here.all()), float(here.any())) if len(here) else Enclosed(0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Fitting:
    """Answers that fit together, and the program over the mixtures that meet them.

    If they were moved, mixtures that meet them are made of the worlds of one face, with the truth of items in these.
    """

    value: Vector
    program: MixtureProgram
    face: Truths | None = None
    slack: float = 0.0

    def bounds(self, items: list[int], active: Mask) -> list[Enclosed | None]:
        """What the other active answers allow for each of some items."""
        if self.face is None:
            return self.program.bounds(items, self.value, active, self.slack)
        return [bounds_on_face(self.face, _without(active, item), item, self.value) for item in items]

    def off(self, value: Vector, active: Mask) -> float:
        """By how much some answers were moved, in all."""
        return float(np.abs(self.value - value)[active].sum())


def _without(active: Mask, item: int) -> Mask:
    others = active.copy()
    others[item] = False
    return others


def looked_at(
    answers: AnswerSheet, meant: Set[str], budget: Budget, pieces: Iterable[SheetPiece] | None = None
) -> list[PieceCheck]:
    """The pieces that can be checked, with their contradictions looked for as far as the time goes."""
    checks = [
        PieceCheck(answers=answers, piece=piece, meant=meant, budget=budget, program=MixtureProgram(piece))
        for piece in (answers.pieces() if pieces is None else pieces)
        if piece.columns is not None
    ]
    for check in checks:
        check.look()
    return checks


def place_on_sheet(check: PieceCheck, relation: Relation) -> tuple[int, int]:
    """Relations are told by the last question that each names, and the last item."""
    question = max(check.items[i].question for i in relation.forecasts)
    return question, int(check.piece.items[list(relation.forecasts)].max())


def in_sheet_order(checks: Iterable[PieceCheck]) -> list[tuple[PieceCheck, Relation]]:
    """The relations to be told, in the order of the sheet."""
    told = [(check, relation) for check in checks for relation in check.misfits]
    return sorted(told, key=lambda one: place_on_sheet(*one))


def _is_step(misfit: Relation) -> bool:
    """Whether it says that one answer is likelier than another that it implies."""
    return misfit.shape is RelationShape.IMPLIES and len(misfit.forecasts) == 2


def _is_between(middle: int, inner: int, outer: int) -> bool:
    """Whether worlds are more than some and fewer than others."""
    return inner & middle == inner != middle and middle & outer == middle != outer
