"""The verifier's own bounds: what any point and any prices prove, against points that are reached."""

import numpy as np
import pytest

from coherently.problem import find_loss
from coherently.verifier import optimum
from coherently.verifier.costs import Costs
from coherently.verifier.optimum import ConvexProgram, bracket
from tests.kernels.draw import draw, nearest

LOSSES = ["brier", "log", "spherical"]


def program_of(seed, loss, *, limits=True, conditional=True):
    """Random events in all worlds of a few variables, some given others, with a limit and an equation."""
    rng = np.random.default_rng(seed)
    some = draw(rng, 4, 8, 3)
    truth = some.truth(some.worlds()).astype(float)
    count = truth.shape[1]
    given = np.ones_like(truth)
    for i in np.flatnonzero(rng.random(count) < (0.4 if conditional else 0.0)).tolist():
        given[:, i] = truth[:, rng.integers(count)]
    joint = truth * given
    middle = rng.uniform(0.05, 0.95, count)
    width = np.where(rng.random(count) < 0.3, 0.1, 0.0) if conditional else np.zeros(count)
    linear = (rng.random(count) < 0.3) & conditional & (loss == "brier") & ~given.all(axis=0)
    costs = Costs(
        loss=find_loss(loss),
        weight=rng.uniform(0.2, 1.0, count),
        low=np.clip(middle - width, 0.01, 0.99),
        high=np.clip(middle + width, 0.01, 0.99),
        linear=linear,
    )
    inside = rng.dirichlet(np.ones(len(truth)))
    rows = truth[:, :2] - inside @ truth[:, :2] if limits else np.empty((len(truth), 0))
    equal = np.array([False, True]) if limits else np.empty(0, bool)
    return (
        rng,
        ConvexProgram(
            costs=costs, joint=joint, given=given, limits=rows, equal=equal, simplex=np.zeros(len(truth), np.int64)
        ),
        inside,
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(8))
def test_slopes_are_those_of_the_costs(seed, loss):
    rng, program, inside = program_of(seed, loss)
    for z in rng.dirichlet(np.ones(len(inside)), 4):
        u, h = z @ program.joint, z @ program.given
        steep, flat = program.costs.slopes(u, h)
        for other in rng.dirichlet(np.ones(len(inside)), 4):
            du, dh, step = other @ program.joint - u, other @ program.given - h, 1e-6
            ends = [program.costs.value(u + t * du, h + t * dh).sum() for t in (step, -step)]
            assert steep @ du + flat @ dh == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(8))
def test_no_point_and_no_prices_prove_more_than_is_reached(seed, loss):
    rng, program, inside = program_of(seed, loss)
    found = optimum._search(program)
    assert found.bracket.low <= found.bracket.high
    assert program.missed(inside) <= 1e-12
    assert program.value(inside) >= found.bracket.low - 1e-12
    reached = min(program.value(inside), found.bracket.high)
    assert found.bracket.is_tight(program.unit, 1e-6)
    for share in (0.0, 1e-3, 1e-2, 0.1, 0.5):
        for strength in (0.0, 0.1, 1.0, 5.0):
            z = rng.dirichlet(np.ones(len(inside)))
            at = [(1 - share) * near + share * far for near, far in zip(found.events, program.events(z), strict=True)]
            prices = found.prices + strength * rng.normal(size=2)
            assert program.proved(*at, prices)[0] <= reached + 1e-9
            assert program.proved(*at, -np.abs(prices))[0] <= reached + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_a_limit_that_does_not_bind_proves_nothing(loss):
    _, program, _ = program_of(0, loss, limits=False)
    found = optimum._search(program)
    # Every world has 1 left of the limit: at a negative price it would lift the bound by as much.
    slack = np.ones((len(program.joint), 1))
    free = ConvexProgram(
        costs=program.costs,
        joint=program.joint,
        given=program.given,
        limits=slack,
        equal=np.array([False]),
        simplex=program.simplex,
    )
    for price in (-5.0, -1.0, -1e-3, 0.0, 1e-3, 1.0):
        assert free.proved(*found.events, np.array([price]))[0] <= found.bracket.high + 1e-9
    # An equation may have a price of either sign.
    none = np.zeros((len(program.joint), 1))
    tied = ConvexProgram(
        costs=program.costs,
        joint=program.joint,
        given=program.given,
        limits=none,
        equal=np.array([True]),
        simplex=program.simplex,
    )
    for price in (-1.0, 1.0):
        assert tied.proved(*found.events, np.array([price]))[0] == pytest.approx(found.bracket.low, abs=1e-9)


def test_limits_are_missed_from_the_sides_that_they_have():
    _, program, inside = program_of(0, "brier")
    for world in np.eye(len(inside)):
        for share in (0.0, 1e-6, 0.3):
            rest = ((1 - share) * inside + share * world) @ program.limits
            expected = max(-rest[0], abs(rest[1]), 0.0)
            assert program.missed((1 - share) * inside + share * world) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("seed", range(8))
def test_brackets_hold_the_least_squares_over_all_worlds(seed):
    _, program, _ = program_of(seed, "brier", limits=False, conditional=False)
    best = nearest(program.joint, program.costs.weight, program.costs.low)[1]
    found = bracket(program)
    assert found.low - 1e-9 <= best <= found.high + 1e-9
    assert found.high - found.low <= 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_a_partition_of_many_values_is_searched_by_sparse_equations(loss, monkeypatch):
    """Intervals that no distribution keeps, and a limit; dense equations find the same bounds."""
    rng, count = np.random.default_rng(3), 240
    middle = 1.3 * rng.dirichlet(np.ones(count))
    costs = Costs(
        loss=find_loss(loss),
        weight=rng.uniform(0.2, 1.0, count),
        low=np.clip(0.99 * middle, 1e-6, 0.99),
        high=np.clip(1.01 * middle, 1e-6, 0.99),
        linear=np.zeros(count, bool),
    )
    limit = np.where(np.arange(count) < 5, -1.0, 0.0)[:, None] + 0.02  # the first five together at most 0.02
    program = ConvexProgram(
        costs=costs,
        joint=np.eye(count),
        given=np.ones((count, count)),
        limits=limit,
        equal=np.array([False]),
        simplex=np.zeros(count, np.int64),
    )
    assert program.is_sparse
    sparse = bracket(program)
    assert sparse.is_tight(program.unit, 1e-9)
    monkeypatch.setattr(optimum, "MANY", 10**9)
    dense = bracket(program)
    assert dense.is_tight(program.unit, 1e-9)
    assert max(sparse.low, dense.low) <= min(sparse.high, dense.high) + 1e-12
