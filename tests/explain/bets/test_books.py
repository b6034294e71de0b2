"""Books win in every world, exactly; what is coherent has none."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from tests.explain.bets.book_checks import check_books
from tests.explain.bets.reference import CLOSE, coherent_records, incoherence, worlds
from tests.panels import TABLE_2, WORLDS
from tests.solve.reference import panels

TABLE = co.Panel.from_records(TABLE_2)
PAIRS = ("a & b", "a & c", "b & c")
TRIANGLE = co.Panel.from_records([("A", e, 0.5) for e in "abc"] + [("A", e, 0.0) for e in PAIRS])
GIVEN = ["p", "q", "r", "p & q", "q given p", "p given q", "p | r", "r given p & q", "~q given p | r", "q & r given p"]
NEGATION = co.Panel.from_records([("A", "p", 0.6), ("A", "~p", 0.6)])


def profits(book):
    return [book.profit(dict(zip("pq", world, strict=True))) for world in WORLDS]


def test_table_2_is_priced_by_its_means():
    book = co.dutch_book(TABLE)
    assert book
    assert list(book.stakes) == ["p", "q", "p & q"]
    np.testing.assert_allclose(list(book.stakes.values()), [0, -0.083333, 0.083333], atol=1e-6)
    np.testing.assert_allclose(list(book.prices.values()), [0.766667, 0.1, 0.266667], atol=1e-6)
    np.testing.assert_allclose(profits(book), [0.013889, 0.097222, 0.013889, 0.013889], atol=1e-6)
    assert book.sure_profit == pytest.approx(0.013889, abs=1e-6)
    assert book.profit(book.worst_world) == book.sure_profit
    assert book.proof == "exact rational arithmetic: dynamic programming over all worlds"
    assert book.sentence() == (
        "Sure to win 0.01389 whatever happens: buy 0.08333 of [q] at 0.10 and sell 0.08333 of [p & q] at 0.2667."
    )


def test_judges_of_table_2_alone():
    chris = co.dutch_book(TABLE.judge("Chris"))
    assert chris.exact_sure_profit == Fraction(18, 100)
    assert chris.stakes == {"p": 0.0, "q": -0.3, "p & q": 0.3}
    assert chris.contradiction == {"q": 0.0, "p & q": 0.6}
    assert list(chris.repair) == ["q", "p & q"]
    np.testing.assert_allclose(list(chris.repair.values()), [(0.0, 0.3), (0.6, 0.3)])
    for name in ("Alice", "Bob"):
        book = co.dutch_book(TABLE.judge(name))
        assert not book
        assert (book.sure_profit, book.stakes, book.contradiction, book.repair) == (0.0, {}, {}, {})
        assert book.sentence().startswith("There is no sure profit: the forecasts are coherent to within 1e-09")


def test_trading_with_every_judge():
    book = co.dutch_book(TABLE, between_judges=True)
    assert list(book.stakes) == [(judge, event) for judge, event, _ in TABLE_2]
    # The stakes are the forecasts less the panel's coherent approximation.
    coherent = {"p": 0.766667, "q": 0.183333, "p & q": 0.183333}
    np.testing.assert_allclose(list(book.stakes.values()), [p - coherent[e] for _, e, p in TABLE_2], atol=1e-6)
    assert min(profits(book)) == book.sure_profit
    disagreement = co.Panel.from_records([("A", "p", 0.4), ("B", "p", 0.5)])
    assert not co.dutch_book(disagreement)
    assert co.dutch_book(disagreement, between_judges=True).sure_profit == pytest.approx(0.005)


def test_triangle():
    book = co.dutch_book(TRIANGLE)
    assert book.sure_profit == pytest.approx(1 / 24, abs=1e-12)
    np.testing.assert_allclose(list(book.stakes.values()), [1 / 12] * 3 + [-1 / 12] * 3)
    assert list(book.contradiction) == [*"abc", *PAIRS]
    np.testing.assert_allclose([new for _, new in book.repair.values()], [5 / 12] * 3 + [1 / 12] * 3)


def test_complements_and_repeats_are_bets_of_their_own():
    book = co.dutch_book(NEGATION)
    assert book.stakes == {"p": 0.1, "~p": 0.1}
    assert book.exact_sure_profit == Fraction(2, 100)
    twice = co.dutch_book(co.Panel.from_records([("A", "p", 0.6), ("A", "p", 0.7), ("A", "q", 0.5)]))
    assert twice.stakes == {"p": -0.05, "p #2": 0.05, "q": 0.0}
    assert twice.contradiction == {"p": 0.6, "p #2": 0.7}


def test_constants():
    book = co.dutch_book(co.Panel.from_records([("A", "p | ~p", 0.9), ("A", "q & ~q", 0.2), ("A", "p", 0.5)]))
    assert book.stakes == {"p | ~p": -0.1, "q & ~q": 0.2, "p": 0.0}
    assert book.exact_sure_profit == Fraction(5, 100)
    assert book.profit({}) == 0.05
    assert not co.dutch_book(co.Panel.from_records([("A", "p | ~p", 1.0), ("A", "q & ~q", 0.0)]))


def test_a_world_must_say_what_happens_to_the_bets():
    with pytest.raises(co.EventError, match="the world has no value for q"):
        co.dutch_book(TABLE).profit({"p": True})


def test_weights_count_in_means_alone():
    rows = [("A", "p", 0.5, 3.0), ("B", "p", 0.9, 1.0), ("A", "~p", 0.5, 1.0), ("B", "q", 0.9, 0.0)]
    panel = co.Panel.from_records(rows)
    book = co.dutch_book(panel)
    assert book.prices == {"p": 0.6, "~p": 0.5}
    assert book.exact_sure_profit == Fraction(5, 1000)
    assert book.notes == ("forecasts of weight 0 left out: 1",)


def worlds_over(*names):
    return [dict(zip(names, truth, strict=True)) for truth in product((False, True), repeat=len(names))]


def test_conditional_bets_are_called_off():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q given p", 0.5), ("A", "p & q", 0.5)])
    book = co.dutch_book(panel)
    stakes = book.stakes
    np.testing.assert_allclose(
        [stakes["p"], stakes["q given p"], stakes["p & q"]], [-0.076244, -0.13442, 0.13442], atol=1e-5
    )
    for world in worlds_over("p", "q"):
        p, q = world["p"], world["q"]
        by_hand = stakes["p"] * (0.5 - p) + stakes["q given p"] * p * (0.5 - q) + stakes["p & q"] * (0.5 - (p and q))
        np.testing.assert_allclose(book.profit(world), by_hand, atol=1e-9)
    assert min(book.exact_profit(world) for world in worlds_over("p", "q")) == book.exact_sure_profit > 0
    assert not co.dutch_book(co.Panel.from_records([("A", "p given q", 0.5), ("A", "p", 0.6)]))


@given(st.lists(st.sampled_from(GIVEN), min_size=3, max_size=7, unique=True), st.integers(0, 999))
@settings(max_examples=40)
def test_books_with_conditionals_win_in_every_world(events, seed):
    prices = np.random.default_rng(seed).integers(0, 21, len(events)) / 20
    panel = co.Panel.from_records([("A", event, price) for event, price in zip(events, prices, strict=True)])
    finding, book = co.check(panel).judges["A"], co.dutch_book(panel)
    assert bool(book) == (finding.coherent is False) or book.notes
    if book:
        profits = [book.exact_profit(world) for world in worlds_over("p", "q", "r")]
        assert min(profits) >= book.exact_sure_profit > 0


def test_fees_and_spreads_count_for_conditional_bets():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q given p", 0.2), ("A", "p & q", 0.5)])
    book = co.dutch_book(panel, fee=0.02)
    assert book
    profits = [book.exact_profit(world) for world in worlds_over("p", "q")]
    assert min(profits) >= book.exact_sure_profit > 0
    assert not co.dutch_book(panel, fee=0.4)


def test_books_know_laws_and_declared_variables():
    rows = [("A", "winner = Ann", 0.6), ("A", "winner = Bob", 0.5), ("A", "rain", 0.7), ("A", "wet", 0.5)]
    laws = ["variable winner: Ann, Bob, ...", "rain -> wet"]
    book = co.dutch_book(co.Panel.from_records(rows, laws=laws))
    assert book.exact_sure_profit == Fraction(25, 1000)
    np.testing.assert_allclose(book.profit({"winner": None, "rain": True, "wet": True}), 0.025 + 0.05, atol=1e-9)
    np.testing.assert_allclose(
        book.profit({"winner": "Bob", "rain": False, "wet": True}), 0.005 + 0.02 + 0.1, atol=1e-9
    )
    assert set(book.worst_world) == {"winner", "rain", "wet"}
    with pytest.raises(co.EventError, match="'Zoe' is not a value of winner"):
        book.profit({"winner": "Zoe", "rain": False, "wet": True})


def test_labels_are_in_the_sentence():
    panel = co.Panel.from_records([("A", "p", 0.6), ("A", "~p", 0.6)], labels={"p": "Rain tomorrow"})
    assert "[Rain tomorrow]" in co.dutch_book(panel).sentence()


def test_json():
    answer = json.loads(co.dutch_book(TABLE.judge("Chris")).to_json())
    assert answer["book"] is True
    assert answer["bets"] == [
        {"event": "q", "stake": -0.3, "price": 0.0, "exact_stake": "-3/10", "exact_price": "0"},
        {"event": "p & q", "stake": 0.3, "price": 0.6, "exact_stake": "3/10", "exact_price": "3/5"},
    ]
    assert answer["contradiction"] == [{"event": "q", "price": 0.0}, {"event": "p & q", "price": 0.6}]
    between = co.dutch_book(NEGATION, between_judges=True).as_dict()
    first = {"judge": "A", "event": "p", "stake": 0.1, "price": 0.6, "exact_stake": "1/10", "exact_price": "3/5"}
    assert between["bets"][0] == first
    assert co.dutch_book(TABLE.judge("Bob")).as_dict()["book"] is False


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-7, 1e-8, 3e-9])
def test_the_least_incoherence_past_the_tolerance_has_an_exact_book(size):
    rows = [("A", "p", 0.7), ("A", "q", 0.2), ("A", "p & q", 0.2 + size), ("A", "p | q", 0.7), ("A", "r & q", 0.1)]
    triangle = [("A", "a", 0.2 + size), ("A", "b", 0.3), ("A", "c", 0.5), *(("A", e, 0.0) for e in PAIRS)]
    for panel in (co.Panel.from_records(rows), co.Panel.from_records(triangle)):
        book = co.dutch_book(panel)
        assert book
        assert min(book.exact_profit(world) for world in worlds(panel)) == book.exact_sure_profit > 0


@given(panels(most=3, max_size=12))
@settings(max_examples=200)
def test_a_book_wins_in_every_world_and_there_is_one_if_and_only_if_incoherent(panel):
    book = co.dutch_book(panel, between_judges=True)
    distance = incoherence(panel)
    if distance > CLOSE:
        assert book, distance
    if distance < CLOSE * 1e-3:
        assert not book, distance
    if book:
        assert min(book.exact_profit(world) for world in worlds(panel)) == book.exact_sure_profit > 0
        stakes = np.array(list(book.stakes.values()))
        # The best book for its size: no stakes of that size win more than the distance from coherence for each unit.
        repaired = sum((new - old) ** 2 for old, new in book.repair.values())
        assert book.sure_profit == pytest.approx(repaired, rel=1e-5, abs=1e-12)
        assert np.sum(stakes**2) == pytest.approx(repaired, rel=1e-5)


@given(coherent_records())
@settings(max_examples=200)
def test_coherent_forecasts_never_have_a_book(rows):
    panel = co.Panel.from_records(rows)
    assert not co.dutch_book(panel)
    for judge in panel.judges:
        assert not co.dutch_book(panel.judge(judge))


@given(panels(most=3, n_variables=4, max_size=8))
def test_a_contradiction_is_incoherent_and_minimal(panel):
    book = co.dutch_book(panel, between_judges=True)
    if not book or incoherence(panel) < CLOSE:
        return
    keys = list(book.stakes)
    index = [keys.index(key) for key in book.contradiction]
    assert [panel.probability[i] for i in index] == list(book.contradiction.values())
    assert incoherence(panel, index) > 0
    for i in index:
        assert incoherence(panel, [j for j in index if j != i]) < CLOSE


@given(panels(most=3, max_size=12))
def test_a_repair_is_coherent(panel):
    book = co.dutch_book(panel, between_judges=True)
    new = book.prices | {key: to for key, (_, to) in book.repair.items()}
    rows = [
        (judge, panel.written.text[e], p) for e, ((judge, _), p) in zip(panel.event_index, new.items(), strict=True)
    ]
    assert not co.dutch_book(co.Panel.from_records(rows), between_judges=True)


@given(panels(most=3, max_size=10), st.sampled_from([0.01, 0.1, 0.3]), st.sampled_from([0.0, 0.1]))
def test_after_costs_a_book_still_wins_in_every_world(panel, fee, spread):
    free = co.dutch_book(panel, between_judges=True)
    book = co.dutch_book(panel, between_judges=True, fee=fee, spread=spread)
    assert free or not book
    if book:
        assert sum(abs(bet.stake) for bet in book.bets) == pytest.approx(1)
        assert min(book.exact_profit(world) for world in worlds(panel)) == book.exact_sure_profit > 0


@pytest.mark.parametrize(("panel", "threshold"), [(NEGATION, 0.1), (TRIANGLE, 1 / 12), (TABLE, 1 / 12)])
def test_costs_eat_the_profit_at_the_right_threshold(panel, threshold):
    for cost in ({"fee": threshold}, {"spread": 2 * threshold}, {"fee": threshold / 2, "spread": threshold}):
        less, more = ({name: factor * value for name, value in cost.items()} for factor in (0.999, 1.001))
        book = co.dutch_book(panel, **less)
        assert book.sure_profit == pytest.approx(0.001 * threshold, rel=1e-6)
        assert not co.dutch_book(panel, **more)
        assert "after costs" in co.dutch_book(panel, **more).sentence()


def test_quoted_prices_are_sold_at_the_lower_and_bought_at_the_upper():
    def quotes(lower, upper):
        rows = [
            {"judge": "A", "event": "p", "probability": 0.6, "lower": lower, "upper": 0.65},
            {"judge": "A", "event": "~p", "probability": 0.6, "lower": 0.55, "upper": upper},
        ]
        return co.Panel.from_records(rows)

    book = co.dutch_book(quotes(0.5, 0.9))
    assert book.prices == {"p": 0.5, "~p": 0.55}
    assert book.sure_profit == pytest.approx(0.025)
    assert not co.dutch_book(quotes(0.44, 0.9))
    assert not co.dutch_book(quotes(0.5, 0.9), fee=0.03)


def quoted(rows, laws=()):
    names = ("judge", "event", "lower", "upper")
    return co.Panel.from_records([dict(zip(names, row, strict=True)) for row in rows], laws=list(laws))


BTC = "variable btc: number"


def test_quotes_are_not_traded_at_the_middle():
    panel = quoted(
        [("A", "btc >= 60000", 0.88, 0.9), ("A", "btc >= 70000", 0.61, 0.66), ("A", "btc >= 80000", 0.62, 0.67)], [BTC]
    )
    book = co.dutch_book(panel)
    assert not book
    assert (book.repair, book.contradiction) == ({}, {})
    assert book.sentence() == (
        f"There is no sure profit: the quotes are coherent to within 1e-09 (proof: {book.proof})."
    )
    for fee in (0.01, 0.1):
        assert co.dutch_book(panel, fee=fee).sentence() == book.sentence()


def test_a_side_that_a_quote_does_not_have_is_not_traded():
    rows = [("A", "btc >= 60000", 0.88, 0.9), ("A", "btc >= 70000", None, 0.64), ("A", "btc >= 80000", 0.65, None)]
    book = co.dutch_book(quoted(rows, [BTC]))
    assert book.stakes == {"btc >= 60000": 0.0, "btc >= 70000": -0.5, "btc >= 80000": 0.5}
    assert book.exact_sure_profit == Fraction(5, 1000)
    assert book.contradiction == {"btc >= 70000": 0.64, "btc >= 80000": 0.65}
    assert not co.dutch_book(quoted([("A", "p", None, 0.64), ("A", "p", None, 0.2)]))
    assert not co.dutch_book(quoted([("A", "p", 0.9, None), ("A", "~p", None, 0.2)]))
    for column, other in (("lower", "upper"), ("upper", "lower")):
        alone = [{"event": event, column: price} for event, price in (("p", 0.7), ("~p", 0.7))]
        book = co.dutch_book(co.Panel.from_records(alone))
        assert bool(book) is (column == "lower"), other


def test_a_mean_of_quotes_lacks_what_one_of_them_lacks():
    rows = [("A", "p", 0.9, None), ("B", "p", None, 0.95), ("A", "~p", 0.3, 0.4), ("B", "~p", 0.3, 0.4)]
    assert not co.dutch_book(quoted(rows))
    whole = [("A", "p", 0.9, 0.95), ("B", "p", 0.9, 0.95), ("A", "~p", 0.3, 0.4), ("B", "~p", 0.2, 0.4)]
    book = co.dutch_book(quoted(whole))
    assert book.prices == {"p": 0.9, "~p": 0.25}
    assert book.exact_sure_profit == Fraction(75, 1000)


def test_what_is_said_of_the_distance_of_quotes_is_the_distance():
    rows = [("A", "p", 0.5, 0.6), ("A", "p & q", 0.62, 0.7), ("A", "r", 0.2, 0.3)]
    book = co.dutch_book(quoted(rows), fee=0.02)
    assert book.sentence() == (
        "There is no sure profit after costs above 1e-09 per unit, though the quotes lie 0.01414 from coherent ones "
        f"(proof: {book.proof})."
    )
    assert book.repair == {"p": (0.6, pytest.approx(0.61)), "p & q": (0.62, pytest.approx(0.61))}
    spread = co.dutch_book(NEGATION, spread=0.5)
    assert "though the forecasts lie 0.1414 from coherent ones" in spread.sentence()


def test_quotes_of_two_venues():
    panel = quoted([("poly", "x", 0.40, 0.41), ("kalshi", "x", 0.45, 0.46)])
    book = co.dutch_book(panel, between_judges=True)
    assert book.exact_sure_profit == Fraction(2, 100)
    assert book.contradiction == {("poly", "x"): 0.41, ("kalshi", "x"): 0.45}
    assert book.repair == {("poly", "x"): (0.41, pytest.approx(0.43)), ("kalshi", "x"): (0.45, pytest.approx(0.43))}
    assert not co.dutch_book(panel)


def test_the_fee_of_a_bet_that_is_called_off_is_returned():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q given p", 0.2), ("A", "p & q", 0.5)])
    book = co.dutch_book(panel, fee=0.02)
    stakes = {bet.event: bet.stake for bet in book.bets}
    assert stakes["q given p"] < 0
    prices = {bet.event: bet.price for bet in book.bets}
    without = sum(
        stake * prices[event] - Fraction(2, 100) * abs(stake) for event, stake in stakes.items() if event != "q given p"
    )
    assert book.exact_profit({"p": False, "q": False}) == without


def test_a_book_beside_a_declared_variable_that_it_is_not_about():
    rows = [("rain", 0.6), ("~rain", 0.6), ("w = a & z", 0.3), ("w = b & z", 0.2), ("w = c & z", 0.2)]
    panel = co.Panel.from_records([("A", *row) for row in rows], laws=["variable w: a, b, c"])
    book = co.dutch_book(panel)
    assert book.exact_sure_profit == Fraction(2, 100)
    assert set(book.worst_world) == {"rain"}


@pytest.mark.parametrize("quotes", [False, True])
def test_counts_over_many_variables(quotes):
    """Nineteen numbers of true variables settle them, or thirty-six with one variable by itself."""
    count = ", ".join(f"v{i}" for i in range(18))
    rows = [(f"exactly(5; {count})", 0.7), (f"exactly(9; {count})", 0.8), (f"at_most(3; {count})", 0.4), ("v0", 0.5)]
    if quotes:
        book = co.dutch_book(quoted([("A", event, p, 1.0) for event, p in rows]))
        assert book.sure_profit == pytest.approx(0.3, abs=1e-9)
    else:
        book = co.dutch_book(co.Panel.from_records([("A", *row) for row in rows]))
        assert book.exact_sure_profit == Fraction(27, 100)
    assert book.proof.startswith("exact rational arithmetic")


def ladder(size, lift=0.0):
    """Quotes of a falling ladder, the middle one of which may be lifted."""
    fair = [1 - (i + 1) / (size + 1) for i in range(size)]
    fair[size // 2] += lift
    rows = [("A", f"x >= {i}", round(max(0, p - 0.003), 4), round(min(1, p + 0.003), 4)) for i, p in enumerate(fair)]
    return quoted(rows, ["variable x: number"])


def partition(size, factor):
    rows = [("A", f"w = v{i}", round(factor * 0.9 / size, 9), round(factor * 1.1 / size, 9)) for i in range(size)]
    return quoted(rows, ["variable w: " + ", ".join(f"v{i}" for i in range(size))])


@pytest.mark.parametrize("size", [50, 400])
def test_long_ladders_and_partitions_are_decided(size):
    for panel in (ladder(size), partition(size, 1.0)):
        book = co.dutch_book(panel)
        assert book.sentence().startswith("There is no sure profit: the quotes are coherent")
    lifted = co.dutch_book(ladder(size, 0.1))
    most = max(bet.price * bet.stake for bet in lifted.bets) - max(-bet.price * bet.stake for bet in lifted.bets)
    assert lifted.exact_sure_profit == most > 0.03
    assert len(lifted.contradiction) == 2
    full = co.dutch_book(partition(size, 1.2))
    sold = Fraction(repr(round(1.08 / size, 9)))
    assert full.sure_profit == pytest.approx(float(sold - Fraction(1, size)), abs=1e-10)
    assert full.repair["w = v0"] == (float(sold), pytest.approx(1 / size, abs=1e-9))


@pytest.mark.parametrize("seed", range(6))
def test_books_of_random_quotes_against_all_worlds(seed):
    assert check_books(seed, 40) > 4


def test_without_time_nothing_is_claimed_but_what_is_proved():
    book = co.dutch_book(ladder(50), time_limit=0.0)
    assert not book
    assert book.sentence() == "No sure profit was proved, and none was ruled out. Raise the time limit for more."
    lifted = co.dutch_book(ladder(50, 0.1), time_limit=0.0)
    assert min(lifted.exact_profit({"x": i - 0.5}) for i in range(51)) == lifted.exact_sure_profit


@pytest.mark.parametrize("option", [{"fee": -1.0}, {"spread": float("nan")}, {"time_limit": -1.0}])
def test_bad_options(option):
    with pytest.raises(co.MethodError, match=next(iter(option))):
        co.dutch_book(TABLE, **option)


def test_only_panels():
    with pytest.raises(co.PanelError, match="not a list"):
        co.dutch_book([("A", "p", 0.5)])


def test_a_large_panel_has_a_book_on_a_named_bound():
    panel = co.simulate(judges=47, variables=30, seed=2)
    book = co.dutch_book(panel)
    assert book.proof.startswith("float bound: ")
    rng = np.random.default_rng(0)
    names = panel.events.variables
    drawn = [dict(zip(names, row, strict=True)) for row in (rng.random((200, len(names))) < 0.5).tolist()]
    assert min(book.profit(world) for world in [*drawn, book.worst_world]) >= book.sure_profit > 10
    assert len(book.contradiction) <= 6
    costly = co.dutch_book(panel, fee=0.05)
    assert costly.proof.startswith("exact rational arithmetic")
