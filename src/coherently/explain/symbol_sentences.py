"""Broken relations in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coherently.explain.phrases import apart, listing, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.explain.bets.bets import Bets
    from coherently.explain.relations.literals import Relation


class _NamedPrice(NamedTuple):
    """A forecast, or the bid or the ask of a bet with quotes, with its name."""

    name: str
    value: float

    def __str__(self) -> str:
        shown = number(self.value)
        # A forecast that is all but certain is not shown as certain.
        if float(shown) in (0.0, 1.0) and self.value != float(shown):
            shown = f"{self.value:.10g}"
        return f"{self.name} = {shown}"


def contradiction_words(bets: Bets, relation: Relation, *, granted: bool = False) -> str:
    """Say how forecasts break a relation, in terms of the events as they were written.

    `granted` means that they are conditional forecasts, considered where their condition holds.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.9), ("Ann", "q", 0.8), ("Ann", "p & q", 0.2)])
    >>> co.check(panel).judges["Ann"].contradictions
    ('P(p & q) = 0.20 is below P(p) + P(q) - 1 = 0.70',)
    """
    if relation.kind == "sum":
        return _sums(bets, relation)
    if relation.kind == "set":
        return set_words(bets, relation.bets)
    plain = [_price(bets, literal.bet, sold=True) for literal in relation.literals if not literal.negated]
    negated = [_price(bets, literal.bet, sold=False) for literal in relation.literals if literal.negated]
    if len(relation.literals) == 1:
        where = " wherever its condition holds" if granted or bets.settled[relation.bets[0]] else ""
        return f"{(plain or negated)[0]}, though that {'is certain' if negated else 'cannot happen'}{where}"
    if relation.kind == "one":
        return _at_most_one(plain, negated)
    if len(relation.literals) == 2:
        return _pair(bets, relation.bets, plain, negated)
    return _several(plain, negated)


def set_words(bets: Bets, found: Sequence[int]) -> str:
    """Say that some forecasts cannot hold together."""
    return f"these {len(found)} forecasts cannot hold together: {listing([_claim(bets, bet) for bet in found])}"


def _pair(bets: Bets, pair: Sequence[int], plain: list[_NamedPrice], negated: list[_NamedPrice]) -> str:
    first, second = bets.side[list(pair)].tolist()
    if len(plain) == 1:
        high, low = apart(plain[0].value, negated[0].value)
        if first == second and plain[0].name == negated[0].name:
            return f"{plain[0]}, but elsewhere {low}"
        return f"{plain[0].name} = {high} is above {negated[0].name} = {low}"
    both = plain or negated
    ends = first ^ 1 == second and not bets.quoted[list(pair)].any()
    why = "not 1" if ends else "though they exclude each other" if plain else "though one of them must happen"
    return f"{_listing(both)} sum to {number(_total(both))}, {why}"


def _several(plain: list[_NamedPrice], negated: list[_NamedPrice]) -> str:
    if not negated:
        return f"{_listing(plain)} sum to {number(_total(plain))}, though they cannot all happen"
    if not plain:
        return f"{_listing(negated)} sum to {number(_total(negated))}, though one of them must happen"
    if len(negated) == 1:
        low, bound = apart(negated[0].value, _total(plain) - (len(plain) - 1))
        return f"{negated[0].name} = {low} is below {_plus(plain)} - {len(plain) - 1} = {bound}"
    less = len(plain) - 1
    high, bound = apart(_total(plain) - less, _total(negated))
    return f"{_plus(plain)}{f' - {less}' if less else ''} = {high} is above {_plus(negated)} = {bound}"


def _at_most_one(plain: list[_NamedPrice], negated: list[_NamedPrice]) -> str:
    """P(A) + P(B) + P(C) <= 1, where some of them are complements of what was written."""
    if not negated:
        return f"{_listing(plain)} sum to {number(_total(plain))}, though they exclude each other"
    if not plain:
        most = "two of them" if len(negated) == 3 else f"all but one of these {len(negated)}"
        return f"{_listing(negated)} sum to {number(_total(negated))}, though {most} must happen"
    less = len(negated) - 1
    above, below = apart(_total(plain), _total(negated) - less)
    return f"{_plus(plain)} = {above} is above {_plus(negated)}{f' - {less}' if less else ''} = {below}"


def _sums(bets: Bets, relation: Relation) -> str:
    if any(literal.negated for literal in relation.literals):
        return set_words(bets, relation.bets)
    more = [_price(bets, bet, sold=True) for bet in relation.bets[:2]]
    less = [_price(bets, bet, sold=False) for bet in relation.bets[2:]]
    high, low = apart(_total(more), _total(less))
    return f"{_plus(more)} = {high}, but {_plus(less)} = {low}"


def _price(bets: Bets, bet: int, *, sold: bool) -> _NamedPrice:
    """The selling or the buying price of a bet."""
    text = bets.text(bet)
    word = ("bid" if sold else "ask") if bets.quoted[bet] else "P"
    return _NamedPrice(f"{word}({bets.panel.labels.get(text, text)})", float((bets.bid if sold else bets.ask)[bet]))


def _claim(bets: Bets, bet: int) -> str:
    """What is said of an event: its probability, or that it lies between a bid and an ask."""
    if not bets.quoted[bet]:
        return str(_price(bets, bet, sold=True))
    text = bets.text(bet)
    return (
        f"P({bets.panel.labels.get(text, text)}) from {number(float(bets.bid[bet]))} to {number(float(bets.ask[bet]))}"
    )


def _listing(prices: Sequence[_NamedPrice]) -> str:
    return listing([str(price) for price in prices])


def _plus(prices: Sequence[_NamedPrice]) -> str:
    return " + ".join(price.name for price in prices)


def _total(prices: Sequence[_NamedPrice]) -> float:
    return sum(price.value for price in prices)
