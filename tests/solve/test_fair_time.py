"""Time that is too short for all components is shared among them."""

import math
import time
from dataclasses import dataclass, replace

import pytest

import coherently as co
from coherently.problem import pose
from coherently.solve import Budget
from coherently.solve.component.answer import Ended
from coherently.solve.component.component_map import RESERVE, FairTime, solve_here


def test_all_but_the_reserve_is_for_those_that_begin_first(clock):
    budget = Budget(deadline=110.0, begun=100.0)
    fair = FairTime(budget, waiting=4, workers=1)
    assert fair.next().deadline == pytest.approx(110 - 10 * RESERVE)
    clock.now = 109.0
    assert fair.next().deadline == pytest.approx(109 + 1 / 3)  # three wait for the last second
    clock.now = 109.5
    assert fair.next().deadline == pytest.approx(109.75)
    assert fair.next().deadline == 110.0  # nobody waits any more


def test_nobody_waits_where_there_are_enough_workers(clock):
    fair = FairTime(Budget(deadline=110.0, begun=clock.now), waiting=2, workers=2)
    assert [fair.next().deadline, fair.next().deadline] == [110.0, 110.0]
    assert FairTime(Budget(begun=clock.now), waiting=9, workers=1).next().deadline == math.inf


def test_progress_is_that_of_the_whole_time():
    told = []
    begun = time.monotonic()
    budget = Budget(deadline=begun + 10, begun=begun, progress=told.append)
    FairTime(budget, waiting=3, workers=1).next().tell(1.0)
    assert told == pytest.approx([1 - RESERVE])


@dataclass
class Slow:
    """A task that uses all of its time up to what it needs, by the clock of the test; it keeps what it has done."""

    clock: object
    need: float
    answer: object
    part: str = "three"  # only its length counts

    def solve(self, budget, start=None):
        worked = 0.0 if start is None else float(start)
        spent = min(self.need - worked, budget.deadline - self.clock.now)
        self.clock.now += spent
        worked += spent
        ended = Ended.PROVED if worked >= self.need else Ended.TIME
        return replace(self.answer, rows=worked, objective=self.need - worked, bound=0.0, ended=ended)


@pytest.fixture
def answer():
    panel = co.Panel.from_records([("Ann", "p", 0.5)])
    [task] = co.Exact().tasks(pose(panel))
    return task.solve(Budget())


def test_every_component_begins_and_the_first_goes_on_in_what_is_left(clock, answer):
    tasks = [Slow(clock, need, answer) for need in (8.0, 0.5, 0.5)]
    found = dict(solve_here(tasks, range(3), Budget(deadline=110.0, begun=100.0), threads=1))
    assert [found[i].ended for i in range(3)] == [Ended.PROVED] * 3
    assert clock.now == pytest.approx(109.0)


def test_the_better_of_two_answers_is_given(clock, answer, monkeypatch):
    tasks = [Slow(clock, need, answer) for need in (80.0, 0.5)]
    solve = Slow.solve

    def forgetful(self, budget, start=None):
        return solve(self, budget) if start is None else replace(solve(self, budget), objective=99.0)

    monkeypatch.setattr(Slow, "solve", forgetful)
    found = dict(solve_here(tasks, range(2), Budget(deadline=110.0, begun=100.0), threads=1))
    assert found[0].objective == pytest.approx(80 - 10 * (1 - RESERVE))
    assert found[0].ended is Ended.TIME
    assert found[1].ended is Ended.PROVED
