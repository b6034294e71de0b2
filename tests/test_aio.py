"""The awaited calls: the same answers, an event loop that goes on, and cancelled tasks whose work stops."""

import asyncio
import inspect
import threading
import time
from dataclasses import dataclass

import pytest

import coherently as co
from coherently.solve import Averages, Status
from coherently.verifier.stop_signal import StoppedError, stop_if_asked

ROWS = [("Ann", "p", 0.7), ("Ann", "p & q", 0.9), ("Bob", "q", 0.4), ("Bob", "p | q", 0.2)]


def panel():
    return co.Panel.from_records(ROWS)


def resolved():
    rows = [(f"J{j}", f"q{i}", ((i * 7 + j * 3) % 19 + 0.5) / 20) for i in range(12) for j in range(3)]
    return co.Panel.from_records(rows, outcomes={f"q{i}": i % 3 == 0 for i in range(12)})


def test_awaited_calls_give_what_the_calls_give():
    async def every():
        result = await co.aio.aggregate(panel(), "exact", loss="log")
        return [
            result,
            *await asyncio.gather(
                co.aio.check(panel()),
                co.aio.consistency(panel(), joint=False),
                co.aio.tune(resolved()),
                co.aio.verify(panel(), result),
                co.aio.ask_next(panel(), 2, about="contradictions"),
            ),
        ]

    result = co.aggregate(panel(), "exact", loss="log")
    here = [result, co.check(panel()), co.consistency(panel(), joint=False), co.tune(resolved())]
    here += [co.verify(panel(), result), co.ask_next(panel(), 2, about="contradictions")]
    assert [one.to_json() for one in asyncio.run(every())] == [one.to_json() for one in here]


def test_twins_have_the_signatures_of_their_calls():
    for name in co.aio.__all__:
        twin, call = getattr(co.aio, name), getattr(co, name)
        assert inspect.iscoroutinefunction(twin)
        assert inspect.signature(twin) == inspect.signature(call)


@dataclass(frozen=True)
class Waiting:
    """A method that waits until the event loop has done something, or until it is stopped."""

    begun: threading.Event
    release: threading.Event
    stopped: threading.Event
    name: str = "waiting"

    def solve(self, problem, budget=None):
        self.begun.set()
        for _ in range(3_000):  # a test that fails must end
            if self.release.wait(0.01):
                break
            if budget.is_stopped:
                self.stopped.set()
                break
        return Averages(problem.as_written(problem.merged.mean), Status.AVERAGED)


def waiting():
    return Waiting(threading.Event(), threading.Event(), threading.Event())


async def until(event):
    while not event.is_set():
        await asyncio.sleep(0.005)


def test_the_event_loop_goes_on_while_work_is_done():
    """If the work ran in the event loop, nobody would release it."""

    async def run():
        method = waiting()
        task = asyncio.create_task(co.aio.aggregate(panel(), method))
        await until(method.begun)
        method.release.set()
        return await task

    assert asyncio.run(asyncio.wait_for(run(), 60)).status == "averaged"


def test_a_cancelled_task_ends_at_once_and_its_work_is_told_to_stop():
    async def run():
        method = waiting()
        task = asyncio.create_task(co.aio.aggregate(panel(), method))
        await until(method.begun)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(method.stopped)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(co.aio.aggregate(panel(), waiting()), 0.05)
        return await co.aio.aggregate(panel())

    assert asyncio.run(asyncio.wait_for(run(), 60)).coherence == "global"


def test_a_signal_from_outside_ends_the_work_with_the_answer_so_far():
    async def run():
        method, stop = waiting(), threading.Event()
        task = asyncio.create_task(co.aio.aggregate(panel(), method, cancel=stop))
        await until(method.begun)
        stop.set()
        return await task, method.stopped.is_set()

    result, stopped = asyncio.run(asyncio.wait_for(run(), 60))
    assert (str(result.status), stopped) == ("averaged", True)


def test_progress_is_told_in_the_event_loop():
    threads = set()

    async def run():
        await co.aio.consistency(panel(), progress=lambda _: threads.add(threading.current_thread()))
        await asyncio.sleep(0)

    asyncio.run(run())
    assert threads == {threading.main_thread()}


def test_errors_come_through():
    with pytest.raises(co.PanelError, match="aggregate needs a Panel"):
        asyncio.run(co.aio.aggregate([]))


class Third:
    """A signal that is set when it is asked for the third time, and counts how often that is."""

    def __init__(self):
        self.asked = 0

    def is_set(self):
        self.asked += 1
        return self.asked >= 3


def dense(variables=14):
    """One component of 2^14 worlds, which the verifier lists."""
    rows = [("Ann", f"v{i} & v{(i * 5 + 1) % variables}", 0.3 + 0.02 * i) for i in range(variables)]
    return co.Panel.from_records([*rows, *(("Bob", f"v{i}", 0.5) for i in range(variables))])


@pytest.mark.parametrize("method", ["exact", "linear", "projections"])
def test_a_verification_that_is_stopped_says_nothing_and_asks_no_more(method):
    given, signal = dense(), Third()
    result = co.aggregate(given, method)
    assert co.verify(given, result, cancel=threading.Event())
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(co.ResultError, match="stopped before it was complete") as told:
        co.verify(given, result, cancel=stopped)
    assert told.value.code == "stopped"
    if method != "linear":
        with pytest.raises(co.ResultError, match="stopped before it was complete"):
            co.verify(given, result, cancel=signal)
        assert signal.asked == 3
    assert co.verify(given, result)  # the signal of one call is forgotten in the next


def test_a_cancelled_verification_stops_its_work(monkeypatch):
    given = dense()
    result = co.aggregate(given, "exact")
    begun, ended = threading.Event(), threading.Event()

    def waiting_blocks(*_):
        begun.set()
        try:
            for _ in range(3_000):  # a test that fails must end
                stop_if_asked()
                time.sleep(0.01)
        except StoppedError:
            ended.set()
            raise
        yield 0, 1

    monkeypatch.setattr("coherently.verifier.enumeration.blocks", waiting_blocks)

    async def run():
        task = asyncio.create_task(co.aio.verify(given, result))
        await until(begun)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(ended)

    asyncio.run(asyncio.wait_for(run(), 60))
