"""What the words of a question say: its numbers, its dates, whether it is negated, and the words that are left."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from coherently.proposals.date_phrases import DatePhrase, DateRole, find_dates, season_spans
from coherently.proposals.number_phrases import NumberKind, NumberPhrase, ValueRange, find_numbers

if TYPE_CHECKING:
    from coherently.proposals.question_rows import QuestionRow, Strike

SLOT: Final = "#"
_ONE_FOR_ONE: Final = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc\u0060\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
_ARTICLES: Final = frozenset({"a", "an", "the", "will", "be", "is", "are"})
_WORD: Final = re.compile(r"[^\W_]+(?:['.&/+-][^\W_]+)*|#|[&$%]")
_ASIDE: Final = re.compile(r"\((?:i\.e\.|e\.g\.)[^)]*\)|^\[[^\]]*\]")
_SUBORDINATE: Final = frozenset(
    {"that", "who", "which", "whether", "because", "if", "unless", "while", "although", "and", "or", "but", "given"}
)
_NEGATION: Final = re.compile(r"\b(?:not|never|fails?|no)\b|n't\b")
_TURNING: Final = frozenset(
    {"no", "without", "none", "neither", "nor", "nobody", "nothing", "unless", "except", "lack", "avoid", "miss"}
    | {"short", "outside", "prevent", "out", "exit", "drop", "lose", "never"}
)
_RANKED: Final = frozenset({"rank", "ranked", "ranking", "rated", "place", "seed", "seeded", "position"})
QUANTIFIERS: Final = frozenset(
    {"any", "some", "all", "every", "each", "both", "either", "only", "more", "most", "anyone", "someone", "everyone"}
)
_ANY_TIME: Final = re.compile(
    r"\b(?:at\s+any\s+(?:time|point|moment)|on\s+any\s+day|any\s+day|ever|in\s+a\s+single|any\s+quarter|any\s+year|"
    r"any\s+month|any\s+week|trades?|intraday|all[- ]time)\b"
)


@dataclass(frozen=True, slots=True)
class RowReading:
    """A question with what was read: `words` are what is left without slots, dates, articles and negation.

    `plain` and `masked` have the length of the text: in `masked`, in lower case, dates are blank and numbers a `#`.
    `negation` is "", "not", "fail to" or "no", of the main clause. `year_from` says where a year came from that the
    text does not state: "description", "closing date" or "title". A row `is_alone` if no other row is in its group.
    """

    row: QuestionRow
    plain: str
    masked: str
    words: tuple[str, ...]
    numbers: tuple[NumberPhrase, ...]
    dates: tuple[DatePhrase, ...]
    anchors: frozenset[str]
    negation: str = ""
    any_time: bool = False
    year_from: str = ""
    is_alone: bool = False

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.row.name

    def words_at(self, span: tuple[int, int]) -> str:
        """The words of a span, as they were written."""
        return self.plain[span[0] : span[1]].strip()

    def date_key(self, without: int = -1) -> tuple[str, ...]:
        """All dates but one, each the same for every way to write it."""
        return tuple(sorted(phrase.canonical for i, phrase in enumerate(self.dates) if i != without))

    def number_key(self, without: int = -1) -> tuple[tuple[ValueRange | None, str, str], ...]:
        """All numbers but one, whose unit is kept."""
        special = (NumberKind.TOUCHED, NumberKind.OUTSIDE)
        return tuple(
            (None, phrase.unit, "touched" if phrase.kind is NumberKind.TOUCHED else "")
            if i == without
            else (phrase.values, phrase.unit, phrase.kind.value if phrase.kind in special else "")
            for i, phrase in enumerate(self.numbers)
        )

    @property
    def negation_at(self) -> int:
        """Where the first word of negation stands; -1 if there is none."""
        match = _NEGATION.search(self.masked)
        return -1 if match is None else match.start()

    @property
    def is_turned(self) -> bool:
        """Whether a word that is left, such as "without" or "outside", may turn round what a number or date says."""
        return bool(_TURNING & set(self.words)) or (SLOT in self.words and bool(_RANKED & set(self.words)))


def same_length(text: str) -> str:
    """The text with plain quotes and dashes, in which every character stays where it is."""
    plain = "".join(one if len(one := unicodedata.normalize("NFKC", each)) == 1 else each for each in text)
    plain = plain.translate(_ONE_FOR_ONE)
    plain = re.sub(r"\b(?:[A-Za-z]\.){2,}", lambda match: match[0].replace(".", "").ljust(len(match[0])), plain)
    return plain.replace("_", " ") if " " not in plain.strip() else plain


def lowered(text: str) -> str:
    """Lower case, in which every character stays where it is."""
    return "".join(low if len(low := each.lower()) == 1 else each for each in text)


def stem(word: str) -> str:
    """A word without the s of plurals and of verbs.

    >>> [stem(word) for word in ("wins", "cuts", "loss", "bus", "countries")]
    ['win', 'cut', 'loss', 'bus', 'country']
    """
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def plain_words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case without articles, each without the s of plurals.

    >>> plain_words("the budget overruns")
    ('budget', 'overrun')
    """
    return tuple(word for word in map(stem, _WORD.findall(text)) if word not in _ARTICLES)


def read_row(row: QuestionRow, *, is_alone: bool = False) -> RowReading:
    """Read the text of a question, with its option where the text lacks the number or the date of it.

    >>> from coherently.proposals.question_rows import QuestionRow
    >>> reading = read_row(QuestionRow("q", "Will BTC not be above $70k on Dec 31, 2026?"))
    >>> reading.words, reading.negation, reading.date_key()
    (('btc', '#'), 'not', ('at:2026-12-31:2027-1-1',))
    """
    plain = same_length(_with_option(row))
    low = _blank(lowered(plain), [match.span() for match in _ASIDE.finditer(lowered(plain))])
    dates = find_dates(low)
    seasons = season_spans(low)
    undated = _blank(low, [phrase.span for phrase in dates])
    numbers = [one for one in find_numbers(_blank(undated, seasons)) if _is_quantity(one, undated)]
    if not numbers and (struck := _struck(row.strike, len(plain))) is not None:
        numbers = [struck]
    rest = undated
    for phrase in numbers:
        start, end = phrase.span
        rest = f"{rest[:start]}{SLOT.center(end - start)}{rest[end:]}"
    words, negation = _without_negation([stem(word) for word in _WORD.findall(rest)])
    dates, year_from = _with_years(dates, row)
    anchors = {str(phrase.start[0]) for phrase in dates if phrase.has_year and phrase.role is not DateRole.WITHIN}
    anchors |= {re.sub(r"\s", "", low[start:end]) for start, end in seasons}
    return RowReading(
        row,
        plain,
        masked=rest,
        words=tuple(word for word in words if word not in _ARTICLES),
        numbers=tuple(numbers),
        dates=tuple(dates),
        anchors=frozenset(anchors) if year_from in ("", "title") else frozenset(),
        negation=negation,
        any_time=_ANY_TIME.search(low) is not None,
        year_from=year_from,
        is_alone=is_alone or row.group is None,
    )


def _with_option(row: QuestionRow) -> str:
    """The text, followed by an option that is a number or a date which the text does not have."""
    if not row.option or row.option in row.text:
        return row.text
    option = lowered(same_length(row.option))
    dates = find_dates(option) or find_dates(f"by {option}")
    numbers = find_numbers(_blank(option, [phrase.span for phrase in find_dates(option)]))
    text = lowered(same_length(row.text))
    spans = [date.span for date in dates] + [number.span for number in numbers]
    left = _blank(option, [span for span in spans if span[1] <= len(option)])
    if re.search(r"[a-z]{4,}", left):
        return row.text
    has_numbers = any(one.kind is not NumberKind.BARE for one in find_numbers(_blank(text, _spans(text))))
    if (dates and not _spans(text)) or (numbers and not dates and not has_numbers and not find_numbers(text)):
        return f"{row.text} - {row.option}"
    return row.text


def _spans(text: str) -> list[tuple[int, int]]:
    return [phrase.span for phrase in find_dates(text)]


def _is_quantity(phrase: NumberPhrase, text: str) -> bool:
    """Whether a number is not a part of a name: "#2", "Game 1", "Season 50", "(Category 3 or higher)"."""
    start, end = phrase.span
    inside = text[:start].count("(") > text[:start].count(")") and ")" in text[end:]
    if inside:
        return False
    return phrase.kind is not NumberKind.BARE or text[max(start - 1, 0) : start] != "#"


def _struck(strike: Strike | None, length: int) -> NumberPhrase | None:
    """The number that only the fields of the platform have; it stands after the text."""
    if strike is None or (strike.floor is None and strike.cap is None):
        return None
    word = strike.type.lower()
    values = None
    if strike.floor is not None and strike.cap is not None:
        values = ValueRange(strike.floor, strike.cap, has_low=True, has_high=True)
    elif strike.floor is not None and word.startswith(("greater", "above", "over")):
        values = ValueRange(low=strike.floor, has_low="equal" in word)
    elif strike.cap is not None and word.startswith(("less", "below", "under")):
        values = ValueRange(high=strike.cap, has_high="equal" in word)
    if values is None:
        return None
    return NumberPhrase((length, length), NumberKind.COMPARED, values, strike.unit)


def _without_negation(words: list[str]) -> tuple[list[str], str]:
    """The words without the negation of the main clause, and the word for it."""
    for i, word in enumerate(words):
        if word in _SUBORDINATE:
            break
        if word in ("not", "never") or word.endswith("n't"):
            return [*words[:i], *words[i + 1 :]], "not"
        if word == "fail" and words[i + 1 : i + 2] == ["to"]:
            return [*words[:i], *words[i + 2 :]], "fail to"
        if word == "no" and i <= 1:
            return [*words[:i], *words[i + 1 :]], "no"
    return words, ""


def _with_years(dates: list[DatePhrase], row: QuestionRow) -> tuple[list[DatePhrase], str]:
    """Dates without a year, with that of the same day in the description or of the closing date, if there is one.

    A text without any date has that of the title of its group.
    """
    if not dates and row.group_title:
        titled = find_dates(lowered(same_length(row.group_title)))
        if len(titled) == 1 and titled[0].has_year and titled[0].role is not DateRole.LITERAL:
            return titled, "title"
    if all(phrase.has_year for phrase in dates) or not (row.description or row.close_date):
        return dates, ""
    described = find_dates(lowered(same_length(row.description or "")))
    told, sources = [], set()
    for phrase in dates:
        years = {one.start[0] for one in described if one.has_year and one.start[1:] == phrase.start[1:]}
        closing = _closing_year(phrase, row.close_date)
        if phrase.has_year or not (len(years) == 1 or (not years and closing)):
            told.append(phrase)
            continue
        year = years.pop() if years else closing
        moved = phrase.stop[0] + year
        dated = replace(phrase, start=(year, *phrase.start[1:]), stop=(moved, *phrase.stop[1:]), has_year=True)
        told.append(dated)
        sources.add("description" if year != closing else "closing date")
    return told, " and ".join(sorted(sources))


def _closing_year(phrase: DatePhrase, close_date: str | None) -> int:
    """The year in which a date lies that is within four days of the closing date; 0 if there is none."""
    from datetime import date

    try:
        closing = date.fromisoformat((close_date or "")[:10])
    except ValueError:
        return 0
    for year in (closing.year, closing.year - 1, closing.year + 1):
        for day in (phrase.start, phrase.stop):
            try:
                named = date(year, day[1], day[2])
            except ValueError:
                continue
            if abs((named - closing).days) <= 4:
                return year
    return 0


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text
