"""Rows that share many words: what a part of a compound may mean, and pairs that a person may be asked about."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from coherently.conversion.label_groups import MONTHS
from coherently.proposals.date_phrases import find_dates
from coherently.proposals.number_phrases import NumberKind
from coherently.proposals.proposal import ProposedLaw, QuotedWords, RelationName, Strength
from coherently.proposals.question_rows import QuestionRow
from coherently.proposals.row_readings import lowered, plain_words, read_row, same_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.proposals.row_readings import RowReading

SIMILAR_RULE: Final = "similar words"
LEAST_OVERLAP: Final = 0.42
COMMON: Final = 60
"""A word of more rows than this does not bring rows together; rarer ones do."""
STOP: Final = frozenset(
    {"of", "in", "on", "by", "to", "for", "and", "or", "at", "with", "from", "as", "that", "it", "its", "their", "his"}
    | {
        "her",
        "this",
        "between",
        "before",
        "after",
        "during",
        "than",
        "not",
        "no",
        "any",
        "has",
        "have",
        "been",
        "least",
    }
    | {"new", "official", "officially", "publicly", "one", "which", "into", "each", "other", "become", "becomes"}
)


_FIRST: Final = frozenset(
    {"will", "a", "an", "the", "any", "is", "are", "does", "did", "was", "if", "given", "there", "no"}
)


class SimilarRows:
    """Rows by their words: finds those that share the most with a text."""

    def __init__(self, readings: Sequence[RowReading]) -> None:
        self._readings = readings
        self._words = [content_words(one.row.text) for one in readings]
        self._index: dict[str, list[int]] = {}
        for number, words in enumerate(self._words):
            for word in sorted(words):
                self._index.setdefault(word, []).append(number)

    def best(self, text: str, without: str = "") -> tuple[RowReading, float, float] | None:
        """The row that shares the most words with a text, its overlap, and its lead before the next row."""
        words = content_words(text)
        shared: Counter[int] = Counter()
        for word in sorted(words):
            shared.update(self._index.get(word, ()))
        scored = [
            (count / (len(words) + len(self._words[number]) - count), number)
            for number, count in shared.items()
            if self._readings[number].name != without
        ]
        if not scored:
            return None
        scored.sort(key=lambda pair: (-pair[0], self._readings[pair[1]].name))
        lead = scored[0][0] - (scored[1][0] if len(scored) > 1 else 0.0)
        return self._readings[scored[0][1]], scored[0][0], lead

    def names_agree(self, text: str, row: RowReading) -> bool:
        """Whether a text and a row have the same proper names, up to those that only one of them has, and numbers."""
        one, other = proper_names(text), proper_names(row.row.text)
        mine = one - frozenset(_lower_words(row.row.text))
        others = other - frozenset(_lower_words(text))
        numbers = set(re.findall(r"\d[\d.,]*", text)) - set(re.findall(r"\d[\d.,]*", row.row.text))
        alike = (not mine and (bool(one) or not others)) or (not others and bool(other))
        return alike and not _undated(numbers) and _compares_alike(text, row)

    def pairs(self) -> Iterator[tuple[RowReading, RowReading, float]]:
        """For each row its most similar row, if they have numbers in common and enough words."""
        seen = set()
        for number, words in enumerate(self._words):
            shared: Counter[int] = Counter()
            for word in sorted(words):
                rows = self._index[word]
                if len(rows) <= COMMON:
                    shared.update(rows)
            best = max(
                (
                    (count / (len(words) + len(self._words[i]) - count), -i)
                    for i, count in shared.items()
                    if i != number
                ),
                default=(0.0, 0),
            )
            pair = tuple(sorted((number, -best[1])))
            if best[0] >= LEAST_OVERLAP and pair not in seen:
                seen.add(pair)
                yield self._readings[pair[0]], self._readings[pair[1]], best[0]


def _compares_alike(text: str, row: RowReading) -> bool:
    """Whether no number is compared in another way: "less than 15%" is not "at least 15%"."""
    compared = [one.values for one in row.numbers if one.kind is not NumberKind.BARE]
    told = [one.values for one in read_row(QuestionRow("", text)).numbers if one.kind is not NumberKind.BARE]
    return not compared or all(values in compared for values in told)


def _undated(numbers: set[str]) -> set[str]:
    return {number for number in numbers if not re.fullmatch(r"(?:19|20|21)\d\d|1|,", number.strip(".,"))}


def content_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, without dates."""
    low = lowered(same_length(text))
    for phrase in find_dates(low):
        low = f"{low[: phrase.span[0]]}{' ' * (phrase.span[1] - phrase.span[0])}{low[phrase.span[1] :]}"
    return frozenset(_root(word) for word in plain_words(low) if word not in STOP)


def _root(word: str) -> str:
    """A word without endings of verbs: "announcing" and "announce" are one."""
    for ending in ("ing", "ed", "e"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word.removesuffix(ending)
    return word


def proper_names(text: str) -> frozenset[str]:
    """The words of a text that begin in upper case, but for months and words that begin questions."""
    words = re.findall(r"\b[A-Z][\w&.'-]*", same_length(text))
    named = (word.strip(".'").removesuffix("'s").lower() for word in words)
    return frozenset(word for word in named if word not in MONTHS and word not in _FIRST)


def _lower_words(text: str) -> list[str]:
    words = re.findall(r"\b\w[\w&.'-]*", lowered(same_length(text)))
    return [word.strip(".'").removesuffix("'s") for word in words]


def similar_rules(readings: Sequence[RowReading]) -> Iterator[ProposedLaw]:
    """Questions for a person: rows of no group, or of different groups, that share many words."""
    for one, other, overlap in SimilarRows(readings).pairs():
        if one.row.group and one.row.group == other.row.group:
            continue
        if set(re.findall(r"\d+", one.row.text)) != set(re.findall(r"\d+", other.row.text)):
            continue
        yield ProposedLaw(
            SIMILAR_RULE,
            RelationName.EQUIVALENT,
            (one.name, other.name),
            Strength.ASK,
            evidence=(QuotedWords(one.name, one.row.text), QuotedWords(other.name, other.row.text)),
            assumes=(f"they share {overlap:.0%} of their words",),
            counterexample=f"Could only one of '{one.row.text}' and '{other.row.text}' come true?",
            family=f"similar: {one.name}",
        )
