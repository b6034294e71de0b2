"""Pools that make prices of partitions sum to 1: powers and Shin's model, against their equations."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq

import coherently as co
from coherently.solve.methods.averages import normalised, power, shin

RULES = {"normalised": normalised, "power": power, "shin": shin}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
INNER = st.lists(st.floats(0.01, 0.99), min_size=2, max_size=7)
ANY = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300, 1 - 1e-16, 1e-9])), min_size=2, max_size=7)
FOOTBALL = np.array([[4.20, 3.70, 1.95], [2.45, 3.70, 2.90], [2.05, 3.20, 3.80]])
"""Decimal odds of three matches, the example of Lindstrøm's package implied."""


def whole(rule, prices):
    """The rule on one partition."""
    return rule(np.array(prices, float), [np.arange(len(prices))])


def insiders(prices, z):
    """The solved form of Shin's model, as Jullien and Salanié (1994) write it."""
    prices = np.array(prices)
    return (np.sqrt(z**2 + 4 * (1 - z) * prices**2 / prices.sum()) - z) / (2 * (1 - z))


def test_published_examples():
    """Lindstrøm's package implied (R) and Berk's package shin (Python) print these numbers."""
    powers = [[0.2311414, 0.2630644, 0.5057942], [0.4003156, 0.2627189, 0.3369655], [0.4667139, 0.2908985, 0.2423876]]
    models = [[0.2315716, 0.2635742, 0.5048542], [0.4000221, 0.2629271, 0.3370508], [0.4645882, 0.2919788, 0.2434331]]
    for odds, by_power, by_shin in zip(FOOTBALL, powers, models, strict=True):
        np.testing.assert_allclose(whole(power, 1 / odds), by_power, atol=3e-6)
        np.testing.assert_allclose(whole(shin, 1 / odds), by_shin, atol=3e-6)
    exact = [0.37299406033208965, 0.4047794109200184, 0.2222265287474275]
    prices = 1 / np.array([2.6, 2.4, 4.3])
    np.testing.assert_allclose(whole(shin, prices), exact, atol=1e-10)
    np.testing.assert_allclose(insiders(prices, 0.01694251276407055), exact, atol=1e-10)


@given(INNER)
def test_powers_solve_their_equation(prices):
    prices = np.array(prices)
    k = brentq(lambda k: (prices**k).sum() - 1, 1e-9, 1e3, xtol=1e-14, rtol=1e-14)
    np.testing.assert_allclose(whole(power, prices), prices**k, atol=1e-10)
    assert (k > 1) == (prices.sum() > 1) or k == pytest.approx(1)


@given(INNER)
def test_shin_solves_its_equation(prices):
    assume(sum(prices) > 1 + 1e-6)
    z = brentq(lambda z: insiders(prices, z).sum() - 1, 0, 1 - 1e-9, xtol=1e-15, rtol=1e-14)
    np.testing.assert_allclose(whole(shin, prices), insiders(prices, z), atol=1e-8)


@given(st.lists(st.integers(1, 9), min_size=3, max_size=7), st.floats(1.01, 1.2))
def test_shin_is_where_the_usual_iteration_ends(shares, total):
    """The new z is (sum of roots - 2) / (n - 2): Jullien and Salanié (1994)."""
    prices, z = total * np.array(shares) / sum(shares), 0.0
    assume(prices.max() <= 1)
    for _ in range(2_000):
        z = (np.sqrt(z**2 + 4 * (1 - z) * prices**2 / total).sum() - 2) / (len(prices) - 2)
    np.testing.assert_allclose(whole(shin, prices), insiders(prices, z), atol=1e-9)


@given(st.floats(0, 1), st.floats(0, 1))
def test_of_two_prices_shin_takes_half_of_the_margin_each(first, second):
    assume(first + second > 1)
    half = (first + second - 1) / 2
    np.testing.assert_allclose(whole(shin, [first, second]), [first - half, second - half], atol=1e-12)


@every_rule
@given(prices=ANY)
def test_partitions_sum_to_one_and_keep_their_order(rule, prices):
    found = whole(rule, prices)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found[np.argsort(prices, kind="stable")]) >= -1e-15).all()
    if any(prices):
        assert (found[np.array(prices) == 0] == 0).all()
    np.testing.assert_allclose(whole(rule, found), found, atol=1e-9)


@every_rule
@given(shares=st.lists(st.integers(0, 50), min_size=2, max_size=7))
def test_coherent_prices_stay(rule, shares):
    assume(any(shares))
    prices = np.array(shares) / sum(shares)
    np.testing.assert_allclose(whole(rule, prices), prices, atol=1e-12)


@given(INNER)
def test_margins_come_off_the_unlikely_first(prices):
    """Divided by the sum, the least likely would keep more: the bias that both rules are there for."""
    assume(sum(prices) > 1)
    least = np.argmin(prices)
    for rule in (power, shin):
        assert whole(rule, prices)[least] <= whole(normalised, prices)[least] + 1e-12


@given(INNER)
def test_shin_without_a_margin_is_normalised(prices):
    scaled = np.array(prices) / (sum(prices) * 1.2)
    np.testing.assert_allclose(whole(shin, scaled), whole(normalised, scaled))


@pytest.mark.parametrize(
    ("prices", "by_power", "by_shin"),
    [
        ([0.0, 0.0, 0.0], [1 / 3] * 3, [1 / 3] * 3),
        ([0.4, 0.0, 0.0], [1, 0, 0], [1, 0, 0]),
        ([1.0, 0.0, 0.0], [1, 0, 0], [1, 0, 0]),
        ([1.0, 1.0, 0.0], [0.5, 0.5, 0], [0.5, 0.5, 0]),
        ([1.0, 1.0, 0.5], [0.5, 0.5, 0], None),
        ([1.0, 0.5], [1, 0], [0.75, 0.25]),
        ([1e-300, 1e-300], [0.5, 0.5], [0.5, 0.5]),
    ],
)
def test_limits(prices, by_power, by_shin):
    np.testing.assert_allclose(whole(power, prices), by_power, atol=1e-12)
    if by_shin:
        np.testing.assert_allclose(whole(shin, prices), by_shin, atol=1e-12)


@every_rule
@given(lists=st.lists(ANY, min_size=2, max_size=4))
def test_partitions_are_kept_apart(rule, lists):
    prices = np.concatenate([*lists, [0.7]])
    order = np.random.default_rng(0).permutation(len(prices) - 1)
    parts = np.split(order, np.cumsum([len(own) for own in lists])[:-1])
    found = rule(prices, parts)
    for units in parts:
        np.testing.assert_allclose(found[units], whole(rule, prices[units]), atol=1e-9)
    assert found[-1] == 0.7


@every_rule
def test_a_partition_with_an_event_that_nobody_forecast_stays(rule):
    prices = np.array([0.9, np.nan, 0.9, 0.4])
    np.testing.assert_equal(rule(prices, [np.array([0, 1])]), prices)
    np.testing.assert_equal(rule(prices, []), prices)
    assert rule(prices, [np.array([0, 1]), np.array([2, 3])])[2:].sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["power", "shin"])
def test_odds_of_two_bookmakers(kind):
    """Two books on one match: the mean price of each result, without the margin; other events stay as they are."""
    results = ("home", "draw", "away")
    rows = [
        (name, f"match = {result}", 1 / odds)
        for name, book in (("Ann", FOOTBALL[0]), ("Bob", FOOTBALL[0] * 0.98))
        for result, odds in zip(results, book, strict=True)
    ]
    laws = ["variable match: home, draw, away"]
    panel = co.Panel.from_records([*rows, ("Ann", "rain", 0.3), ("Bob", "match = home | rain", 0.4)], laws=laws)
    result = co.aggregate(panel, kind)
    mean = (1 / FOOTBALL[0] + 1 / (FOOTBALL[0] * 0.98)) / 2
    expected = {"power": power, "shin": shin}[kind](mean, [np.arange(3)])
    np.testing.assert_allclose(result.solution.value, [*expected, 0.3, 0.4], atol=1e-12)
    assert co.verify(panel, result)
    coherent = co.aggregate(panel, co.Pool(kind, then=co.Exact()))
    assert (coherent.coherence, coherent.method.name) == ("global", f"{kind}, then exact")
    assert sum(coherent.probability(f"match = {result}") for result in results) == pytest.approx(1)
