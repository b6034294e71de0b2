import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.solve.relaxed.face import land
from coherently.solve.relaxed.interior import interior_point
from coherently.solve.relaxed.lifted import Point, bowl_of_squares, lift
from tests.solve.test_bound import WEIGHTS, draw, grouped

AND = np.array([[0.0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
TARGET, EXPECTED = np.array([0.9, 0.8, 0.2]), np.array([11 / 15, 19 / 30, 11 / 30])
MIXTURE, SLACK = np.array([0.0, 4 / 15, 11 / 30, 11 / 30]), np.array([1 / 3, 0, 0, 0])


def check_optimal(problem, point):
    """The conditions of Karush, Kuhn and Tucker."""
    for residual in problem.residuals(point):
        np.testing.assert_allclose(residual, 0.0, atol=1e-11)
    assert point.mixture.min() >= -1e-12
    assert point.slack.min() >= -1e-12
    np.testing.assert_array_equal(point.mixture * point.slack, 0.0)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("extra", [0.0, 0.5])
def test_lands_from_nearby_and_drops_a_vertex_that_is_wrong(noise, extra):
    problem = lift(bowl_of_squares(np.ones(3), TARGET), grouped(AND, [[0, 1, 2]]))
    rng = np.random.default_rng(0)
    mixture = np.maximum(MIXTURE + [extra, 0, 0, 0] + noise * rng.normal(size=4), 0.0)
    near = Point(
        x=EXPECTED,
        forces=2 * (EXPECTED - TARGET) + noise * rng.normal(size=3),
        mixture=mixture,
        slack=SLACK,
        level=np.array([1 / 3]),
    )
    landed = land(problem, near)
    check_optimal(problem, landed)
    np.testing.assert_allclose(landed.x, EXPECTED, rtol=0, atol=1e-14)
    np.testing.assert_allclose(landed.mixture, MIXTURE, rtol=0, atol=1e-12)
    np.testing.assert_allclose(landed.slack, SLACK, rtol=0, atol=1e-12)


def test_a_vertex_whose_slack_turns_negative_is_taken_in():
    problem = lift(bowl_of_squares(np.ones(3), TARGET), grouped(AND, [[0, 1, 2]]))
    landed = land(
        problem,
        Point(x=TARGET, forces=np.zeros(3), mixture=np.array([0.0, 0, 0.5, 0.5]), slack=np.ones(4), level=np.zeros(1)),
    )
    check_optimal(problem, landed)
    np.testing.assert_allclose(landed.x, EXPECTED, rtol=0, atol=1e-14)


@given(st.integers(0, 10**6), st.sampled_from(sorted(WEIGHTS)))
def test_where_it_lands_is_the_optimum_wherever_it_began(seed, weights):
    weight, target, groups, _ = draw(seed, weights, n_groups=3, width=3)
    scale = weight.max() or 1.0
    problem = lift(bowl_of_squares(weight / scale, np.where(weight > 0, target, 0.5)), groups)
    rng = np.random.default_rng(seed)
    mixture, slack = rng.random((2, len(problem.width)))
    forces, level = rng.normal(size=len(groups.members)), rng.normal(size=len(groups))
    landed = land(problem, Point(x=rng.random(len(weight)), forces=forces, mixture=mixture, slack=slack, level=level))
    if landed is None:
        return
    check_optimal(problem, landed)
    x = problem.feasible(landed)[0]
    answer = interior_point(weight, target, groups)
    assert np.sum(weight * (x - answer.x) ** 2) <= 1e-14 * scale
