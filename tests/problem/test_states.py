"""Joint states of variables under blocks and laws, against a filter of all truth assignments."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.problem import Block, Space, States, TooManyStatesError, find_design, pose
from tests.problem.test_terms import under
from tests.solve.lawful import panels, worlds_of
from tests.solve.reference import members_of
from tests.truth import holds


def sub(merged, variables):
    """The space of the laws and blocks that have all their variables, or are cut to them."""
    states = States(merged.space, merged.n_variables)
    return states.of(np.array(variables))


@settings(max_examples=80, deadline=None)
@given(panels(), st.data())
def test_states_are_those_that_the_laws_inside_allow(panel, data):
    merged = pose(panel).merged
    chosen = sorted(data.draw(st.sets(st.integers(0, merged.n_variables - 1), min_size=1)))
    found = sub(merged, chosen)
    assert len(np.unique(found, axis=0)) == len(found)
    inside = [i for i in range(len(merged.space.laws)) if set(merged.space.laws.of(i).tolist()) <= set(chosen)]
    fewer = type(merged.space)(merged.space.blocks, merged.space.laws.take(np.array(inside, np.int64)))
    whole = worlds_of(replace(merged, space=fewer))
    expected = {tuple(row) for row in whole[:, chosen].astype(int).tolist()}
    assert {tuple(row) for row in found.tolist()} == expected


@settings(max_examples=60, deadline=None)
@given(panels(), st.sampled_from(["logical", "pairs", "triples", "cliques", "global"]))
def test_every_possible_world_is_in_every_group(panel, design):
    merged = pose(panel).merged
    groups = find_design(design)(merged)
    truth = holds(merged, worlds_of(merged))
    for members, rows in members_of(groups):
        own = members < len(merged)
        allowed = {tuple(row) for row in rows[:, own].astype(int).tolist()}
        assert {tuple(row) for row in truth[:, members[own]].astype(int).tolist()} <= allowed


@settings(max_examples=40, deadline=None)
@given(panels(given=False))
def test_the_global_group_has_the_possible_truths_alone(panel):
    merged = pose(panel).merged
    truth = holds(merged, worlds_of(merged)).astype(int)
    for members, rows in members_of(find_design("global")(merged)):
        assert {tuple(row) for row in rows.astype(int).tolist()} == {tuple(row) for row in truth[:, members].tolist()}


def test_laws_and_blocks_are_groups():
    panel = co.Panel.from_records([("A", event, 0.3) for event in ("a", "b", "c", "d", "e", "b & e", "a | c")])
    panel = under(panel, ["exactly(1; a, b, c)", "d -> e"])
    merged = pose(panel).merged
    found = [set(members.tolist()) for members, _ in members_of(find_design("logical")(merged))]
    assert found == [{1, 4, 5}, {0, 1, 2, 6}, {3, 4}]


def test_a_large_cardinality_is_pruned_as_it_is_enumerated():
    names = [f"v{i}" for i in range(40)]
    panel = under(co.Panel.from_records([("A", name, 0.1) for name in names]), [f"at_most(2; {', '.join(names)})"])
    merged = pose(panel).merged
    assert len(sub(merged, range(40))) == 1 + 40 + 40 * 39 // 2
    loose = under(co.Panel.from_records([("A", name, 0.1) for name in names]), [f"at_least(2; {', '.join(names)})"])
    with pytest.raises(TooManyStatesError, match="40 variables that have more than 4,096 joint states"):
        sub(pose(loose).merged, range(40))


def test_a_block_has_as_many_states_as_values():
    states = States(Space((Block.one_of(np.arange(1000), complete=True),)), 1001)
    assert states.of(np.arange(1001)).shape == (2000, 1001)
    assert states.of(np.array([3, 5, 1000])).tolist() == [
        [0, 0, 0],
        [0, 0, 1],
        [0, 1, 0],
        [0, 1, 1],
        [1, 0, 0],
        [1, 0, 1],
    ]
