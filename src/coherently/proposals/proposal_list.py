"""All proposals about some questions: what was found, what people decided, and the laws that this leaves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from coherently.contract import Described
from coherently.contract.description import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    ListOf,
    MapOf,
    ObjectOf,
    OneWord,
    OrNull,
    Record,
    RecordField,
)
from coherently.errors import ContradictionError, MethodError, PanelError, counted
from coherently.proposals.implications import Implications
from coherently.proposals.law_files import accepted_laws, laws_text
from coherently.proposals.panel_gaps import outcomes_of, panel_gaps, refuted
from coherently.proposals.proposal import (
    ProposalStatus,
    ProposedLaw,
    RelationName,
    Strength,
    proposal_of,
    values_of,
)
from coherently.proposals.quarantine import admitted
from coherently.proposals.relation_decisions import DecisionWord, RelationDecision, relation_key
from coherently.proposals.rules.compound_rules import CompoundFormula
from coherently.proposals.rules.occasions import SAME_OCCASION
from coherently.proposals.rules.quantity_rules import DeclaredQuantity
from coherently.proposals.search import RelationConflict
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coherently.panel import Panel

_QUOTE: Final = ObjectOf(
    "evidence",
    (
        RecordField("row", TEXT, "the name of the question"),
        RecordField("span", OrNull(ListOf(WHOLE)), "where the words begin and end in its text; null if elsewhere"),
        RecordField("words", TEXT, "the words"),
    ),
)
_GAP: Final = ObjectOf(
    "a gap",
    (
        RecordField("violated_by", WHOLE, "the number of judges who contradict the law"),
        RecordField("of", WHOLE, "the number of judges who forecast two of its members or more"),
        RecordField("mean_gap", NUMBER, "by how much, on average over these judges"),
    ),
)
_PROPOSAL: Final = ObjectOf(
    "a proposal",
    (
        RecordField("id", TEXT, "its name in this list"),
        RecordField("law", TEXT, "the law, in the language of laws"),
        RecordField("relation", OneWord(lambda: RelationName), "how the members hang together"),
        RecordField("members", ListOf(TEXT), "the questions, those of a ladder strongest first"),
        RecordField("class", OneWord(lambda: Strength), "how sure the rule is"),
        RecordField("rule", TEXT, "the rule that found it"),
        RecordField("family", TEXT, "what it is reviewed together with", optional=True),
        RecordField("evidence", ListOf(_QUOTE), "the words that it was read from"),
        RecordField("assumes", ListOf(TEXT), "what must hold besides"),
        RecordField("counterexample", TEXT, "the question that would refute it"),
        RecordField("panel", OrNull(_GAP), "what a panel thinks of it", optional=True),
        RecordField("source", TEXT, "who proposes it"),
        RecordField("status", OneWord(lambda: ProposalStatus), "what became of it; only what is accepted is a law"),
        RecordField("accepted_by", TEXT, "who accepted it, and when", optional=True),
        RecordField("told", TEXT, "the law, where it is not that of the relation", optional=True),
    ),
)
_FORMULA: Final = ObjectOf(
    "a formula",
    (
        RecordField("row", TEXT, "the name of the question"),
        RecordField("formula", TEXT, "what it means in terms of others"),
        RecordField("class", OneWord(lambda: Strength), "how sure the rule is"),
        RecordField("rule", TEXT, "the rule that found it"),
        RecordField("assumes", ListOf(TEXT), "what must hold besides"),
        RecordField("family", TEXT, "what it is reviewed together with"),
    ),
)
_QUANTITY: Final = ObjectOf(
    "a quantity",
    (
        RecordField("name", TEXT, "the name of the variable"),
        RecordField("formulas", MapOf(TEXT), "for each question, the formula about the variable"),
        RecordField("family", TEXT, "the proposals that the declaration stands for"),
        RecordField("kind", OneWord(lambda: ("number", "date")), "what the variable is", optional=True, since=2),
    ),
)
_PARTITION: Final = ObjectOf(
    "a partition",
    (
        RecordField("proposal", TEXT, "the proposal"),
        RecordField("members", ListOf(TEXT), "the questions, at most one of which comes true"),
        RecordField("exhaustive", FLAG, "whether one of them must come true"),
        RecordField("why", ListOf(TEXT), "what that assumes"),
    ),
)
_CONFLICT: Final = ObjectOf(
    "a conflict",
    (
        RecordField("events", ListOf(TEXT), "an event that became impossible, or two that became equal"),
        RecordField("proposals", ListOf(TEXT), "the proposals that do it"),
    ),
)
PROPOSALS: Final = Record(
    "proposals",
    2,
    "Laws that the words of questions suggest, what people decided about them, and why.",
    (
        RecordField("digest", TEXT, "the digest of the questions"),
        RecordField("questions", MapOf(TEXT), "the text of each question, by its name"),
        RecordField("proposals", ListOf(_PROPOSAL), "what is proposed"),
        RecordField("formulas", ListOf(_FORMULA), "questions that are made of others"),
        RecordField("quantities", ListOf(_QUANTITY), "quantities that may be declared as variables"),
        RecordField("partitions", ListOf(_PARTITION), "sets of which at most one comes true", derived=True),
        RecordField("unread", ListOf(TEXT), "questions that no rule read"),
        RecordField("conflicts", ListOf(_CONFLICT), "proposals that contradict each other, which became questions"),
        RecordField("notes", ListOf(TEXT), "how the questions were read"),
    ),
)
"""Version 1 has numbers as quantities, and no dates."""
_SETS: Final = (RelationName.AT_MOST, RelationName.EXACTLY, RelationName.PARTITION)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Proposals(Value, Described):
    """Proposals of laws, with what people decided; `laws()` has what is accepted, and nothing else.

    >>> import coherently as co
    >>> found = co.relate(["BTC above $80k on Dec 31, 2026", "BTC above $70k on Dec 31, 2026"])
    >>> found
    <Proposals: 1 certain, 0 likely, 0 to ask; 0 accepted>
    >>> found.laws()
    []
    >>> len(found.accept("certain", by="Ann").laws())
    3
    """

    record: ClassVar[Any] = PROPOSALS

    digest: str
    questions: Mapping[str, str]
    proposals: tuple[ProposedLaw, ...]
    formulas: tuple[CompoundFormula, ...] = ()
    quantities: tuple[DeclaredQuantity, ...] = ()
    conflicts: tuple[RelationConflict, ...] = ()
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        """Count the proposals."""
        return len(self.proposals)

    def __repr__(self) -> str:
        count = [sum(one.strength is strength for one in self.proposals) for strength in Strength]
        accepted = sum(one.status is ProposalStatus.ACCEPTED for one in self.proposals)
        return f"<Proposals: {count[0]} certain, {count[1]} likely, {count[2]} to ask; {accepted} accepted>"

    @property
    def undecided(self) -> tuple[ProposedLaw, ...]:
        """What waits for a person: proposals of class certain or likely, and those in quarantine."""
        return tuple(
            one
            for one in self.proposals
            if one.status is ProposalStatus.QUARANTINED
            or (one.status is ProposalStatus.PROPOSED and one.strength is not Strength.ASK)
        )

    def families(self) -> list[tuple[str, list[ProposedLaw]]]:
        """The proposals by family, in the order of review: conflicts, what the panel contradicts, then the largest."""
        grouped: dict[str, list[ProposedLaw]] = {}
        for one in self.proposals:
            grouped.setdefault(one.family, []).append(one)
        broken = {name for conflict in self.conflicts for name in conflict.proposals}

        def order(item: tuple[str, list[ProposedLaw]]) -> tuple[bool, float, int, str]:
            gap = max((one.panel.mean_gap for one in item[1] if one.panel), default=0.0)
            events = len({member for one in item[1] for member in one.members})
            return not any(one.id in broken for one in item[1]), -gap, -events, item[0]

        return sorted(grouped.items(), key=order)

    def accept(self, strength: str, *, by: str, date: str = "") -> Proposals:
        """Accept all proposals of the rules of class certain; other classes are decided one by one."""
        if strength != Strength.CERTAIN:
            raise MethodError(
                f"accept {strength!r}: only proposals of class certain may be accepted together; "
                "likely ones are decided family by family",
                code="bad-option",
            )
        who = f"{by}, {date}" if date else by
        changed = [
            replace(one, status=ProposalStatus.ACCEPTED, accepted_by=who)
            if one.strength is Strength.CERTAIN and one.status is ProposalStatus.PROPOSED
            else one
            for one in self.proposals
        ]
        return replace(self, proposals=tuple(changed))

    def decided(self, decisions: Iterable[RelationDecision]) -> Proposals:
        """The same with decisions, the last of which about a proposal counts; those about other proposals wait."""
        last: dict[object, RelationDecision] = {}
        is_one_occasion = False
        for given in decisions:
            if given.decision is DecisionWord.SAME_OCCASION:
                is_one_occasion = True
            else:
                last[given.key] = given
        told = [_on_one_occasion(one) for one in self.proposals] if is_one_occasion else list(self.proposals)
        sources = _sources(told)
        changed = []
        for one in told:
            decision = last.get(relation_key(one, self.questions))
            changed.append(one if decision is None else _decide(one, decision, sources))
        return replace(self, proposals=tuple(changed))

    def add(self, values: Any, accepted: Iterable[str] = ()) -> Proposals:
        """Take in proposals of a person or a program: they stay in quarantine until a person lets them out."""
        more = admitted(values, self.questions, [*self.laws(), *accepted], first=len(self.proposals) + 1)
        return replace(self, proposals=(*self.proposals, *more))

    def on_panel(self, panel: Panel) -> Proposals:
        """The same with what a panel thinks of each; accepted laws that its outcomes violate are withdrawn."""
        outcomes = outcomes_of(panel)
        changed, withdrawn = [], []
        for one, gap in zip(self.proposals, panel_gaps(self.proposals, panel), strict=True):
            is_refuted = refuted(one, outcomes)
            if is_refuted and one.status is ProposalStatus.ACCEPTED:
                withdrawn.append(one.law)
            status = ProposalStatus.WITHDRAWN if is_refuted else one.status
            changed.append(replace(one, panel=gap, status=status))
        notes = tuple(f"withdrawn, because an outcome violates it: {law}" for law in withdrawn)
        return replace(self, proposals=tuple(changed), notes=(*self.notes, *notes))

    def laws(self) -> list[str]:
        """The accepted laws as statements, for `laws=` of a panel; nothing that nobody accepted is among them."""
        return [line.text for line in accepted_laws(self.proposals, self.quantities)]

    def laws_text(self) -> str:
        """A laws file: what is accepted, each with class, rule and who accepted it, then all else as comments.

        Raises a `ContradictionError` if what is accepted makes an event impossible.
        """
        lines = accepted_laws(self.proposals, self.quantities)
        self._check_accepted([line.text for line in lines])
        return laws_text(lines, self.proposals, self.digest)

    def consequences(self) -> list[str]:
        """What the accepted laws make of single events, in sentences: equal events that nobody called so."""
        accepted = [one for one in self.proposals if one.status is ProposalStatus.ACCEPTED]
        told = []
        for one, other, chain in Implications(accepted).equal():
            if not any(step.relation is RelationName.EQUIVALENT for step in chain):
                ids = ", ".join(dict.fromkeys(step.id for step in chain))
                told.append(f"{one!r} and {other!r} become one event, by {ids}")
        return told

    def _check_accepted(self, laws: list[str]) -> None:
        accepted = [one for one in self.proposals if one.status is ProposalStatus.ACCEPTED]
        for name, chain in Implications(accepted).impossible():
            steps = "\n".join(f"  {one.id}: {one.law}" for one in chain)
            raise ContradictionError(
                f"the accepted proposals make {name!r} impossible, or certain, by\n{steps}\nReject one of them."
            )
        from coherently.events import Events
        from coherently.panel import read_laws

        read_laws(laws, Events())

    def _plain(self) -> dict[str, Any]:
        sets = [one for one in self.proposals if one.relation in _SETS]
        return {
            "digest": self.digest,
            "questions": dict(self.questions),
            "proposals": [values_of(one) for one in self.proposals],
            "formulas": [
                {
                    "row": one.row,
                    "formula": one.formula,
                    "class": one.strength.value,
                    "rule": one.rule,
                    "assumes": list(one.assumes),
                    "family": one.family,
                }
                for one in self.formulas
            ],
            "quantities": [
                {"name": one.name, "formulas": dict(one.formulas), "family": one.family, "kind": one.kind}
                for one in self.quantities
            ],
            "partitions": [
                {
                    "proposal": one.id,
                    "members": list(one.members),
                    "exhaustive": one.relation is not RelationName.AT_MOST,
                    "why": list(one.assumes),
                }
                for one in sets
            ],
            "unread": list(self.unread),
            "conflicts": [{"events": list(one.events), "proposals": list(one.proposals)} for one in self.conflicts],
            "notes": list(self.notes),
        }

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Proposals:
        return cls(
            digest=values["digest"],
            questions=dict(values["questions"]),
            proposals=tuple(_checked(one) for one in values["proposals"]),
            formulas=tuple(
                CompoundFormula(
                    row=one["row"],
                    formula=one["formula"],
                    strength=Strength(one["class"]),
                    rule=one["rule"],
                    assumes=tuple(one["assumes"]),
                    family=one["family"],
                )
                for one in values["formulas"]
            ),
            quantities=tuple(
                DeclaredQuantity(one["name"], tuple(one["formulas"].items()), one["family"], one.get("kind", "number"))
                for one in values["quantities"]
            ),
            conflicts=tuple(
                RelationConflict(tuple(one["events"]), tuple(one["proposals"])) for one in values["conflicts"]
            ),
            unread=tuple(values["unread"]),
            notes=tuple(values["notes"]),
        )


def _checked(values: dict[str, Any]) -> ProposedLaw:
    """The proposal, if its law is that of its relation or told: the words that people read are what is used."""
    found = proposal_of(values)
    if found.law != values["law"]:
        raise PanelError(
            f"proposal {found.id}: the law is {values['law']!r}, but its relation and members say {found.law!r}: "
            "give the law that you mean as 'told', or correct the members",
            code="bad-proposal",
        )
    return found


def _on_one_occasion(one: ProposedLaw) -> ProposedLaw:
    """The proposal without the assumption that all rows of the file are about one occasion."""
    if SAME_OCCASION not in one.assumes:
        return one
    left = tuple(assumed for assumed in one.assumes if assumed != SAME_OCCASION)
    return replace(one, assumes=left)


def _sources(proposals: Iterable[ProposedLaw]) -> dict[object, set[str]]:
    """Who proposes the same relation."""
    found: dict[object, set[str]] = {}
    for one in proposals:
        found.setdefault(one.key, set()).add(one.source)
    return found


def _decide(one: ProposedLaw, decision: RelationDecision, sources: Mapping[object, set[str]]) -> ProposedLaw:
    """The proposal after a decision; out of quarantine leads a reason, or a second source that says the same."""
    if decision.decision is DecisionWord.REJECT:
        return replace(one, status=ProposalStatus.REJECTED)
    is_vouched = bool(decision.reason.strip()) or len(sources[one.key]) > 1
    if one.status is ProposalStatus.QUARANTINED and not is_vouched:
        return one
    if one.strength is Strength.ASK and not (decision.reason.strip() or decision.law):
        return one
    who = f"{decision.by}, {decision.date}" if decision.date else decision.by
    return replace(one, status=ProposalStatus.ACCEPTED, accepted_by=who, told=decision.law or one.told)


def summary(found: Proposals) -> str:
    """Count what was found and what waits, in a sentence."""
    waiting = len(found.undecided)
    accepted = sum(one.status is ProposalStatus.ACCEPTED for one in found.proposals)
    classes = ", ".join(
        f"{sum(one.strength is strength for one in found.proposals)} {strength}" for strength in Strength
    )
    return (
        f"{counted(len(found), 'proposal')} about {counted(len(found.questions), 'question')} ({classes}); "
        f"{accepted} accepted, {waiting} waiting for a decision, {counted(len(found.unread), 'question')} unread."
    )
