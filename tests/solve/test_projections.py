import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coherently import _core
from coherently.events import Events
from tests.solve.reference import distance_from_hull

CONJUNCTIONS = [f"{sign}({a}p & {b}q)" for sign, a, b in itertools.product(["", "~"], repeat=3)]
POWERS = st.floats(-3, 3).map(lambda power: 10.0**power)


def vectors(*events):
    """The truth vectors of events about p and q."""
    table = Events()
    table.add(["p", "q"])
    sides = table.add(events).event
    worlds = np.array(list(itertools.product([False, True], repeat=2)))
    return np.unique(table.evaluate(sides, worlds), axis=0).astype(float)


def projector(rows, weight):
    size = rows.shape[1]
    return _core.GroupProjector(
        np.array([0, size]), np.arange(size, dtype=np.int32), np.zeros(1, np.int32), [rows], np.asarray(weight, float)
    )


def by_rule(rows, weight, y):
    """What a sweep of the paper's algorithm makes of y, which a closed form does where it can."""
    x = np.array(y, float)
    projector(rows, weight).sweep(x)
    return x


def by_hull(rows, weight, y):
    """The general projection, which is that of Dykstra's algorithm from increments of 0."""
    x = np.array(y, float)
    projector(rows, weight).dykstra(x, np.zeros(len(x)))
    return x


@pytest.mark.parametrize(
    ("events", "weight", "y", "expected"),
    [
        (("p", "q", "p & q"), (1, 2, 3), (0.7, 0.2, 0.5), (0.7, 0.38, 0.38)),
        (("p", "q", "p & q"), (1, 2, 3), (0.3, 0.2, 0.9), (0.566667, 0.566667, 0.566667)),
        (("p", "q", "p & q"), (1, 2, 3), (0.9, 0.8, 0.2), (0.627273, 0.663636, 0.290909)),
        (("p", "q", "p & q"), (1, 1, 1), (0.9, 0.8, 0.2), (0.733333, 0.633333, 0.366667)),
        (("p", "q", "p | q"), (1, 1, 1), (0.6, 0.3, 0.4), (0.5, 0.3, 0.5)),
        (("p", "q", "p | q"), (1, 1, 1), (0.1, 0.2, 0.9), (0.3, 0.4, 0.7)),
        (("p", "q", "p & ~q"), (1, 1, 1), (0.5, 0.7, 0.45), (0.5, 0.625, 0.375)),
        (("p", "q", "p | ~q"), (1, 1, 1), (0.5, 0.7, 0.2), (0.35, 0.7, 0.35)),
        (("p", "~p"), (1, 1), (0.7, 0.5), (0.6, 0.4)),
        (("p", "~p"), (1, 3), (0.7, 0.5), (0.55, 0.45)),
    ],
)
@pytest.mark.parametrize("way", [by_rule, by_hull])
def test_worked_examples(events, weight, y, expected, way):
    np.testing.assert_allclose(way(vectors(*events), weight, y), expected, atol=1e-6)


@given(
    st.sampled_from(CONJUNCTIONS),
    arrays(np.float64, 3, elements=POWERS),
    arrays(np.float64, 3, elements=st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))),
)
def test_the_closed_forms_are_the_general_projection(event, weight, y):
    rows = vectors("p", "q", event)
    rounding = (
        1e-12 + 1e-15 * weight.max() / weight
    )  # a coordinate of little weight may move for the sake of the others
    assert (np.abs(by_rule(rows, weight, y) - by_hull(rows, weight, y)) <= rounding).all()
    turned = [2, 0, 1]
    permuted = by_rule(rows[:, turned], weight[turned], y[turned])
    assert (np.abs(by_rule(rows, weight, y)[turned] - permuted) <= rounding[turned]).all()


@st.composite
def bodies(draw, least_weight=0.0):
    """Distinct 0/1 points with weights over six orders of magnitude, or 0."""
    count, size = draw(st.integers(1, 16)), draw(st.integers(1, 6))
    rows = np.unique(draw(arrays(np.bool_, (count, size))), axis=0).astype(float)
    some = POWERS if least_weight else st.one_of(POWERS, st.just(0.0))
    return rows, draw(arrays(np.float64, size, elements=some))


def reals(size):
    return arrays(np.float64, size, elements=st.one_of(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]), st.floats(-3, 4)))


@given(bodies(), st.data())
def test_the_general_projection_is_the_nearest_point(body, data):
    rows, weight = body
    y = data.draw(reals(len(weight)))
    x = by_hull(rows, weight, y)
    scale = np.max((rows - y) ** 2 @ weight)
    assert np.max((rows - x) @ (weight * (y - x))) <= 1e-10 * scale
    assert distance_from_hull(rows, x) <= 1e-9


@given(bodies(), st.data())
def test_projecting_twice_is_projecting_once(body, data):
    rows, weight = body
    once = by_hull(rows, weight, data.draw(reals(len(weight))))
    again = by_hull(rows, weight, once)
    np.testing.assert_allclose(np.sqrt(weight) * again, np.sqrt(weight) * once, rtol=0, atol=1e-7 * weight.max() ** 0.5)


@given(bodies(), st.data())
def test_projections_come_no_further_apart(body, data):
    rows, weight = body
    y, z = data.draw(reals(len(weight))), data.draw(reals(len(weight)))
    apart = np.sqrt(weight @ (by_hull(rows, weight, y) - by_hull(rows, weight, z)) ** 2)
    scale = np.sqrt(max(np.max((rows - y) ** 2 @ weight), np.max((rows - z) ** 2 @ weight)))
    assert apart <= np.sqrt(weight @ (y - z) ** 2) + 2e-7 * scale


@given(bodies(least_weight=1e-3), st.data())
def test_coherent_points_stay(body, data):
    rows, weight = body
    share = data.draw(arrays(np.float64, len(rows), elements=st.one_of(st.just(0.0), st.floats(0.01, 1))))
    share = share / share.sum() if share.any() else np.eye(len(rows))[0]
    y = share @ rows
    for way in (by_rule, by_hull):
        x = way(rows, weight, y)
        assert weight @ (x - y) ** 2 <= 1e-12 * weight.max()


@given(bodies(), st.data())
def test_a_sweep_tells_how_far_it_moved(body, data):
    rows, weight = body
    y = data.draw(arrays(np.float64, len(weight), elements=st.floats(0, 1)))
    found, x = projector(rows, weight), y.copy()
    moved = found.sweep(x)
    assert moved == pytest.approx(weight @ (x - y) ** 2, rel=1e-12, abs=1e-300)
    unweighted = by_hull(rows, np.ones(len(weight)), y)
    assert found.violation(y) == pytest.approx(np.abs(unweighted - y).max(), abs=1e-15)


def test_dykstra_keeps_what_it_took_away():
    rows, weight, y = vectors("p", "q", "p & q"), np.array([1.0, 2.0, 3.0]), np.array([0.9, 0.8, 0.2])
    found, x, increments = projector(rows, weight), y.copy(), np.zeros(3)
    found.dykstra(x, increments)
    np.testing.assert_allclose(x + increments, y, atol=1e-15)
    found.dykstra(x, increments)
    np.testing.assert_allclose(x + increments, y, atol=1e-15)
    np.testing.assert_allclose(x, by_hull(rows, weight, y), atol=1e-15)


def test_groups_are_projected_in_their_order():
    rows = vectors("p", "q", "p & q")
    weight, y = np.ones(4), np.array([0.2, 0.3, 0.9, 0.8])
    x = y.copy()
    starts, members = np.array([0, 3, 6]), np.array([0, 1, 2, 0, 1, 3], np.int32)
    _core.GroupProjector(starts, members, np.zeros(2, np.int32), [rows], weight).sweep(x)
    first = by_rule(rows, np.ones(3), y[:3])
    second = by_rule(rows, np.ones(3), [first[0], first[1], y[3]])
    np.testing.assert_allclose(x, [second[0], second[1], first[2], second[2]], atol=1e-15)


@pytest.mark.parametrize(
    ("starts", "members", "pattern", "error"),
    [
        ([0, 2], [0, 1, 2], [0], ValueError),
        ([0, 2], [0, 1], [0], ValueError),
        ([0, 3], [0, 1, 3], [0], IndexError),
        ([0, 3], [0, 1, -1], [0], IndexError),
        ([0, 3], [0, 1, 2], [1], IndexError),
        ([0, 3], [0, 1, 2], [0, 0], ValueError),
    ],
)
def test_impossible_groups_are_refused(starts, members, pattern, error):
    rows = vectors("p", "q", "p & q")
    with pytest.raises(error):
        _core.GroupProjector(
            np.array(starts), np.array(members, np.int32), np.array(pattern, np.int32), [rows], np.ones(3)
        )


def test_arrays_of_the_wrong_length_are_refused():
    found = projector(vectors("p", "q", "p & q"), np.ones(3))
    with pytest.raises(ValueError, match="wrong length"):
        found.sweep(np.zeros(2))
    with pytest.raises(ValueError, match="wrong length"):
        found.dykstra(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="wrong length"):
        found.violation(np.zeros(4))
