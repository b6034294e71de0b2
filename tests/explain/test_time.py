"""Time of a check: shares that were too short are taken up again, and what was not found out is not claimed."""

import json
import math
import random
import threading
from dataclasses import dataclass, replace

import numpy as np
import pytest

import coherently as co
from coherently.explain import time_shares
from coherently.explain.bets.bets import bets_at_forecasts
from coherently.explain.bets.conditions import called_off, taken_alone
from coherently.explain.bets.distance import COARSE, Approach, clusters_of, nearest_of
from coherently.explain.relations.broken import violated
from coherently.explain.verdicts import CheckStatus, Court
from coherently.report.tables import distance_words, findings_summary
from coherently.solve import Budget
from tests.whole.language_checks import random_case

ROWS = [("A", "p", 0.35), ("A", "q given p", 0.9), ("A", "q", 0.1), ("B", "p", 0.5), ("B", "p & q", 0.6)]
PANEL = co.Panel.from_records(ROWS)


def answer():
    """An answer to hand out."""
    bets = bets_at_forecasts(PANEL.judge("B"))
    [cluster] = clusters_of(bets)
    return Approach(bets, cluster).improve(Budget())


@dataclass
class Slow:
    """A cluster that needs some seconds by the clock of the test, and goes on where it stopped."""

    clock: object
    need: float
    answer: object
    is_open: bool = False
    attempts: int = 0

    @property
    def cluster(self):
        return self.answer.cluster

    def improve(self, budget, accuracy):
        assert accuracy == COARSE
        self.attempts += 1
        spent = max(0.0, min(self.need, budget.deadline - self.clock.now))
        self.clock.now += spent
        self.need -= spent
        return replace(self.answer, cut=self.need > 0)


def improved(ways, budget):
    return time_shares._improved_here(ways, budget, budget, 1, None, len(ways))


def test_what_a_share_was_too_short_for_goes_on_while_there_is_time(clock):
    told = answer()
    ways = [Slow(clock, need, told) for need in (6.0, 0.5, 0.5, 1.0)]
    found = improved(ways, Budget(deadline=110.0, begun=100.0))
    assert [one.cut for one in found] == [False] * 4
    assert clock.now == pytest.approx(108.0)
    assert ways[0].attempts > 1
    assert [way.attempts for way in ways[1:]] == [1, 1, 1]  # what is finished is left alone


def test_only_the_end_of_the_time_cuts(clock):
    told = answer()
    ways = [Slow(clock, need, told) for need in (40.0, 0.5, 40.0)]
    found = improved(ways, Budget(deadline=110.0, begun=100.0))
    assert [one.cut for one in found] == [True, False, True]
    assert 110.0 - time_shares.SMALLEST < clock.now <= 110.0


def test_a_stop_ends_the_rounds(clock):
    button = threading.Event()
    told = answer()
    ways = [Slow(clock, 40.0, told), Slow(clock, 0.5, told)]
    improve = Slow.improve

    def stopping(self, budget, accuracy):
        button.set()
        return improve(self, budget, accuracy)

    ways[1].improve = stopping.__get__(ways[1])
    improved(ways, Budget(deadline=110.0, begun=100.0, cancel=button))
    assert ways[0].attempts == 1


def test_looks_that_a_share_cut_are_taken_again(monkeypatch):
    bets = bets_at_forecasts(PANEL.judge("B"))
    [cluster] = clusters_of(bets)
    late = Approach(bets, cluster).improve(Budget(deadline=-math.inf))
    court = Court(bets, np.zeros(len(bets)), Budget().within(1000.0))
    shares = []

    def look(_answer, _slack, share):
        shares.append(share)
        done = len(shares) > 2
        return (CheckStatus.INCOHERENT if done else CheckStatus.UNDECIDED), 0.0, not done

    monkeypatch.setattr(court, "_look", look)
    assert [one.status for one in court.verdicts([late, late])] == [CheckStatus.INCOHERENT] * 2
    assert shares[2:] == [0.5, 1.0]  # what is left is divided among them


@pytest.mark.parametrize("seconds", [0.0, 1e-6, 1e-3])
def test_bounds_are_finite_and_hold_and_nothing_is_called_proved_that_is_not(seconds):
    rng = random.Random(20)
    for _ in range(15):
        panel = random_case(rng).panel()
        true, hasty = co.check(panel), co.check(panel, time_limit=seconds)
        for name, finding in hasty.judges.items():
            exact = true.judges[name]
            assert 0 <= finding.distance_low <= exact.distance_high + 1e-6
            assert exact.distance_low - 1e-6 <= finding.distance_high < math.inf
            assert finding.status in (exact.status, "undecided")
            if finding.proved:
                assert exact.distance_low * 0.998 - 1e-6 <= finding.distance <= exact.distance_high * 1.002 + 1e-6
        shown = [repr(hasty), repr(hasty.means), hasty.to_json(), *map(distance_words, hasty.judges.verdicts)]
        assert not any(word in text for text in shown for word in ("inf", "Infinity", "nan", "NaN"))
        json.loads(hasty.to_json(), parse_constant=pytest.fail)
        frame = hasty.frame()
        assert not np.isinf(frame.select_dtypes("number").to_numpy()).any()


def test_without_time_nothing_is_proved_and_no_repair_is_shown():
    found = co.check(PANEL, time_limit=1e-6)
    assert [verdict.proved for verdict in found.judges.verdicts] == [False, False]
    assert found.judges["A"].distance_high == pytest.approx(math.sqrt(0.65**2 + 0.9**2 + 0.9**2))
    book = co.dutch_book(PANEL.judge("A"), time_limit=0.0)
    assert book.repair == {}
    assert "forecasts without a repair, since the nearest coherent ones are not known: 3" in book.notes
    whole = co.dutch_book(PANEL.judge("A"))
    assert whole.repair
    assert not any("repair" in note for note in whole.notes)


def test_a_repair_is_shown_only_where_it_is_nearest():
    panel = co.simulate(judges=1, variables=40, seed=3)
    for seconds in (0.0, 0.05):
        book = co.dutch_book(panel, time_limit=seconds)
        unknown = [answer for answer in book._answers if not answer.coherent and not answer.is_known]
        moved = {i for answer in unknown for i in answer.cluster.bets.tolist()}
        assert not moved & {book._keys.index(key) for key in book.repair}


def test_a_relaxation_is_no_repair(monkeypatch):
    from coherently.explain.bets import distance

    monkeypatch.setattr(distance, "LARGE", 1)
    book = co.dutch_book(PANEL.judge("B"))
    assert book.repair == {}


def test_conditionals_that_were_not_looked_at_are_not_called_contradictory():
    panel = co.Panel.from_records([("A", "q given p", 0.9), ("A", "~q given p", 0.9)])
    assert any("contradict each other" in note for note in co.dutch_book(panel).notes)
    assert not any("contradict each other" in note for note in co.dutch_book(panel, time_limit=0.0).notes)
    bets = bets_at_forecasts(panel)
    late = taken_alone(bets, nearest_of(bets, Budget()), Budget(deadline=-math.inf))
    assert late
    assert called_off(bets, late) == ()


def test_notes_say_what_ended_the_work():
    late = " ".join(co.check(PANEL, time_limit=0.0).notes)
    assert "judges not finished in their part of the time limit of 0 seconds: 2" in late
    button = threading.Event()
    button.set()
    stopped = " ".join(co.check(PANEL, cancel=button).notes)
    assert "judges not finished when the check was stopped: 2" in stopped
    assert "time limit" not in stopped
    assert not co.check(PANEL).notes


def test_what_no_method_proves_is_not_blamed_on_the_time(monkeypatch):
    from coherently.explain.bets import distance

    monkeypatch.setattr(distance, "LARGE", 1)
    found = co.check(PANEL)
    assert found.judges.unfinished == 2
    assert found.judges.cut == 0
    said = " ".join(found.notes) + str(findings_summary(found))
    assert "time" not in said
    assert "not finished by any method" in said


def test_the_better_of_two_attempts_is_kept(monkeypatch):
    from coherently.explain.bets import distance

    bets = bets_at_forecasts(PANEL.judge("A"))
    [cluster] = clusters_of(bets)
    way = Approach(bets, cluster)
    first = way.improve(Budget())
    given = distance._nearest_given

    def worse(bets, cluster, budget, start):
        assert len(start)  # it begins with the worlds of the first attempt
        return replace(given(bets, cluster, budget, start), square=first.square + 1.0, least=first.least * (1 + 1e-9))

    monkeypatch.setattr(distance, "_nearest_given", worse)
    again = way.improve(Budget())
    assert again.square == first.square
    assert first.least < again.least <= again.square


@pytest.mark.parametrize("looks", [0, 1, 3, 10, 30])
def test_broken_relations_are_looked_for_only_as_long_as_there_is_time(monkeypatch, looks):
    """After so many looks at the clock the time is over: what is found by then is true, and nothing goes on."""
    panel = co.simulate(judges=1, variables=12, seed=2)
    bets = bets_at_forecasts(panel)
    every = violated(bets, np.arange(len(bets)), budget=Budget())
    asked = []

    def is_over(self):
        asked.append(self)
        return len(asked) > looks

    monkeypatch.setattr(Budget, "is_over", is_over)
    found = violated(bets, np.arange(len(bets)), budget=Budget())
    assert len(asked) <= looks + 4  # each of the four searches ends at its next look
    assert {relation.forecasts for relation in found} <= {relation.forecasts for relation in every}
    assert len(found) < len(every)


@pytest.mark.usefixtures("clock")
def test_a_budget_of_at_least_a_moment():
    assert Budget(deadline=90.0).at_least(0.5).left() == pytest.approx(0.5)
    assert Budget(deadline=107.0).at_least(0.5).left() == pytest.approx(7.0)
    button = threading.Event()
    button.set()
    assert Budget(deadline=90.0, cancel=button).at_least(0.5).is_over()


def test_contradictions_of_many_judges_are_named_only_while_there_is_time():
    judges = [f"judge {i}" for i in range(30)]
    rows = [(judge, event, value) for judge in judges for event, value in (("p", 0.2), ("p & q", 0.3))]
    late, whole = co.check(co.Panel.from_records(rows)), co.check(co.Panel.from_records(rows))
    late.judges._allowance.left = 0.0
    told = late.as_dict()
    assert sum(bool(row["contradictions"]) for row in told["judges"]) == 1
    assert "judges whose contradictions were not looked for, as the time was over: 29" in told["notes"]
    told = whole.as_dict()
    assert all(row["contradictions"] for row in told["judges"])
    assert not any("not looked for" in note for note in told["notes"])
