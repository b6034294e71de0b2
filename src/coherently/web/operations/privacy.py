"""Whose numbers nobody is shown yet: those that judges gave by their links in a round that is still open.

Until the round closes, no page, file or call of the facilitator has such a number together with its judge. Numbers
without names are shown once so many judges gave new ones to the same event that none is told by being the only one:
numbers of earlier rounds do not count, since it is known whose they are. Files and versions have one judge's numbers
side by side, and who answered what is known, so that they wait until the round closes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coherently.explain.judge_sheet import Spread
from coherently.web.refusals import RefusedError
from coherently.web.store.resources.round_resource import ANSWERING

if TYPE_CHECKING:
    from collections.abc import Collection

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
    given: dict[str, set[str]] = {}
    for record in private:
        given.setdefault(record.event, set()).add(record.judge)
    events = {event for event, judges in given.items() if len(judges) < FEW}
    return Veil(frozenset(record.judge for record in private), frozenset(events))


def _wordless(clash: Clash) -> Clash:
    """A contradiction without its sentence, which has the numbers; what it is about may be known."""
    return replace(clash, sentence="")


def refuse_private(records: Collection[ForecastRecord], privacy: Privacy) -> None:
    """Refuse a file or a version of answers among which some are private."""
    if any(privacy.covers(record) for record in records):
        raise _too_early("It would have numbers of the round that is still open, by which judges could be told.")


def has_private(bench: Workbench, panel: str) -> bool:
    """Whether a file or a version of the answers that stand would have private numbers."""
    privacy = privacy_of(bench, panel)
    return any(privacy.covers(record) for record in bench.store.forecasts.latest(panel))


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
