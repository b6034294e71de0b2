"""Random panels of the whole language, held against an enumeration of all worlds.

Each check takes a `Case` (its worlds are written out, and an independent grammar evaluates its texts) and asserts what
the public calls promise: of worlds, proofs, JSON, bounds, checks and books.
"""

import datetime as dt
import math
import random
import re

import numpy as np
from scipy.optimize import linprog

import coherently as co
from tests.events.oracle import OTHER, truths
from tests.whole.declared_checks import DECLARATIONS, DOMAINS, formula
from tests.whole.reference import Case, solve

DAYS = tuple(dt.date(2027, 1, day) for day in (5, 10, 12, 15, 17, 20, 25))
VALUES = {**DOMAINS, "due": DAYS}
STATEMENTS = {**DECLARATIONS, "due": "variable due: date"}
ROUNDING = 1e-9
"""To this a mixture of worlds gives the probabilities of a result, and keeps pins."""
GIVEN = (1e-12, 1e-11, 1e-10, ROUNDING)
"""To these, one after the other, a linear program asks for probabilities that are given, until they are possible."""
PROGRAM = MET = 1e-6
"""To this the linear programs below are trusted."""
ABSENT = 1e-6
"""A condition below this probability counts as impossible."""


def random_case(rng):
    """Forecasts by two judges, with laws and pins that some distribution obeys."""
    names = rng.sample(list(VALUES), rng.randint(2, 4))
    case = Case({name: VALUES[name] for name in names}, [], [STATEMENTS[n] for n in names if n in STATEMENTS])
    for _ in range(rng.randint(0, 3)):
        law = text(rng, names, 2)
        case.formulas.append(law)
        if not len(case.allowed):
            case.formulas.remove(law)
    chance = np.array([rng.expovariate(1) ** 3 for _ in case.allowed])
    chance /= chance.sum()
    case.pins.extend(pin for _ in range(rng.choice((0, 0, 1, 2))) if (pin := random_pin(rng, case, names, chance)))
    case.rows.extend(random_row(rng, case, names, chance) for _ in range(rng.randint(2, 9)))
    case.rows[0]["weight"] = case.rows[0]["weight"] or 1.0
    return case


def text(rng, names, most):
    """An event, perhaps with a date among its literals."""
    found = formula(rng, [name for name in names if name != "due"], most)
    if "due" not in names or rng.random() < 0.6:
        return found
    due = f"due {rng.choice(('<', '>=', '<=', '>'))} 2027-01-{rng.choice((10, 15, 20))}"
    return due if rng.random() < 0.4 else f"({found}) {rng.choice('&|')} {due}"


def chances(case, event, chance):
    """P(E & H) and P(H)."""
    return tuple(float(one @ chance) for one in case.truth(event))


def random_event(rng, case, names, chance):
    """An event, or a conditional whose condition is possible."""
    event = text(rng, names, 3)
    if rng.random() < 0.2:
        given = f"({event}) given {text(rng, names, 1)}"
        if chances(case, given, chance)[1] > 0.05:
            return given
    return event


def random_pin(rng, case, names, chance):
    event = random_event(rng, case, names, chance)
    joint, given = chances(case, event, chance)
    p = min(1.0, joint / given)
    sign = rng.choice(("=", "<=", ">="))
    digits = {"=": round(p, 12), "<=": math.ceil(p * 50) / 50, ">=": math.floor(p * 50) / 50}[sign]
    return None if sign == "=" and 0 < min(digits, 1 - digits) < 1e-6 else (event, sign, digits)


def random_row(rng, case, names, chance):
    event = random_event(rng, case, names, chance)
    joint, given = chances(case, event, chance)
    p = round(min(1.0, joint / given), 6) if rng.random() < 0.5 else rng.choice((0.0, 1.0, rng.random(), rng.random()))
    row = {"judge": rng.choice("AB"), "event": event, "probability": p, "lower": None, "upper": None}
    if rng.random() < 0.25:
        low, high = sorted((rng.random(), rng.random()))
        row |= {"probability": None, **rng.choice(({"lower": low, "upper": high}, {"lower": low}, {"upper": high}))}
    return {**row, "weight": rng.choice((1.0, 1.0, rng.uniform(0.1, 5), 0.0))}


def check_language(seed, count):
    """Hold so many panels against enumeration."""
    rng = random.Random(seed)
    for number in range(count):
        case = random_case(rng)
        try:
            check_case(rng, case)
        except Exception as error:
            error.add_note(f"panel {number} of seed {seed}: {case.rows} under {case.laws}")
            raise


def check_case(rng, case):
    panel = case.panel()
    result = co.aggregate(panel, co.Exact(seed=rng.randrange(100)))
    assert result.coherence == "global"
    check_objective(case, result)
    check_worlds(case, result)
    assert co.verify(panel, result).problems == []
    check_json(panel, result)
    for _ in range(2):
        check_bounds(case, result, text(rng, list(case.domains), 2))
    check_bounds(case, result, next((row["event"] for row in case.rows if " given " not in row["event"]), "true"))
    check_judges(case, panel)
    check_book(case, panel, rng.choice((0.0, 0.0, 0.01)))


def check_objective(case, result):
    """The answer is the nearest, and no lower bound is above what is possible."""
    assert result.status == "optimal"
    expected = solve(case).objective
    assert abs(result.objective - expected) <= 1e-6 * max(1.0, expected)
    assert result.lower_bound <= expected + 1e-7 * max(1.0, expected)


def value(raw):
    """A variable's value in a world as the enumeration has it."""
    if raw is None:
        return OTHER
    return dt.date.fromisoformat(raw) if isinstance(raw, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", raw) else raw


def holds(event, world):
    """The truth of E & H and of H in one world, which need not give variables that the event is not about."""
    domains = {name: (value(world[name]),) if name in world else VALUES[name][:1] for name in VALUES}
    found = truths(event, domains)
    joint, given = found if isinstance(found, tuple) else (found, np.ones(1, bool))
    return float(np.ravel(joint)[0]), float(np.ravel(given)[0])


def mentioned(case):
    texts = [*(row["event"] for row in case.rows), *case.formulas, *(event for event, _, _ in case.pins)]
    return {name for name in case.domains if any(re.search(rf"\b{name}\b", one) for one in texts)}


def check_worlds(case, result):
    """Every world is possible, and their mixture has the probabilities and keeps the pins."""
    worlds = list(result.worlds)
    assert abs(sum(weight for weight, _ in worlds) - 1.0) <= ROUNDING
    assert all(weight >= 0 for weight, _ in worlds)
    for _, world in worlds:
        assert set(world) >= mentioned(case)
        assert all(holds(law, world)[0] for law in case.formulas), (case.formulas, world)

    def mixed(event):
        return np.sum([np.multiply(weight, holds(event, world)) for weight, world in worlds], axis=0)

    for row in case.rows:
        joint, given = mixed(row["event"])
        found = result.probability(row["event"])
        settled = case.lost(row["event"])[0]
        if (settled == settled[0]).all():
            assert abs(found - settled[0]) <= ROUNDING, (row, found)
        elif given > ABSENT:
            assert abs(joint - found * given) <= ROUNDING, (row, found, joint, given)
    for event, sign, p in case.pins:
        joint, given = mixed(event)
        low, high = {"=": (p, p), "<=": (0, p), ">=": (p, 1)}[sign]
        assert low * given - ROUNDING <= joint <= high * given + ROUNDING, (event, sign, p, joint, given)


def check_json(panel, result):
    """Nothing is lost on the way to JSON and back."""
    again = co.Result.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert list(again.worlds) == list(result.worlds)
    assert co.verify(panel, again).problems == []


def ends(row):
    """The interval of a forecast; the number itself where it is one."""
    low, high = row["lower"], row["upper"]
    if low is None and high is None:
        return row["probability"], row["probability"]
    return 0.0 if low is None else low, 1.0 if high is None else high


def check_bounds(case, result, event):
    """Bounds are never narrower than two linear programs say, nor wider if certified."""
    found = result.bounds(event)
    if " given " in event:
        check_conditional_bounds(case, result, event, found)
        return
    rows, cost = agreeing(case, result), case.truth(event)[0]
    least, greatest = (sign * program(sign * cost, rows) for sign in (1, -1))
    assert found.low <= least + PROGRAM, (event, found, least, greatest)
    assert found.high >= greatest - PROGRAM, (event, found, least, greatest)
    if found.certified:
        assert found.low >= least - PROGRAM, (event, found, least, greatest)
        assert found.high <= greatest + PROGRAM, (event, found, least, greatest)


def check_conditional_bounds(case, result, event, found):
    """The least quotient P(A) / P(H) is the number m at which the least P(A) - m P(H) is 0."""
    rows = agreeing(case, result)
    joint, given = case.truth(event)
    settled = joint.any(), (given - joint).any()
    if not all(settled):
        assert tuple(found) == (float(settled[0]),) * 2
        return
    if -program(-given, rows) <= ABSENT:
        assert tuple(found) == (0, 1)
        assert not found.certified or "so that nothing bounds what is given it" in found.note
        return
    vanishes = program(given, rows) <= ABSENT - ROUNDING
    assert vanishes <= ("is impossible; the bounds are for where it is possible" in (found.note or ""))
    rows.append(ABSENT - given)
    for sign, end in ((1, found.low), (-1, -found.high)):
        assert program(sign * joint - (end - PROGRAM) * given, rows) >= -ROUNDING, (event, found)
        if found.certified:
            assert program(sign * joint - (end + PROGRAM) * given, rows) <= ROUNDING, (event, found)


def agreeing(case, result):
    """Rows that a distribution makes positive just if it is not as good as the result."""
    rows = []
    chance = np.array([weight for weight, _ in result.worlds])
    forecasts = {}
    for row in case.rows:
        forecasts.setdefault(row["event"], []).append(row)
    for written, same in forecasts.items():
        joint, given = case.truth(written)
        held = np.array([holds(written, world)[1] for _, world in result.worlds])
        x = result.probability(written)
        if not any(row["weight"] > 0 for row in same) or chance @ held <= ABSENT:
            continue
        inside = [ends(row) for row in same if row["weight"] > 0]
        low, high = max(low for low, _ in inside), min(high for _, high in inside)
        # An interval that is missed by so little costs its square, 1e-12, which is below every tolerance.
        met = low - MET <= x <= high + MET
        low, high = (min(low, x), max(high, x)) if met else (x, x)
        rows += [joint - high * given, low * given - joint]
    for pinned, sign, p in case.pins:
        joint, given = case.truth(pinned)
        rows += [joint - p * given] * (sign != ">=") + [p * given - joint] * (sign != "<=")
    return rows


def program(cost, rows):
    """The least cost of a distribution that makes no row positive.

    The rows are given slack, so that rounding does not rule all distributions out; where conditions are rare, slack s
    moves the least by a million times s. The prices of the rows take that back: they stay feasible in the dual program
    whatever the right side is, so the least less the prices of the slack is a bound without slack, and the least itself
    while the same rows bind.
    """
    for slack in GIVEN:
        matrix, right = (np.array(rows), np.full(len(rows), slack)) if rows else (None, None)
        found = linprog(cost, matrix, right, np.ones((1, len(cost))), [1.0], options=dict.fromkeys(TIGHT, 1e-10))
        if found.status == 0:
            return found.fun - slack * found.ineqlin.marginals.sum()
    raise AssertionError(found.message)


TIGHT = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")


def check_judges(case, panel):
    """A judge is coherent just if some distribution is within all its forecasts."""
    checked = co.check(panel)
    for judge in checked.judges:
        rows = [row for row in case.rows if row["judge"] == judge and row["weight"] > 0]
        miss = shift(case, rows)
        finding = checked.judges[judge]
        assert finding.coherent is not None
        if finding.coherent:
            assert miss <= PROGRAM + len(rows) * finding.tolerance, (judge, miss)
        elif all(case.lost(row["event"])[1].all() for row in rows):  # nothing is ever called off, but for constants
            assert miss > 0, (judge, finding.contradictions)
            assert miss / math.sqrt(len(rows)) - PROGRAM <= finding.distance <= miss + PROGRAM, (miss, finding)
        assert bool(finding.contradictions) == (finding.coherent is False)


def shift(case, rows):
    """The least sum of distances of the forecasts from a distribution's, over all distributions.

    A conditional that its condition settles is a forecast of a constant.
    """
    worlds, count = len(case.allowed), len(rows)
    matrix, right = [], []
    for i, row in enumerate(rows):
        joint, given = case.lost(row["event"])
        low, high = ends(row)
        slack = -(np.arange(count) == i).astype(float)
        matrix += [np.append(joint - high * given, slack), np.append(low * given - joint, slack)]
        right += [0.0, 0.0]
    cost = np.append(np.zeros(worlds), np.ones(count))
    whole = np.append(np.ones(worlds), np.zeros(count))[None]
    found = linprog(cost, np.array(matrix), right, whole, [1.0], options=dict.fromkeys(TIGHT, 1e-10))
    assert found.status == 0, found.message
    return found.fun


def check_book(case, panel, fee):
    """A book wins in every world what it says; there is none just if a linear program over all worlds finds none."""
    book = co.dutch_book(panel, between_judges=True, fee=fee)
    gains, most = [], 0.0
    for row in case.rows:
        joint, given = case.truth(row["event"])
        low, high = row["lower"], row["upper"]
        if row["weight"] == 0:
            continue
        if low is None and high is None:
            low = high = row["probability"]
        if low is not None:
            gains.append((low - fee) * given - joint)
        if high is not None:
            gains.append(joint - (high + fee) * given)
    most = best(np.array(gains))
    if not book:
        assert most <= PROGRAM, (most, book.verdict)
        return
    won = [book.exact_profit(world) for world in every_world(case)]
    assert book.exact_sure_profit > 0
    assert 0 <= min(won) - book.exact_sure_profit <= ROUNDING, (float(min(won)), book)
    assert most > 0, book
    staked = sum(abs(float(bet.stake)) for bet in book.bets)
    assert book.sure_profit <= most * staked + PROGRAM, (most, book)


def best(gains):
    """The greatest profit in the worst world of stakes that add up to 1; `gains` has a row per trade."""
    trades = len(gains)
    matrix = np.hstack([-gains.T, np.ones((gains.shape[1], 1))])
    cost = np.append(np.zeros(trades), -1.0)
    total = np.append(np.ones(trades), 0.0)[None]
    found = linprog(
        cost,
        np.vstack([matrix, total]),
        np.append(np.zeros(gains.shape[1]), 1.0),
        bounds=[(0, None)] * trades + [(None, None)],
        options=dict.fromkeys(TIGHT, 1e-10),
    )
    assert found.status == 0, found.message
    return max(0.0, -found.fun)


def every_world(case):
    """The allowed worlds as the public calls write them."""
    shape = [len(values) for values in case.domains.values()]
    for number in case.allowed.tolist():
        place = np.unravel_index(number, shape)
        raw = {name: values[i] for (name, values), i in zip(case.domains.items(), place, strict=True)}
        yield {
            name: None if one == OTHER else one.isoformat() if isinstance(one, dt.date) else one
            for name, one in raw.items()
        }
