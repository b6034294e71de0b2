"""Who contradicts what, in people's words, each with the least change that fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.explain.verdicts import CheckStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.explain import Check, Finding
    from coherently.explain.fit.sheet_values import AnswerChange
    from coherently.report.event_titles import EventTitles

EXPLAINED = 12
"""Maximum number of judges whose contradictions are put into words."""
SAID = 3
"""Maximum number of sentences on each."""
CHANGES = 8
"""Maximum number of changes that are listed for each."""
NOTICED = 0.005
"""A number that moves by less is not said to move: half of a whole per cent."""
QUIET = 12
"""Maximum number of judges without contradictions who are named."""


@dataclass(frozen=True, slots=True)
class LeastChange:
    """An answer that would move, as probabilities."""

    title: str
    old: float
    new: float


@dataclass(frozen=True, slots=True)
class ContradictingJudge:
    """A judge, or the averages (without a name): sentences, the least change, and how many changes are not listed."""

    name: str | None
    sentences: tuple[str, ...]
    changes: tuple[LeastChange, ...] = ()
    digits: int = 2
    more: int = 0


@dataclass(frozen=True, slots=True)
class WhoContradicts:
    """The judges whose contradictions people can notice, and the averages.

    `count` of `total` judges are such, also those beyond the first `EXPLAINED`. `slight` ones contradict themselves by
    less than half a per cent. `fitting` are the names of the others, if they are few. `open` judges were not decided.
    """

    judges: tuple[ContradictingJudge, ...]
    count: int
    total: int
    slight: int
    open: int
    fitting: tuple[str, ...]
    averages: ContradictingJudge | None
    averages_open: bool = False

    @property
    def nothing(self) -> bool:
        """Whether nothing that people can notice contradicts anything."""
        return not self.count and self.averages is None


def who_contradicts(found: Check, titles: EventTitles) -> WhoContradicts:
    """The worst contradictions of the worst judges, then those of the averages."""
    judges = found.judges
    worst = judges.worst(len(judges))
    told = {name: _told(name, finding, titles) for name, finding in judges.explained(EXPLAINED).items()}
    noticed = tuple(one for one in told.values() if one is not None)
    number = {name: i for i, name in enumerate(judges.names)}
    far = [name for name in worst if name not in told and judges.verdicts[number[name]].distance >= NOTICED]
    fitting = [name for name, verdict in zip(judges.names, judges.verdicts, strict=True) if verdict.coherent]
    averages = _told(None, found.means, titles) if len(judges) > 1 and found.coherent is False else None
    return WhoContradicts(
        judges=noticed,
        count=len(noticed) + len(far),
        total=len(judges),
        slight=len(worst) - len(noticed) - len(far),
        open=judges.count(CheckStatus.UNDECIDED),
        fitting=tuple(fitting) if len(fitting) <= QUIET else (),
        averages=averages,
        averages_open=found.coherent is None,
    )


def _told(name: str | None, finding: Finding, titles: EventTitles) -> ContradictingJudge | None:
    """What is said of a finding; None if people would not notice it."""
    sentences = finding.sentences("people")[:SAID]
    changes = [one for one in _changes(finding) if abs(one.new - one.old) >= NOTICED - 1e-9]
    if not sentences and not changes:
        return None
    rows = tuple(LeastChange(titles.alone(one.event), one.old, one.new) for one in changes[:CHANGES])
    fine = any(abs(100 * old - round(100 * old)) > 1e-6 for one in changes for old in (one.old, one.new))
    return ContradictingJudge(
        name, sentences or ("Small differences add up.",), rows, 3 if fine else 2, more=len(changes) - len(rows)
    )


def _changes(finding: Finding) -> Sequence[AnswerChange]:
    """The least change in whole per cents; the exact one if there is none."""
    repair = finding.repair
    return repair.whole or repair.changes
