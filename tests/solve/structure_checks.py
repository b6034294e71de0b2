"""Random components of each structure, and components that almost have one, against all worlds and other solvers.

What a recogniser claims is held against the possible worlds, one by one. What a structure's solver answers is held
against the solver for any component, and against a conic solver over all worlds.
"""

import warnings
from itertools import combinations

import cvxpy as cp
import numpy as np

import coherently as co
from coherently.problem import find_loss, pose, settled, split
from coherently.problem.spaces.enumerated import possible_worlds
from coherently.solve.budget import Budget
from coherently.solve.component.component_solver import solve_by_worlds
from coherently.solve.component.newton.limits import InfeasiblePinsError, pin_rows
from coherently.solve.component.objective import goal_of, sides_at
from coherently.solve.component.planes import savings
from coherently.solve.component.structure.exclusive_values import exclusive_values, solve_exclusive, values_of
from coherently.solve.component.structure.limited_values import solve_limited
from coherently.solve.component.structure.listed_worlds import listed_worlds
from coherently.solve.component.structure.literal_order import literal_order
from coherently.solve.component.structure.structure_rules import solve_by_structure, solve_order
from coherently.solve.component.structure.world_shares import solve_shares
from tests.truth import holds

LOSSES = ("brier", "log", "spherical")
MOST_WORLDS = 4_000
COLUMNS = ("judge", "event", "probability", "weight", "lower", "upper")
CLOSELY = Budget(tolerance=1e-12)


def probability(rng):
    """Often in the middle, sometimes small, at times certain."""
    kind = rng.random()
    if kind < 0.1:
        return float(rng.integers(2))
    return float(rng.random() if kind < 0.7 else 10 ** rng.uniform(-5, 0))


def forecasts(rng, texts):
    """One or several forecasts of most events or of their complements, with weights, some of them 0."""
    rows, flat = [], rng.random() < 0.3
    for text in texts:
        for _ in range(int(rng.choice([0, 1, 1, 1, 2]))):
            p, w = probability(rng), 1.0 if flat else float(10 ** rng.uniform(-2, 2))
            turned = rng.random() < 0.2
            rows.append(("A", f"~({text})" if turned else text, 1 - p if turned else p, w * (rng.random() < 0.95)))
    return rows or [("A", texts[0], 0.5, 1.0)]


def exclusive(rng, most=9):
    """The values of a declared variable, or variables of which a law says that at most or exactly one is true."""
    count = int(rng.integers(3, most))
    if rng.random() < 0.5:
        values = [f"v{i}" for i in range(count)]
        return [f"x = {value}" for value in values], ["variable x: " + ", ".join(values)]
    names = [f"e{i}" for i in range(count)]
    if rng.random() < 0.5:
        return names, [f"{rng.choice(['exactly', 'at_most'])}(1; {', '.join(names)})"]
    pairs = [f"~({a} & {b})" if rng.random() < 0.5 else f"{b} -> ~{a}" for a, b in combinations(names, 2)]
    return names, [*pairs, " | ".join(names)] if rng.random() < 0.5 else pairs


def ordered(rng, most=9):
    """Variables with implications: a chain, a tree or any order, of variables or of their complements."""
    count = int(rng.integers(2, most))
    names = [("~" if rng.random() < 0.3 else "") + f"e{i}" for i in range(count)]
    kind = rng.random()
    if kind < 0.3:
        pairs = [(i, i + 1) for i in range(count - 1)]
    elif kind < 0.6:
        pairs = [(i, int(rng.integers(i))) for i in range(1, count)]
    else:
        pairs = [(i, j) for i in range(count) for j in range(count) if i < j and rng.random() < 0.4]
        pairs += [(i, i + 1) for i in range(count - 1) if rng.random() < 0.5]
    pairs = [pair[::-1] if kind < 0.6 and rng.random() < 0.4 else pair for pair in pairs]
    laws = [f"{names[i]} {'<->' if rng.random() < 0.1 else '->'} {names[j]}" for i, j in pairs]
    return [name.lstrip("~") for name in names], laws or [f"{names[0]} -> {names[1]}"]


def ladder(rng, most=9):
    """Thresholds of a number or a date."""
    count = int(rng.integers(2, most))
    if rng.random() < 0.5:
        return [f"r >= {i}" if rng.random() < 0.7 else f"r < {i}" for i in range(count)], ["variable r: number"]
    days = [f"2026-01-{i + 1:02d}" for i in range(count)]
    return [f"d > {day}" for day in days], ["variable d: date"]


def bins(rng, most=5):
    """Bins, thresholds and unions of bins of one to three numbers, with laws that one is at least another."""
    names, count = "abc"[: int(rng.integers(1, 4))], int(rng.integers(2, most))
    texts = []
    for name in names:
        texts += [f"{name} < 1", *(f"{name} >= {i} & {name} < {i + 1}" for i in range(1, count)), f"{name} >= {count}"]
        if rng.random() < 0.4:
            texts += [f"{name} < {i}" for i in range(2, count + 1) if rng.random() < 0.5]
        if rng.random() < 0.3 and count > 3:
            texts.append(f"{name} < 1 | {name} >= 2 & {name} < 3")
    pairs = [(a, b) for a in names for b in names if a < b and rng.random() < 0.7] if len(names) > 1 else []
    laws = [f"{a} >= {i} -> {b} >= {i}" for a, b in pairs for i in range(1, count + 1) if rng.random() < 0.9]
    return texts, [*(f"variable {name}: number" for name in names), *laws]


def tied(rng, most=9):
    """Values, a ladder or bins, tied to a few other variables or to each other by events and laws."""
    made = [PLAIN[str(rng.choice(["exclusive", "ladder", "bins"]))](rng, most=min(most, 6))]
    if rng.random() < 0.3:
        made.append(([f"u = v{i}" for i in range(3)], ["variable u: v0, v1, v2, v3"]))
    texts, laws = [text for some, _ in made for text in some], [law for _, some in made for law in some]
    beside = list("xyz"[: int(rng.integers(1, 4))])
    parts = [f"({text})" for text in texts] + [letter for letter in beside for _ in range(3)]

    def compound():
        a, b, c = (("~" if rng.random() < 0.3 else "") + str(one) for one in rng.choice(parts, 3))
        return str(rng.choice([f"{a} & {b}", f"{a} | {b}", f"{a} | {b} & {c}", f"{a} & {b} & {c}", f"{a} ^ {b}"]))

    more = [compound() for _ in range(int(rng.integers(1, 4)))] + [one for one in beside if rng.random() < 0.5]
    if rng.random() < 0.6:
        laws = laws + [f"{compound()} -> {rng.choice(parts)}" for _ in range(int(rng.integers(1, 3)))]
    return texts + more, laws


PLAIN = {"exclusive": exclusive, "ordered": ordered, "ladder": ladder, "bins": bins}
STRUCTURED = {**PLAIN, "tied": tied}


def components(panel, loss):
    """The components that have a law or a declaration, with what each loses."""
    problem = pose(settled(panel), loss)
    parts = [one.merged for one in split(problem.merged)]
    return [(part, goal_of(part, loss)) for part in parts if not part.space.is_free and (part.weight > 0).any()]


def check_claims(part):
    """Whatever a recogniser says of a component is true in its possible worlds; returns what was claimed."""
    worlds = possible_worlds(part, MOST_WORLDS)
    if worlds is None:
        return None
    truth = holds(part, worlds)
    values, order, listed = exclusive_values(part), literal_order(part), listed_worlds(part, MOST_WORLDS)
    costs = np.sin(np.arange(1.0, len(part) + 1))
    own = check_runs(listed.events)
    assert np.array_equal(holds(part, listed.worlds(np.arange(len(listed)))), own), "an event is not what it says"
    assert len(np.unique(own, axis=0)) == len(listed), "worlds that nothing tells apart"
    assert np.array_equal(np.unique(truth, axis=0), np.unique(own, axis=0)), "a world is missing or impossible"
    for claim in (values, order, listed.events):
        if claim is not None:
            least = (truth @ costs).min()
            assert least - 1e-12 <= claim.least(costs) <= least, "not the least sum of all worlds"
    if values is not None:
        assert np.array_equal(truth, worlds[:, values.variable]), "an event is not its value"
        assert (worlds.sum(axis=1) <= 1).all(), "two values are true together"
        assert (worlds.sum(axis=1) == 0).any() == bool(values.unnamed), "whether none may be true"
        assert len(np.unique(worlds, axis=0)) == part.n_variables + bool(values.unnamed), "a value is impossible"
        assert not len(part.terms)
    if order is not None:
        assert not len(part.terms)
        literals = worlds ^ order.turned
        linear = [order.probabilities(row.astype(float)) for row in literals]
        assert np.array_equal(np.array(linear), truth), "an event is not the sum of its literals"
        assert np.array_equal(np.unique(literals, axis=0), _closed_sets(part.n_variables, literals)), "not an order"
    return values, order


def check_runs(runs):
    """The truth that runs stand for; what they say of shares, complements and neighbours is what a table says."""
    truth = np.zeros((runs.n_worlds, runs.n_events), np.bool_)
    for event, first, end in zip(runs.event, runs.first, runs.end, strict=True):
        assert not truth[first:end, event].any()
        truth[first:end, event] = True
    share = np.exp(-40 * np.abs(np.sin(np.arange(1.0, runs.n_worlds + 1))))  # over 17 powers of ten
    held, failed = runs.probabilities(share / share.sum())
    np.testing.assert_allclose(held, share @ truth / share.sum(), rtol=1e-12)
    np.testing.assert_allclose(failed, share @ ~truth / share.sum(), rtol=1e-12)
    assert np.array_equal(runs.counts(), truth.sum(axis=0))
    others = runs.complement()
    assert others.complement().counts().tolist() == truth.sum(axis=0).tolist()
    for rows, table in ((others.stretches(), ~truth), (runs.compared(), np.diff(truth.astype(int), axis=1, prepend=0))):
        found = np.zeros(table.shape)
        row, place, value = rows.entries()
        np.add.at(found, (place, row), value)
        assert np.array_equal(found, table), "runs do not say what the table says"
    return truth


def _closed_sets(count, literals):
    """All sets of literals that obey the implications which these sets all obey; they are the sets themselves."""
    implied = ~(literals[:, :, None] & ~literals[:, None, :]).any(axis=0)
    found = np.zeros((1, 0), np.bool_)
    for k in range(count):
        found = np.vstack([np.column_stack([found, np.full(len(found), value)]) for value in (False, True)])
        for j in range(k):
            found = found[
                ~((implied[j, k] & found[:, j] & ~found[:, k]) | (implied[k, j] & found[:, k] & ~found[:, j]))
            ]
        assert len(found) <= MOST_WORLDS
    return np.unique(found, axis=0)


def check_mixture(part, goal, answer):
    """An answer is a mixture of possible worlds and loses what it says."""
    terms = goal.terms(part)
    truth = holds(part, answer.worlds)
    np.testing.assert_allclose(answer.share @ truth, answer.x, atol=1e-13)
    assert abs(answer.share.sum() - 1) <= 1e-13
    assert (answer.share > 0).all()
    assert len(np.unique(answer.worlds, axis=0)) == len(answer.worlds)
    space = part.space
    for block in space.blocks:
        rows = {row.tobytes() for row in block.states}
        assert all(row.tobytes() in rows for row in np.ascontiguousarray(answer.worlds[:, block.variables]))
    assert (holds(space.laws, answer.worlds) == space.laws.truth).all()
    np.testing.assert_allclose(answer.objective, terms.value(sides_at(answer.x)), rtol=1e-12, atol=1e-15)


def check_answer(part, goal, answer):
    """An answer is a mixture of possible worlds, loses what it says and is as near as that of the other solvers."""
    check_mixture(part, goal, answer)
    terms = goal.terms(part)
    scale = max(float(terms.total) * 1e-3, answer.objective)
    other = solve_by_worlds(part, goal, CLOSELY)
    assert answer.bound <= other.objective + 1e-13 * terms.total, "the bound is above another answer"
    assert other.bound <= answer.objective + 1e-13 * terms.total, "a proved bound is above the answer"
    assert answer.objective <= other.objective + 1e-9 * scale, (answer.objective, other.objective)
    heavy = part.weight > 1e-3 * part.weight.max()
    np.testing.assert_allclose(answer.x[heavy], other.x[heavy], atol=1e-7 + 10 * np.sqrt(max(0.0, other.gap) / scale))
    return abs(answer.objective - other.objective) / scale


def by_all_worlds(part, loss):
    """The least loss over mixtures of all possible worlds, by a conic solver; None if it does not say."""
    worlds = possible_worlds(part, MOST_WORLDS)
    if worlds is None:
        return None
    truth = np.unique(holds(part, worlds)[:, part.weight > 0], axis=0).astype(float)
    q, w = part.mean[part.weight > 0], part.weight[part.weight > 0] / part.weight.max()
    share = cp.Variable(len(truth), nonneg=True)
    x = truth.T @ share
    if loss.name == "brier":
        lost = cp.sum(cp.multiply(w, cp.square(x - q)))
    elif loss.name == "log":
        lost = cp.sum(cp.multiply(w, cp.rel_entr(x, q) + cp.rel_entr(1 - x, 1 - q)))
    else:
        norm = np.hypot(q, 1 - q)
        each = [cp.norm(cp.hstack([x[i], 1 - x[i]])) for i in range(len(q))]
        lost = cp.sum(cp.multiply(w, cp.hstack(each) - (cp.multiply(x, q / norm) + cp.multiply(1 - x, (1 - q) / norm))))
    problem = cp.Problem(cp.Minimize(lost), [cp.sum(share) == 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem.solve(cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        except cp.error.SolverError:
            return None
    if problem.status != cp.OPTIMAL:
        return None
    own = share.value.clip(0) / share.value.clip(0).sum()
    return part.weight.max() * float(w @ loss.divergence(truth.T @ own, q))


SOLVERS = {"exclusive": solve_exclusive, "tied": solve_shares}
SOLVERS = {kind: SOLVERS.get(kind, solve_order) for kind in STRUCTURED}


def check_structure(kind, seed, count, conic=0.1):
    """Every component of a structure is recognised, and its answer agrees; returns the largest relative difference."""
    rng, worst = np.random.default_rng(seed), 0.0
    for _ in range(count):
        texts, laws = STRUCTURED[kind](rng)
        try:
            panel = co.Panel.from_records(forecasts(rng, texts), laws=laws)
        except co.CoherentlyError:  # laws that leave no world
            continue
        loss = find_loss(str(rng.choice(LOSSES)))
        for part, goal in components(panel, loss):
            check_claims(part)
            answer = SOLVERS[kind](part, goal, Budget())
            if answer is None:
                known = listed_worlds(part, MOST_WORLDS) if kind == "tied" else literal_order(part)
                assert known is not None, "a structure is not recognised"
                check_left_alone(part, goal)
                continue
            worst = max(worst, check_answer(part, goal, answer))
            if rng.random() < conic:
                least = by_all_worlds(part, loss)
                scale = max(part.weight.sum() * 1e-3, answer.objective)
                assert least is None or -1e-9 * scale <= least - answer.objective <= 1e-5 * scale, (least, answer)
    return worst


def limited(rng):
    """Exclusive values with points, intervals with one or two ends, and pins, which may contradict each other."""
    texts, laws = exclusive(rng)
    rows = []
    for text in texts:
        for _ in range(int(rng.choice([0, 1, 1, 2, 3]))):
            low, high = sorted([probability(rng), probability(rng)])
            weight = float(10 ** rng.uniform(-2, 2)) * (rng.random() < 0.95)
            kind = rng.random()
            ends = (
                (None, None) if kind < 0.4 else (low, high) if kind < 0.8 else (0.0, high) if kind < 0.9 else (low, 1.0)
            )
            event = f"~({text})" if kind < 0.1 else text
            rows.append(dict(zip(COLUMNS, ("A", event, 0.5 * (low + high), weight, *ends), strict=True)))
        if rng.random() < 0.25:
            laws = [*laws, f"P({text}) {rng.choice(['<=', '>=', '='])} {rng.uniform(0, 0.5):.3f}"]
    return rows or [dict(zip(COLUMNS, ("A", texts[0], 0.5, 1.0, 0.2, 0.8), strict=True))], laws


def check_limited(seed, count):
    """Exclusive values with intervals and pins lose as much as by the other solver; returns the largest difference.

    Intervals leave a choice, so that probabilities may differ.
    """
    rng, worst = np.random.default_rng(seed), 0.0
    for _ in range(count):
        rows, laws = limited(rng)
        loss = find_loss(str(rng.choice(LOSSES)))
        try:
            parts = components(co.Panel.from_records(rows, laws=laws), loss)
        except co.CoherentlyError:
            continue
        for part, goal in parts:
            worst = max(worst, check_limits(part, goal))
    return worst


def check_limits(part, goal):
    """The answer of a component of exclusive values that has intervals or pins, if it has: its difference."""
    answer = solve_limited(part, goal, Budget())
    if not len(part.terms):
        assert answer is None
        return 0.0
    try:
        other = solve_by_worlds(part, goal, Budget(tolerance=1e-10))
    except InfeasiblePinsError:
        assert answer is None
        return 0.0
    assert answer is not None, "a structure is not solved"
    check_mixture(part, goal, answer)
    total = goal.terms(part).total
    assert answer.violation <= 1e-9
    assert abs(answer.violation - pin_rows(part.terms.limits, len(part)).violation(sides_at(answer.x))) <= 1e-15
    assert answer.bound <= other.objective + 1e-12 * total, "the bound is above another answer"
    assert other.bound <= answer.objective + 1e-12 * total, "a proved bound is above the answer"
    assert answer.gap <= 1e-9 * max(answer.objective, 1e-3 * total)
    return max(0.0, answer.objective - other.objective) / max(1e-3 * total, other.objective)


def check_left_alone(part, goal):
    """What doubles cannot say of levels is left to the other solver: an event that the log loss drives to an end."""
    x = solve_by_worlds(part, goal, CLOSELY).x[part.weight > 0]
    assert goal.loss.name == "log", "a structure is not solved"
    assert np.minimum(x, 1 - x).min() < 1e-11, "a structure is not solved"


def check_shares(part, goal):
    """Listed worlds give an answer like that of the other solver, or none: with pins and intervals never."""
    answer = solve_shares(part, goal, Budget())
    if len(part.terms.intervals) or len(part.terms.limits):
        assert answer is None
    elif answer is not None:
        check_answer(part, goal, answer)
        if goal.loss.is_quadratic and not goal.is_quadratic:
            plane = savings(goal, sides_at(answer.x))
            least = (holds(part, possible_worlds(part, MOST_WORLDS)) @ plane.coefficients).min() + plane.constant
            assert least - 1e-9 <= answer.saved <= least + 1e-12


def spoiled(rng, texts, laws):
    """A structure with something more: an event, a law, a conditional, an interval, a pin."""
    rows = [(*row, None, None) for row in forecasts(rng, texts)]
    names = [name for text in texts for name in (text.split("&")[0].split("|")[0].strip(),)]
    a, b, c = (str(name) for name in rng.choice(names, 3))
    extra = str(rng.choice([f"{a} & {b}", f"{a} | {b}", f"({a}) ^ ({b})", f"{a} & ~({c})", f"{a} & z", "z", "z | y"]))
    kind = rng.integers(7)
    laws = [law for law in laws if not law.startswith("~(") or rng.random() < 0.9]
    if kind == 0:
        rows.append(("B", extra, probability(rng), 1.0, None, None))
    elif kind == 1:
        law = str(rng.choice(["({}) -> ~({})", "({}) | ({})", "({}) -> ({})", "({}) <-> ({})", "~({}) | ~({})"]))
        laws.append(law.format(a, b))
    elif kind == 2:
        laws.append(
            str(rng.choice([f"({a}) -> ({b}) | ({c})", f"({a}) & ({b}) -> ({c})", f"at_most(1; {a}, z, y)", a]))
        )
    elif kind == 3:
        rows.append(("B", f"({a}) given ({b})", probability(rng), 1.0, None, None))
    elif kind == 4:
        rows.append(("B", a, 0.5, 1.0, 0.4, 0.6))
    elif kind == 5:
        laws.append(f"P({a}) <= 0.6")
    else:
        rows.append(("B", extra, probability(rng), 1.0, None, None))
        laws.append(f"({b}) -> z")
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows], laws


def check_near_misses(seed, count):
    """Nothing is claimed of a component that almost has a structure but what its worlds show; how often that was."""
    rng, claimed = np.random.default_rng(seed), 0
    for _ in range(count):
        texts, laws = STRUCTURED[str(rng.choice(list(STRUCTURED)))](rng, most=6 if rng.random() < 0.5 else 4)
        rows, laws = spoiled(rng, texts, laws)
        loss = find_loss(str(rng.choice(LOSSES)))
        try:
            parts = components(co.Panel.from_records(rows, laws=laws), loss)
        except co.CoherentlyError:  # laws that leave no world
            continue
        for part, goal in parts:
            claim = check_claims(part)
            if claim is not None and rng.random() < 0.25:
                check_shares(part, goal)
            if len(part.terms) and values_of(part) is not None and not len(part.terms.conditionals):
                check_limits(part, goal)
                continue
            if claim in (None, (None, None)):
                assert claim is None or solve_by_structure(part, goal, Budget()) is None
                continue
            claimed += 1
            answer = solve_by_structure(part, goal, Budget())
            if answer is not None:
                check_answer(part, goal, answer)
    return claimed
