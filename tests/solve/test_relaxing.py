"""The objective over clusters: its bound, and the mixture of worlds that comes near to its answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.errors import MethodError
from coherently.problem import find_loss, pose, split, wider_clusters
from coherently.solve.budget import NO_TIME, Budget
from coherently.solve.component.newton import newton as newton_module
from coherently.solve.component.newton.relaxed_aim import TermsOverGroups, relax
from coherently.solve.component.objective import objective_of
from coherently.solve.component.planes import tangent
from coherently.solve.facts import Proof
from coherently.solve.relaxed import cycles
from coherently.solve.relaxed.certificate import balanced, least_sum
from coherently.solve.relaxed.cycles import bound_by_cycles
from coherently.solve.worlds.grounds import Grounds
from tests.problem.test_terms import worlds_of
from tests.solve.exact_checks import without_elimination
from tests.solve.test_bound import draw
from tests.truth import holds

LOSSES = ("brier", "log", "spherical")


def largest(panel, loss):
    """The largest component, its objective and its clusters."""
    measure = find_loss(loss)
    part = max((one.merged for one in split(pose(panel, measure).merged)), key=len)
    return part, objective_of(part, measure), Grounds(part).relaxation_within(Budget()).groups


def chain(seed, size=12):
    """Forecasts along a chain, where clusters allow no more than worlds do; a third are conditional."""
    rng = np.random.default_rng(seed)
    rows = [("A", f"x{i}", float(rng.uniform(0.1, 0.9))) for i in range(size)]
    for i in range(size - 1):
        sign = rng.choice(["given", "given ~"]) if rng.random() < 1 / 3 else rng.choice(["&", "|", "& ~"])
        rows.append(("A", f"x{i} {sign} x{i + 1}", float(rng.uniform(0.05, 0.95))))
    return co.Panel.from_records(rows)


def ring(seed, size=7):
    """Neighbours that mostly differ, on a cycle of odd length: clusters of pairs do not see that this is impossible."""
    rng = np.random.default_rng(seed)
    rows = [("A", f"x{i} ^ x{(i + 1) % size}", float(rng.uniform(0.93, 0.99))) for i in range(size)]
    rows += [("A", f"x{i}", 0.5) for i in range(size)]
    return co.Panel.from_records(rows)


def quarrel(seed, size=5):
    """Three judges contradict each other on what holds given each variable, which none of them says is likely."""
    rng = np.random.default_rng(seed)
    rows = [("A", f"x{i}", 0.0) for i in range(size)]
    for i in range(size):
        for judge in "ABC":
            j, k = rng.choice([v for v in range(size) if v != i], 2, replace=False)
            event = rng.choice([f"x{j}", f"x{j} & x{k}", f"x{j} | x{k}", f"~x{j} & x{k}"])
            rows.append((judge, f"{event} given x{i}", float(rng.choice([0.02, 0.1, 0.5, 0.9, 0.98]))))
    return co.Panel.from_records(rows)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 1.0, 100.0]))
def test_no_forces_lift_a_sum_above_that_of_a_world(seed, strength):
    _, _, groups, truth = draw(seed, "flat")
    rng = np.random.default_rng(seed + 1)
    coefficients = rng.normal(size=truth.shape[1])
    forces = strength * rng.normal(size=len(groups.members))
    least = (truth @ coefficients).min()
    assert least_sum(coefficients, groups, forces) <= least + 1e-12 * (1 + np.abs(forces).sum())


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 1.0, 100.0]))
def test_balanced_forces_have_the_sums_of_coefficients_and_prove_no_less(seed, strength):
    _, _, groups, truth = draw(seed, "flat")
    rng = np.random.default_rng(seed + 1)
    coefficients = rng.normal(size=truth.shape[1])
    forces = strength * rng.normal(size=len(groups.members))
    found, rounding = balanced(coefficients, groups, forces), 1e-12 * (1 + np.abs(forces).sum())
    inside = np.unique(groups.members)
    assert np.bincount(groups.members, found, len(coefficients))[inside] == pytest.approx(coefficients[inside])
    assert least_sum(coefficients, groups, found) >= least_sum(coefficients, groups, forces) - rounding
    assert least_sum(coefficients, groups, found) <= (truth @ coefficients).min() + rounding


@pytest.mark.parametrize("loss", ["brier", "spherical"])
@pytest.mark.parametrize("seed", range(4))
def test_where_conditions_vanish_the_answer_over_clusters_is_found(seed, loss):
    _, objective, groups = largest(quarrel(seed), loss)
    found = TermsOverGroups(objective, groups).minimise(Budget())
    assert found.sides[objective.condition].min() < 1e-6
    assert 0 <= objective.value(found.sides) - found.bound() < 1e-8


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", [chain, ring])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_lies_below_every_coherent_answer_and_what_it_claims_below_every_world(seed, make, loss):
    panel = make(seed)
    part, objective, groups = largest(panel, loss)
    task = TermsOverGroups(objective, groups)
    truth = holds(part, worlds_of(part.n_variables)).astype(float)
    exact = co.aggregate(panel, "exact", loss)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        forces = rng.normal(size=len(groups.members))
        inside = rng.dirichlet(np.ones(len(truth))) @ truth
        plane = tangent(objective, task.sides(np.concatenate([inside, np.full(groups.auxiliary, 0.5)])))
        assert task.least(plane, forces) <= (truth @ plane.coefficients).min()
        assert plane.bound(task.least(plane, forces)) <= exact.objective
    for found in (task.minimise(Budget()), relax(part, objective, Budget())):
        assert found.bound() <= exact.objective
        assert found.least <= (truth @ found.plane.coefficients).min()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_on_a_chain_the_answer_over_clusters_is_the_coherent_one(seed, loss):
    panel = chain(seed)
    part, objective, _ = largest(panel, loss)
    found = relax(part, objective, Budget())
    exact = co.aggregate(panel, "exact", loss)
    assert found.bound() == pytest.approx(exact.objective, abs=1e-7)
    assert objective.value(found.sides) == pytest.approx(exact.objective, abs=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", [chain, ring])
@pytest.mark.parametrize("seed", range(3))
def test_by_search_the_same_answer_is_proved(monkeypatch, seed, make, loss):
    panel = make(seed)
    exact = co.aggregate(panel, "exact", loss)
    monkeypatch.setattr(Grounds, "is_branchable", False)
    with without_elimination():
        found = co.aggregate(panel, "exact", loss)
    assert found.status == "optimal"
    assert found.lower_bound <= exact.objective <= found.objective + 1e-12
    assert found.objective == pytest.approx(exact.objective, abs=1e-6)
    if make is chain:
        assert found.gap <= 1e-7
    if make is chain and loss != "brier":
        assert {part.proof for part in found.solution.components} == {Proof.CLUSTERS}


def test_if_time_ends_with_the_clusters_the_bound_is_still_one(monkeypatch):
    panel = chain(0)
    part, objective, _ = largest(panel, "log")
    with pytest.raises(MethodError, match="before all clusters were made"):
        relax(part, objective, NO_TIME)
    monkeypatch.setattr(cycles, "wider_clusters", lambda part, more, _: wider_clusters(part, more))
    found = relax(part, objective, NO_TIME)
    assert found.bound() <= co.aggregate(panel, "exact", "log").objective


def test_bounds_stay_if_time_ends_while_wider_clusters_are_made(monkeypatch):
    part, _, _ = largest(ring(0, size=5), "brier")
    whole = bound_by_cycles(part, Budget(), 1e9)

    def hasty(part, more, _):
        return wider_clusters(part, more, lambda: bool(more))

    monkeypatch.setattr(cycles, "wider_clusters", hasty)
    first = bound_by_cycles(part, Budget(), 1e9)
    assert first < 0.9 * whole


@pytest.mark.parametrize("seconds", [1e-9, 1e-3, 5e-3, 0.02, 0.1])
@pytest.mark.parametrize("make", [chain, ring])
def test_whenever_time_ends_the_answer_is_coherent_and_its_bound_holds(monkeypatch, make, seconds):
    panel = make(0)
    exact = co.aggregate(panel, "exact", "log")
    monkeypatch.setattr(Grounds, "is_branchable", False)
    with without_elimination():
        found = co.aggregate(panel, co.Exact(time_limit=seconds), "log")
    assert found.lower_bound <= exact.objective <= found.objective + 1e-12
    assert co.verify(panel, found)


def test_a_stop_after_the_problem_over_clusters_leaves_the_start(monkeypatch):
    """Nothing was aimed at yet when the time ended."""
    panel, over = chain(0), []
    monkeypatch.setattr(Grounds, "is_branchable", False)
    asked, found = Budget.is_over, newton_module.relax
    monkeypatch.setattr(Budget, "is_over", lambda self: bool(over) or asked(self))
    monkeypatch.setattr(newton_module, "relax", lambda *some: (found(*some), over.append(True))[0])
    with without_elimination():
        result = co.aggregate(panel, "exact", "log")
    assert over
    assert co.verify(panel, result)
