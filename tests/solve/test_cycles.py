"""Broken cycles: what is found breaks an inequality that all worlds satisfy, and the bound never passes the optimum."""

from __future__ import annotations

import numpy as np
import pytest

import coherently as co
from coherently.panel import Panel
from coherently.problem import clusters, lawful_clusters, pose, wider_clusters
from coherently.solve import Exact
from coherently.solve.budget import Budget
from coherently.solve.relaxed.cycles import bound_by_cycles, broken_cycles
from coherently.solve.relaxed.interior import interior_point
from coherently.solve.worlds.grounds import Grounds
from tests.solve.test_bound_rules import least_distance, part_of
from tests.truth import holds


def _ring(size: int) -> Panel:
    """Neighbours on a ring nearly always differ, though a ring of odd size has no such world."""
    rows = [("Ann", f"x{i}", 0.5) for i in range(size)]
    for i in range(size):
        a, b = f"x{i}", f"x{(i + 1) % size}"
        rows.append(("Ann", f"({a} & ~{b}) | (~{a} & {b})", 1.0))
    return Panel.from_records(rows)


@pytest.mark.parametrize(("size", "broken"), [(4, False), (5, True), (6, False)])
def test_only_odd_rings_of_opposites_break(size: int, broken: bool) -> None:
    part = pose(_ring(size)).merged
    groups, whole = wider_clusters(part, ())
    target = np.where(whole.weight > 0, whole.mean, 0.0)
    x = interior_point(whole.weight, target, groups).x
    assert broken_cycles(whole, x) == ({tuple(range(size))} if broken else set())


def test_a_broken_ring_is_bounded_exactly() -> None:
    problem = pose(_ring(5))
    exact = Exact().solve(problem).objective
    assert Grounds(problem.merged).relaxation_within(Budget()).bound(Budget()) < 1e-9  # pairs only are coherent
    assert bound_by_cycles(problem.merged, Budget(tolerance=0.0), exact) == pytest.approx(exact, abs=1e-8)


def test_a_cycle_with_too_many_states_is_left_out() -> None:
    part = pose(_ring(11)).merged
    usual, _ = wider_clusters(part, ())
    wider, _ = wider_clusters(part, [tuple(range(11))])
    assert len(wider) == len(usual)


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_the_bound_is_between_the_clusters_and_the_optimum(seed: int, laws: bool) -> None:
    part, worlds = part_of(seed, laws=laws)
    least = least_distance(part, holds(part, worlds).astype(np.float64))
    found = bound_by_cycles(part, Budget(tolerance=0.0), 2.0 * least)
    assert Grounds(part).relaxation_within(Budget()).bound(Budget()) - 1e-9 <= found <= least + 1e-9


@pytest.mark.parametrize("laws", [(), ("v0 -> v1",)])
def test_clusters_are_not_made_once_the_time_is_over(laws):
    rng = np.random.default_rng(0)
    rows = [("A", " & ".join(f"v{i}" for i in rng.choice(40, 9, replace=False)), 0.3) for _ in range(60)]
    part = pose(co.Panel.from_records(rows, laws=list(laws))).merged
    looks = 0

    def is_over():
        nonlocal looks
        looks += 1
        return looks > 5

    with pytest.raises(co.MethodError, match="the time was over"):
        (lawful_clusters if laws else clusters)(part, is_over)
    looks = 0
    with pytest.raises(co.MethodError, match="the time was over"):
        wider_clusters(part, (), is_over)
    assert looks == 6
