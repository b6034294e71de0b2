"""The least change that makes one contradiction fit: a projection, and then whole per cents that fit as shown."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.explain.fit.mixture_program import GRACE
from coherently.explain.fit.sheet_values import AnswerChange
from coherently.explain.relations.relation import RelationShape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from coherently.explain.fit.piece_check import PieceCheck
    from coherently.explain.relations.relation import Relation

    Vector = NDArray[np.float64]
    Mask = NDArray[np.bool_]

MOVED = 1e-6
"""Changes up to this are rounding errors."""
MOST_ROUNDED = 12
"""Maximum number of answers of which both neighbouring whole per cents are tried."""
FEW = 4
"""Up to this many answers, also the next but one whole per cents are tried."""
TIES = 5
"""Decimals of per cents to which distances are compared."""
FIRST = 8
"""Number of combinations that are looked at first: mostly one of them will do."""
MOST_TRIED = 400
"""Maximum number of combinations of whole per cents that are tried."""

ALL_LOCKED = "All of these are locked. Unlock one, or say that you meant it."
NOTHING = "No change of the answers that are not locked makes this fit. Unlock one, or say that you meant it."
NO_WHOLE = "No whole per cents near to the least change fit together."
LATE = "There was no time to look for the least change. Change an answer, or say that you meant it."


class Mend(NamedTuple):
    """The changes, or why there are none."""

    changes: tuple[AnswerChange, ...] = ()
    stuck: str | None = None


def least_change(check: PieceCheck, misfit: Relation) -> Mend:
    """The smallest change, in whole per cents, that resolves a misfit; locked answers stay, and what fits still fits.

    Answers are projected on what fits, all but those that other misfits can spare: these keep their own sentences. If
    that breaks something, all answers of the piece are made to fit.
    """
    locked = check.answers.locked[check.piece.items] & check.answered
    if locked[list(misfit.forecasts)].all():
        return Mend(stuck=ALL_LOCKED)
    for active in _stages(check, misfit):
        if check.budget.is_over():
            return Mend(stuck=LATE)
        near = check.nearest(active, locked & active)
        if near is None:
            continue
        for new in _resolving(check, misfit, _whole(check.value, near, active & ~locked), active):
            # What fits together and breaks no relation has no set to be told of either.
            fits = (active is check.answered and check.fresh.fits_at(new, GRACE)) or _fits_as_shown(check, misfit, new)
            if check.budget.is_over():  # then not all was looked at that could contradict the new answers
                return Mend(stuck=LATE)
            if fits:
                return Mend(_changes(check, new))
    return Mend(stuck=NOTHING)


def whole_change(check: PieceCheck) -> Mend:
    """The smallest change, in whole per cents, after which all answers of a piece fit."""
    near = check.nearest(check.answered, np.zeros(len(check.value), np.bool_))
    if near is None:
        return Mend(stuck=LATE)
    for new in _fitting(check, _whole(check.value, near, check.answered), check.answered):
        if check.budget.is_over():
            return Mend(stuck=LATE)
        if not check.at(new).simple:
            return Mend(_changes(check, new))
    return Mend(stuck=NO_WHOLE)


def _stages(check: PieceCheck, misfit: Relation) -> Iterator[Mask]:
    """The answers that are to fit together: without those that other misfits can spare, then all."""
    kept = check.answered.copy()
    kept[list(_spared(check, misfit))] = False
    if not np.array_equal(kept, check.answered):
        yield kept
    yield check.answered


def _spared(check: PieceCheck, misfit: Relation) -> set[int]:
    """Answers without which no other misfit is left, the fewest that a greedy choice finds.

    What is not told, since a step of the same ladder explains it, goes with the step.
    """
    told = {id(one) for one in check.misfits}
    others = [one for one in check.misfits if one is not misfit]
    others += [one for one in check.simple if id(one) not in told and set(one.forecasts).isdisjoint(misfit.forecasts)]
    left = [set(one.forecasts).difference(misfit.forecasts) for one in others]
    spared: set[int] = set()
    while left := [items for items in left if items and items.isdisjoint(spared)]:
        count = Counter(item for items in left for item in items)
        spared.add(max(count, key=lambda item: (count[item], item)))
    return spared


def _whole(old: Vector, near: Vector, free: Mask) -> Vector:
    """Rows of whole per cents near to the nearest answers that fit, the nearest first; what does not move stays."""
    moved = np.flatnonzero(free & (np.abs(near - old) > MOVED))
    target = 100.0 * near[moved]
    below = np.floor(target + MOVED)
    away = np.round(target - below, TIES)
    if len(moved) > MOST_ROUNDED:
        choices = np.where(away > 0.5, 1.0, 0.0)[None]
    else:
        few = len(moved) <= FEW
        steps = _steps(len(moved))
        far = ((steps - away) ** 2).sum(axis=1)
        if not few:  # many answers that move often share a sum, which should stay
            far += (steps - away).sum(axis=1) ** 2
        # Of whole per cents that are equally near, the greater ones come first, as in ordinary rounding.
        order = np.lexsort((-steps.sum(axis=1), np.round(far, TIES)))
        choices = steps[order[:MOST_TRIED]]
    new = np.tile(old, (len(choices), 1))
    new[:, moved] = np.round(np.clip(below + choices, 0.0, 100.0)) / 100.0
    return new


@lru_cache(maxsize=MOST_ROUNDED + 1)
def _steps(count: int) -> Vector:
    """All ways for so many answers to take whole per cents around them."""
    return np.array(list(product((0.0, 1.0, -1.0, 2.0) if count <= FEW else (0.0, 1.0), repeat=count)))


def _resolving(check: PieceCheck, misfit: Relation, news: Vector, active: Mask) -> Iterator[Vector]:
    """Those of some new answers that resolve a misfit, fit together, and break nothing of which no part is broken."""
    number = next((i for i, one in enumerate(check.simple) if one is misfit), None)
    for some in (news[:FIRST], news[FIRST:]):
        left = some[misfit.violations_at(some) <= GRACE]
        yield from _fitting(check, left[~check.fresh.broken_at(left, number, GRACE)], active)


def _fitting(check: PieceCheck, news: Vector, active: Mask) -> Iterator[Vector]:
    """Those of some new answers that fit together where they are active, one by one."""
    while len(news) and not check.budget.is_over():
        fits = np.flatnonzero(check.program.misses(news, active, GRACE) <= GRACE)
        if not len(fits):
            return
        yield news[fits[0]]
        news = news[fits[0] + 1 :]


def _fits_as_shown(check: PieceCheck, misfit: Relation, new: Vector) -> bool:
    """Whether everything that fits now still fits with new answers, and the misfit is not told again."""
    after = check.at(new)
    senses = {one.sense for one in after.simple}
    if misfit.sense in senses or not senses <= check.senses:
        return False
    # Larger sets that are told now must not have fitted before.
    sets = [sorted(one.forecasts) for one in after.misfits if one.shape is RelationShape.SET]
    return all(check.miss(np.isin(np.arange(len(new)), own)) > GRACE for own in sets)


def _changes(check: PieceCheck, new: Vector) -> tuple[AnswerChange, ...]:
    """The answers that move, in the order of the sheet."""
    return tuple(
        AnswerChange(item.id, float(old), float(now))
        for item, old, now in zip(check.items, check.value, new, strict=True)
        if not np.isnan(old) and abs(now - old) > MOVED
    )
