"""The exact method under laws and with many-valued variables."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

import coherently as co
from coherently import _core
from coherently.problem import Block, Space, pose, split
from coherently.solve.budget import Budget
from coherently.solve.relaxed.relaxation import Relaxation
from coherently.solve.worlds.branches import lowest_worlds
from coherently.solve.worlds.grounds import Grounds
from coherently.solve.worlds.lawful import core_space, without_witness
from coherently.solve.worlds.oracle import Oracle
from tests.problem.test_terms import under
from tests.solve import law_checks
from tests.solve.exact_checks import random_panel
from tests.truth import holds


def test_random_laws_agree_with_enumeration():
    assert law_checks.check_laws_agree(1, 40) <= 1e-7


def test_two_values_are_one_boolean_variable():
    law_checks.check_recoding(2, 20)


def test_a_law_that_one_of_two_holds():
    panel = co.Panel.from_records([("A", "p", 0.6), ("A", "q", 0.3), ("A", "r", 0.2), ("B", "p & q", 0.4)])
    result = co.aggregate(under(panel, ["p -> q", "exactly(1; q, r)"]), "exact")
    np.testing.assert_allclose(result.frame()["probability"], [0.5, 0.55, 0.45, 0.5], atol=1e-12)
    assert result.status == "optimal"


def test_a_large_partition_is_projected_on_the_simplex():
    count = 300
    raw = np.random.default_rng(0).random(count) / 20
    rows = [("A", f"winner = v{i}", float(p)) for i, p in enumerate(raw)]
    panel = co.Panel.from_records(rows, laws=[f"variable winner: {', '.join(f'v{i}' for i in range(count))}"])
    result = co.aggregate(panel)
    falling = np.sort(raw)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, count + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    np.testing.assert_allclose(result.frame()["probability"], np.maximum(raw - level, 0.0), atol=1e-12)
    assert result.gap <= 1e-12


def test_a_ladder_is_an_isotonic_regression():
    rng = np.random.default_rng(0)
    raw = np.clip(np.linspace(0, 1, 300) + rng.normal(0, 0.1, 300), 0, 1)
    weight = rng.uniform(1, 5, 300)
    rows = [("A", f"rate < {i}", float(p), float(w)) for i, (p, w) in enumerate(zip(raw, weight, strict=True))]
    result = co.aggregate(co.Panel.from_records(rows, laws=["variable rate: number"]))
    np.testing.assert_allclose(
        result.frame()["probability"], isotonic_regression(raw, weights=weight).x, rtol=0, atol=1e-9
    )


def test_a_ladder_with_intervals_and_another_variable():
    rows = [("A", f"rate < {i}", 0.1 * i) for i in range(1, 9)]
    rows += [("B", "rate >= 2 & rate < 4", 0.5), ("B", "rain & rate < 3", 0.4), ("B", "rain", 0.2)]
    problem = pose(co.Panel.from_records(rows, laws=["variable rate: number"]))
    for route in law_checks.FORCED:
        assert law_checks.check_lawful(problem, law_checks.solve_by(route, problem, co.Exact())) <= 1e-7


def test_counts_inside_a_block_have_no_limit_of_size():
    names = [f"v{i}" for i in range(60)]
    some = f"at_least(1; {', '.join(f'winner = {name}' for name in names[:40])})"
    rows = [("A", f"winner = {name}", 0.01) for name in names] + [("A", some, 0.9)]
    result = co.aggregate(co.Panel.from_records(rows, laws=[f"variable winner: {', '.join(names)}"]), "exact")
    probability = np.array(result.frame()["probability"])
    assert result.status == "optimal"
    assert result.gap <= 1e-12
    np.testing.assert_allclose(probability[:40].sum(), probability[60], atol=1e-12)
    np.testing.assert_allclose(probability[:60].sum(), 1.0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_dense_components_under_laws_are_proved(seed):
    panel = co.simulate(variables=24, judges=40, seed=seed)
    rng = np.random.default_rng(seed)
    names = list(panel.events.variables)
    laws = [f"{a} -> {b}" for a, b in (rng.choice(names, 2, replace=False) for _ in range(8))]
    laws.append(f"at_most(1; {', '.join(names[:3])})")
    result = co.aggregate(under(panel, laws), co.Exact(time_limit=60))
    assert result.components[0].proof == "semidefinite bound with branch and bound"
    assert result.status == "optimal"
    merged = result.problem.merged
    truth = np.vstack([part.truth for part in result.worlds.parts]).astype(np.uint8)
    assert without_witness(merged.space, merged.n_variables).allows(truth).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_oracle_finds_the_least_of_the_possible_worlds(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        part = split(law_checks.random_lawful(rng).merged)[0].merged
        coefficients = rng.normal(size=len(part))
        sums = holds(part, law_checks.obeying(part)).astype(float) @ coefficients
        for states in (2**22, 0):
            monkeypatch.setattr("coherently.solve.worlds.grounds.MOST_STATES", states)
            least = Oracle(part).least(coefficients, Budget())
            assert abs(least.value - sums.min()) <= 1e-9
            assert least.bound <= sums.min() + 1e-9


def test_clusters_bound_from_below_and_branching_finds_the_best_world():
    rng = np.random.default_rng(5)
    for _ in range(15):
        part = split(law_checks.random_lawful(rng).merged)[0].merged
        relaxation = Relaxation(part, core_space(part).space)
        least = np.nansum(part.weight * (law_checks.by_nnls(part) - part.mean) ** 2)
        assert relaxation.bound(Budget()) <= least + 1e-7 * max(1.0, least)
        coefficients = rng.normal(size=len(part))
        obeying = law_checks.obeying(part)
        sums = holds(part, obeying).astype(float) @ coefficients
        found = lowest_worlds(Grounds(part), coefficients, obeying[np.argmax(sums)].astype(np.uint8), 1e-9, Budget())
        best = [sums.max(), *(holds(part, found.better.astype(bool)) @ coefficients)][-1]
        assert abs(best - sums.min()) <= 1e-8
        assert sums.min() - 1e-8 <= found.bound <= sums.min() + 1e-12


def test_large_overlapping_counts_are_kept():
    rng = np.random.default_rng(0)
    panel = random_panel(rng, 40, 120, 2)
    names = [f"v{i}" for i in range(40)]
    laws = [f"at_most(3; {', '.join(rng.choice(names, 20, replace=False))})" for _ in range(6)]
    result = co.aggregate(under(panel, laws), co.Exact(time_limit=2))
    merged = result.problem.merged
    space = without_witness(merged.space, merged.n_variables)
    world = np.zeros(merged.n_variables, np.uint8)
    for part in result.worlds.parts:
        world[part.variables] = part.truth[0]
    for part in result.worlds.parts:
        rows = np.tile(world, (len(part.truth), 1))
        rows[:, part.variables] = part.truth
        assert space.allows(rows).all()


def test_other_losses_obey_laws():
    panel = co.Panel.from_records([("A", "p", 0.6), ("A", "q", 0.3), ("A", "p & ~q", 0.2), ("B", "r", 0.4)])
    result = co.aggregate(under(panel, ["p -> q", "r | q"]), "exact", loss="log")
    p, q, never, r = result.frame()["probability"]
    assert never == 0.0
    assert p <= q + 1e-12
    assert q + r >= 1 - 1e-12
    assert result.status == "optimal"


def test_a_witness_is_found_where_laws_are_no_tree():
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(80)]
    panel = co.Panel.from_records([("A", name, 0.5) for name in names])
    laws = [
        " | ".join(("~" if rng.random() < 0.5 else "") + name for name in rng.choice(names, 3, replace=False))
        for _ in range(280)
    ]
    merged = pose(under(panel, laws)).merged
    space = core_space(merged).space
    assert space.allows(space.witness()[None])[0] == 1


def test_contradictory_laws_have_a_type():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q", 0.5)])
    merged = pose(under(panel, ["p & q", "p -> ~q"])).merged
    with pytest.raises(_core.ContradictionError, match="no world obeys"):
        core_space(merged)


def test_any_block_is_allowed():
    panel = co.Panel.from_records([("A", "p", 0.9), ("A", "q", 0.8), ("A", "r", 0.7), ("A", "p & q & r", 0.6)])
    problem = pose(panel)
    states = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 1]], np.uint8)
    space = Space((Block(np.arange(3, dtype=np.int32), states),))
    problem = replace(problem, merged=replace(problem.merged, space=space))
    for route in law_checks.FORCED:
        assert law_checks.check_lawful(problem, law_checks.solve_by(route, problem, co.Exact())) <= 1e-7


def test_bounds_follow_laws_and_declarations():
    rows = [("A", "winner = Ann", 0.3), ("A", "winner = Bob", 0.4), ("A", "rate < 3", 0.2), ("A", "rate < 5", 0.7)]
    rows += [("B", "rain & winner = Ann", 0.1), ("B", "rain", 0.5)]
    laws = ["variable winner: Ann, Bob, Cid", "variable rate: number", "x | y", "winner = Bob -> ~rain"]
    result = co.aggregate(co.Panel.from_records(rows, laws=laws))
    expected = {
        "winner = Cid": (0.35, 0.35),
        "rate < 4": (0.2, 0.7),
        "rate < 2": (0.0, 0.2),
        "rain & winner = Cid": (0.35, 0.35),
        "x": (0.0, 1.0),
        "~x & ~y": (0.0, 0.0),
        "rate >= 4 & rain": (0.0, 0.475),
        "rain & winner = Bob": (0.0, 0.0),
    }
    for event, pair in expected.items():
        bounds = result.bounds(event)
        np.testing.assert_allclose(bounds, pair, atol=1e-9, err_msg=event)
        assert bounds.certified
    assert (result.bounds("x").note, result.bounds("z").note) == (None, "the panel says nothing about z")
