"""Worlds up to a change of places have all truth vectors that there are."""

import numpy as np
import pytest

import coherently as co
from coherently.problem import States, broken_symmetry, pose, split
from coherently.problem.groups.simple import all_worlds
from coherently.solve.worlds.lawful import without_witness
from tests.truth import holds


def draw(rng):
    """Counts over the first so many of some literals, now and then a variable by itself, and a count as a law."""
    names = [f"v{i}" for i in range(int(rng.integers(6, 9)))]
    turned = int(rng.integers(len(names)))
    literals = [f"{'~' if i < turned else ''}{name}" for i, name in enumerate(names)]

    def count():
        size = int(rng.choice([len(names) - 2, len(names)]))
        kind = rng.choice(["exactly", "at_least", "at_most"])
        return f"{kind}({int(rng.integers(1, size))}; {', '.join(literals[:size])})"

    texts = {count() for _ in range(4)} | ({names[-1]} if rng.random() < 0.5 else set())
    laws = [f"at_most({len(names) - 1}; {', '.join(names)})"] if rng.random() < 0.5 else []
    return [("A", text, round(float(rng.random()), 3)) for text in sorted(texts)], laws


def vectors(merged, worlds):
    return {row.tobytes() for row in holds(merged, worlds.astype(np.bool_))}


def possible(merged):
    worlds = all_worlds(merged.n_variables)
    if merged.space.is_free:
        return worlds
    return worlds[without_witness(merged.space, merged.n_variables).allows(worlds).astype(np.bool_)]


@pytest.mark.parametrize("seed", range(6))
def test_no_truth_vector_is_lost(seed):
    rng = np.random.default_rng(seed)
    met = 0
    for _ in range(50):
        rows, laws = draw(rng)
        for part in split(pose(co.Panel.from_records(rows, laws=laws)).merged):
            merged = part.merged
            space = broken_symmetry(merged)
            if space is None:
                continue
            met += 1
            fewer = States(space, merged.n_variables).of(np.arange(merged.n_variables))
            every = possible(merged)
            assert {row.tobytes() for row in fewer} < {row.tobytes() for row in every}
            assert vectors(merged, fewer) == vectors(merged, every), (rows, laws)
    assert met > 10


@pytest.mark.parametrize("turned", [0, 1, 9, 17, 18])
def test_counts_too_large_for_a_table(turned):
    literals = [f"{'~' if i < turned else ''}v{i}" for i in range(18)]
    texts = [*(f"exactly({k}; {', '.join(literals)})" for k in (3, 11)), "v0"]
    (part,) = split(pose(co.Panel.from_records([("A", text, 0.5) for text in texts])).merged)
    fewer = States(broken_symmetry(part.merged), 18).of(np.arange(18))
    assert len(fewer) <= 200
    assert vectors(part.merged, fewer) == vectors(part.merged, all_worlds(18))


@pytest.mark.parametrize(("sign", "states"), [("", [0, 5, 900]), ("~", [0, 101, 996])])
def test_only_counts_that_are_told_apart_are_states(sign, states):
    names = ", ".join(f"{sign}v{i}" for i in range(1000))
    rows = [("A", f"at_least({k}; {names})", 0.5) for k in (5, 900)]
    (block,) = broken_symmetry(pose(co.Panel.from_records(rows)).merged).blocks
    assert block.states.sum(axis=1).tolist() == states


@pytest.mark.parametrize(
    "rows",
    [
        [("A", "p & q", 0.5), ("A", "q & r", 0.5), ("A", "r & s", 0.5)],
        [("A", "(p & q) | (r & s & t)", 0.5)],
        [("A", "at_least(2; p, q, r, s)", 0.5), ("A", "p", 0.5)],
    ],
)
def test_few_variables_that_may_change_places_are_left_alone(rows):
    assert broken_symmetry(pose(co.Panel.from_records(rows)).merged) is None
