"""A proposal: a law that words or fields suggest, with evidence, what it assumes and what would refute it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, Final

from coherently.events import quote_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.proposals.row_readings import RowReading

RULES: Final = "rules 1.0"
"""The source of proposals that the rules of this package make."""


class Strength(StrEnum):
    """The class of a proposal: by structure alone, by a named convention, or only a question."""

    CERTAIN = "certain"
    LIKELY = "likely"
    ASK = "ask"

    @property
    def rank(self) -> int:
        """0 for the strongest."""
        return list(Strength).index(self)


def weaker(*strengths: Strength) -> Strength:
    """The weakest of some classes."""
    return max(strengths, key=lambda one: one.rank)


class RelationName(StrEnum):
    """How the members of a proposal hang together; those of a ladder stand strongest first."""

    IMPLIES = "implies"
    EXCLUDES = "excludes"
    EQUIVALENT = "equivalent"
    COMPLEMENT = "complement"
    AT_MOST = "at_most"
    EXACTLY = "exactly"
    PARTITION = "partition"
    LADDER = "ladder"


class ProposalStatus(StrEnum):
    """What became of a proposal; only what is accepted is ever a law."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class QuotedWords:
    """Words of a row, as evidence; `span` is where they stand in its text, None if they are in another field."""

    row: str
    words: str
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PanelGap:
    """What a panel thinks of a proposal: how many of the judges that can be asked contradict it, and by how much."""

    violated_by: int
    of: int
    mean_gap: float


@dataclass(frozen=True, slots=True)
class ProposedLaw:
    """A law that is proposed and, unless its status says so, not used.

    >>> ProposedLaw("deadline ladder", RelationName.IMPLIES, ("cut by june", "cut by december"), Strength.LIKELY).law
    '"cut by june" -> "cut by december"'
    """

    rule: str
    relation: RelationName
    members: tuple[str, ...]
    strength: Strength
    evidence: tuple[QuotedWords, ...] = ()
    assumes: tuple[str, ...] = ()
    counterexample: str = ""
    family: str = ""
    id: str = ""
    source: str = RULES
    status: ProposalStatus = ProposalStatus.PROPOSED
    panel: PanelGap | None = None
    accepted_by: str = ""
    told: str = ""

    @property
    def law(self) -> str:
        """The proposal in the language of laws: that of its relation, unless another is `told`."""
        return self.told or law_text(self.relation, self.members)

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """What makes two proposals one: relation and members, in any order where order does not matter."""
        ordered = self.relation in (RelationName.IMPLIES, RelationName.LADDER)
        return self.relation.value, self.members if ordered else tuple(sorted(self.members))


def law_text(relation: RelationName, members: Sequence[str]) -> str:
    """A relation in the language of laws.

    >>> law_text(RelationName.LADDER, ["a", "b", "c"])
    '(a -> b) & (b -> c)'
    """
    names = [quote_name(member) for member in members]
    sign = "<->" if relation is RelationName.EQUIVALENT else "->"
    if relation is RelationName.EXCLUDES:
        return f"~({' & '.join(names)})"
    if relation is RelationName.COMPLEMENT:
        return " <-> ~".join(names)
    if relation is RelationName.IMPLIES or (relation is RelationName.EQUIVALENT and len(names) == 2):
        return f" {sign} ".join(names)
    if relation in (RelationName.LADDER, RelationName.EQUIVALENT):  # a <-> b <-> c says that an odd number comes true
        return " & ".join(f"({a} {sign} {b})" for a, b in pairwise(names))
    word = "at_most" if relation is RelationName.AT_MOST else "exactly"
    return f"{word}(1; {', '.join(names)})"


Literal = tuple[str, bool]
"""The name of an event, and whether it comes true."""


def clauses(relation: RelationName, members: Sequence[str]) -> Iterator[tuple[Literal, Literal]]:
    """What a relation says about pairs: if the first literal holds, so does the second."""
    if relation in (RelationName.IMPLIES, RelationName.LADDER):
        for a, b in pairwise(members):
            yield (a, True), (b, True)
    elif relation is RelationName.EQUIVALENT:
        for a, b in pairwise(members):
            yield (a, True), (b, True)
            yield (b, True), (a, True)
    else:
        for a, b in combinations(members, 2):
            yield (a, True), (b, False)
        if relation is RelationName.COMPLEMENT or (
            relation in (RelationName.EXACTLY, RelationName.PARTITION) and len(members) == 2
        ):
            yield (members[0], False), (members[1], True)


def quote(reading: RowReading, span: tuple[int, int]) -> QuotedWords:
    """Words of a reading's text; what stands beyond the row's own text is from another field."""
    words = reading.words_at(span)
    if span[1] > len(reading.row.text) or not words:
        return QuotedWords(reading.name, words or str(reading.row.option or reading.row.strike))
    return QuotedWords(reading.name, reading.row.text[span[0] : span[1]], span)


def values_of(proposal: ProposedLaw) -> dict[str, Any]:
    """The proposal in plain values, as files have it."""
    gap = proposal.panel
    return {
        "id": proposal.id,
        "law": proposal.law,
        "relation": proposal.relation.value,
        "members": list(proposal.members),
        "class": proposal.strength.value,
        "rule": proposal.rule,
        "family": proposal.family,
        "evidence": [
            {"row": one.row, "span": None if one.span is None else list(one.span), "words": one.words}
            for one in proposal.evidence
        ],
        "assumes": list(proposal.assumes),
        "counterexample": proposal.counterexample,
        "panel": None if gap is None else {"violated_by": gap.violated_by, "of": gap.of, "mean_gap": gap.mean_gap},
        "source": proposal.source,
        "status": proposal.status.value,
        "accepted_by": proposal.accepted_by,
        "told": proposal.told,
    }


def proposal_of(values: dict[str, Any]) -> ProposedLaw:
    """The proposal that was told in plain values."""
    gap = values.get("panel")
    return ProposedLaw(
        rule=values["rule"],
        relation=RelationName(values["relation"]),
        members=tuple(values["members"]),
        strength=Strength(values["class"]),
        evidence=tuple(
            QuotedWords(one["row"], one["words"], None if one.get("span") is None else (one["span"][0], one["span"][1]))
            for one in values["evidence"]
        ),
        assumes=tuple(values["assumes"]),
        counterexample=values["counterexample"],
        family=values.get("family", ""),
        id=values["id"],
        source=values["source"],
        status=ProposalStatus(values["status"]),
        panel=None if gap is None else PanelGap(gap["violated_by"], gap["of"], float(gap["mean_gap"])),
        accepted_by=values.get("accepted_by", ""),
        told=values.get("told", ""),
    )
