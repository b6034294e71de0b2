"""Misfits in the words of the judge: titles and whole per cents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.explain.phrases import listing
from coherently.explain.relations.relation import RelationShape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coherently.explain.fit.sheet_values import Item
    from coherently.explain.relations.relation import Assertion, Relation

SPACE = "\N{NO-BREAK SPACE}"
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ARTICLES = ("a ", "an ")
"""How a title begins that "it means one" refers to."""


def percent(probability: float, digits: int = 0) -> str:
    r"""A probability in whole per cents, or with some digits more, after a no-break space.

    >>> percent(0.3), percent(0.125, 1), percent(0.135)
    ('30\xa0%', '12.5\xa0%', '14\xa0%')
    """
    shown = f"{round(100 * probability + 1e-9, digits):.{digits}f}" if digits else str(whole_percent(probability))
    return f"{shown}{SPACE}%"


def whole_percent(probability: float) -> int:
    """A probability in whole per cents: half a per cent goes up, whatever floats make of it.

    >>> whole_percent(0.135), whole_percent(0.285)
    (14, 29)
    """
    return int(100 * probability + 0.5 + 1e-9)


def phrase(item: Item) -> str:
    """The name of an item inside a sentence: bare if it begins with a small letter, else in quotes.

    >>> from coherently.explain.fit.sheet_values import Item
    >>> phrase(Item("e", "p", "by 31 March", 5, "a missed delivery")), phrase(Item("e", "p", "Prices rise", 1))
    ('a missed delivery by 31 March', '“Prices rise”')
    """
    if item.composed:
        return item.title
    return topical(item.topic, item.title) if item.topic else quoted(item.title)


def topical(topic: str, title: str) -> str:
    """A title inside a sentence, with the topic that it is a part of.

    >>> topical("inflation", "above 2"), topical("Units sold", "under 20")
    ('inflation above 2', '“Units sold: under 20”')
    """
    return f"{topic} {title}" if _is_bare(topic) and not title[:1].isupper() else f"“{topic}: {title}”"


def quoted(title: str) -> str:
    """A title inside a sentence: bare if it begins with a small letter, else in quotes."""
    return title if _is_bare(title) else f"“{title}”"


def _is_bare(text: str) -> bool:
    return text[:1].islower()


def short(item: Item) -> str:
    """The name of an item among others of its question."""
    return item.title if item.composed or not item.title[:1].isupper() else f"“{item.title}”"


def opened(sentence: str) -> str:
    """A sentence with a capital letter at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def number_word(count: int) -> str:
    """A small number as a word."""
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


class Wording:
    """Puts misfits into words: `items` are in the order of the numbers in misfits, with their answers in `value`.

    `other_half` gives, for the worlds of an assertion and one of the items, the item that makes them together with it.
    """

    def __init__(
        self, items: Sequence[Item], value: Sequence[float], other_half: Callable[[Assertion, int], Item | None]
    ) -> None:
        self._items, self._value, self._other_half = items, value, other_half

    def sentence(self, misfit: Relation) -> str:
        """One sentence, with the numbers in it."""
        if misfit.shape is RelationShape.PARTITION:
            return self._partition(misfit)
        if any(len(assertion.forecasts) > 1 for assertion in misfit.assertions):
            return self._share(misfit)
        write = {
            RelationShape.NEVER: self._never,
            RelationShape.SURE: self._sure,
            RelationShape.IMPLIES: self._implies,
            RelationShape.EXCLUDE: self._exclude,
            RelationShape.COVER: self._cover,
            RelationShape.OVERLAP: self._overlap,
            RelationShape.NEEDS: self._needs,
            RelationShape.ONE: self._exclude,
            RelationShape.PARTS: self._parts,
        }.get(misfit.shape, self._set)
        return opened(write(misfit.assertions))

    def _never(self, assertions: Sequence[Assertion]) -> str:
        return f"{self._told(assertions[0])} can never come true."

    def _sure(self, assertions: Sequence[Assertion]) -> str:
        return f"{self._told(assertions[0])} is sure to come true."

    def _implies(self, assertions: Sequence[Assertion]) -> str:
        low, high = assertions[1], assertions[0]
        one, other = self._item(high), self._item(low)
        digits = _apart(high.chance, low.chance)
        more, less = percent(high.chance, digits), percent(low.chance, digits)
        if high.worlds == low.worlds:
            return f"{phrase(one)} ({more}) and {phrase(other)} ({less}) mean the same, yet differ."
        if (half := self._other_half(high, low.forecasts[0])) is not None:
            names = [phrase(part) for part in sorted((half, other), key=lambda part: part.question)]
            return f"{' and '.join(names)} together ({more}) cannot be likelier than {phrase(other)} alone ({less})."
        if one.question == other.question:
            return f"{short(one)} ({more}) cannot be likelier than {short(other)} ({less})."
        means = phrase(other).startswith(ARTICLES) and not other.composed
        why = ": it means one" if means else ": if it comes true, so does the other"
        return f"{phrase(one)} ({more}) cannot be likelier than {phrase(other)} ({less}){why}."

    def _exclude(self, assertions: Sequence[Assertion]) -> str:
        every = listing([self._told(assertion) for assertion in assertions])
        return f"{every} exclude each other, yet make {_total(assertions)}."

    def _cover(self, assertions: Sequence[Assertion]) -> str:
        every = [self._told(assertion) for assertion in assertions]
        if len(assertions) == 2 and not assertions[0].worlds & assertions[1].worlds:
            return f"{listing(every)} are opposites: they make {_total(assertions)}, not {percent(1.0)}."
        return f"one of {listing(every)} must come true, yet they make only {_total(assertions)}."

    def _overlap(self, assertions: Sequence[Assertion]) -> str:
        first, second, third = assertions
        least = percent(first.chance + second.chance - 1.0)
        both = f"{self._told(first)} and {self._told(second)}"
        if first.worlds & second.worlds == third.worlds:
            return f"{both} overlap in at least {least}, not {percent(third.chance)}."
        return f"{both} overlap in at least {least}, and {self._told(third)} comes true with them."

    def _needs(self, assertions: Sequence[Assertion]) -> str:
        whole, *parts = assertions
        together = percent(sum(assertion.chance for assertion in parts))
        every = listing([self._told(assertion) for assertion in parts])
        return f"{self._told(whole)} needs one of {every}, which make {together} at most."

    def _parts(self, assertions: Sequence[Assertion]) -> str:
        *parts, whole = assertions
        every = listing([self._told(assertion) for assertion in parts])
        return f"{every} exclude each other and make {_total(parts)}, more than {self._told(whole)}."

    def _set(self, assertions: Sequence[Assertion]) -> str:
        return self.set_sentence([(assertion.forecasts[0], assertion.chance) for assertion in assertions])

    def set_sentence(self, members: Sequence[tuple[int, float]]) -> str:
        """The sentence on a set of items with their answers, of which no part fits better."""
        every = listing([f"{phrase(self._items[i])} ({percent(value)})" for i, value in members])
        if len(members) == 1:
            return opened(f"{every} does not fit with the laws.")
        return opened(f"these {number_word(len(members))} answers do not fit together: {every}.")

    def _partition(self, misfit: Relation) -> str:
        items = [self._item(assertion) for assertion in misfit.assertions]
        count, topic = number_word(len(items)), items[0].topic
        if _is_bare(topic) and not topic.startswith(ARTICLES):
            name = f"the {count} {topic} answers"
        elif topic[:1].isupper():
            name = f"the {count} answers to “{topic}”"
        else:
            name = f"the {count} answers to question {items[0].question}"
        total = sum(assertion.chance for assertion in misfit.assertions)
        # Without all options, only more than 100 % is too much.
        but = "not" if misfit.whole else "more than"
        return opened(f"{name} make {percent(total, _apart(total, 1.0))}, {but} {percent(1.0)}.")

    def _share(self, misfit: Relation) -> str:
        """A (33 %) with B in 40 % of the cases makes both together 13 %, not 8 %."""
        shares = [assertion for assertion in misfit.assertions if len(assertion.forecasts) > 1]
        others = [assertion for assertion in misfit.assertions if len(assertion.forecasts) == 1]
        if len(shares) == 2 and len(others) == 1 and _make_up(shares, others[0], misfit.size):
            return self._total_probability(shares, others[0])
        if len(shares) != 1 or len(others) != 1 or misfit.shape not in (RelationShape.IMPLIES, RelationShape.EXCLUDE):
            return self.set_sentence(self._members(misfit))
        share, other = shares[0], others[0]
        beginning, is_two = self._beginning(share)
        make, leave = ("make", "leave") if is_two else ("makes", "leaves")
        digits = _apart(share.chance, other.chance)
        made, told = percent(share.chance, digits), percent(other.chance, digits)
        if misfit.shape is RelationShape.EXCLUDE:
            most = percent(1.0 - share.chance, digits)
            return opened(f"{beginning} {leave} at most {most} for {phrase(self._item(other))}, not {told}.")
        if share.worlds == other.worlds:
            return opened(f"{beginning} {make} {self._together(share)} {made}, not {told}.")
        sum_ = f": {self._product(share)} make {made}" if is_two else ""
        if share is misfit.assertions[0]:
            return opened(f"{beginning} {make} {phrase(self._item(other))} at least {made} likely, not {told}{sum_}.")
        return opened(f"{beginning} {make} {phrase(self._item(other))} at most {made} likely, not {told}{sum_}.")

    def _total_probability(self, shares: Sequence[Assertion], other: Assertion) -> str:
        """C (38 %), A if C (43 %) and A if not C (76 %) make A 64 % likely, not 70 %: 43 % of 38 % and ..."""
        first, second = sorted(shares, key=lambda share: share.turned)
        condition = first.forecasts[1]
        # Where they are about what is left of the condition, they are about the complement of the event.
        turned = first.worlds & other.worlds == 0
        made = sum(share.chance for share in shares)
        made = 1.0 - made if turned else made
        digits = _apart(made, other.chance)
        total, told = percent(made, digits), percent(other.chance, digits)
        members = [condition, first.forecasts[0], second.forecasts[0]]
        every = listing([f"{phrase(self._items[i])} ({percent(self._value[i])})" for i in members])
        own = [(self._value[share.forecasts[0]], share.rest != turned) for share in (first, second)]
        parts = [1.0 - value if rest else value for value, rest in own]
        sum_ = f"{percent(parts[0])} of {percent(self._value[condition])} and {percent(parts[1])} of the rest"
        return opened(f"{every} make {phrase(self._item(other))} {total} likely, not {told}: {sum_} make {total}.")

    def _product(self, share: Assertion) -> str:
        """80 % of the other 50 %: the numbers that a share of the worlds is the product of."""
        conditional, condition = (self._value[i] for i in share.forecasts)
        part = percent(1.0 - conditional if share.rest else conditional)
        return f"{part} of the other {percent(1.0 - condition)}" if share.turned else f"{part} of {percent(condition)}"

    def _beginning(self, share: Assertion) -> tuple[str, bool]:
        """A (33 %) with B in 40 % of the cases; whether it names two answers side by side."""
        conditional, condition = share.forecasts
        told = f"{phrase(self._items[condition])} ({percent(self._value[condition])})"
        event, answer = self._other_half(share, condition), percent(self._value[conditional])
        if event is None or share.turned or share.rest:
            return f"{told} and {phrase(self._items[conditional])} ({answer})", True
        return f"{told} with {phrase(event)} in {answer} of the cases", False

    def _together(self, share: Assertion) -> str:
        """What a share is called."""
        half = not share.turned and not share.rest and self._other_half(share, share.forecasts[1])
        return "both together" if half else "that together"

    def _members(self, misfit: Relation) -> list[tuple[int, float]]:
        return [(i, self._value[i]) for i in sorted(misfit.forecasts)]

    def _item(self, assertion: Assertion) -> Item:
        return self._items[assertion.forecasts[0]]

    def _told(self, assertion: Assertion) -> str:
        """An assertion with its number."""
        return f"{phrase(self._item(assertion))} ({percent(assertion.chance)})"


def _make_up(shares: Sequence[Assertion], other: Assertion, size: int) -> bool:
    """Whether two conditionals, given a condition and given its complement, make up an event or its complement."""
    first, second = shares
    same = first.forecasts[1] == second.forecasts[1] and first.turned != second.turned
    return same and first.worlds | second.worlds in (other.worlds, (1 << size) - 1 ^ other.worlds)


def _total(assertions: Sequence[Assertion]) -> str:
    total = sum(assertion.chance for assertion in assertions)
    return percent(total, _apart(total, 1.0))


def _apart(one: float, other: float) -> int:
    """How many digits it takes to show two numbers apart, at most 2."""
    return next((digits for digits in (0, 1) if percent(one, digits) != percent(other, digits)), 2)
