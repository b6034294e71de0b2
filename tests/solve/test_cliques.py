"""Components by their cliques: the same answers as over all worlds, worlds that give them, bounds that hold."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

import coherently as co
from coherently.errors import ContradictionError
from coherently.problem import NO_TERMS, attach, clique_tree, find_loss, pose, split
from coherently.solve.budget import Budget
from coherently.solve.component import component_solver
from coherently.solve.component.answer import Ended
from coherently.solve.component.cliques import _bound, _cliques, _from, solve_by_cliques
from coherently.solve.component.glued_cliques import Clique, glue, link
from coherently.solve.component.objective import objective_of
from coherently.solve.facts import Route
from coherently.solve.relaxed.interior import interior_point
from coherently.solve.worlds.oracle import Oracle
from tests.problem.test_terms import under
from tests.solve.composite_reference import EVENTS, Reference
from tests.solve.lawful import worlds_of
from tests.solve.test_bound_rules import least_distance, part_of
from tests.truth import holds

BRIER = find_loss("brier")


def chain(events, pins=0, seed=0):
    """Forecasts of neighbours on a chain, and pins on some of its variables."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(events // 2):
        rows += [("A", f"x{i}", rng.uniform(0.1, 0.9)), ("A", f"x{i} & x{i + 1}", rng.uniform(0.05, 0.6))]
    places = range(0, events // 2, events // 2 // pins) if pins else ()
    laws = [f"P(x{i}) = {0.2 + i / events:.3f}" for i in places]
    return co.Panel.from_records([(judge, event, float(p)) for judge, event, p in rows], laws=laws)


def solved(part):
    return solve_by_cliques(part, objective_of(part, BRIER), Budget())


def other_way(part):
    """The same world by world: for an event alone, which is in no clique. None if its pins cannot be met."""
    try:
        return component_solver.solve_component(part, objective_of(part, BRIER), Budget())
    except ContradictionError:
        return None


def check_worlds(part, answer, possible=None):
    """The worlds give x; each is possible."""
    assert answer.share.min() > 0
    assert answer.share.sum() == pytest.approx(1.0, abs=1e-12)
    assert answer.share @ holds(part, answer.worlds.astype(bool)) == pytest.approx(answer.x, abs=1e-12)
    if possible is not None:
        known = {world.tobytes() for world in possible.astype(np.uint8)}
        assert all(world.tobytes() in known for world in answer.worlds)


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_answers_agree_with_all_worlds(seed, laws):
    part, worlds = part_of(seed, laws=laws, n_variables=7)
    answer = solved(part)
    least = least_distance(part, holds(part, worlds).astype(float))
    assert answer.objective == pytest.approx(least, rel=1e-9, abs=1e-12)
    assert answer.bound <= least + 1e-9
    assert answer.ended is Ended.PROVED
    check_worlds(part, answer, worlds)


def pinned(seed):
    """Forecasts of simple events, and up to three pins, some of them conditional or with room."""
    rng = np.random.default_rng(seed)
    rows = [("A", str(rng.choice(EVENTS)), round(float(rng.random()), 2)) for _ in range(8)]
    pins = []
    for _ in range(rng.integers(1, 4)):
        low, high = np.sort(rng.random(2).round(2))
        text = f"{rng.choice(EVENTS)} given {rng.choice(EVENTS)}" if rng.random() < 0.4 else str(rng.choice(EVENTS))
        pins.append((text, low, low if rng.random() < 0.5 else high))
    return under(co.Panel.from_records(rows), (), pins)


def drawn(seed):
    """Such panels, each with what all worlds say."""
    for number in count(100 * seed):
        yield (panel := pinned(number)), Reference(panel, BRIER)


@pytest.mark.parametrize("seed", range(40))
def test_pins_are_met_at_the_least_distance(seed):
    panel = pinned(seed)
    known = Reference(panel, BRIER)
    parts = [one.merged for one in split(pose(panel).merged)]
    answers = [solved(part) if part.sizes().max() > 1 else other_way(part) for part in parts]
    if known.value is None:
        assert None in answers
        return
    for part, answer in zip(parts, answers, strict=True):
        assert answer.violation < 1e-9
        assert answer.bound <= answer.objective
        check_worlds(part, answer)
    assert sum(answer.objective for answer in answers) == pytest.approx(known.value, abs=1e-6)


@pytest.mark.parametrize("pins", [0, 40])
def test_both_ways_agree_on_a_chain(monkeypatch, pins):
    panel = chain(240, pins)
    part = pose(panel).merged
    by_cliques = solved(part)
    monkeypatch.setattr(component_solver, "LARGE", 10**9)
    other = co.aggregate(panel, co.Exact())
    assert by_cliques.objective == pytest.approx(other.objective, rel=1e-7)
    assert by_cliques.x == pytest.approx([other.probability(text) for text in panel.written.text], abs=1e-3)
    assert by_cliques.gap < 1e-9


def test_a_long_chain_with_many_pins_is_proved():
    panel = chain(2_000, 200)
    result = co.aggregate(panel)
    assert result.status == "optimal"
    assert result.gap < 1e-9
    assert {one.route for one in result.components} == {"junction tree"}
    for i in range(0, 1_000, 5):
        assert result.probability(f"x{i}") == pytest.approx(round(0.2 + i / 2_000, 3), abs=1e-9)


def test_a_neighbour_rules_out_what_a_clique_allows():
    """The laws of one clique forbid p & q, which another clique shares without knowing why."""
    rows = [
        ("A", "p", 0.6),
        ("A", "q", 0.6),
        ("A", "p & q", 0.5),
        ("A", "r", 0.5),
        ("A", "p & q & s", 0.3),
        ("A", "s", 0.4),
    ]
    part = pose(co.Panel.from_records(rows, laws=["p -> r", "q -> ~r"])).merged
    answer = solved(part)
    worlds = worlds_of(part)
    assert answer.objective == pytest.approx(least_distance(part, holds(part, worlds).astype(float)), rel=1e-9)
    check_worlds(part, answer, worlds)


def test_impossible_rows_are_not_laid_out():
    """Rounding leaves a share to a row that no row of the neighbour agrees with."""
    both = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    parent = Clique([0, 1], both, [0.3, 0.3, 0.399, 0.001])
    child = Clique([0, 1, 2], np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]), [0.3, 0.3, 0.4])
    first, second = glue([parent, child])
    for clique, pieces in ((parent, first), (child, second)):
        assert pieces.ends[-1] == pytest.approx(1.0)
        assert 3 not in pieces.rows or clique is child


@pytest.mark.parametrize("seed", range(10))
def test_glued_mixtures_have_the_shares_of_each_clique(seed):
    """Cliques of one distribution: each row keeps its share, and shared members agree everywhere."""
    part, _ = part_of(seed, most=2, n_variables=8, rows=14)
    groups, whole = clique_tree(replace(part, terms=NO_TERMS))
    inner = interior_point(whole.weight, np.nan_to_num(whole.mean), groups)
    cliques = _cliques(groups, inner.mixture)
    glued = glue(cliques)
    for clique, pieces in zip(cliques, glued, strict=True):
        share = np.bincount(pieces.rows, np.diff(pieces.ends, prepend=0.0), len(clique.rows))
        assert share == pytest.approx(np.maximum(clique.mass, 0.0), abs=1e-9)
    places = np.linspace(0.001, 0.999, 97)
    for g, parent, own, there in link(cliques):
        if parent >= 0:
            mine = [own[glued[g].rows[k]] for k in np.searchsorted(glued[g].ends, places)]
            theirs = [there[glued[parent].rows[k]] for k in np.searchsorted(glued[parent].ends, places)]
            assert mine == theirs


@pytest.mark.parametrize("seed", range(20))
def test_any_point_and_any_forces_bound_the_least_distance(seed):
    """The bound is valid near the optimum and far from it, also at points that do not meet the pins."""
    rng = np.random.default_rng(seed)
    panel, known = next((panel, known) for panel, known in drawn(seed) if known.value is not None)
    part = pose(panel).merged
    objective = objective_of(part, BRIER)
    groups, _ = clique_tree(replace(part, terms=NO_TERMS))
    attached = attach(part, groups)
    pins = _from(attached.groups, len(groups))
    inner = interior_point(attached.weight, attached.target, attached.groups)
    best, forces = inner.x[: len(part)], inner.forces[len(groups.members) :]
    for distance in (0.01, 0.05, 0.3, 1.0) * 3:
        x = np.clip(best + distance * rng.normal(size=len(part)), 0.0, 1.0)
        force = forces * rng.choice([1.0, 1.5, 3.0]) + distance * rng.normal(size=len(forces))
        sides = np.concatenate([x, 1.0 - x, [1.0]])
        assert _bound(objective, sides, Oracle(part), pins, force, Budget()) <= known.value + 1e-9


def test_pins_that_contradict_each_other_are_named():
    panel = chain(1_200)
    laws = ["P(x3) = 0.2", "P(x3 & x4) = 0.5", *(f"P(x{i}) = 0.5" for i in range(10, 16))]
    panel = co.Panel.from_records(
        [
            (panel.judges[j], panel.written.text[e], float(p))
            for j, e, p in zip(panel.judge_index, panel.event_index, panel.probability, strict=True)
        ],
        laws=laws,
    )
    with pytest.raises(ContradictionError, match=r"P\(x3"):
        co.aggregate(panel)


def test_no_time_still_gives_a_coherent_answer():
    panel = chain(2_000)
    result = co.aggregate(panel, co.Exact(time_limit=1e-3))
    assert result.coherence == "global"
    assert result.gap >= 0


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_worlds_obey_laws_about_variables_that_nobody_forecast(loss):
    """The worlds left such variables false, whatever the laws said."""
    panel = chain(1_200)
    rows = [(panel.written.text[e], float(p)) for e, p in zip(panel.event_index, panel.probability, strict=True)]
    laws = [f"x{i} -> z{i}" for i in range(0, 600, 3)] + ["variable w: X, Y, Z", "x0 -> w = Y", "x1 -> ~(w = X)"]
    panel = co.Panel.from_records([("A", text, p) for text, p in rows], laws=laws)
    result = co.aggregate(panel, "exact", loss)
    assert {one.route for one in result.solution.components} == {Route.JUNCTION_TREE}
    assert co.verify(panel, result)


@pytest.mark.parametrize("seed", range(3))
def test_other_losses_and_conditionals_go_by_cliques_too(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    rows = [("A", f"x{i}", float(rng.uniform(0.1, 0.9))) for i in range(60)]
    rows += [("A", f"x{i} given x{i + 1}", float(rng.uniform(0.05, 0.95))) for i in range(59)]
    panel = co.Panel.from_records(rows)
    for loss in ("brier", "log", "spherical"):
        usual = co.aggregate(panel, "exact", loss)
        with monkeypatch.context() as patched:
            patched.setattr(component_solver, "LARGE", 0)
            other = co.aggregate(panel, "exact", loss)
        assert other.status == usual.status == "optimal"
        assert {one.route for one in other.solution.components} == {Route.JUNCTION_TREE}
        assert other.objective == pytest.approx(usual.objective, rel=1e-6, abs=1e-9)
        assert other.lower_bound <= usual.objective + 1e-9
        np.testing.assert_allclose(other.solution.value, usual.solution.value, atol=1e-4)
