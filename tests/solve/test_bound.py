import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.problem.groups.simple import Groups
from coherently.solve.relaxed.certificate import relaxed_bound

WEIGHTS = {
    "flat": lambda _, m: np.ones(m),
    "hundred": lambda rng, m: rng.uniform(1, 100, m),
    "six orders": lambda rng, m: 10 ** rng.uniform(-3, 3, m),
    "heavy": lambda rng, m: 10 ** rng.uniform(0, 6, m),
    "some zero": lambda rng, m: rng.uniform(1, 100, m) * (rng.random(m) < 0.6),
    "six orders, some zero": lambda rng, m: 10 ** rng.uniform(-3, 3, m) * (rng.random(m) < 0.7),
}


def worlds(n):
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)


def grouped(truth, members):
    """Groups of columns of the worlds x events matrix `truth`; equal patterns are shared."""
    patterns, numbers = [], {}
    pattern = np.empty(len(members), np.int32)
    for g, group in enumerate(members):
        rows = np.unique(truth[:, group], axis=0)
        pattern[g] = numbers.setdefault((rows.shape, rows.tobytes()), len(numbers))
        if pattern[g] == len(patterns):
            patterns.append(rows)
    starts = np.cumsum([0, *map(len, members)])
    return Groups(
        design="drawn",
        starts=starts,
        members=np.concatenate(members).astype(np.int32),
        pattern=pattern,
        patterns=tuple(patterns),
    )


def draw(seed, weights, n_variables=5, n_events=12, n_groups=8, width=5):
    """Random functions of up to three variables, constants and repetitions included, in random groups."""
    rng = np.random.default_rng(seed)
    truth = np.empty((2**n_variables, n_events))
    for event in range(n_events):
        variables = rng.choice(n_variables, rng.integers(1, 4), replace=False)
        values = rng.integers(0, 2, 2 ** len(variables))
        truth[:, event] = values[worlds(n_variables)[:, variables].astype(int) @ 2 ** np.arange(len(variables))]
    members = [rng.choice(n_events, rng.integers(1, width + 1), replace=False) for _ in range(n_groups)]
    weight = WEIGHTS[weights](rng, n_events)
    target = np.where(weight > 0, rng.random(n_events), np.nan)
    return weight, target, grouped(truth, members), truth


@given(st.integers(0, 10**6), st.sampled_from(sorted(WEIGHTS)), st.sampled_from([0.0, 0.1, 1.0, 100.0]))
def test_no_forces_lift_the_bound_above_a_mixture_of_worlds(seed, weights, strength):
    weight, target, groups, truth = draw(seed, weights)
    rng = np.random.default_rng(seed + 1)
    near = truth[np.argmin(np.nansum(weight * (truth - target) ** 2, axis=1))]
    x = np.vstack([near, rng.dirichlet(np.full(len(truth), 0.1), 20) @ truth])
    forces = strength * rng.normal(size=len(groups.members))
    reached = np.nansum(weight * (x - target) ** 2, axis=1)
    bound = relaxed_bound(weight, target, groups, forces)
    assert np.all(bound <= reached + 1e-12 * max(1.0, reached.max(), np.abs(forces).sum()))


@given(st.integers(0, 10**6), st.sampled_from(sorted(WEIGHTS)))
def test_bound_is_the_sum_of_its_formula(seed, weights):
    weight, target, groups, _ = draw(seed, weights, n_groups=3)
    forces = np.random.default_rng(seed).normal(size=len(groups.members))
    expected = 0.0
    t = np.linspace(0, 1, 100_001)
    for j in range(len(weight)):
        pull = forces[groups.members == j].sum()
        away = weight[j] * (t - target[j]) ** 2 if weight[j] else 0.0
        expected += np.min(away - pull * t)
    for g, pattern in enumerate(groups.pattern):
        expected += np.min(groups.patterns[pattern] @ forces[groups.starts[g] : groups.starts[g + 1]])
    bound = relaxed_bound(weight, target, groups, forces)
    assert bound == pytest.approx(expected, abs=1e-9 * max(1.0, weight.sum()))


@pytest.mark.parametrize("weight", [0.0, 5e-324, 1e-300, 1e300])
def test_extreme_weights_give_finite_bounds(weight):
    groups = grouped(worlds(1), [[0]])
    target = np.array([0.5 if weight else np.nan])
    for force in (-1e10, -1.0, 0.0, 1.0, 1e10):
        assert np.isfinite(relaxed_bound(np.array([weight]), target, groups, np.array([force])))


def test_without_groups_only_the_box_is_left():
    none = Groups(
        design="none",
        starts=np.zeros(1, np.int64),
        members=np.zeros(0, np.int32),
        pattern=np.zeros(0, np.int32),
        patterns=(),
    )
    assert relaxed_bound(np.ones(2), np.array([0.3, 1.0]), none, np.zeros(0)) == 0.0
