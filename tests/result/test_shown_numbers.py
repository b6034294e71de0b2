"""Shown numbers keep what people check; brute force is in `rounding_checks`."""

import numpy as np
import pytest

import coherently as co
from coherently.problem import pose
from coherently.result.shown import LARGEST, nearest, rounded, rounded_changes
from tests.result import rounding_checks

INFLATION = ["variable r: a, b, c, d"]


def shown(texts, values, digits, laws=()):
    panel = co.Panel.from_records([("Ann", text, 0.5) for text in texts], laws=list(laws))
    assert list(panel.written.text) == list(texts)
    return rounded(pose(panel), np.array(values), digits)


@pytest.mark.parametrize("seed", range(4))
def test_relations_hold_and_the_nearest_choice_of_neighbours_is_found(seed):
    rounding_checks.check_rounding(seed, 25)


def test_a_partition_adds_up_to_100_per_cent():
    found = shown([f"r = {v}" for v in "abcd"], [0.1451, 0.5059, 0.2451, 0.1039], 2, INFLATION)
    assert found.digits == 2
    assert found.value.tolist() == [0.15, 0.51, 0.24, 0.1]


def test_one_more_digit_is_shown_where_no_choice_of_neighbours_keeps_all():
    # a + b, b + c and a + c are each 0.3: with one decimal, of each two one would be 0.1 and the other 0.2.
    texts = [*(f"r = {v}" for v in "abc"), "r in {a, b}", "r in {b, c}", "r in {a, c}"]
    found = shown(texts, [0.15] * 3 + [0.3] * 3, 1, INFLATION)
    assert found.digits == 2
    np.testing.assert_allclose(found.value, [0.15] * 3 + [0.3] * 3)


def test_halves_of_an_event_and_its_complement_add_up():
    found = shown(["p", "~p", "q & p", "~(p & q)"], [0.345, 0.655, 0.125, 0.875], 2)
    assert found.value.tolist() == [0.35, 0.65, 0.13, 0.87]


def test_halves_of_a_large_event_and_its_complement_add_up():
    count = f"at_least(5; {', '.join(f'v{i}' for i in range(20))})"  # more states than are listed
    assert shown([count, f"~{count}"], [0.345, 0.655], 2).value.tolist() == [0.35, 0.65]


def test_halves_of_events_that_exclude_each_other_add_up_to_no_more_than_1():
    found = shown(["p & q", "~p"], [0.345, 0.655], 2)
    assert found.digits == 2
    assert found.value.sum() <= 1.0 + 1e-12


def test_an_event_is_not_shown_above_what_it_implies_when_a_sum_moves_that():
    # The parts of p are 12.3 and 22.3, so that 34.6 is best shown as 34; then p & s, 34.58, cannot be 35.
    found = shown(["p", "p & q", "p & ~q", "p & s"], [0.3460, 0.1230, 0.2230, 0.3458], 2)
    assert np.rint(100 * found.value).tolist() == [34, 12, 22, 34]


def test_open_partitions_add_up_to_at_most_1():
    found = shown(["r = a", "r = b", "r = c"], [0.335, 0.335, 0.33], 2, ["variable r: a, b, c, ..."])
    assert np.rint(100 * found.value).sum() <= 100


def test_parts_of_an_event_add_up_to_it():
    found = shown(["x >= 1", "x >= 1 & x < 2", "x >= 2"], [0.75, 0.375, 0.375], 2, ["variable x: number"])
    assert np.rint(100 * found.value).tolist() == [75, 38, 37]


@pytest.mark.parametrize("values", [[0.1451, 0.5059, 0.2451, 0.1039], [0.1349, 0.5049, 0.2549, 0.1053]])
def test_conditionals_on_one_event_add_up(values):
    texts = [f"r = {v} given p" for v in "abcd"]
    found = shown(texts, values, 2, INFLATION)
    assert np.rint(100 * found.value).sum() == 100


def test_conditionals_on_different_events_are_not_added_up():
    texts = ["r = a given p", "r = b given p", "r = c given ~p", "r = d given ~p"]
    values = [0.1451, 0.5059, 0.2451, 0.1039]
    assert shown(texts, values, 2, INFLATION).value.tolist() == nearest(np.array(values), 2).tolist()


def test_laws_tie_events_through_variables_that_nobody_forecast():
    laws = ["p -> m", "m -> q", "~(q & s)"]
    found = shown(["p", "s"], [0.345, 0.655], 2, laws)
    assert np.rint(100 * found.value).sum() <= 100


def test_what_contradicts_itself_is_not_repaired():
    values = [0.3551, 0.3551, 0.3551, 0.2]
    assert shown([f"r = {v}" for v in "abcd"], values, 2, INFLATION).value.tolist() == [0.36, 0.36, 0.36, 0.2]
    values = [0.3351, 0.3351, 0.3351, 0.0]  # neighbours that add up to 100 exist
    assert shown([f"r = {v}" for v in "abcd"], values, 2, INFLATION).value.tolist() == [0.34, 0.34, 0.34, 0.0]
    assert shown(["p", "~p"], [0.6449, 0.6449], 2).value.tolist() == [0.64, 0.64]
    assert shown(["p", "p & q"], [0.3, 0.3051], 2).value.tolist() == [0.3, 0.31]


def test_missing_numbers_stay_missing():
    found = shown([f"r = {v}" for v in "abcd"], [0.3351, 0.3351, 0.3298, np.nan], 2, INFLATION)
    assert np.isnan(found.value[3])
    assert np.rint(100 * found.value[:3]).sum() <= 100


def test_large_components_keep_sums_of_declared_variables():
    count = 40  # 2^40 worlds
    texts = [f"v{i} & r = {v}" for i in range(count) for v in "abcd"] + [f"v{i}" for i in range(count)]
    rng = np.random.default_rng(0)
    chance, share = rng.random(count), rng.dirichlet(np.ones(4), count)
    found = shown(texts, [*(chance[:, None] * share).ravel(), *chance], 2, INFLATION)
    whole = np.rint(found.value * 10**found.digits).astype(int)
    np.testing.assert_array_equal(whole[: 4 * count].reshape(count, 4).sum(axis=1), whole[4 * count :])


def test_a_few_of_very_many_values_add_up_to_at_most_1():
    count = 6_000  # more values than states that are listed
    laws = ["variable r: " + ", ".join(f"v{i}" for i in range(count))]
    found = shown([f"r = v{7 * i}" for i in range(8)], [0.125] * 8, 2, laws)
    assert np.rint(100 * found.value).sum() <= 100


def test_beyond_the_largest_number_of_events_each_is_rounded_by_itself():
    count = LARGEST + 1
    value = np.full(count, 1.0 / count)
    laws = ["variable r: " + ", ".join(f"v{i}" for i in range(count))]
    texts = [f"r = v{i}" for i in range(count)]
    assert shown(texts, value, 2, laws).value.tolist() == nearest(value, 2).tolist()
    assert np.rint(100 * shown(texts[:LARGEST], value[:LARGEST], 2, laws).value).sum() <= 100


def test_numbers_of_a_local_answer_within_its_tolerance_are_kept_together():
    noise = np.array([2e-7, -3e-7, 4e-7, 1e-7])
    found = shown([f"r = {v}" for v in "abcd"], np.array([0.1451, 0.5059, 0.2451, 0.1039]) + noise, 2, INFLATION)
    assert np.rint(100 * found.value).sum() == 100


def test_an_unchanged_number_is_shown_unchanged():
    panel = co.Panel.from_records([("Ann", f"r = {v}", 0.5) for v in "abcd"], laws=INFLATION)
    value = np.array([0.1451, 0.5059, 0.2451, 0.1039])
    raw = value + np.array([0.0, 0.0, 0.0, 0.1])
    found = rounded_changes(pose(panel), value, raw, 2)
    assert found.change.tolist() == [0.0, 0.0, 0.0, -0.1]
    assert found.raw[2] == found.probability[2] == 0.24


@pytest.mark.parametrize("seed", range(20))
def test_shown_changes_have_the_direction_of_the_true_ones(seed):
    rng = np.random.default_rng(seed)
    panel, _, value = rounding_checks.random_panel(rng, 8)
    raw = np.clip(value + rng.choice([0.0, 0.001, -0.001, 0.004, -0.02], len(value)), 0.0, 1.0)
    for digits in (2, 3):
        found = rounded_changes(pose(panel), value, raw, digits)
        change = np.where(np.abs(value - raw) < 1e-12, 0.0, value - raw)
        assert not (np.sign(found.change) * np.sign(change) < 0).any()
        assert not found.change[change == 0].any()
        np.testing.assert_allclose(found.change, found.probability - found.raw, atol=1e-12)
        assert (np.abs(found.raw - raw) < 10.0**-found.digits).all()
        assert (np.abs(found.probability - value) < 10.0**-found.digits).all()


def test_both_and_at_least_one_add_up_to_the_two_events():
    # Each by itself: 39, 32, 14 and 58, though 39 and 32 less 14 make 57.
    found = shown(["n", "t", "n & t", "n | t"], [0.394, 0.3235, 0.1421, 0.5754], 2)
    n, t, both, either = np.rint(100 * found.value).astype(int).tolist()
    assert (found.digits, n + t) == (2, both + either)


def test_overlaps_of_complements_add_up_too():
    found = shown(["n", "t", "n & ~t", "n | ~t"], [0.3940, 0.3235, 0.2519, 0.8186], 2)
    n, t, one, other = np.rint(100 * found.value).astype(int).tolist()
    assert n + (100 - t) == one + other
