"""Checks of the exact method under laws and with many-valued variables, against an enumeration of all worlds."""

from dataclasses import replace

import numpy as np

import coherently as co
from coherently.problem import Block, Space, pose
from coherently.solve.component import nearest
from coherently.solve.worlds import grounds
from tests.problem.test_terms import under, worlds_of
from tests.solve.exact_checks import random_panel
from tests.solve.reference import nearest_point
from tests.truth import holds

EAGER, MOST = (nearest, "EAGER_STATES"), (grounds, "MOST_STATES")
FORCED = {"elimination": {}, "search": {EAGER: 0, MOST: 0}, "both": {EAGER: 1}}
"""What is changed in the solver so that it takes a route."""


def obeying(merged):
    """The worlds of the space by enumeration, and their rows among all."""
    worlds = worlds_of(merged.n_variables)
    kept = np.ones(len(worlds), bool)
    for block in merged.space.blocks:
        states = {row.tobytes() for row in block.states.astype(bool)}
        own = np.ascontiguousarray(worlds[:, block.variables])
        kept &= np.array([row.tobytes() in states for row in own])
    laws = merged.space.laws
    return worlds[kept & (holds(laws, worlds) == laws.truth).all(axis=1)]


def by_nnls(merged):
    """The nearest mixture of the worlds of the space."""
    vertices = np.unique(holds(merged, obeying(merged)).astype(float), axis=0)
    return nearest_point(vertices, merged.weight, merged.mean)


def random_laws(rng, names, count):
    """Formulas of two to four literals that some world obeys, and now and then one of several exclusive ones."""
    truth = dict(zip(names, (rng.random(len(names)) < 0.5).tolist(), strict=True))
    laws = []
    for _ in range(count):
        size = min(len(names), int(rng.integers(2, 5)))
        chosen = [str(name) for name in rng.choice(names, size=size, replace=False)]
        kind = rng.choice(["or", "implies", "one", "xor", "and"], p=[0.35, 0.3, 0.2, 0.1, 0.05])
        literals = [name if rng.random() < 0.5 else f"~{name}" for name in chosen]
        if kind == "one":
            true = [name for name in chosen if truth[name]]
            rest = [name for name in names if not truth[name] and name not in chosen]
            chosen = [name for name in chosen if not truth[name]] + true[:1] + rest[: max(0, 2 - len(chosen))]
            laws.append(f"{'exactly' if true and rng.random() < 0.7 else 'at_most'}(1; {', '.join(chosen)})")
        elif kind == "implies":
            laws.append(f"({' & '.join(literals[:-1])}) -> {literals[-1]}")
        else:
            laws.append(
                f" {dict(xor='^', **{'or': '|', 'and': '&'})[kind]} ".join(literals[: 2 if kind == "and" else 4])
            )
        if not _value(laws[-1], truth):
            laws[-1] = f"~({laws[-1]})"
    return laws


def _value(law, truth):
    panel = co.Panel.from_records([("A", law, 0.5)])
    row = np.array([[truth[name] for name in panel.events.variables]])
    return bool(panel.events.evaluate(panel.written.event, row)[0, 0])


def random_lawful(rng, n_variables=9):
    """A problem under random laws, half of the time with a partition or a ladder as a block of further variables."""
    panel = random_panel(rng, int(rng.integers(2, n_variables + 1)), int(rng.integers(2, 30)))
    names = list(panel.events.variables)
    if len(names) < 2:
        return random_lawful(rng, n_variables)
    problem = pose(under(panel, random_laws(rng, names, int(rng.integers(1, 6)))))
    return with_block(rng, problem) if rng.random() < 0.5 else problem


def with_block(rng, problem):
    """Make a partition or a ladder of some variables that are in no block."""
    merged = problem.merged
    taken = [v for block in merged.space.blocks for v in block.variables.tolist()]
    rest = np.setdiff1d(np.arange(merged.n_variables), taken)
    if len(rest) < 2:
        return problem
    own = rng.permutation(rest)[: int(rng.integers(2, len(rest) + 1))]
    block = Block.chain(own) if rng.random() < 0.5 else Block.one_of(own, complete=bool(rng.random() < 0.5))
    made = replace(merged, space=Space((*merged.space.blocks, block), merged.space.laws))
    return replace(problem, merged=made) if len(obeying(made)) else problem


def solve_by(route, problem, method):
    """The answer by a route."""
    kept = {place: getattr(*place) for place in FORCED[route]}
    for place, value in FORCED[route].items():
        setattr(*place, value)
    try:
        return method.solve(problem)
    finally:
        for place, value in kept.items():
            setattr(*place, value)


def check_lawful(problem, solution, tolerance=1e-6):
    """Hold an answer against its own worlds, which must obey the space, and against every possible one."""
    merged = problem.merged
    x = np.zeros(len(merged))
    x[problem.coordinate] = np.where(problem.complemented, 1.0 - solution.value, solution.value)
    possible = {row.tobytes() for row in obeying(merged)}
    assert obeys(solution, merged, possible)
    weighty = merged.weight > 0
    objective = float(np.sum((merged.weight * (x - merged.mean) ** 2)[weighty]))
    assert abs(objective - solution.objective) <= 1e-9 * max(1, objective)
    assert solution.status == "optimal"
    assert solution.objective - solution.lower_bound <= tolerance * max(1, objective)
    reference = by_nnls(merged)
    least = float(np.sum((merged.weight * (reference - merged.mean) ** 2)[weighty]))
    assert solution.lower_bound <= least + 1e-9 * max(1, least)
    assert solution.objective >= least - 1e-9 * max(1, least)
    return float(np.abs(x - reference)[weighty].max(initial=0.0))


def obeys(solution, merged, possible):
    """Whether the worlds of the components together are worlds of the space."""
    world = np.zeros(merged.n_variables, bool)
    for part in solution.worlds:
        world[part.variables] = part.truth[0]
    for part in solution.worlds:
        for row in part.truth:
            one = world.copy()
            one[part.variables] = row
            if one.tobytes() not in possible:
                return False
    return True


def check_laws_agree(seed, count, n_variables=9):
    """Exact answers by every route equal an independent quadratic program over all worlds that obey the laws."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(count):
        problem = random_lawful(rng, n_variables)
        for route in ("elimination", "both"):
            off = check_lawful(problem, solve_by(route, problem, co.Exact()))
            assert off <= 1e-7, (seed, route, off)
            worst = max(worst, off)
        check_lawful(problem, solve_by("search", problem, co.Exact(tolerance=1e-7)), 1e-7)
    return worst


def check_recoding(seed, count):
    """A Boolean variable declared as one of two values gives the same answer."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        panel = random_panel(rng, int(rng.integers(2, 7)), int(rng.integers(4, 25)))
        laws = random_laws(rng, list(panel.events.variables), 2) if len(panel.events.variables) > 1 else []
        rows = list(zip(panel.judge_index, panel.event_index, panel.probability, panel.weight, strict=True))
        answers = []
        for recode in (lambda text: text, _recode):
            records = [(f"j{j}", recode(panel.written.text[e]), float(p), float(w)) for j, e, p, w in rows]
            declared = [] if recode("v0") == "v0" else ["variable s: yes, no"]
            made = co.Panel.from_records(records, laws=[*declared, *map(recode, laws)])
            answers.append(co.aggregate(made, "exact"))
        np.testing.assert_allclose(*(answer.solution.value for answer in answers), rtol=0, atol=1e-7)


def _recode(text):
    return text.replace("~v0", "(s = no)").replace("v0", "(s = yes)")
