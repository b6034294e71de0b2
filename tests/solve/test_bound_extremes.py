"""The least and greatest probability of an event, where worlds are held back or proofs stopped, against all worlds."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from coherently import _core
from coherently.problem import find_loss
from coherently.solve import implied as bounds_module
from coherently.solve.implied import Claims, extremes
from coherently.solve.worlds.held import Priced, Pricing
from tests.kernels.draw import pack, table_of
from tests.solve.lawful import worlds_of
from tests.solve.test_bound_rules import FOREVER, part_of, soon
from tests.truth import holds

BRIER = find_loss("brier")


def asked(seed, *, laws, answer):
    """A component with one more event, the worlds of an answer, and the true extremes by two linear programs."""
    part, every = part_of(seed, laws=laws, n_variables=5, rows=9)
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, min(3, part.n_variables) + 1))
    own = np.sort(rng.choice(part.n_variables, size, replace=False)).astype(np.int32)
    part = part.extend([own], [pack(table_of(rng, size))])
    if answer == "nearest":
        core = _core.NearestMixture(
            part.handle, part.weight, np.nan_to_num(part.mean), 0, space=Pricing(part).oracle.space
        )
        core.eliminate(FOREVER)
        weight, worlds = core.worlds()
        weight, worlds = weight / weight.sum(), worlds.astype(bool)
    else:
        worlds = every[rng.choice(len(every), min(5, len(every)), replace=False)]
        weight = rng.dirichlet(np.ones(len(worlds)))
    return part, worlds, weight, _true_extremes(part, worlds, weight)


def _true_extremes(part, worlds, weight):
    truth = holds(part, worlds_of(part)).astype(float)
    x = weight @ holds(part, worlds)
    known = part.weight > 0
    equal = np.vstack([truth[:, known].T, np.ones(len(truth))])
    found = [
        linprog(
            sign * truth[:, -1],
            A_eq=equal,
            b_eq=np.append(x[known], 1.0),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        for sign in (1.0, -1.0)
    ]
    assert all(one.status == 0 for one in found)
    return found[0].fun, -found[1].fun


@pytest.mark.parametrize("answer", ["nearest", "any"])
@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_extremes_are_those_of_two_linear_programs(seed, laws, answer):
    # The pull towards the face of the answer must cost nothing, also where the answer is not the nearest.
    part, worlds, weight, (low, high) = asked(seed, laws=laws, answer=answer)
    found = extremes(part, worlds, weight, BRIER, soon())
    assert found.certified
    assert found.low == pytest.approx(low, abs=2e-7)
    assert found.high == pytest.approx(high, abs=2e-7)


@pytest.mark.parametrize("slack", [0.0, 0.01, 0.5])
@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_bounds_without_new_worlds_are_wide_and_not_certified(monkeypatch, seed, laws, slack):
    part, worlds, weight, (low, high) = asked(seed, laws=laws, answer="any")
    truth = holds(part, worlds_of(part)).astype(float)

    class Stuck(Pricing):
        """Proves what holds of all worlds, or a little less, but shows none that is new."""

        def least(self, coefficients, *rest):
            if len(self.part) < len(part):  # the events nearby, asked by themselves
                return super().least(coefficients, *rest)
            return Priced([worlds[0]], float((truth @ coefficients).min()) - slack)

    monkeypatch.setattr(bounds_module, "Pricing", Stuck)
    found = extremes(part, worlds, weight, BRIER, soon())
    assert found.low <= low + 1e-9
    assert found.high >= high - 1e-9
    if found.certified:
        assert found.low == pytest.approx(low, abs=2e-7)
        assert found.high == pytest.approx(high, abs=2e-7)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_without_time_hold(seed):
    part, worlds, weight, (low, high) = asked(seed, laws=False, answer="any")
    found = extremes(part, worlds, weight, BRIER, soon(0.0))
    assert found.low <= low + 1e-7
    assert found.high >= high - 1e-7


@pytest.mark.parametrize("seed", range(10))
def test_prices_of_rows_count_by_the_end_that_is_worth_least(seed):
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.normal(size=(2, 4)), axis=0)
    prices = np.where(rng.random(4) < 0.3, 0.0, rng.normal(size=4))
    corners = [np.where(np.array(one), low, high) for one in itertools.product([True, False], repeat=4)]
    rows = Claims(None, low, high)
    assert rows.least(prices) == pytest.approx(min(float(prices @ corner) for corner in corners))
    # A row without an end on one side has no price that would want it there.
    endless = Claims(None, np.where(prices < 0, -np.inf, low), np.where(prices > 0, np.inf, high))
    assert endless.least(np.where(prices == 0, 0.0, prices)) == pytest.approx(rows.least(prices))
