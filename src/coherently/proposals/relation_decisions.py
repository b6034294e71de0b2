"""Decisions of people about proposals: a file that grows by one line per decision, and keeps those of earlier files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coherently.errors import PanelError, Where
from coherently.panel import read_lines
from coherently.proposals.row_readings import lowered, same_length

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from coherently.proposals.proposal import ProposedLaw

DECISIONS_FILE: Final = "relations.decisions.jsonl"


class DecisionWord(StrEnum):
    """What a person may decide."""

    ACCEPT = "accept"
    REJECT = "reject"
    SAME_OCCASION = "same occasion"


@dataclass(frozen=True, slots=True)
class RelationDecision:
    """What somebody decided about a proposal, which its rule, relation and words identify; `law` is an edited one.

    A decision that all rows of the file are about the same occasion has no words.
    """

    decision: DecisionWord
    by: str
    date: str
    reason: str = ""
    rule: str = ""
    relation: str = ""
    words: tuple[str, ...] = ()
    law: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "decision", DecisionWord(self.decision))

    @property
    def key(self) -> tuple[str, str, tuple[str, ...], str]:
        """What the decision is about."""
        return self.rule, self.relation, self.words, self.source


def decision_about(proposal: ProposedLaw, texts: Mapping[str, str], **told: Any) -> RelationDecision:
    """A decision about a proposal, keyed by normalised words, so that it outlives the names of rows."""
    rule, relation, words, source = relation_key(proposal, texts)
    return RelationDecision(rule=rule, relation=relation, words=words, source=source, **told)


def relation_key(proposal: ProposedLaw, texts: Mapping[str, str]) -> tuple[str, str, tuple[str, ...], str]:
    """What decisions about a proposal have as their key."""
    return proposal.rule, proposal.relation.value, words_of(proposal, texts), proposal.source


def words_of(proposal: ProposedLaw, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The texts of the members, normalised, in their order."""
    told = (" ".join(lowered(same_length(texts.get(name, name))).split()) for name in proposal.members)
    ordered = proposal.key[1] == proposal.members
    return tuple(told) if ordered else tuple(sorted(told))


def read_decisions(source: str | os.PathLike[str]) -> tuple[RelationDecision, ...]:
    """The decisions of a file, in their order; a file that is not there has none."""
    path = Path(source)
    if not path.exists():
        return ()
    found = []
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            found.append(_decision(line, f"{path.name} line {number}", Where(path.name, number)))
    return tuple(found)


def _decision(line: str, place: str, where: Where) -> RelationDecision:
    allowed = ", ".join(DecisionWord)
    try:
        told = json.loads(line)
        told = {**told, "decision": DecisionWord(told["decision"]), "words": tuple(told.get("words", ()))}
        found = RelationDecision(**told)
    except (ValueError, KeyError, TypeError) as error:
        remedy = f'each line is an object such as {{"decision": "accept", "by": "Ann", ...}}; decisions are {allowed}'
        message = f"{place} is not a decision ({error}): {remedy}"
        raise PanelError(message, code="bad-decision", where=where, remedy=remedy) from None
    if not str(found.by).strip():
        raise PanelError(f"{place} does not say who decided: give 'by'", code="bad-decision", where=where)
    return found


def append_decisions(decisions: Iterable[RelationDecision], path: str | os.PathLike[str]) -> None:
    """Add decisions to the end of a file: earlier ones stay, and the last one about a proposal counts."""
    lines = [
        json.dumps({k: v for k, v in asdict(one).items() if v not in ("", ())}, ensure_ascii=False) for one in decisions
    ]
    with Path(path).open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
