"""Nested scopes: who wins the cup reaches its final and qualifies for it, and a gold medal is a medal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coherently.proposals.proposal import ProposedLaw, QuotedWords, RelationName, Strength
from coherently.proposals.row_readings import plain_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.proposals.row_readings import RowReading

SCOPE_RULE: Final = "nested scope"
SAME_CONTEST: Final = "both are about the same contest, which is entered before it is won"
SCOPES: Final = (
    ("win", "reach"),
    ("win", "qualify for"),
    ("win", "advance to"),
    ("win", "make it to"),
    ("win", "play in"),
    ("win", "compete in"),
    ("win", "participate in"),
    ("win", "nominated for"),
    ("reach", "qualify for"),
    ("sign", "negotiate"),
)
"""Pairs of verbs: whoever does the first to something did the second to it."""
STAGES: Final = (
    ("final", "semi-final"),
    ("final", "semifinal"),
    ("semi-final", "quarter-final"),
    ("semifinal", "quarterfinal"),
)
"""Stages of a contest: whoever reaches the first reached the second."""
_METALS: Final = ("gold", "silver", "bronze")


def scope_rules(readings: Sequence[RowReading], scopes: Sequence[tuple[str, str]] = SCOPES) -> Iterator[ProposedLaw]:
    """Implications by the tables of scopes, between questions that say the same of the same otherwise."""
    known: dict[object, list[RowReading]] = {}
    for one in readings:
        if not one.negation:
            known.setdefault((one.words, _when(one)), []).append(one)
    for one in readings:
        if one.negation:
            continue
        for words in sorted(_wider(one.words, scopes)):
            for other in known.get((words, _when(one)), ()):
                yield _proposal(one, other)


def _when(one: RowReading) -> tuple[object, ...]:
    """Editions and dates, without their roles: "qualify for the 2026 Cup" is about the cup that "the 2026 Cup" is."""
    return tuple(sorted((phrase.start, phrase.stop) for phrase in one.dates)), one.number_key()


def _wider(words: tuple[str, ...], scopes: Sequence[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    """The words of questions that follow from one with these words."""
    for narrow, wide in scopes:
        for place, word in enumerate(words):
            if word == narrow and place:
                rest = words[place + 1 :]
                wider = (*words[:place], *plain_words(wide), *rest)
                yield wider
                if narrow == "win" and wide == "reach":
                    yield (*wider, "final")
                    yield (*words[:place], "reach", "final", "of", *rest)
    for place, word in enumerate(words):
        if word in _METALS and words[place + 1 : place + 2] == ("medal",):
            yield (*words[:place], *words[place + 1 :])
        for narrow, wide in STAGES:
            if word == narrow and place and words[place - 1] in ("reach", "make", "in", "to"):
                yield (*words[:place], wide, *words[place + 1 :])


def _proposal(one: RowReading, other: RowReading) -> ProposedLaw:
    return ProposedLaw(
        SCOPE_RULE,
        RelationName.IMPLIES,
        (one.name, other.name),
        Strength.LIKELY,
        evidence=(QuotedWords(one.name, one.row.text), QuotedWords(other.name, other.row.text)),
        assumes=(SAME_CONTEST,),
        counterexample=f"Could '{one.row.text}' come true and yet '{other.row.text}' not?",
        family=f"scope: {' '.join(one.words)}",
    )
