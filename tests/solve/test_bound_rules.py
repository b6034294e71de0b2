"""Each rule that bounds the least objective, at points that are not the best ones, against all worlds at once.

Search finds the best answer first on small panels, so a bound that is too high does not show in results. Here the
answers are held back: mixtures lack a world, searches find nothing, clusters are small.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import coherently as co
from coherently import _core
from coherently.problem import find_loss, pose, split
from coherently.solve.budget import Budget
from coherently.solve.component import nearest as nearest_module
from coherently.solve.component.nearest import Nearest
from coherently.solve.component.newton.final_answer import _saved
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.newton.newton import Newton
from coherently.solve.component.newton.support import blend_of
from coherently.solve.component.objective import objective_of
from coherently.solve.component.planes import plane_below
from coherently.solve.facts import Proof
from coherently.solve.lower_bounds.semidefinite import SpectralBound
from coherently.solve.relaxed.pairs import solve_pairwise
from coherently.solve.relaxed.relaxation import Relaxation
from coherently.solve.worlds import branches as branches_module
from coherently.solve.worlds import grounds as grounds_module
from coherently.solve.worlds.branches import lowest_worlds
from coherently.solve.worlds.grounds import Grounds
from coherently.solve.worlds.held import Pricing
from coherently.solve.worlds.oracle import Oracle
from tests.problem.test_terms import under
from tests.solve import composite_reference
from tests.solve.exact_checks import random_panel
from tests.solve.lawful import worlds_of
from tests.solve.reference import briers, nearest_point, raw_briers
from tests.truth import holds

LAWS = ["v0 -> v1", "~(v1 & v2)", "v2 | v3", "exactly(1; v0, v3)", "v1 & v4 -> v3"]
FOREVER = 60.0


def soon(seconds=FOREVER, **options):
    """A budget of some seconds from now."""
    return Budget(**options).within(seconds)


def part_of(seed, *, laws=False, most=3, n_variables=6, rows=25, loss="brier"):
    """The largest component of a random panel, and all that can be true of its events together."""
    rng = np.random.default_rng(seed)
    panel = random_panel(rng, n_variables, rows, most)
    if laws:
        panel = under(panel, [str(law) for law in rng.choice(LAWS, 2, replace=False)])
    part = max((part.merged for part in split(pose(panel, find_loss(loss)).merged)), key=len)
    return part, worlds_of(part)


def least_distance(part, truth):
    x = nearest_point(np.unique(truth, axis=0), part.weight, np.nan_to_num(part.mean))
    return float(np.sum(part.weight * (x - np.nan_to_num(part.mean)) ** 2))


# ---------------------------------------------------------------- sums over worlds


@pytest.mark.parametrize("route", ["all worlds", "no dynamic programming"])
@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_no_world_lies_below_what_the_oracle_proves(monkeypatch, seed, most, laws, route):
    if route != "all worlds":
        monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
    part, worlds = part_of(seed, laws=laws, most=most)
    truth = holds(part, worlds).astype(float)
    oracle = Oracle(part)
    assert oracle.is_exact == (route == "all worlds")
    rng = np.random.default_rng(seed)
    for seconds, tolerance in ((FOREVER, 0.0), (FOREVER, 0.5), (FOREVER, 50.0), (0.0, 0.0)):
        coefficients = rng.normal(size=len(part))
        found = oracle.least(coefficients, soon(seconds), tolerance)
        least = float((truth @ coefficients).min())
        assert found.value == pytest.approx(holds(part, found.world[None].astype(bool))[0] @ coefficients)
        assert (worlds == found.world.astype(bool)).all(axis=1).any()
        assert found.bound <= least + 1e-9
        assert found.value >= least - 1e-9
        if seconds:
            assert found.value - found.bound <= tolerance + 1e-5


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_branching_over_clusters_bounds_every_world_and_finds_the_best(monkeypatch, seed, laws):
    part, worlds = part_of(seed, laws=laws, most=4, n_variables=8, rows=30)
    rng = np.random.default_rng(seed)
    for cells, elimination in ((4.0, 0.0), (8.0, 40.0), (64.0, 2.0**16)):
        grounds = Grounds(part)
        monkeypatch.setattr(Grounds, "branches", _core.ClusterProof(part.handle, grounds.space, cells, elimination))
        for slack in (1e-9, 0.5, 1e6):
            coefficients = rng.normal(size=len(part))
            sums = holds(part, worlds) @ coefficients
            for known in worlds[[np.argmin(sums), np.argmax(sums)]].astype(np.uint8):
                found = lowest_worlds(grounds, coefficients, known, slack=slack, budget=soon(hints=True))
                best = (holds(part, np.vstack([known, *found.better]).astype(bool)) @ coefficients)[-1]
                assert found.bound <= sums.min() + 1e-12
                assert found.bound >= best - slack * (1 + 1e-9) - 1e-9
                assert all((worlds == world.astype(bool)).all(axis=1).any() for world in found.better)


def test_the_oracle_takes_a_known_world_for_no_more_than_it_is(monkeypatch):
    part, worlds = part_of(2)
    monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
    for branchable in (False, True):
        monkeypatch.setattr(Grounds, "is_branchable", branchable)
        coefficients = np.random.default_rng(3).normal(size=len(part))
        sums = holds(part, worlds) @ coefficients
        worst = worlds[np.argmax(sums)].astype(np.uint8)
        found = Oracle(part).least(coefficients, soon(), 0.0, worst)
        assert found.value == pytest.approx(sums.min(), abs=1e-5)
        assert found.bound <= sums.min() + 1e-6


def test_what_an_unfinished_proof_leaves_is_the_bound(monkeypatch):
    """Of a proof that was stopped the bound counts, and not the best world that was found."""
    part, worlds = part_of(2, most=3)
    monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
    monkeypatch.setattr(branches_module, "MOST_BRANCHES", 0)
    coefficients = np.random.default_rng(3).normal(size=len(part))
    found = Oracle(part).least(coefficients, soon(), 0.0, worlds[0].astype(np.uint8))
    assert found.proof is Proof.BRANCHES
    assert found.bound <= (holds(part, worlds) @ coefficients).min() < found.value


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_no_world_lies_below_what_is_proved_with_a_large_event(monkeypatch, seed, size):
    monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
    rng = np.random.default_rng(seed)
    rows = [("A", f"v{a} {rng.choice(['&', '|', '^'])} v{b}", 0.5) for a in range(6) for b in range(a + 1, 6)]
    large = " & ".join(f"{'~' * int(rng.integers(2))}v{i}" for i in range(size))
    part = pose(co.Panel.from_records([*rows, ("A", large, 0.5)])).merged
    assert part.sizes()[-1] == size
    pricing = Pricing(part)
    assert len(pricing.held) == size
    truth = holds(part, worlds_of(part)).astype(float)
    for coefficients in rng.normal(size=(4, len(part))):
        coefficients[-1] *= 5
        least = float((truth @ coefficients).min())
        for tolerance, seconds in ((0.0, FOREVER), (1.0, FOREVER), (0.0, 0.0)):
            found = pricing.least(coefficients, soon(seconds), tolerance)
            values = holds(part, np.array(found.worlds)) @ coefficients
            assert found.bound <= least + 1e-9
            assert values.min() >= least - 1e-9
            if seconds:
                assert values[0] == pytest.approx(values.min())
                assert values[0] - found.bound <= tolerance + 1e-6


# ---------------------------------------------------------------- distances


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_relaxations_lie_below_the_distance(seed, laws):
    part, worlds = part_of(seed, laws=laws)
    best = least_distance(part, holds(part, worlds).astype(float))
    assert Relaxation(part, Oracle(part).space).bound(Budget()) <= best * (1 + 1e-9) + 1e-9
    flat, worlds = part_of(seed, most=2)
    best = least_distance(flat, holds(flat, worlds).astype(float))
    pairs = solve_pairwise(flat, "pairs", 1e-9, auxiliary=True)
    assert pairs.lower_bound <= best * (1 + 1e-9) + 1e-9
    assert pairs.lower_bound <= pairs.objective
    assert pairs.objective <= best * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_spectral_bounds_hold_in_any_direction(seed):
    part, worlds = part_of(seed, most=2)
    best = least_distance(part, holds(part, worlds).astype(float))
    rng = np.random.default_rng(seed)
    x = nearest_point(np.unique(holds(part, worlds).astype(float), axis=0), part.weight, part.mean)
    for point in (x, *(x + scale * rng.normal(size=(3, len(part))) for scale in (1e-3, 1e-2, 0.1))):
        for own in np.atleast_2d(point):
            spectral = SpectralBound(part)
            square = float(np.sum(part.weight * (own - spectral.target) ** 2))
            for raised in (0.0, 0.1 * square, 2.0 * square):
                spectral._look(own, raised, seconds=0.5)
                assert spectral.bound <= best * (1 + 1e-9) + 1e-12
                spectral.oracle.prove(FOREVER)
                spectral._note(part.weight * (own - spectral.target), own)
                assert spectral.bound <= best * (1 + 1e-9) + 1e-12
    assert SpectralBound(part).raise_within(soon(0.2), best) <= best * (1 + 1e-9) + 1e-12


class Held:
    """A nearest mixture that is held back: it has some worlds, and finds no others."""

    start = np.empty((0, 0), np.uint8)
    every = np.empty((0, 0), np.uint8)

    def __init__(self, *args, **options):
        self._core = _core.NearestMixture(*args, **options)
        if len(self.start):
            self._core.include(self.start)

    def __getattr__(self, name):
        return getattr(self._core, name)

    def search(self, *_, **_goal):
        return True

    def offer(self, _):
        return False

    def eliminate(self, *_):
        self._core.certify(min(self._core.energy(world) for world in self.every))
        return True


def hold_back(monkeypatch, start, every=()):
    own = type("Some", (Held,), {"start": np.ascontiguousarray(start, np.uint8), "every": np.asarray(every, np.uint8)})
    monkeypatch.setattr(nearest_module, "_core", SimpleNamespace(NearestMixture=own))


def almost(part, space=None):
    """The worlds of the best mixture without each of them in turn, and a few others."""
    core = _core.NearestMixture(part.handle, part.weight, np.nan_to_num(part.mean), 0, space=space)
    core.eliminate(FOREVER)
    support = core.worlds()[1]
    return [support[:0], *(np.delete(support, i, axis=0) for i in range(min(6, len(support))))]


@pytest.mark.parametrize("route", ["elimination", "branch and bound", "clusters"])
@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_answers_that_are_held_back_claim_no_more_than_holds(monkeypatch, seed, laws, route):
    if route != "elimination":
        monkeypatch.setattr(nearest_module, "EAGER_STATES", 0)
        monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
        monkeypatch.setattr(Grounds, "is_dense", route == "branch and bound")
    part, worlds = part_of(seed, laws=laws, most=2)
    truth = holds(part, worlds).astype(float)
    best = least_distance(part, truth)
    for start in almost(part, Oracle(part).space):
        hold_back(monkeypatch, start, worlds)
        answer = Nearest(part, 0, 1.0)
        answer.improve(soon())
        f, slope = answer.objective, part.weight * (answer.x - np.nan_to_num(part.mean))
        g = float(slope @ answer.x - (truth @ slope).min())
        assert answer.bound <= best * (1 + 1e-9) + 1e-9
        assert answer.bound <= answer.objective
        assert answer.shortfall >= g - 1e-9
        assert answer.bound >= max(0.0, f - answer.shortfall) ** 2 / f - 1e-9


@pytest.mark.parametrize("route", ["elimination", "clusters"])
@pytest.mark.parametrize("seed", range(10))
def test_the_guaranteed_improvement_is_saved_in_every_world(monkeypatch, seed, route):
    panel = random_panel(np.random.default_rng(seed), 5, 20, 2)
    problem = pose(panel)
    parts = split(problem.merged)
    if len(parts) > 1:
        pytest.skip("several components were drawn")
    if route != "elimination":
        monkeypatch.setattr(nearest_module, "EAGER_STATES", 0)
        monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
    part = parts[0].merged
    told = 0
    for start in almost(part):
        hold_back(monkeypatch, start, worlds_of(part))
        result = co.aggregate(panel, co.Exact())
        if result.gap > 1e-3 * max(panel.weight.sum(), result.objective):
            assert result.status != "optimal"
        saved = float((raw_briers(panel) - briers(panel, result.solution.value)).min())
        if result.guaranteed_improvement is None:
            continue
        told += result.guaranteed_improvement > 0
        assert result.guaranteed_improvement <= max(saved, 0.0) + 1e-9 * panel.weight.sum()
        if route == "elimination":
            assert result.guaranteed_improvement >= saved - 1e-9 * panel.weight.sum()
    assert told


# ---------------------------------------------------------------- other losses and terms


@pytest.mark.parametrize("loss", ["log", "spherical"])
@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_under_other_losses_hold_away_from_the_answer(seed, laws, loss):
    part, worlds = part_of(seed, laws=laws, loss=loss, n_variables=5, rows=14)
    newton = Newton(part, objective_of(part, find_loss(loss)), soon(tolerance=1e-9), 0)
    answer = newton.run()
    objective = newton.objective  # which knows the events that never vary
    truth, rng = holds(part, worlds).astype(float), np.random.default_rng(seed)
    for part_of_other in (0.5, 0.1, 1e-2, 1e-3):
        for other in worlds[rng.choice(len(worlds), min(6, len(worlds)), replace=False)]:
            # A little of every world keeps the loss finite.
            rest = 1e-3 * part_of_other / len(worlds)
            held = blend_of(
                part,
                np.concatenate(
                    [(1 - 1.001 * part_of_other) * answer.share, [part_of_other], np.full(len(worlds), rest)]
                ),
                np.vstack([answer.worlds, other[None], worlds]).astype(np.uint8),
            )
            x, known = np.clip(held.sides[: len(part)], 0, 1), part.weight > 0
            away = objective.loss.gradient(x) - objective.loss.gradient(np.where(known, part.mean, 0.5))
            slope = np.where(known & truth.any(axis=0) & ~truth.all(axis=0), part.weight * away, 0.0)
            f, g = objective.value(held.sides), float(slope @ x - (truth @ slope).min())
            bound = bound_at(part, objective, held.sides, np.empty(0), truth)
            assert bound <= answer.objective + 1e-9 * max(1.0, answer.objective)
            assert bound == pytest.approx(f - g, abs=1e-9 * max(1.0, f))


def bound_at(part, objective, sides, prices, truth):
    plane = plane_below(objective, objective.planes(sides, 0.0), pin_rows(part.terms.limits, len(part)), prices)
    return plane.bound(float((truth @ plane.coefficients).min()))


@pytest.mark.parametrize(
    ("loss", "linearised"), [("brier", False), ("brier", True), ("log", False), ("spherical", False)]
)
@pytest.mark.parametrize("seed", range(8))
def test_bounds_with_conditionals_intervals_and_pins_hold_at_any_prices(seed, loss, linearised):
    panel = composite_reference.random_panel(seed, most=16)
    part = max((p.merged for p in split(pose(panel, find_loss(loss)).merged)), key=lambda merged: len(merged.terms))
    if not len(part.terms):
        pytest.skip("no terms were drawn")
    objective, pins = objective_of(part, find_loss(loss), linearised=linearised), pin_rows(part.terms.limits, len(part))
    newton = Newton(part, objective, soon(tolerance=1e-8), 0)
    try:
        answer = newton.run()
    except co.ContradictionError:
        pytest.skip("the pins contradict each other")
    assert answer.violation <= 1e-9
    best = answer.objective + 1e-7
    worlds, rng = worlds_of(part), np.random.default_rng(seed)
    truth = holds(part, worlds).astype(float)
    for other_share in (0.5, 0.1, 1e-2, 1e-3):
        for strength in (0.0, 1.0, 3.0):
            mixed = rng.dirichlet(np.ones(len(worlds)))
            blend = blend_of(
                part,
                np.concatenate([(1 - other_share) * answer.share, other_share * mixed]),
                np.vstack([answer.worlds, worlds]).astype(np.uint8),
            )
            noise = strength * rng.normal(size=len(pins))
            prices = np.where(pins.equal, newton.prices + noise, np.maximum(0.0, newton.prices + noise))
            planes = objective.planes(blend.sides, 0.0)
            slope = objective.coefficients(planes.by_joint, planes.by_condition)[0] - pins.coefficients(prices)[0]
            x = blend.sides[: len(part)]
            g = float(slope @ x - (truth @ slope).min()) + float(prices @ pins.value(blend.sides))
            f, bound = objective.value(blend.sides), bound_at(part, objective, blend.sides, prices, truth)
            assert bound <= best * (1 + 1e-9)
            assert bound == pytest.approx(f - g, abs=1e-9 * max(1.0, f + abs(g)))


class Poor:
    """A core whose search finds a world that is far from the best."""

    def __init__(self, core, world):
        self._core, self._world = core, world

    def __getattr__(self, name):
        return getattr(self._core, name)

    def search(self, *_, **__):
        return self._world


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_world_that_is_not_the_best_is_no_bound(monkeypatch, seed, most, laws):
    monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
    part, worlds = part_of(seed, laws=laws, most=most)
    truth = holds(part, worlds).astype(float)
    for coefficients in np.random.default_rng(seed).normal(size=(3, len(part))):
        values = truth @ coefficients
        oracle = Oracle(part)
        oracle._core = Poor(oracle._core, worlds[values.argmax()].astype(np.uint8))
        span = float(values.max() - values.min())
        for seconds, tolerance in ((FOREVER, 2 * span), (FOREVER, 0.5 * span), (FOREVER, 0.0), (0.0, 0.0)):
            found = oracle.least(coefficients, soon(seconds), tolerance)
            assert (worlds == found.world.astype(bool)).all(axis=1).any()
            assert found.bound <= values.min() + 1e-6
            assert found.value >= values.min() - 1e-9
            if seconds:
                assert found.value - found.bound <= tolerance + 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_worlds_that_break_laws_are_never_the_best(seed):
    part, worlds = part_of(seed, laws=True, most=2)
    oracle = Oracle(part)
    coefficients = np.random.default_rng(seed).normal(size=len(part))
    oracle._core.set(coefficients)
    every = (np.arange(2**part.n_variables)[:, None] >> np.arange(part.n_variables) & 1).astype(np.uint8)
    lawful = oracle.space.allows(every).astype(bool)
    assert rows_of(every[lawful]) == rows_of(worlds)
    values = holds(part, every.astype(bool)) @ coefficients
    world, broken = every[lawful][0], every[~lawful]
    assert len(broken)
    np.testing.assert_array_equal(oracle._best(world, broken), world)
    mixed = np.vstack([broken, every[lawful]])
    found = oracle._best(world, mixed)
    assert tuple(found.tolist()) in rows_of(worlds)
    assert holds(part, found[None].astype(bool))[0] @ coefficients == pytest.approx(values[lawful].min())


def rows_of(worlds):
    return {tuple(row) for row in np.asarray(worlds, np.uint8).tolist()}


@pytest.mark.parametrize("route", ["all worlds", "no dynamic programming"])
@pytest.mark.parametrize("seed", range(10))
def test_what_an_answer_with_conditionals_saves_holds_where_it_moved_since_its_proof(monkeypatch, seed, route):
    if route != "all worlds":
        monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
    rng = np.random.default_rng(seed)
    texts = ["a", "b", "c", "a & b", "b | c", "a given b", "c given a | b", "b given ~c"]
    rows = [("A", text, float(rng.random())) for text in texts]
    part = pose(co.Panel.from_records(rows)).merged
    newton = Newton(part, objective_of(part, find_loss("brier")), soon(), 0)
    answer = newton.run()
    worlds = worlds_of(part)
    v, given = holds(part, worlds).astype(float), part.terms.conditionals
    for moved in (0.0, 1e-3, 0.05, 0.3):
        share = np.concatenate([(1 - moved) * answer.share, moved * rng.dirichlet(np.ones(len(worlds)))])
        sides = blend_of(part, share, np.vstack([answer.worlds, worlds]).astype(np.uint8)).sides
        x = sides[: len(part)]
        known, mean = part.weight > 0, np.nan_to_num(part.mean)
        saved = (known * part.weight * ((v - mean) ** 2 - (v - x) ** 2)).sum(axis=1)
        for i in range(len(given.weight)):
            joint, condition = (
                np.where(sides.turned[i], 1 - v[:, sides.coordinate[i]], v[:, sides.coordinate[i]])
                for sides in (given.joint, given.condition)
            )
            p, c = given.mean[i], given.value(x)[i]
            saved += given.weight[i] * condition * ((joint - p) ** 2 - (joint - c) ** 2)
        assert _saved(newton, sides) <= saved.min() + 1e-9
        if route == "all worlds":
            assert _saved(newton, sides) == pytest.approx(saved.min(), abs=1e-9)


@pytest.mark.parametrize(
    ("loss", "linearised"), [("brier", False), ("brier", True), ("log", False), ("spherical", False)]
)
@pytest.mark.parametrize("seed", range(10))
def test_slopes_with_conditionals_and_intervals_are_those_of_the_scores(seed, loss, linearised):
    panel = composite_reference.random_panel(seed, most=16)
    part = pose(panel, find_loss(loss)).merged
    objective = objective_of(part, find_loss(loss), linearised=linearised)
    truth, rng = holds(part, worlds_of(part)).astype(float), np.random.default_rng(seed)
    sides = np.hstack([truth, 1 - truth, np.ones((len(truth), 1))])
    for x in rng.dirichlet(np.ones(len(truth)), 5) @ sides:
        planes = objective.planes(x, 0.0)
        slope, constant = objective.coefficients(planes.by_joint, planes.by_condition)
        assert slope @ x[: len(part)] + constant + planes.constant == pytest.approx(objective.value(x), abs=1e-9)
        for other in rng.dirichlet(np.ones(len(truth)), 5) @ sides:
            way, step = other - x, 1e-6
            rise = (objective.value(x + step * way) - objective.value(x - step * way)) / (2 * step)
            assert slope @ way[: len(part)] == pytest.approx(rise, abs=1e-6 * max(1.0, abs(rise)))


def test_a_law_that_no_event_is_about_costs_something_to_break(monkeypatch):
    """a needs b, and no forecast is about b, which must be false: fines that are only raised by a factor stay 0."""
    monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
    panel = under(co.Panel.from_records([("A", "a", 0.5), ("A", "a & c", 0.5)]), ["a -> b", "~b | d", "~d | e", "~e"])
    part = max((one.merged for one in split(pose(panel).merged)), key=len)
    oracle, rounds = Oracle(part), []
    asked = Oracle._best
    monkeypatch.setattr(Oracle, "_best", lambda self, *some: rounds.append(0) or asked(self, *some))
    found = oracle.least(np.full(len(part), -1.0), soon(2.0))
    assert found.value == 0.0
    assert found.bound >= -1e-5
    assert len(rounds) <= 20
