"""Satisfiability against brute force, and against python-sat where that is too slow."""

import itertools
import random

import numpy as np
import pytest
from pysat.solvers import Cadical153

from coherently.events import Events, find_conflict, find_world
from tests.events.test_declared import DECLARATIONS, formula


def read(texts, declarations=()):
    events = Events()
    assert events.declare(declarations) == ()
    reading = events.add(texts)
    assert reading.faults == ()
    return events, reading.event


def valid_rows(events):
    """All rows of truths that obey the choices."""
    rows = np.array(list(itertools.product([False, True], repeat=len(events.variables))))
    for choice in events.choices():
        own = rows[:, choice.atoms]
        if choice.ordered:
            fine = (np.diff(own.astype(int), axis=1) >= 0).all(axis=1)
        else:
            fine = own.sum(axis=1) <= 1
            fine &= own.any(axis=1) | (not choice.complete)
        rows = rows[fine]
    return rows


def is_fine(events, sides, world):
    return any((row == world).all() for row in valid_rows(events)) and events.evaluate(sides, world[None]).all()


@pytest.mark.parametrize("seed", range(60))
def test_small_sets_by_brute_force(seed):
    rng = random.Random(seed)
    names = rng.sample(("p", "q", "winner", "party", "rate"), rng.randint(2, 3))
    texts = [formula(rng, rng.randint(1, 4), names) for _ in range(rng.randint(1, 7))]
    events, sides = read(texts, DECLARATIONS)
    rows = valid_rows(events)
    possible = events.evaluate(sides, rows).all(axis=1).any()
    world = find_world(events, sides)
    assert (world is not None) == possible
    conflict = find_conflict(events, sides)
    assert (conflict is None) == possible
    if world is not None:
        assert is_fine(events, sides, world)
        return
    assert find_world(events, sides[list(conflict)]) is None
    for left_out in conflict:
        assert find_world(events, sides[[i for i in conflict if i != left_out]]) is not None


@pytest.mark.parametrize(("seed", "ratio"), [(seed, ratio) for seed in range(6) for ratio in (3.8, 4.27, 4.8)])
def test_random_clauses(seed, ratio):
    """Three literals a clause, about the ratio where half of the instances have a world."""
    rng = random.Random(seed)
    count = 120
    clauses = [[rng.choice((-1, 1)) * (v + 1) for v in rng.sample(range(count), 3)] for _ in range(int(ratio * count))]
    texts = [" | ".join(f"{'~' if literal < 0 else ''}x{abs(literal)}" for literal in clause) for clause in clauses]
    events, sides = read(texts)
    world = find_world(events, sides)
    with Cadical153(bootstrap_with=clauses) as reference:
        assert reference.solve() == (world is not None)
    if world is not None:
        assert events.evaluate(sides, world[None]).all()


def pigeons(count, holes):
    """Each pigeon in one hole, no hole with two: by counts and by declared variables."""
    names = [f"h{hole}" for hole in range(holes)]
    declarations = [f"variable pigeon{i}: {', '.join(names)}" for i in range(count)]
    texts = [f"at_most(1; {', '.join(f'pigeon{i} = {name}' for i in range(count))})" for name in names]
    return declarations, texts


@pytest.mark.parametrize(("count", "possible"), [(6, True), (7, False)])
def test_pigeons(count, possible):
    declarations, texts = pigeons(count, 6)
    events, sides = read(texts, declarations)
    world = find_world(events, sides)
    assert (world is not None) == possible
    if world is None:
        assert find_conflict(events, sides) == tuple(range(6))
        fewer = events.choices()[1:]
        assert find_world(events, sides, fewer) is not None


@pytest.mark.parametrize("seed", range(4))
def test_large_counts(seed):
    rng = random.Random(seed)
    names = [f"y{i}" for i in range(40)]
    texts = []
    for _ in range(12):
        some = rng.sample(names, 20)
        literals = ", ".join(("~" if rng.random() < 0.4 else "") + name for name in some)
        texts.append(f"{rng.choice(('exactly', 'at_least', 'at_most'))}({rng.randint(6, 14)}; {literals})")
    texts += [f"{a} -> {b}" for a, b in (rng.sample(names, 2) for _ in range(20))]
    events, sides = read(texts)
    world = find_world(events, sides)
    assert world is None or events.evaluate(sides, world[None]).all()
    assert (world is not None) == _counts_have_a_world(texts, names)


def _counts_have_a_world(texts, names):
    from pysat.card import CardEnc, EncType

    number = {name: i + 1 for i, name in enumerate(names)}
    literal = lambda text: -number[text[1:]] if text.startswith("~") else number[text]  # noqa: E731
    clauses, top = [], len(names)
    for text in texts:
        if "->" in text:
            left, right = text.split(" -> ")
            clauses.append([-number[left], number[right]])
            continue
        how, inside = text[:-1].split("(")
        bound, literals = inside.split("; ")
        encode = {"exactly": CardEnc.equals, "at_least": CardEnc.atleast, "at_most": CardEnc.atmost}[how]
        found = encode(
            [literal(one) for one in literals.split(", ")], int(bound), top_id=top, encoding=EncType.seqcounter
        )
        clauses += found.clauses
        top = max(top, found.nv)
    with Cadical153(bootstrap_with=clauses) as reference:
        return reference.solve()


def test_a_count_over_very_many_variables():
    names = [f"n{i}" for i in range(100_000)]
    events = Events()
    sides = events.add([f"exactly(1; {', '.join(names)})", "~n0", "n77 | n78"], max_characters=1_000_000).event
    world = find_world(events, sides)
    assert world.sum() == 1
    assert world[77] | world[78]
    more = events.add(["n77", "n78"]).event
    assert find_world(events, np.r_[sides, more]) is None
    assert find_conflict(events, np.r_[sides, more]) == (0, 3, 4)


def test_chains_of_implications():
    texts = [f"v{i} -> v{i + 1}" for i in range(600)] + ["v0", "~v600", "w -> v7"]
    events, sides = read(texts)
    conflict = find_conflict(events, sides)
    assert conflict == tuple(range(602))
    assert find_conflict(events, sides[1:]) is None
