"""Deadlines: what happens by June happens by December, and what remains through December remained through June."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from coherently.proposals.date_phrases import DateRole
from coherently.proposals.number_phrases import INFINITE, NumberKind
from coherently.proposals.proposal import ProposedLaw, RelationName, Strength, quote, weaker
from coherently.proposals.rules.occasions import by_group
from coherently.proposals.rules.quantity_rules import DeclaredQuantity, variable_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.proposals.date_phrases import DatePhrase
    from coherently.proposals.row_readings import RowReading

DEADLINE_RULE, PERIOD_RULE = "deadline ladder", "nested periods"
OPEN_TOGETHER: Final = "all windows open together"
NO_YEAR: Final = "the year is the same"
HAPPENS: Final = "it is something that happens once or more within the period, and not a total or a state"
NOT_EARLIER: Final = "it had not happened before the period began"
ONCE_IS_ENOUGH: Final = "it counts as soon as it is so once"
REACHED: Final = "the number is one that, once reached, stays reached"

PERSISTS: Final = frozenset(
    {"remain", "remaining", "stay", "still", "continue", "keep", "survive", "serve", "avoid", "without", "maintain"}
)
"""Words for a state that must last until the date."""
TOTALS: Final = frozenset(
    {"growth", "average", "mean", "annual", "rate", "total", "net", "deficit", "surplus", "inflation", "revenue"}
    | {"sale", "profit", "gdp", "most", "highest", "lowest", "largest", "best", "top", "grow", "earning", "income"}
    | {"number", "leading", "quarterly", "monthly", "yearly", "record", "all", "every", "only"}
)
"""Words for what is added up or compared over a period: that of a quarter says little about that of its year."""
MEASURED: Final = frozenset({"goal", "target", "pledge", "commitment", "schedule", "budget", "forecast", "deadline"})
"""Words for what has a date of its own: the goals for 2025 are not those for 2030."""
AVERAGED: Final = frozenset({"average", "mean", "rate", "growth", "net", "share", "annual", "approval"})
"""Words for numbers that may fall again: one that was above a line by June need not be by December."""
STATES: Final = frozenset({"lead", "have", "has", "own", "rank", "control", "hold"})
"""Verbs for what may be so on one day and not on the next."""
_OPENS_LATE: Final = re.compile(
    r"\b(?:following|after|since|from)\s+(?:the\s+)?(?:date\s+of\s+)?(?:this\s+question|this\s+market|market|question)\b"
    r"|\b(?:question|market)(?:'s)?\s+(?:publication|creation|opening|open|launch)\b"
)


def deadline_rules(readings: Sequence[RowReading]) -> Iterator[ProposedLaw]:
    """Ladders of dates, for every group of questions that differ in one date only."""
    for dated in _dated_families(readings):
        for role in (DateRole.DEADLINE, DateRole.UNTIL, DateRole.WITHIN):
            yield from _ladders([pair for pair in dated if pair[1].role is role], role)
        yield from _periods(dated)


def declared_dates(readings: Sequence[RowReading], taken: set[str]) -> Iterator[DeclaredQuantity]:
    """The dates all deadlines of which are certain: when it happens is one date, and each row says before which day.

    A date has no last day, so that what never happens has one, too: after all that are named.
    """
    for dated in _dated_families(readings):
        chain = _chain([pair for pair in dated if pair[1].role is DateRole.DEADLINE], has_year=True)
        if len(chain) < 2 or any(phrase.earliest != phrase.latest for _, phrase in chain):
            continue
        first, law = chain[0][0], _ladder(chain, DateRole.DEADLINE, has_year=True)
        if law.strength is not Strength.CERTAIN or first.negation:
            continue
        name = variable_name(first, taken)
        taken.add(name)
        days = ("-".join(f"{part:02d}" for part in phrase.latest) for _, phrase in chain)
        formulas = tuple((one.name, f"{name} < {day}") for (one, _), day in zip(chain, days, strict=True))
        yield DeclaredQuantity(name, formulas, law.family, "date")


def _dated_families(readings: Sequence[RowReading]) -> Iterator[Dated]:
    """Questions of one group that differ in one date only."""
    keyed: dict[object, list[tuple[RowReading, int]]] = {}
    for one in readings:
        for place, phrase in enumerate(one.dates):
            if phrase.role in (DateRole.DEADLINE, DateRole.UNTIL, DateRole.WITHIN, DateRole.PERIOD):
                key = (one.words, one.number_key(), one.date_key(place), one.negation != "")
                keyed.setdefault(key, []).append((one, place))
    for members in keyed.values():
        if len(members) < 2:
            continue
        places = {id(one): place for one, place in members}
        for together in by_group(one for one, _ in members):
            yield [(one, one.dates[places[id(one)]]) for one in together]


Dated = list[tuple["RowReading", "DatePhrase"]]


def _ladders(dated: Dated, role: DateRole) -> Iterator[ProposedLaw]:
    """Chains of dates that come one after the other; those with a year and those without are apart."""
    for has_year in (True, False):
        chain = _chain(dated, has_year=has_year)
        if len(chain) > 1:
            yield _ladder(chain, role, has_year=has_year)
    yield from _half_dated(dated, role)


def _chain(dated: Dated, *, has_year: bool) -> Dated:
    """Dates that come one after the other, on every reading of their words."""
    chain: Dated = []
    some = [pair for pair in dated if pair[1].has_year == has_year]
    for pair in sorted(some, key=lambda pair: (pair[1].earliest, pair[1].latest, pair[0].name)):
        if not chain or chain[-1][1].is_before(pair[1]):
            chain.append(pair)
    return chain


def _half_dated(dated: Dated, role: DateRole) -> Iterator[ProposedLaw]:
    """A ladder of dates only some of which have a year, if that is one year: a question, since it is not filled in."""
    years = {phrase.start[0] for _, phrase in dated if phrase.has_year}
    if len(years) != 1 or all(phrase.has_year for _, phrase in dated) or role is DateRole.WITHIN:
        return
    chain = sorted(dated, key=lambda pair: (pair[1].start[1:], pair[1].stop[1:], pair[0].name))
    if len({pair[1].start[1:] for pair in chain}) == len(chain):
        yield replace(_ladder(chain, role, has_year=False), strength=Strength.ASK)


def _ladder(chain: Dated, role: DateRole, *, has_year: bool) -> ProposedLaw:
    readings = [one for one, _ in chain]
    strength, assumes = _windows(readings)
    if not has_year:
        strength, assumes = weaker(strength, Strength.LIKELY), (*assumes, NO_YEAR)
    lasts = bool(PERSISTS & set(readings[0].words))
    negated = readings[0].negation != ""
    words = set(readings[0].words)
    if MEASURED & words or (AVERAGED & words and readings[0].numbers) or {"no", "without", "never"} & words:
        strength = Strength.ASK
    if STATES & words:
        strength, assumes = weaker(strength, Strength.LIKELY), (*assumes, ONCE_IS_ENOUGH)
    if lasts != (role is DateRole.UNTIL) or (lasts and negated):
        strength = Strength.ASK
    if why := _number_doubt(readings[0]):
        strength = weaker(strength, Strength.ASK if why == "falls" else Strength.LIKELY)
        assumes = (*assumes, REACHED)
    ordered = chain[::-1] if negated != (role is DateRole.UNTIL) else chain
    first, last = (f"'{pair[0].row.text}'" for pair in (ordered[0], ordered[-1]))
    return ProposedLaw(
        DEADLINE_RULE,
        RelationName.LADDER if len(chain) > 2 else RelationName.IMPLIES,
        tuple(one.name for one, _ in ordered),
        strength,
        evidence=tuple(quote(one, phrase.span) for one, phrase in ordered),
        assumes=assumes,
        counterexample=f"Could {first} come true and yet {last} not, because its window opened later?",
        family=_family(readings[0]),
    )


def _family(one: RowReading) -> str:
    return " ".join(("deadline:", *one.words, one.row.group or ""))


def _windows(readings: Sequence[RowReading]) -> tuple[Strength, tuple[str, ...]]:
    """How sure it is that all windows open together."""
    groups, opened = {one.row.group for one in readings}, {one.row.open_date for one in readings}
    filled = sorted({one.year_from for one in readings} - {""})
    assumes = tuple(f"the year, which the text does not state, is that of the {word}" for word in filled)
    if (len(groups) == 1 and None not in groups) or (len(opened) == 1 and None not in opened):
        return (Strength.LIKELY if assumes else Strength.CERTAIN), assumes
    late = any(_OPENS_LATE.search((one.row.description or "").lower()) for one in readings)
    # Rows that say different kinds of things come from different sources, which ask at different times.
    sources = {(one.row.close_date is None, one.row.description is None) for one in readings}
    return (Strength.ASK if late or len(sources) > 1 else Strength.LIKELY), (OPEN_TOGETHER, *assumes)


def _number_doubt(one: RowReading) -> str:
    """The word "rises" where a compared number may only grow, "falls" where it need not, "" where there is none."""
    compared = [number for number in one.numbers if number.kind in (NumberKind.COMPARED, NumberKind.OUTSIDE)]
    if any(number.values.high < INFINITE or number.kind is NumberKind.OUTSIDE for number in compared):
        return "falls"
    return "rises" if compared else ""


def _periods(dated: Dated) -> Iterator[ProposedLaw]:
    """What happens in a quarter happens in its year, and by the end of it; never one quarter and another."""
    periods = [pair for pair in dated if pair[1].role is DateRole.PERIOD and pair[1].has_year]
    others = [pair for pair in dated if pair[1].role in (DateRole.PERIOD, DateRole.DEADLINE) and pair[1].has_year]
    for one, phrase in periods:
        for other, wider in others:
            if other is one:
                continue
            if wider.role is DateRole.PERIOD:
                inside = (
                    wider.start <= phrase.start and phrase.stop <= wider.stop and phrase.canonical != wider.canonical
                )
            else:
                inside = phrase.stop <= wider.earliest
            if inside:
                yield _nested(one, other, (phrase, wider))
            elif wider.role is DateRole.DEADLINE and phrase.start < wider.earliest <= wider.latest <= phrase.stop:
                yield _nested(other, one, (wider, phrase), (NOT_EARLIER,))


def _nested(
    one: RowReading, other: RowReading, phrases: tuple[DatePhrase, DatePhrase], assumes: tuple[str, ...] = ()
) -> ProposedLaw:
    doubtful = bool(TOTALS & set(one.words)) or _number_doubt(one) != "" or bool(PERSISTS & set(one.words))
    pair = ((one, phrases[0]), (other, phrases[1]))
    if one.negation:
        pair = pair[::-1]
    words = f"'{pair[0][0].row.text}'", f"'{pair[1][0].row.text}'"
    return ProposedLaw(
        PERIOD_RULE,
        RelationName.IMPLIES,
        tuple(reading.name for reading, _ in pair),
        Strength.ASK if doubtful else Strength.LIKELY,
        evidence=tuple(quote(reading, phrase.span) for reading, phrase in pair),
        assumes=(HAPPENS, *assumes),
        counterexample=f"Could {words[0]} come true and yet {words[1]} not, because it is a total or a state?",
        family=_family(one),
    )
