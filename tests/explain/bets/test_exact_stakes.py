"""Proofs of books, one step at a time: what a stake, a price, a margin or a world is worth."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import coherently as co
from coherently.explain.bets import exact_stakes
from coherently.explain.bets.bets import bets_at_forecasts, clusters_of, truth_of
from coherently.explain.bets.distance import nearest_of
from coherently.explain.bets.exact_stakes import FLOAT_MARGIN, LARGEST, Plan, accept, prove
from coherently.explain.bets.market import every_world
from coherently.solve.budget import Budget
from coherently.solve.worlds.oracle import Least
from tests.whole.declared_checks import DECLARATIONS, DOMAINS, formula

RICH = Fraction(3)
"""A price at which any bet wins."""


def random_cluster(rng, *, given=0.3):
    """Bets on random events over declared variables, some of them conditional, that are connected."""
    while True:
        names = rng.sample(list(DOMAINS), 3)
        texts = [formula(rng, names, 3) for _ in range(rng.randint(3, 7))]
        texts = [f"({text}) given ({formula(rng, names, 1)})" if rng.random() < given else text for text in texts]
        laws = [DECLARATIONS[name] for name in names if name in DECLARATIONS]
        rows = [("A", text, round(rng.random(), 2)) for text in texts]
        try:
            bets = bets_at_forecasts(co.Panel.from_records(rows, laws=laws))
        except co.CoherentlyError:  # a condition that cannot hold
            continue
        for cluster in clusters_of(bets):
            if len(cluster.bets) > 2 and not cluster.conditional.all():
                return bets, cluster


def profits(bets, cluster, stakes, prices, worlds):
    """What stakes win in each world, in exact arithmetic."""
    won, stands = truth_of(bets, cluster, worlds)
    trades = list(zip(stakes, prices, strict=True))
    return [
        sum((s * (p - int(v)) for (s, p), v, h in zip(trades, row, there, strict=True) if h), Fraction(0))
        for row, there in zip(won, stands, strict=True)
    ]


def at(prices):
    """The prices of a plan, the same for whatever bets are left of it."""
    return lambda cluster, _: [prices[bet] for bet in cluster.bets.tolist()]


@pytest.mark.parametrize("seed", range(60))
def test_the_worst_of_all_worlds_is_what_is_proved(seed):
    rng = random.Random(seed)
    bets, cluster = random_cluster(rng)
    stakes = np.array([rng.choice((-1, 1)) * rng.uniform(0.001, 1) for _ in cluster.bets])
    prices = {
        bet: (RICH if stake > 0 else 1 - RICH) + Fraction(rng.randint(0, 99), 97)
        for bet, stake in zip(cluster.bets.tolist(), stakes, strict=True)
    }
    worlds = np.zeros((0, cluster.part.n_variables), np.uint8)
    found = prove(bets, Plan(cluster, stakes, 0.0, worlds, at(prices)), Budget())
    own = [prices[bet] for bet in cluster.bets.tolist()]
    exact = profits(bets, cluster, found.stakes, own, every_world(bets, cluster))
    assert found.exact
    # What bets that may be called off bring is rounded down, by less than a unit of the stakes each.
    slack = int(cluster.conditional.sum()) * Fraction(1, 10**8)
    assert min(exact) - slack <= found.profit <= min(exact)
    assert cluster.conditional.any() or found.profit == min(exact)
    assert [float(stake) for stake in found.stakes] == pytest.approx(stakes.tolist(), abs=1e-9)
    (there,) = profits(bets, cluster, found.stakes, own, found.world[None, :])
    assert there - slack <= min(exact)


def negation():
    bets = bets_at_forecasts(co.Panel.from_records([("A", "p", 0.6), ("A", "~p", 0.6)]))
    return bets, clusters_of(bets)[0]


class Bounded:
    """An oracle that only bounds: no world is below -1.25 units of whatever it is asked."""

    is_exact = False

    def __init__(self, part):
        self.part = part

    def least(self, coefficients, *_):
        unit = float(np.abs(coefficients).max())
        return Least(
            world=np.zeros(self.part.n_variables, np.uint8),
            value=-unit,
            bound=-1.25 * unit,
            exact=False,
            proof="a guess",
        )


def test_a_float_bound_is_lowered_by_its_margin(monkeypatch):
    """Of p and q, sold for 0.9 each, both pay at most: 1.8 less the bound, less what the bound may be wrong by."""
    bets = bets_at_forecasts(co.Panel.from_records([("A", "p & q", 0.9), ("A", "p | q", 0.9)]))
    cluster = clusters_of(bets)[0]
    monkeypatch.setattr(exact_stakes, "Oracle", Bounded)
    plan = Plan(cluster, np.array([1.0, 1.0]), 0.0, np.zeros((0, 2), np.uint8), at([Fraction(9, 10)] * 2))
    found = prove(bets, plan, Budget())
    assert not found.exact
    assert found.word == "float bound: a guess"
    assert float(found.profit) == pytest.approx(1.8 - 1.25 - 2 * FLOAT_MARGIN, abs=1e-12)
    assert found.profit < Fraction(55, 100) - Fraction(FLOAT_MARGIN)


def test_a_profit_that_the_margin_eats_is_no_book(monkeypatch):
    bets = bets_at_forecasts(co.Panel.from_records([("A", "p & q", 0.9), ("A", "p | q", 0.9)]))
    monkeypatch.setattr(exact_stakes, "Oracle", Bounded)
    price = Fraction(5, 8) + Fraction(1, 2 * 10**9)
    worlds = np.zeros((0, 2), np.uint8)
    for more, proved in ((0, False), (Fraction(2, 10**9), True)):
        plan = Plan(clusters_of(bets)[0], np.array([1.0, 1.0]), 0.0, worlds, at([price + more] * 2))
        assert (prove(bets, plan, Budget()) is not None) is proved


def test_an_answer_is_accepted_less_its_shortfall_and_margin():
    bets, cluster = negation()
    (answer,) = nearest_of(bets, Budget())
    stakes = bets.price - answer.value
    plan = Plan(cluster, stakes, answer.sure, answer.worlds, at([Fraction(6, 10)] * 2))
    short = accept(bets, plan, replace(answer, shortfall=0.005))
    assert float(short.profit) == pytest.approx(0.02 - 0.005 - 0.2 * FLOAT_MARGIN, abs=1e-13)
    assert float(short.profit) < 0.015 - 0.1 * FLOAT_MARGIN
    assert not short.exact
    assert short.stakes == [Fraction(1, 10)] * 2
    assert accept(bets, plan, replace(answer, shortfall=0.02)) is None
    assert accept(bets, plan, replace(answer, shortfall=math.inf)) is None


@pytest.mark.parametrize("seed", range(20))
def test_rounded_stakes_add_up_exactly(seed):
    """Whole numbers so small that the sum of all products that events are made of is exact in float64."""
    rng = random.Random(seed)
    large = [" & ".join(f"v{i}" for i in rng.sample(range(14), 12)) for _ in range(4)]
    texts = [*large, "v0 given " + large[0].replace("&", "|")]
    bets = bets_at_forecasts(co.Panel.from_records([("A", text, 0.5) for text in texts]))
    cluster = clusters_of(bets)[0] if seed % 2 else random_cluster(rng)[1]
    stakes = np.array([rng.choice((-1, 1)) * 10 ** rng.uniform(-6, 3) for _ in cluster.bets])
    units, power = exact_stakes._rounded(cluster, stakes)
    assert np.array_equal(units, np.rint(units))
    assert np.abs(units * 10.0**-power - stakes).max() <= 0.5001 * 10.0**-power
    sizes, given = cluster.part.sizes(), cluster.part.terms.conditionals
    total = 0.0
    for unit, at_, conditional in zip(units, cluster.coordinate, cluster.conditional, strict=True):
        joint = given.joint.coordinate[at_] if conditional else at_
        total += abs(unit) * 3.0 ** sizes[joint]
        if conditional:
            total += 2 * abs(unit) * 3.0 ** sizes[given.condition.coordinate[at_]]
    assert total <= LARGEST + 3.0 ** sizes.max() * len(units)


def test_levelled_stakes_pay_the_same_in_all_rows():
    rng = np.random.default_rng(0)
    rows = (rng.random((4, 9)) < 0.5).astype(float)
    level = exact_stakes._levelled(rng.normal(size=9), rows)
    assert np.ptp(rows @ level) < 1e-12
    assert np.abs(level).max() > 0.01
