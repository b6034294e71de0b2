"""The arbitrage metric against its definition: a slice in the tests, the full number in the campaign."""

from itertools import product

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
    """The most that other answers are sure to gain on those of a check."""
    return sure_gain_over(WORLDS[check], p)


def sure_gain_over(worlds, p):
    """The most that other answers are sure to gain on these by the log score, found by sequential quadratic programs.

    Answers are searched by their log-odds z, in which the log score is concave: ln x = -ln(1 + exp(-z)). `worlds` has
    what the answers come to in each world: 1, 0, or None where a condition is false.
    """
    p = np.asarray(p, dtype=np.float64)
    true = np.array([[outcome == 1 for outcome in world] for world in worlds], dtype=np.float64)
    false = np.array([[outcome == 0 for outcome in world] for world in worlds], dtype=np.float64)
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


def least_divergence(worlds, p):
    """The least divergence of coherent answers from these, over all mixtures of worlds, by quadratic programs.

    A mixture q makes an answer true with t = sum of q over the worlds in which it is, and false with f; the divergence
    t ln(x / p) + f ln((1 - x) / (1 - p)) with x = t / (t + f) is jointly convex in t and f, also for conditionals.
    """
    p = np.asarray(p, dtype=np.float64)
    true = np.array([[outcome == 1 for outcome in world] for world in worlds], dtype=np.float64)
    false = np.array([[outcome == 0 for outcome in world] for world in worlds], dtype=np.float64)
    tiny = 1e-300

    def logs(q):
        t, f = q @ true, q @ false
        both = np.maximum(t + f, tiny)
        return t, f, np.log(np.maximum(t, tiny) / both / p), np.log(np.maximum(f, tiny) / both / (1 - p))

    def lost(q):
        t, f, up, down = logs(q)
        return float(t @ up + f @ down)

    def slope(q):
        _, _, up, down = logs(q)
        return true @ np.maximum(up, -60.0) + false @ np.maximum(down, -60.0)

    found = minimize(
        lost,
        np.full(len(worlds), 1.0 / len(worlds)),
        jac=slope,
        bounds=[(0.0, 1.0)] * len(worlds),
        constraints={"type": "eq", "fun": lambda q: q.sum() - 1.0, "jac": lambda q: np.ones(len(q))},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    q = np.maximum(found.x, 0.0)
    return lost(q / q.sum())


PARTS = {
    "{0}": lambda x, _: x,
    "~{0}": lambda x, _: not x,
    "{0} & {1}": lambda x, y: x and y,
    "{0} & ~{1}": lambda x, y: x and not y,
    "{0} | {1}": lambda x, y: x or y,
    "{0} ^ {1}": lambda x, y: x != y,
    "{0} -> {1}": lambda x, y: not x or y,
}
"""Events of two variables, and what they mean in Python."""


def _drawn(rng, names):
    """A text, and its value in each world of the names."""
    form = list(PARTS)[rng.integers(len(PARTS))]
    i, j = rng.choice(len(names), 2, replace=False)
    return form.format(names[i], names[j]), [
        bool(PARTS[form](world[i], world[j])) for world in product((False, True), repeat=len(names))
    ]


def _same(outcome, others, kept):
    """Whether an answer comes to the same as one of others, or as its complement, in every world that is kept."""
    turned = [None if value is None else 1 - value for value in outcome]
    worlds = np.flatnonzero(kept)
    return any(
        [each[i] for i in worlds] == [other[i] for i in worlds] for other in others for each in (outcome, turned)
    )


def random_answers(rng):
    """Answers of a judge about a few variables, with laws and conditionals: texts, probabilities, laws, worlds.

    No conditional is asked twice in other words: such answers count by their mean, by definition.
    """
    names = ["a", "b", "c", "d"][: int(rng.integers(3, 5))]
    laws, kept = [], np.ones(2 ** len(names), bool)
    for _ in range(int(rng.integers(0, 3))):
        text, true = _drawn(rng, names)
        if (kept & true).sum() > 2:
            laws, kept = [*laws, text], kept & true
    answers = {}
    for _ in range(int(rng.integers(3, 11))):
        text, true = _drawn(rng, names)
        outcome = [int(each) for each in true]
        if rng.random() < 0.25:
            condition, holds = _drawn(rng, names)
            if not (kept & holds).any():
                continue
            text = f"{text} given {condition}"
            settled = {value for value, given in zip(outcome, kept & holds, strict=True) if given}
            otherwise = settled.pop() if len(settled) == 1 else None  # what logic settles is certain, not called off
            outcome = [value if given else otherwise for value, given in zip(outcome, holds, strict=True)]
            if otherwise is None and _same(outcome, answers.values(), kept):
                continue
        answers.setdefault(text, outcome)
    columns = [[outcome for outcome, there in zip(values, kept, strict=True) if there] for values in answers.values()]
    return list(answers), rng.uniform(0.05, 0.95, len(answers)).round(2), laws, list(zip(*columns, strict=True))


def check_joint(seed, count):
    """The joint score between what the best other answers surely gain and what the best mixture loses; the worst gap.

    Both are evaluated as they stand, so that the score must lie between them whatever the two programs found.
    """
    rng = np.random.default_rng(seed)
    widest = 0.0
    for _ in range(count):
        texts, p, laws, worlds = random_answers(rng)
        panel = co.Panel.from_records([("Ann", text, q) for text, q in zip(texts, p.tolist(), strict=True)], laws=laws)
        found = co.consistency(panel, clip=1e-6)
        least, most = sure_gain_over(worlds, p), least_divergence(worlds, p)
        assert least - 1e-8 <= found.joint[0], (texts, p, laws, least, found.joint)
        assert found.joint[0] <= most + 1e-6 * max(1.0, most), (texts, p, laws, most, found.joint)
        assert found.joint_bound[0] <= most + 1e-9, (texts, p, laws, most, found.joint_bound)
        assert (found.by_checks <= most + 1e-9).all(), (texts, p, laws, most, found.by_checks)
        widest = max(widest, most - least)
    return widest
