"""Families of proposals as people review them: one decision for a ladder or a set, in people's words."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from coherently.events.event_words import words_or_none
from coherently.proposals.proposal import ProposalStatus, ProposedLaw, RelationName, Strength, weaker
from coherently.proposals.relation_decisions import DecisionWord, RelationDecision, decision_about, relation_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.proposals.proposal_list import Proposals

SHOWN_MEMBERS: Final = 8
"""Number of members of a proposal that a sentence names."""

SENTENCES: Final = {
    RelationName.IMPLIES: "If {first} comes true, so does {second}.",
    RelationName.LADDER: "Each of these means the next: {shown}.",
    RelationName.EXCLUDES: "At most one of these comes true: {shown}.",
    RelationName.AT_MOST: "At most one of these comes true: {shown}.",
    RelationName.EQUIVALENT: "These mean the same: {shown}.",
    RelationName.COMPLEMENT: "Either {first} or {second} comes true, and never both.",
    RelationName.EXACTLY: "Exactly one of these comes true: {shown}.",
    RelationName.PARTITION: "Exactly one of these comes true: {shown}.",
}
"""What each relation says, in people's words."""


class ReviewState(StrEnum):
    """Whether a family waits for a decision, is only a question, or was decided."""

    WAITING = "waiting"
    ASK = "ask"
    DECIDED = "decided"


@dataclass(frozen=True, slots=True)
class FamilyReview:
    """Proposals about which one decision is made; `key` stays the same as long as their words do."""

    key: str
    name: str
    state: ReviewState
    proposals: tuple[ProposedLaw, ...]

    @property
    def strength(self) -> Strength:
        """The weakest class among them."""
        return weaker(*(one.strength for one in self.proposals))


def family_reviews(found: Proposals) -> list[FamilyReview]:
    """The families in the order of review; one of which a part is decided, or only asked, stands in parts.

    >>> import coherently as co
    >>> found = co.relate(["Cut by June 30, 2026", "Cut by December 31, 2026"])
    >>> [(one.state.value, one.strength.value, len(one.proposals)) for one in family_reviews(found)]
    [('waiting', 'likely', 1)]
    """
    reviews = []
    for name, proposals in found.families():
        for state in ReviewState:
            own = tuple(one for one in proposals if _state(one) is state)
            if own:
                reviews.append(FamilyReview(_key(own, found.questions), name, state, own))
    return reviews


def _state(one: ProposedLaw) -> ReviewState:
    if one.status is ProposalStatus.QUARANTINED:
        return ReviewState.WAITING
    if one.status is not ProposalStatus.PROPOSED:
        return ReviewState.DECIDED
    return ReviewState.ASK if one.strength is Strength.ASK else ReviewState.WAITING


def _key(proposals: Sequence[ProposedLaw], texts: Mapping[str, str]) -> str:
    told = sorted(repr(relation_key(one, texts)) for one in proposals)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:20]


def family_decisions(
    proposals: Sequence[ProposedLaw],
    texts: Mapping[str, str],
    *,
    word: DecisionWord,
    by: str,
    date: str,
    reason: str = "",
    law: str = "",
) -> list[RelationDecision]:
    """One decision for each proposal of a family; a `law` of a person's own replaces the first, and the rest goes."""
    first, *rest = proposals
    told = {"by": by, "date": date, "reason": reason}
    other = DecisionWord.REJECT if law else word
    return [
        decision_about(first, texts, decision=word, law=law, **told),
        *(decision_about(one, texts, decision=other, **told) for one in rest),
    ]


def relation_sentence(proposal: ProposedLaw, texts: Mapping[str, str]) -> str:
    """What a proposal says, in people's words.

    >>> one = ProposedLaw("deadline ladder", RelationName.IMPLIES, ("june", "december"), Strength.LIKELY)
    >>> relation_sentence(one, {"june": "Cut by June", "december": "Cut by December"})
    'If “Cut by June” comes true, so does “Cut by December”.'
    """
    if proposal.told or len(proposal.members) == 1:
        return _told_sentence(proposal, texts)
    names = [f"“{texts.get(member, member)}”" for member in proposal.members]
    more = f" and {len(names) - SHOWN_MEMBERS} more" if len(names) > SHOWN_MEMBERS else ""
    shown = ", ".join(names[:SHOWN_MEMBERS]) + more
    return SENTENCES[proposal.relation].format(shown=shown, first=names[0], second=names[1])


def _told_sentence(proposal: ProposedLaw, texts: Mapping[str, str]) -> str:
    """A law of its own text: what a compound means, or what a person wrote."""

    def called(name: str) -> str:
        bare = name.strip('"')
        return f"“{texts.get(bare, bare)}”"

    left, means, right = proposal.law.partition(" <-> ")
    if means and len(proposal.members) == 1 and (words := words_or_none(right, called)) is not None:
        return f"{called(left)} means {words}."
    words = words_or_none(proposal.law, called)
    return f"{proposal.law}." if words is None else f"{words[0].upper()}{words[1:]}."
