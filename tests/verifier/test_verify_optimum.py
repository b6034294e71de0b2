"""The verifier's own solver: whatever it proves holds, and what it proves is close."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from coherently.problem import BRIER, Log, find_loss
from coherently.verifier.costs import Costs
from coherently.verifier.optimum import ConvexProgram, bracket

LOSSES = {"brier": BRIER, "log": Log(), "spherical": find_loss("spherical")}
KINDS = ("plain", "pins", "conditional", "linear")


def random_costs(rng, count, loss, *, conditional, linear=False):
    low = np.clip(rng.random(count), 0.01, 0.99)
    high = np.where(rng.random(count) < 0.3, np.minimum(0.99, low + 0.2 * rng.random(count)), low)
    return Costs(
        loss=loss, weight=rng.uniform(0.1, 1, count), low=low, high=high, linear=np.full(count, linear) & conditional
    )


def random_program(seed, loss, kind):
    """Some worlds; kind is plain, pins, conditional or linear."""
    rng = np.random.default_rng(seed)
    worlds, terms = int(rng.integers(4, 20)), int(rng.integers(2, 8))
    given = np.ones((worlds, terms))
    conditional = np.zeros(terms, bool)
    if kind in ("conditional", "linear"):
        conditional = rng.random(terms) < 0.6
        given[:, conditional] = rng.random((worlds, conditional.sum())) < 0.7
    joint = (rng.random((worlds, terms)) < 0.5) * given
    limits, equal = np.empty((worlds, 0)), np.empty(0, bool)
    if kind == "pins":
        inside = rng.dirichlet(np.ones(worlds))
        events = (rng.random((worlds, 2)) < 0.5).astype(float)
        share = inside @ events
        limits = np.column_stack([events[:, 0] - share[0], events[:, 1] - 0.9 * share[1]])
        equal = np.array([True, False])
    costs = random_costs(rng, terms, LOSSES[loss], conditional=conditional, linear=kind == "linear")
    return ConvexProgram(
        costs=costs, joint=joint, given=given, limits=limits, equal=equal, simplex=np.zeros(worlds, np.int64)
    )


def least(program):
    """The least loss by Clarabel: t stands for the part of u that loses nothing."""
    costs = program.costs
    z = cp.Variable(len(program.joint), nonneg=True)
    t = cp.Variable(len(costs), nonneg=True)
    u, h = program.joint.T @ z, program.given.T @ z
    terms = []
    for j in range(len(costs)):
        if costs.loss.name == "log":
            lost = cp.kl_div(u[j], t[j]) + cp.kl_div(h[j] - u[j], h[j] - t[j])
        elif costs.linear[j] or program.given[:, j].all():
            lost = cp.square(u[j] - t[j])
        else:
            lost = cp.quad_over_lin(u[j] - t[j], h[j])
        terms.append(costs.weight[j] * lost)
    rest = program.limits.T @ z if program.limits.shape[1] else None
    constraints = [cp.sum(z) == 1, cp.multiply(costs.low, h) <= t, t <= cp.multiply(costs.high, h)]
    if rest is not None:
        constraints += [rest[program.equal] == 0, rest[~program.equal] >= 0]
    problem = cp.Problem(cp.Minimize(cp.sum(terms)), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return float(problem.value)


@pytest.mark.parametrize(
    ("loss", "kind"),
    [*(("brier", kind) for kind in KINDS), *(("log", kind) for kind in KINDS if kind != "linear")],
)
def test_the_bracket_is_tight_around_what_another_solver_finds(loss, kind):
    for seed in range(12):
        program = random_program(seed, loss, kind)
        found, expected = bracket(program), least(program)
        assert found.is_tight(program.unit, 1e-10), (seed, found)
        assert found.low <= expected + 1e-7
        assert found.high >= expected - 1e-7


@pytest.mark.parametrize(
    ("loss", "kind"), [("brier", "linear"), *((loss, kind) for loss in LOSSES for kind in KINDS if kind != "linear")]
)
def test_whatever_is_proved_holds(loss, kind):
    """No shares that keep the limits lose less than any point and any prices prove."""
    rng = np.random.default_rng(0)
    for seed in range(15):
        program = random_program(seed, loss, kind)
        found = bracket(program)
        for _ in range(20):
            z = rng.dirichlet(np.full(len(program.joint), 0.3))
            prices = rng.normal(size=len(program.equal)) * rng.choice([0.1, 1, 10])
            low, reduced = program.proved(*program.events(z), prices)
            assert low <= found.high + 1e-12
            assert reduced.min() == pytest.approx(0.0, abs=1e-12)
            assert program.missed(z) > 1e-11 or program.value(z) >= found.low - 1e-12


def test_columns_that_join_lead_to_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    joint = (rng.random((3000, 12)) < 0.5).astype(float)
    p = rng.random(12)
    costs = Costs(loss=BRIER, weight=np.ones(12), low=p, high=p, linear=np.zeros(12, bool))
    program = ConvexProgram(
        costs=costs,
        joint=joint,
        given=np.ones_like(joint),
        limits=np.empty((3000, 0)),
        equal=np.empty(0, bool),
        simplex=np.zeros(3000, np.int64),
    )
    whole = bracket(program)
    monkeypatch.setattr("coherently.verifier.optimum.WORK", 0)
    joined = bracket(program)
    for found in (whole, joined):
        assert found.is_tight(1.0, 1e-10)
    assert joined.low == pytest.approx(whole.low, abs=1e-10)


@pytest.mark.parametrize(("loss", "linear"), [("brier", True), *((loss, False) for loss in LOSSES)])
def test_slopes_are_derivatives_and_planes_support(loss, linear):
    rng = np.random.default_rng(1)
    costs = random_costs(rng, 200, LOSSES[loss], conditional=np.ones(200, bool), linear=linear)
    h = rng.uniform(0.2, 1, 200)
    u = h * rng.uniform(0.02, 0.98, 200)
    steep, flat = costs.slopes(u, h)
    step = 1e-6
    np.testing.assert_allclose((costs.value(u + step, h) - costs.value(u - step, h)) / (2 * step), steep, atol=1e-4)
    np.testing.assert_allclose((costs.value(u, h + step) - costs.value(u, h - step)) / (2 * step), flat, atol=1e-4)
    other_h = rng.uniform(0.2, 1, 200)
    other_u = other_h * rng.uniform(0, 1, 200)
    plane = costs.value(u, h) + steep * (other_u - u) + flat * (other_h - h)
    assert (plane <= costs.value(other_u, other_h) + 1e-12).all()
    k, c = costs.curvature(u, h)
    smooth = (np.abs(u / h - costs.low) > 1e-3) & (np.abs(u / h - costs.high) > 1e-3)
    second = (costs.slopes(u + step, h)[0] - costs.slopes(u - step, h)[0]) / (2 * step)
    np.testing.assert_allclose(second[smooth], k[smooth], rtol=1e-3, atol=1e-3)
    mixed = (costs.slopes(u, h + step)[0] - costs.slopes(u, h - step)[0]) / (2 * step)
    np.testing.assert_allclose(mixed[smooth], -(k * c)[smooth], rtol=1e-3, atol=1e-3)


def test_losses_by_their_definitions():
    point = np.array([0.3, 0.2])
    called_off = Costs(
        loss=BRIER, weight=np.array([2.0, 3.0]), low=point, high=np.array([0.3, 0.4]), linear=np.zeros(2, bool)
    )
    u, h = np.array([0.25, 0.35]), np.array([0.5, 0.7])
    np.testing.assert_allclose(called_off.value(u, h), [2 * 0.5 * 0.2**2, 3 * 0.7 * 0.1**2])
    linear = Costs(
        loss=BRIER, weight=np.array([2.0, 3.0]), low=point, high=np.array([0.3, 0.4]), linear=np.ones(2, bool)
    )
    np.testing.assert_allclose(linear.value(u, h), [2 * (0.25 - 0.3 * 0.5) ** 2, 3 * (0.35 - 0.4 * 0.7) ** 2])
    log = Costs(loss=Log(), weight=np.ones(1), low=point[:1], high=point[:1], linear=np.zeros(1, bool))
    expected = 0.5 * (0.5 * np.log(0.5 / 0.3) + 0.5 * np.log(0.5 / 0.7))
    np.testing.assert_allclose(log.value(u[:1], h[:1]), [expected])
    np.testing.assert_allclose(called_off.value(np.zeros(2), np.zeros(2)), 0.0)


def test_inequalities_have_no_negative_prices():
    """Of p forecast as certain and at least 0.5 the least loss is 0, whatever a negative price would prove."""
    one = np.ones(1)
    costs = Costs(loss=BRIER, weight=one, low=one, high=one, linear=np.zeros(1, bool))
    worlds, limit = np.array([[1.0], [0.0]]), np.array([[0.5], [-0.5]])
    program = ConvexProgram(
        costs=costs,
        joint=worlds,
        given=np.ones((2, 1)),
        limits=limit,
        equal=np.zeros(1, bool),
        simplex=np.zeros(2, np.int64),
    )
    u = np.array([0.9])
    assert program.proved(u, one, np.array([-0.1]))[0] == pytest.approx(-0.01)
    assert replace(program, equal=np.ones(1, bool)).proved(u, one, np.array([-0.1]))[0] == pytest.approx(0.04)
    assert bracket(program).high == pytest.approx(0.0, abs=1e-10)


def test_what_misses_a_limit_is_not_reached():
    """Of p forecast at 0.5 and pinned to 0.3 the least loss is 0.04, though 0 is near at hand."""
    one, half = np.ones(1), np.full(1, 0.5)
    costs = Costs(loss=BRIER, weight=one, low=half, high=half, linear=np.zeros(1, bool))
    worlds = np.array([[1.0], [0.0]])
    program = ConvexProgram(
        costs=costs,
        joint=worlds,
        given=np.ones((2, 1)),
        limits=worlds - 0.3,
        equal=np.ones(1, bool),
        simplex=np.zeros(2, np.int64),
    )
    assert bracket(program).low == pytest.approx(0.04, abs=1e-10)
    assert bracket(program).high == pytest.approx(0.04, abs=1e-10)
