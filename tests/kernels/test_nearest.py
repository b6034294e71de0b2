"""The nearest mixture of worlds and the bound that it certifies, at any mixture, against all worlds at once."""

import numpy as np
import pytest

from coherently import _core
from tests.kernels.draw import Sum, distance, draw, nearest, with_laws

FOREVER = 60.0


def drawn(seed, *, laws=False, weights="mixed", most=3):
    """Functions with a weight and a target each."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    some = draw(rng, n, int(rng.integers(1, 4 * n)), most)
    if laws:
        some = with_laws(rng, some, int(rng.integers(0, 3)), int(rng.integers(0, 3)))
    m = len(some)
    weight = {"mixed": 10 ** rng.uniform(-1, 1, m), "zeros": rng.choice([0.0, 1.0, 3.0], m), "flat": np.ones(m)}[
        weights
    ]
    return some, weight, rng.uniform(-0.2, 1.2, m)


def mixture_of(some, weight, target, seed=0):
    return _core.NearestMixture(some.handle, weight, target, seed, some.core_space())


def slope(x, weight, target):
    """Half of the gradient of the distance."""
    return weight * (x - target)


CASES = [(False, "mixed"), (True, "mixed"), (False, "zeros"), (True, "zeros")]


@pytest.mark.parametrize(("laws", "weights"), CASES)
@pytest.mark.parametrize("seed", range(25))
def test_what_it_says_of_any_mixture_is_so(seed, laws, weights):
    some, weight, target = drawn(seed, laws=laws, weights=weights)
    core = mixture_of(some, weight, target)
    worlds, rng = some.worlds(), np.random.default_rng(seed)
    for _ in range(4):
        core.include(worlds[rng.choice(len(worlds), min(3, len(worlds)), replace=False)])
        share, within = core.worlds()
        x = share @ some.truth(within)
        assert share.min() >= 0
        assert share.sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(core.x(), x, atol=1e-12)
        assert core.objective() == pytest.approx(distance(x, weight, target), rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(core.gradient(), slope(x, weight, target), atol=1e-10)
        assert core.level() == pytest.approx(slope(x, weight, target) @ x, abs=1e-10)
        for world in worlds[:5]:
            assert core.energy(world) == pytest.approx(some.truth(world[None])[0] @ core.gradient(), abs=1e-10)


@pytest.mark.parametrize(("laws", "weights"), CASES)
@pytest.mark.parametrize("seed", range(25))
def test_shares_are_the_best_of_the_worlds_within(seed, laws, weights):
    some, weight, target = drawn(seed, laws=laws, weights=weights)
    worlds, rng = some.worlds(), np.random.default_rng(seed)
    core = mixture_of(some, weight, target)
    for size in (2, 3, 5):
        more = worlds[rng.choice(len(worlds), min(size, len(worlds)), replace=False)]
        before = core.objective()
        core.include(more)
        best = nearest(some.truth(core.worlds()[1]), weight, target)[1]
        assert core.objective() <= before + 1e-12
        assert core.objective() == pytest.approx(best, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("away", [1.0, 20.0])
@pytest.mark.parametrize(("laws", "weights"), CASES)
@pytest.mark.parametrize("seed", range(15))
def test_the_certified_bound_holds_at_any_mixture(seed, laws, weights, away):
    # Far from the targets the best mixture is a single world, and the objective falls by twice the shortfall.
    some, weight, target = drawn(seed, laws=laws, weights=weights)
    target = 0.5 + away * (target - 0.5)
    worlds, rng = some.worlds(), np.random.default_rng(seed)
    best = nearest(some.truth(worlds), weight, target)[1]
    for count in (1, 2, 4, 8):
        core = mixture_of(some, weight, target, seed)
        core.include(worlds[rng.choice(len(worlds), min(count, len(worlds)), replace=False)])
        f, least = core.objective(), float((some.truth(worlds) @ core.gradient()).min())
        for known in (least - f, least - 0.1 * f, least):  # what is proved may be less than what holds
            core.certify(known)
            g = max(0.0, core.level() - known)
            assert core.shortfall() == pytest.approx(g, abs=1e-12)
            assert core.lower_bound() <= best * (1 + 1e-9) + 1e-12
            if f > 0:
                assert core.lower_bound() >= max(0.0, f - g) ** 2 / f * (1 - 1e-12)
                assert core.lower_bound() >= f - 2 * g - 1e-12


@pytest.mark.parametrize(("laws", "weights"), CASES)
@pytest.mark.parametrize("seed", range(10))
def test_the_certified_bound_holds_near_the_best_mixture(seed, laws, weights):
    # Without one of its worlds the best mixture is almost the best, and a bound that is a little too high shows.
    some, weight, target = drawn(seed, laws=laws, weights=weights)
    worlds = some.worlds()
    best = nearest(some.truth(worlds), weight, target)[1]
    whole = mixture_of(some, weight, target, seed)
    whole.eliminate(FOREVER)
    support = whole.worlds()[1]
    for left_out in range(len(support)):
        core = mixture_of(some, weight, target, seed)
        core.include(np.delete(support, left_out, axis=0))
        core.certify(float((some.truth(worlds) @ core.gradient()).min()))
        assert core.lower_bound() <= best * (1 + 1e-9) + 1e-12


def test_a_new_mixture_forgets_the_shortfall_of_the_last():
    some, weight, target = drawn(3)
    core = mixture_of(some, weight, target)
    core.certify(core.level() - 0.01)
    assert core.shortfall() == pytest.approx(0.01)
    core.include(some.worlds()[:2])
    assert core.shortfall() == np.inf


def test_the_bound_is_not_the_objective_less_the_shortfall():
    # One event, target -1, x = 0: f is 1, and with a shortfall of g some x at a distance of 1 - g is possible.
    one = Sum(1, [np.array([0])], [np.array([0, 1])])
    for g in (0.0, 0.1, 0.5, 0.9, 1.0, 2.0):
        core = mixture_of(one, np.ones(1), -np.ones(1))
        assert core.objective() == 1
        core.certify(core.level() - g)
        assert core.lower_bound() == pytest.approx(max(0.0, 1 - g) ** 2)


@pytest.mark.parametrize(("laws", "weights"), CASES)
@pytest.mark.parametrize("seed", range(25))
def test_elimination_ends_at_the_nearest_mixture_of_all(seed, laws, weights):
    some, weight, target = drawn(seed, laws=laws, weights=weights, most=4)
    x, best = nearest(some.truth(some.worlds()), weight, target)
    core = mixture_of(some, weight, target, seed)
    assert core.eliminate(FOREVER)
    assert core.objective() == pytest.approx(best, rel=1e-9, abs=1e-11)
    assert core.lower_bound() <= best * (1 + 1e-9) + 1e-11
    assert core.lower_bound() >= core.objective() * (1 - 1e-9) - 1e-11
    np.testing.assert_allclose(core.x()[weight > 0], x[weight > 0], atol=1e-5)


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_search_ends_at_the_nearest_mixture_of_few_worlds(seed, laws):
    some, weight, target = drawn(seed, laws=laws)
    best = nearest(some.truth(some.worlds()), weight, target)[1]
    core = mixture_of(some, weight, target, seed)
    while not core.search(FOREVER):
        pass
    assert core.objective() == pytest.approx(best, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("work", ["search", "eliminate"])
@pytest.mark.parametrize("seed", range(4))
def test_work_in_slices_ends_where_work_at_once_does(seed, work):
    rng = np.random.default_rng(seed)
    some = draw(rng, 12, 80)
    weight, target = rng.uniform(1, 2, len(some)), rng.random(len(some))
    whole, sliced = (mixture_of(some, weight, target, seed=seed) for _ in range(2))
    assert getattr(whole, work)(FOREVER)
    slices = 1
    while not getattr(sliced, work)(2e-5):
        slices += 1
    assert slices > 1
    np.testing.assert_array_equal(sliced.x(), whole.x())
    np.testing.assert_array_equal(sliced.worlds()[1], whole.worlds()[1])


def test_work_ends_at_its_goal():
    rng = np.random.default_rng(0)
    some = draw(rng, 12, 80)
    weight, target = rng.uniform(1, 2, len(some)), rng.random(len(some))
    cores = [mixture_of(some, weight, target) for _ in range(3)]
    best = cores[0].eliminate(FOREVER) and cores[0].objective()
    for core, work in zip(cores[1:], ("search", "eliminate"), strict=True):
        assert getattr(core, work)(FOREVER, goal=1.5 * best)
        assert best * (1 + 1e-3) < core.objective() <= 1.5 * best


@pytest.mark.parametrize("span", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("seed", range(12))
def test_worlds_that_differ_in_light_events_only_are_told_apart(seed, span):
    # Columns are nearly dependent: two worlds lie as near to each other as their events are light.
    rng = np.random.default_rng(seed)
    some = draw(rng, 6, 14)
    light = rng.random(len(some)) < 0.5
    weight = np.where(light, span, 1.0) * rng.uniform(1, 2, len(some))
    target = rng.random(len(some))
    x, best = nearest(some.truth(some.worlds()), weight, target)
    core = mixture_of(some, weight, target, seed=seed)
    core.eliminate(FOREVER)
    assert core.objective() == pytest.approx(best, rel=1e-9)
    gradient = core.gradient()
    missing = core.level() - float((some.truth(some.worlds()) @ gradient).min())
    assert missing <= 1e-6 * span
    np.testing.assert_allclose(core.x(), x, atol=1e-3)


@pytest.mark.parametrize("seed", range(10))
def test_a_world_is_taken_just_if_it_lies_below_the_level(seed):
    some, weight, target = drawn(seed)
    core = mixture_of(some, weight, target)
    for world in some.worlds():
        before, lower = core.objective(), core.energy(world) < core.level()
        taken = core.offer(world)
        assert taken <= lower
        assert core.objective() <= before + 1e-12
        if taken:
            assert core.objective() < before
