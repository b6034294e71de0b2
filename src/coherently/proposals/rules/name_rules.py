"""Names: questions that differ in one name only, where only one name can be right; and the fields of platforms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from coherently.proposals.proposal import ProposedLaw, QuotedWords, RelationName, Strength, quote, weaker
from coherently.proposals.row_readings import lowered, plain_words, same_length
from coherently.proposals.rules.occasions import by_group, occasion_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.proposals.row_readings import RowReading

PLATFORM_RULE, TITLE_RULE, NAMES_RULE, SEVERAL_RULE, RESULT_RULE = (
    "platform fields",
    "title and option",
    "one changing name",
    "one of several",
    "result of a match",
)
ONE_WINNER: Final = "only one of them can be it: no tie, and no shared place"
SOMEBODY: Final = "somebody is"
NO_ABANDONED: Final = "the match is played to its end"

_VERB: Final = re.compile(
    r"\b(?P<verb>wins?|won|becomes?|be|is|has|have|holds?|leads?|finish(?:es)?|leaves?|performs?|plays?|makes? up|"
    r"secures?|claims?|receives?|gets?|takes?|replaces?|succeeds?)\b(?P<rest>.*)"
)
_RANK: Final = (
    r"(?:single\s+)?(?:next|first|last|only|top|most|second|third|best|largest|biggest|richest|highest|lowest|fewest|"
    r"greatest|fastest|youngest|oldest|leading|winner|champion|runner-up)"
)
_KINDS: Final = re.compile(
    r"^(?:a|an|any|some|one of|at least|at most|more|less|fewer|over|under|part|among|able|nominated|named|in|on|at|to|"
    r"against|over|by|for|from|his|her|their|its|both|either|all|no|not|every|each|again|back|out|up)\b|^#"
)
_MANY: Final = re.compile(
    r"\b(?:medals?|games?|matches|awards|a seat|points|votes|nominat(?:ed|ions)|groomsm[ae]n|bridesmaids?|"
    r"shortlist|finalists?|co-|same|subject|target|top \d+|top #|top five|top ten|members?|part of|one of)\b"
)
_CUES: Final = {
    "win": re.compile(rf"^(?:the\s+|(?={_RANK}\s)|(?=[^a-z]))"),
    "be": re.compile(rf"^(?:the\s+|{_RANK}\s|#\d|[\w.]+(?: [\w.]+)?'s?\s+\w)"),
    "have": re.compile(rf"^the\s+{_RANK}\s"),
    "leave": re.compile(r"^.*\b(?:next|first)\b"),
    "play": re.compile(
        r"^(?:as\s+)?(?!a\b|an\b)\S+(?: \S+)?\s+in\s+the\s+(?:next|new|\S+ film|\S+ movie)\b|^the\s+next\b"
    ),
    "make": re.compile(r"^the\s+next\b"),
    "finish": re.compile(r"^(?:first|second|third|last|\d+(?:st|nd|rd|th))\b"),
    "take": re.compile(
        rf"^(?:the\s+{_RANK}\s|the\s+\S+(?: \S+)* nomination|victory\s+in\s+the\b|(?:first|second|third)\b)"
    ),
    "replace": re.compile(r"^.*\bas\b"),
}
_VERBS: Final = {
    **dict.fromkeys(("win", "wins", "won"), "win"),
    **dict.fromkeys(("be", "is", "become", "becomes"), "be"),
    **dict.fromkeys(("have", "has", "hold", "holds", "lead", "leads"), "have"),
    **dict.fromkeys(("leave", "leaves"), "leave"),
    **dict.fromkeys(("perform", "performs", "play", "plays"), "play"),
    **dict.fromkeys(("make up", "makes up"), "make"),
    **dict.fromkeys(("finish", "finishes"), "finish"),
    **dict.fromkeys(
        ("secure", "secures", "claim", "claims", "receive", "receives", "get", "gets", "take", "takes"), "take"
    ),
    **dict.fromkeys(("replace", "replaces", "succeed", "succeeds"), "replace"),
}
_BEGIN: Final = re.compile(r"^\s*(?:\[[^\]]*\]\s*)?(?:(?:will|does|can|could)\s+)?(?:the\s+)?", re.IGNORECASE)
_OTHER: Final = re.compile(
    r"^(?:(?:someone|somebody|anyone|something|an?\s+\w+(?:\s\w+)?|any\s+\w+|some\s+\w+)\s+other\s+than\s+(?P<listed>.+)"
    r"|another(?:\s+\w+){0,2}|(?:any|some)\s+other(?:\s+\w+){0,2}|someone\s+else|anyone\s+else|other|none\s+of\s+these)$",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(r"\s*,\s*(?:or\s+|and\s+)?|\s+or\s+", re.IGNORECASE)
_WHO: Final = re.compile(
    r"^(?:who|which\s+(?:of\s+these\s+)?[\w. -]*?|next\b|.*\b(?:winner|champion|nominee)\b)", re.IGNORECASE
)
_TITLE_CUE: Final = re.compile(
    r"\b(?:next|first|win|wins|winner|champion|nominee|be\s+the|the\s+most|top)\b", re.IGNORECASE
)
_TITLE_MANY: Final = re.compile(
    r"\b(?:which|what)\s+(?:\w+\s+)?\w+s\s+(?:will\s+)?\w+|\bnamed\b|\bnominated\b|\battend|\bsay\b|\bqualif|\ba\s+\w+\s+for\b|"
    r"\bvote\b|\bcountries\b|\bto\s+win\s+a\b|\bchart\b|\brelegated\b",
    re.IGNORECASE,
)
_RESULTS: Final = ({"home", "draw", "away"}, {"home win", "draw", "away win"}, {"win", "draw", "loss"})


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A question taken apart: the name, where it stands, and the rest."""

    reading: RowReading
    name: str
    span: tuple[int, int]
    frame: tuple[object, ...]
    listed: tuple[str, ...] = ()
    is_other: bool = False

    @property
    def words(self) -> frozenset[str]:
        """The words of the name."""
        return frozenset(lowered(self.name).split())


def name_rules(readings: Sequence[RowReading]) -> Iterator[ProposedLaw]:
    """Names that exclude each other, by the platform, by a title, by a cue of uniqueness, or as results of a match."""
    yield from _platform(readings)
    yield from _results(readings)
    keyed: dict[object, list[NamedRow]] = {}
    for one in readings:
        named = take_apart(one) or _titled(one)
        if named is not None:
            keyed.setdefault(named.frame, []).append(named)
    for members in keyed.values():
        owner = {id(named.reading): named for named in members}
        for together in by_group(named.reading for named in members):
            yield from _one_of([owner[id(reading)] for reading in together])


def _platform(readings: Sequence[RowReading]) -> Iterator[ProposedLaw]:
    groups: dict[str, list[RowReading]] = {}
    for one in readings:
        if one.row.group and one.row.exclusive:
            groups.setdefault(one.row.group, []).append(one)
    for group, members in groups.items():
        if len(members) < 2:
            continue
        yield ProposedLaw(
            PLATFORM_RULE,
            RelationName.AT_MOST if len(members) > 2 else RelationName.EXCLUDES,
            tuple(one.name for one in members),
            Strength.CERTAIN,
            evidence=tuple(QuotedWords(one.name, "exclusive: true") for one in members),
            counterexample=f"Could two options of '{members[0].row.group_title or group}' come true, as in a tie?",
            family=f"group: {group}",
        )


def take_apart(one: RowReading) -> NamedRow | None:
    """The name at the beginning of a question that has a cue that only one name can be right.

    >>> from coherently.proposals.question_rows import QuestionRow
    >>> from coherently.proposals.row_readings import read_row
    >>> take_apart(read_row(QuestionRow("q", "Will the Lions win the 2026 Grand Cup?"))).name
    'Lions'
    >>> take_apart(read_row(QuestionRow("q", "Will Ann be a guest of the next show?")))
    """
    if one.negation:
        return None
    begin = _BEGIN.match(one.plain)
    start = begin.end() if begin else 0
    match = _VERB.search(one.masked, start)
    if match is None or match.start() == start:
        return None
    name = one.plain[start : match.start()].strip(" ,")
    if not _is_unique(one, match):
        return None
    frame = (_VERBS[match["verb"]], plain_words(match["rest"]), one.date_key(), one.number_key())
    return _named(one, name, (start, start + len(name)), frame)


def _is_unique(one: RowReading, match: re.Match[str]) -> bool:
    """Whether the words after the verb name something that only one can have."""
    rest, verb = match["rest"].strip(" ?"), _VERBS[match["verb"]]
    written = one.plain[match.end("verb") :].strip(" ?")  # with its years: "win 2026 Cup" names an edition
    told = lowered(written)
    if verb == "win" and not told:
        return True  # "Labour wins" is unique where another row says that some other party does
    if not rest or _KINDS.match(rest) or _KINDS.match(told) or _MANY.search(rest):
        return False
    if verb == "win":
        return bool(_CUES["win"].match(told)) or written[:1].isupper() or written[:1].isdigit()
    return _CUES[verb].match(told) is not None


def _named(one: RowReading, name: str, span: tuple[int, int], frame: tuple[object, ...]) -> NamedRow | None:
    """The row, if the name is one, several, or stands for all others; not if it is a kind or a description."""
    other = _OTHER.match(name)
    if other is not None:
        listed = tuple(part for part in _LISTED.split(other["listed"] or "") if part)
        return NamedRow(one, name, span, frame, listed=listed, is_other=True)
    parts = tuple(part.removeprefix("the ") for part in _LISTED.split(name) if part)
    if not parts or not all(_is_name(part) for part in parts):
        return None
    return NamedRow(one, name, span, frame, listed=parts if len(parts) > 1 else ())


def _is_name(text: str) -> bool:
    """Whether a text reads as a proper name: short, begun in upper case, and no description of a kind."""
    words = text.split()
    if not words or len(words) > 7 or not (text[0].isupper() or text[0].isdigit()):
        return False
    first = words[0].lower()
    small = [word for word in words if word[0].islower()]
    kinds = (
        "a",
        "an",
        "any",
        "no",
        "who",
        "what",
        "which",
        "when",
        "where",
        "how",
        "if",
        "given",
        "there",
        "this",
        "it",
    )
    return first not in kinds and len(small) <= len(words) // 2 and " other than " not in text


def _titled(one: RowReading) -> NamedRow | None:
    """The option of a group whose title asks for one name."""
    row = one.row
    if not row.group or not row.option or not row.group_title or one.negation:
        return None
    title = same_length(row.group_title)
    first = re.match(r"^will (.+) or (.+?) \w+ .*\bfirst\b|^will (.+) or (.+?) \w+ first\b", lowered(title))
    asks = _WHO.match(title) and _TITLE_CUE.search(title) and not _TITLE_MANY.search(title)
    if not (asks or first) or not _is_name(same_length(row.option)) or any(char.isdigit() for char in row.option):
        return None
    return NamedRow(one, row.option, (len(row.text), len(row.text)), ("title", plain_words(lowered(title)), row.group))


def _one_of(named: list[NamedRow]) -> Iterator[ProposedLaw]:
    """At most one of the names; exactly one, if a row stands for all others."""
    named = sorted(named, key=lambda one: one.reading.name)
    singles = [one for one in named if not one.listed and not one.is_other]
    if len(named) < 2 or occasion_of([one.reading for one in named]) is None:
        return
    if named[0].frame[:2] == ("win", ()) and not any(one.is_other for one in named):
        return
    doubtful = {
        id(one) for a, b in combinations(singles, 2) if a.words <= b.words or b.words <= a.words for one in (a, b)
    }
    for a, b in combinations(singles, 2):
        if a.words == b.words:
            continue
        if a.words <= b.words or b.words <= a.words:
            yield _proposal(RelationName.EXCLUDES, [a, b], Strength.ASK)
    clear = [one for one in singles if id(one) not in doubtful]
    several = [one for one in named if one.listed and not one.is_other]
    others = [one for one in named if one.is_other]
    yield from _several(singles, several)
    yield from _whole(clear, several, others)


def _several(singles: list[NamedRow], several: list[NamedRow]) -> Iterator[ProposedLaw]:
    for many in several:
        for one in singles:
            if _is_among(one, many.listed):
                yield _proposal(RelationName.IMPLIES, [one, many], Strength.LIKELY)


def _whole(singles: list[NamedRow], several: list[NamedRow], others: list[NamedRow]) -> Iterator[ProposedLaw]:
    """The names, those of several in one, and at most one row for the others."""
    parts = [one for one in singles if not any(_is_among(one, many.listed) for many in several)]
    disjoint = [many for many in several if not any(_overlaps(many, third) for third in several if third is not many)]
    rest = others if len(others) == 1 else []
    if rest and rest[0].listed:
        known = [*parts, *disjoint]
        parts = [one for one in parts if _is_among(one, rest[0].listed)]
        disjoint = [many for many in disjoint if all(_in_list(name, rest[0].listed) for name in many.listed)]
        covered = {name for name in rest[0].listed if _is_covered(name, parts, disjoint)}
        for one in known:
            if one not in parts and one not in disjoint:
                yield from (
                    _proposal(RelationName.EXCLUDES, [one, each], Strength.LIKELY) for each in (*parts, *disjoint)
                )
        is_whole = len(covered) == len(rest[0].listed)
    else:
        is_whole = bool(rest)
    together = [*parts, *disjoint, *rest]
    if len(together) > 1:
        relation = RelationName.AT_MOST if len(together) > 2 else RelationName.EXCLUDES
        relation = RelationName.EXACTLY if is_whole and len(together) > 2 else relation
        yield _proposal(relation, together, Strength.LIKELY)


def _is_among(one: NamedRow, listed: Sequence[str]) -> bool:
    return _in_list(one.name, listed)


def _in_list(name: str, listed: Sequence[str]) -> bool:
    words = plain_words(lowered(name))
    return any(plain_words(lowered(same_length(other))) == words for other in listed)


def _is_covered(name: str, parts: Sequence[NamedRow], several: Sequence[NamedRow]) -> bool:
    return any(_in_list(name, [one.name]) for one in parts) or any(_in_list(name, many.listed) for many in several)


def _overlaps(one: NamedRow, other: NamedRow) -> bool:
    return any(_in_list(name, other.listed) for name in one.listed)


def _proposal(relation: RelationName, named: Sequence[NamedRow], strength: Strength) -> ProposedLaw:
    occasion = occasion_of([one.reading for one in named])
    titled = named[0].frame[0] == "title"
    rule = TITLE_RULE if titled else SEVERAL_RULE if any(one.listed for one in named) else NAMES_RULE
    assumes = (ONE_WINNER, *((SOMEBODY,) if relation is RelationName.EXACTLY else ()))
    if relation is RelationName.IMPLIES:
        assumes = ()
    first, last = (f"'{one.name}'" for one in (named[0], named[-1]))
    return ProposedLaw(
        rule,
        relation,
        tuple(one.reading.name for one in named),
        weaker(strength, Strength.LIKELY),
        evidence=tuple(quote(one.reading, one.span) for one in named),
        assumes=(*assumes, *(occasion.assumes if occasion else ())),
        counterexample=f"Could it be true of {first} and of {last}, as in a tie or on another occasion?",
        family=_family(named[0]),
    )


def _family(one: NamedRow) -> str:
    frame = one.frame[1] if isinstance(one.frame[1], tuple) else ()
    return " ".join(("names:", *map(str, frame), *one.reading.date_key(), one.reading.row.group or ""))


def _results(readings: Sequence[RowReading]) -> Iterator[ProposedLaw]:
    """Home, draw and away of one match; both sides and a draw of a group "A vs. B"."""
    keyed: dict[object, list[tuple[RowReading, str]]] = {}
    for one in readings:
        before, colon, after = one.masked.rpartition(":")
        if colon and after.strip() in set().union(*_RESULTS):
            keyed.setdefault((plain_words(before), one.date_key(), one.row.group), []).append((one, after.strip()))
    for members in keyed.values():
        words = {word for _, word in members}
        if len(words) == len(members) and words in _RESULTS:
            yield _result([one for one, _ in members], RelationName.EXACTLY)
        elif len(words) == len(members) > 1 and any(words <= known for known in _RESULTS):
            yield _result([one for one, _ in members], RelationName.EXCLUDES)
    groups: dict[str, list[RowReading]] = {}
    for one in readings:
        if one.row.group and re.search(r"\bvs?\b\.?", lowered(one.row.group_title or "")):
            groups.setdefault(one.row.group, []).append(one)
    for members_ in groups.values():
        sides = [one for one in members_ if _side(one)]
        kinds = {_side(one) for one in sides}
        if len(sides) > 1 and len(kinds) == len(sides):
            whole = len(sides) == 3 and "draw" in kinds
            relation = RelationName.EXACTLY if whole else RelationName.EXCLUDES
            if whole or len(sides) == 2:
                yield _result(sides, relation)


def _side(one: RowReading) -> str:
    """The side of a match that a question says wins, "draw", or ""."""
    title = lowered(same_length(one.row.group_title or ""))
    if re.search(r"\bend in a (?:draw|tie)\b", one.masked):
        return "draw"
    match = re.match(r"^will (?:the )?(.+?) win\s*\??\s*$", one.masked)
    if match is None or match[1] not in title or one.negation:
        return ""
    return match[1]


def _result(readings: Sequence[RowReading], relation: RelationName) -> ProposedLaw:
    return ProposedLaw(
        RESULT_RULE,
        relation,
        tuple(one.name for one in readings),
        Strength.LIKELY,
        evidence=tuple(QuotedWords(one.name, one.row.text) for one in readings),
        assumes=(NO_ABANDONED,),
        counterexample="Could none of the results come true, or two of them, as in a match that is abandoned?",
        family=f"match: {readings[0].row.group or ' '.join(readings[0].words[:-1])} {' '.join(readings[0].date_key())}",
    )
