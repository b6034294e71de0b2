"""Derivatives are those of finite differences, where the active worlds do not change."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import coherently as co
from coherently.explain.influence.derivatives import forecast_shares, mean_derivatives
from coherently.explain.influence.influence_table import answers_of
from coherently.solve.budget import Budget
from tests.explain.influence.test_leave_one_out import TIGHT, holding, panels

STEP = 1e-4


def values(panel, loss, method=TIGHT):
    return co.aggregate(panel, method, loss).solution.value


def moved(panel, row, by):
    probability = panel.probability.copy()
    probability[row] += by
    return replace(panel, probability=probability)


def differences(panel, row, loss, method=TIGHT):
    """The derivative of each event by one forecast; NaN where it is not the same up and down.

    At a change of the active worlds the two one-sided differences differ by a finite amount; elsewhere by the curvature
    times the step. Both are compared at two steps, so that a change of worlds between them shows, too.
    """
    now = values(panel, loss, method)
    up, down = (values(moved(panel, row, by), loss, method) - now for by in (STEP, -STEP))
    up_half, down_half = (values(moved(panel, row, by), loss, method) - now for by in (0.5 * STEP, -0.5 * STEP))
    whole, half = (up - down) / (2 * STEP), (up_half - down_half) / STEP
    smooth = (np.abs(up + down) / STEP < 2e-2) & (np.abs(whole - half) < 1e-6)
    return np.where(smooth.all(), whole, np.nan)


@pytest.mark.parametrize("loss", ["brier", "log"])
@settings(max_examples=15, deadline=None)
@given(panel=panels())
def test_derivatives_are_finite_differences(loss, panel):
    result = co.aggregate(panel, TIGHT, loss)
    answers, held = answers_of(result, Budget()), holding(result.problem)
    by_mean, shares = mean_derivatives(answers), forecast_shares(answers)
    for row in np.flatnonzero((panel.weight > 0) & held[panel.event_index]).tolist():
        found = by_mean[panel.event_index[row]] * shares[row]
        expected = differences(panel, row, loss)
        known = ~np.isnan(found) & ~np.isnan(expected) & held
        np.testing.assert_allclose(found[known], expected[known], atol=1e-5)


def test_a_forecast_alone_moves_as_much_as_its_weight():
    rows = [("Ann", "p", 0.3, 1.0), ("Bob", "p", 0.5, 3.0), ("Bob", "~p", 0.4, 4.0)]
    answers = answers_of(co.aggregate(co.Panel.from_records(rows), "exact"), Budget())
    np.testing.assert_allclose(mean_derivatives(answers), [[1.0, -1.0], [-1.0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(forecast_shares(answers), [1 / 8, 3 / 8, 4 / 8])


def test_on_the_edge_of_an_implication_both_move_as_one():
    """P(p & q) = 0.5 is above P(p) = 0.3: on the face p = p & q the answer is their mean, by weight."""
    rows = [("Ann", "p", 0.3, 1.0), ("Bob", "p & q", 0.5, 3.0)]
    table = co.aggregate(co.Panel.from_records(rows), "exact").influence()
    np.testing.assert_allclose(table.derivatives, [[0.25, 0.25], [0.75, 0.75]], atol=1e-9)


def test_coherent_forecasts_move_alone_however_few_worlds_the_answer_has():
    """An answer of few worlds still lies inside: its face is the whole, not the hull of these worlds."""
    rows = [("Ann", "p", 0.5), ("Ann", "q", 0.5)]
    table = co.aggregate(co.Panel.from_records([*rows, ("Ann", "p & q", 0.4)]), "exact").influence()
    np.testing.assert_allclose(table.derivatives, np.eye(3), atol=1e-9)


def test_a_pin_that_holds_leaves_nothing_to_move():
    rows = [("Ann", "p", 0.6), ("Ann", "p & q", 0.5), ("Ann", "q", 0.5)]
    table = co.aggregate(co.Panel.from_records(rows, laws=["P(p) <= 0.4"]), TIGHT).influence()
    np.testing.assert_allclose(table.derivatives[:, 0], 0.0, atol=1e-6)
    assert abs(table.derivatives[2, 2] - 1.0) < 1e-6


def test_what_no_forecast_holds_has_no_derivative():
    """Only q given p is forecast: where p lies is anybody's choice, and so is p & q."""
    answers = answers_of(co.aggregate(co.Panel.from_records([("Ann", "q given p", 0.3)]), "exact"), Budget())
    response = answers.response(0)
    assert len(response.loose)
    np.testing.assert_allclose(mean_derivatives(answers), [[1.0]], atol=1e-6)


def test_linearised_conditionals():
    rows = [("Ann", "p", 0.4), ("Ann", "q given p", 0.3), ("Bob", "p & q", 0.2)]
    panel, method = co.Panel.from_records(rows), co.Exact(tolerance=1e-12, conditionals="linearised")
    answers = answers_of(co.aggregate(panel, method), Budget())
    by_mean, shares = mean_derivatives(answers), forecast_shares(answers)
    for row in range(3):
        found = by_mean[panel.event_index[row]] * shares[row]
        np.testing.assert_allclose(found, differences(panel, row, "brier", method), atol=1e-5)
