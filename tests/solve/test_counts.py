"""Counts over many variables: how many are true settles them."""

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

import coherently as co
from coherently.problem import pose
from coherently.solve.worlds import lawful
from coherently.solve.worlds.lawful import core_space
from tests.problem.test_symmetry import draw
from tests.truth import holds

NAMES = [f"v{i}" for i in range(18)]
LITERALS = ", ".join(NAMES)
PANELS = [
    [("J", f"at_least(5; {LITERALS})", 0.3), ("J", f"at_least(9; {LITERALS})", 0.8)],
    [
        ("J", f"exactly(5; {LITERALS})", 0.7),
        ("J", f"exactly(9; {LITERALS})", 0.8),
        ("J", f"at_most(3; {LITERALS})", 0.4),
    ],
    [("J", f"exactly(5; {LITERALS})", 0.7), ("J", f"at_most(9; {LITERALS})", 0.4), ("J", "v0", 0.5)],
]


def truths(panel):
    """The truth vectors of the forecasts: by whether v0 is true, and by how many of the others are."""
    problem = pose(panel)
    order = np.argsort(problem.merged.origin)
    worlds = np.array([[first, *(i < k for i in range(17))] for first in (False, True) for k in range(18)])
    truth = holds(problem.merged, worlds[:, np.argsort(order)])[:, problem.coordinate]
    return np.unique(np.where(problem.complemented, ~truth, truth), axis=0).astype(float)


def least_distance(truth, target):
    """The squared distance of the nearest mixture, by non-negative least squares with a heavy row for the sum."""
    heavy = 1e4
    weight, _ = nnls(np.vstack([truth.T, np.full(len(truth), heavy)]), np.append(target, heavy))
    return np.sum((truth.T @ (weight / weight.sum()) - target) ** 2)


@pytest.mark.parametrize("rows", PANELS)
def test_counts_over_many_variables_are_solved(rows):
    panel = co.Panel.from_records(rows)
    result = co.aggregate(panel, co.Exact())
    truth, target = truths(panel), np.array([p for _, _, p in rows])
    assert result.status == "optimal"
    assert result.objective == pytest.approx(least_distance(truth, target), abs=1e-6)
    assert result.lower_bound >= result.objective - 1e-6
    assert co.verify(panel, result)
    shares = np.array([weight for weight, _ in result.worlds])
    assert shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("rows", PANELS)
def test_a_book_on_counts_wins_in_every_world(rows):
    panel = co.Panel.from_records(rows)
    book = co.dutch_book(panel)
    assert book.sure_profit > 0.01
    for first in (False, True):
        for k in range(18):
            world = {"v0": first, **{name: i < k for i, name in enumerate(NAMES[1:])}}
            assert book.profit(world) >= book.sure_profit - 1e-12
    assert co.check(panel).judges["J"].coherent is False


@pytest.mark.parametrize("rows", PANELS)
def test_bounds_on_counts(rows):
    text = f"at_least(7; {LITERALS})"
    result = co.aggregate(co.Panel.from_records(rows), co.Exact())
    truth = truths(co.Panel.from_records([*rows, ("J", text, 0.5)]))
    x = [result.probability(event) for _, event, _ in rows]
    system = {"A_eq": np.vstack([truth[:, :-1].T, np.ones(len(truth))]), "b_eq": [*x, 1.0], "bounds": (0, None)}
    ends = [sign * linprog(sign * truth[:, -1], **system).fun for sign in (1, -1)]
    assert list(result.bounds(text)) == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_fewer_worlds_give_the_same_answers(seed, monkeypatch):
    rng = np.random.default_rng(100 + seed)
    panels = [co.Panel.from_records(rows, laws=laws) for rows, laws in (draw(rng) for _ in range(25))]
    plain = [co.aggregate(panel, co.Exact()) for panel in panels]
    monkeypatch.setattr(lawful, "FEW_VARIABLES", 0)
    monkeypatch.setattr(lawful, "FEWER", 1)
    assert sum(core_space(pose(panel).merged).reduced for panel in panels) > 5
    for panel, before in zip(panels, plain, strict=True):
        result = co.aggregate(panel, co.Exact())
        assert result.status == "optimal"
        assert result.objective == pytest.approx(before.objective, abs=1e-9)
        assert result.lower_bound == pytest.approx(before.lower_bound, abs=1e-6)
        assert co.verify(panel, result)


@pytest.mark.parametrize("loss", ["log", "spherical"])
def test_counts_under_other_losses(loss):
    few = [("J", "at_least(1; p, q)", 0.3), ("J", "at_least(2; p, q)", 0.8)]  # as nested as those of many variables
    many, same = (co.aggregate(co.Panel.from_records(rows), co.Exact(), loss) for rows in (PANELS[0], few))
    assert many.status == "optimal"
    assert many.objective == pytest.approx(same.objective, abs=1e-6)
    assert many.lower_bound >= many.objective - 1e-6
