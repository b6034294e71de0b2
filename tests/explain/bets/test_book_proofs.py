"""What the proof of a book claims, against its profit in every world in exact arithmetic."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import coherently as co
from coherently.explain.bets import exact_stakes
from coherently.explain.bets.bets import bets_at_forecasts, decimal, truth_of
from coherently.explain.bets.distance import nearest_of
from coherently.explain.bets.exact_stakes import FLOAT_MARGIN, Plan, accept, prove
from coherently.solve.budget import Budget
from coherently.solve.component import nearest as nearest_module
from coherently.solve.worlds import grounds as grounds_module
from coherently.solve.worlds.oracle import Least
from tests.kernels.draw import all_worlds
from tests.solve.exact_checks import random_panel

FOREVER = 1e9


def one_judge(seed, n_variables=5, rows=10):
    panel = random_panel(np.random.default_rng(seed), n_variables, rows, 3)
    return co.Panel.from_records(
        [
            ("A", panel.written.text[event], round(p, 3))
            for event, p in zip(panel.event_index.tolist(), panel.probability.tolist(), strict=True)
        ]
    )


def worst(book, names):
    worlds = itertools.product([False, True], repeat=len(names))
    return min(book.exact_profit(dict(zip(names, world, strict=True))) for world in worlds)


def stake(book):
    return sum((abs(bet.stake) for bet in book.bets), Fraction(0))


@pytest.mark.parametrize("costs", [{}, {"fee": 0.003}, {"spread": 0.01}, {"fee": 0.001, "spread": 0.004}])
@pytest.mark.parametrize("route", ["all worlds", "float bounds"])
@pytest.mark.parametrize("seed", range(6))
def test_a_book_claims_no_more_than_it_wins_in_its_worst_world(monkeypatch, seed, route, costs):
    panel = one_judge(seed)
    if route == "float bounds":
        monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
        monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
        monkeypatch.setattr(nearest_module, "EAGER_STATES", 0)
    book = co.dutch_book(panel, **costs)
    if not book:
        pytest.skip("the forecasts have no book at these costs")
    least = worst(book, panel.events.variables)
    assert 0 < book.exact_sure_profit <= least
    assert book.exact_profit(dict.fromkeys(panel.events.variables, False) | book.worst_world) >= least
    if route == "all worlds":
        assert book.exact_sure_profit == least
        assert book.exact_profit(dict.fromkeys(panel.events.variables, False) | book.worst_world) == least
    else:
        assert book.proof.startswith("float bound")
        assert book.exact_sure_profit <= least - Fraction(9, 10) * decimal(FLOAT_MARGIN) * stake(book)


def profits(bets, cluster, stakes, worlds):
    """What stakes win in worlds of the cluster."""
    won, stands = truth_of(bets, cluster, worlds)
    return stands @ (stakes * bets.price[cluster.bets]) - won @ stakes


@pytest.mark.parametrize("seed", range(10))
def test_bounds_of_near_prices_prove_no_more_than_their_stakes_win(seed):
    bets = bets_at_forecasts(one_judge(seed))
    rng = np.random.default_rng(seed)
    for answer in nearest_of(bets, Budget()):
        if answer.coherent or not answer.is_mixture:
            continue
        cluster = answer.cluster
        worlds = all_worlds(cluster.part.n_variables)
        won, _ = truth_of(bets, cluster, worlds)
        price = bets.price[cluster.bets]
        for share in (0.0, 1e-3, 1e-2, 0.1):
            # Other coherent prices, whose stakes win less in some world, by their shortfall.
            value = (1 - share) * answer.value + share * rng.dirichlet(np.ones(len(worlds))) @ won
            stakes = price - value
            expected = float(stakes @ stakes)
            shortfall = float((won @ stakes).max() - value @ stakes)
            held = replace(answer, value=value, shortfall=max(0.0, shortfall))
            found = accept(bets, Plan(cluster, stakes, expected, answer.worlds, lambda *_: ()), held)
            least = float(profits(bets, cluster, stakes, worlds).min())
            if found is None:
                assert least <= 2 * FLOAT_MARGIN * np.abs(stakes).sum() + 1e-12
                continue
            assert float(found.profit) <= least - 0.9 * FLOAT_MARGIN * np.abs(stakes).sum()
            assert float(found.profit) >= least - 1.1 * FLOAT_MARGIN * np.abs(stakes).sum() - 1e-12


@pytest.mark.parametrize("short", [0.0, 1e-3, 0.05])
@pytest.mark.parametrize("seed", range(6))
def test_a_bound_that_is_not_exact_counts_for_what_it_proves(monkeypatch, seed, short):
    class Careful:
        """Shows the best world instead of the worst, and proves what holds of all of them or less, in floats."""

        is_exact = False

        def __init__(self, part):
            self.part = part

        def least(self, coefficients, *_):
            worlds = all_worlds(self.part.n_variables)
            values = self.part.functions.hold(worlds) @ coefficients
            place = int(values.argmax())
            scale = float(np.abs(coefficients).sum())
            return Least(
                world=worlds[place],
                value=float(values[place]),
                bound=float(values.min()) - short * scale,
                exact=False,
                proof="floats",
            )

    bets = bets_at_forecasts(one_judge(seed))
    monkeypatch.setattr(exact_stakes, "Oracle", Careful)
    for answer in nearest_of(bets, Budget()):
        if answer.coherent or not answer.is_mixture:
            continue
        cluster = answer.cluster
        stakes = bets.price[cluster.bets] - answer.value
        exact = [decimal(p) for p in bets.price[cluster.bets].tolist()]
        plan = Plan(cluster, stakes, float(stakes @ stakes), answer.worlds, lambda *_, exact=exact: exact)
        found = prove(bets, plan, Budget())
        if found is None:
            assert short > 0
            continue
        assert not found.exact
        assert found.word == "float bound: floats"
        used = np.array([float(one) for one in found.stakes])
        least = float(profits(bets, cluster, used, all_worlds(cluster.part.n_variables)).min())
        assert float(found.profit) <= least - 0.9 * FLOAT_MARGIN * np.abs(used).sum()
        if short == 0:
            assert float(found.profit) >= least - 1.1 * FLOAT_MARGIN * np.abs(used).sum() - 1e-12
