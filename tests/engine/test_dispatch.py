"""Batches, and how they go to an executor and come back."""

import math
import os
import signal
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.engine.batches import LONGEST, batches_of
from coherently.engine.dispatch import AHEAD, RETRIES, dispatch
from coherently.engine.processes import Processes
from coherently.solve import Budget
from tests.engine.panels_of_parts import panel_of_parts


@given(st.lists(st.floats(1e-6, 10.0), max_size=200))
def test_every_item_is_in_one_batch_and_the_costly_come_first(cost):
    batches = batches_of(cost)
    flat = [i for batch in batches for i in batch]
    assert sorted(flat) == list(range(len(cost)))
    assert [cost[i] for i in flat] == sorted(cost, reverse=True)
    for batch in batches:
        assert len(batch) == 1 or sum(cost[i] for i in batch) <= LONGEST * (1 + 1e-9)


def test_the_last_batches_are_short():
    batches = batches_of([0.01] * 10_000)
    assert 0.99 <= 0.01 * len(batches[0]) <= 1.0
    assert 0.01 * len(batches[-1]) <= 0.03
    assert len(batches) < 400


class Late(Executor):
    """An executor of `workers` that finishes one batch at each look, and notes what it has."""

    def __init__(self, workers):
        self.workers = workers
        self.held, self.most, self.seconds = [], 0, []

    def submit(self, work, batch, seconds):
        for future, result in self.held[: -AHEAD * self.workers + 1 or None]:
            future.set_result(result)
            self.held.remove((future, result))
        future = Future()
        self.held.append((future, work(batch, seconds)))
        self.most = max(self.most, len(self.held))
        self.seconds.append(seconds)
        return future

    def finish(self):
        for future, result in self.held:
            future.set_result(result)
        self.held = []
        return False


def doubled(batch, _):
    return 2 * batch


def test_few_batches_are_ahead_of_the_workers_and_each_gets_the_seconds_left():
    engine = Late(3)
    found = dict(dispatch(engine, doubled, list(range(50)), Budget().within(100.0), engine.finish))
    assert found == {i: 2 * i for i in range(50)}
    assert engine.most <= AHEAD * 3
    assert engine.seconds == sorted(engine.seconds, reverse=True)
    assert 90 < engine.seconds[-1] < engine.seconds[0] <= 100


def test_after_a_stop_batches_are_left_out():
    budget = Budget()

    def work(batch, _):
        if batch == 3:
            budget.interrupted.set()
        time.sleep(0.02)
        return batch

    with ThreadPoolExecutor(1) as pool:
        found = dict(dispatch(pool, work, list(range(100)), budget))
    assert set(found) <= set(range(8))
    assert found.keys() >= {0, 1, 2}


def test_an_error_of_the_work_is_raised_and_the_rest_is_cancelled():
    def work(batch, _):
        if batch == 1:
            raise co.MethodError("no")
        time.sleep(0.01)

    with ThreadPoolExecutor(1) as pool, pytest.raises(co.MethodError, match="no"):
        list(dispatch(pool, work, list(range(50)), Budget()))


class Broken(Executor):
    def submit(self, *_):
        raise BrokenExecutor("it fell over")


def test_an_executor_of_the_user_that_breaks_is_an_error():
    with pytest.raises(co.EngineError, match="only its owner can make a new one: it fell over"):
        list(dispatch(Broken(), doubled, [1], Budget()))


class Fragile(Executor):
    """An executor that breaks once: it reports that for one piece of work, and never says anything of the others."""

    workers, renewals = 2, 0

    def submit(self, work, batch, seconds):
        future = Future()
        if self.renewals:
            future.set_result(work(batch, seconds))
        elif batch == 1:
            future.set_exception(BrokenExecutor())
        return future

    def renew(self):
        self.renewals += 1


def test_all_work_of_a_broken_executor_runs_again():
    engine = Fragile()
    assert dict(dispatch(engine, doubled, list(range(9)), Budget())) == {i: 2 * i for i in range(9)}
    assert engine.renewals == 1


def test_an_executor_that_was_shut_down_is_an_error():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(co.EngineError, match="takes no work"):
        list(dispatch(pool, doubled, [1], Budget()))


def die(batch, _):
    if batch == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return batch


def die_once(batch, _):
    number, flag = batch
    if number == 2 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_work_of_a_lost_process_runs_again(tmp_path):
    with Processes(2) as engine:
        found = dict(dispatch(engine, die_once, [(i, tmp_path / "flag") for i in range(20)], Budget()))
    assert found == {i: i for i in range(20)}


def test_work_that_always_kills_its_process_is_an_error():
    with (
        Processes(1) as engine,
        pytest.raises(co.EngineError, match=f"workers ended {RETRIES + 1} times while they had the same work"),
    ):
        list(dispatch(engine, die, list(range(5)), Budget()))


def test_words_for_engines():
    for word in ("process", "processes:0", "processes:x", "dask", "dask:", "dask://", "ray://here", "", "tcp://a:1"):
        with pytest.raises(co.EngineError, match="unknown engine"):
            co.open_engine(word)
    with co.open_engine("processes:3") as three, co.open_engine("processes") as every:
        assert three.workers == 3
        assert every.workers >= 1
    with pytest.raises(co.EngineError, match="engine is a int"):
        co.aggregate(panel_of_parts(2), engine=2)


def test_an_estimate_is_finite_whatever_the_component():
    from coherently.problem import pose, split
    from coherently.solve.component.pace import COLUMNS, HARD, estimated_seconds

    small, large = (
        estimated_seconds(split(pose(co.simulate(judges=j, variables=v, seed=0)).merged)[0].merged, COLUMNS)
        for j, v in ((2, 10), (300, 100))
    )
    assert 0 < small < 1e-3
    assert HARD <= large < math.inf
