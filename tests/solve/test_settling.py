"""Ratios that the possible worlds leave no choice, against enumeration."""

import numpy as np
import pytest

import coherently as co
from coherently.problem import find_loss, pose, split
from coherently.solve.budget import Budget
from coherently.solve.component.newton.feasible import make_engine
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.newton.settled_terms import settle_terms
from coherently.solve.component.objective import objective_of
from coherently.solve.worlds.examples import example_worlds
from coherently.solve.worlds.oracle import Oracle
from tests.solve.lawful import worlds_of
from tests.truth import holds

EVENTS = ("a", "b", "r < 1", "r < 2", "r >= 2", "a & b", "a -> r < 1", "w = X", "w != Y | b", "a ^ w = Z")
LAWS = ((), ("a -> b",), ("w = X -> r < 1", "a | b"), ("a | r >= 1", "w != Z"))


def drawn(seed):
    rng = np.random.default_rng(seed)
    texts = [str(rng.choice(EVENTS)) for _ in range(4)]
    texts += [f"{rng.choice(EVENTS)} given {rng.choice(['', '~'])}({rng.choice(EVENTS)})" for _ in range(6)]
    rows = [("A", text, round(float(rng.uniform(0.05, 0.95)), 2)) for text in texts]
    laws = ["variable r: number", "variable w: X, Y, Z", *LAWS[seed % len(LAWS)]]
    return co.Panel.from_records(rows, laws=laws)


@pytest.mark.parametrize("seed", range(40))
def test_ratios_are_settled_just_where_no_world_leaves_a_choice(seed):
    for part in split(pose(drawn(seed), find_loss("log")).merged):
        merged, oracle = part.merged, Oracle(part.merged)
        objective = objective_of(merged, find_loss("log"))
        engine = make_engine(merged, oracle, pin_rows(merged.terms.limits, len(merged)), 0)
        found = settle_terms(
            merged, objective, engine, example_worlds(merged, oracle, Budget()), is_exact=oracle.is_exact
        )
        truth = holds(merged, worlds_of(merged)).astype(bool)
        sides = np.hstack([truth, ~truth, np.ones((len(truth), 1), bool)])
        u, h = sides[:, objective.joint], sides[:, objective.condition]
        never, always = ~u.any(axis=0), ~(h & ~u).any(axis=0)
        assert found.is_proved
        np.testing.assert_array_equal(found.objective.free, ~(never | always))
        np.testing.assert_array_equal(found.objective.settled[never], 0.0)
        np.testing.assert_array_equal(found.objective.settled[always & ~never], 1.0)


@pytest.mark.parametrize("loss", ["log", "spherical", "brier"])
@pytest.mark.parametrize("seed", range(8))
def test_answers_under_declarations_are_those_of_enumeration(seed, loss):
    panel = drawn(seed)
    result = co.aggregate(panel, "exact", loss)
    assert result.status == "optimal"
    checked = co.verify(panel, result)
    assert checked, checked.problems
