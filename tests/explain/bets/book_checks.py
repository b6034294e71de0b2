"""Random quotes in the whole language, with fees and spreads, against linear programs over all worlds."""

import copy
import itertools
import random
from fractions import Fraction

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

import coherently as co
from tests.whole.declared_checks import DECLARATIONS, DOMAINS, formula
from tests.whole.reference import Case

SAME = 1e-9
"""What a sure profit may differ by from the best one; up to it there is none."""
PROGRAM = 1e-8
"""What the linear program of the reference is trusted for where it is a matter of something or nothing."""

NEAR = 1e-8
"""What the reference's squared distances are trusted for."""


def check_books(seed, count):
    """Hold so many books against enumeration; how many panels had a book."""
    rng = random.Random(seed)
    return sum(check_book(rng) for _ in range(count))


def check_book(rng):
    """One panel: the book is the best one at its prices, or there is none."""
    case, judges = random_quotes(rng)
    fee, spread = rng.choice((0.0, 0.0, 0.01, 0.1)), rng.choice((0.0, 0.0, 0.02))
    apart = judges == 1 or rng.random() < 0.6
    panel = case.panel()
    book = co.dutch_book(panel, between_judges=apart, fee=fee, spread=spread)
    offers = [Offer(case, rows, spread) for rows in (case.rows_apart() if apart else case.rows_by_event())]
    most = best_profit(offers, fee)
    context = (case, fee, spread, apart, most, book)
    if not book:
        assert most <= PROGRAM, context
        assert book.sentence().startswith("There is no sure profit"), context
    else:
        check_won(book, case, offers, fee, context)
        staked = float(sum(abs(bet.stake) for bet in book.bets))
        assert book.sure_profit <= most * staked + SAME, context
        if fee or spread or any(offer.quoted for offer in offers):
            assert abs(staked - 1) < 1e-9, context
            assert abs(book.sure_profit - most) <= SAME, context
    check_nearest(book, offers, context)
    return bool(book)


def check_won(book, case, offers, fee, context):
    """Each trade is at the price that is offered, and what is won in each world is what the trades bring there."""
    profits = []
    for bet in book.bets:
        offer = offers[bet.number]
        price = offer.bid if bet.stake > 0 else offer.ask
        assert price == bet.price, (bet, context)
    for i, world in enumerate(every_world(case)):
        won = Fraction(0)
        for bet in book.bets:
            offer = offers[bet.number]
            if offer.stands[i]:
                won += bet.stake * (bet.price - int(offer.won[i])) - Fraction(repr(fee)) * abs(bet.stake)
        assert book.exact_profit(world) == won, (world, context)
        profits.append(won)
    assert min(profits) >= book.exact_sure_profit > 0, context
    if book.proof.startswith("exact rational arithmetic"):
        # What bets that may be called off bring is rounded down to whole units of the stakes.
        given = any(" given " in bet.event for bet in book.bets)
        assert min(profits) - book.exact_sure_profit <= (SAME if given else 0), context
        assert book.exact_profit(book.worst_world) - book.exact_sure_profit <= (SAME if given else 0), context


def check_nearest(book, traded, context):
    """The distance lies where it is proved to; repaired quotes have no book, nor has less than a contradiction.

    Here a conditional that its condition settles is a forecast of a constant: it contradicts that at any other price.
    """
    offers = [offer.stated() for offer in traded]
    conditional = any(not offer.stands.all() for offer in offers)
    answers = book._answers
    least, square = (sum(getattr(answer, name) for answer in answers) for name in ("least", "square"))
    if not conditional:
        true = squared_distance(offers)
        assert least - NEAR <= true <= square + NEAR, (least, true, square, context)
    if book.repair and least > 0:
        repaired = [moved(offer, book.repair.get(key)) for offer, key in zip(offers, book._keys, strict=True)]
        assert best_profit(repaired, 0.0) <= 1e-7, (book.repair, context)
        repaired = [moved(offer, book.repair.get(key)) for offer, key in zip(traded, book._keys, strict=True)]
        assert best_profit(repaired, 0.0) <= 1e-7, (book.repair, context)
    if least > 1e-10:
        own = [moved(offers[book._keys.index(key)], None) for key in book.contradiction]
        assert best_profit(own, 0.0) > 0, (book.contradiction, context)
        for i in range(len(own)):
            assert best_profit(own[:i] + own[i + 1 :], 0.0) <= 1e-7, (book.contradiction, context)


def moved(offer, change):
    """The bet at its own price or quote, without a spread, after a repair that moves one of them from its old place."""
    bid, ask = offer.low, offer.high
    if change is not None:
        old, new = change
        assert any(side is not None and abs(float(side) - old) < 1e-12 for side in (bid, ask)), (bid, ask, change)
        bid, ask = (new, new) if not offer.quoted else (new, ask) if new < old else (bid, new)
    return offer.at(bid, ask)


class Offer:
    """A bet: its exact bid and ask before the fee, None where that side is not offered, and its truth in all worlds."""

    def __init__(self, case, rows, spread):
        self.won, self.stands = (truth.astype(int) for truth in case.truth(rows[0]["event"]))
        sides = [sides_of(row) for row in rows]
        weights = [Fraction(repr(row["weight"])) for row in rows]
        self.quoted = any(quoted for _, _, quoted in sides)
        half = 0 if self.quoted else Fraction(repr(spread)) / 2
        self.bid, self.ask = (
            None
            if any(side[k] is None for side in sides)
            else sum(w * side[k] for w, side in zip(weights, sides, strict=True)) / sum(weights) + (2 * k - 1) * half
            for k in (0, 1)
        )
        # The forecast itself, which a spread does not move from coherence.
        self.low, self.high = (
            None if side is None else side + (1 - 2 * k) * half for k, side in enumerate((self.bid, self.ask))
        )

    def stated(self):
        """The same as a bet on a constant, never called off, where the condition settles the event."""
        if not self.stands.any() or (self.won.any() and (self.won != self.stands).any()):
            return self
        other = copy.copy(self)
        other.won, other.stands = np.full_like(self.won, self.won.any()), np.ones_like(self.stands)
        return other

    def at(self, bid, ask):
        """The same bet at other prices."""
        other = object.__new__(Offer)
        other.won, other.stands, other.quoted, other.bid, other.ask = self.won, self.stands, self.quoted, bid, ask
        return other


def sides_of(row):
    """The exact bid and ask of a row, and whether it is a quote."""
    lower, upper = row.get("lower"), row.get("upper")
    if lower is None and upper is None:
        price = Fraction(repr(row["probability"]))
        return price, price, False
    return *(None if side is None else Fraction(repr(side)) for side in (lower, upper)), True


def best_profit(offers, fee):
    """The greatest profit in the worst world for stakes of at most 1 in total."""
    columns = []
    for offer in offers:
        if offer.bid is not None:
            columns.append(offer.stands * (float(offer.bid) - fee) - offer.won)
        if offer.ask is not None:
            columns.append(offer.won - offer.stands * (float(offer.ask) + fee))
    if not columns:
        return 0.0
    profit = np.array(columns, float).T
    matrix = np.block([[-profit, np.ones((len(profit), 1))], [np.ones((1, len(columns))), np.zeros((1, 1))]])
    right = np.append(np.zeros(len(profit)), 1.0)
    cost = np.append(np.zeros(len(columns)), -1.0)
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return -linprog(cost, matrix, right, bounds=(0, None), method="highs", options=options).fun


def squared_distance(offers):
    """The least sum of squares by which prices of a mixture of worlds miss the intervals from bid to ask."""
    share = cp.Variable(len(offers[0].won), nonneg=True)
    value = np.array([offer.won for offer in offers], float) @ share
    low = np.array([0.0 if offer.low is None else float(offer.low) for offer in offers])
    high = np.array([1.0 if offer.high is None else float(offer.high) for offer in offers])
    cost = cp.sum_squares(cp.pos(low - value)) + cp.sum_squares(cp.pos(value - high))
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(share) == 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(problem.value)


def every_world(case):
    """The worlds that the laws allow, as a person would write them."""
    worlds = list(itertools.product(*case.domains.values()))
    for i in case.allowed.tolist():
        world = dict(zip(case.domains, worlds[i], strict=True))
        yield {name: None if (name, value) == ("seat", "other") else value for name, value in world.items()}


class Quotes(Case):
    """A case whose rows are taken one by one, or by event as written."""

    def rows_apart(self):
        return [[row] for row in self.rows]

    def rows_by_event(self):
        """The rows of each event, those of one truth being one, in the order of their first appearance."""
        groups = {}
        for row in self.rows:
            joint, given = self.everywhere(row["event"])
            groups.setdefault((joint.tobytes(), given.tobytes()), []).append(row)
        return list(groups.values())

    def everywhere(self, text):
        """The truth in all worlds, whether laws allow them or not."""
        return Case(self.domains, self.rows).truth(text)


def random_quotes(rng):
    """A panel of one or two judges with points, bids, asks, conditionals, declared variables and laws."""
    names = rng.sample(list(DOMAINS), rng.randint(2, 4))
    case = Quotes({name: DOMAINS[name] for name in names}, [])
    case.declarations += [DECLARATIONS[name] for name in names if name in DECLARATIONS]
    for _ in range(rng.choice((0, 0, 1, 2))):
        law = formula(rng, names, 2)
        if len(Case(case.domains, [], [], [*case.formulas, law]).allowed):
            case.formulas.append(law)
    truth = coherent_truth(rng, case)
    judges, noise = rng.choice((1, 2)), rng.choice((0.0, 0.02, 0.2))
    pool = [text for text in (event(rng, names) for _ in range(rng.randint(2, 8))) if possible(case, text)]
    for judge in "AB"[:judges]:
        for text in pool:
            if rng.random() < 0.8:
                case.rows.append({"judge": judge, "event": text, **quote(rng, truth(text), noise)})
    if not case.rows:
        case.rows.append({"judge": "A", "event": literal_of(names), **quote(rng, 0.5, 0.0)})
    return case, len({row["judge"] for row in case.rows})


def literal_of(names):
    name = names[0]
    return name if name in ("p", "q") else "rate < 2" if name == "rate" else f"{name} = {DOMAINS[name][0]}"


def event(rng, names):
    """An event, given another one at times."""
    text = formula(rng, names, 2)
    return f"({text}) given ({formula(rng, names, 1)})" if rng.random() < 0.2 else text


def possible(case, text):
    """Whether the panel takes the event: a condition must be possible, and no certain event is a bet of note."""
    _, given = case.truth(text)
    _, everywhere = case.everywhere(text)
    return bool(given.any()) and bool(everywhere.any())


def coherent_truth(rng, case):
    """Probabilities from a random distribution over the allowed worlds, sparse at times."""
    share = np.array([rng.choice((0.0, rng.random())) for _ in case.allowed]) + 1e-3
    share /= share.sum()

    def probability(text):
        joint, given = (one @ share for one in case.truth(text))
        return float(joint / given)

    return probability


def quote(rng, p, noise):
    """A point, or a bid and an ask about it, one of which may be missing, rounded to cents at times."""
    digits = rng.choice((2, 2, 4))
    middle = min(1.0, max(0.0, p + rng.uniform(-noise, noise)))
    width = rng.choice((0.0, 0.01, 0.05))
    low, high = round(max(0.0, middle - width), digits), round(min(1.0, middle + width), digits)
    kind = rng.choice(("point", "both", "both", "bid", "ask"))
    found = {"probability": None, "lower": None, "upper": None, "weight": rng.choice((1.0, 1.0, 0.5, 3.0))}
    if kind == "point":
        found["probability"] = round(middle, digits)
    if kind in ("both", "bid"):
        found["lower"] = low
    if kind in ("both", "ask"):
        found["upper"] = high
    return found
