"""Counts over more variables than there are worlds to list: the best world, its bound, and what is said without one."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import nnls

import coherently as co
from coherently.problem import pose, split
from coherently.solve import Budget
from coherently.solve.worlds.branches import lowest_worlds
from coherently.solve.worlds.grounds import Grounds
from coherently.solve.worlds.lawful import without_witness
from coherently.solve.worlds.oracle import Oracle
from tests.solve.count_checks import check_counts, check_many_counts

N = 17
WORLDS = (np.arange(2**N)[:, None] >> np.arange(N) & 1).astype(np.uint8)


def literals(rng, count=N):
    return ", ".join(f"{'~' * int(turned)}v{i}" for i, turned in enumerate(rng.random(count) < 0.4))


def part_of(events, laws=()):
    panel = co.Panel.from_records([("A", event, 0.5) for event in events], laws=list(laws))
    [part] = split(pose(panel).merged)
    return part.merged


def turned(text):
    """All literals the other way round."""
    return ", ".join(one[1:] if one.startswith("~") else f"~{one}" for one in text.split(", "))


@pytest.mark.parametrize("seed", range(4))
def test_the_best_number_of_true_variables_is_the_best_of_all_worlds(seed):
    rng = np.random.default_rng(seed)
    own = literals(rng)
    part = part_of([f"exactly(5; {own})", f"at_least(9; {own})", f"at_most(3; {turned(own)})", "v3", "v8", "v16"])
    oracle = Oracle(part)
    assert oracle.grounds.is_counted
    assert oracle.grounds.cost < 100  # one class of variables, and one set of literals
    truth = part.functions.hold(WORLDS)
    for _ in range(20):
        coefficients = rng.normal(size=len(part)) * 10.0 ** rng.integers(-6, 6)
        least = oracle.least(coefficients, Budget())
        sums = truth @ coefficients
        assert least.exact
        assert sums.min() == pytest.approx(least.bound, rel=1e-12, abs=1e-12)
        assert sums.min() == pytest.approx(part.functions.hold(least.world[None])[0] @ coefficients, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_rounding_costs_no_more_than_rounding(seed):
    """Large coefficients cancel: the sum of floats is off by more than the small ones that decide."""
    rng = np.random.default_rng(seed)
    names = ", ".join(f"v{i}" for i in range(N))
    part = part_of([f"at_least(9; {names})", *(f"v{i}" for i in range(N))])
    coefficients = rng.normal(size=len(part)) * 10.0 ** rng.integers(-3, 16, len(part))
    world = Oracle(part).least(coefficients, Budget()).world
    exact = [Fraction(float(c)) for c in coefficients]
    sums = part.functions.hold(WORLDS) @ coefficients
    near = part.functions.hold(np.vstack([world[None], WORLDS[sums <= sums.min() + 1e-9 * np.abs(coefficients).sum()]]))
    found = [sum(c for c, holds in zip(exact, row, strict=True) if holds) for row in near]
    assert found[0] - min(found) <= Fraction(2.0**-52 * N) * sum(map(abs, exact))


NAMED = ", ".join(f"v{i}" for i in range(N))
MIXTURES = {
    "another event": (["v0 & v1"], []),
    "one of three variables": (["v0 & (v1 | ~v5)", "v1 ^ v8"], []),
    "a table of 16 variables that is a count": ([f"exactly(4; {', '.join(f'v{i}' for i in range(N - 1))})"], []),
    "a count of fewer variables": (["at_most(2; v0, v1, v2, v3, v4, v5)"], []),
    "nested and overlapping counts": (["at_least(2; v0, v1, v2, v3, v4, v5)", "exactly(3; v3, v4, v5, v6, v7)"], []),
    "other literals": (["at_least(3; ~v0, " + ", ".join(f"v{i}" for i in range(1, N)) + ")"], []),
    "most literals turned": (["at_least(3; ~v0, ~v1, ~v2, ~v3, v4)"], []),
    "almost a count": (["at_least(2; v0, v1, v2, v3, v4) & ~(v0 & v1)", "exactly(2; v5, v6, v7, v8, v9) | v5"], []),
    "exclusive or": (["v0 ^ v1 ^ ~v2 ^ v3 ^ v4"], []),
    "a law": ([], ["v0 -> v1"]),
    "a chain of laws": ([], [f"v{i} -> v{i + 1}" for i in range(6)]),
    "a law on one variable": ([], ["~v3", "v4 | v5"]),
    "a count as a law": ([], [f"at_most(9; {NAMED})", "at_least(3; v0, v1, ~v2, v3, v4, v5)"]),
}


@pytest.mark.parametrize("kind", MIXTURES)
@pytest.mark.parametrize("seed", range(3))
def test_counts_mixed_with_other_events_and_laws(kind, seed):
    """The least sum over all worlds that laws allow, by lists of all worlds."""
    events, laws = MIXTURES[kind]
    rng = np.random.default_rng(seed)
    some = [f"v{i}" for i in range(N) if rng.random() < 0.6]
    part = part_of([f"exactly(5; {NAMED})", f"at_least(8; {NAMED})", "v0", *some, *events], laws)
    oracle = Oracle(part)
    assert oracle.grounds.is_counted
    space = without_witness(part.space, N) if laws else None
    allowed = space.allows(WORLDS).astype(bool) if laws else np.ones(len(WORLDS), bool)
    truth = part.functions.hold(WORLDS[allowed])
    for scale in (1.0, 0.0, 1e6):
        # With whole numbers many worlds are equally good.
        coefficients = rng.normal(size=len(part)) if scale else rng.integers(-2, 3, len(part)).astype(float)
        coefficients[0] *= max(scale, 1.0)
        least = oracle.least(coefficients, Budget())
        assert space is None or space.allows(least.world[None])[0]
        assert least.bound == pytest.approx((truth @ coefficients).min(), rel=1e-12, abs=1e-9)


def test_where_counters_cost_too_much_another_method_is_used():
    rng = np.random.default_rng(0)
    events = [f"at_least(9; {', '.join(f'v{i}' for i in rng.choice(60, 30, replace=False))})" for _ in range(12)]
    assert not Oracle(part_of([*events, "v0"])).grounds.is_eliminable


def test_counters_end_where_nothing_changes_any_more():
    """Of 1,200 variables only whether none, one, two or more hold matters, from either end."""
    names = [f"v{i}" for i in range(1_200)]
    for text in (f"at_least(3; {', '.join(names)})", f"at_least(1198; {', '.join(names)})"):
        grounds = Oracle(part_of([text, *names[:9]], ["v0 -> v1", "v1 | v2"])).grounds
        assert grounds.is_counted
        assert grounds.cost < 200


@pytest.mark.parametrize("seed", range(3))
def test_branching_with_counts_finds_the_best_of_all_worlds(seed):
    rng = np.random.default_rng(seed)
    one, other = literals(rng), literals(rng)
    few = ["v0 & v1", "v4 | ~v5", "v2", "v9 & ~v16 & v3"]
    for laws in ((), ["v0 -> v7"]):
        part = part_of([f"exactly(5; {one})", f"at_least(9; {one})", f"at_most(7; {other})", *few], laws)
        grounds = Grounds(part)
        truth = part.functions.hold(WORLDS)
        allowed = grounds.space.allows(WORLDS).astype(bool) if laws else np.ones(len(WORLDS), bool)
        for _ in range(5):
            coefficients = rng.normal(size=len(part))
            sums = truth[allowed] @ coefficients
            known = WORLDS[allowed][np.argmax(sums)]
            found = lowest_worlds(grounds, coefficients, known, slack=1e-6, budget=Budget())
            best = part.functions.hold(np.vstack([known, *found.better]))[-1] @ coefficients
            assert best == pytest.approx(sums.min(), abs=1e-6)
            assert sums.min() - 2e-6 <= found.bound <= sums.min() + 1e-9


def symmetric_least(k, half, exactly, at_least, single):
    """The least objective where only how many of the forecast and of the other variables hold matters."""
    states = [(i, j) for i in range(half + 1) for j in range(k - half + 1)]
    truth = np.array([[i + j == k // 2, i + j >= k // 2 + 1, i / half] for i, j in states], float)
    weight = np.sqrt([1.0, 1.0, half])
    heavy = 1e5
    system = np.vstack([(truth * weight).T, np.full(len(states), heavy)])
    share, _ = nnls(system, np.append(np.array([exactly, at_least, single]) * weight, heavy))
    return np.sum(((share / share.sum()) @ truth - [exactly, at_least, single]) ** 2 * weight**2)


@pytest.mark.parametrize("k", [40, 100])
@pytest.mark.parametrize(("exactly", "single"), [(0.9, 0.1), (0.6, 0.05), (0.2, 0.45)])
def test_counts_over_many_variables_are_proved(k, exactly, single):
    names = ", ".join(f"v{i}" for i in range(k))
    rows = [("A", f"exactly({k // 2}; {names})", exactly), ("A", f"at_least({k // 2 + 1}; {names})", 0.4)]
    rows += [("B", f"v{i}", single) for i in range(0, k, 2)]
    panel = co.Panel.from_records(rows)
    result = co.aggregate(panel, co.Exact(time_limit=600))
    least = symmetric_least(k, len(rows) - 2, exactly, 0.4, single)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(least, abs=1e-6)
    assert result.lower_bound <= least + 1e-9
    assert co.verify(panel, result)
    finding = co.check(panel, time_limit=600)
    assert finding.means.proved
    assert finding.distance**2 == pytest.approx(least, abs=1e-3 * least + 1e-9)


def test_two_counts_of_different_variables_are_proved():
    k = 40
    names = [f"v{i}" for i in range(k)]
    first, second = ", ".join(names[:-2]), ", ".join(names)
    panel = co.Panel.from_records([("A", f"at_least(20; {first})", 0.9), ("A", f"at_least(20; {second})", 0.4)])
    result = co.aggregate(panel, co.Exact(time_limit=600))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(0.125, abs=1e-9)  # both move to 0.65


def test_without_a_method_of_proof_a_note_says_so():
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(60):  # tables of 12 variables, too large for clusters, among 40
        chosen = ", ".join(f"v{i}" for i in rng.choice(40, 12, replace=False))
        rows.append(("A", f"exactly(6; {chosen})", 0.9))
    panel = co.Panel.from_records(rows)
    assert Oracle(split(pose(panel).merged)[0].merged).grounds.relaxation is None
    result = co.aggregate(panel, co.Exact(time_limit=600))
    assert result.status == "unproved"
    assert "Nothing is proved about 1 of 1 components" in result.note
    assert "at most 10 variables" in result.note


def test_random_panels_of_counts_against_all_worlds():
    assert check_counts(0, 250) <= 1e-7


def test_random_panels_of_many_variables_are_proved_twice():
    assert check_many_counts(0, 20) >= 15


@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
def test_two_counts_over_200_variables_with_singles_and_a_law(loss):
    rng = np.random.default_rng(1)
    names = [f"v{i}" for i in range(200)]
    rows = [("A", f"at_least(60; {', '.join(names)})", 0.1), ("A", f"exactly(20; {', '.join(names[:120])})", 0.9)]
    rows += [("A", names[i], p) for i, p in zip(range(0, 180, 3), rng.random(60).tolist(), strict=True)]
    panel = co.Panel.from_records(rows, laws=["v0 -> v3"])
    result = co.aggregate(panel, co.Exact(time_limit=600), loss)
    assert result.status == "optimal"
    checked = co.verify(panel, result)
    assert checked
    assert checked.bound_rests_on == ["own elimination of variables"]
    again = co.aggregate(panel, co.Exact(time_limit=600, threads=1), loss)
    assert again.to_json() == result.to_json()


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_closes_where_the_objective_only_rounds(seed):
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(300)]
    rows = [("A", f"at_least({k}; {', '.join(names)})", float(rng.random())) for k in (30, 90, 150, 210)]
    panel = co.Panel.from_records(rows + [("A", name, float(rng.random())) for name in names])
    result = co.aggregate(panel, co.Exact(time_limit=600))
    assert result.gap <= 2e-11
