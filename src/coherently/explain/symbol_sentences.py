"""Broken relations in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coherently.explain.phrases import apart, listing, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.explain.bets.bets import Bets
    from coherently.explain.relations.relation import Assertion, Relation


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
        return set_words(bets, relation.forecasts)
    told = zip(relation.assertions, relation.negated, strict=True)
    plain = [_price(bets, assertion, sold=True) for assertion, negated in told if not negated]
    told = zip(relation.assertions, relation.negated, strict=True)
    negated = [_price(bets, assertion, sold=False) for assertion, negated in told if negated]
    if len(relation.assertions) == 1:
        settled = granted or relation.granted or bets.settled[relation.forecasts[0]]
        where = " wherever its condition holds" if settled else ""
        return f"{(plain or negated)[0]}, though that {'is certain' if negated else 'cannot happen'}{where}"
    if relation.kind == "one":
        return _at_most_one(plain, negated)
    if len(relation.assertions) == 2:
        return _pair(bets, relation, plain, negated)
    return _several(plain, negated)


def set_words(bets: Bets, found: Sequence[int]) -> str:
    """Say that some forecasts cannot hold together."""
    return f"these {len(found)} forecasts cannot hold together: {listing([_assertion(bets, bet) for bet in found])}"


def _pair(bets: Bets, relation: Relation, plain: list[_NamedPrice], negated: list[_NamedPrice]) -> str:
    pair = [assertion.forecasts[0] for assertion in relation.assertions]
    first, second = bets.side[pair].tolist()
    if len(plain) == 1:
        high, low = apart(plain[0].value, negated[0].value)
        if first == second and plain[0].name == negated[0].name:
            return f"{plain[0]}, but elsewhere {low}"
        return f"{plain[0].name} = {high} is above {negated[0].name} = {low}"
    both = plain or negated
    ends = first ^ 1 == second and not relation.has_shares and not bets.quoted[pair].any()
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
    if any(relation.negated):
        return set_words(bets, relation.forecasts)
    more = [_price(bets, assertion, sold=True) for assertion in relation.assertions[:2]]
    less = [_price(bets, assertion, sold=False) for assertion in relation.assertions[2:]]
    high, low = apart(_total(more), _total(less))
    return f"{_plus(more)} = {high}, but {_plus(less)} = {low}"


def _price(bets: Bets, assertion: Assertion, *, sold: bool) -> _NamedPrice:
    """What an assertion is at least, if `sold`, or else at most, with its name: a product if a conditional makes it.

    >>> import coherently as co
    >>> rows = [("Ann", "p", 0.3), ("Ann", "q given p", 0.45), ("Ann", "p & q", 0.25)]
    >>> co.check(co.Panel.from_records(rows)).judges["Ann"].contradictions
    ('P(p & q) = 0.25 is above P(q given p) * P(p) = 0.135',)
    """
    if not assertion.is_share:
        return _bet_price(bets, assertion.forecasts[0], sold=sold)
    factors = [
        _bet_price(bets, bet, sold=sold != turned, complement=turned)
        for bet, turned in zip(assertion.forecasts, (assertion.rest, assertion.turned), strict=True)
    ]
    return _NamedPrice(" * ".join(factor.name for factor in factors), factors[0].value * factors[1].value)


def _bet_price(bets: Bets, bet: int, *, sold: bool, complement: bool = False) -> _NamedPrice:
    """The selling or the buying price of a bet; or what it leaves of 1, in a product."""
    text = bets.text(bet)
    word = ("bid" if sold else "ask") if bets.quoted[bet] else "P"
    name, value = f"{word}({bets.panel.labels.get(text, text)})", float((bets.bid if sold else bets.ask)[bet])
    return _NamedPrice(f"(1 - {name})", 1.0 - value) if complement else _NamedPrice(name, value)


def _assertion(bets: Bets, bet: int) -> str:
    """What is said of an event: its probability, or that it lies between a bid and an ask."""
    if not bets.quoted[bet]:
        return str(_bet_price(bets, bet, sold=True))
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
