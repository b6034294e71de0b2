"""Broken relations in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.certify.sentences import apart, listing, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.certify.bets import Bets
    from coherently.certify.relations import Literal, Relation


def contradiction_words(bets: Bets, relation: Relation) -> str:
    """Say how forecasts break a relation, in terms of the events as they were written.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.9), ("Ann", "q", 0.8), ("Ann", "p & q", 0.2)])
    >>> co.check(panel).judges["Ann"].contradictions
    ('P(p & q) = 0.20 is below P(p) + P(q) - 1 = 0.70',)
    """
    if relation.kind == "sum":
        return _sums(bets, relation.literals)
    plain = [literal.bet for literal in relation.literals if not literal.negated]
    negated = [literal.bet for literal in relation.literals if literal.negated]
    if len(relation.literals) == 1:
        return f"{_forecast(bets, relation.bets[0])}, though that {'is certain' if negated else 'cannot happen'}"
    if relation.kind == "one":
        return _at_most_one(bets, plain, negated)
    if len(relation.literals) == 2:
        return _pair(bets, plain, negated)
    return _triple(bets, plain, negated)


def set_words(bets: Bets, found: Sequence[int]) -> str:
    """Say that some forecasts cannot hold together."""
    return f"these {len(found)} forecasts cannot hold together: {listing([_forecast(bets, bet) for bet in found])}"


def _pair(bets: Bets, plain: list[int], negated: list[int]) -> str:
    if len(plain) == 1:
        above, below = plain[0], negated[0]
        if bets.side[above] == bets.side[below]:
            return f"{_forecast(bets, above)}, but elsewhere {_number_beside(bets, below, above)}"
        high, low = apart(float(bets.price[above]), float(bets.price[below]))
        return f"{_event(bets, above)} = {high} is above {_event(bets, below)} = {low}"
    both = plain or negated
    total = number(sum(float(bets.price[bet]) for bet in both))
    ends = bets.side[both[0]] ^ 1 == bets.side[both[1]]
    why = "not 1" if ends else "though they exclude each other" if plain else "though one of them must happen"
    return f"{_listing(bets, both)} sum to {total}, {why}"


def _triple(bets: Bets, plain: list[int], negated: list[int]) -> str:
    total = number(sum(float(bets.price[bet]) for bet in plain or negated))
    if not negated:
        return f"{_listing(bets, plain)} sum to {total}, though they cannot all happen"
    if not plain:
        return f"{_listing(bets, negated)} sum to {total}, though one of them must happen"
    if len(plain) == 2:
        low, bound = apart(float(bets.price[negated[0]]), sum(float(bets.price[bet]) for bet in plain) - 1.0)
        return f"{_event(bets, negated[0])} = {low} is below {_plus(bets, plain)} - 1 = {bound}"
    high, bound = apart(float(bets.price[plain[0]]), sum(float(bets.price[bet]) for bet in negated))
    return f"{_event(bets, plain[0])} = {high} is above {_plus(bets, negated)} = {bound}"


def _at_most_one(bets: Bets, plain: list[int], negated: list[int]) -> str:
    """P(A) + P(B) + P(C) <= 1, where some of the three are complements of what was written."""
    high, low = (sum(float(bets.price[bet]) for bet in half) for half in (plain, negated))
    if not negated:
        return f"{_listing(bets, plain)} sum to {number(high)}, though they exclude each other"
    if not plain:
        return f"{_listing(bets, negated)} sum to {number(low)}, though two of them must happen"
    less = len(negated) - 1
    above, below = apart(high, low - less)
    return f"{_plus(bets, plain)} = {above} is above {_plus(bets, negated)}{f' - {less}' if less else ''} = {below}"


def _sums(bets: Bets, literals: Sequence[Literal]) -> str:
    if any(literal.negated for literal in literals):
        return set_words(bets, [literal.bet for literal in literals])
    more, less = ([literal.bet for literal in half] for half in (literals[:2], literals[2:]))
    high, low = apart(*(sum(float(bets.price[bet]) for bet in half) for half in (more, less)))
    return f"{_plus(bets, more)} = {high}, but {_plus(bets, less)} = {low}"


def _event(bets: Bets, bet: int) -> str:
    text = bets.text(bet)
    return f"P({bets.panel.labels.get(text, text)})"


def _forecast(bets: Bets, bet: int) -> str:
    price = float(bets.price[bet])
    shown = number(price)
    # A forecast that is all but certain is not shown as certain.
    if float(shown) in (0.0, 1.0) and price != float(shown):
        shown = f"{price:.10g}"
    return f"{_event(bets, bet)} = {shown}"


def _number_beside(bets: Bets, bet: int, other: int) -> str:
    return apart(float(bets.price[bet]), float(bets.price[other]))[0]


def _listing(bets: Bets, found: Sequence[int]) -> str:
    return listing([_forecast(bets, bet) for bet in found])


def _plus(bets: Bets, found: Sequence[int]) -> str:
    return " + ".join(_event(bets, bet) for bet in found)
