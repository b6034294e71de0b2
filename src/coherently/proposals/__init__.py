"""Relations found in the words of questions: laws that are proposed, and used only after a person accepts them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from coherently.panel import Panel
from coherently.proposals.family_review import (
    FamilyReview,
    ReviewState,
    family_decisions,
    family_reviews,
    relation_sentence,
)
from coherently.proposals.implications import Implications
from coherently.proposals.law_files import LawLine, LawOrigin, accepted_laws, read_origins, told_relations
from coherently.proposals.proposal import ProposalStatus, ProposedLaw, RelationName, Strength
from coherently.proposals.proposal_list import Proposals, summary
from coherently.proposals.question_rows import QuestionRow, read_questions
from coherently.proposals.relation_decisions import (
    DECISIONS_FILE,
    DecisionWord,
    RelationDecision,
    append_decisions,
    decision_about,
    read_decisions,
    relation_key,
)
from coherently.proposals.rules.deadline_rules import declared_dates
from coherently.proposals.rules.occasions import SAME_OCCASION
from coherently.proposals.rules.quantity_rules import declared_quantities
from coherently.proposals.rules.scope_rules import SCOPES
from coherently.proposals.search import search

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coherently.proposals.question_rows import Questions
    from coherently.proposals.row_readings import RowReading
    from coherently.proposals.rules.quantity_rules import DeclaredQuantity

__all__ = [
    "DECISIONS_FILE",
    "SAME_OCCASION",
    "DecisionWord",
    "FamilyReview",
    "Implications",
    "LawLine",
    "LawOrigin",
    "ProposalStatus",
    "Proposals",
    "ProposedLaw",
    "QuestionRow",
    "RelationDecision",
    "RelationName",
    "ReviewState",
    "Strength",
    "accepted_laws",
    "append_decisions",
    "decision_about",
    "family_decisions",
    "family_reviews",
    "read_decisions",
    "read_origins",
    "relate",
    "relation_key",
    "relation_sentence",
    "summary",
    "told_relations",
]


def relate(
    questions: Questions,
    *,
    panel: Panel | None = None,
    labels: Mapping[str, str] | None = None,
    decisions: str | os.PathLike[str] | Iterable[RelationDecision] = (),
    scopes: Sequence[tuple[str, str]] = (),
) -> Proposals:
    """Propose laws from the words of questions: a file, a panel, texts, or mappings with fields of a platform.

    Nothing is used until it is accepted. `panel` adds what its judges think of each proposal, and withdraws what its
    outcomes violate; a panel as questions does both. `decisions` are those of people, or a file of them. `scopes` are
    more pairs of verbs, the first of which implies the second, such as ("win", "enter").

    >>> import coherently as co
    >>> found = co.relate(["Cut by June 30, 2026", "Cut by December 31, 2026", "Rain on May 1, 2026"])
    >>> [(one.strength.value, one.law) for one in found.proposals]
    [('likely', '"Cut by June 30, 2026" -> "Cut by December 31, 2026"')]
    >>> found.unread
    ('Rain on May 1, 2026',)
    """
    table = read_questions(questions, labels)
    found = search(table.rows, (*SCOPES, *scopes))
    made = Proposals(
        digest=table.digest,
        questions={row.name: row.text for row in table.rows},
        proposals=found.proposals,
        formulas=found.formulas,
        quantities=_declared(found.readings),
        conflicts=found.conflicts,
        unread=found.unread,
        notes=table.notes,
    )
    made = made.decided(read_decisions(decisions) if isinstance(decisions, str | os.PathLike) else decisions)
    asked = questions if panel is None and isinstance(questions, Panel) else panel
    return made if asked is None else made.on_panel(asked)


def _declared(readings: Sequence[RowReading]) -> tuple[DeclaredQuantity, ...]:
    """Numbers and dates that may be declared, each by a name of its own."""
    counted = tuple(declared_quantities(readings))
    taken = {one.name for one in readings} | {one.name for one in counted}
    return (*counted, *declared_dates(readings, taken))
