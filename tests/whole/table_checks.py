"""Random components of few worlds: the table against the general method, a conic solver and the definition."""

from collections import Counter
from contextlib import contextmanager

import numpy as np

import coherently as co
from coherently.problem import find_loss, pose, settled, unit_of
from coherently.solve.budget import Budget
from coherently.solve.component import component_solver
from coherently.solve.component.structure.world_shares import solve_shares
from tests.solve.exact_checks import one_by_one
from tests.whole.loss_checks import Case

SAME, NEAR, EXACT = 1e-9, 1e-7, 1e-12
"""Differences of objectives, relative; of probabilities; and of sums of the same numbers, relative."""
LIKELY = 1e-3
"""Conditionals are compared where their condition is at least this likely: below, they hardly lose anything."""


class Points(Case):
    """A case without intervals and pins, mostly without conditionals; weights may differ a lot, and be 0."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = np.random.default_rng([1117, seed])
        self.pins, self.limits = [], []
        spread = rng.choice([0.0, 1.0, 3.0])
        bare = rng.random() < 0.6
        kept = [i for i, row in enumerate(self.rows) if "lower" not in row and not (bare and " given " in row["event"])]
        self.rows = [
            self.rows[i] | {"weight": self.rows[i]["weight"] * 10 ** rng.uniform(-spread, spread)} for i in kept
        ]
        self.terms = [
            (*self.terms[i][:4], row["weight"], self.terms[i][5]) for i, row in zip(kept, self.rows, strict=True)
        ]
        if len(self.rows) > 2 and rng.random() < 0.3:
            self.rows[-1]["weight"] = 0.0
            self.terms.pop()

    @property
    def total(self):
        return sum(row["weight"] for row in self.rows)


def check_table(first, count):
    """Hold so many panels against the references; how many components were solved in the table, and how many not."""
    found = Counter()
    for seed in range(first, first + count):
        found.update(_check(seed))
    return found


def check_shares(first, count):
    """Hold as many panels, solved by the shares of listed worlds, against the table and a conic solver."""
    found = Counter()
    for seed in range(first, first + count):
        with by_shares(found):
            _check(seed)
    return found


@contextmanager
def by_shares(found):
    """Every component, whatever its size, goes by the shares of its worlds; `found` counts what is left to others."""

    def solve(part, objective, budget):
        answer = solve_shares(part, objective, budget)
        found["left" if answer is None else "by shares"] += 1
        return answer

    known, component_solver._by_structure = component_solver._by_structure, solve
    try:
        yield
    finally:
        component_solver._by_structure = known


def _check(seed):
    case = Points(seed)
    if not case.rows:
        return {}
    panel, method = case.panel(), co.Exact(conditionals="linearised" if case.linearised else "called_off")
    problem = pose(settled(panel), find_loss(case.loss), unit_of(panel.weight))
    answers = method.answers(problem, Budget())
    result = co.aggregate(panel, method, case.loss)
    with one_by_one():
        other = co.aggregate(panel, method, case.loss)
    scale = max(result.objective, 1e-3 * case.total)
    assert result.status == other.status == "optimal", seed
    assert abs(result.objective - other.objective) <= SAME * scale, (seed, result.objective, other.objective)
    assert result.lower_bound <= other.objective + EXACT * scale, seed
    share = case.worlds.share(result)
    assert abs(case.value(share) - result.objective) <= 1e-11 * scale, (seed, case.value(share), result.objective)
    best = case.best()
    if best is not None and not np.isnan(best).any():
        least = case.value(best)  # of a mixture of worlds: the least of all is no more
        assert result.lower_bound <= least + EXACT * scale, (seed, result.lower_bound, least)
        assert result.objective <= least + result.gap + EXACT * scale, (seed, result.objective, least)
    _compare_probabilities(seed, case, result, other)
    verified = co.verify(panel, result)
    assert verified, (seed, verified.problems)
    return {"tabled": len(answers) - len(answers.others), "left": len(answers.others)}


def _compare_probabilities(seed, case, result, other):
    """Forecasts that count have one best probability; that of a conditional counts where its condition is likely.

    A gap g of the other answer leaves it an error of at most sqrt(2 g / (weight times curvature)), and no loss bends
    less than 1.
    """
    one, two = case.worlds.share(result), case.worlds.share(other)
    for u, h, target, _, weight, _ in case.terms:
        likely = min(one @ h, two @ h)
        if case.linearised:  # only P(E & H) - t P(H) counts, which many ratios have in common
            apart = abs((one - two) @ (u - target * h))
            assert apart <= NEAR + 2 * np.sqrt(2 * other.gap / weight), (seed, apart)
            continue
        if likely >= LIKELY:
            apart = abs((one @ u) / (one @ h) - (two @ u) / (two @ h))
            assert apart <= NEAR + 2 * np.sqrt(2 * other.gap / (weight * likely)), (seed, apart)
