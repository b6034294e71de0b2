"""Compounds: rows that name other rows, joined by "and", "or", "none of", "given"; and compounds that quote them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from coherently.events import quote_name
from coherently.proposals.proposal import ProposedLaw, QuotedWords, RelationName, Strength
from coherently.proposals.row_readings import lowered, plain_words, same_length
from coherently.proposals.rules.similar_words import SimilarRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.proposals.row_readings import RowReading

NAMED_RULE, QUOTED_RULE = "rows named in a row", "quoted compound"
LEAST_MATCH, LEAST_LEAD = 0.45, 0.12
"""How much of the words a quoted part must share with a row, and how much more than with any other row."""
SAME_PARTS: Final = "the parts mean what the rows mean that share their words"
CONDITIONAL: Final = "'if' asks for the probability under the condition, and not for an implication"

_LIST: Final = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+")
_COUNT_OF: Final = re.compile(
    r"^(?P<word>none|at least|at most|exactly|all|any)(?:\s+(?P<count>\w+))?\s+of\s+(?:the\s+)?(?P<list>.+)$"
)
_GIVEN: Final = re.compile(r"^(?P<event>.+?)\s+(?:given(?:\s+that)?|if|conditional\s+on)\s+(?P<condition>.+)$")
_IF: Final = re.compile(
    r"^(?:if|given(?:\s+that)?|conditional\s+on|assuming(?:\s+that)?)\s+(?P<condition>.+?),\s*(?:then\s+)?(?:will\s+)?(?P<event>.+)$"
)
_PARTS: Final = re.compile(
    r"\b(?P<word>both|either|neither)\s+of\s+the\s+following\b[^:]*:\s*\((?:a|1|i)\)\s*(?P<one>.+?)[,;]?\s*(?:and|or)?\s*"
    r"\((?:b|2|ii)\)\s*(?P<two>.+)$"
)
_NUMBERS: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}


@dataclass(frozen=True, slots=True)
class CompoundFormula:
    """What a row means in terms of others; one with "given" is what to forecast in its place, and never a law."""

    row: str
    formula: str
    strength: Strength
    rule: str
    assumes: tuple[str, ...] = ()
    family: str = ""


def compound_rules(readings: Sequence[RowReading]) -> Iterator[ProposedLaw | CompoundFormula]:
    """Formulas of rows that are made of others, and the relations that follow from them."""
    known: dict[tuple[str, ...], list[RowReading]] = {}
    for one in readings:
        known.setdefault(_words(one.row.text), []).append(one)
    rows = {words: members[0] for words, members in known.items() if len(members) == 1 and words}
    for one in readings:
        yield from _named(one, rows)
    similar = None
    for one in readings:
        text = _text(one.row.text)
        if (match := _PARTS.search(text)) or _IF.match(text):
            similar = similar or SimilarRows([row for row in readings if not _is_compound(row)])
            yield from _quoted(one, match, similar)


def _text(text: str) -> str:
    return lowered(same_length(text)).strip().rstrip("?. ")


def _words(text: str) -> tuple[str, ...]:
    return plain_words(_text(text))


def _is_compound(one: RowReading) -> bool:
    text = _text(one.row.text)
    return bool(_PARTS.search(text) or _IF.match(text)) or text.startswith(("will both ", "will either "))


def _named(one: RowReading, rows: dict[tuple[str, ...], RowReading]) -> Iterator[ProposedLaw | CompoundFormula]:
    """A row all parts of which are rows."""
    text = _text(one.row.text).removeprefix("will ")
    if found := _conditional(text, rows):
        event, condition = found
        formula = f"{quote_name(event.name)} given {quote_name(condition.name)}"
        yield CompoundFormula(one.name, formula, Strength.LIKELY, NAMED_RULE, assumes=(CONDITIONAL,))
        return
    if match := _COUNT_OF.match(text):
        yield from _counted(one, match, rows)
        return
    for word, joined in ((" and ", "&"), (" or ", "|")):
        plain = re.sub(r"^(?:both|either)\s+", "", text)
        if word not in plain or (word == " or " and " and " in plain):
            continue
        parts = _parts(plain, rows)
        if parts is not None and one not in parts:
            yield from _compound(one, parts, joined, Strength.CERTAIN)
            return


def _conditional(text: str, rows: dict[tuple[str, ...], RowReading]) -> tuple[RowReading, RowReading] | None:
    for pattern in (_IF, _GIVEN):
        if match := pattern.match(text):
            event, condition = rows.get(plain_words(match["event"])), rows.get(plain_words(match["condition"]))
            if event is not None and condition is not None:
                return event, condition
    return None


def _parts(text: str, rows: dict[tuple[str, ...], RowReading]) -> list[RowReading] | None:
    """The rows of a list, if every part is one."""
    parts = [rows.get(plain_words(part)) for part in _LIST.split(text) if part]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) > 1 else None


def _counted(
    one: RowReading, match: re.Match[str], rows: dict[tuple[str, ...], RowReading]
) -> Iterator[ProposedLaw | CompoundFormula]:
    """None of, all of, at least two of a list."""
    parts = _parts(match["list"], rows)
    word, told = match["word"], match["count"] or ""
    if parts is None or one in parts:
        return
    names = ", ".join(quote_name(part.name) for part in parts)
    family = f"compound: {one.name}"
    if word == "none":
        formula = f"exactly(0; {names})"
        yield from _meant(CompoundFormula(one.name, formula, Strength.CERTAIN, NAMED_RULE, family=family), one)
        yield from (_relation(RelationName.EXCLUDES, (one, part), Strength.CERTAIN, family=one.name) for part in parts)
        return
    if word in ("all", "any"):
        yield from _compound(one, parts, "&" if word == "all" else "|", Strength.CERTAIN)
        return
    count = _NUMBERS.get(told) or (int(told) if told.isdigit() else None)
    if count is None or count > len(parts):
        return
    formula = f"{word.replace(' ', '_')}({count}; {names})"
    yield from _meant(CompoundFormula(one.name, formula, Strength.CERTAIN, NAMED_RULE, family=family), one)


def _compound(
    one: RowReading, parts: Sequence[RowReading], joined: str, strength: Strength
) -> Iterator[ProposedLaw | CompoundFormula]:
    """A conjunction implies its parts, and the parts imply a disjunction."""
    formula = f" {joined} ".join(quote_name(part.name) for part in parts)
    yield from _meant(CompoundFormula(one.name, formula, strength, NAMED_RULE, family=f"compound: {one.name}"), one)
    for part in parts:
        pair = (one, part) if joined == "&" else (part, one)
        yield _relation(RelationName.IMPLIES, pair, strength, family=one.name)


def _meant(formula: CompoundFormula, one: RowReading) -> Iterator[ProposedLaw | CompoundFormula]:
    """The formula, and the proposal that the row is equivalent to it."""
    yield formula
    yield ProposedLaw(
        formula.rule,
        RelationName.EQUIVALENT,
        (one.name,),
        formula.strength,
        evidence=(QuotedWords(one.name, one.row.text),),
        assumes=formula.assumes,
        counterexample=f"Could '{one.row.text}' come true where {formula.formula} does not, or the other way round?",
        family=formula.family,
        told=f"{quote_name(one.name)} <-> {formula.formula}",
    )


def _quoted(
    one: RowReading, match: re.Match[str] | None, similar: SimilarRows
) -> Iterator[ProposedLaw | CompoundFormula]:
    """A compound that says its parts in other words: the best row for each part, if it leads clearly."""
    if match is None:
        return
    told = same_length(one.row.text)
    formulas: list[str] = []
    for part in ("one", "two"):
        start, end = match.span(part)
        begin = lowered(told).find(match[part])
        words = told[begin : begin + end - start].rstrip("?. ")
        bare, negated = _affirmed(words)
        found = similar.best(bare, without=one.name)
        if found is None:
            continue
        row, score, lead = found
        sure = score >= LEAST_MATCH and lead >= LEAST_LEAD and similar.names_agree(bare, row)
        strength = Strength.LIKELY if sure else Strength.ASK
        formulas.append(f"{'~' if negated else ''}{quote_name(row.name)}" if sure else "")
        yield from _quoted_part(one, row, match["word"], strength, negated=negated)
    if len(formulas) == 2 and all(formulas):
        joined = {"both": " & ", "either": " | "}.get(match["word"])
        formula = joined.join(formulas) if joined else f"~({' | '.join(formulas)})"
        family = f"compound: {one.name}"
        yield from _meant(
            CompoundFormula(one.name, formula, Strength.LIKELY, QUOTED_RULE, assumes=(SAME_PARTS,), family=family), one
        )


def _affirmed(words: str) -> tuple[str, bool]:
    """A part without its negation, and whether it has one."""
    plain = re.sub(
        r"\b(?:do(?:es)? not|will not|is not|are not|fails? to|not|no|never)\b\s*",
        "",
        words,
        count=1,
        flags=re.IGNORECASE,
    )
    return plain, plain != words


def _quoted_part(
    one: RowReading, row: RowReading, word: str, strength: Strength, *, negated: bool
) -> Iterator[ProposedLaw]:
    if word == "both":
        relation = RelationName.EXCLUDES if negated else RelationName.IMPLIES
        yield _relation(relation, (one, row), strength, QUOTED_RULE, family=one.name)
    elif word == "either" and not negated:
        yield _relation(RelationName.IMPLIES, (row, one), strength, QUOTED_RULE, family=one.name)
    elif word == "neither" and not negated:
        yield _relation(RelationName.EXCLUDES, (one, row), strength, QUOTED_RULE, family=one.name)


def _relation(
    relation: RelationName,
    pair: tuple[RowReading, RowReading],
    strength: Strength,
    rule: str = NAMED_RULE,
    family: str = "",
) -> ProposedLaw:
    ends = "and yet '{1}' not" if relation is RelationName.IMPLIES else "together with '{1}'"
    words = f"Could '{{0}}' come true {ends}?".format(pair[0].row.text, pair[1].row.text)
    return ProposedLaw(
        rule,
        relation,
        (pair[0].name, pair[1].name),
        strength,
        evidence=tuple(QuotedWords(one.name, one.row.text) for one in pair),
        assumes=(SAME_PARTS,) if rule == QUOTED_RULE else (),
        counterexample=words,
        family=f"compound: {family or pair[0].name}",
    )
