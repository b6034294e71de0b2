"""Negation: a question and the same with "not"; the same question asked twice; comparisons the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coherently.proposals.date_phrases import DateRole
from coherently.proposals.proposal import ProposedLaw, QuotedWords, RelationName, Strength, weaker
from coherently.proposals.row_readings import QUANTIFIERS
from coherently.proposals.rules.occasions import by_group, occasion_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.proposals.row_readings import RowReading

NEGATION_RULE, TWICE_RULE, TURNED_RULE, DIRECTION_RULE = (
    "negation",
    "the same question twice",
    "comparison turned round",
    "opposite directions",
)
FAILS: Final = "'fail to' and 'no' mean only that it does not happen"
NO_TIE: Final = "there is no tie"
ONE_MOVE: Final = "the quantity moves once on this occasion, in one direction"
_COMPARATIVES: Final = frozenset(
    {"than", "above", "beat", "defeat", "outscore", "outgross", "ahead", "front", "outperform"}
)
_OPPOSITES: Final = (("increase", "decrease"), ("raise", "cut"), ("raise", "lower"), ("hike", "cut"), ("even", "odd"))


def negation_rules(readings: Sequence[RowReading]) -> Iterator[ProposedLaw]:
    """Complements by "not", and equal questions."""
    keyed: dict[object, list[RowReading]] = {}
    for one in readings:
        keyed.setdefault((one.words, one.number_key(), one.date_key()), []).append(one)
    for members in keyed.values():
        for together in by_group(members):
            affirmed = [one for one in together if not one.negation]
            negated = [one for one in together if one.negation]
            if affirmed and negated:
                yield from (_complement(affirmed[0], one) for one in negated)
            for same in (affirmed, negated):
                yield from (_twice(same[0], one) for one in same[1:] if not _has_options(same[0], one))
    yield from _turned(readings)
    yield from _directions(readings)


def _complement(one: RowReading, other: RowReading) -> ProposedLaw:
    occasion = occasion_of([one, other])
    strength = Strength.ASK if occasion is None else occasion.strength
    assumes = () if occasion is None else occasion.assumes
    if other.negation != "not":
        strength, assumes = weaker(strength, Strength.LIKELY), (*assumes, FAILS)
    if QUANTIFIERS & set(one.words):
        strength = Strength.ASK  # "any of them will not" is not the opposite of "any of them will"
    elif any(phrase.role is DateRole.UNTIL for phrase in one.dates) or _follows_number(other):
        strength = Strength.ASK  # "five of them will not" is not the opposite of "five of them will"
    elif one.numbers:
        strength = weaker(strength, Strength.LIKELY)
    return ProposedLaw(
        NEGATION_RULE,
        RelationName.COMPLEMENT,
        (one.name, other.name),
        strength,
        evidence=(QuotedWords(other.name, other.negation),),
        assumes=assumes,
        counterexample=f"Could '{one.row.text}' and '{other.row.text}' both fail to come true, or both come true?",
        family=" ".join(("negation:", *one.words, *one.date_key(), one.row.group or "")),
    )


def _follows_number(one: RowReading) -> bool:
    return any(number.span[0] < one.negation_at for number in one.numbers)


def _has_options(one: RowReading, other: RowReading) -> bool:
    return one.row.option != other.row.option


def _twice(one: RowReading, other: RowReading) -> ProposedLaw:
    occasion = occasion_of([one, other])
    strength = Strength.ASK if occasion is None else weaker(occasion.strength, Strength.LIKELY)
    return ProposedLaw(
        TWICE_RULE,
        RelationName.EQUIVALENT,
        (one.name, other.name),
        strength,
        evidence=(QuotedWords(one.name, one.row.text), QuotedWords(other.name, other.row.text)),
        assumes=("both ask the same question, with the same rules",),
        counterexample=f"Could '{one.name}' and '{other.name}' be resolved differently, by different rules?",
        family=" ".join(("negation:", *one.words, *one.date_key(), one.row.group or "")),
    )


def _turned(readings: Sequence[RowReading]) -> Iterator[ProposedLaw]:
    """Such as "A is larger than B" and "B is larger than A"."""
    keyed: dict[object, list[RowReading]] = {}
    for one in readings:
        if _COMPARATIVES & set(one.words) and not one.negation:
            key = (tuple(sorted(one.words)), one.number_key(), one.date_key(), one.row.group)
            keyed.setdefault(key, []).append(one)
    for members in keyed.values():
        for i, one in enumerate(members):
            for other in members[i + 1 :]:
                if _is_turned(one.words, other.words):
                    yield ProposedLaw(
                        TURNED_RULE,
                        RelationName.EXCLUDES if one.numbers else RelationName.COMPLEMENT,
                        (one.name, other.name),
                        Strength.LIKELY,
                        evidence=(QuotedWords(one.name, one.row.text), QuotedWords(other.name, other.row.text)),
                        assumes=(NO_TIE,),
                        counterexample=f"Could neither '{one.row.text}' nor '{other.row.text}' come true, in a tie?",
                        family=f"comparison: {' '.join(one.words)}",
                    )


def _is_turned(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names have changed places around a comparative, and nothing else differs."""
    if one == other or len(one) != len(other):
        return False
    start = next(i for i in range(len(one)) if one[i] != other[i])
    end = next(i for i in range(len(one), 0, -1) if one[i - 1] != other[i - 1])
    left, right = one[start:end], other[start:end]
    for first in range(1, len(left)):
        for last in range(1, len(left) - first):
            middle = left[first : len(left) - last]
            if left[len(left) - last :] + middle + left[:first] == right and _COMPARATIVES & set(middle):
                return True
    return False


def _directions(readings: Sequence[RowReading]) -> Iterator[ProposedLaw]:
    """Increases and decreases of the same thing on one occasion exclude each other."""
    opposites: dict[str, list[str]] = {}
    for up, down in _OPPOSITES:
        opposites.setdefault(up, []).append(down)
    keyed: dict[tuple[tuple[str, ...], tuple[str, ...]], list[RowReading]] = {}
    for one in readings:
        if not one.negation and not one.any_time and not any(phrase.role == "deadline" for phrase in one.dates):
            keyed.setdefault((one.words, one.date_key()), []).append(one)
    for (words, dates), members in list(keyed.items()):
        for place, word in enumerate(words):
            for opposite in opposites.get(word, ()):
                others = keyed.get(((*words[:place], opposite, *words[place + 1 :]), dates), ())
                for one in members:
                    yield from (_apart(one, other) for other in others if occasion_of([one, other]) is not None)


def _apart(one: RowReading, other: RowReading) -> ProposedLaw:
    return ProposedLaw(
        DIRECTION_RULE,
        RelationName.EXCLUDES,
        (one.name, other.name),
        Strength.LIKELY,
        evidence=(QuotedWords(one.name, one.row.text), QuotedWords(other.name, other.row.text)),
        assumes=(ONE_MOVE,),
        counterexample=f"Could '{one.row.text}' and '{other.row.text}' both come true, one after the other?",
        family=f"direction: {' '.join(one.date_key())} {' '.join(sorted(one.words))}",
    )
