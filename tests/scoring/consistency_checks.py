"""The arbitrage metric against its definition: a slice in the tests, the full number in the campaign."""

import numpy as np
from scipy.optimize import minimize

import coherently as co

WORLDS = {
    "Neg": [(1, 0), (0, 1)],
    "Paraphrase": [(1, 1), (0, 0)],
    "Consequence": [(1, 1), (0, 1), (0, 0)],
    "And": [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 0)],
    "Or": [(1, 1, 1), (1, 0, 1), (0, 1, 1), (0, 0, 0)],
    "AndOr": [(1, 1, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 0, 0)],
    "But": [(1, 0, 1), (0, 1, 1), (0, 0, 0)],
    "Cond": [(1, 1, 1), (1, 0, 0), (0, None, 0)],
    "CondCond": [(1, 1, 1, 1), (1, 1, 0, 0), (1, 0, None, 0), (0, None, None, 0)],
    "ExpectedEvidence": [(1, 1, 1, None), (1, 0, None, 1), (0, 1, 0, None), (0, 0, None, 0)],
}
"""What the answers of each check, in the order of its roles, can come to; None is called off."""
ROLES = {
    "Neg": ["P", "not_P"],
    "Paraphrase": ["P", "para_P"],
    "Consequence": ["P", "cons_P"],
    "And": ["P", "Q", "P_and_Q"],
    "Or": ["P", "Q", "P_or_Q"],
    "AndOr": ["P", "Q", "P_and_Q", "P_or_Q"],
    "But": ["P", "Q_and_not_P", "P_or_Q"],
    "Cond": ["P", "Q_given_P", "P_and_Q"],
    "CondCond": ["P", "Q_given_P", "R_given_P_and_Q", "P_and_Q_and_R"],
    "ExpectedEvidence": ["P", "Q", "P_given_Q", "P_given_not_Q"],
}


def sure_gain(check, p):
    """The most that other answers are sure to gain on these by the log score, found by sequential quadratic programs.

    Answers are searched by their log-odds z, in which the log score is concave: ln x = -ln(1 + exp(-z)).
    """
    p = np.asarray(p, dtype=np.float64)
    true = np.array([[outcome == 1 for outcome in world] for world in WORLDS[check]], dtype=np.float64)
    false = np.array([[outcome == 0 for outcome in world] for world in WORLDS[check]], dtype=np.float64)
    own = true @ np.log(p) + false @ np.log1p(-p)

    def gains(z):
        return -true @ np.logaddexp(0.0, -z) - false @ np.logaddexp(0.0, z) - own

    def slopes(z):
        x = 1.0 / (1.0 + np.exp(-z))
        return true * (1.0 - x) - false * x

    start = np.log(p) - np.log1p(-p)
    found = minimize(
        lambda v: -v[-1],
        np.append(start, 0.0),
        jac=lambda v: np.append(np.zeros(len(v) - 1), -1.0),
        constraints={
            "type": "ineq",
            "fun": lambda v: gains(v[:-1]) - v[-1],
            "jac": lambda v: np.column_stack([slopes(v[:-1]), -np.ones(len(true))]),
        },
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    # Whatever the program says of itself, these answers are sure to gain this much.
    return float(np.min(gains(found.x[:-1])))


def random_tuple(rng, check):
    """Answers of any size, some near the bounds of their interval, some round."""
    p = rng.uniform(0.01, 0.99, len(ROLES[check]))
    if rng.random() < 0.3:
        p = np.clip(p.round(1), 0.05, 0.95)
    return p


def check_arbitrage(seed, count, checks):
    """Compare; returns the largest difference."""
    rng = np.random.default_rng(seed)
    drawn = [(check, random_tuple(rng, check)) for check in checks for _ in range(count)]
    tuples = [("Ann", check, dict(zip(ROLES[check], p.tolist(), strict=True))) for check, p in drawn]
    scores = co.consistency(tuples, clip=1e-6, joint=False).arbitrage
    expected = np.array([sure_gain(check, p) for check, p in drawn])
    worst = float(np.max(np.abs(scores - expected)))
    assert worst < 1e-6, [drawn[i] for i in np.flatnonzero(np.abs(scores - expected) >= 1e-6)[:3]]
    return worst
