"""Thresholds and bins of one quantity: questions with the same words and different numbers."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

from coherently.proposals.date_phrases import DateRole
from coherently.proposals.number_phrases import INFINITE, NumberKind, ValueRange, written
from coherently.proposals.proposal import ProposedLaw, RelationName, Strength, quote, weaker
from coherently.proposals.rules.occasions import by_group, occasion_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coherently.proposals.number_phrases import NumberPhrase
    from coherently.proposals.row_readings import RowReading
    from coherently.proposals.rules.occasions import Occasion

LADDER_RULE, BINS_RULE = "threshold ladder", "bins"
TOUCHING: Final = "a value on the line between two bins counts for only one of them"
ENDS: Final = "the ends of a range do not count, or are never met"
NEVER_EXACT: Final = "the value is never exactly on the line"
AT_ANY_TIME: Final = "to reach a value is to be there at any time, so that a higher one includes the lower"
OVER: Final = "the line asks for more than its number, and nothing is returned"
BARE: Final = "a number without a comparison means exactly that number"
WHOLE: Final = "the quantity is a whole number of the last digit shown"
ONCE: Final = "the quantity has one value on this occasion, and is not measured again and again"
STRAIGHT: Final = "no word turns round what the number says, as in a rank above 5 or outside the top 5"
COUNTED: Final = "'any' and 'no' count as at least one and as none"


_BEFORE: Final = frozenset({"before", "until", "prior"})
_LASTING: Final = frozenset({"during", "throughout", "after", "since", "while", "ever", "within", "between"})
_NESTING: Final = (RelationName.LADDER, RelationName.IMPLIES, RelationName.EQUIVALENT)


@dataclass(frozen=True, slots=True)
class SizedRow:
    """A question, with the values of the quantity that make it true."""

    reading: RowReading
    values: ValueRange
    number: NumberPhrase
    kind: NumberKind

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.reading.name


@dataclass(frozen=True)
class SizedFamily:
    """Questions that differ in one number only; at most one row for each range of values."""

    rows: tuple[SizedRow, ...]
    occasion: Occasion
    key: str
    has_one_value: bool

    def of(self, relation: RelationName, rows: Sequence[SizedRow], assumes: Iterable[str] = ()) -> ProposedLaw:
        """A proposal about some of the rows, as sure as its occasion and what it assumes."""
        more = (*assumes, *self._kind_assumptions(rows))
        if relation not in _NESTING and not all(_is_measured_once(row.reading) for row in rows):
            more = (*more, ONCE)
        strength = weaker(self.occasion.strength, Strength.LIKELY if more else Strength.CERTAIN)
        if any(row.reading.is_turned for row in rows):
            strength, more = Strength.ASK, (*more, STRAIGHT)
        is_ladder = relation in (RelationName.LADDER, RelationName.IMPLIES)
        return ProposedLaw(
            LADDER_RULE if is_ladder else BINS_RULE,
            relation,
            tuple(row.name for row in rows),
            strength,
            evidence=tuple(quote(row.reading, row.number.span) for row in rows),
            assumes=(*self.occasion.assumes, *more),
            counterexample=_question(relation, rows),
            family=f"quantity: {self.key}",
        )

    def _kind_assumptions(self, rows: Sequence[SizedRow]) -> list[str]:
        kinds = {row.kind for row in rows}
        told = {NumberKind.TOUCHED: AT_ANY_TIME, NumberKind.LINE: OVER, NumberKind.BARE: BARE}
        assumed = [told[kind] for kind in (NumberKind.TOUCHED, NumberKind.LINE, NumberKind.BARE) if kind in kinds]
        if any(row.reading.any_time or _has_deadline(row.reading) for row in rows) and AT_ANY_TIME not in assumed:
            assumed.append(AT_ANY_TIME)
        if any(row.number.span == (-1, -1) for row in rows):
            assumed.append(COUNTED)
        return assumed

    @cached_property
    def ups(self) -> list[SizedRow]:
        """The rows without an upper end, strongest first."""
        rows = [row for row in self.rows if row.values.high == INFINITE]
        return sorted(rows, key=lambda row: (-row.values.low, row.values.has_low))

    @cached_property
    def downs(self) -> list[SizedRow]:
        """The rows without a lower end, strongest first."""
        rows = [row for row in self.rows if row.values.low == -INFINITE]
        return sorted(rows, key=lambda row: (row.values.high, row.values.has_high))

    @cached_property
    def bins(self) -> list[SizedRow]:
        """The rows with both ends, from the lowest."""
        return sorted((row for row in self.rows if row.values.is_bounded), key=lambda row: _order(row.values))


def quantity_rules(readings: Sequence[RowReading]) -> Iterator[ProposedLaw]:
    """Ladders, bins and complements of every quantity."""
    for family, twins, outside in sized_families(readings):
        for one, other in twins:
            yield family.of(RelationName.EQUIVALENT, (one, other))
        for one, other in outside:
            yield family.of(RelationName.COMPLEMENT, (one, other))
        for side in (family.ups, family.downs):
            if len(side) > 1:
                yield family.of(RelationName.LADDER if len(side) > 2 else RelationName.IMPLIES, side)
        yield from _nested(family)
        if family.has_one_value:
            yield from _bins(family)
            yield from _opposite(family)


@dataclass(frozen=True, slots=True)
class DeclaredQuantity:
    """A number or a date that may be declared as one variable, and each of its rows as a formula about it."""

    name: str
    formulas: tuple[tuple[str, str], ...]
    family: str
    kind: str = "number"


def declared_quantities(readings: Sequence[RowReading]) -> Iterator[DeclaredQuantity]:
    """The quantities all relations of which are certain: one number, of which the rows are thresholds and bins."""
    taken = {one.name for one in readings}
    for family, twins, outside in sized_families(readings):
        rows = sorted((*family.rows, *(other for _, other in twins)), key=lambda row: row.name)
        sure = family.has_one_value and family.of(RelationName.AT_MOST, rows).strength is Strength.CERTAIN
        if not sure or outside or len(family.rows) < 2:
            continue
        name = variable_name(rows[0].reading, taken)
        taken.add(name)
        formulas = tuple((row.name, row.values.formula(name)) for row in rows)
        yield DeclaredQuantity(name, formulas, f"quantity: {family.key}")


def variable_name(one: RowReading, taken: set[str]) -> str:
    """A short name from the words of a question that nothing else has."""
    words = [word for word in one.words if word.isascii() and word.isalnum() and len(word) > 2]
    stem = "_".join(words[:4]) or "quantity"
    stem = stem if stem[0].isalpha() else f"q_{stem}"
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    return name


Pairs = list[tuple[SizedRow, SizedRow]]


def sized_families(readings: Sequence[RowReading]) -> Iterator[tuple[SizedFamily, Pairs, Pairs]]:
    """The families, each with pairs of equal rows, and pairs of a range and all that is outside of it."""
    keyed: dict[object, list[tuple[RowReading, int]]] = {}
    for one in readings:
        for place in range(len(one.numbers)):
            keyed.setdefault(_key(one, place), []).append((one, place))
    counted = _counted_rows(readings, keyed)
    for key, members in keyed.items():
        places = {id(one): place for one, place in members}
        for together in by_group(one for one, _ in members):
            occasion = occasion_of(together) if len(together) + len(counted.get(key, ())) > 1 else None
            if occasion is None:
                continue
            rows = [_sized(one, one.numbers[places[id(one)]]) for one in together]
            rows += [row for row in counted.get(key, ()) if row.reading.row.group == together[0].row.group]
            if made := _family([row for row in rows if row is not None], occasion):
                yield made


def _key(one: RowReading, place: int) -> tuple[object, ...]:
    number = one.numbers[place]
    direction = number.values.low == -INFINITE if number.kind is NumberKind.TOUCHED else None
    return one.words, one.date_key(), one.number_key(place), place, direction, _has_deadline(one)


def _sized(one: RowReading, number: NumberPhrase) -> SizedRow | None:
    """The row with its values; those of a negated row are the others, if they are one range."""
    if not one.negation:
        return SizedRow(one, number.values, number, number.kind)
    is_plain = one.negation == "not" and one.negation_at < number.span[0] and number.kind is NumberKind.COMPARED
    if not is_plain or number.values.is_bounded or _has_deadline(one) or one.any_time:
        return None
    values = number.values
    if values.high == INFINITE:
        rest = ValueRange(high=values.low, has_high=not values.has_low)
    else:
        rest = ValueRange(low=values.high, has_low=not values.has_high)
    return SizedRow(one, rest, number, number.kind)


def _counted_rows(
    readings: Sequence[RowReading], keyed: dict[object, list[tuple[RowReading, int]]]
) -> dict[object, list[SizedRow]]:
    """Rows that say "any" or "no" where others say how many."""
    from coherently.proposals.number_phrases import NumberPhrase
    from coherently.proposals.row_readings import SLOT

    found: dict[object, list[SizedRow]] = {}
    shapes = {(key[0], key[1]): key for key in keyed if isinstance(key, tuple) and key[2] == ((None, "", ""),)}
    for one in readings:
        if one.numbers:
            continue
        position = one.words.index("any") if "any" in one.words else None
        candidates = [(*one.words[:position], SLOT, *one.words[position + 1 :])] if position is not None else []
        if one.negation == "no":
            candidates += [(SLOT, *one.words)]
        for words in candidates:
            key = shapes.get((words, one.date_key()))
            if key is None:
                continue
            none = ValueRange(Decimal(0), Decimal(0), has_low=True, has_high=True)
            some = ValueRange(low=Decimal(1), has_low=True)
            values = none if one.negation == "no" else some
            phrase = NumberPhrase((-1, -1), NumberKind.COMPARED, values)
            found.setdefault(key, []).append(SizedRow(one, values, phrase, NumberKind.COMPARED))
    return found


def _family(rows: list[SizedRow], occasion: Occasion) -> tuple[SizedFamily, Pairs, Pairs] | None:
    """One row for each range; a family of bare numbers alone is none."""
    if len(rows) < 2 or all(row.kind is NumberKind.BARE for row in rows):
        return None
    inside = [row for row in rows if row.kind is not NumberKind.OUTSIDE]
    outside = [(row, other) for row in rows if row.kind is NumberKind.OUTSIDE for other in inside if
               other.values == row.values]  # fmt: skip
    first: dict[ValueRange, SizedRow] = {}
    twins = []
    for row in sorted(inside, key=lambda row: (row.kind is NumberKind.BARE, row.name)):
        if row.values in first:
            twins.append((first[row.values], row))
        else:
            first[row.values] = row
    sample = rows[0].reading
    one_value = not any(
        row.kind is NumberKind.TOUCHED or row.reading.any_time or _has_deadline(row.reading) for row in rows
    )
    key = " ".join((*sample.words, *sample.date_key(), sample.row.group or ""))
    return SizedFamily(tuple(first.values()), occasion, key, one_value), twins, outside


def _has_deadline(one: RowReading) -> bool:
    """Whether the value is asked for at any time before a date, and not on one occasion."""
    limits = (DateRole.DEADLINE, DateRole.WITHIN, DateRole.UNTIL)
    return any(phrase.role in limits for phrase in one.dates) or bool(_BEFORE & set(one.words))


def _is_measured_once(one: RowReading) -> bool:
    """Whether the words name the moment or the edition at which the quantity has one value."""
    roles = {phrase.role for phrase in one.dates}
    lasts = roles & {DateRole.PERIOD, DateRole.WINDOW} or _LASTING & set(one.words)
    return bool(roles & {DateRole.AT, DateRole.LITERAL}) and not lasts


def _nested(family: SizedFamily) -> Iterator[ProposedLaw]:
    """A bin implies the thresholds and the larger bins that hold all its values; the nearest of them."""
    for row in family.bins:
        for side in (family.ups, family.downs):
            wider = next((other for other in side if row.values.is_nearly_within(other.values)), None)
            if wider is not None:
                ends = [] if row.values.is_within(wider.values) else [ENDS]
                yield family.of(RelationName.IMPLIES, (row, wider), ends)
        larger = [other for other in family.bins if other is not row and row.values.is_within(other.values)]
        for other in larger:
            if not any(third is not other and third.values.is_within(other.values) for third in larger):
                yield family.of(RelationName.IMPLIES, (row, other))


def _bins(family: SizedFamily) -> Iterator[ProposedLaw]:
    """Bins exclude each other, together with the thresholds beyond them; where they overlap, pair by pair."""
    bins = family.bins
    if not bins:
        return
    tiles = _tiles(family)
    together = all(_excludes(a.values, b.values) for a, b in combinations(tiles, 2))
    if together and len(tiles) > 1:
        yield from _tiled(family, tiles)
    for row in bins:
        others = [*bins[bins.index(row) + 1 :]] if not together else []
        others += [one for side in (family.ups, family.downs) if (one := _first_apart(row, side[::-1])) is not None]
        for other in others:
            is_told = together and other in tiles
            if not is_told and _excludes(row.values, other.values):
                touch = [TOUCHING] if row.values.touches(other.values) else []
                yield family.of(RelationName.EXCLUDES, (row, other), touch)


def _first_apart(row: SizedRow, weakest_first: Sequence[SizedRow]) -> SizedRow | None:
    return next((other for other in weakest_first if _excludes(row.values, other.values)), None)


def _tiles(family: SizedFamily) -> list[SizedRow]:
    """All bins, with the weakest threshold on either side that no bin overlaps."""
    low = next((r for r in family.downs[::-1] if all(_excludes(r.values, b.values) for b in family.bins)), None)
    high = next((r for r in family.ups[::-1] if all(_excludes(r.values, b.values) for b in family.bins)), None)
    if low is not None and high is not None and not _excludes(low.values, high.values):
        high = None
    return [row for row in (low, *family.bins, high) if row is not None]


def _excludes(one: ValueRange, other: ValueRange) -> bool:
    """Whether no value is in both, or only the line between two bins."""
    if one.is_apart(other):
        return True
    return one.touches(other) and (one.is_bounded or other.is_bounded) and not (one.is_point or other.is_point)


def _tiled(family: SizedFamily, tiles: list[SizedRow]) -> Iterator[ProposedLaw]:
    touching = [TOUCHING] if any(a.values.touches(b.values) for a, b in pairwise(tiles)) else []
    relation = RelationName.AT_MOST if len(tiles) > 2 else RelationName.EXCLUDES
    apart = family.of(relation, tiles, touching)
    cover = _cover(tiles)
    if cover is None:
        yield apart
        return
    whole = family.of(RelationName.PARTITION, tiles, [*touching, *cover])
    if whole.strength is not apart.strength:
        yield apart
    yield whole


def _cover(tiles: Sequence[SizedRow]) -> list[str] | None:
    """What must be assumed for the tiles to leave no value out; None if they do leave some."""
    if (
        len(tiles) < 3
        or (tiles[0].values.low > -INFINITE and tiles[0].values.low != 0)
        or tiles[-1].values.high < INFINITE
    ):
        return None
    step = _step(tiles)
    assumed = set()
    if tiles[0].values.low == 0:
        assumed.add("the quantity is never below 0")
    for one, other in pairwise(row.values for row in tiles):
        gap = other.low - one.high
        if gap == 0 and (one.has_high or other.has_low):
            continue
        if gap == 0:
            assumed.add(NEVER_EXACT)
        elif gap == step and one.has_high and other.has_low:
            assumed.add(WHOLE)
        else:
            return None
    return sorted(assumed)


def _step(tiles: Sequence[SizedRow]) -> Decimal:
    """The unit of the last digit of any end."""
    ends = [end for row in tiles for end in (row.values.low, row.values.high) if abs(end) < INFINITE]
    exponents = [exponent for end in ends if isinstance(exponent := end.as_tuple().exponent, int)]
    return Decimal(1).scaleb(min([0, *exponents]))


def _opposite(family: SizedFamily) -> Iterator[ProposedLaw]:
    """A threshold from above and one from below: complements, or apart; only the weakest of either."""
    tiles = _tiles(family) if family.bins else []
    for up in family.ups[::-1]:
        down = next((one for one in family.downs[::-1] if one.values.is_apart(up.values)), None)
        if down is None or next(one for one in family.ups[::-1] if one.values.is_apart(down.values)) is not up:
            continue
        if up.values.low == down.values.high:
            both_open = not up.values.has_low and not down.values.has_high
            yield family.of(RelationName.COMPLEMENT, (down, up), [NEVER_EXACT] if both_open else [])
            if not both_open:
                continue
        if not (up in tiles and down in tiles):
            yield family.of(RelationName.EXCLUDES, (down, up))


def _order(values: ValueRange) -> tuple[Decimal, Decimal]:
    return values.low, values.high


def _question(relation: RelationName, rows: Sequence[SizedRow]) -> str:
    """What would refute it."""
    first, second = (f"'{row.reading.row.text}'" for row in (rows[0], rows[-1]))
    if relation in (RelationName.LADDER, RelationName.IMPLIES):
        return f"Could {first} come true and yet {second} not, because they measure different things?"
    if relation is RelationName.EQUIVALENT:
        return f"Could only one of {first} and {second} come true?"
    shown = written(rows[0].number.values.low if rows[0].number.values.low > -INFINITE else rows[0].number.values.high)
    if relation in (RelationName.COMPLEMENT, RelationName.PARTITION):
        return f"Could none of them come true, or two of them, as with a value of exactly {shown}?"
    return f"Could {first} and {second} both come true, because the value is measured more than once?"
