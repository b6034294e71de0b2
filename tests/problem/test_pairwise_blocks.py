"""Laws about pairs become blocks: the possible worlds stay what the laws say, one by one."""

from itertools import combinations, product

import numpy as np
import pytest

import coherently as co
from coherently.problem import BlockForm, pose
from coherently.problem.spaces.enumerated import possible_worlds
from tests.truth import holds

ALL_PAIRS = ["~(a & b)", "b -> ~c", "~(c & a)"]


def space_of(laws, names="abcd"):
    return pose(co.Panel.from_records([("A", name, 0.5) for name in names], laws=laws)).merged.space


@pytest.mark.parametrize(
    ("laws", "form", "left"),
    [
        pytest.param(ALL_PAIRS, BlockForm.AT_MOST_ONE, 0, id="all pairs"),
        pytest.param([*ALL_PAIRS, "c | a | b"], BlockForm.EXACTLY_ONE, 0, id="and one of them"),
        pytest.param(["at_most(1; a, b, c)", "a | b | c"], BlockForm.EXACTLY_ONE, 0, id="at most one, and one of them"),
        pytest.param(["exactly(1; a, b, c)", "~(a & b)"], BlockForm.EXACTLY_ONE, 0, id="one, and what follows"),
        pytest.param([*ALL_PAIRS, "a & ~b | c"], BlockForm.AT_MOST_ONE, 1, id="and another law of all"),
        pytest.param([*ALL_PAIRS, "a | b"], BlockForm.AT_MOST_ONE, 1, id="and one of two"),
        pytest.param([*ALL_PAIRS, "a | b | d"], BlockForm.AT_MOST_ONE, 1, id="and one of others"),
        pytest.param([*ALL_PAIRS, "~(a & d)"], BlockForm.AT_MOST_ONE, 1, id="and a pair with another"),
    ],
)
def test_all_pairs_make_a_block(laws, form, left):
    space = space_of(laws)
    assert [(block.variables.tolist(), block.form) for block in space.blocks] == [([0, 1, 2], form)]
    assert len(space.laws) == left


@pytest.mark.parametrize(
    "laws",
    [
        pytest.param(ALL_PAIRS[:2], id="a pair is missing"),
        pytest.param(["a | b", "b | c", "c | a"], id="pairs of which one is true"),
        pytest.param(["a -> b", "b -> c", "a -> c"], id="implications"),
        pytest.param(["~(a & b)", "~(c & d)"], id="pairs apart"),
    ],
)
def test_near_misses_make_none(laws):
    space = space_of(laws)
    assert not space.blocks
    assert len(space.laws) == len(laws)


def test_a_set_with_one_pair_missing_is_not_claimed():
    pairs = [f"~({a} & {b})" for a, b in combinations("abcd", 2) if (a, b) != ("a", "d")]
    (block,) = space_of(pairs).blocks
    assert set(block.variables.tolist()) in ({0, 1, 2}, {1, 2, 3})
    worlds = possible_worlds(pose(co.Panel.from_records([("A", n, 0.5) for n in "abcd"], laws=pairs)).merged, 100)
    assert [True, False, False, True] in worlds.tolist()


def check_worlds(rng):
    names = "abcdefg"[: int(rng.integers(3, 8))]
    density = float(rng.choice([1.0, 0.9, 0.6]))
    laws, allowed = [], []
    for a, b in combinations(range(len(names)), 2):
        if rng.random() < density:
            laws.append(f"~({names[a]} & {names[b]})" if rng.random() < 0.5 else f"{names[b]} -> ~{names[a]}")
            allowed.append(lambda world, a=a, b=b: not (world[a] and world[b]))
    for _ in range(int(rng.integers(3))):
        some = sorted(rng.choice(len(names), int(rng.integers(2, len(names) + 1)), replace=False).tolist())
        kind = int(rng.integers(3))
        inside = ", ".join(names[i] for i in some)
        laws.append([inside.replace(",", " |"), f"at_most(1; {inside})", f"exactly(1; {inside})"][kind])
        allowed.append(
            lambda world, some=some, kind=kind: (
                (sum(world[i] for i in some) >= 1 or kind == 1) and (sum(world[i] for i in some) <= 1 or kind == 0)
            )
        )
    expected = [world for world in product((False, True), repeat=len(names)) if all(fits(world) for fits in allowed)]
    if not expected or not laws:
        return
    problem = pose(co.Panel.from_records([("A", name, 0.5) for name in names], laws=laws))
    found = holds(problem.merged, possible_worlds(problem.merged, 2**20))[:, problem.coordinate]
    assert np.array_equal(np.unique(found, axis=0), np.array(sorted(expected))), laws


def test_blocks_and_laws_that_are_left_allow_what_all_laws_allow():
    rng = np.random.default_rng(11)
    for _ in range(150):
        check_worlds(rng)
