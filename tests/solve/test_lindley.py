"""Lindley, Tversky and Brown against weighted means, the exact method and another solver."""

import math
import time
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import coherently as co
from coherently.solve.budget import Budget
from coherently.solve.component.metric import Metric, NearestByMetric
from coherently.solve.methods import lindley
from coherently.solve.worlds.oracle import Oracle
from tests.panels import TABLE_2
from tests.solve.reference import panels, truth

TWO = [("Ann", "p", 0.2), ("Bob", "p", 0.8)]


def logit(p):
    p = np.clip(p, 1e-4, 1 - 1e-4)
    return np.log(p) - np.log1p(-p)


def covariances(seed, size):
    """A random covariance that is well conditioned."""
    random = np.random.default_rng(seed)
    factor = random.normal(size=(size, size))
    return factor @ factor.T / size + 0.2 * np.diag(random.uniform(0.5, 2, size))


def by_cvxpy(panel, report, precision, told):
    """The least quadratic form of the events' truth in all worlds, and where it is."""
    corners = truth(panel, panel.written.event)[:, told]
    mixture = cp.Variable(len(corners), nonneg=True)
    apart = np.linalg.cholesky(precision).T @ (corners.T @ mixture - report)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(apart)), [cp.sum(mixture) == 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return problem.value, corners.T @ mixture.value


@given(panels("some zero"))
def test_errors_of_one_variance_give_the_exact_method(panel):
    plain, exact = co.aggregate(panel, co.Lindley()), co.aggregate(panel, "exact")
    np.testing.assert_allclose(plain.solution.value, exact.solution.value, atol=1e-9)
    assert plain.objective == pytest.approx(exact.objective)
    assert (plain.status, plain.coherence, plain.lower_bound) == ("converged", "global", None)
    assert co.verify(panel, plain), co.verify(panel, plain).problems


@given(panels(), st.floats(0.1, 10), st.floats(0.1, 10))
def test_variances_of_judges_are_weights(panel, one, other):
    variance = dict(zip("AB", (one, other), strict=True))
    result = co.aggregate(panel, co.Lindley(variance))
    weighted = co.aggregate(panel, "exact", weights={name: 1 / value for name, value in variance.items()})
    np.testing.assert_allclose(result.solution.value, weighted.solution.value, atol=1e-6)


def test_two_reports_of_one_event_give_the_precision_weighted_mean():
    panel = co.Panel.from_records(TWO)
    mean = (0.2 / 1 + 0.8 / 3) / (1 / 1 + 1 / 3)
    assert co.aggregate(panel, co.Lindley({"Ann": 1, "Bob": 3})).probability("p") == pytest.approx(mean)
    odds = (logit(0.2) / 1 + logit(0.8) / 3) / (1 / 1 + 1 / 3)
    by_odds = co.aggregate(panel, co.Lindley({"Ann": 1, "Bob": 3}, scale="log-odds"))
    assert by_odds.probability("p") == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-7)


@pytest.mark.parametrize("shape", ["array", "mapping", "frame", "labelled frame", "file"])
def test_correlated_judges_give_the_generalised_least_squares_mean(shape, tmp_path):
    matrix = np.array([[1.0, 0.9, 0.1], [0.9, 2.0, 0.3], [0.1, 0.3, 1.5]])
    names = ["Ann", "Bob", "Cid"]
    frame = pd.DataFrame(matrix, columns=names)
    turned = pd.DataFrame(matrix[::-1, ::-1], columns=names[::-1])
    labelled = turned.assign(judge=names[::-1])[["judge", *names[::-1]]]
    labelled.to_csv(tmp_path / "covariance.csv", index=False)
    given_as = {
        "array": matrix,
        "mapping": {a: {b: matrix[i, j] for j, b in enumerate(names) if j >= i} for i, a in enumerate(names)},
        "frame": frame,
        "labelled frame": labelled,
        "file": tmp_path / "covariance.csv",
    }[shape]
    panel = co.Panel.from_records(
        [*TWO, ("Cid", "p", 0.4), ("Bob", "q", 0.3), ("Cid", "~q", 0.5), ("Bob", "p & q", 0.1)]
    )
    result = co.aggregate(panel, co.Lindley(given_as))
    share = np.linalg.solve(matrix, np.ones(3))
    assert result.probability("p") == pytest.approx(share @ [0.2, 0.8, 0.4] / share.sum(), abs=1e-7)
    assert result.probability("q") == pytest.approx((0.3 / 2 + 0.5 / 1.5) / (1 / 2 + 1 / 1.5), abs=1e-7)
    assert co.verify(panel, result), co.verify(panel, result).problems


def test_repeats_and_weights_divide_variances():
    rows = [("Ann", "p", 0.2, 1.0), ("Ann", "p", 0.5, 2.0), ("Bob", "p", 0.8, 4.0), ("Cid", "p", 0.9, 0.0)]
    full = co.Lindley([[1.0, 1e-14, 0.0], [1e-14, 2.0, 0.0], [0.0, 0.0, 1.0]])
    expected = (0.2 + 2 * 0.5 + 4 / 2 * 0.8) / (1 + 2 + 4 / 2)
    for method in (full, co.Lindley({"Ann": 1.0, "Bob": 2.0, "Cid": 1.0, "Dora": 9.0})):
        assert co.aggregate(co.Panel.from_records(rows), method).probability("p") == pytest.approx(expected)


@settings(max_examples=60)
@given(panels("some zero", n_variables=4, max_size=10), st.integers(0, 2**32))
def test_a_full_covariance_of_events_is_solved_as_by_another_solver(panel, seed):
    matrix = covariances(seed, len(panel.written))
    result = co.aggregate(panel, co.Lindley(matrix, over="events"))
    told = np.flatnonzero(result.problem.weight > 0)
    if not len(told):
        return
    precision = np.linalg.inv(matrix[np.ix_(told, told)])
    report = result.problem.mean[told]
    least, x = by_cvxpy(panel, report, precision, told)
    apart = result.solution.value[told] - report
    found = float(apart @ precision @ apart)
    assert found == pytest.approx(least, abs=1e-8, rel=1e-7)
    np.testing.assert_allclose(result.solution.value[told], x, atol=2e-4)
    assert (result.status, result.coherence) == ("converged", "global")
    checked = co.verify(panel, result)
    assert checked, checked.problems
    if len(result.components) == 1 and result.components[0].route.startswith("Wolfe"):
        own = result.components[0]
        scatter = found - own.objective
        assert own.lower_bound <= least - scatter + 1e-8 * max(1.0, least)
        assert own.objective - own.lower_bound <= 1e-9 * max(1.0, own.objective)


@pytest.mark.parametrize("seconds", [0.0, math.inf])
def test_the_bound_holds_however_early_the_work_ends(seconds):
    """The least squared distance is 0.02: q and q & r must agree, and p goes with q."""
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q", 0.3), ("A", "q & r", 0.5)])
    merged = co.aggregate(panel, "linear").problem.merged
    precision = np.linalg.inv([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    search = NearestByMetric(merged, Oracle(merged))
    found = search.solve(Metric.of(np.arange(3), merged.mean, precision), Budget(deadline=time.monotonic() + seconds))
    assert found.bound <= 0.02 + 1e-15
    assert found.objective >= 0.02 - 1e-15
    assert (found.objective - found.bound <= 1e-9) == (seconds > 0)


def test_correlation_moves_events_that_nobody_doubts():
    """p is coherent and alone, but its error goes with that of q, which must move."""
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q", 0.3), ("A", "q & r", 0.5)])
    matrix = pd.DataFrame([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], columns=["p", "q", "q & r"])
    result = co.aggregate(panel, co.Lindley(matrix, over="events"))
    np.testing.assert_allclose(result.solution.value, [0.55, 0.4, 0.4], atol=1e-7)
    assert result.note.startswith(
        "By the inverse covariance of the errors, the squared distance from the reports is 0.02"
    )


def test_a_bound_is_proved_where_worlds_cannot_be_enumerated():
    panel = co.simulate(judges=8, variables=24, seed=3)
    size = len(panel.written)
    matrix = np.full((size, size), 0.3) + 0.7 * np.eye(size)
    result = co.aggregate(panel, co.Lindley(matrix, over="events", time_limit=20, tolerance=1e-3))
    own = result.components[0]
    assert 0 < own.lower_bound <= own.objective
    assert (result.status == "converged") == (own.objective - own.lower_bound <= 1e-3 * max(1.0, own.objective))
    assert co.verify(panel, result), co.verify(panel, result).problems


@pytest.mark.parametrize("scale", ["probability", "log-odds"])
@pytest.mark.parametrize("texts", [("p", "~p"), ("~p", "p")])
def test_both_sides_have_a_prior(texts, scale):
    rows = [("A", text, 0.5) for text in texts]
    result = co.aggregate(co.Panel.from_records(rows), co.Lindley(prior=0.2, prior_variance=0.01, scale=scale))
    assert result.probability("p") == pytest.approx(0.5, abs=1e-6)


def test_priors_of_both_sides_are_two_reports():
    panel = co.Panel.from_records([("A", "p", 0.4), ("B", "~p", 0.3)])
    result = co.aggregate(panel, co.Lindley({"A": 1.0, "B": 2.0}, prior={"p": 0.1, "~p": 0.7}, prior_variance=0.5))
    assert result.probability("p") == pytest.approx((0.4 + 0.7 / 2 + 0.1 / 0.5 + 0.3 / 0.5) / (1 + 1 / 2 + 2 / 0.5))


def test_a_prior_is_one_more_report():
    panel = co.Panel.from_records([("A", "~p", 0.8), ("A", "q", 0.4)])
    result = co.aggregate(panel, co.Lindley({"A": 1.0}, prior=0.5, prior_variance=2.0))
    np.testing.assert_allclose(result.solution.value, [(0.8 + 0.5 / 2) / 1.5, (0.4 + 0.5 / 2) / 1.5])
    named = co.aggregate(panel, co.Lindley(np.array([[1, 0.1], [0.1, 1]]), over="events", prior={"~p": 0.2}))
    precision = np.linalg.inv([[1, 0.1], [0.1, 1]])
    right = precision @ [0.8, 0.4] + [0.2, 0]
    np.testing.assert_allclose(named.solution.value, np.linalg.solve(precision + np.diag([1, 0]), right), atol=1e-7)
    by_odds = co.aggregate(panel, co.Lindley(prior={"q": 0.9}, scale="log-odds"))
    odds = 0.5 * (logit(0.4) + logit(0.9))
    np.testing.assert_allclose(by_odds.solution.value, [0.8, 1 / (1 + math.exp(-odds))], atol=1e-7)


@settings(max_examples=40)
@given(panels(n_variables=3, max_size=8), st.integers(0, 2**32))
def test_no_coherent_answer_nearby_has_better_log_odds(panel, seed):
    panel = replace(panel, probability=0.1 + 0.8 * panel.probability)
    if np.any(panel.written.event < 2):
        return
    matrix = covariances(seed, len(panel.written))
    result = co.aggregate(panel, co.Lindley(matrix, over="events", scale="log-odds"))
    precision = np.linalg.inv(matrix)
    means = np.array([logit(panel.probability[panel.event_index == i]).mean() for i in range(len(panel.written))])
    corners = truth(panel, panel.written.event)

    def lost(x):
        apart = logit(x) - means
        return float(apart @ precision @ apart)

    mine = lost(result.solution.value)
    assert result.components[0].lower_bound == 0.0
    random = np.random.default_rng(seed)
    for _ in range(50):
        other = random.dirichlet(np.full(len(corners), 0.3)) @ corners
        for share in (1e-3, 1e-2):
            assert mine <= lost((1 - share) * result.solution.value + share * other) + 1e-5 * max(1.0, mine)
    coherent = np.all(np.abs(logit(result.solution.value) - means) < 1e-3)
    assert coherent or mine > 0


def test_log_odds_of_table_2_against_another_solver():
    panel = co.Panel.from_records(TABLE_2)
    result = co.aggregate(panel, co.Lindley(scale="log-odds"))
    means = logit(panel.probability).reshape(3, 3).mean(axis=1)

    def lost(y):
        share = np.exp(y) / np.exp(y).sum()
        x = share @ np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
        return float(np.sum((logit(x) - means) ** 2))

    best = min(
        minimize(lost, start, method="Nelder-Mead", options={"maxiter": 20000, "xatol": 1e-10, "fatol": 1e-14}).fun
        for start in (np.zeros(4), np.array([0.0, -1.0, 1.0, -1.0]))
    )
    assert np.sum((logit(result.solution.value) - means) ** 2) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariance": [[1.0, 0.5], [0.4, 1.0]]}, "the covariance is not symmetric: for number 0 and number 1"),
        (
            {"covariance": [[1.0, 2.0], [2.0, 1.0]]},
            "the covariance is not positive definite: its least eigenvalue is -1",
        ),
        ({"covariance": [[1.0, 1.0], [1.0, 1.0]]}, "the covariance is not positive definite"),
        ({"covariance": [[1.0, 2.0]]}, "the covariance has the shape (1, 2); it must be square"),
        ({"covariance": [1.0, 0.0]}, "a variance is 0.0; variances must be above 0"),
        ({"covariance": [1.0, math.inf]}, "numbers that are not finite"),
        ({"covariance": {"Ann": "x"}}, "a value that is not a number"),
        (
            {"covariance": {"Ann": {"Zoe": 1.0}}},
            "the covariances of 'Ann' must be a mapping from some of the names Ann",
        ),
        ({"covariance": pd.DataFrame({"judge": ["Ann"], "Bob": [1], "Cid": [1]})}, "covariance is not a covariance"),
        ({"over": "pairs"}, "a covariance is over 'judges' or 'events'"),
        ({"scale": "odds"}, "errors are on the scale 'probability' or 'log-odds'"),
        ({"prior": 1.5}, "prior is 1.5"),
        ({"prior": 0.5, "prior_variance": 0}, "prior_variance is 0"),
        ({"tolerance": -1}, "tolerance is -1"),
    ],
)
def test_options_are_validated_on_construction(options, message):
    with pytest.raises(co.MethodError) as caught:
        co.Lindley(**options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("method", "rows", "message"),
    [
        (co.Lindley({"Ann": 1.0}), TWO, "the covariance has no entry for 'Bob' (judges)"),
        (co.Lindley({"q": 1.0}, over="events"), TWO, "the covariance has no entry for 'p' (events)"),
        (co.Lindley([1.0, 1.0, 1.0]), TWO, "the covariance has 3 rows and the panel has 2 judges"),
        (co.Lindley(prior={"q": 0.5}), TWO, "there is a prior for 'q', which nobody forecast"),
        (co.Lindley(), [("A", "p given q", 0.5)], "lindley takes numbers for events: no conditionals"),
    ],
)
def test_what_does_not_fit_the_panel_is_refused(method, rows, message):
    with pytest.raises(co.MethodError) as caught:
        co.aggregate(co.Panel.from_records(rows), method)
    assert message in str(caught.value)


def test_limits(monkeypatch):
    panel = co.Panel.from_records(TWO)
    with pytest.raises(co.MethodError, match="not by the loss log"):
        co.aggregate(panel, co.Lindley(), "log")
    monkeypatch.setattr(lindley, "LARGEST", 0)
    with pytest.raises(co.MethodError, match="lindley takes up to 0 where errors are correlated"):
        co.aggregate(panel, co.Lindley(scale="log-odds"))


def test_laws_and_declarations_count():
    """Exactly one winner, and rain only if Ann wins: correlated errors over the possible worlds, by another solver."""
    events = ["winner = Ann", "winner = Bob", "winner = Cid", "rain"]
    values = np.array([0.5, 0.5, 0.3, 0.6])
    laws = ["variable winner: Ann, Bob, Cid", "rain -> winner = Ann"]
    panel = co.Panel.from_records([("A", event, p) for event, p in zip(events, values, strict=True)], laws=laws)
    matrix = covariances(5, 4)
    result = co.aggregate(panel, co.Lindley(matrix, over="events"))
    corners = np.array([[1, 0, 0, 0], [1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]])
    mixture = cp.Variable(4, nonneg=True)
    apart = np.linalg.cholesky(np.linalg.inv(matrix)).T @ (corners.T @ mixture - values)
    cp.Problem(cp.Minimize(cp.sum_squares(apart)), [cp.sum(mixture) == 1]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(result.solution.value, corners.T @ mixture.value, atol=1e-5)
    assert result.solution.value[:3].sum() == pytest.approx(1.0)
    checked = co.verify(panel, result)
    assert checked, checked.problems


@pytest.mark.parametrize(
    ("rows", "laws", "expected"),
    [
        (
            [("A", "b <-> (c | b)", 0.1), ("A", "f", 0.18), ("A", "~b -> (f ^ k)", 0.0), ("A", "c", 0.54)],
            ["f"],
            [0.2353, 1.0, 0.0001, 0.7647],  # of the first and the last, which sum to 1: the mean of the log-odds
        ),
        ([("A", "d ^ d", 0.3), ("A", "e", 0.7), ("A", "d", 1.0)], [], [0.0, 0.7, 0.9999]),
        ([("A", "f", 0.2), ("A", "f -> k", 0.0)], ["f"], [1.0, 0.0001]),
    ],
)
def test_log_odds_of_tiny_panels_converge(rows, laws, expected):
    result = co.aggregate(co.Panel.from_records(rows, laws=laws), co.Lindley(scale="log-odds", time_limit=60))
    assert result.status == "converged"
    assert result.solution.value == pytest.approx(expected, abs=1e-4)


def test_lindley_s_figures_are_those_of_the_weights_as_given():
    rows = [("A", "p", 0.9), ("A", "q", 0.8), ("A", "p & q", 0.2)]
    one, other = (
        co.aggregate(co.Panel.from_records([(*row, w) for row in rows]), co.Lindley(prior=0.5, prior_variance=1.0 / w))
        for w in (1.0, 7.0)
    )
    assert other.solution.value == pytest.approx(one.solution.value, abs=1e-9)
    assert other.objective == pytest.approx(7 * one.objective)
    assert [c.objective for c in other.components] == pytest.approx([7 * c.objective for c in one.components])
