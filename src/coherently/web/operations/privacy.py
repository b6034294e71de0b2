"""Whose numbers nobody is shown yet: those that judges gave by their links in a round that is still open.

Until the round closes, no page, file or call of the facilitator has such a number together with its judge. Numbers
without names are shown once so many judges gave some that none of them is told by being the only one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import SystemRandom
from typing import TYPE_CHECKING

from coherently.explain.judge_sheet import Spread
from coherently.web.refusals import RefusedError
from coherently.web.store.resources.round_resource import ANSWERING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from coherently.explain.judge_sheet import Clash, Overview
    from coherently.web.access.workbench import Workbench
    from coherently.web.store.store_records import ForecastRecord

FEW = 2
"""Numbers of fewer judges than this are not shown, even without names."""


@dataclass(frozen=True, slots=True)
class Privacy:
    """The number of the round that is open, or None, and the judges who answer by a link."""

    round: int | None
    invited: frozenset[str]

    def covers(self, record: ForecastRecord) -> bool:
        """Whether nobody may be shown whose number this is."""
        return record.round == self.round and record.judge in self.invited and record.probability is not None


def privacy_of(bench: Workbench, panel: str) -> Privacy:
    """What is private in a panel now; judges that a file brought have no link, and nobody promised them anything."""
    present = bench.store.rounds.current(panel)
    invited = [each.id for each in bench.store.judges.list(panel) if each.has_link or each.revoked_at is not None]
    return Privacy(present.number if present.phase in ANSWERING else None, frozenset(invited))


@dataclass(frozen=True, slots=True)
class Veil:
    """What the answers that stand hide: `judges` whose numbers are private, and `events` of which too few are known."""

    judges: frozenset[str]
    events: frozenset[str]

    def overview(self, found: Overview) -> Overview:
        """The overview without named numbers, and without numbers that only one judge gave."""
        return replace(
            found,
            spreads=tuple(Spread(one.event, one.count) if one.event in self.events else one for one in found.spreads),
            contradictions={
                judge: tuple(map(_wordless, clashes)) if judge in self.judges else clashes
                for judge, clashes in found.contradictions.items()
            },
            of_averages=tuple(
                _wordless(clash) if self.events.intersection(clash.events) else clash for clash in found.of_averages
            ),
        )


def veil_of(records: Collection[ForecastRecord], privacy: Privacy) -> Veil:
    """What must be hidden of some answers that stand."""
    private = [record for record in records if privacy.covers(record)]
    answered: dict[str, set[str]] = {}
    for record in records:
        if record.probability is not None:
            answered.setdefault(record.event, set()).add(record.judge)
    events = {record.event for record in private if len(answered[record.event]) < FEW}
    return Veil(frozenset(record.judge for record in private), frozenset(events))


def _wordless(clash: Clash) -> Clash:
    """A contradiction without its sentence, which has the numbers; what it is about may be known."""
    return replace(clash, sentence="")


def shown_names(names: Mapping[str, str], private: Collection[str]) -> dict[str, str]:
    """Names for a file or a version; judges whose numbers are private get made-up ones, in a random order."""
    if 0 < len(private) < FEW:
        raise _too_early("With a single judge, this would be that judge's own numbers.")
    aliases = _aliases(set(names.values()))
    order = sorted(private)
    SystemRandom().shuffle(order)
    return {**names, **dict(zip(order, aliases, strict=False))}


def _aliases(taken: Collection[str]) -> Iterable[str]:
    number = 0
    while True:
        number += 1
        if f"Judge {number}" not in taken:
            yield f"Judge {number}"


def is_private(bench: Workbench, panel: str) -> bool:
    """Whether a file of the whole panel, with all that was ever said, would have private numbers."""
    privacy = privacy_of(bench, panel)
    return privacy.round is not None and bool(privacy.invited) and bench.store.forecasts.count(panel) > 0


def refuse_while_private(bench: Workbench, panel: str) -> None:
    """Refuse what has names beside numbers while some of them are private."""
    if is_private(bench, panel):
        raise _too_early("It has the numbers of judges with their names, and the round is still open.")


def _too_early(message: str) -> RefusedError:
    return RefusedError(
        409, "round-open", message, allowed="once the round is closed", remedy="Close the round, then ask again."
    )
