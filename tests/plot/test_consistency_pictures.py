"""The numbers on the axes are those of the scores."""

import matplotlib as mpl
import numpy as np
import pytest

import coherently as co

mpl.use("Agg")


@pytest.fixture(scope="module")
def panel():
    return co.simulate(judges=5, variables=30, basic=20, compound=15, seed=2)


@pytest.fixture(scope="module")
def scores(panel):
    return co.consistency(panel)


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def offsets(ax, place):
    return np.asarray(ax.collections[place].get_offsets())


def test_the_leaderboard_shows_scores_and_ranks(scores):
    board = scores.leaderboard()
    ax = co.plot.leaderboard(board)
    np.testing.assert_allclose(offsets(ax, 1)[:, 0], board.value)
    ranks = board.columns()["rank"]
    names = [f"{rank}  {name}" for rank, name in zip(ranks, board.judges, strict=True)]
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    assert len(co.plot.leaderboard(board, count=2).get_yticklabels()) == 2


def test_the_heat_map_has_the_means_of_checks(scores):
    ax = co.plot.checks(scores, "frequentist")
    columns, cells = scores.check_columns(), ax.images[0].get_array()
    checks = [label.get_text() for label in ax.get_xticklabels()]
    for judge, check, value in zip(columns["judge"], columns["check"], columns["frequentist"], strict=True):
        np.testing.assert_allclose(cells[scores.judges.index(judge), checks.index(check)], value)
    with pytest.raises(co.CoherentlyError, match="unknown score 'joint'"):
        co.plot.checks(scores, "joint")


def test_joint_scores_are_on_or_above_the_line(scores):
    points = offsets(co.plot.joint(scores), 1)
    np.testing.assert_allclose(points, np.column_stack([scores.by_checks, scores.joint]) / scores.answers[:, None])
    assert (points[:, 1] >= points[:, 0] - 1e-9).all()
    with pytest.raises(co.MethodError, match="not asked for"):
        co.plot.joint(co.consistency([("Ann", "Neg", {"P": 0.6, "not_P": 0.6})], joint=False))


def test_accuracy_and_repairs_pair_the_same_judges(scores, panel):
    before, after = co.score(panel), co.score(co.individual(panel))
    points = offsets(co.plot.accuracy(scores, before), 0)
    np.testing.assert_allclose(points[:, 1], [before.brier[before.judges.index(name)] for name in scores.judges])
    ax = co.plot.repairs(before, after)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(names) == sorted(panel.judges)
    for place, found in ((1, before), (2, after)):
        expected = [found.brier[found.judges.index(name)] for name in names]
        np.testing.assert_allclose(offsets(ax, place)[:, 0], expected)
    other = co.score(co.simulate(judges=2, variables=5, basic=5, compound=2, seed=0))
    with pytest.raises(co.MethodError, match="of the same judges"):
        co.plot.repairs(before, other)


def test_the_stream_shows_its_alarm():
    watched = co.monitor([0.01] * 10 + [0.3] * 20, tolerance=0.05)
    ax = co.plot.monitor(watched)
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["tolerance"].get_ydata()[0] == 0.05
    assert lines[f"alarm at {watched.alarm}"].get_xdata()[0] == int(watched.alarm)
