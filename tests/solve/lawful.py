"""Random panels with laws, conditionals, intervals and pins, and slow answers over all of their worlds."""

import cvxpy as cp
import numpy as np
from hypothesis import strategies as st

import coherently as co
from tests.problem.test_terms import under
from tests.truth import holds

NAMES = "abcdef"
LAWS = [
    "a -> b",
    "b -> c",
    "exactly(1; a, b, c)",
    "at_most(1; d, e, f)",
    "~(a & d)",
    "c | e",
    "exactly(1; e, f)",
    "a <-> f",
]
EVENTS = [*NAMES, "a & b", "a | d", "b & ~c", "c ^ d", "d & e", "e | f", "a & d & e", "at_least(2; b, d, f)", "~f"]
GIVEN = ["a given b", "~a given b", "b given a | c", "d given a", "e given d", "c & d given e", "f given ~a"]
SMALL = [0.0, 0.1, 0.3, 0.5, 0.75, 1.0]


def worlds_of(merged):
    """Every world that the space allows, by brute force."""
    n = merged.n_variables
    every = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
    kept = np.ones(len(every), np.bool_)
    for block in merged.space.blocks:
        allowed = {tuple(row) for row in block.states.tolist()}
        kept &= [tuple(row) in allowed for row in every[:, block.variables].astype(int).tolist()]
    laws = merged.space.laws
    for i in range(len(laws)):
        own = every[:, laws.of(i)].astype(np.int64)
        bits = np.unpackbits(
            laws.tables[laws.table_starts[i] : laws.table_starts[i + 1]].astype("<u8").view(np.uint8), bitorder="little"
        )
        kept &= bits[own @ (1 << np.arange(own.shape[1]))] == laws.truth[i]
    return every[kept]


@st.composite
def panels(draw, *, given=True, intervals=True, pins=True, laws=3, weights=(1.0,), max_size=12):
    """Forecasts under laws that are possible; pins are met by some distribution over the worlds."""
    texts = EVENTS + (GIVEN if given else [])
    size = draw(st.integers(1, max_size))
    rows = []
    for _ in range(size):
        p = draw(st.sampled_from(SMALL))
        row = {
            "judge": "A",
            "event": draw(st.sampled_from(texts)),
            "probability": p,
            "weight": draw(st.sampled_from(weights)),
            "lower": None,
            "upper": None,
        }
        if intervals and draw(st.integers(0, 3)) == 0:
            row["lower"], row["upper"] = sorted((p, draw(st.sampled_from(SMALL))))
        rows.append(row)
    panel = co.Panel.from_records(rows)
    some = draw(st.lists(st.sampled_from(LAWS), max_size=laws, unique=True))
    panel = under(panel, some)
    if not pins or not draw(st.booleans()):
        return panel
    chosen = draw(st.lists(st.sampled_from(texts), min_size=1, max_size=2, unique=True))
    share = np.random.default_rng(draw(st.integers(0, 99)))
    return under(panel, some, _met(panel, chosen, share))


def _met(panel, texts, random):
    """Pins around the probabilities of a random distribution over the worlds that the panel's laws allow."""
    reading = panel.events.add(texts)
    n = len(panel.events.variables)
    every = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
    every = every[panel.events.evaluate(panel.laws.side, every).all(axis=1)]
    share = random.dirichlet(np.ones(len(every)))
    joint, given = (
        share @ panel.events.evaluate(reading.event, every),
        share @ panel.events.evaluate(reading.condition, every),
    )
    center = np.divide(joint, given, out=np.full(len(texts), 0.5), where=given > 0)
    return [(text, max(0.0, c - 0.1), min(1.0, c + 0.02)) for text, c in zip(texts, center.tolist(), strict=True)]


def nearest(merged):
    """The least linearised distance over all distributions, and the probabilities of the coordinates."""
    worlds = worlds_of(merged)
    truth = holds(merged, worlds).astype(float)
    share = cp.Variable(len(worlds), nonneg=True)
    x = cp.hstack([truth.T @ share, 1.0])
    cost, limits = [], [cp.sum(share) == 1]

    def of(sides, i):
        value = x[int(sides.coordinate[i])]
        return 1 - value if sides.turned[i] else value

    weighty = merged.weight > 0
    if weighty.any():
        cost.append(
            cp.sum(cp.multiply(merged.weight[weighty], cp.square((truth.T @ share)[weighty] - merged.mean[weighty])))
        )
    terms = merged.terms
    given = terms.conditionals
    cost += [
        given.weight[i] * cp.square(of(given.joint, i) - given.mean[i] * of(given.condition, i))
        for i in np.flatnonzero(given.weight > 0).tolist()
    ]
    inner = terms.intervals
    for i in range(len(inner)):
        k = int(inner.about[i])
        joint, condition = (of(given.joint, k), of(given.condition, k)) if inner.conditional[i] else (x[k], 1.0)
        cost.append(inner.weight[i] * cp.square(cp.maximum(joint - inner.high[i] * condition, 0)))
        cost.append(inner.weight[i] * cp.square(cp.maximum(inner.low[i] * condition - joint, 0)))
    for i in range(len(terms.limits)):
        joint, condition = of(terms.limits.joint, i), of(terms.limits.condition, i)
        limits += [joint >= terms.limits.low[i] * condition, joint <= terms.limits.high[i] * condition]
    program = cp.Problem(cp.Minimize(sum(cost) if cost else 0.0), limits)
    program.solve(solver=cp.CLARABEL)
    return max(0.0, float(program.value)), np.asarray(x.value)[:-1]
