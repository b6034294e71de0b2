"""Findings agree with brute force, with books, and with each judge looked at alone."""

import json

import numpy as np
import pytest
from hypothesis import given

import coherently as co
from coherently.certify import distance
from tests.certify.reference import CLOSE, coherent_records, incoherence
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
        assert found.judges.incoherent[i] == (finding.coherent is False)
        assert np.sqrt(found.judges.square[i]) == pytest.approx(finding.distance)
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
    assert "P(p) = 0.50, P(q given p) = 0.50 and P(p & q) = 0.50" in found.contradictions[0]


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
    assert 0 < bounded.distance <= exact.distance
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
    assert found.judges.undecided.all()


def test_findings_as_json():
    answer = json.loads(json.dumps(co.check(TABLE).judges["Chris"].to_json()))
    assert answer["contradictions"] == ["P(p & q) = 0.60 is above P(q) = 0.00"]
    assert answer["coherent"] is False


def test_bad_time_limit():
    with pytest.raises(co.MethodError, match="time_limit"):
        co.check(TABLE, time_limit=float("inf"))
