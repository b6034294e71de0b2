import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.problem import find_design, pose
from coherently.problem.groups.named import DESIGNS
from tests.solve.reference import members_of, panels, truth

SMALL = ("singletons", "logical", "pairs", "global")
"""The designs whose groups these tests foretell."""


def grouped(panel, design):
    problem = pose(panel)
    return problem, find_design(design)(problem.merged)


def panel_of(*events):
    return co.Panel.from_records([("A", event, 0.5) for event in events])


def named(panel, design):
    """The groups in their order, each the set of its events as first written."""
    problem, groups = grouped(panel, design)
    first = [panel.written.text[np.argmax(problem.coordinate == i)] for i in range(len(problem.merged))]
    return [{first[i] for i in members} for members, _ in members_of(groups)]


def as_set(rows):
    return set(map(tuple, rows.tolist()))


def check_patterns(panel, design):
    """The pattern of each group has the truth vectors of its members, each once, and nothing else."""
    problem, groups = grouped(panel, design)
    assert groups.design == design
    assert groups.starts[0] == 0
    assert groups.starts[-1] == len(groups.members)
    for members, rows in members_of(groups):
        assert len(set(members.tolist())) == len(members)
        assert as_set(rows) == as_set(truth(panel, problem.merged.event[members]))
        assert len(as_set(rows)) == len(rows)


PAPER = ("p | q", "p", "q & p", "q", "~p & q", "r", "~r | q")
SPARSE = ("a & b", "b | c", "c", "~(a & b)", "a | b")
LARGE = ("a & b & c", "a", "d", "(a | b) & ~(c ^ d)", "b & c & a", "b", "at_least(2; a, b, c)", "exactly(1; a, c, d)")
CONSTANT = ("true", "p", "p & ~p", "p & q")


@pytest.mark.parametrize("events", [PAPER, SPARSE, LARGE, CONSTANT, ("p",), ("p & q",), ("true",)])
@pytest.mark.parametrize("design", SMALL)
def test_patterns_are_the_truth_vectors(events, design):
    check_patterns(panel_of(*events), design)


@settings(max_examples=40)
@given(panels(most=4, max_size=12), st.sampled_from(sorted(SMALL)))
def test_patterns_are_the_truth_vectors_of_any_events(panel, design):
    check_patterns(panel, design)


@settings(max_examples=40)
@given(panels(most=4, max_size=12))
def test_logical_and_pair_groups_follow_the_complex_events(panel):
    merged = pose(panel).merged
    support = [set(merged.functions.of(i).tolist()) for i in range(len(merged))]
    complex_ = [i for i in range(len(merged)) if len(support[i]) != 1]
    alone = [{j for j, own in enumerate(support) if len(own) == 1 and own < support[i]} for i in range(len(merged))]
    logical = [alone[i] | {i} for i in complex_]
    assert [set(members.tolist()) for members, _ in members_of(find_design("logical")(merged))] == logical
    mates = [{j for j in complex_ if j == i or (len(support[i]) == 2 and support[i] == support[j])} for i in complex_]
    pairs = [alone[i] | own for i, own in zip(complex_, mates, strict=True) if i == min(own)]
    assert [set(members.tolist()) for members, _ in members_of(find_design("pairs")(merged))] == pairs


@settings(max_examples=40)
@given(panels(most=4, max_size=12))
def test_global_groups_are_the_components(panel):
    problem, groups = grouped(panel, "global")
    component = problem.merged.components()
    found = [members.tolist() for members, _ in members_of(groups)]
    assert sorted(i for members in found for i in members) == list(range(len(problem.merged)))
    assert [sorted(members) for members in found] == [
        np.flatnonzero(component == label).tolist() for label in dict.fromkeys(component.tolist())
    ]


def test_singletons_leave_all_but_constants_alone():
    assert named(panel_of(*PAPER), "singletons") == []
    assert named(panel_of(*CONSTANT), "singletons") == [{"true"}]


def test_logical_groups():
    assert named(panel_of(*PAPER), "logical") == [
        {"p", "q", "p | q"},
        {"p", "q", "q & p"},
        {"p", "q", "~p & q"},
        {"q", "r", "~r | q"},
    ]
    assert named(panel_of(*LARGE), "logical") == [
        {"a", "b", "a & b & c"},
        {"a", "b", "d", "(a | b) & ~(c ^ d)"},
        {"a", "b", "at_least(2; a, b, c)"},
        {"a", "d", "exactly(1; a, c, d)"},
    ]


def test_pairs_are_grouped_where_the_first_of_them_appears():
    assert named(panel_of(*PAPER), "pairs") == [{"p", "q", "p | q", "q & p", "~p & q"}, {"q", "r", "~r | q"}]
    assert named(panel_of("r & s", *PAPER, "r ^ s"), "pairs") == [
        {"r", "r & s", "r ^ s"},
        {"p", "q", "p | q", "q & p", "~p & q"},
        {"q", "r", "~r | q"},
    ]
    assert named(panel_of(*LARGE), "pairs") == named(panel_of(*LARGE), "logical")


def test_unforecast_constituents_are_projected_out():
    assert named(panel_of(*SPARSE), "logical") == [{"a & b"}, {"c", "b | c"}, {"a | b"}]
    assert named(panel_of(*SPARSE), "pairs") == [{"a & b", "a | b"}, {"c", "b | c"}]
    _, groups = grouped(panel_of("c", "b | c", "a & b", "a | b"), "pairs")
    assert [as_set(rows) for _, rows in members_of(groups)] == [
        {(0, 0), (0, 1), (1, 1)},
        {(0, 0), (0, 1), (1, 1)},
    ]


def test_constants_are_groups_of_their_own():
    for design in ("logical", "pairs"):
        assert named(panel_of(*CONSTANT), design) == [{"true"}, {"p", "p & q"}]
    assert named(panel_of(*CONSTANT), "global") == [{"true"}, {"p", "p & q"}]
    _, groups = grouped(panel_of("true"), "logical")
    assert groups.patterns[0].tolist() == [[0.0]]


def test_global_groups_share_no_variable():
    assert named(panel_of("a & b", "x", "b | c", "y -> x", "z"), "global") == [
        {"a & b", "b | c"},
        {"x", "y -> x"},
        {"z"},
    ]


def test_equal_patterns_are_stored_once():
    events = [f"v{i} & v{i + 1}" for i in range(20)] + [f"v{i}" for i in range(21)]
    for design in ("logical", "pairs"):
        _, groups = grouped(panel_of(*events), design)
        assert len(groups) == 20
        assert len(groups.patterns) == 1


def test_an_unknown_design_is_refused_by_name():
    with pytest.raises(co.MethodError, match=r"unknown group design 'logicals'.*Did you mean 'logical'\?"):
        find_design("logicals")
    with pytest.raises(co.MethodError, match=", ".join(DESIGNS)):
        co.AlternatingProjections(groups="")


def test_groups_too_large_to_enumerate_are_refused_with_their_size():
    chain = panel_of(*[f"v{i} & v{i + 1}" for i in range(10)])
    with pytest.raises(co.MethodError, match=r"about 11 variables"):
        co.aggregate(chain, co.AlternatingProjections("global"))
    _, groups = grouped(panel_of(*[f"v{i} & v{i + 1}" for i in range(9)]), "global")
    assert groups.patterns[0].shape[1] == 9
    wide = panel_of("p", " | ".join(f"v{i}" for i in range(11)))
    for design in ("logical", "pairs", "global"):
        with pytest.raises(co.MethodError, match=r"about 11 variables"):
            co.aggregate(wide, co.AlternatingProjections(design))
    apart = panel_of(*[f"v{i}" for i in range(40)])
    assert len(named(apart, "global")) == 40
