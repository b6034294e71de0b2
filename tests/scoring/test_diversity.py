import numpy as np
import pytest
from scipy.special import expit

import coherently as co


def panel_of(odds, outcome, *, texts=None):
    """One judge per row of log-odds, one event per column; NaN is no forecast."""
    texts = texts or [[f"v{i}" for i in range(odds.shape[1])]] * len(odds)
    rows = [(f"j{j}", texts[j][i], float(expit(odds[j, i]))) for j, i in zip(*np.nonzero(~np.isnan(odds)), strict=True)]
    return co.Panel.from_records(rows, outcomes={f"v{i}": int(o) for i, o in enumerate(outcome)})


def judges_with(correlation, judges=12, events=1500, seed=0):
    rng = np.random.default_rng(seed)
    outcome = rng.integers(0, 2, events)
    common, own = rng.normal(size=(1, events)), rng.normal(size=(judges, events))
    errors = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    return np.where(outcome, 0.8, -0.5) + errors, outcome


@pytest.mark.parametrize("correlation", [0.0, 0.25, 0.7])
def test_the_correlation_of_errors_is_found_again(correlation):
    found = co.diversity(panel_of(*judges_with(correlation)))
    assert (found.judges, found.events) == (12, 1500)
    assert found.correlation == pytest.approx(correlation, abs=0.04)
    assert found.variance == pytest.approx(1, abs=0.05)
    expected = 12 / (1 + 11 * max(found.correlation, 0))
    assert found.effective == pytest.approx(expected)
    assert found.sentence.startswith(f"12 judges count as about {expected:.1f} independent ones")


def test_covariances_are_means_over_pairs():
    odds, outcome = judges_with(0.5, judges=3, events=30)
    odds[0, ::3] = np.nan
    errors = np.full_like(odds, np.nan)
    for j in range(3):
        for kind in (0, 1):
            there = ~np.isnan(odds[j]) & (outcome == kind)
            n = there.sum()
            errors[j, there] = (odds[j, there] - odds[j, there].mean()) * np.sqrt(n / (n - 1))
    pairs = [errors[j] * errors[k] for j, k in ((0, 1), (0, 2), (1, 2))]
    found = co.diversity(panel_of(odds, outcome))
    assert found.covariance == pytest.approx(np.nanmean(pairs))
    assert found.variance == pytest.approx(np.nanmean(errors**2))


def test_an_event_and_its_complement_are_one_event():
    odds, outcome = judges_with(0.5, judges=2, events=40)
    as_asked = co.diversity(panel_of(odds, outcome))
    turned = np.array([odds[0], -odds[1]])
    texts = [[f"v{i}" for i in range(40)], [f"~v{i}" for i in range(40)]]
    found = co.diversity(panel_of(turned, outcome, texts=texts))
    assert (found.judges, found.events) == (2, 40)
    assert found.variance == pytest.approx(as_asked.variance)
    assert found.covariance == pytest.approx(as_asked.covariance)


def test_equal_judges_count_as_one_and_opposed_ones_as_themselves():
    odds, outcome = judges_with(0.0, judges=1, events=40)
    alike = co.diversity(panel_of(np.repeat(odds, 5, axis=0), outcome))
    assert alike.effective == pytest.approx(1)
    errors = odds - np.where(outcome, 0.8, -0.5)
    opposed = co.diversity(panel_of(np.concatenate([odds, odds - 2 * errors]), outcome))
    assert opposed.correlation < 0
    assert opposed.effective == 2


def test_too_little_overlap_shows_nothing():
    odds, outcome = judges_with(0.3, judges=3, events=30)
    assert co.diversity(panel_of(odds, outcome)) is not None
    assert co.diversity(panel_of(odds[:1], outcome)) is None
    assert co.diversity(panel_of(odds[:, :19], outcome[:19])) is None
    apart = np.full_like(odds, np.nan)
    for j in range(3):
        apart[j, j::3] = odds[j, j::3]
    assert co.diversity(panel_of(apart, outcome)) is None
    unresolved = co.Panel.from_records([("A", "p", 0.5), ("B", "p", 0.4)])
    assert co.diversity(unresolved) is None
    tied = [f"v{i} -> v{i + 1}" for i in range(25)]
    rows = [(f"j{j}", f"v{i}", float(expit(odds[j, i]))) for j in range(3) for i in range(30)]
    assert co.diversity(co.Panel.from_records(rows, laws=tied, outcomes=dict.fromkeys("v", 1) | {
        f"v{i}": int(i > 12) for i in range(30)})) is None  # fmt: skip
