"""Claims besides that a result is the nearest one: about implied bounds, savings, bets and distances.

They stand in the first line of a proof, and each record says by its number which one it is of ("claim"):

    {"kind":"bound","event":E,"least":m}
        what agrees with the result gives E a probability of at least m (or "most": at most m); that of "E given H" is
        at least m if P(E & H) - m P(H) >= 0
    {"kind":"saving","least":m}
        in every world the result saves that much of the Brier penalty of the forecasts
    {"kind":"book","stakes":[[i,s],..],"least":m, and of whose bets}
        bets win at least m in every world: s units of bet i are sold at their price, or bought if s < 0
    {"kind":"no book","most":m,"worlds":[..], and of whose bets}
        no stakes of 1 in total win more than m in every world
    {"kind":"distance","least":m,"most":m,"worlds":[..],"of":whose}
        that far are forecasts from coherent ones

Bets are those "of" a judge, of all ("") or of the weighted means of the panel (null), with "fee" and "spread", numbered
by appearance; "worlds" are as in a result. Pins count for bounds only. Numbers are texts: decimals or fractions.

The first three say that a linear function of worlds is at least a number in all mixtures that keep some pins: R2 to R6
without a plane. In a mixture of worlds no bet wins more than `most` on average; so stakes of 1 in total win no more in
one of its worlds. A distance is the root of a Brier loss, with a mixture above it and planes below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm
from typing import Any

from .check_errors import BadInputError, ProofRefusedError
from .claimed_mixture import ABSENT, ResultClaim, WorldMixture, lawful_mixture, loss_above
from .language import read_event
from .leaves import WorkLeft
from .loss_planes import LinearCost, LossRule
from .numbers import decimal
from .posed_panel import Event, PosedPanel, PosedPin, PosedTerm
from .proof_records import Goal, integer, listed
from .truth_functions import TruthFunction

MET = Fraction(1, 10**6)
"""An interval that is missed by at most this counts as met."""
NUMBER = re.compile(r"-?\d{1,400}(\.\d{1,400}|/\d{1,400})?")
MOST_SHOWN = 5


@dataclass(frozen=True)
class CheckedResult:
    """A result whose mixture was checked."""

    claim: ResultClaim
    mixture: WorldMixture


@dataclass(frozen=True)
class Offer:
    """A bet on an event: it is sold at `bid` and bought at `ask`, as far as there are such prices.

    `judge` is whose forecast it is, or None of a mean.
    """

    judge: str | None
    text: str
    bid: Fraction | None
    ask: Fraction | None
    quoted: bool

    def price(self, stake: Fraction, spread: Fraction) -> Fraction | None:
        """What a unit is sold or bought at; a quote has its own spread."""
        price, away = (self.bid, -spread) if stake > 0 else (self.ask, spread)
        return price if price is None or self.quoted else price + Fraction(away, 2)


@dataclass
class ClaimReader:
    """Turns claims about a panel into goals; `answer` is the result that those of two kinds are about."""

    panel: PosedPanel
    answer: CheckedResult | None
    work: WorkLeft
    known: dict[str | None, list[Offer]] = field(default_factory=dict)

    def goals(self, claims: Any) -> list[Goal]:
        """The goals of all claims."""
        if not listed(claims, "claims"):
            raise ProofRefusedError("a list of claims is missing")
        return [self.goal(one) for one in claims]

    def goal(self, told: Any) -> Goal:
        """The goal of a claim."""
        kinds = {"bound": self._bound, "saving": self._saving, "book": self._book}
        kinds |= {"no book": self._no_book, "distance": self._distance}
        make = kinds.get(str(told.get("kind"))) if isinstance(told, dict) else None
        if make is None:
            raise ProofRefusedError(f"a claim is of one of these kinds: {', '.join(kinds)}")
        try:
            return make(told)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError):
            raise ProofRefusedError("a claim lacks a field, or has a wrong one") from None

    def _result(self) -> CheckedResult:
        if self.answer is None:
            raise BadInputError("the proof is about what a result says: name the file of the result, too")
        return self.answer

    def _bound(self, told: dict[str, Any]) -> Goal:
        end, sign = ("least", 1) if "least" in told else ("most", -1)
        level, text = number(told[end]), str(told["event"])
        try:
            event = self.panel.event(read_event(text))
        except KeyError as error:
            raise ProofRefusedError(f"{text!r} is about {error}, which no forecast or law mentions") from None
        words = f"the result implies that the probability of {text!r} is at {end} {told[end]}"
        return Goal([_linear(text, event, Fraction(sign), -sign * level)], self.pins(), True, words=words)

    def pins(self) -> list[PosedPin]:
        """What agrees with a result: it keeps pins, gives forecast events their probabilities, and meets what it meets.

        Pins and ends are moved to the result's own mixture, which misses them by rounding.
        """
        mixture, found = self._result().mixture, dict[tuple[str, ...], PosedPin]()
        for pin in self.panel.pins:
            found[pin.text, "pin"] = pin
        for one in self.panel.form.forecasts:
            text, lower, upper = one["event"], one.get("lower", ""), one.get("upper", "")
            if decimal(one["weight"]) > 0 and (text, lower, upper) not in found:
                low, high = decimal(lower or "0"), decimal(upper or "1")
                u, h = map(mixture.probability, self.panel.events[text])
                if h <= ABSENT:  # nothing is said where a condition is impossible
                    low, high = Fraction(0), Fraction(1)
                elif not (lower or upper) or not (low - MET) * h <= u <= (high + MET) * h:
                    low, high = Fraction(u, h), Fraction(u, h)
                found[text, lower, upper] = PosedPin(text, *self.panel.events[text], low, high)
        moved = []
        for pin in found.values():
            u, h = mixture.probability(pin.joint), mixture.probability(pin.condition)
            x = Fraction(u, h) if h > ABSENT else pin.low
            moved.append(replace(pin, low=min(pin.low, x), high=max(pin.high, x)))
        return moved

    def _saving(self, told: dict[str, Any]) -> Goal:
        claim, least = self._result().claim, number(told["least"])
        values, sums = dict(claim.printed), dict[str, tuple[Fraction, Fraction]]()
        for one in self.panel.form.forecasts:
            text, p, weight = one["event"], decimal(one["probability"]), decimal(one["weight"])
            if weight > 0 and ("lower" in one or "upper" in one or text not in values):
                raise ProofRefusedError(f"what is saved on {text!r} is not known")
            if weight > 0:
                a, c = sums.get(text, (Fraction(0), Fraction(0)))
                x = values[text]
                sums[text] = a - 2 * weight * (p - x), c + weight * (p * p - x * x)
        terms = [_linear(text, self.panel.events[text], a, c) for text, (a, c) in sums.items()]
        words = f"the result saves at least {told['least']} of the Brier penalty of the forecasts in every world"
        return Goal(terms, (), True, least, words)

    def offers(self, of: str | None) -> list[Offer]:
        """The bets at the forecasts of a judge, of all ("") or at the means of the panel (None)."""
        if of not in self.known:
            lines = [one for one in self.panel.form.forecasts if decimal(one["weight"]) > 0]
            groups = dict[object, list[dict[str, Any]]]()
            for place, one in enumerate(lines):
                if of in (None, "", one["judge"]):
                    groups.setdefault(one["event"] if of is None else place, []).append(one)
            if not groups:
                raise ProofRefusedError(f"there is no forecast of the judge {of!r}")
            self.known[of] = [_offer(group, mean=of is None) for group in groups.values()]
        return self.known[of]

    def _book(self, told: dict[str, Any]) -> Goal:
        fee, spread, least = number(told["fee"]), number(told["spread"]), number(told["least"])
        offers, parts, trades = self.offers(told["of"]), [], []
        for place, written in told["stakes"]:
            one, stake = offers[integer(place, 0, len(offers) - 1)], number(written)
            price = one.price(stake, spread)
            if price is None:
                raise ProofRefusedError(f"a bet on {one.text!r} has no price on that side")
            parts.append((one.text, self.panel.events[one.text], -stake, stake * price - abs(stake) * fee))
            by = "" if one.judge in (None, told["of"]) else f" by {one.judge!r}"
            trades.append(f"{'sell' if stake > 0 else 'buy'} {written.strip('-')} of {one.text!r}{by} at {price}")
        # Whole coefficients are not rounded, so that the profit is proved to the last digit.
        scale = lcm(*(x.denominator for part in parts for x in part[2:]))
        terms = [_linear(text, event, a * scale, c * scale) for text, event, a, c in parts]
        more = f" and {len(trades) - MOST_SHOWN} more" if len(trades) > MOST_SHOWN else ""
        words = f"these bets win at least {told['least']} in every world: {', '.join(trades[:MOST_SHOWN])}{more}"
        return Goal(terms, (), True, least * scale, words)

    def mixture(self, told: dict[str, Any]) -> WorldMixture:
        """The mixture of a claim."""
        return lawful_mixture(self.panel, told["worlds"], "a claim")

    def _no_book(self, told: dict[str, Any]) -> Goal:
        most, best = number(told["most"]), self.best_unit(told)
        words = f"no bets {_whose(told['of'])} of 1 in total win more than {told['most']} in every world"
        failed = "" if best <= most else f"in the mixture of the claim, a bet wins {best}"
        return Goal((), (), words=words, failed=failed)

    def best_unit(self, told: dict[str, Any]) -> Fraction:
        """What the best bet on one unit wins on average in the mixture of a claim."""
        fee, spread, best = number(told["fee"]), number(told["spread"]), Fraction(0)
        mixture = self.mixture(told)
        for one in self.offers(told["of"]):
            u, h = (mixture.probability(side) for side in self.panel.events[one.text])
            prices = [(stake, one.price(Fraction(stake), spread)) for stake in (1, -1)]
            best = max([best, *(stake * (price * h - u) - fee * h for stake, price in prices if price is not None)])
        return best

    def _distance(self, told: dict[str, Any]) -> Goal:
        least, most = number(told["least"]), number(told["most"])
        terms, scatter = self.squares(told["of"])
        upper = loss_above(self.mixture(told), terms) + scatter
        words = f"forecasts {_whose(told['of'])} are {told['least']} to {told['most']} from coherent ones"
        failed = "" if upper <= most * most else "the mixture of the claim is farther away"
        return Goal(terms, (), least=least * abs(least) - scatter, words=words, failed=failed)

    def squares(self, of: str | None) -> tuple[list[PosedTerm], Fraction]:
        """The squared distances of bets, and what they have in common with every answer.

        Several bets on an event are one of their number at their mean, and their scatter, which is constant.
        """
        rule, scatter = LossRule("brier"), Fraction(0)
        terms, points = list[PosedTerm](), dict[TruthFunction, list[tuple[PosedTerm, Fraction]]]()
        for one in self.offers(of):
            joint, given, settled, turned = self.panel.side(one.text, self.work)
            low, high = one.bid or Fraction(0), Fraction(1) if one.ask is None else one.ask
            low, high = (1 - high, 1 - low) if turned else (low, high)
            cost = rule.interval(low, high, Fraction(1)) if one.quoted else rule.merged([(low, Fraction(1))])
            term = PosedTerm(joint, given, cost, settled, one.text, turned)
            if one.quoted or settled is not None or given.constant is None:
                terms.append(term)
            else:
                points.setdefault(joint, []).append((term, low))
        for several in points.values():
            prices = [price for _, price in several]
            scatter += sum((p * p for p in prices), Fraction(0)) - Fraction(sum(prices) ** 2, len(prices))
            terms.append(replace(several[0][0], cost=rule.merged([(p, Fraction(1)) for p in prices])))
        return terms, scatter


def number(found: Any) -> Fraction:
    """A number of a claim: a text, a decimal or a fraction of ordinary size."""
    if type(found) is not str or NUMBER.fullmatch(found) is None:
        raise ProofRefusedError("the numbers of a claim are texts such as '0.25' or '1/4'")
    return Fraction(found)


def _linear(text: str, event: Event, a: Fraction, c: Fraction) -> PosedTerm:
    """The function a [E & H] + c [H]."""
    return PosedTerm(*event, LinearCost(a, c), None, text, turned=False)


def _whose(of: str | None) -> str:
    return "at the panel's means" if of is None else f"of {of!r}" if of else "of all judges"


def _offer(lines: Sequence[dict[str, Any]], *, mean: bool) -> Offer:
    """The bet at a forecast, or at the weighted means of several; a mean lacks a side that one of its quotes lacks."""
    quoted = any("lower" in one or "upper" in one for one in lines)
    total = sum((decimal(one["weight"]) for one in lines), Fraction(0))

    def price(side: str) -> Fraction | None:
        prices = [one["probability"] if not one.keys() & {"lower", "upper"} else one.get(side) for one in lines]
        sums = [decimal(one["weight"]) * decimal(x) for one, x in zip(lines, prices, strict=True) if x is not None]
        return Fraction(sum(sums, Fraction(0)), total) if len(sums) == len(lines) else None

    judge, text = None if mean else lines[0]["judge"], lines[0]["event"]
    return Offer(judge, text, bid=price("lower"), ask=price("upper"), quoted=quoted)
