"""The review of proposals at a terminal: one decision for a family of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from coherently.cli.terminal import show
from coherently.errors import MethodError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.proposals import Proposals, ProposedLaw, RelationDecision

QUESTION = "[a]ccept, [r]eject, [e]dit the law, [s]ame occasion for all rows, [n]ext, [q]uit? "
MEMBERS = 6
"""Number of members of a proposal that are shown by their texts."""


def family_lines(family: tuple[str, Sequence[ProposedLaw]], found: Proposals) -> Iterator[str]:
    """What a person sees of a family."""
    name, proposals = family
    yield ""
    yield name
    for one in proposals:
        yield f"  {one.id} {one.strength} ({one.rule}), {one.status}: {one.law}"
        for member in one.members[:MEMBERS]:
            yield f"      {member}: {found.questions.get(member, member)}"
        for assumed in one.assumes:
            yield f"      assumes: {assumed}"
        if one.panel is not None:
            yield f"      {one.panel.violated_by} of {one.panel.of} judges contradict it, by {one.panel.mean_gap:.2f}"
        if one.counterexample:
            yield f"      {one.counterexample}"


def reviewed(found: Proposals, *, by: str | None, date: str) -> list[RelationDecision]:
    """Ask about each family that waits; the answers are lines of the standard input."""
    from coherently.proposals import DecisionWord, RelationDecision

    who = by or _answer("Your name: ")
    if not who:
        raise MethodError("a review needs a name: give --by NAME")
    made: list[RelationDecision] = []
    for family in found.families():
        waiting = [one for one in family[1] if one in found.undecided]
        if not waiting:
            continue
        show(*family_lines((family[0], waiting), found))
        answer = _answer(QUESTION)
        while answer == "s":
            made.append(RelationDecision(DecisionWord.SAME_OCCASION, who, date))
            answer = _answer(QUESTION)
        if answer in ("", "q"):
            break
        if answer in ("a", "r", "e"):
            made += _decisions(waiting, answer, found, {"by": who, "date": date})
    return made


def _decisions(
    waiting: Sequence[ProposedLaw], answer: str, found: Proposals, told: dict[str, str]
) -> list[RelationDecision]:
    """One decision for the family, with one reason; an edited law replaces what was proposed."""
    from coherently.proposals import DecisionWord, family_decisions

    law = _answer("The law: ") if answer == "e" else ""
    word = DecisionWord.REJECT if answer == "r" else DecisionWord.ACCEPT
    return family_decisions(waiting, found.questions, word=word, reason=_answer("Why? "), law=law, **told)


def _answer(question: str) -> str:
    """The next line of the standard input, without blanks; empty at its end."""
    print(question, end="", flush=True)
    line = sys.stdin.readline()
    if not sys.stdin.isatty():
        print(line.rstrip("\n"))
    return line.strip()
