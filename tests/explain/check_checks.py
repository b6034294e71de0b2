"""Findings of random panels of the whole language, held against programs over all worlds.

Of each judge: whether it is coherent, the bounds of its distance, and that every set of forecasts that is said to be
contradictory is, while none of its parts is.
"""

import random

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

import coherently as co
from tests.whole.language_checks import ends, random_case

SOLVED = 1e-10
"""To this squared distances by the quadratic program are trusted, which is solved to a gap of 1e-11."""
BROKEN, KEPT = 5e-10, 2e-8
"""The least excess that counts as a contradiction is 1e-9, and linear programs are solved to 1e-10 a row."""
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def check_checks(seed, count):
    """Hold the findings about so many panels against programs over all worlds."""
    rng = random.Random(seed)
    for number in range(count):
        case = random_case(rng)
        digits = rng.choice((2, 3, 4, 6, None))
        for row in case.rows:
            for name in ("probability", "lower", "upper"):
                if digits is not None and row[name] is not None:
                    row[name] = round(row[name], digits)
        try:
            check_case(case)
        except Exception as error:
            error.add_note(f"panel {number} of seed {seed}: {case.rows} under {case.laws}")
            raise


def check_case(case):
    found = co.check(case.panel())
    for judge, finding in found.judges.items():
        rows = [row for row in case.rows if row["judge"] == judge and row["weight"] > 0]
        assert finding.forecasts == len(rows)
        check_status(case, rows, finding)
        if all(case.lost(row["event"])[1].all() for row in rows):  # nothing is ever called off, but for constants
            true = square(case, rows)
            assert finding.distance_low**2 - SOLVED <= true <= finding.distance_high**2 + SOLVED, (true, finding)
            assert finding.proved
        for contradiction in finding.contradictory:
            check_contradiction(case, [rows[i] for i in contradiction.forecasts], finding.tolerance)


def is_given(row):
    return " given " in row["event"]


def check_status(case, rows, finding):
    """Coherent, up to rounding or not, just if linear programs say so; conditionals also where a condition holds."""
    assert finding.status in ("coherent", "rounding", "incoherent")
    assert finding.coherent is (finding.status != "incoherent")
    assert bool(finding.contradictions) == (finding.status == "incoherent")
    if finding.status == "coherent":
        assert finding.distance == finding.distance_high == 0.0
        assert excess(case, rows, 0.0) <= KEPT
    elif finding.status == "rounding":
        assert finding.tolerance > 0
        assert excess(case, rows, finding.tolerance) <= KEPT
        assert finding.distance > 0
    else:
        assert any(excess(case, part, finding.tolerance, where) > BROKEN for part, where in looks(case, rows))


def looks(case, rows):
    """All forecasts in all worlds, and those given each condition in the worlds in which it holds."""
    yield rows, None
    for row in filter(is_given, rows):
        where = case.truth(row["event"])[1]
        yield [r for r in rows if is_given(r) and (case.truth(r["event"])[1] == where).all()], where


def check_contradiction(case, rows, tolerance):
    """The forecasts cannot hold together, and without any one of them they can."""
    rests = [rows[:i] + rows[i + 1 :] for i in range(len(rows))]
    for part, where in looks(case, rows):
        off = tolerance if excess(case, part, tolerance, where) > BROKEN else 0.0
        if len(part) == len(rows) and excess(case, part, off, where) > BROKEN:
            assert all(not rest or excess(case, rest, off, where) <= KEPT for rest in rests), (part, rests)
            return
    raise AssertionError(rows)


def excess(case, rows, off, where=None):
    """The least sum of distances of forecasts, each of which may be off by so much, from a distribution's."""
    kept = np.ones(len(case.allowed), bool) if where is None else where > 0
    matrix, right = [], []
    for i, row in enumerate(rows):
        joint, given = (one[kept] for one in case.truth(row["event"]))
        low, high = ends(row)
        slack = -(np.arange(len(rows)) == i).astype(float)
        matrix += [np.append(joint - (high + off) * given, slack), np.append((low - off) * given - joint, slack)]
        right += [0.0, 0.0]
    cost = np.append(np.zeros(kept.sum()), np.ones(len(rows)))
    whole = np.append(np.ones(kept.sum()), np.zeros(len(rows)))[None]
    found = linprog(cost, np.array(matrix), right, whole, [1.0], options=TIGHT)
    assert found.status == 0, found.message
    return found.fun


def square(case, rows):
    """The squared distance of forecasts, each for itself, from the nearest distribution."""
    share = cp.Variable(len(case.allowed), nonneg=True)
    cost = 0
    for row in rows:
        low, high = ends(row)
        x = case.lost(row["event"])[0] @ share
        cost += cp.square(cp.pos(low - x) + cp.pos(x - high)) if low < high else cp.square(x - low)
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(share) == 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return max(0.0, problem.value)
