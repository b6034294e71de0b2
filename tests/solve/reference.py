"""Slow answers by other solvers, and random panels to ask for."""

import clarabel
import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import nnls

import coherently as co
from coherently.problem import find_design
from coherently.result.answer_worlds import join
from coherently.solve import Worlds

PROBABILITIES = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.integers(0, 10**6).map(lambda n: n / 1e6))
WEIGHTS = {
    "flat": st.just(1.0),
    "hundred": st.floats(1, 100),
    "skewed": st.floats(-3, 3).map(lambda power: 10.0**power),
    "some zero": st.sampled_from([0.0, 0.0, 1.0, 7.0]),
}


@st.composite
def formulas(draw, names, most):
    """Events of one to `most` literals, with a constant now and then."""
    if draw(st.integers(0, 30)) == 30:
        return draw(st.sampled_from(["true", "false", f"{names[0]} & ~{names[0]}"]))
    literal = st.builds(str.__add__, st.sampled_from(["", "~"]), st.sampled_from(names))
    text = draw(literal)
    for _ in range(draw(st.integers(0, most - 1))):
        text = f"({text}) {draw(st.sampled_from(['&', '|', '^', '->']))} {draw(literal)}"
    return text


@st.composite
def records(draw, weights="flat", most=2, n_variables=5, max_size=20, prefix="v"):
    """Forecasts of random events by two judges."""
    names = [f"{prefix}{i}" for i in range(draw(st.integers(2, n_variables)))]
    row = st.tuples(st.sampled_from("AB"), formulas(names, most), PROBABILITIES, WEIGHTS[weights])
    return draw(st.lists(row, min_size=1, max_size=max_size))


def panels(*args, **options):
    return records(*args, **options).map(co.Panel.from_records)


def every_world(panel):
    n = len(panel.events.variables)
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)


def truth(panel, sides):
    """The truth of some sides in every world, a row a world."""
    return panel.events.evaluate(np.asarray(sides), every_world(panel)).astype(float)


def briers(panel, values):
    """The weighted sum of squared errors of the panel's forecasts, once its events have `values`, by world."""
    outcome = truth(panel, panel.written.event)[:, panel.event_index]
    # An event without weight may have no value.
    return np.sum(panel.weight * (np.nan_to_num(values)[panel.event_index] - outcome) ** 2, axis=1)


def raw_briers(panel):
    """The same of the forecasts as given."""
    outcome = truth(panel, panel.written.event)[:, panel.event_index]
    return np.sum(panel.weight * (panel.probability - outcome) ** 2, axis=1)


def coordinates(problem, values):
    """The merged coordinates' part of values for the events as written."""
    x = np.empty(len(problem.merged))
    x[problem.coordinate] = np.where(problem.complemented, 1.0 - values, values)
    return x


def objective(merged, x):
    return float(np.nansum(merged.weight * (x - merged.mean) ** 2))


def members_of(groups):
    """The members and the pattern of each group."""
    return [
        (groups.members[groups.starts[g] : groups.starts[g + 1]], groups.patterns[pattern])
        for g, pattern in enumerate(groups.pattern)
    ]


def distance_from_hull(rows, x):
    return nnls(np.vstack([rows.T, np.ones(len(rows))]), np.append(x, 1.0))[1]


def violation(groups, x):
    """The largest distance of a group from the hull of its pattern."""
    return max((distance_from_hull(rows, x[members]) for members, rows in members_of(groups)), default=0.0)


def by_clarabel(merged, groups, *, sharp=False):
    """The relaxed problem as a quadratic program in x and a mixture of truth vectors a group.

    Of `merged` only weights and means are asked.

    An interior point answer may be off by the root of its gap where the active set is in doubt. A sharp one is
    finished on a face of the mixtures, one that meets all conditions of the optimum.
    """
    weight, target = merged.weight, np.nan_to_num(merged.mean)
    if not len(groups):
        return target
    m, count = len(weight), len(groups.members)
    mixed = sparse.block_diag([groups.patterns[k].T for k in groups.pattern])
    sums = sparse.block_diag([np.ones((1, len(groups.patterns[k]))) for k in groups.pattern])
    chosen = sparse.csr_array((np.ones(count), (np.arange(count), groups.members)), shape=(count, m))
    size = mixed.shape[1]
    equal = sparse.block_array([[-chosen, mixed], [None, sums]])
    bounds = sparse.hstack([sparse.csr_array((size, m)), -sparse.eye_array(size)])
    right = np.concatenate([np.zeros(count), np.ones(len(groups)), np.zeros(size)])
    curvature = 2.0 * np.concatenate([weight, np.zeros(size)]) / (weight.max() or 1.0)
    linear = -curvature * np.concatenate([target, np.zeros(size)])
    cones = [clarabel.ZeroConeT(count + len(groups)), clarabel.NonnegativeConeT(size)]
    x, multiplier = _quadratic_program(curvature, linear, sparse.vstack([equal, bounds]).tocsc(), right, cones)
    return _sharpened(curvature, linear, equal.toarray(), right, x, multiplier)[:m] if sharp else x[:m]


def _quadratic_program(curvature, linear, constraints, right, cones):
    """The solution and the multipliers; a solver that stalls at its absolute gap may do better on a lesser scale."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    for scale in (100.0, 10.0, 1.0, 0.1, 0.01):
        quadratic = sparse.diags_array(scale * curvature).tocsc()
        answer = clarabel.DefaultSolver(quadratic, scale * linear, constraints, right, cones, settings).solve()
        if answer.status == clarabel.SolverStatus.Solved:
            return np.array(answer.x), np.array(answer.z) / scale
    raise AssertionError(answer.status)


def _sharpened(curvature, linear, equal, right, x, multiplier):
    """Solve on the face of the mixtures that outweigh their multipliers; those that come out wrong change sides."""
    count, size = len(equal), len(multiplier) - len(equal)
    mixed = np.arange(len(x)) >= len(x) - size
    force, slack = multiplier[:count], np.append(np.full(len(x) - size, -np.inf), multiplier[count:])
    face = x > slack
    for _ in range(20):
        x = np.where(face, x, 0.0)
        part = equal[:, face]
        system = np.block([[np.diag(curvature[face]), part.T], [part, np.zeros((count, count))]])
        missing = np.concatenate([-linear[face], right[:count]]) - system @ np.concatenate([x[face], force])
        change = np.linalg.lstsq(system, missing, rcond=1e-12)[0]
        x[face] += change[: face.sum()]
        force = force + change[face.sum() :]
        slack = np.where(face, 0.0, equal.T @ force)
        wrong = mixed & ((x < -1e-12) | (slack < -1e-12))
        if not wrong.any():
            return x
        face ^= wrong
    raise AssertionError("no face is right")


def check_relaxed(problem, solution, *, even):
    """Hold an answer against the definition of the relaxed problem and against another solver's.

    `even` says that the weights lie in [1, 100], where each probability must be right, too.
    """
    merged, groups = problem.merged, find_design(solution.groups)(problem.merged)
    x = coordinates(problem, solution.value)
    unit = max(1.0, solution.objective)
    assert solution.status == "converged"
    assert np.all((x >= -1e-12) & (x <= 1 + 1e-12))
    assert violation(groups, x) <= 1e-8
    assert solution.violation <= 1e-8
    assert abs(solution.objective - objective(merged, x)) <= 1e-12 * unit
    assert 0 <= solution.objective - solution.lower_bound <= 1e-8 * unit
    other = by_clarabel(merged, groups, sharp=even)
    least = objective(merged, other)
    assert abs(solution.objective - least) <= 1e-9 * unit
    assert solution.lower_bound <= least + 1e-9 * unit
    weighty = merged.weight > 0
    assert np.sum(merged.weight[weighty] * (x - other)[weighty] ** 2) <= 1e-9 * unit
    if even:
        np.testing.assert_allclose(x[weighty], other[weighty], rtol=0, atol=1e-7)


def nearest_point(vertices, weight, mean):
    """The nearest mixture of vertices, by the active set of Lawson and Hanson.

    That solver goes wrong now and then, so that it is asked on several scales and must pass the test of optimality.
    """
    away = np.sqrt(weight) * np.where(weight > 0, vertices - mean, 0.0)
    for factor in (1.0, 0.1, 10.0, 0.01, 100.0):
        # The nearest point to the origin of a polytope, up to scale (Lawson and Hanson 1974, chapter 23).
        scale = factor * (np.sqrt(np.mean(np.sum(away**2, axis=1))) or 1.0)
        share, _ = nnls(np.vstack([away.T, np.full(len(away), scale)]), np.append(np.zeros(away.shape[1]), scale))
        near = share / share.sum() @ away
        if near @ near - np.min(away @ near) <= 1e-12 * max(1.0, weight.sum()):
            return share / share.sum() @ vertices
    raise AssertionError("the reference did not converge")


def joined(result):
    """The worlds of a result over all variables of its problem, with those that nobody forecast."""
    weight, rows = join(result.solution.worlds)
    truth = np.zeros((len(weight), result.problem.merged.n_variables), bool)
    for part, own in zip(result.solution.worlds, rows, strict=True):
        truth[:, part.variables] = part.truth[own]
    return Worlds(np.arange(truth.shape[1], dtype=np.int32), weight, truth)
