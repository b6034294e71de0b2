"""Findings agree with brute force, with books, and with each judge looked at alone."""

import copy
import json
import pickle
import time

import numpy as np
import pytest
from hypothesis import given

import coherently as co
from coherently.explain.allowance import Allowance
from coherently.explain.bets import distance
from coherently.explain.verdicts import CheckStatus, Verdict
from coherently.report.tables import distance_words
from tests.explain.bets.reference import CLOSE, coherent_records, incoherence
from tests.explain.check_checks import check_checks
from tests.panels import TABLE_2
from tests.solve.reference import panels

TABLE = co.Panel.from_records(TABLE_2)


def test_table_2():
    found = co.check(TABLE)
    assert [found.judges[name].coherent for name in found.judges] == [True, True, False]
    assert found.judges["Chris"].distance ** 2 == pytest.approx(0.18)
    assert found.judges["Chris"].guaranteed_improvement == pytest.approx(0.18)
    assert found.judges["Chris"].contradictions == ("P(p & q) = 0.60 is above P(q) = 0.00",)
    assert found.judges["Alice"].contradictions == ()
    assert found.coherent is False
    assert found.distance**2 == pytest.approx(0.013889, abs=1e-6)
    assert found.guaranteed_improvement == pytest.approx(0.013889, abs=1e-6)
    assert found.contradictions == ("P(p & q) = 0.2667 is above P(q) = 0.10",)
    assert found.book.sure_profit == pytest.approx(0.013889, abs=1e-6)
    assert found.judges.worst(5) == ["Chris"]
    assert found.incoherent
    assert list(found.frame()["coherent"]) == [True, True, False]


def test_merging_hides_nothing():
    found = co.check(co.Panel.from_records([("A", "p", 0.6), ("A", "~p", 0.6), ("B", "p", 0.6), ("B", "p", 0.8)]))
    assert found.judges["A"].distance == pytest.approx(np.sqrt(0.02))
    assert found.judges["B"].distance == pytest.approx(np.sqrt(0.02))


def test_an_unknown_judge():
    with pytest.raises(KeyError):
        co.check(TABLE).judges["Dora"]


@given(panels(most=3, max_size=14))
def test_findings_agree_with_brute_force_and_with_books(panel):
    found = co.check(panel)
    for name, finding in found.judges.items():
        alone = panel.judge(name)
        gap = incoherence(alone)
        assert finding.coherent is (gap <= 1e-9) or gap < CLOSE
        book = co.dutch_book(alone)
        assert finding.distance**2 == pytest.approx(book.sure_profit, rel=1e-5, abs=1e-12)
        assert finding.guaranteed_improvement == pytest.approx(book.sure_profit, rel=1e-5, abs=1e-12)
        assert bool(finding.contradictions) == bool(book) == bool(finding.book)
        i = panel.judges.index(name)
        columns = found.columns()
        assert columns["coherent"][i] is finding.coherent
        assert columns["distance"][i] == finding.distance
    assert found.coherent is not bool(co.dutch_book(panel))


@given(coherent_records())
def test_coherent_judges_have_coherent_means(rows):
    found = co.check(co.Panel.from_records(rows))
    assert found.coherent
    assert not found.incoherent
    assert found.distance == found.guaranteed_improvement == 0.0
    assert found.contradictions == ()


def test_weightless_forecasts_and_pins_are_left_out_and_counted():
    rows = [("A", "p", 0.6, 1.0), ("A", "q", 0.5, 0.0)]
    found = co.check(co.Panel.from_records(rows, laws=["P(p) = 0.1"]))
    assert found.coherent
    assert len(found.notes) == 2
    with pytest.raises(co.PanelError, match="no forecast is left"):
        co.check(co.Panel.from_records(rows[1:]))


def test_the_distance_of_conditionals_is_called_off():
    found = co.check(co.Panel.from_records([("A", "p", 0.5), ("A", "q given p", 0.5), ("A", "p & q", 0.5)]))
    assert found.coherent is False
    np.testing.assert_allclose(found.distance**2, 0.034294, atol=1e-6)
    assert found.contradictions == ("P(p & q) = 0.50 is above P(q given p) * P(p) = 0.25",)


def test_a_condition_that_nobody_forecast_is_taken_for_granted():
    rows = [("A", "a given h", 0.9), ("A", "b given h", 0.9), ("A", "a & b given h", 0.1)]
    finding = co.check(co.Panel.from_records(rows)).judges["A"]
    assert finding.coherent is False
    assert finding.contradictions == ("P(a & b given h) = 0.10 is below P(a given h) + P(b given h) - 1 = 0.80",)
    # Bets given h alone win nothing for sure: they are all called off where h fails.
    assert not finding.book
    assert "called off unless it holds" in finding.book.notes[0]
    np.testing.assert_allclose(finding.distance**2, 3 * (0.7 / 3) ** 2, atol=1e-6)


def test_laws_and_declarations_are_in_the_sentences():
    rows = [("A", f"w = {name}", p) for name, p in (("a", 0.5), ("b", 0.4), ("c", 0.3))]
    rows += [("A", "x < 2", 0.7), ("A", "x < 3", 0.5), ("A", "p", 0.6), ("A", "q", 0.4), ("A", "z", 0.2)]
    laws = ["variable w: a, b, c", "variable x: number", "p -> q", "~z"]
    found = co.check(co.Panel.from_records(rows, laws=laws))
    assert set(found.contradictions) == {
        "P(z) = 0.20, though that cannot happen",
        "P(w = a) = 0.50, P(w = b) = 0.40 and P(w = c) = 0.30 sum to 1.20, though they exclude each other",
        "P(x < 2) = 0.70 is above P(x < 3) = 0.50",
        "P(p) = 0.60 is above P(q) = 0.40",
    }


def test_past_its_size_a_cluster_is_bounded_by_pairs(monkeypatch):
    panel = co.simulate(judges=20, variables=12, seed=4)
    exact = co.check(panel)
    monkeypatch.setattr(distance, "LARGE", 10)
    bounded = co.check(panel)
    assert bounded.coherent is False
    assert 0 < bounded.means.distance_low <= exact.distance <= bounded.distance
    assert 0 < bounded.guaranteed_improvement <= bounded.distance**2
    assert bounded.means.proof.startswith("relaxation to pairs")
    book = bounded.book
    assert book.proof.startswith("exact rational arithmetic")
    assert 0 < book.sure_profit <= exact.book.sure_profit
    assert book.profit(book.worst_world) == book.sure_profit
    dear = co.dutch_book(panel, fee=0.05)
    assert dear.profit(dear.worst_world) == dear.sure_profit > 0
    assert sum(abs(bet.stake) for bet in dear.bets) == pytest.approx(1)
    assert "No sure profit was proved" in co.dutch_book(panel, fee=2.0).sentence()


def test_out_of_time_nothing_is_claimed_that_is_not_proved():
    panel = co.simulate(judges=30, variables=30, seed=4)
    assert co.check(panel, time_limit=0.0).coherent is False  # a broken relation is proof enough
    triangle = [("A", e, 0.5) for e in "abc"] + [("A", e, 0.0) for e in ("a & b", "a & c", "b & c")]
    found = co.check(co.Panel.from_records(triangle), time_limit=0.0)
    assert found.coherent is None
    assert found.judges["A"].status == "undecided"


def test_findings_as_json():
    answer = json.loads(co.check(TABLE).judges["Chris"].to_json())
    assert answer["contradictions"] == ["P(p & q) = 0.60 is above P(q) = 0.00"]
    assert answer["coherent"] is False


def test_bad_time_limit():
    with pytest.raises(co.MethodError, match="time_limit"):
        co.check(TABLE, time_limit=float("inf"))


def test_random_panels_of_the_whole_language():
    check_checks(seed=1, count=25)


def test_a_partition_of_a_thousand_values():
    count = 1_000
    names = [f"v{i}" for i in range(count)]
    laws = ["variable w: " + ", ".join(names)]
    high = np.full(count, 0.0005)
    high[:3] = 0.3, 0.4, 0.35
    for total, value in ((1.2, np.full(count, 1.2 / count)), (0.9, np.full(count, 0.9 / count)), (None, high)):
        panel = co.Panel.from_records(
            [("A", f"w = {name}", p) for name, p in zip(names, value, strict=True)], laws=laws
        )
        finding = co.check(panel).judges["A"]
        assert finding.status == "incoherent"
        assert finding.proved
        if total is not None:
            assert finding.distance**2 == pytest.approx((total - 1) ** 2 / count)
    assert finding.contradictions == (
        "P(w = v1) = 0.40, P(w = v2) = 0.35 and P(w = v0) = 0.30 sum to 1.05, though they exclude each other",
    )


def test_the_part_of_a_long_sum_that_is_shown_can_spare_none():
    """All subsets of a broken sum were looked at once: this took minutes at 26 values, and would end never at 131."""
    panel = co.Panel.from_records(
        [("A", f"w = v{i}", 0.07) for i in range(131)],
        laws=["variable w: " + ", ".join(f"v{i}" for i in range(131))],
    )
    (found,) = co.check(panel).judges["A"].contradictory
    assert len(found.forecasts) == 15  # 15 * 0.07 > 1 >= 14 * 0.07


ROUNDED = {
    "rounding": [0.3333, 0.3333, 0.3333],
    "incoherent": [0.3333, 0.3333, 0.3331],
    "coherent": [0.25, 0.25, 0.5],
}


@pytest.mark.parametrize("status", ROUNDED)
def test_what_decimals_explain_is_rounding(status):
    rows = [("A", f"w = {name}", p) for name, p in zip("abc", ROUNDED[status], strict=True)]
    found = co.check(co.Panel.from_records(rows, laws=["variable w: a, b, c"]))
    assert found.status == found.judges["A"].status == status
    assert found.coherent is (status != "incoherent")
    assert found.incoherent is (status == "incoherent")
    assert (found.distance > 0) is (status != "coherent")
    assert bool(found.contradictions) is (status == "incoherent")
    if status == "rounding":
        assert found.judges["A"].tolerance == found.judges.tolerance == 0.5e-4
        assert "up to rounding, each off by at most 5e-05: 1" in found.notes[0]


def test_round_numbers_of_people_are_no_rounding():
    for first, second in ((0.60, 0.61), (0.5, 0.6)):
        found = co.check(co.Panel.from_records([("A", "p", first), ("A", "p & q", second)]))
        assert found.status == "incoherent"
        assert found.means.tolerance == 0
    third = 1 / 3 + 1e-7  # as many decimals as a float has: not rounded
    assert co.check(co.Panel.from_records([("A", "p", 1 / 3), ("A", "p & q", third)])).status == "incoherent"


def test_means_may_be_off_by_the_mean_of_what_their_forecasts_may():
    rows = [(judge, f"w = {name}", p) for judge in "AB" for name, p in zip("abc", ROUNDED["rounding"], strict=True)]
    rows += [("C", "w = a", 0.3), ("C", "w = b", 0.3), ("C", "w = c", 0.4)]
    found = co.check(co.Panel.from_records(rows, laws=["variable w: a, b, c"]))
    assert found.status == "rounding"
    assert found.means.tolerance == pytest.approx(2 / 3 * 0.5e-4)


SETTLED = {
    "P(p given p) = 0.70, though that is certain": ([("A", "p given p", 0.7)], None),
    "P(p & ~q given q) = 0.70, though that cannot happen": ([("A", "p & ~q given q", 0.7), ("A", "q", 0.0)], None),
    "P(q given p) = 0.70, though that is certain": ([("A", "q given p", 0.7)], ["p -> q"]),
}


@pytest.mark.parametrize("sentence", SETTLED)
def test_a_conditional_that_its_condition_settles_is_a_contradiction(sentence):
    rows, laws = SETTLED[sentence]
    found = co.check(co.Panel.from_records(rows, laws=laws))
    assert found.status == "incoherent"
    assert found.distance == pytest.approx(0.7 if "cannot" in sentence else 0.3)
    (said,) = found.contradictions
    assert said.startswith(sentence)


QUOTES = [("btc >= 60000", 0.88, 0.90), ("btc >= 70000", 0.61, 0.66), ("btc >= 80000", 0.62, 0.67)]


def quoted(rows):
    records = [{"event": event, "lower": low, "upper": high} for event, low, high in rows]
    return co.check(co.Panel.from_records(records, laws=["variable btc: number"]))


def test_quotes_are_checked_at_bid_and_ask():
    found = quoted(QUOTES)
    assert found.status == "coherent"
    assert (found.distance, found.contradictions, bool(found.book)) == (0.0, (), False)
    broken = quoted([*QUOTES[:2], ("btc >= 80000", 0.70, 0.72)])
    assert broken.status == "incoherent"
    assert broken.contradictions == ("bid(btc >= 80000) = 0.70 is above ask(btc >= 70000) = 0.66",)
    assert broken.distance == pytest.approx(np.sqrt(2) * 0.02)
    assert broken.guaranteed_improvement is None
    assert broken.book.sure_profit == pytest.approx(0.02)
    # Without an ask nothing can be bought: nothing is wrong with what is left.
    assert quoted([QUOTES[0], ("btc >= 70000", 0.61, None), ("btc >= 80000", 0.70, 0.72)]).status == "coherent"


@pytest.mark.parametrize("seconds", [0.0, 0.01])
def test_without_time_bounds_hold_and_statuses_say_what_is_not_known(seconds):
    for panel in (TABLE, co.simulate(judges=6, variables=25, seed=2)):
        exact, hasty = co.check(panel), co.check(panel, time_limit=seconds)
        for name, finding in hasty.judges.items():
            true = exact.judges[name].distance
            assert finding.distance_low <= true + 1e-6
            assert finding.distance_high >= true - 1e-6
            assert finding.status in (exact.judges[name].status, "undecided")
            assert finding.guaranteed_improvement != 0 or finding.distance == 0
        columns = hasty.columns()
        for i, verdict in enumerate(hasty.judges.verdicts):
            assert columns["proved"][i] is verdict.proved
            assert columns["status"][i] == verdict.status
        unfinished = hasty.judges.unfinished
        assert (f"{seconds:g} seconds: {unfinished}" in " ".join(hasty.notes)) == (unfinished > 0)
        assert hasty.means.contradictions is not None
        assert hasty.book is not None


def test_what_is_not_finished_comes_last_and_is_never_a_number():
    def verdict(status, least, most):
        return Verdict(CheckStatus(status), least, most, None, (), cut=False)

    rows = [
        verdict("incoherent", 9.0, 9.0),
        verdict("incoherent", 4.0, 4.0),
        verdict("incoherent", 3.998, 4.0),
        verdict("rounding", 1e-12, 1e-12),
        verdict("coherent", 0.0, 0.0),
        verdict("incoherent", 16.0, 100.0),
        verdict("incoherent", 1.0, 400.0),
        verdict("undecided", 0.0, 900.0),
    ]
    assert sorted(rows[3:] + rows[:3], key=lambda row: row.rank) == rows
    assert [distance_words(row) for row in rows] == [
        *("3.0000", "2.0000", "2.00", "1.0e-06", "0"),
        *("between 4.0000 and 10.0000", "between 1.0000 and 20.0000", "at most 30.0000"),
    ]


@pytest.mark.parametrize("variables", [10, 30])
def test_threads_change_nothing(variables):
    panel = co.simulate(judges=8, variables=variables, seed=5)
    one, several = (co.check(panel, threads=threads, time_limit=500) for threads in (1, 3))
    assert one == several
    with pytest.raises(co.MethodError, match="threads"):
        co.check(panel, threads=-1)


def test_what_is_solved_is_solved_once(monkeypatch):
    panel = co.simulate(judges=4, variables=10, seed=1)
    found = co.check(panel)
    monkeypatch.setattr(distance.Approach, "improve", None)
    monkeypatch.setattr("coherently.explain.panel_check.bets_at_means", None)
    assert found.means.status == "incoherent"
    assert all(found.judges[name] is found.judges[name] for name in found.judges)


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_checks_and_books_are_values(again):
    panel = co.simulate(judges=3, variables=10, seed=2)
    found = co.check(panel)
    assert again(found) == found
    assert again(found).as_dict() == found.as_dict()
    assert again(found.means) == found.means
    assert again(found.judges) == found.judges
    assert co.check(co.simulate(judges=3, variables=10, seed=3)) != found
    book = co.dutch_book(panel, fee=0.001)
    assert again(book) == book
    assert again(book).to_json() == book.to_json()
    checked = co.verify(panel, co.aggregate(panel))
    assert again(checked) == checked
    assert json.loads(checked.to_json())["kept"] is True


def test_the_time_limit_is_one_for_everything_that_is_asked_for():
    allowance = Allowance(1.0)
    with allowance.spend(0.5) as first:
        time.sleep(0.02)
    assert allowance.left <= 0.98
    with allowance.spend(0.5) as second:
        pass
    assert first.deadline < second.deadline + 0.5
    allowance = Allowance(0.0)
    with allowance.spend(0.5) as budget:
        assert budget.is_over()
    assert allowance.left == 0.0


def test_a_contradiction_that_only_stakes_prove_names_all_of_its_forecasts():
    # P(~q & seat = x) = 3e-6 and P(q given seat = x) = 0.999971 make P(q) at least 0.103, the bid for ~q at most 0.097.
    rows = [
        {"judge": "A", "event": "~q", "probability": None, "lower": 0.9029511614965017},
        {"judge": "A", "event": "q given seat = x", "probability": 0.999971},
        {"judge": "A", "event": "seat = x -> q", "probability": 0.999997},
    ]
    finding = co.check(co.Panel.from_records(rows, laws=["variable seat: x, y"])).judges["A"]
    assert finding.coherent is False
    assert [sorted(found.forecasts) for found in finding.contradictory] == [[0, 1, 2]]
    assert "cannot hold together" in finding.contradictions[0]


@pytest.mark.parametrize("weight", [1e-50, 1.0, 1e50])
def test_rounding_of_means_does_not_depend_on_the_scale_of_weights(weight):
    rows = [(judge, event, p, weight) for judge in "AB" for event, p in (("p", 0.333), ("~p", 0.666))]
    means = co.check(co.Panel.from_records(rows)).means
    assert means.status == "rounding"
