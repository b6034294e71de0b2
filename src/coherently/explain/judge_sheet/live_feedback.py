"""Feedback on the answers of one judge: bands, contradictions, and the least change of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from coherently.explain.fit.answer_sheet import on_sheet
from coherently.explain.fit.least_change import Mend, least_change
from coherently.explain.fit.piece_check import looked_at, place_on_sheet
from coherently.explain.fit.sheet_values import Answered, AnswerState, Clash, Feedback, SheetSetting
from coherently.explain.judge_sheet.attempts import Attempts, processor_budget
from coherently.explain.recent_values import Lately, kept_with_owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from coherently.explain.fit.answer_sheet import AnswerSheet
    from coherently.explain.fit.piece_check import PieceCheck
    from coherently.explain.fit.pieces import SheetPiece
    from coherently.explain.fit.sheet_values import AnswerChange, Band
    from coherently.explain.relations.relation import Relation
    from coherently.solve.budget import Budget

KEPT, KEPT_CLASHES, KEPT_ANSWERS = 500, 2_000, 500
"""How much feedback is kept, the contradictions of how many judges, and the feedback on how many answers to a piece."""
TIME, LONGEST = 0.25, 4.0
"""Seconds of the processor that feedback may take, at first and when it is asked for again."""


@dataclass(frozen=True, slots=True)
class ToldClashes:
    """Contradictions: `checked` says that they are all, `finished` is false if more time would find more."""

    clashes: tuple[Clash, ...] = ()
    checked: bool = True
    finished: bool = True


def feedback(
    setting: SheetSetting, answers: Sequence[Answered], meant: Set[str] = frozenset(), time_limit: float = TIME
) -> Feedback:
    r"""What a judge's answers allow and contradict; `meant` has the keys of contradictions that the judge meant.

    >>> from coherently.explain.judge_sheet import Answered, Item, SheetSetting
    >>> items = Item("e1", "p", "a recession", 1), Item("e2", "q", "a cut", 2), Item("e3", "p & q", "both", 3)
    >>> answers = [Answered("e1", 0.30), Answered("e2", 0.55), Answered("e3", 0.36)]
    >>> told = feedback(SheetSetting(items), answers)
    >>> [(band.event, round(band.low, 2), round(band.high, 2), band.fits) for band in told.bands]
    [('e1', 0.36, 0.81, False), ('e2', 0.33, 1.0, True), ('e3', 0.0, 0.3, False)]
    >>> told.contradictions[0].sentence.replace("\xa0", " ")
    'A recession and a cut together (36 %) cannot be likelier than a recession alone (30 %).'
    >>> [(change.event, change.old, change.new) for change in told.contradictions[0].changes]
    [('e1', 0.3, 0.33), ('e3', 0.36, 0.33)]
    """
    asked = (setting, tuple(answers), frozenset(meant))
    return _LATELY.get(asked, time_limit, lambda seconds: _feedback(*asked, processor_budget(seconds)))


_LATELY = Attempts[Feedback](KEPT, LONGEST)
_CLASHES = Lately[ToldClashes](KEPT_CLASHES)


def _feedback(setting: SheetSetting, answers: tuple[Answered, ...], meant: frozenset[str], budget: Budget) -> Feedback:
    """Contradictions come first, since nothing may look as if it fitted that does not; then bands, then changes."""
    sheet = on_sheet(setting, answers)
    if sheet is None:
        return Feedback(states=_states(answers, []))
    keys = {piece: _PieceKey.of(sheet, piece, meant) for piece in sheet.pieces() if piece.columns is not None}
    told = {piece: known for piece, key in keys.items() if (known := _told_lately(piece).get(key)) is not None}
    checks = looked_at(sheet, meant, budget, [piece for piece in keys if piece not in told])
    bands = {check: tuple(check.bands()) for check in checks}
    placed = {check: _placed(check) for check in checks}
    for check in checks:
        told[check.piece] = ToldPiece(bands[check], tuple(placed[check]), dict(check.states()))
    if not budget.is_over():
        for check in checks:
            _told_lately(check.piece).put(keys[check.piece], told[check.piece])
    clashes = sorted((one for piece in told.values() for one in piece.clashes), key=lambda one: one.place)
    band_of = {band.event: band for piece in told.values() for band in piece.bands}
    events = [item.id for item, is_known in zip(sheet.sheet.items, sheet.known.tolist(), strict=True) if is_known]
    return Feedback(
        tuple(band_of[event] for event in events if event in band_of),
        tuple(one.clash for one in clashes),
        _states(answers, [piece.states for piece in told.values()]),
        finished=not budget.is_over(),
    )


class PlacedClash(NamedTuple):
    """A contradiction, and its place among those of a sheet."""

    place: tuple[int, int]
    clash: Clash


class ToldPiece(NamedTuple):
    """All that is told of the answers of a piece."""

    bands: tuple[Band, ...]
    clashes: tuple[PlacedClash, ...]
    states: dict[str, AnswerState]


class _PieceKey(NamedTuple):
    """What a piece is told by: its answers, which of them are locked, and what was meant."""

    value: bytes
    locked: bytes
    meant: frozenset[str]

    @classmethod
    def of(cls, sheet: AnswerSheet, piece: SheetPiece, meant: frozenset[str]) -> _PieceKey:
        return cls(sheet.value[piece.items].tobytes(), sheet.locked[piece.items].tobytes(), meant)


@kept_with_owner
def _told_lately(_piece: SheetPiece) -> Lately[ToldPiece]:
    """A judge changes one answer at a time: the other pieces stay as they were told."""
    return Lately(KEPT_ANSWERS)


def _placed(check: PieceCheck, *, with_change: bool = True) -> list[PlacedClash]:
    return [
        PlacedClash(place_on_sheet(check, misfit), _clash(check, misfit, with_change=with_change))
        for misfit in check.misfits
    ]


def _states(answers: Sequence[Answered], pieces: Iterable[dict[str, AnswerState]]) -> dict[str, AnswerState]:
    """Whether each answer fits; those of no piece cannot be checked."""
    found = {event: state for states in pieces for event, state in states.items()}
    last = {each.event: each.probability is not None and not each.abstained for each in answers}
    return {event: found.get(event, AnswerState.TOO_MUCH) for event, given in last.items() if given}


def fit(
    setting: SheetSetting, answers: Sequence[Answered], key: str, meant: Set[str] = frozenset()
) -> tuple[AnswerChange, ...]:
    """The least change, in whole per cents, that makes one contradiction fit; empty if there is none.

    `Clash.stuck` of the feedback says why there is none.
    """
    told = feedback(setting, answers, meant - {key}, 4 * TIME)
    return next((clash.changes for clash in told.contradictions if clash.key == key), ())


def clashes_of(setting: SheetSetting, answers: Sequence[Answered], meant: Set[str], budget: Budget) -> ToldClashes:
    """Only the contradictions of some answers, without changes: the same as those of feedback."""
    asked = (setting, tuple(answers), frozenset(meant))
    known = _CLASHES.get(asked)
    if known is None:
        known = _clashes(*asked, budget)
        if known.finished:
            _CLASHES.put(asked, known)
    return known


def _clashes(
    setting: SheetSetting, answers: tuple[Answered, ...], meant: frozenset[str], budget: Budget
) -> ToldClashes:
    sheet = on_sheet(setting, answers)
    checks = [] if sheet is None else looked_at(sheet, meant, budget)
    placed = sorted((one for check in checks for one in _placed(check, with_change=False)), key=lambda one: one.place)
    checked = Feedback(states=_states(answers, [dict(check.states()) for check in checks])).checked
    return ToldClashes(tuple(one.clash for one in placed), checked, finished=not budget.is_over())


def _clash(check: PieceCheck, misfit: Relation, *, with_change: bool = True) -> Clash:
    """A misfit in words, with its least change unless the judge meant it."""
    key = check.key(misfit)
    meant = key in check.meant
    least = Mend() if meant or not with_change else least_change(check, misfit)
    own = sorted(misfit.forecasts)
    locked = check.answers.locked[check.piece.items]
    return Clash(
        key=key,
        events=tuple(check.items[i].id for i in own),
        question=max(check.items[i].question for i in own),
        sentence=check.sentence(misfit),
        changes=least.changes,
        locked=tuple(check.items[i].id for i in own if locked[i]),
        stuck=least.stuck,
        meant=True if meant else None,
    )


def warm_up() -> None:
    """Load what feedback needs, so that the first judge does not wait for it."""
    from coherently.explain.fit.sheet_values import Item

    events = ("p", "q", "p & q", "q given p", "~q given p")
    items = tuple(Item(f"e{i}", event, event, i) for i, event in enumerate(events))
    feedback(SheetSetting(items), [Answered(item.id, 0.6, locked=item.id == "e0") for item in items], time_limit=10.0)
