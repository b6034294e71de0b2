"""A single event of one variable is answered at once, as column generation would."""

import numpy as np
import pytest

import coherently as co
from coherently.problem import BRIER, pose, split
from coherently.solve import Budget
from coherently.solve.component import component_solver
from coherently.solve.component.answer import Ended
from coherently.solve.component.objective import goal_of
from coherently.solve.facts import Proof, Route


def component(rows, laws=()):
    (part,) = split(pose(co.Panel.from_records(rows, laws=list(laws))).merged)
    return part.merged


@pytest.mark.parametrize("p", [0.0, 1.0, 0.5, 0.3, 1e-12, 1 - 1e-12, 0.1 + 0.2])
@pytest.mark.parametrize("text", ["rain", "~rain"])
def test_the_forecast_of_a_single_event_stands_exactly(p, text):
    part = component([("A", text, p), ("B", text, p)])
    quick = component_solver.solve_component(part, goal_of(part, BRIER), Budget())
    slow = component_solver._by_columns(part, Budget(), None, 0)
    assert quick.x == part.mean
    np.testing.assert_allclose(slow.x, quick.x, rtol=0, atol=1e-12)
    assert quick.share @ part.functions.hold(quick.worlds) == pytest.approx(part.mean, abs=1e-15)
    assert quick.share.sum() == pytest.approx(1.0, abs=1e-15)
    assert (quick.share > 0).all()
    assert (quick.objective, quick.bound, quick.shortfall) == (0.0, 0.0, 0.0)
    assert (quick.route, quick.proof, quick.ended) == (Route.ENUMERATION, Proof.ALL_WORLDS, Ended.PROVED)
    assert (slow.route, slow.proof, slow.ended) == (quick.route, quick.proof, quick.ended)


@pytest.mark.parametrize(
    ("rows", "laws"),
    [
        ([("A", "p & q", 0.3)], []),
        ([("A", "p", 0.3), ("A", "p & q", 0.4)], []),
        ([("A", "p", 0.3)], ["p"]),
        ([("A", "p", 0.3)], ["P(p) >= 0.6"]),
        ([("A", "x = a", 0.3)], ["variable x: a, b"]),
    ],
)
def test_what_is_not_alone_is_solved_as_ever(rows, laws):
    panel = co.Panel.from_records(rows, laws=laws)
    for part in split(pose(panel).merged):
        if len(part.merged.terms) or not part.merged.space.is_free or part.merged.n_variables > 1:
            assert component_solver._alone(part.merged, goal_of(part.merged, BRIER)) is None
    result = co.aggregate(panel, co.Exact())
    assert result.status == "optimal"
    assert co.verify(panel, result)


def test_other_losses_do_not_take_the_short_way():
    part = component([("A", "rain", 0.3)])
    assert component_solver._alone(part, goal_of(part, co.Log())) is None


def test_many_single_events_make_one_verified_result():
    panel = co.Panel.from_records([("A", f"e{i}", i / 40) for i in range(41)])
    result = co.aggregate(panel, co.Exact())
    assert [result.probability(f"e{i}") for i in range(41)] == [i / 40 for i in range(41)]
    assert co.verify(panel, result)
    assert result.gap == 0
