"""Satisfiability against brute force, and against python-sat where that is too slow."""

import itertools
import random

import numpy as np
import pytest
from pysat.solvers import Cadical153

from coherently.events import OPEN, UNDECIDED, Events, entail, find_conflict, find_world
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


@pytest.mark.parametrize("seed", range(80))
def test_what_is_entailed_by_brute_force(seed):
    rng = random.Random(seed)
    names = rng.sample(("p", "q", "winner", "party", "rate"), rng.randint(2, 3))
    texts = [formula(rng, rng.randint(1, 4), names) for _ in range(rng.randint(1, 20))]
    events, sides = read(texts, DECLARATIONS)
    count = rng.randint(0, 4)
    rows = valid_rows(events)
    holds = events.evaluate(sides, rows)[events.evaluate(sides[:count], rows).all(axis=1)]
    found = entail(events, sides[:count], sides)
    assert found.possible == bool(len(holds))
    if len(holds):
        assert found.truth.tolist() == [OPEN if len(set(own)) == 2 else int(own[0]) for own in holds.T.tolist()]


@pytest.mark.parametrize(("seed", "ratio"), [(seed, ratio) for seed in range(4) for ratio in (3.0, 3.8, 4.2)])
def test_literals_that_random_clauses_entail(seed, ratio):
    """Against a solver of clauses that is asked about each literal."""
    rng = random.Random(100 + seed)
    count = 80
    clauses = [[rng.choice((-1, 1)) * (v + 1) for v in rng.sample(range(count), 3)] for _ in range(int(ratio * count))]
    texts = [" | ".join(f"{'~' if literal < 0 else ''}x{abs(literal)}" for literal in clause) for clause in clauses]
    events, sides = read(texts)
    variables = events.add([f"x{v + 1}" for v in range(count)]).event
    found = entail(events, sides, variables)
    with Cadical153(bootstrap_with=clauses) as reference:
        assert found.possible == reference.solve()
        if not found.possible:
            return
        expected = [
            0 if not reference.solve([v]) else 1 if not reference.solve([-v]) else OPEN for v in range(1, count + 1)
        ]
    assert found.truth.tolist() == expected


def test_parts_with_too_many_conflicts_are_undecided_and_the_others_are_not():
    declarations, texts = pigeons(7, 6)
    events, sides = read([*texts, "p | q", "p | ~q", "pigeon0 = h0", "p", "q"], declarations)
    hard = entail(events, sides[:-3], sides[-3:], 20)
    assert (hard.possible, hard.truth.tolist()) == (None, [UNDECIDED, 1, OPEN])
    assert entail(events, sides[:-3], sides[-3:], 10**6).possible is False


def test_a_hard_question_about_facts_that_are_easy_is_undecided():
    """Pigeons need holes of their own only if g is true: that it is false follows, after many conflicts."""
    declarations, texts = pigeons(8, 7)
    events, sides = read([*(f"g -> {text}" for text in texts), "~g", "g", "g | h"], declarations)
    hard = entail(events, sides[:-3], sides[-3:], 20)
    assert (hard.possible, hard.truth.tolist()) == (True, [UNDECIDED, UNDECIDED, OPEN])
    assert entail(events, sides[:-3], sides[-3:], 10**6).truth.tolist() == [1, 0, OPEN]


def test_a_conflict_of_statements_with_several_sides_is_minimal_in_statements():
    """Both sides of statement 0 conflict with others; the least set has only two statements."""
    events, sides = read(["p", "q", "p -> r", "~r", "q -> s", "~s & t", "t"])
    statements = np.array([0, 0, 1, 1, 2, 3, 4])
    conflict = find_conflict(events, sides, statements)
    assert sorted(conflict) in ([0, 1], [0, 2, 3])
    for left in conflict:
        assert find_world(events, sides[np.isin(statements, [i for i in conflict if i != left])]) is not None


def test_all_sides_of_a_statement_count_when_others_are_left_out():
    """Statement 0 says r and p, and only p conflicts, with statement 1; what ties r and p together is not needed."""
    events = Events()
    sides = events.add(["r", "p", "~p", "p | r | t"]).event
    assert set(find_conflict(events, sides, np.array([0, 0, 1, 2]))) == {0, 1}
