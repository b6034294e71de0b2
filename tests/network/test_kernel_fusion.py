"""Distributed kernel regression against its published numbers, its limit and the centre."""

import itertools

import numpy as np
import pytest

import coherently as co
from coherently.network import CentralKernel, KernelFusion, LocalKernel

X, Y = np.array([[0.0], [0.5], [1.0]]), np.array([0.0, 1.0, 0.2])
PATH = [[0, 1], [0, 1, 2], [1, 2]]


def field(count, seed):
    """Sensors in a square that measure a smooth field with noise."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 1, (count, 2))
    return places, np.sin(4 * places[:, 0]) * places[:, 1] + rng.normal(0, 0.3, count)


def literal_sweeps(kernel, penalty, neighbours, places, y, sweeps):
    """The algorithm as it is written: functions as lists of centres and coefficients, one list per sensor."""
    z, functions = y.astype(float), [[] for _ in y]
    for _ in range(sweeps):
        for i, near in enumerate(neighbours):
            said = [sum(c * kernel(places[j], x) for x, c in functions[i]) for j in near]
            matrix = np.array([[kernel(places[j], places[k]) for k in near] for j in near])
            change = np.linalg.solve(matrix + penalty[i] * np.eye(len(near)), z[near] - said)
            functions[i] += [(places[j], c) for j, c in zip(near, change, strict=True)]
            z[near] = [sum(c * kernel(places[j], x) for x, c in functions[i]) for j in near]
    return z


def relaxed_optimum(fusion, kernel, places, y, penalty):
    """The limit as the minimum of |z - y|^2 + sum of penalty z' K^-1 z over neighbourhoods, by a linear system."""
    system = np.eye(len(y))
    for near, own in zip(fusion.neighbours_, penalty, strict=True):
        system[np.ix_(near, near)] += own * np.linalg.inv(kernel(places[near], places[near]))
    return np.linalg.solve(system, y)


def test_the_published_check():
    fusion = KernelFusion("gaussian", 0.1, PATH, sweeps=1)
    assert np.abs(fusion.fit(X, Y).field_ - [0.247409, 0.516281, 0.327595]).max() < 1e-6
    assert np.abs(KernelFusion("gaussian", 0.1, PATH).fit(X, Y).field_ - [0.193142, 0.572798, 0.334751]).max() < 1e-6
    assert np.abs(CentralKernel("gaussian", 0.1).fit(X, Y).field_ - [0.180190, 0.673282, 0.352873]).max() < 1e-6


def test_sweeps_are_the_written_algorithm():
    places, y = field(12, 1)
    penalty = np.linspace(0.05, 0.4, 12)
    fusion = KernelFusion(("laplace", 0.5), penalty, 0.4, sweeps=3).fit(places, y)
    literal = literal_sweeps(
        lambda a, b: np.exp(-np.linalg.norm(a - b) / 0.5), penalty, fusion.neighbours_, places, y, 3
    )
    assert np.abs(fusion.field_ - literal).max() < 1e-12


@pytest.mark.parametrize("radius", [0.15, 0.3, 0.6])
def test_the_limit_is_the_relaxed_optimum_and_sweeps_go_there(radius):
    places, y = field(25, 2)
    penalty = np.full(25, 0.5)

    def kernel(one, other):
        return np.exp(-np.linalg.norm(one[:, None] - other, axis=2) / 0.3)

    fusion = KernelFusion(kernel, penalty, radius).fit(places, y)
    assert np.abs(fusion.field_ - relaxed_optimum(fusion, kernel, places, y, penalty)).max() < 1e-8
    swept = [KernelFusion(kernel, penalty, radius, sweeps).fit(places, y) for sweeps in (10, 50, 250)]
    away = [np.abs(one.field_ - fusion.field_).max() for one in swept]
    assert away[0] > away[1] > away[2]
    assert away[2] < 0.1 * away[0]
    inside = fusion.predict(places)
    assert np.abs(inside - fusion.field_).max() < 1e-7
    assert np.abs(swept[2].predict(places) - inside).max() < 1e-2


def test_it_agrees_with_the_centre_as_neighbourhoods_grow():
    """With everybody in everybody's neighbourhood it is the central fit with the sum of the penalties."""
    places, y = field(40, 3)
    central = CentralKernel(("laplace", 0.3), 1.0).fit(places, y)
    away = [
        np.abs(KernelFusion(("laplace", 0.3), 1 / 40, radius).fit(places, y).field_ - central.field_).max()
        for radius in (0.1, 0.3, 0.6, 2.0)
    ]
    assert all(one > other for one, other in itertools.pairwise(away))
    assert away[-1] < 1e-7
    points = np.random.default_rng(0).uniform(0, 1, (30, 2))
    whole = KernelFusion(("laplace", 0.3), 1 / 40, 2.0).fit(places, y)
    assert np.abs(whole.predict(points) - central.predict(points)).max() < 1e-6


def test_each_sensor_has_a_function_and_the_nearest_is_asked():
    places, y = field(20, 4)
    fusion = KernelFusion("gaussian", 0.1, 0.3, sweeps=4).fit(places, y)
    points = np.random.default_rng(1).uniform(0, 1, (50, 2))
    nearest = np.linalg.norm(points[:, None] - places, axis=2).argmin(1)
    each = np.stack([fusion.predict(points, sensor=i) for i in range(20)])
    assert np.abs(fusion.predict(points) - each[nearest, np.arange(50)]).max() < 1e-14
    assert each.std(0).min() > 0


def test_without_neighbours_everybody_is_alone_and_without_sweeps_nothing_happens():
    places, y = field(10, 5)
    assert np.array_equal(KernelFusion("gaussian", 0.1, 0.3, sweeps=0).fit(places, y).field_, y)
    alone = KernelFusion("gaussian", 0.25, 0.0, sweeps=1).fit(places, y)
    assert np.allclose(alone.field_, y / 1.25)
    assert np.allclose(LocalKernel("gaussian", 0.25, 0.0).fit(places, y).field_, y / 1.25)


def test_parameters_are_kept_as_scikit_learn_keeps_them():
    fusion = KernelFusion("gaussian", 0.1, PATH, 3)
    assert fusion.get_params() == {"kernel": "gaussian", "penalty": 0.1, "neighbours": PATH, "sweeps": 3}
    again = KernelFusion(**fusion.get_params()).set_params(sweeps=5)
    assert again.fit(X, Y).sweeps_ == 5
    assert fusion.sweeps == 3
    assert repr(CentralKernel("gaussian", 0.1)) == "CentralKernel(kernel='gaussian', penalty=0.1)"


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: KernelFusion("cubic", 0.1, PATH).fit(X, Y), "unknown kernel 'cubic'"),
        (lambda: KernelFusion(("gaussian", 0.0), 0.1, PATH).fit(X, Y), "width"),
        (lambda: KernelFusion("gaussian", 0.0, PATH).fit(X, Y), "penalty"),
        (lambda: KernelFusion("gaussian", [0.1, 0.1], PATH).fit(X, Y), "penalty"),
        (lambda: CentralKernel("gaussian", [0.1, 0.1, 0.1]).fit(X, Y), "one number"),
        (lambda: KernelFusion("gaussian", 0.1, -1.0).fit(X, Y), "radius"),
        (lambda: KernelFusion("gaussian", 0.1, [[0], [1]]).fit(X, Y), "2 lists; there are 3 sensors"),
        (lambda: KernelFusion("gaussian", 0.1, [[0], [1], [3]]).fit(X, Y), "neighbours of sensor 2"),
        (lambda: KernelFusion("gaussian", 0.1, PATH, sweeps=-1).fit(X, Y), "sweeps is -1"),
        (lambda: KernelFusion("gaussian", 0.1, PATH).fit(X, [0.0, np.nan, 1.0]), "finite"),
        (lambda: KernelFusion("gaussian", 0.1, PATH).fit([0.0, 0.5, 1.0], Y), "one row per point"),
        (lambda: KernelFusion("gaussian", 0.1, PATH).predict(X), "call fit"),
        (lambda: KernelFusion("gaussian", 0.1, PATH).fit(X, Y).predict([[0.0, 1.0]]), "2 columns"),
        (lambda: KernelFusion("gaussian", 0.1, PATH).fit(X, Y).predict(X, sensor=3), "from 0 to 2"),
        (lambda: KernelFusion("gaussian", 0.1, PATH).set_params(width=1), "unknown parameter"),
        (lambda: KernelFusion(lambda _one, _other: np.eye(2), 0.1, PATH).fit(X, Y), "the shape"),
        (lambda: KernelFusion(lambda a, b: -np.exp(-((a - b.T) ** 2)), 0.1, PATH).fit(X, Y), "positive"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(made, says):
    with pytest.raises(co.CoherentlyError, match=says):
        made()
