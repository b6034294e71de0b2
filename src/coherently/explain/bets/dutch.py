"""Dutch books: bets at the prices of the forecasts that win whatever happens."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import (
    FLAG,
    NUMBER,
    SCALAR,
    TEXT,
    ListOf,
    MapOf,
    ObjectOf,
    Record,
    RecordField,
    Worked,
    plain,
)
from coherently.errors import EventError, ResultError, counted
from coherently.events import Events, quote_name
from coherently.explain.bets.bets import Bets, bets_at_forecasts, bets_at_means, decimal, stated, usable
from coherently.explain.bets.conditions import called_off, taken_alone
from coherently.explain.bets.distance import TOLERANCE, nearest_of
from coherently.explain.bets.market import MARGIN
from coherently.explain.bets.stakes import Search, best_proof, free_proofs
from coherently.explain.bets.trading_terms import TradingTerms
from coherently.explain.minimal_sets import minimal
from coherently.explain.phrases import amount, trades
from coherently.note_log import notes_logged
from coherently.panel import is_plain
from coherently.panel.weights import with_weights
from coherently.solve import Proof
from coherently.solve.budget import Budget, asked_budget, check_time_limit
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from coherently.events import Value as VariableValue
    from coherently.explain.bets.bets import Key
    from coherently.explain.bets.conditions import Alone
    from coherently.explain.bets.distance import NearestPrices
    from coherently.explain.bets.exact_stakes import ProvedStakes
    from coherently.panel import Panel, Progress
    from coherently.panel.weights import Weights
    from coherently.solve import Signal

TIME_LIMIT = 30.0


@dataclass(frozen=True, slots=True)
class Trade(Viewed):
    """One trade: `stake` units of a bet that pays 1 if the event comes true, sold (or bought, if negative) at `price`.

    Both are exact; `number` is the place of the bet among all that were offered. A bet on "E given H" is called off
    where H fails: nothing is paid then, price and fee included.
    """

    key: Key
    event: str
    stake: Fraction
    price: Fraction
    number: int


OFFER_FIELDS = (
    RecordField("judge", TEXT, "whose forecast it is, where every forecast of several judges is a bet", optional=True),
    RecordField("event", TEXT, "the event, as written"),
)
BOOK = Record(
    "book",
    1,
    "Bets that win whatever happens, or why there are none (`co.dutch_book`, and in a check).",
    (
        RecordField("book", FLAG, "whether there is a book", derived=True),
        RecordField("sure_profit", NUMBER, "what it wins in the worst world, after fees", derived=True),
        RecordField("exact_sure_profit", TEXT, "the same as an exact fraction, such as 1/50"),
        RecordField(
            "bets",
            ListOf(
                ObjectOf(
                    "a bet",
                    (
                        *OFFER_FIELDS,
                        RecordField("stake", NUMBER, "what is sold, or bought if negative", derived=True),
                        RecordField("price", NUMBER, "at which price, before the fee", derived=True),
                        RecordField("exact_stake", TEXT, "the stake as an exact fraction"),
                        RecordField("exact_price", TEXT, "the price as an exact fraction"),
                    ),
                )
            ),
            "the bets; each pays 1 per unit if the event comes true, and is called off where a condition fails",
        ),
        RecordField("worst_world", MapOf(SCALAR), "values of the variables for which the book wins least"),
        RecordField("proof", TEXT, "on what the book, or that there is none, rests"),
        RecordField("verdict", TEXT, "why there is no book; empty if there is one"),
        RecordField("sentence", TEXT, "the book, or why there is none, in words"),
        RecordField(
            "contradiction",
            ListOf(ObjectOf("a forecast", (*OFFER_FIELDS, RecordField("price", NUMBER, "the forecast")))),
            "a minimal set of forecasts that contradict each other",
        ),
        RecordField(
            "repair",
            ListOf(
                ObjectOf(
                    "a change",
                    (
                        *OFFER_FIELDS,
                        RecordField("from", NUMBER, "the forecast"),
                        RecordField("to", NUMBER, "the nearest coherent one"),
                    ),
                )
            ),
            "the least change that makes the forecasts coherent",
        ),
        RecordField("fee", NUMBER, "what a unit costs"),
        RecordField("spread", NUMBER, "the difference between buying and selling price"),
        RecordField("declarations", ListOf(TEXT), "the declared variables that events may speak of"),
        RecordField("plain_events", FLAG, "whether each event is one variable with that text as its name"),
        RecordField("notes", ListOf(TEXT), "what a reader should know"),
    ),
)


@dataclass(frozen=True, eq=False, repr=False)
class Book(Worked):
    """A set of bets with a sure profit; false as a bool if there is none.

    A positive stake is sold: it brings its price and pays 1 per unit if the event comes true. A negative one is bought.
    `bets` are the trades in exact numbers and `exact_sure_profit` is their sure profit after fees. `proof` says on what
    that rests. If there is no book, `verdict` says why, or that none was proved and none ruled out. A book that was
    read from JSON has no offers without a stake.
    """

    record: ClassVar[Record] = BOOK

    bets: tuple[Trade, ...]
    exact_sure_profit: Fraction
    worst_world: dict[str, VariableValue]
    proof: str
    verdict: str
    notes: tuple[str, ...]
    terms: TradingTerms
    _offer: Bets
    _stated: Bets
    _keys: Sequence[Key]
    _answers: Sequence[NearestPrices]
    _seconds: float

    def __bool__(self) -> bool:
        return bool(self.bets)

    def _view_columns(self) -> dict[str, list[Any]]:
        """For a notebook: the bets."""
        return {
            "event": [bet.event for bet in self.bets],
            "trade": ["sell" if bet.stake > 0 else "buy" for bet in self.bets],
            "stake": [abs(float(bet.stake)) for bet in self.bets],
            "price": [float(bet.price) for bet in self.bets],
        }

    def __repr__(self) -> str:
        return f"<Book: {self.sentence()}>"

    @property
    def sure_profit(self) -> float:
        """What the book wins in the worst of all worlds, after fees."""
        return float(self.exact_sure_profit)

    @property
    def stakes(self) -> dict[Key, float]:
        """The stake on every forecast, most of them perhaps 0; empty if there is no book."""
        if not self:
            return {}
        staked = {bet.number: float(bet.stake) for bet in self.bets}
        return {key: staked.get(i, 0.0) for i, key in enumerate(self._keys)}

    @property
    def prices(self) -> dict[Key, float]:
        """The price of every forecast before the fee: the one it is traded at if it has a stake."""
        traded = {bet.number: float(bet.price) for bet in self.bets}
        return {key: traded[i] if i in traded else float(self._offer.price[i]) for i, key in enumerate(self._keys)}

    def profit(self, world: Mapping[str, VariableValue]) -> float:
        """The profit, after fees, if the variables have these values; variables without a bet may be left out."""
        return float(self.exact_profit(world))

    def exact_profit(self, world: Mapping[str, VariableValue]) -> Fraction:
        """The profit in a world as an exact number."""
        if not self:
            return Fraction(0)
        events, sides, conditions = self._meanings
        row = _truths(events, world, np.append(sides, conditions))
        won, stands = events.evaluate(sides, row)[0], events.evaluate(conditions, row)[0]
        fee = decimal(self.terms.fee)
        gains = (
            bet.stake * (bet.price - int(pays)) - fee * abs(bet.stake)
            for bet, pays, stands in zip(self.bets, won.tolist(), stands.tolist(), strict=True)
            if stands
        )
        return sum(gains, Fraction(0))

    @cached_property
    def _meanings(self) -> tuple[Events, NDArray[np.int32], NDArray[np.int32]]:
        """The events, and the side and the condition of each bet."""
        numbers = [bet.number for bet in self.bets]
        return self._offer.panel.events, self._offer.side[numbers], self._offer.condition[numbers]

    @cached_property
    def _language(self) -> dict[str, Any]:
        """What must be known to read the texts of the events."""
        panel = self._offer.panel
        return {"declarations": list(panel.laws.declarations), "plain_events": is_plain(panel)}

    @cached_property
    def contradiction(self) -> dict[Key, float]:
        """A minimal set of forecasts that contradict each other: without any one of them, the others would not.

        The search takes as long as that for the book; if that is too short, the set may not be minimal.
        """
        bad = [answer for answer in self._answers if answer.coherent is False]
        if not bad:
            return {}
        worst = max(bad, key=lambda answer: answer.square)
        budget = Budget().within(self._seconds)
        found = minimal(self._stated, worst, budget)
        own = self._stated.take(found)
        price = own.price.copy()
        for answer in nearest_of(own, budget):
            price[answer.cluster.bets] = answer.target
        return {self._keys[i]: value for i, value in zip(found.tolist(), price.tolist(), strict=True)}

    @cached_property
    def repair(self) -> dict[Key, tuple[float, float]]:
        """The smallest change, in sum of squares, that makes the forecasts coherent: old and new value of each.

        For a quote it is the bid or the ask that moves. Forecasts whose nearest coherent ones are not known, since the
        time was too short for them, are left out.
        """
        changed = {}
        for answer in filter(_is_settled, self._answers):
            moves = zip(answer.cluster.bets.tolist(), answer.target.tolist(), answer.value.tolist(), strict=True)
            changed.update({i: (old, new) for i, old, new in moves if abs(new - old) > TOLERANCE})
        return {self._keys[i]: changed[i] for i in sorted(changed)}

    def sentence(self) -> str:
        """The book, or why there is none, in words."""
        return self._words

    @cached_property
    def _words(self) -> str:
        if not self:
            return self.verdict
        labels = self._offer.panel.labels
        named = [(_name(bet.key, bet.event, labels), float(bet.stake), float(bet.price)) for bet in self.bets]
        return f"Sure to win {amount(self.sure_profit)} whatever happens: {trades(named)}."

    def proof_file(self, panel: Panel, weights: Weights | None = None) -> bytes:
        """A proof for `coherently.proofcheck`, as the bytes of a file: what the book wins, or that there is none.

        `panel` and `weights` are those that the book was made of. The checker reads the prices in the panel by itself.

        >>> import coherently as co
        >>> panel = co.Panel.from_records([("Ann", "rain", 0.6), ("Ann", "~rain", 0.6)])
        >>> proof = co.dutch_book(panel).proof_file(panel)
        >>> print(*co.verify(panel, proof=proof).proved)
        these bets win at least 0.02 in every world: sell 0.1 of 'rain' at 3/5, sell 0.1 of '~rain' at 3/5
        """
        from coherently.explain.bet_proofs import book_proof

        return book_proof(self, panel, weights)

    def _plain(self) -> dict[str, Any]:
        return {
            "book": bool(self),
            "sure_profit": self.sure_profit,
            "exact_sure_profit": str(self.exact_sure_profit),
            "bets": [_bet_values(bet) for bet in self.bets],
            "worst_world": plain(self.worst_world),
            "proof": self.proof,
            "verdict": self.verdict,
            "sentence": self.sentence(),
            "contradiction": [{**_key_json(key), "price": price} for key, price in self.contradiction.items()],
            "repair": [{**_key_json(key), "from": old, "to": new} for key, (old, new) in self.repair.items()],
            "fee": float(self.terms.fee),
            "spread": float(self.terms.spread),
            **self._language,
            "notes": list(self.notes),
        }

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Book:
        bets = tuple(_read_bet(row, i) for i, row in enumerate(values["bets"]))
        language = {name: values[name] for name in ("declarations", "plain_events")}
        return cls._retold(
            bets=bets,
            exact_sure_profit=_fraction(values["exact_sure_profit"], "exact_sure_profit"),
            terms=TradingTerms(float(values["fee"]), float(values["spread"])),
            notes=tuple(values["notes"]),
            contradiction={_read_key(row): float(row["price"]) for row in values["contradiction"]},
            repair={_read_key(row): (float(row["from"]), float(row["to"])) for row in values["repair"]},
            **{name: values[name] for name in ("worst_world", "proof", "verdict")},
            _words=values["sentence"],
            _keys=[bet.key for bet in bets],
            _language=language,
            _meanings=_read_meanings(bets, **language),
        )


def _bet_values(bet: Trade) -> dict[str, Any]:
    """A bet in plain values: numbers for readers, and exact ones to be read back."""
    exact = {"exact_stake": str(bet.stake), "exact_price": str(bet.price)}
    return {**_key_json(bet.key), "stake": float(bet.stake), "price": float(bet.price), **exact}


def _read_bet(row: dict[str, Any], number: int) -> Trade:
    stake, price = (_fraction(row[name], f"bets[{number}].{name}") for name in ("exact_stake", "exact_price"))
    return Trade(key=_read_key(row), event=row["event"], stake=stake, price=price, number=number)


def _read_key(row: dict[str, Any]) -> Key:
    return (row["judge"], row["event"]) if "judge" in row else row["event"]


def _fraction(text: str, place: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ResultError(f"{place} is {text!r}; it must be a fraction, such as 1/50") from None


def _read_meanings(
    bets: Sequence[Trade], declarations: Sequence[str], plain_events: bool
) -> tuple[Events, NDArray[np.int32], NDArray[np.int32]]:
    """The meanings of the texts of bets."""
    events, texts = Events(), [bet.event for bet in bets]
    faults = events.declare(declarations)
    reading = events.add_names(texts) if plain_events else events.add(texts)
    for fault in (*faults, *reading.faults):
        raise ResultError(f"the events of the book cannot be read: {fault}")
    return events, reading.event, reading.condition


@notes_logged(lambda book: book.notes)
def dutch_book(
    panel: Panel,
    *,
    between_judges: bool = False,
    fee: float = 0.0,
    spread: float = 0.0,
    weights: Weights | None = None,
    time_limit: float = TIME_LIMIT,
    progress: Progress | None = None,
    cancel: Signal | None = None,
) -> Book:
    """Find bets at the prices of the forecasts that win whatever happens, or show that there are none.

    For one judge, every forecast is one bet. The forecasts of several judges are replaced by one bet
    for each event as written, at the weighted mean of its forecasts; with `between_judges` every forecast
    is a bet, named (judge, event), and disagreement is a profit too. A bet is sold half a `spread` below its price and
    bought half a spread above it; a quote, in the columns lower and upper, is sold at its bid and bought at its ask,
    and a side that it lacks is not traded. A unit costs a `fee`, which is returned with its price where a bet on
    "E given H" is called off.

    Without such costs the stakes are the forecasts minus the nearest coherent ones: the best book for its size, where
    size is the root of the sum of squared stakes. With costs or quotes they are the best stakes that add up to 1. The
    stakes are rounded to decimal numbers and their profit in the worst world is computed in exact arithmetic, with each
    forecast as the decimal number that it is printed as; if dynamic programming is not possible, `proof` names the
    bound used instead. There is no book if forecasts are within 1e-9 of coherent ones, or if no stakes that add up to 1
    win more than 1e-9 for sure. `time_limit` is in seconds; `weights` (of the judges, for the means), `progress` and
    `cancel` are as in `co.aggregate`.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "rain", 0.6), ("Ann", "~rain", 0.6)])
    >>> book = co.dutch_book(panel)
    >>> print(book.sentence())
    Sure to win 0.02 whatever happens: sell 0.1 of [rain] at 0.60 and sell 0.1 of [~rain] at 0.60.
    >>> round(book.profit({"rain": True}), 6), bool(co.dutch_book(panel, fee=0.2))
    (0.02, False)
    """
    check_time_limit(time_limit)
    panel, said = with_weights(panel, weights)
    panel, notes = usable(panel)
    bets = stated(panel, bets_at_forecasts if between_judges or len(panel.judges) <= 1 else bets_at_means)
    terms, budget = TradingTerms(fee, spread), asked_budget(progress, cancel).within(time_limit)
    # With costs or quotes there are two searches: for the distance, and for the best stakes.
    answers = nearest_of(bets, budget if terms.free(bets) else budget.share(0.5))
    alone = taken_alone(bets, answers, budget)
    return make_book(bets, answers, alone, terms, budget=budget, notes=said + notes, with_judges=between_judges)


def make_book(
    bets: Bets,
    answers: Sequence[NearestPrices],
    alone: Sequence[Alone],
    terms: TradingTerms,
    budget: Budget,
    *,
    notes: tuple[str, ...] = (),
    with_judges: bool = False,
) -> Book:
    """The book on these bets, from their nearest coherent prices, and those where a condition is granted."""
    seconds, offer = budget.left(), bets.as_offered()
    traded = answers if offer is bets else nearest_of(offer, budget)
    suspects = [answer for answer in traded if not answer.coherent]
    if terms.free(bets):
        search = Search(free_proofs(offer, suspects, budget))
    else:
        search = best_proof(offer, suspects, terms, budget)
    proofs = search.proofs
    keys = bets.keys(with_judges=with_judges)
    trades = [trade for proof in proofs for trade in _trades(offer, keys, proof, terms)]
    known = [answer.coherent for answer in (*answers, *(answer for one in alone for answer in one.answers))]
    return Book(
        bets=tuple(sorted(trades, key=lambda bet: bet.number)),
        exact_sure_profit=sum((proof.profit for proof in proofs), Fraction(0)),
        worst_world=_worst_world(bets.panel.events, proofs),
        proof=_proof(traded, search),
        verdict="" if proofs else _verdict(offer, traded, terms, search, known=known, late=budget.is_over()),
        notes=notes + called_off(bets, alone) + _unrepaired(answers),
        terms=terms,
        _offer=offer,
        _stated=bets,
        _keys=keys,
        _answers=answers,
        _seconds=seconds,
    )


def _is_settled(answer: NearestPrices) -> bool:
    return bool(answer.coherent) or answer.is_known


def _unrepaired(answers: Sequence[NearestPrices]) -> tuple[str, ...]:
    """A note on the forecasts of which it is not known what would make them coherent."""
    count = sum(len(answer.cluster.bets) for answer in answers if not _is_settled(answer))
    return (f"forecasts without a repair, since the nearest coherent ones are not known: {count:,}",) if count else ()


def _truths(events: Events, world: Mapping[str, VariableValue], sides: NDArray[np.int32]) -> NDArray[np.bool_]:
    """The truths of events from the values of their variables; other variables may be left out."""
    names, row = events.variables, np.zeros((1, len(events.variables)), np.bool_)
    used = set(np.unique(events.supports(sides // 2)[1]).tolist())
    choices = [choice for choice in events.choices() if not used.isdisjoint(choice.atoms.tolist())]
    plain = sorted(used.difference(*(choice.atoms.tolist() for choice in choices)))
    wanted = [*(names[v] for v in plain), *(choice.name for choice in choices)]
    absent = [name for name in wanted if name not in world]
    if absent:
        raise EventError(f"the world has no value for {', '.join(map(quote_name, absent))}", code="missing-value")
    row[0, plain] = [bool(world[names[v]]) for v in plain]
    for choice in choices:
        row[0, choice.atoms] = choice.encode(world[choice.name])
    return row


def _worst_world(events: Events, proofs: Sequence[ProvedStakes]) -> dict[str, VariableValue]:
    """The worst world for the book: the values of its variables."""
    if not proofs:
        return {}
    row = np.zeros((1, len(events.variables)), np.bool_)
    for proof in proofs:
        row[0, proof.cluster.variables] = proof.world
    return events.worlds(row, np.concatenate([proof.cluster.variables for proof in proofs]))[0]


def _trades(bets: Bets, keys: Sequence[Key], proof: ProvedStakes, terms: TradingTerms) -> list[Trade]:
    own = proof.cluster.bets
    prices = terms.exact(bets, own, np.array([float(stake) for stake in proof.stakes]))
    return [
        Trade(key=keys[i], event=bets.text(i), stake=stake, price=price, number=i)
        for i, stake, price in zip(own.tolist(), proof.stakes, prices, strict=True)
        if stake
    ]


def _proof(answers: Sequence[NearestPrices], search: Search) -> str:
    """On what the book, or the claim that there is none, rests."""
    if search.proofs:
        return "; ".join(dict.fromkeys(proof.word for proof in sorted(search.proofs, key=lambda proof: proof.exact)))
    open_ = [answer for answer in answers if not answer.coherent]
    if open_:
        return search.proof or "; ".join(dict.fromkeys(answer.proof for answer in open_))
    worlds = sum(len(answer.weight) for answer in answers)
    return f"a mixture of {counted(worlds, 'world')}" if worlds else "no two bets are related"


def _verdict(
    bets: Bets,
    answers: Sequence[NearestPrices],
    terms: TradingTerms,
    search: Search,
    *,
    known: Sequence[bool | None],
    late: bool,
) -> str:
    """Why there is no book; `known` is what is known of coherence, also where conditions are granted."""
    what, proof = _priced(bets), _proof(answers, search)
    if all(answer.coherent for answer in answers):
        if False in known:
            return (
                f"There is no sure profit: the {what} contradict each other, or what is certain, only where a "
                f"condition holds, and bets given it are called off elsewhere (proof: {proof})."
            )
        if None in known:
            return f"There is no sure profit (proof: {proof})."
        return f"There is no sure profit: the {what} are coherent to within {TOLERANCE:g} (proof: {proof})."
    if search.most <= MARGIN:
        after = "" if terms.costless else " after costs"
        far = _distance_words(answers)
        though = f", though the {what} lie {far} from coherent ones" if far and not terms.costless else ""
        return f"There is no sure profit{after} above {MARGIN:g} per unit{though} (proof: {proof})."
    late = late or search.late or any(answer.proof is Proof.TOO_LATE for answer in answers)
    remedy = "Raise the time limit for more." if late else f"What was tried: {proof}."
    return f"No sure profit was proved, and none was ruled out. {remedy}"


def _priced(bets: Bets) -> str:
    """What the bets are traded at, so that nobody takes the means of a panel for what its judges say."""
    quoted = bool(bets.quoted.any())
    if bets.source is not None:
        return "means of the quotes" if quoted else "panel's means"
    return "quotes" if quoted else "forecasts"


def _distance_words(answers: Sequence[NearestPrices]) -> str:
    """The distance from coherence in four digits; empty if these are not known."""
    if not all(answer.is_mixture for answer in answers):
        return ""
    most, least = (math.sqrt(sum(squares)) for squares in zip(*((a.square, a.least) for a in answers), strict=True))
    return amount(most) if amount(most) == amount(least) else ""


def _name(key: Key, event: str, labels: Mapping[str, str]) -> str:
    shown = labels.get(event, event)
    return shown if isinstance(key, str) else f"{shown} by {key[0]}"


def _key_json(key: Key) -> dict[str, str]:
    return {"event": key} if isinstance(key, str) else {"judge": key[0], "event": key[1]}
