"""What is proved of quotes: each bound holds for whatever mixture, stakes or moves it is asked about."""

import math
import random

import numpy as np
import pytest

import coherently as co
from coherently.explain.bets.bets import bets_at_forecasts, clusters_of, truth_of
from coherently.explain.bets.market import Market, _StakesProgram
from coherently.explain.bets.quotes import _least, settle, worst
from coherently.solve.budget import NO_TIME, Budget
from tests.whole.declared_checks import DECLARATIONS, DOMAINS, formula

SEEDS = pytest.mark.parametrize("seed", range(40))


def random_quotes(rng):
    """The largest cluster of random quotes, a side of which may be missing."""
    names = rng.sample(list(DOMAINS), 3)
    rows = []
    for _ in range(rng.randint(4, 9)):
        low, high = sorted(round(rng.random(), 2) for _ in range(2))
        sides = rng.choice(({"lower": low, "upper": high}, {"lower": low}, {"upper": high}))
        rows.append({"judge": "A", "event": formula(rng, names, 3), "lower": None, "upper": None, **sides})
    laws = [DECLARATIONS[name] for name in names if name in DECLARATIONS]
    bets = bets_at_forecasts(co.Panel.from_records(rows, laws=laws))
    return bets, max(clusters_of(bets), key=lambda cluster: len(cluster.bets))


def mixtures(rng, count, worlds):
    """Random shares of so many worlds, a row each, many of which are mixtures of a few."""
    draw = np.random.default_rng(rng.randrange(10**6))
    share = draw.exponential(size=(count, worlds)) * (draw.random((count, worlds)) < 4 / worlds) + 1e-12
    return share / share.sum(axis=1, keepdims=True)


@SEEDS
def test_the_worst_world_of_any_stakes(seed):
    rng = random.Random(seed)
    bets, cluster = random_quotes(rng)
    stakes = np.array([rng.choice((0.0, rng.uniform(-1, 1))) for _ in cluster.bets])
    if not stakes.any():
        return
    price = np.array([rng.random() for _ in cluster.bets])
    won, _ = truth_of(bets, cluster, Market(bets, cluster).worlds)
    true = float((stakes @ price - won @ stakes).min())
    found, proof = worst(cluster, stakes, price, Budget())
    assert true - 1e-12 <= found <= true
    assert proof == "dynamic programming over all worlds"


@SEEDS
def test_no_coherent_prices_are_nearer_than_any_moves_prove(seed):
    rng = random.Random(seed)
    bets, cluster = random_quotes(rng)
    bid, ask = bets.bid[cluster.bets], bets.ask[cluster.bets]
    won, _ = truth_of(bets, cluster, Market(bets, cluster).worlds)
    value = mixtures(rng, 300, len(won)) @ won
    settled = settle(bets, cluster, Budget())
    value = np.vstack([value, settled.share @ truth_of(bets, cluster, settled.worlds)[0]])
    nearest = float(np.min(np.sum(np.maximum(0.0, np.maximum(bid - value, value - ask)) ** 2, axis=1)))
    assert settled.least <= nearest + 1e-15
    assert settled.least >= (1 - 1e-6) * nearest - 1e-17
    for _ in range(20):
        moves = np.array([rng.choice((0.0, 1.0, -1.0)) * rng.random() for _ in bid])
        assert _least(cluster, moves, np.where(moves > 0, bid, ask), Budget()) <= nearest + 1e-15


@SEEDS
def test_no_stakes_win_more_than_any_mixture_allows(seed):
    rng = random.Random(seed)
    bets, cluster = random_quotes(rng)
    market = Market(bets, cluster)
    cost = rng.choice((0.0, 0.01))
    program = _StakesProgram(market, bets.bid[cluster.bets] - cost, bets.ask[cluster.bets] + cost)
    best = program.solve(Budget())
    staked = float(np.abs(best.stakes).sum())
    assert staked == pytest.approx(1.0) or best.profit == pytest.approx(0.0, abs=1e-9)
    assert best.profit <= best.most <= best.profit + 1e-9
    for share in mixtures(rng, 50, len(market.worlds)):
        assert best.profit <= program._most(share)
    for _ in range(50):
        stakes = np.array([rng.choice((0.0, 1.0, -1.0)) * rng.random() for _ in cluster.bets])
        stakes /= max(1.0, float(np.abs(stakes).sum()))
        assert program.profits(stakes).min() <= best.most


def test_worlds_that_are_too_many_to_list_give_the_same_answer(monkeypatch):
    for seed in range(25):
        bets, cluster = random_quotes(random.Random(seed))
        sides = bets.bid[cluster.bets], bets.ask[cluster.bets]
        whole = Market(bets, cluster).best(*sides, Budget())
        with monkeypatch.context() as patch:
            patch.setattr("coherently.explain.bets.market.every_world", lambda *_: None)
            market = Market(bets, cluster)
            some = market.best(*sides, Budget())
            settled = settle(bets, cluster, Budget())
        assert not market.complete
        assert some.profit == pytest.approx(whole.profit, abs=1e-9)
        assert some.most == pytest.approx(whole.most, abs=1e-9)
        assert settled.least == pytest.approx(settle(bets, cluster, Budget()).least, abs=1e-12)


def test_nothing_is_claimed_when_the_time_is_over():
    bets, cluster = random_quotes(random.Random(1))
    found = Market(bets, cluster).best(bets.bid[cluster.bets], bets.ask[cluster.bets], NO_TIME)
    assert (found.profit, found.most, found.reason) == (0.0, math.inf, "the time was over")
    assert settle(bets, cluster, NO_TIME) is None
