"""Names as people write them: the cells of a table are its dictionary.

A text that the event language cannot read is looked up in the table itself. `Supplier delay and Budget overrun` is a
formula if its parts are cells of their own; a text without such parts is a name.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from coherently.events import quote_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TOKEN = re.compile(r"<->|->|&&|\|\||[&|~^¬∧\u2228→↔()]|[^\s&|~^¬∧\u2228→↔()]+")
SIGNS = {"&": "&", "&&": "&", "∧": "&", "|": "|", "||": "|", "\u2228": "|", "~": "~", "¬": "~"} | {
    sign: sign for sign in ("^", "->", "<->", "(", ")")
}
WORDS = {
    **dict.fromkeys(("and", "und", "et", "y", "e", "sowie"), "&"),
    **dict.fromkeys(("or", "oder", "ou", "o"), "|"),
    **dict.fromkeys(("not", "nicht", "no", "non", "kein", "keine"), "~"),
    **dict.fromkeys(("given", "if", "wenn", "falls", "si", "se"), "given"),
}
"""Words between names, as people write them in five languages, and the operators that they stand for."""
SURE_WORDS = re.compile(r"\s+(?:and|or|given|if|und|oder|wenn|falls|et|ou)\s+", re.IGNORECASE)
"""Words that may join two names."""
BINARY = frozenset({"&", "|", "^", "->", "<->", "given"})
LOOSE_SIGN = re.compile(r"(?:^|\s)(?:&&?|\|\|?|\^|->|<->|[∧\u2228→↔])(?:\s|$)|^[~¬!]|\s[~¬!]|[()]\s*$|[{}\"]")
"""Signs that stand by themselves, as the operators of a formula do."""
RESERVED = frozenset({"not", "and", "xor", "or", "implies", "iff", "given"})
FUNCTION = re.compile(r"\b(?:exactly|at_least|at_most)\s*\(", re.IGNORECASE)
EQUALS = re.compile(r"(?:^|\s)(?:=+|!=|=>|=<|<>)(?:\s|$)")
MOST_WORDS = 60
"""Maximum number of words of a text that is taken apart."""
MOST_WAYS = 50
"""Maximum number of ways to take a text apart that are looked at."""
TWINS = str.maketrans(
    "АВСЕНІЈКМОРЅТХУасеіјорѕхуΑΒΕΖΗΙΚΜΝΟΡΤΥΧο",  # noqa: RUF001
    "ABCEHIJKMOPSTXYaceijopsxyABEZHIKMNOPTYXo",
)
"""Letters of the Cyrillic and Greek scripts, and the Latin ones that look the same."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the texts of a table are in the event language: `formulas` by number, and what a person should know.

    `unclear` has texts that can be taken apart in several ways, each with its readings.
    """

    formulas: Mapping[int, str]
    unclear: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def speak(texts: Sequence[str], faulty: Iterable[int], labels: Mapping[str, str]) -> Spoken:
    """Read the texts that the event language cannot read, by the other texts and the labels (id, title).

    >>> cells = ["Supplier delay", "Budget overrun", "Supplier delay and Budget overrun", "fire"]
    >>> speak(cells, [0, 1, 2], {}).formulas
    {0: '"Supplier delay"', 1: '"Budget overrun"', 2: '"Supplier delay" & "Budget overrun"'}
    """
    return _Dictionary(texts, set(faulty), labels).speak()


def same_key(text: str) -> str:
    """What two spellings of one name share: letters without case, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class _Dictionary:
    """The names that occur as cells or labels, and the texts that are put together from them."""

    def __init__(self, texts: Sequence[str], faulty: set[int], labels: Mapping[str, str]) -> None:
        self._texts, self._faulty = texts, faulty
        self._atoms: dict[str, str] = {}
        for text, title in labels.items():
            self._atoms[same_key(title)] = text if text.isidentifier() else f"({text})"

    @cached_property
    def _plain_words(self) -> set[str]:
        """The single words that are cells of their own."""
        return {text.casefold() for i, text in enumerate(self._texts) if i not in self._faulty and text.isidentifier()}

    def speak(self) -> Spoken:
        """Take texts apart, the shorter ones first: what is not made of other names is a name."""
        formulas: dict[int, str] = {}
        unclear: dict[int, tuple[str, ...]] = {}
        for i in self._by_length():
            text = self._texts[i]
            ways = self._ways(text)
            if len(ways) > 1:
                unclear[i] = tuple(ways)
            elif ways:
                if i in self._faulty:
                    formulas[i] = ways[0]
            elif i not in self._faulty:
                self._know(text, text if text.isidentifier() else f"({text})")
            elif self._is_name(text):
                formulas[i] = quote_name(text)
                self._know(text, formulas[i])
        return Spoken(dict(sorted(formulas.items())), unclear, tuple(self._notes(formulas)))

    def _by_length(self) -> list[int]:
        return sorted(range(len(self._texts)), key=lambda i: (len(self._texts[i].split()), i))

    def _know(self, text: str, formula: str) -> None:
        self._atoms.setdefault(same_key(text), formula)

    def _is_name(self, text: str) -> bool:
        """Whether a text that cannot be read is a name: it has no operator out of place, and words of its own."""
        words = [word.strip("?!.,;:$=<>").casefold() for word in text.split()]
        if len(words) < 2 or LOOSE_SIGN.search(text) or FUNCTION.search(text) or EQUALS.search(text):
            return False
        if words[-1] in RESERVED or words[0] in RESERVED - {"not"}:
            return False
        return any(word and word not in self._plain_words and word not in RESERVED for word in words)

    def _ways(self, text: str) -> list[str]:
        """The ways to take a text apart into known names, by the fewest names, as formulas."""
        tokens = [match.group() for match in TOKEN.finditer(text)]
        if not 1 < len(tokens) <= MOST_WORDS:
            return []
        found = [way for way in self._operands(tokens, 0, 0) if sum(piece in BINARY or piece == "~" for piece in way)]
        if not found:
            return []
        fewest = min(map(len, found))
        ways = dict.fromkeys(_written(way) for way in found if len(way) == fewest)
        return list(ways)

    def _operands(self, tokens: list[str], start: int, depth: int) -> Iterator[tuple[str, ...]]:
        """Every way to read the tokens from `start` on, where a name must come; at most some ways."""
        yield from itertools.islice(self._names_at(tokens, start, depth), MOST_WAYS)

    def _names_at(self, tokens: list[str], start: int, depth: int) -> Iterator[tuple[str, ...]]:
        if start >= len(tokens):
            return
        sign = SIGNS.get(tokens[start]) or WORDS.get(tokens[start].casefold())
        if sign in ("~", "("):
            for rest in self._operands(tokens, start + 1, depth + (sign == "(")):
                yield (sign, *rest)
        for stop in range(len(tokens), start, -1):
            atom = self._atoms.get(same_key(" ".join(tokens[start:stop])))
            if atom is not None:
                for rest in self._after(tokens, stop, depth):
                    yield (atom, *rest)

    def _after(self, tokens: list[str], start: int, depth: int) -> Iterator[tuple[str, ...]]:
        """What may follow a name: the end, a closing bracket, an operator and a name."""
        if start == len(tokens):
            if depth == 0:
                yield ()
            return
        sign = SIGNS.get(tokens[start]) or WORDS.get(tokens[start].casefold())
        if sign == ")" and depth:
            for rest in self._after(tokens, start + 1, depth - 1):
                yield (")", *rest)
        if sign in BINARY:
            for rest in self._operands(tokens, start + 1, depth):
                yield (sign, *rest)

    def _notes(self, formulas: Mapping[int, str]) -> Iterator[str]:
        alone = [self._texts[i] for i, formula in formulas.items() if formula == quote_name(self._texts[i])]
        names = set(alone)
        made = [i for i in formulas if self._texts[i] not in names]
        if made:
            first = made[0]
            more = f" (and {len(made) - 1:,} more)" if len(made) > 1 else ""
            yield f"read as formulas of other cells: {self._texts[first]!r} as {formulas[first]}{more}"
        doubtful = [text for text in alone if SURE_WORDS.search(text) or re.search(r"[<>=≤≥]", text)]
        if doubtful:
            yield (
                f"read as single names, since their parts are not cells of their own: {_some(map(repr, doubtful))}; "
                f"formulas, with names in quotes, or laws relate them to others"
            )


def look_alikes(names: Iterable[str]) -> list[str]:
    """Say which names a person may take for one: they differ in case, in spaces, or in letters that look the same.

    >>> look_alikes(["Fire", "fire", "Flood"])
    ["these names look alike and are two: 'Fire' and 'fire'"]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        key = same_key(unicodedata.normalize("NFKC", name).translate(TWINS)).replace(" ", "").strip(".:;,")
        groups.setdefault(key, []).append(name)
    alike = [group for group in groups.values() if len(group) > 1]
    return [
        f"these names look alike and are {'two' if len(group) == 2 else len(group)}: "
        f"{' and '.join(map(repr, group))}{_scripts(group)}"
        for group in alike[:5]
    ]


def _scripts(names: Sequence[str]) -> str:
    """Which letters of another script are in names that look the same."""
    foreign = sorted({letter for name in names for letter in name if letter.translate(TWINS) != letter})
    named = [f"{letter} is {unicodedata.name(letter).lower()}" for letter in foreign[:3]]
    return f" ({', '.join(named)})" if named else ""


def _written(way: Sequence[str]) -> str:
    text = " ".join(way)
    return text.replace("~ ", "~").replace("( ", "(").replace(" )", ")")


def _some(texts: Iterable[str]) -> str:
    listed = list(texts)
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3:,} more" if len(listed) > 3 else "")
