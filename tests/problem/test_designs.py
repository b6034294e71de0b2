from collections import Counter
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree

import coherently as co
from coherently.errors import MethodError
from coherently.problem import Groups, pose
from coherently.problem.groups.junction import eliminate, graph_of, junction_tree
from coherently.problem.groups.shared import cliques, triples, with_auxiliary
from coherently.problem.groups.simple import everything, logical, pairs
from coherently.solve.relaxed.interior import interior_point

FORMS = ["{0}", "{0}", "{0} & {1}", "{0} | {1}", "{0} ^ {1}", "{0} & {1} & {2}", "{0} & {1} | {2}", "{0} ^ {1} ^ {2}"]
LARGER = [*FORMS, "{0} & {1} | ~{0} & {2}", "{0} & {1} & {2} & {3}", "({0} | {1}) & ({2} | {3})", "true"]


@st.composite
def panels(draw, forms=FORMS, largest=6):
    names = "abcdef"[: draw(st.integers(4, largest))]
    rows = []
    for form in draw(st.lists(st.sampled_from(forms), min_size=1, max_size=14)):
        chosen = draw(st.permutations(names))
        literals = [sign + name for sign, name in zip(draw(st.tuples(*[SIGN] * 4)), chosen, strict=False)]
        rows.append(("A", form.format(*literals), draw(st.floats(0, 1)), draw(st.floats(1, 100))))
    return co.Panel.from_records(rows)


SIGN = st.sampled_from(["", "~"])


def solved(merged, groups):
    """The least objective over the groups, and the probabilities of the events that were forecast."""
    weight = np.pad(merged.weight, (0, groups.auxiliary))
    mean = np.pad(merged.mean, (0, groups.auxiliary), constant_values=np.nan)
    x = interior_point(weight, mean, groups).x[: len(merged)]
    return np.sum(merged.weight * (x - merged.mean) ** 2), x


def about(merged):
    """The variables of each coordinate."""
    return [tuple(merged.functions.of(i).tolist()) for i in range(len(merged))]


def truths(panel, merged, conjunctions=()):
    """Every coordinate, then every conjunction, in every world of all variables: a row a world."""
    count = merged.n_variables
    worlds = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(bool)
    events = panel.events.evaluate(merged.event, worlds)
    return np.column_stack([events, *(worlds[:, list(chosen)].all(axis=1) for chosen in conjunctions)]).astype(float)


def subsets(variables, largest):
    return chain.from_iterable(combinations(variables, size) for size in range(1, largest + 1))


def members(groups):
    return [groups.members[a:b].tolist() for a, b in zip(groups.starts, groups.starts[1:], strict=False)]


def linked(merged):
    """The pairs of variables that share an event."""
    return {pair for variables in about(merged) for pair in combinations(variables, 2)}


def sets_of_three(merged):
    """The sets of variables whose events `triples` takes together."""
    own, pairs_ = about(merged), linked(merged)
    larger = {variables for variables in own if len(variables) > 3}
    three = {
        chosen
        for chosen in combinations(range(merged.n_variables), 3)
        if sum(pair in pairs_ for pair in combinations(chosen, 2)) >= 2
    }
    three = {chosen for chosen in three if not any(set(chosen) <= set(other) for other in larger)}
    two = {v for v in own if len(v) == 2 and not any(set(v) <= set(other) for other in larger | three)}
    return larger | three | two


def all_events(panel, merged, sets, conjunctions):
    """One group a set of variables, of all coordinates and all conjunctions about some of them."""
    own = [*about(merged), *conjunctions]
    table = truths(panel, merged, conjunctions)
    listed = [[i for i, v in enumerate(own) if set(v) <= set(variables)] for variables in sets]
    starts = np.cumsum([0] + [len(group) for group in listed])
    patterns = tuple(np.unique(table[:, group], axis=0) for group in listed)
    flat = np.array([i for group in listed for i in group], np.int32)
    return Groups(
        design="literal",
        starts=starts,
        members=flat,
        pattern=np.arange(len(listed), dtype=np.int32),
        patterns=patterns,
        auxiliary=len(conjunctions),
    )


def unforecast(sets, own, largest):
    """The sets of at most so many variables that two groups have and no event is about, in order."""
    uses = Counter(subset for variables in sets for subset in subsets(variables, largest))
    return sorted((s for s, count in uses.items() if count > 1 and s not in own), key=lambda s: (len(s), s))


def check_patterns(panel, merged, groups, conjunctions):
    """Every group's pattern is its truth vectors; groups come by first complex event; constants are apart."""
    assert groups.auxiliary == len(conjunctions)
    own = [*about(merged), *conjunctions]
    table = truths(panel, merged, conjunctions)
    listed = members(groups)
    for group, pattern in zip(listed, groups.pattern, strict=True):
        np.testing.assert_array_equal(groups.patterns[pattern], np.unique(table[:, group], axis=0))
    first = [min([i for i in group if len(own[i]) != 1], default=len(own)) for group in listed]
    assert first == sorted(first)
    assert [group for group in listed if any(own[i] == () for i in group)] == [
        [i] for i in range(len(own)) if own[i] == ()
    ]
    complex_ = {i for i in range(len(merged)) if len(own[i]) != 1}
    assert complex_ <= set(chain.from_iterable(listed))


@given(panels(LARGER))
def test_triples_are_groups_of_three_variables(panel):
    merged = pose(panel).merged
    groups, sets = triples(merged), sets_of_three(merged)
    conjunctions = unforecast(sets, about(merged), 2)
    check_patterns(panel, merged, groups, conjunctions)
    own = [*about(merged), *conjunctions]
    listed = [(group, tuple(sorted({v for i in group for v in own[i]}))) for group in members(groups)]
    assert sorted(variables for _, variables in listed) == sorted(sets | ({()} & set(own)))
    for group, variables in listed:
        inside = {own[i] for i in group}
        assert inside == {v for v in own if set(v) <= set(variables) and (v or not variables)}


@given(panels(LARGER, largest=5))
@settings(max_examples=25)
def test_triples_are_as_strict_as_with_every_event_in_every_group(panel):
    merged = pose(panel).merged
    sets = sorted(sets_of_three(merged)) + [()] * (() in about(merged))
    everywhere = sorted({s for variables in sets for s in subsets(variables, min(2, len(variables)))})
    conjunctions = [s for s in everywhere if s not in about(merged) or len(s) > 1]
    least, x = solved(merged, all_events(panel, merged, sets, conjunctions))
    found, y = solved(merged, triples(merged))
    np.testing.assert_allclose(found, least, atol=1e-8, rtol=1e-10)
    np.testing.assert_allclose(y, x, atol=1e-6)


def clique_sets(merged):
    return junction_tree(eliminate(graph_of(about(merged))))[0]


LINKS = st.sets(st.sampled_from(sorted(combinations(range(12), 2))), max_size=30)


@given(LINKS)
def test_variables_leave_by_least_fill(links):
    left, links, order = set(chain.from_iterable(links)), set(map(frozenset, links)), {}

    def cost(v):
        near = [u for u in left if {u, v} in links]
        return sum({*pair} not in links for pair in combinations(near, 2)), len(near), v, sorted(near)

    graph = graph_of(tuple(sorted(link)) for link in links)
    while left:
        *_, v, near = min(map(cost, left))
        order[v] = tuple(near)
        left.remove(v)
        links |= set(map(frozenset, combinations(near, 2)))
    assert list(eliminate(graph).items()) == list(order.items())


@given(LINKS)
def test_cliques_form_a_junction_tree(links):
    found = junction_tree(eliminate(graph_of(links)))[0]
    assert links <= {pair for clique in found for pair in combinations(clique, 2)}
    assert not any(set(a) <= set(b) for a in found for b in found if a != b)
    common = np.array([[float(len({*a} & {*b})) for b in found] for a in found]).reshape(len(found), len(found))
    heaviest = -minimum_spanning_tree(-np.triu(common, 1)).sum() if found else 0.0
    assert heaviest == sum(map(len, found)) - len(set(chain.from_iterable(found)))


def is_given(table, own, events, variables):
    """Whether an event about just these variables and the smaller conjunctions span their conjunction."""
    smaller = [table[:, own.index(s, len(events))] for s in subsets(variables, len(variables) - 1)]
    target = table[:, own.index(variables, len(events))]
    rank = np.linalg.matrix_rank
    base = np.column_stack([np.ones(len(table)), *smaller])
    mine = [np.column_stack([base, table[:, i]]) for i, v in enumerate(events) if v == variables]
    return any(rank(np.column_stack([m, target])) == rank(m) for m in mine)


@given(panels(LARGER))
def test_cliques_hold_all_events_about_them_and_agree_on_what_they_share(panel):
    merged = pose(panel).merged
    groups, sets, events = cliques(merged), clique_sets(merged), about(merged)
    every = unforecast(sets, [], merged.n_variables)
    table = truths(panel, merged, every)
    conjunctions = [s for s in every if not is_given(table, [*events, *every], events, s)]
    check_patterns(panel, merged, groups, conjunctions)
    own = [*events, *conjunctions]
    inside = [sorted({own[i] for i in group}) for group in members(groups)]
    expected = [sorted({v for v in own if v and set(v) <= set(clique)}) for clique in sets]
    assert sorted(inside) == sorted(expected + [[()]] * (() in own))


@given(panels())
@settings(max_examples=30)
def test_larger_designs_are_further_from_the_forecasts(panel):
    merged = pose(panel).merged
    designs = [logical, lambda m: with_auxiliary(logical, m), lambda m: with_auxiliary(pairs, m), triples, everything]
    least = [solved(merged, design(merged))[0] for design in designs]
    assert np.all(np.diff(least) >= -1e-9 * max(1.0, least[-1])), least
    without = solved(merged, pairs(merged))[0]
    assert least[0] - 1e-9 <= without <= least[2] + 1e-9 * max(1.0, least[2])


@given(panels(LARGER))
@settings(max_examples=50)
def test_cliques_are_the_whole_problem(panel):
    merged = pose(panel).merged
    least, x = solved(merged, everything(merged))
    found, y = solved(merged, cliques(merged))
    np.testing.assert_allclose(found, least, atol=1e-8, rtol=1e-10)
    np.testing.assert_allclose(y, x, atol=1e-6)


def random_rows(sets, seed, singles=0.5):
    """An event or two about each set of variables, and some variables alone."""
    rng = np.random.default_rng(seed)
    rows = []
    for chosen in [*sets, *sets[::2]]:
        literals = [("" if rng.random() < 0.5 else "~") + f"v{v}" for v in chosen]
        rows.append(("A", (" & ", " | ", " ^ ")[rng.integers(3)].join(literals), rng.random(), rng.uniform(1, 100)))
    names = sorted({v for chosen in sets for v in chosen})
    rows += [("A", f"v{v}", rng.random(), rng.uniform(1, 100)) for v in names if rng.random() < singles]
    return rows


TREES = {
    "chain": [(i, i + 1) for i in range(9)],
    "tree": [((i - 1) // 2, i) for i in range(1, 10)],
    "star": [(0, i) for i in range(1, 10)],
    "chain of threes": [(i, i + 1, i + 2) for i in range(8)],
    "band": [(i, i + d) for d in (1, 2) for i in range(10 - d)],
    "cycle": [(i, (i + 1) % 10) for i in range(10)],
}


@pytest.mark.parametrize("shape", TREES)
@pytest.mark.parametrize("seed", range(3))
def test_small_cliques_of_ten_variables_are_the_whole_problem(shape, seed):
    merged = pose(co.Panel.from_records(random_rows(TREES[shape], seed))).merged
    groups = cliques(merged)
    assert max(map(len, groups.patterns)) <= 8
    least, x = solved(merged, everything(merged))
    found, y = solved(merged, groups)
    np.testing.assert_allclose(found, least, atol=1e-8, rtol=1e-10)
    np.testing.assert_allclose(y, x, atol=1e-6)


@pytest.mark.parametrize("width", [1, 2, 5, 9])
def test_chordal_graphs_get_no_further_links(width):
    rng = np.random.default_rng(width)
    found = [tuple(range(width + 1))]
    for v in range(width + 1, 2 * width + 6):
        kept = rng.choice(found[rng.integers(len(found))], width, replace=False)
        found.append((*sorted(kept.tolist()), v))
    links = sorted({pair for clique in found for pair in combinations(clique, 2)})
    panel = co.Panel.from_records([("A", f"v{a:02} & v{b:02}", 0.5) for a, b in links])
    merged = pose(panel).merged
    names = [int(name[1:]) for name in panel.events.variables]
    own = [{names[v] for v in variables} for variables in about(merged)]
    groups = cliques(merged)
    sets = [set().union(*(own[i] for i in group if i < len(own))) for group in members(groups)]
    assert sorted(map(sorted, sets)) == sorted(map(list, found))


def test_an_event_that_leaves_the_conjunction_open_does_not_stand_for_it():
    rows = [("A", "a & b | ~a & c", 0.9), ("A", "a & b & c & d", 0.6), ("A", "~(a | b | c | e)", 0.7)]
    merged = pose(co.Panel.from_records(rows)).merged
    groups = cliques(merged)
    assert groups.auxiliary == 7
    assert [sum(i in group for group in members(groups)) for i in range(10)] == [1, 1, 1, *[2] * 7]


def test_the_triangle():
    names = ["a", "b", "c", "a & b", "a & c", "b & c"]
    merged = pose(co.Panel.from_records([("A", name, 0.5 if len(name) == 1 else 0.0) for name in names])).merged
    np.testing.assert_allclose(solved(merged, pairs(merged))[0], 0.0, atol=1e-12)
    for design in (triples, cliques, everything):
        least, x = solved(merged, design(merged))
        np.testing.assert_allclose(least, 1 / 24, atol=1e-12)
        np.testing.assert_allclose(x, [5 / 12] * 3 + [1 / 12] * 3, atol=1e-8)


def test_groups_meet_in_a_variable_that_nobody_forecast():
    merged = pose(co.Panel.from_records([("A", "a & b", 0.8), ("A", "~a & c", 0.8)])).merged
    for design in (logical, pairs):
        alone, together = design(merged), with_auxiliary(design, merged)
        assert (alone.auxiliary, together.auxiliary) == (0, 1)
        assert members(together) == [[2, 0], [2, 1]]
        assert solved(merged, alone)[0] <= 1e-12
        least, x = solved(merged, together)
        np.testing.assert_allclose(least, 2 * 0.3**2, atol=1e-12)
        np.testing.assert_allclose(x, [0.5, 0.5], atol=1e-8)


def test_four_in_a_ring_meet_in_a_pair_that_nobody_forecast():
    rows = [("A", text, 1.0) for text in ("a <-> b", "b <-> c", "c <-> d", "a ^ d")]
    merged = pose(co.Panel.from_records(rows)).merged
    assert solved(merged, with_auxiliary(pairs, merged))[0] <= 1e-12
    assert triples(merged).auxiliary == 6
    least, x = solved(merged, triples(merged))
    np.testing.assert_allclose(least, 0.25, atol=1e-12)
    np.testing.assert_allclose(x, [0.25, 0.25, 0.25, 0.75], atol=1e-8)


def joined(sets):
    return pose(co.Panel.from_records([("A", " & ".join(f"v{v}" for v in s), 0.5) for s in sets])).merged


@pytest.mark.parametrize(
    ("design", "sets", "message"),
    [
        (triples, [(0, i) for i in range(1, 701)], r"has 244,650 triples .* 200,000 is the maximum: choose the groups"),
        (triples, [(0, i) for i in range(1, 1201)], r"has at least 239,800 triples .* choose the groups"),
        (triples, [tuple(range(11))], r"event number 1 is about 11 variables; 10 is the maximum"),
        (cliques, [tuple(range(11))], r"event number 1 is about 11 variables; 10 is the maximum"),
        (cliques, list(combinations(range(12), 2)), r"clique of 12 variables or more; 10 is the maximum .* choose"),
        (
            cliques,
            [(i, i + d) for d in range(1, 10) for i in range(27 - d)],
            r"up to 9 variables in common, which take 4,456,448 entries; 4,000,000 is the maximum: choose",
        ),
    ],
)
def test_errors_past_the_limits(design, sets, message):
    with pytest.raises(MethodError, match=message):
        design(joined(sets))


def test_a_large_star_has_small_cliques():
    groups = cliques(joined([(0, i) for i in range(1, 1201)]))
    assert (len(groups), groups.auxiliary, len(groups.patterns)) == (1200, 1, 1)


def test_no_groups_without_complex_events():
    merged = pose(co.Panel.from_records([("A", "a", 0.5), ("A", "b", 0.5)])).merged
    for design in (triples, cliques, lambda m: with_auxiliary(logical, m)):
        groups = design(merged)
        assert (len(groups), groups.auxiliary, groups.members.dtype) == (0, 0, np.int32)
