"""The search for relations: all rules over all rows, with what contradicts itself left as questions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from coherently.proposals.implications import Implications
from coherently.proposals.proposal import ProposedLaw, RelationName, Strength
from coherently.proposals.row_readings import read_row
from coherently.proposals.rules.compound_rules import CompoundFormula, compound_rules
from coherently.proposals.rules.deadline_rules import deadline_rules
from coherently.proposals.rules.name_rules import name_rules
from coherently.proposals.rules.negation_rules import negation_rules
from coherently.proposals.rules.quantity_rules import quantity_rules
from coherently.proposals.rules.scope_rules import SCOPES, scope_rules
from coherently.proposals.rules.similar_words import similar_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coherently.proposals.question_rows import QuestionRow
    from coherently.proposals.row_readings import RowReading


@dataclass(frozen=True, slots=True)
class RelationConflict:
    """An event that proposals make impossible, or two that they make equal, and the proposals that do it."""

    events: tuple[str, ...]
    proposals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """All that was found, in a fixed order."""

    readings: tuple[RowReading, ...]
    proposals: tuple[ProposedLaw, ...]
    formulas: tuple[CompoundFormula, ...]
    conflicts: tuple[RelationConflict, ...]
    unread: tuple[str, ...]


def search(rows: Sequence[QuestionRow], scopes: Sequence[tuple[str, str]] = SCOPES) -> SearchOutcome:
    """Run all rules; rows are in the order of their names, so that the order of a file does not matter."""
    sizes = Counter(row.group for row in rows)
    readings = tuple(read_row(row, is_alone=sizes[row.group] == 1) for row in rows)
    found: list[ProposedLaw] = [
        *name_rules(readings),
        *quantity_rules(readings),
        *deadline_rules(readings),
        *negation_rules(readings),
        *scope_rules(readings, scopes),
    ]
    compounds = list(compound_rules(readings))
    found += [one for one in compounds if isinstance(one, ProposedLaw)]
    formulas = tuple(one for one in compounds if isinstance(one, CompoundFormula))
    told = {frozenset(pair) for one in found for pair in combinations(one.members, 2)}
    made = {one.row for one in formulas}
    plain = [one for one in readings if one.name not in made]
    found += [one for one in similar_rules(plain) if frozenset(one.members) not in told]
    numbered = _numbered(_distinct(found))
    settled, conflicts = _settled(numbered)
    used = {member for one in settled for member in one.members} | {one.row for one in formulas}
    unread = tuple(row.name for row in rows if row.name not in used)
    return SearchOutcome(readings, tuple(settled), formulas, conflicts=tuple(conflicts), unread=unread)


def _distinct(found: Iterable[ProposedLaw]) -> list[ProposedLaw]:
    """Each relation once, in its strongest class."""
    best: dict[object, ProposedLaw] = {}
    for one in found:
        if len(set(one.members)) < len(one.members):
            continue
        known = best.get(one.key)
        if known is None or one.strength.rank < known.strength.rank:
            best[one.key] = one
    return _sparse(list(best.values()))


def _sparse(found: list[ProposedLaw]) -> list[ProposedLaw]:
    """Without pairs that a larger proposal of the same class or a stronger one says too."""
    larger: dict[frozenset[str], int] = {}
    for one in found:
        if len(one.members) > 2 and one.relation in (
            RelationName.AT_MOST,
            RelationName.EXACTLY,
            RelationName.PARTITION,
        ):
            for i, first in enumerate(one.members):
                for second in one.members[i + 1 :]:
                    pair = frozenset((first, second))
                    larger[pair] = min(larger.get(pair, 9), one.strength.rank)
    return [
        one
        for one in found
        if one.relation is not RelationName.EXCLUDES or larger.get(frozenset(one.members), 9) > one.strength.rank
    ]


def _numbered(found: list[ProposedLaw]) -> list[ProposedLaw]:
    ordered = sorted(found, key=lambda one: (one.strength.rank, one.family, one.rule, one.relation.value, one.members))
    return [replace(one, id=f"r{number}") for number, one in enumerate(ordered, 1)]


def _settled(found: list[ProposedLaw]) -> tuple[list[ProposedLaw], list[RelationConflict]]:
    """Proposals that together make an event impossible become questions; the conflict says which."""
    conflicts: list[RelationConflict] = []
    while True:
        sure = [one for one in found if one.strength is not Strength.ASK]
        broken = list(Implications(sure).impossible())
        if not broken:
            return found, conflicts
        doubtful = set()
        for name, chain in broken:
            conflicts.append(RelationConflict((name,), tuple(one.id for one in chain)))
            doubtful |= {one.id for one in chain}
        found = [replace(one, strength=Strength.ASK) if one.id in doubtful else one for one in found]
