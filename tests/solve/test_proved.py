"""What is proved of the least distance, at mixtures far from the nearest: each rule against its formula and the truth.

Search finds the optimum before a bound is looked at, where right and wrong rules agree; here they do not.
"""

import numpy as np
import pytest
from scipy.optimize import nnls

import coherently as co
from coherently import _core
from coherently.problem import find_design, find_loss, pose, settled, split
from coherently.solve.component.metric import _lower
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.newton.support import blend_of
from coherently.solve.component.objective import objective_of
from coherently.solve.component.planes import plane_below
from coherently.solve.relaxed.certificate import relaxed_bound
from tests.problem.test_terms import worlds_of
from tests.solve.composite_reference import Reference, random_panel
from tests.truth import holds

PLAIN = ("a", "b", "c", "a & b", "a | c", "b -> c", "a ^ b", "a & b & c")


def plain_panel(seed):
    rng = np.random.default_rng(seed)
    chosen = rng.choice(PLAIN, rng.integers(3, 8), replace=False)
    return co.Panel.from_records(
        [("A", str(e), round(float(rng.uniform(0.02, 0.98)), 2), float(rng.integers(1, 9))) for e in chosen]
    )


def components(panel, loss="brier"):
    return [part.merged for part in split(pose(settled(panel), find_loss(loss)).merged)]


def least(part, coefficients):
    """The least sum over all worlds, which are enumerated."""
    return float((holds(part, worlds_of(part.n_variables)) @ coefficients).min())


def nearest_square(part, weight, target):
    """The least weighted squared distance of a mixture of all worlds, by non-negative least squares."""
    root = np.sqrt(weight)
    events = holds(part, worlds_of(part.n_variables)).astype(float)
    stiff = 1e5
    rows = np.vstack([(events * root).T, np.full(len(events), stiff)])
    share = nnls(rows, np.append(root * target, stiff))[0]
    return float(np.sum(weight * (share @ events / share.sum() - target) ** 2))


def test_the_squared_distance_is_bounded_by_the_distance_of_a_hyperplane():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        part = components(plain_panel(seed))[0]
        target = rng.uniform(-1, 2, len(part))  # as those of quadratic models are: the rule must hold for them too
        core = _core.NearestMixture(part.handle, part.weight, target, seed, space=None)
        f, level = core.objective(), core.level()
        np.testing.assert_allclose(core.gradient(), part.weight * (core.x() - target), atol=1e-12)
        assert level == pytest.approx(float(core.gradient() @ core.x()), abs=1e-12)
        lowest, truth = least(part, np.asarray(core.gradient())), nearest_square(part, part.weight, target)
        for claimed in (lowest - 0.3 * f, lowest):  # a weaker proof first, then the best there is
            g = max(0.0, level - claimed)
            core.certify(claimed)
            assert core.shortfall() == pytest.approx(g, abs=1e-12)
            assert core.lower_bound() == pytest.approx(max(0.0, f - g) ** 2 / f, rel=1e-9, abs=1e-12)
        assert core.lower_bound() <= truth + 1e-6 * max(1.0, truth)


def test_the_bound_of_another_metric_is_the_same_rule():
    # C = [0, 1], q = -1, x = 0.1: the least is 1, which f - g = 1.1 is above.
    assert _lower(1.21, 0.11) == pytest.approx(1.0)
    assert _lower(0.5, 0.7) == 0.0
    assert _lower(0.0, 0.0) == 0.0


@pytest.mark.parametrize("loss", ["log", "spherical"])
@pytest.mark.parametrize("seed", range(12))
def test_a_supporting_plane_bounds_other_losses(loss, seed):
    rng, panel, measure = np.random.default_rng(seed), plain_panel(seed), find_loss(loss)
    part = components(panel, loss)[0]
    if len(part) < len(pose(panel).merged):
        return
    worlds = worlds_of(part.n_variables).astype(np.uint8)
    blend = blend_of(part, rng.dirichlet(np.ones(len(worlds))), worlds)
    x, known = blend.sides[: len(part)], part.weight > 0
    f = float(np.sum((part.weight * measure.divergence(x, np.where(known, part.mean, 0.5)))[known]))
    forecast = measure.gradient(np.where(known, part.mean, 0.5))
    slope = np.where(known, part.weight * (measure.gradient(x) - forecast), 0.0)
    bound = bound_at(part, objective_of(part, measure), blend.sides, np.empty(0))
    expected = f + least(part, slope) - float(slope @ x)
    assert bound == pytest.approx(expected, rel=1e-8, abs=1e-9)
    nearest = co.aggregate(panel, "exact", loss)
    assert nearest.status == "optimal"
    assert bound <= nearest.objective + 1e-9
    assert f > nearest.objective + 1e-6


def bound_at(part, objective, sides, prices):
    plane = plane_below(objective, objective.planes(sides, 0.0), pin_rows(part.terms.limits, len(part)), prices)
    return plane.bound(least(part, plane.coefficients))


@pytest.mark.parametrize("form", ["brier", "log", "linearised"])
@pytest.mark.parametrize("seed", range(25))
def test_scores_with_prices_of_pins_are_bounded_by_their_tangents(form, seed):
    panel, loss = random_panel(seed), find_loss("log" if form == "log" else "brier")
    expected = Reference(panel, loss, form == "linearised")
    parts = components(panel, loss.name)
    if expected.value is None or len(parts) != 1 or not len(parts[0].terms):
        return
    (part,), rng = parts, np.random.default_rng(seed)
    objective = objective_of(part, loss, linearised=form == "linearised")
    pins = pin_rows(part.terms.limits, len(part))
    for scale in (0.0, 1.0, 10.0):
        every = worlds_of(part.n_variables).astype(np.uint8)
        sides = blend_of(part, rng.dirichlet(np.full(len(every), 0.5)), every).sides
        sign = np.where(pins.equal, rng.choice([-1.0, 1.0], len(pins)), 1.0)
        prices = scale * sign * rng.random(len(pins))
        bound = bound_at(part, objective, sides, prices)
        assert bound <= expected.value + 1e-6 * max(1.0, expected.value)
        assert bound == pytest.approx(_lagrangian_bound(part, objective, pins, sides, prices), rel=1e-5, abs=1e-5)


def _lagrangian_bound(part, objective, pins, sides, prices):
    """L(x) less the greatest fall of its tangent plane over worlds, with slopes by differences."""

    def value(at):
        return objective.value(at) - float(prices @ pins.value(at))

    step, truth = 1e-6, holds(part, worlds_of(part.n_variables)).astype(float)
    ways = np.hstack([truth, 1 - truth, np.ones((len(truth), 1))]) - sides
    slopes = [(value(sides + step * way) - value(sides - step * way)) / (2 * step) for way in ways]
    return value(sides) + min(0.0, *slopes)


@pytest.mark.parametrize("seed", range(10))
def test_any_forces_bound_the_relaxed_problem(seed):
    rng, panel = np.random.default_rng(seed), plain_panel(seed)
    merged = pose(panel).merged
    groups = find_design("global")(merged)
    nearest = co.aggregate(panel, "exact").objective
    best = 0.0
    for _ in range(50):
        forces = rng.normal(size=len(groups.members)) * rng.choice([0.1, 1.0, 10.0])
        best = max(best, relaxed_bound(merged.weight, merged.mean, groups, forces))
    assert best <= nearest + 1e-9
