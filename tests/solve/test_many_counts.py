"""Counts over more variables than there are worlds to list: the best world, its bound, and what is said without one."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import nnls

import coherently as co
from coherently.problem import pose, split
from coherently.solve import Budget
from coherently.solve.relaxed.relaxation import Relaxation
from coherently.solve.worlds.counted import CountedWorlds
from coherently.solve.worlds.lawful import without_witness
from coherently.solve.worlds.oracle import Oracle
from coherently.solve.worlds.program import best_world

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
    counted = CountedWorlds.of(part)
    truth = part.functions.hold(WORLDS)
    for _ in range(20):
        coefficients = rng.normal(size=len(part)) * 10.0 ** rng.integers(-6, 6)
        world, bound = counted.least(coefficients)
        sums = truth @ coefficients
        assert sums.min() == pytest.approx(part.functions.hold(world[None])[0] @ coefficients, rel=1e-12, abs=1e-12)
        assert bound <= sums.min() <= bound + 1e-11 * np.abs(coefficients).sum()


@pytest.mark.parametrize("seed", range(20))
def test_rounding_never_raises_the_bound(seed):
    """Large coefficients cancel: the sum of floats is off by more than the small ones that decide."""
    rng = np.random.default_rng(seed)
    names = ", ".join(f"v{i}" for i in range(N))
    part = part_of([f"at_least(9; {names})", *(f"v{i}" for i in range(N))])
    coefficients = rng.normal(size=len(part)) * 10.0 ** rng.integers(-3, 16, len(part))
    world, bound = CountedWorlds.of(part).least(coefficients)
    exact = [Fraction(float(c)) for c in coefficients]
    truth = part.functions.hold(WORLDS[(WORLDS.sum(1) == world.sum())])
    sums = truth @ coefficients
    near = truth[sums <= sums.min() + 1e-9 * np.abs(coefficients).sum()]
    assert Fraction(bound) <= min(sum(c for c, holds in zip(exact, row, strict=True) if holds) for row in near)


@pytest.mark.parametrize(
    "events",
    [
        ["v0 & v1"],  # another event
        [", ".join(["exactly(4; v0"] + [f"v{i}" for i in range(1, N - 1)]) + ")"],  # a table of 16 variables
        [f"exactly(2; {', '.join(f'v{i}' for i in range(N + 1))})"],  # a count of other variables
        ["at_least(3; ~v0, " + ", ".join(f"v{i}" for i in range(1, N)) + ")"],  # one of other literals
    ],
)
def test_other_events_are_left_to_other_methods(events):
    names = ", ".join(f"v{i}" for i in range(N))
    assert CountedWorlds.of(part_of([f"exactly(5; {names})", "v0"])) is not None
    assert CountedWorlds.of(part_of([f"exactly(5; {names})", "v0", *events])) is None
    assert CountedWorlds.of(part_of([f"exactly(5; {names})", "v0"], ["v0 -> v1"])) is None


@pytest.mark.parametrize("seed", range(3))
def test_the_program_with_counts_finds_the_best_of_all_worlds(seed):
    rng = np.random.default_rng(seed)
    one, other = literals(rng), literals(rng)
    few = ["v0 & v1", "v4 | ~v5", "v2", "v9 & ~v16 & v3"]
    for laws in ((), ["v0 -> v7"]):
        part = part_of([f"exactly(5; {one})", f"at_least(9; {one})", f"at_most(7; {other})", *few], laws)
        space = without_witness(part.space, N) if laws else None
        truth = part.functions.hold(WORLDS)
        allowed = space.allows(WORLDS).astype(bool) if laws else np.ones(len(WORLDS), bool)
        for _ in range(5):
            coefficients = rng.normal(size=len(part))
            world, bound = best_world(Relaxation(part, space), coefficients, Budget())
            least = (truth[allowed] @ coefficients).min()
            assert part.functions.hold(world[None])[0] @ coefficients == pytest.approx(least, abs=1e-6)
            assert least - 2e-6 <= bound <= least + 1e-9


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
