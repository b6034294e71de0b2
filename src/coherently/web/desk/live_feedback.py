"""Feedback on the answers of one judge: bands, contradictions, and the least change of each."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from coherently.solve.budget import Budget
from coherently.web.desk.fitting import Mend, least_change
from coherently.web.desk.sheet_check import PieceCheck
from coherently.web.desk.sheet_parts.answer_sheet import on_sheet
from coherently.web.desk.sheet_values import Answered, Clash, Feedback, SheetSetting

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from coherently.web.desk.misfits import Misfit
    from coherently.web.desk.sheet_parts.answer_sheet import AnswerSheet
    from coherently.web.desk.sheet_values import AnswerChange, Band

Asked: TypeAlias = tuple[SheetSetting, tuple[Answered, ...], frozenset[str]]
"""What feedback depends on."""
KEPT = 500
"""How many are kept."""
TIME = 0.25
"""Seconds that feedback may take."""


def feedback(
    setting: SheetSetting, answers: Sequence[Answered], meant: Set[str] = frozenset(), time_limit: float = TIME
) -> Feedback:
    r"""What a judge's answers allow and contradict; `meant` has the keys of contradictions that the judge meant.

    >>> from coherently.web.desk import Answered, Item, SheetSetting
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
    known = _RECENT.get(asked)
    if known is None:
        known = _feedback(*asked, Budget().within(time_limit))
        if known.checked:
            _RECENT.put(asked, known)
    return known


class _Recent:
    """Feedback given lately: a page is asked for again and again while nobody changes anything."""

    def __init__(self, size: int) -> None:
        self._size, self._known, self._lock = size, OrderedDict[Asked, Feedback](), Lock()

    def get(self, asked: Asked) -> Feedback | None:
        with self._lock:
            found = self._known.get(asked)
            if found is not None:
                self._known.move_to_end(asked)
            return found

    def put(self, asked: Asked, told: Feedback) -> None:
        with self._lock:
            self._known[asked] = told
            while len(self._known) > self._size:
                self._known.popitem(last=False)


_RECENT = _Recent(KEPT)


def _feedback(setting: SheetSetting, answers: tuple[Answered, ...], meant: frozenset[str], budget: Budget) -> Feedback:
    sheet = on_sheet(setting, answers)
    if sheet is None:
        return Feedback(checked=False)
    bands: dict[str, Band] = {}
    clashes: list[Clash] = []
    for piece in sheet.pieces():
        check = PieceCheck(sheet, piece, meant, budget)
        if budget.is_over() or piece.columns is None:
            continue
        bands |= {band.event: band for band in check.bands()}
        clashes += [_clash(check, misfit) for misfit in check.misfits]
    known = [item.id for item, told in zip(sheet.sheet.items, sheet.known.tolist(), strict=True) if told]
    place = {item.id: i for i, item in enumerate(sheet.sheet.items)}
    clashes.sort(key=lambda clash: (clash.question, max(place[event] for event in clash.events)))
    found = tuple(bands[event] for event in known if event in bands)
    return Feedback(found, tuple(clashes), len(found) == len(known) and not budget.is_over())


def fit(
    setting: SheetSetting, answers: Sequence[Answered], key: str, meant: Set[str] = frozenset()
) -> tuple[AnswerChange, ...]:
    """The least change, in whole per cents, that makes one contradiction fit; empty if there is none.

    `Clash.stuck` of the feedback says why there is none.
    """
    told = feedback(setting, answers, meant - {key}, 4 * TIME)
    return next((clash.changes for clash in told.contradictions if clash.key == key), ())


def clashes_of(answers: AnswerSheet, meant: Set[str], budget: Budget) -> tuple[Clash, ...]:
    """Only the contradictions of some answers, without changes."""
    checks = [PieceCheck(answers, piece, meant, budget) for piece in answers.pieces() if piece.columns is not None]
    found = [
        _clash(check, misfit, with_change=False) for check in checks if not budget.is_over() for misfit in check.misfits
    ]
    return tuple(sorted(found, key=lambda clash: clash.question))


def _clash(check: PieceCheck, misfit: Misfit, *, with_change: bool = True) -> Clash:
    """A misfit in words, with its least change unless the judge meant it."""
    key = check.key(misfit)
    meant = key in check.meant
    least = Mend() if meant or not with_change else least_change(check, misfit)
    own = sorted(misfit.items)
    locked = check.answers.locked[check.piece.items]
    return Clash(
        key,
        tuple(check.items[i].id for i in own),
        max(check.items[i].question for i in own),
        check.sentence(misfit),
        least.changes,
        tuple(check.items[i].id for i in own if locked[i]),
        least.stuck,
        True if meant else None,
    )


def warm_up() -> None:
    """Load what feedback needs, so that the first judge does not wait for it."""
    from coherently.web.desk.sheet_values import Item

    events = ("p", "q", "p & q", "q given p", "~q given p")
    items = tuple(Item(f"e{i}", event, event, i) for i, event in enumerate(events))
    feedback(SheetSetting(items), [Answered(item.id, 0.6, locked=item.id == "e0") for item in items], time_limit=10.0)
