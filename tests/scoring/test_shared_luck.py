"""Clusters that teach each other share their luck: what that adds to intervals, against enumeration and loops."""

from itertools import product

import numpy as np
import pytest

from coherently.scoring.intervals import Retaught, Tally, Units, variation
from coherently.scoring.scoring_rules import RULES
from coherently.scoring.tuning.learned_recipe import FoldOptions, Kitchen, out_of_fold, retaught
from coherently.solve import Budget
from tests.scoring.gain_checks import SETTINGS, drawn
from tests.scoring.test_event_clusters import shocked, state
from tests.scoring.test_jackknife import tally

CLUSTERS, FOLDS = 8, 4
FOLD = np.arange(CLUSTERS) % FOLDS


def taught_by(outcome, boldness, *left_out):
    """A learner: for each cluster 0.5, and as much more as outcomes of other folds than these are above a half."""
    found = np.full(CLUSTERS, 0.5)
    for k in range(FOLDS):
        teaches = ~np.isin(FOLD, [k, *left_out])
        found[k == FOLD] += boldness * (outcome[teaches].mean() - 0.5)
    return found


def retaught_by(outcome, boldness):
    values = []
    for i in range(FOLDS - 1):
        one = np.empty(CLUSTERS)
        for k in range(FOLDS):
            teachers = [j for j in range(FOLDS) if j != k]
            one[k == FOLD] = taught_by(outcome, boldness, teachers[i])[k == FOLD]
        values.append([one])
    return Retaught(np.array(values), (1,), np.arange(CLUSTERS), factor=(FOLDS - 2) / (FOLDS - 1))


@pytest.mark.parametrize("boldness", [0.2, 0.8])
def test_the_variance_is_that_of_all_outcomes(boldness):
    """Fair coins, a guess of a half against one that learned: the mean estimate of the variance is the true one."""
    units = Units(np.arange(CLUSTERS + 1), np.arange(CLUSTERS), CLUSTERS)
    judge, event, contrast = np.zeros(CLUSTERS, np.int64), np.arange(CLUSTERS), np.array([1.0, -1.0])
    apart, given, both = [], [], []
    for outcome in np.array(list(product([0.0, 1.0], repeat=CLUSTERS))):
        learned = taught_by(outcome, boldness)
        forecast = np.stack([np.full(CLUSTERS, 0.5), learned])
        told = Tally.of(forecast, outcome, judge, event, 1, 1e-4)
        found = variation(told, units)
        expected = np.mean(0.25 - (np.square(learned - 0.5) + 0.25))
        apart.append(np.mean(0.25 - np.square(learned - outcome)) - expected)
        given.append(found.variances(contrast)[1][0])
        more = retaught_by(outcome, boldness).covariances(told, outcome, event, 1e-4)
        both.append(given[-1] + more[0, 1, 1])
        capped = type(found)(**{name: getattr(found, name) for name in found.__slots__} | {"taught": more})
        assert capped.variances(contrast)[1][0] == pytest.approx(given[-1] + min(given[-1], more[0, 1, 1]))
    assert np.mean(apart) == pytest.approx(0.0, abs=1e-12)
    true = np.var(apart)
    assert np.mean(given) < 0.75 * true  # what a jackknife of given aggregates misses
    assert true < np.mean(both) < 1.35 * true


def test_covariances_are_those_of_loops():
    rng = np.random.default_rng(4)
    judge, event = np.repeat(np.arange(4), 9), np.concatenate([rng.permutation(12)[:9] for _ in range(4)])
    outcome, group = np.arange(12) % 2, np.arange(12) // 3
    values = rng.uniform(0.1, 0.9, (3, 2, 12))
    told = tally(rng.uniform(size=(4, 36)), outcome[event], judge, event)
    found = Retaught(values, (1, 3), group, factor=0.6).covariances(told, outcome[event].astype(float), event, 1e-4)
    for rule, matrix in zip(RULES, found, strict=True):
        moves = np.zeros((3, 2, 4))
        for i, row, g in np.ndindex(moves.shape):
            for j in range(4):
                own = judge == j
                parts = rule.means(values[i, row, event[own]], outcome[event[own]].astype(float), 1e-4)
                moves[i, row, g] += sum(p.values[group[event[own]] == g].sum() / p.counts.sum() for p in parts) / 4
        moves -= moves.mean(axis=0)
        expected = np.zeros((4, 4))
        for a, b in product(range(2), repeat=2):
            expected[[1, 3][a], [1, 3][b]] = 0.6 * np.sum(moves[:, a] * moves[:, b])
        np.testing.assert_allclose(matrix, expected, atol=1e-15)


def kitchen_of(panel, over="components", cluster=state):
    return Kitchen.of(panel, FoldOptions(over, cluster), 60.0, Budget())


def test_a_fold_is_left_out_of_what_is_taught_and_of_what_is_compared():
    panel, _ = drawn(SETTINGS[3], np.random.default_rng(3))
    kitchen = kitchen_of(panel)
    learned = out_of_fold(kitchen)
    found = retaught(kitchen, learned, (4, 5))
    of_event = kitchen.blocks.fold_of_events(len(learned[0]))
    assert found.values.shape == (4, 2, len(learned[0]))
    assert found.factor == 3 / 4
    for k in kitchen.blocks.folds:
        for i, j in enumerate(kitchen.blocks.teachers(k)):
            rest = tuple(other for other in kitchen.blocks.folds if other not in (k, j))
            recipe = kitchen.blend(kitchen.shares(kitchen.blocks.teachers(k), without=j), rest)
            own = of_event == k
            np.testing.assert_allclose(found.values[i, 0, own], kitchen.numbers(recipe)[own], atol=1e-12)
    assert np.ptp(found.values[:, 1], axis=0).max() > 0


def test_shares_without_a_fold_know_nothing_of_its_scores():
    panel, _ = drawn(SETTINGS[3], np.random.default_rng(3))
    kitchen = kitchen_of(panel)
    teachers = kitchen.blocks.teachers(0)
    every, without = kitchen.shares(teachers), kitchen.shares(teachers, without=teachers[0])
    for key in kitchen.losses:
        if key[2] == teachers[0]:
            kitchen.losses[key] = kitchen.losses[key] - 1.0
    np.testing.assert_array_equal(kitchen.shares(teachers, without=teachers[0]), without)
    assert np.any(kitchen.shares(teachers) != every)


def test_nothing_is_added_where_nobody_teaches_back():
    kitchen = kitchen_of(shocked(times=True), over="time", cluster=None)
    assert retaught(kitchen, out_of_fold(kitchen), (0, 1)) is None


def test_of_two_folds_all_that_was_learned_is_luck():
    kitchen = kitchen_of(shocked(states=2, seed=1))
    whole, bare = out_of_fold(kitchen)
    found = retaught(kitchen, (whole, bare), (0, 1))
    default = kitchen.value(kitchen.default())
    np.testing.assert_array_equal(found.values[:, 1], [whole, default])
    assert found.factor * np.sum(np.square(found.values[:, 1] - found.values[:, 1].mean(axis=0))) == pytest.approx(
        np.sum(np.square(whole - default))
    )
