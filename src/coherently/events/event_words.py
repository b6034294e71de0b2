"""Events in words: names and comparisons as somebody calls them, operators as people say them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from coherently.errors import EventError
from coherently.events.event_table import tidy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = r'"(?:[^"\\]|\\.)*"|[^\W\d]\w*(?:[.@:\-]+\w+)*'
VALUE = rf"(?:{NAME}|[^\s,;(){{}}&|^~]+)"
TOKEN = re.compile(
    rf"(?P<count>exactly|at_least|at_most)\((?P<number>\d+);"
    rf"|(?P<given>given(?=\s))"
    rf"|(?P<atom>(?:{NAME})(?: (?:=|!=|<=|>=|<|>) {VALUE}| in \{{[^}}]*\}})?)"
    rf"|(?P<sign><->|->|[~&^|(),])"
    rf"|\s+"
)
"""The tokens of a text that `tidy` printed."""
OPERATORS = {"<->": "if and only if", "->": "implies", "|": "or", "^": "or else", "&": "and"}
"""How operators of two events are said; the one that binds least tightly comes first."""
COUNTS = {"exactly": "exactly", "at_least": "at least", "at_most": "at most"}
LOOSEST = 0


class _Phrase(NamedTuple):
    """Words for a part of an event, and whether they need parentheses inside others."""

    words: str
    joined: bool = False

    def inside(self) -> str:
        return f"({self.words})" if self.joined else self.words


def in_words(text: str, name: Callable[[str], str]) -> str:
    """An event, or a conditional, in words, where `name` says what names and comparisons are called.

    Parentheses show what belongs together, so that nobody needs to know which operator binds most tightly.

    >>> in_words("p & q | ~r given s", str.upper)
    '(P and Q) or not R given S'
    >>> in_words("at_least(2; p, q & r, w = a)", lambda atom: f"<{atom}>")
    'at least 2 of <p>, <q> and <r>, <w = a>'
    """
    return " given ".join(_SpokenEvent(side, name).phrase().words for side in _sides(tidy(text)))


def words_or_none(text: str, name: Callable[[str], str]) -> str | None:
    """The same, or None if the text is no event."""
    try:
        return in_words(text, name)
    except EventError:
        return None


def _sides(clean: str) -> Iterator[list[re.Match[str]]]:
    """The tokens of the event, and of its condition if it has one."""
    side: list[re.Match[str]] = []
    for token in TOKEN.finditer(clean):
        if token["given"]:
            yield side
            side = []
        elif not token[0].isspace():
            side.append(token)
    yield side


class _SpokenEvent:
    """A parser of one event, which goes over its tokens once, by the precedence of operators."""

    def __init__(self, tokens: list[re.Match[str]], name: Callable[[str], str]) -> None:
        self._tokens, self._name, self._place = tokens, name, 0

    def _next(self) -> re.Match[str] | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _take(self, sign: str) -> bool:
        token = self._next()
        taken = token is not None and token["sign"] == sign
        self._place += taken
        return taken

    def phrase(self, level: int = LOOSEST) -> _Phrase:
        """What operators of this level, or of tighter ones, make."""
        if level == len(OPERATORS):
            return self._single()
        sign, word = list(OPERATORS.items())[level]
        every = [self.phrase(level + 1)]
        while self._take(sign):
            # Implications group to the right: what follows is one event.
            every.append(self.phrase(level if sign == "->" else level + 1))
        if len(every) == 1:
            return every[0]
        return _Phrase(f" {word} ".join(each.inside() for each in every), joined=True)

    def _single(self) -> _Phrase:
        if self._take("~"):
            return _Phrase(f"not {self._single().inside()}")
        if self._take("("):
            inner = self.phrase()
            self._take(")")
            return inner
        token = self._tokens[self._place]
        self._place += 1
        if token["count"] is None:
            return _Phrase(self._name(token[0]))
        every = [self.phrase().words]
        while self._take(","):
            every.append(self.phrase().words)
        self._take(")")
        return _Phrase(f"{COUNTS[token['count']]} {token['number']} of {', '.join(every)}", joined=True)
