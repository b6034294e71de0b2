"""The least and greatest probability of an event, where worlds are held back or proofs stopped, against all worlds."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from coherently import _core
from coherently.problem import find_loss
from coherently.solve.implied import extremes as bounds_module
from coherently.solve.implied.extremes import ConditionState, KnownAnswer, conditional_extremes, extremes
from coherently.solve.implied.fixed_rows import Claims
from coherently.solve.implied.share_programs import Form, Optimum
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
    return tuple(sign * _least(part, worlds, weight, sign * truth[:, -1]) for sign in (1.0, -1.0))


def _least(part, worlds, weight, cost):
    """The least cost of a distribution that gives the known coordinates the probabilities of a mixture."""
    truth = holds(part, worlds_of(part)).astype(float)
    x = weight @ holds(part, worlds)
    known = part.weight > 0
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    equal = np.vstack([truth[:, known].T, np.ones(len(truth))])
    found = linprog(cost, A_eq=equal, b_eq=np.append(x[known], 1.0), method="highs", options=tight)
    assert found.status == 0
    return found.fun


def conditional(seed, *, laws, turned, sure):
    """A component with H and A = E & H as the last coordinates, an answer, and the truths of H and A in all worlds.

    If `sure`, H is a coordinate with a probability of its own in the answer; otherwise it may be anything.
    """
    part, every = part_of(seed, laws=laws, n_variables=4, rows=3)
    rng = np.random.default_rng(seed)
    pair = np.sort(rng.choice(part.n_variables, min(2, part.n_variables), replace=False)).astype(np.int32)
    size = len(pair)
    condition, event = rng.random(2**size) < 0.6, rng.random(2**size) < 0.5
    # A function is kept as the side that is false where all variables are.
    condition[0], event[0] = turned
    condition[-1] = event[-1] = True
    tables = [(one if not turn else ~one) for one, turn in zip((condition, condition & event), turned, strict=True)]
    part = part.extend([pair, pair], [pack(table) for table in tables])
    if sure:
        place = np.arange(len(part)) == len(part) - 2
        part = replace(part, weight=np.where(place, 1.0, part.weight), mean=np.where(place, 0.5, part.mean))
    worlds = every[rng.choice(len(every), min(5, len(every)), replace=False)]
    truth = holds(part, worlds_of(part))[:, -2:] ^ np.array(turned)
    return part, KnownAnswer(worlds, rng.dirichlet(np.ones(len(worlds))), BRIER), truth.astype(float)


def quotients(part, answer, truth):
    """The least and the greatest P(A) / P(H), by bisection on the level m at which the least P(A) - m P(H) is 0."""
    ends = []
    for sign in (1.0, -1.0):
        low, high = -1.0, 1.0
        while high - low > 1e-8:
            level = 0.5 * (low + high)
            above = _least(part, answer.worlds, answer.weight, sign * truth[:, 1] - level * truth[:, 0]) >= 0
            low, high = (level, high) if above else (low, level)
        ends.append(sign * 0.5 * (low + high))
    return ends


CASES = [
    (seed, laws, turned, sure)
    for seed in range(5)
    for laws in (False, True)
    for turned, sure in (((False, False), True), ((True, False), False), ((True, True), True), ((True, True), False))
]


@pytest.mark.parametrize(("seed", "laws", "turned", "sure"), CASES)
def test_extremes_of_conditionals_are_those_of_programs_over_all_worlds(seed, laws, turned, sure):
    part, answer, truth = conditional(seed, laws=laws, turned=turned, sure=sure)
    found = conditional_extremes(part, turned, answer, soon())
    least = _least(part, answer.worlds, answer.weight, truth[:, 0])
    most = -_least(part, answer.worlds, answer.weight, -truth[:, 0])
    assert found.certified
    if most <= 1e-6:
        assert found.condition is ConditionState.IMPOSSIBLE
        return
    assert (found.condition is ConditionState.VANISHING) == (least <= 1e-6)
    if least > 1e-3:  # the bisection stops at a difference of 1e-10 or so
        np.testing.assert_allclose((found.low, found.high), quotients(part, answer, truth), atol=1e-6)


@pytest.mark.parametrize("slack", [0.0, 0.01])
@pytest.mark.parametrize(("seed", "laws", "turned", "sure"), CASES)
def test_bounds_of_conditionals_count_what_was_not_proved(monkeypatch, seed, laws, turned, sure, slack):
    part, answer, truth = conditional(seed, laws=laws, turned=turned, sure=sure)
    if _least(part, answer.worlds, answer.weight, truth[:, 0]) <= 1e-3:
        return
    every = holds(part, worlds_of(part)).astype(float)

    class Stuck(Pricing):
        """Proves what holds of all worlds, or a little less, but shows none that is new."""

        def least(self, coefficients, *rest):
            if len(self.part) < len(part):  # the events nearby, asked by themselves
                return super().least(coefficients, *rest)
            return Priced([answer.worlds[0]], float((every @ coefficients).min()) - slack)

    monkeypatch.setattr(bounds_module, "Pricing", Stuck)
    found = conditional_extremes(part, turned, answer, soon())
    low, high = quotients(part, answer, truth)
    assert found.low <= low + 1e-7
    assert found.high >= high - 1e-7
    if found.certified:
        np.testing.assert_allclose((found.low, found.high), (low, high), atol=2e-7)


@pytest.mark.parametrize("answer", ["nearest", "any"])
@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_extremes_are_those_of_two_linear_programs(seed, laws, answer):
    # The pull towards the face of the answer must cost nothing, also where the answer is not the nearest.
    part, worlds, weight, (low, high) = asked(seed, laws=laws, answer=answer)
    found = extremes(part, KnownAnswer(worlds, weight, BRIER), soon())
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
    found = extremes(part, KnownAnswer(worlds, weight, BRIER), soon())
    assert found.low <= low + 1e-9
    assert found.high >= high - 1e-9
    if found.certified:
        assert found.low == pytest.approx(low, abs=2e-7)
        assert found.high == pytest.approx(high, abs=2e-7)


@pytest.mark.parametrize("least", [-0.3, -1e-9, 0.0, 0.2])
@pytest.mark.parametrize("floor", [1e-6, 0.1, 1.0])
def test_what_a_proof_leaves_open_counts_at_the_rarest_condition(least, floor):
    # P(A) = level P(H) + least is all that is proved, and P(H) may be anything from the floor to 1.
    given = np.geomspace(floor, 1.0, 50)
    optimum = Optimum(value=0.0, prices=np.empty(0), reduced=Form(np.empty(0)), level=0.4, floor=floor)
    assert optimum.bound(least) == pytest.approx(((0.4 * given + least) / given).min())


@pytest.mark.parametrize("seed", range(6))
def test_bounds_without_time_hold(seed):
    part, worlds, weight, (low, high) = asked(seed, laws=False, answer="any")
    found = extremes(part, KnownAnswer(worlds, weight, BRIER), soon(0.0))
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
