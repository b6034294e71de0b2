import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from coherently import _core
from coherently.errors import MethodError
from coherently.problem.losses import Brier, Log, Spherical, find_loss, merged_mean

PHI = {
    "brier": lambda x: x**2,
    "log": lambda x: x * np.log(x) + (1 - x) * np.log(1 - x),
    "spherical": lambda x: np.sqrt(x**2 + (1 - x) ** 2),
}
LOSSES = [Brier(), Log(), Spherical()]
DUAL = [Log(), Spherical()]
PAIR = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]], float)
"""p, q, p & q and p | q in every world."""
AND, OR = PAIR[:, :3].copy(), PAIR[:, [0, 1, 3]].copy()

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
dual_loss = pytest.mark.parametrize("loss", DUAL, ids=lambda loss: loss.name)
seeds = st.integers(0, 10**6)


def projector(loss, members, patterns, weights):
    """A group for each list of members, with a pattern of its own."""
    return _core.BregmanProjector(
        loss.name,
        np.cumsum([0, *map(len, members)]),
        np.concatenate(members).astype(np.int32),
        np.arange(len(members), dtype=np.int32),
        patterns,
        np.asarray(weights, float),
    )


def project_dual(loss, rows, z, weights=None):
    """The dual of the projection on the hull of the rows."""
    size = rows.shape[1]
    one = projector(loss, [range(size)], [rows], np.ones(size) if weights is None else weights)
    answer = np.array(z, float)
    one.dykstra(answer, np.zeros(size))
    return answer


def project(loss, rows, p, weights=None):
    return loss.inverse(project_dual(loss, rows, loss.gradient(p), weights))


def draw(seed, width=5):
    """Some distinct 0/1 points, weights and forecasts."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, width + 1)
    rows = np.unique((rng.random((rng.integers(2, 17), size)) < rng.choice([0.2, 0.5, 0.8])).astype(float), axis=0)
    return rng, rows, rng.uniform(0.2, 5, size), rng.uniform(0.001, 0.999, size)


def total(loss, weights, x, p):
    return float(np.sum(weights * loss.divergence(x, p)))


def in_world(loss, weights, v, z):
    """What duals lose in a world; their probabilities would round to 1."""
    each = np.logaddexp(0, (1 - 2 * v) * z) if loss.name == "log" else loss.divergence(v, loss.inverse(z))
    return float(np.sum(weights * each))


def by_quadratic_models(loss, rows, weights, z):
    """Newton's method, each model minimised over the hull by non-negative least squares."""
    varies = rows.min(axis=0) < rows.max(axis=0)
    points, w, tilt = rows[:, varies], weights[varies], z[varies]

    def objective(x):
        return np.sum(w * (PHI[loss.name](np.clip(x, 1e-300, 1 - 1e-16)) - tilt * x))

    x = points.mean(axis=0)
    for _ in range(300):
        curvature = 1 / (x * (1 - x)) if loss.name == "log" else PHI[loss.name](x) ** -3
        target = x - (loss.gradient(x) - tilt) / curvature
        apart = (points - target) * np.sqrt(w * curvature)
        scale = np.abs(apart).max(initial=1e-300)
        share, _ = nnls(np.vstack([apart.T / scale, np.ones(len(points))]), np.append(np.zeros(len(target)), 1.0))
        step, length = share @ points / share.sum() - x, 1.0
        while length > 1e-9 and not objective(x + length * step) <= objective(x):
            length /= 2
        x = x + min(length, 1 - 1e-3 if loss.name == "log" else 1.0) * step
        x = np.clip(x, 1e-14, 1 - 1e-14)
        if np.abs(step).max(initial=0) < 1e-12:
            break
    answer = rows[0].copy()
    answer[varies] = x
    return answer


# ---------------------------------------------------------------- losses


@every_loss
def test_the_inverse_undoes_the_gradient(loss):
    x = np.linspace(0, 1, 101)
    assert np.abs(loss.inverse(loss.gradient(x)) - x).max() < 1e-15


@every_loss
def test_the_gradient_is_the_slope_of_phi(loss):
    x = np.linspace(0.05, 0.95, 19)
    slope = (PHI[loss.name](x + 1e-6) - PHI[loss.name](x - 1e-6)) / 2e-6
    assert loss.gradient(x) == pytest.approx(slope, abs=1e-8)


@every_loss
def test_the_divergence_is_that_of_bregman(loss):
    x, p = np.meshgrid(np.linspace(0.01, 0.99, 37), np.linspace(0.01, 0.99, 41))
    phi = PHI[loss.name]
    assert loss.divergence(x, p) == pytest.approx(phi(x) - phi(p) - loss.gradient(p) * (x - p), abs=1e-14)
    assert np.all(loss.divergence(x, x) == 0)


def test_the_log_loss_at_the_ends():
    loss = Log()
    assert loss.gradient([0.0, 1.0]).tolist() == [-1000.0, 1000.0]
    assert loss.inverse([-1000.0, 1000.0]).tolist() == [0.0, 1.0]
    assert loss.divergence([0, 1, 0.5, 0, 1], [0, 1, 0, 1, 0]).tolist() == [0, 0, np.inf, np.inf, np.inf]


def test_the_spherical_dual_ends_at_the_roots_of_two():
    loss = Spherical()
    assert np.abs(loss.gradient([-1e9, 1e9])) == pytest.approx(np.sqrt(2))
    x = np.linspace(-30, 30, 61)
    assert loss.inverse(loss.gradient(x)) == pytest.approx(x, abs=1e-10)
    assert np.isnan(loss.inverse([-1.5, 1.5])).all()


@pytest.mark.parametrize("clip", [0.0, 0.5, -1.0, 2.0, np.nan])
def test_a_clip_that_leaves_nothing_or_everything_is_refused(clip):
    with pytest.raises(MethodError, match=r"clip is .*between 0 and 0\.5"):
        Log(clip=clip)


def test_losses_are_found_by_name():
    assert [find_loss(name).name for name in ("brier", "log", "spherical")] == ["brier", "log", "spherical"]
    mine = Log(clip=0.01)
    assert find_loss(mine) is mine
    with pytest.raises(MethodError, match=r"unknown loss 'sperical'.*Did you mean 'spherical'"):
        find_loss("sperical")
    with pytest.raises(MethodError, match="7 is not a loss: it has no name, is_quadratic, clipped"):
        find_loss(7)


@every_loss
@given(seeds)
def test_forecasts_merge_without_loss(loss, seed):
    rng = np.random.default_rng(seed)
    p, w, x = rng.uniform(0.01, 0.99, 5), rng.uniform(0.1, 3, 5), rng.uniform(0.01, 0.99, 20)
    (q,) = merged_mean(loss, np.zeros(5, np.int32), p, w, 1)
    apart = (w * loss.divergence(x[:, None], p)).sum(axis=1) - w.sum() * loss.divergence(x, q)
    assert np.ptp(apart) < 1e-12


def test_merged_means():
    index, p, w = np.array([0, 0, 0, 2]), [0.75, 0.60, 0.95, 0.3], [1, 1, 1, 0]
    assert merged_mean(Log(), index, p, w, 3) == pytest.approx([0.815001, np.nan, np.nan], abs=1e-6, nan_ok=True)
    assert merged_mean(Brier(), index, p, w, 3)[0] == pytest.approx(0.766667, abs=1e-6)


# ---------------------------------------------------------------- projections with known answers


@pytest.mark.parametrize(
    ("forecasts", "answer"),
    [((0.9, 0.8, 0.2), (0.779063, 0.610469, 0.389531)), ((0.75, 0.2, 0.5), (0.75, 1 / 3, 1 / 3))],
)
def test_conjunctions_under_the_log_loss(forecasts, answer):
    assert project(Log(), AND, forecasts) == pytest.approx(answer, abs=1e-6)


def test_the_distance_of_a_conjunction_under_the_log_loss():
    p = np.array([0.75, 0.2, 0.5])
    assert total(Log(), 1, project(Log(), AND, p), p) == pytest.approx(0.105361, abs=1e-6)


@pytest.mark.parametrize(("forecasts", "distance"), [((0.6, 0.6), 0.040822), ((0.5, 0.6), 0.010153)])
def test_an_event_and_its_complement_pool_log_odds(forecasts, distance):
    loss, rows = Log(), np.array([[0.0, 1.0], [1.0, 0.0]])
    p, n = loss.gradient(forecasts)
    weights = np.array([2.0, 3.0])
    assert project_dual(loss, rows, [p, n], weights) == pytest.approx(np.array([1, -1]) * (2 * p - 3 * n) / 5)
    assert total(loss, 1, project(loss, rows, forecasts), forecasts) == pytest.approx(distance, abs=1e-6)


FOUR = np.array([0.2, 0.3, 0.5, 0.9])


def test_uncorrected_sweeps():
    loss = Log()
    z = loss.gradient(FOUR)
    groups = projector(loss, [[0, 1, 2], [0, 1, 3]], [AND, OR], np.ones(4))
    for _ in range(1000):
        groups.sweep(z)
    assert loss.inverse(z) == pytest.approx([0.426026, 0.426026, 0.322014, 0.852051], abs=1e-6)
    assert groups.violation(z) < 1e-12


def test_dykstra():
    loss = Log()
    z, increments = loss.gradient(FOUR), np.zeros(6)
    groups = projector(loss, [[0, 1, 2], [0, 1, 3]], [AND, OR], np.ones(4))
    for _ in range(1000):
        groups.dykstra(z, increments)
    assert loss.inverse(z) == pytest.approx([0.400624, 0.433710, 0.400624, 0.834334], abs=1e-6)
    assert groups.violation(z) < 1e-12


def test_one_group_of_all_four():
    assert project(Log(), PAIR, FOUR) == pytest.approx([0.431098, 0.565036, 0.248072, 0.748062], abs=1e-6)


def test_the_second_table_under_the_log_loss():
    loss = Log(clip=0.01)
    table = np.array([[0.75, 0.60, 0.95], [0.20, 0.10, 0.00], [0.10, 0.10, 0.60]])
    merged = merged_mean(loss, np.repeat(np.arange(3), 3), table.ravel(), np.ones(9), 3)
    assert merged == pytest.approx([0.815001, 0.061444, 0.209215], abs=1e-6)
    assert project(loss, AND, merged, np.full(3, 3.0)) == pytest.approx([0.815001, 0.116301, 0.116301], abs=1e-6)


# ---------------------------------------------------------------- what makes a projection


@dual_loss
@given(seeds)
def test_no_world_is_worse_off(loss, seed):
    _, rows, weights, p = draw(seed)
    before = loss.gradient(p)
    after = project_dual(loss, rows, before, weights)
    gain = [in_world(loss, weights, v, before) - in_world(loss, weights, v, after) for v in rows]
    assert np.min(gain) >= total(loss, weights, loss.inverse(after), p) - 1e-12


@dual_loss
@given(seeds, st.sampled_from([0.5, 1.0, 4.0]))
def test_projections_agree_with_another_optimiser(loss, seed, spread):
    rng, rows, weights, _ = draw(seed, width=4)
    z = rng.normal(size=rows.shape[1]) * spread
    x = loss.inverse(project_dual(loss, rows, z, weights))
    assert x == pytest.approx(by_quadratic_models(loss, rows, weights, z), abs=1e-7)


@dual_loss
@given(seeds, st.sampled_from([0.5, 1.0, 4.0, 20.0]))
def test_no_point_lies_against_the_gradient(loss, seed, spread):
    rng, rows, weights, _ = draw(seed, width=8)
    z = rng.normal(size=rows.shape[1]) * spread
    answer = project_dual(loss, rows, z, weights)
    varies = rows.min(axis=0) < rows.max(axis=0)
    force = (weights * (answer - z))[varies]
    assert np.min((rows - loss.inverse(answer))[:, varies] @ force) > -1e-13 * (1 + np.abs(force).sum())


@dual_loss
@given(seeds)
def test_projecting_twice_changes_nothing(loss, seed):
    rng, rows, weights, _ = draw(seed)
    once = project_dual(loss, rows, rng.normal(size=rows.shape[1]), weights)
    assert project_dual(loss, rows, once, weights) == pytest.approx(once, abs=1e-12)


@dual_loss
@given(seeds)
def test_coherent_forecasts_stay(loss, seed):
    rng, rows, weights, _ = draw(seed)
    x = np.clip(rng.dirichlet(np.ones(len(rows))) @ rows, 0, 1)
    assert project(loss, rows, x, weights) == pytest.approx(x, abs=1e-14)


@dual_loss
@given(seeds, st.tuples(st.booleans(), st.booleans(), st.booleans()))
def test_the_closed_form_is_the_general_projection(loss, seed, negated):
    rng = np.random.default_rng(seed)
    rows = np.where(negated, 1 - AND, AND)
    z, weights = rng.uniform(-1, 1, 3) * (8 if loss.name == "log" else 1), rng.uniform(0.2, 5, 3)
    turned = [2, 0, 1]  # the conjunction is no longer last, so that no rule applies
    general = project_dual(loss, rows[:, turned].copy(), z[turned], weights[turned])
    assert project_dual(loss, rows, z, weights)[turned] == pytest.approx(general, abs=1e-12)


@dual_loss
@given(seeds)
def test_the_side_of_an_event_does_not_matter(loss, seed):
    rng, rows, weights, _ = draw(seed)
    z, sides = rng.normal(size=rows.shape[1]), rng.choice([-1.0, 1.0], rows.shape[1])
    turned = project_dual(loss, np.where(sides < 0, 1 - rows, rows), sides * z, weights)
    assert sides * turned == pytest.approx(project_dual(loss, rows, z, weights), abs=1e-12)


# ---------------------------------------------------------------- sweeps


@dual_loss
@given(seeds)
def test_sweeps_gain_what_they_say_in_every_world(loss, seed):
    rng = np.random.default_rng(seed)
    p, weights = rng.uniform(0.01, 0.99, 4), rng.uniform(0.2, 5, 4)
    groups, z = projector(loss, [[0, 1, 2], [0, 1, 3]], [AND, OR], weights), loss.gradient(p)
    moved = sum(groups.sweep(z) for _ in range(3))
    gain = [total(loss, weights, v, p) - in_world(loss, weights, v, z) for v in PAIR]
    assert np.min(gain) >= moved - 1e-12


@dual_loss
@given(seeds)
def test_dykstra_ends_at_the_nearest_point(loss, seed):
    """The increments are what the groups' constraints exert: they add up, and no group's points lie against them."""
    rng = np.random.default_rng(seed)
    p, weights = rng.uniform(0.05, 0.95, 4), rng.uniform(0.5, 2, 4)
    members, patterns = [[0, 1, 2], [0, 1, 3]], [AND, OR]
    groups, z, increments = projector(loss, members, patterns, weights), loss.gradient(p), np.zeros(6)
    for _ in range(3000):
        groups.dykstra(z, increments)
    moved = np.bincount(np.concatenate(members), increments)
    assert z + moved == pytest.approx(loss.gradient(p), abs=1e-12)
    assert groups.violation(z) < 1e-8
    x = loss.inverse(z)
    for own, rows, part in zip(members, patterns, increments.reshape(2, 3), strict=True):
        assert np.max((rows - x[own]) @ (weights[own] * part)) < 1e-7


@dual_loss
def test_what_the_worlds_agree_on_leaves_the_problem(loss):
    rows = np.column_stack([np.ones(4), AND, np.zeros(4)])
    z = loss.gradient([0.3, 0.9, 0.8, 0.2, 0.3])
    groups, increments = projector(loss, [range(5), range(5)], [rows, rows], np.ones(5)), np.zeros(10)
    for _ in range(3):
        groups.dykstra(z, increments)
        assert np.isfinite(z).all()
        assert np.isfinite(increments).all()
        assert groups.violation(z) < 1e-14
    x = loss.inverse(z)
    assert x[[0, 4]].tolist() == [1.0, 0.0]
    assert x[1:4] == pytest.approx(project(loss, AND, [0.9, 0.8, 0.2]), abs=1e-14)


@dual_loss
def test_a_single_world_is_the_answer(loss):
    rows = np.array([[0.0, 1.0]])
    groups, z = projector(loss, [[0, 1]], [rows], np.ones(2)), loss.gradient([0.2, 0.3])
    assert groups.sweep(z) == pytest.approx(total(loss, 1, rows[0], [0.2, 0.3]))
    assert loss.inverse(z).tolist() == [0.0, 1.0]
    assert groups.sweep(z) == 0


@dual_loss
def test_weightless_coordinates_follow_the_others(loss):
    weights = np.array([1.0, 0.0, 1.0])
    groups, z = projector(loss, [[0, 1, 2]], [AND], weights), loss.gradient([0.3, 0.5, 0.6])
    groups.sweep(z)
    pooled = loss.inverse(loss.gradient([0.3, 0.6]).mean())
    assert loss.inverse(z)[[0, 2]] == pytest.approx([pooled, pooled])
    assert groups.violation(z) < 1e-14


@given(seeds, st.sampled_from([30.0, 300.0]))
def test_any_log_odds_are_projected(seed, spread):
    """Probabilities of 1e-13 and less, and forces that no probability answers."""
    loss = Log()
    rng, rows, _, _ = draw(seed)
    weights = 10 ** rng.uniform(-3, 3, rows.shape[1])
    z = rng.normal(size=rows.shape[1]) * spread
    answer = project_dual(loss, rows, z, weights)
    x = loss.inverse(answer)
    assert np.isfinite(answer).all()
    assert projector(loss, [range(len(z))], [rows], np.ones(len(z))).violation(answer) < 1e-9
    capped = np.abs(answer) >= 99
    force = np.where(capped, weights * (np.clip(z, -99, 99) - z), weights * (answer - z))
    free = rows.min(axis=0) < rows.max(axis=0)
    slack = (rows - x)[:, free] @ force[free]
    allowed = 1e-12 * (1 + np.sum(weights * np.abs(z))) + 200 * np.sum(weights[capped & free])
    assert slack.min(initial=0) > -allowed


@dual_loss
@pytest.mark.parametrize("loose", [False, True])
def test_large_groups(loss, loose):
    """Every event p & q and p | q of six variables: 64 points in 36 dimensions."""
    rng = np.random.default_rng(0)
    worlds = (np.arange(64)[:, None] >> np.arange(6) & 1).astype(float)
    pairs = [(i, j) for i in range(6) for j in range(i)]
    both = np.column_stack([worlds[:, i] * worlds[:, j] for i, j in pairs])
    either = np.column_stack([np.maximum(worlds[:, i], worlds[:, j]) for i, j in pairs])
    rows = np.column_stack([worlds, both, either])
    weights = 10 ** rng.uniform(-2, 2, 36) if loose else np.ones(36)
    z = loss.gradient(rng.uniform(0.01, 0.99, 36))
    answer = project_dual(loss, rows, z, weights)
    force = weights * (answer - z)
    assert np.min((rows - loss.inverse(answer)) @ force) > -1e-14 * np.abs(force).sum()


def test_the_core_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="log or spherical"):
        projector(Brier(), [[0, 1, 2]], [AND], np.ones(3))
    with pytest.raises(IndexError, match="member"):
        projector(Log(), [[0, 1, 3]], [AND], np.ones(3))
    with pytest.raises(ValueError, match="differ in size"):
        projector(Log(), [[0, 1]], [AND], np.ones(3))
    groups = projector(Log(), [[0, 1, 2]], [AND], np.ones(3))
    with pytest.raises(ValueError, match="length"):
        groups.sweep(np.zeros(2))
    with pytest.raises(ValueError, match="length"):
        groups.dykstra(np.zeros(3), np.zeros(2))
    with pytest.raises(ValueError, match="length"):
        groups.violation(np.zeros(4))
