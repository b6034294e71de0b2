"""Doors for agents: how long a call over standard streams takes, and how long an event loop waits for its turn.

`python -m bench.agents` prints both as tables in Markdown. A call is timed by the clock, from the client. The wait of
an event loop is the processor time of the whole process between two of its turns, the most of all turns, so that a busy
machine does not count; of that, a full garbage collection, which stops all threads, is named apart.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import coherently as co

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ANSWERS, CALLS = 50, 40
"""How many answers a call has, and how many calls are timed."""
TARGET_CALL, TARGET_WAIT = 0.050, 0.020
"""Targets: the median of a call of check, and the longest wait, in seconds."""
TURN = 0.001
"""Seconds that the event loop sleeps between two turns."""


def forecasts() -> list[dict[str, Any]]:
    """Answers to 50 questions, some of which are made of others."""
    chance = np.random.default_rng(5).uniform(0.05, 0.95, ANSWERS).round(2).tolist()
    names = [f"q{i}" for i in range(30)] + [f"q{i} & q{i + 1}" for i in range(10)]
    names += [f"q{i} | q{i + 7}" for i in range(10)]
    return [{"judge": "agent", "event": name, "probability": p} for name, p in zip(names, chance, strict=True)]


async def timed_calls() -> dict[str, list[float]]:
    """Seconds of each call over standard streams, by what was called; the first call of each is left out."""
    from mcp import Client, StdioServerParameters

    server = StdioServerParameters(command=sys.executable, args=["-m", "coherently", "mcp"], env=dict(os.environ))
    given = forecasts()
    large = [{"event": "a & " * 2_500_000 + "a", "probability": 0.5}]
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        f"check of {ANSWERS} answers": ("check", {"forecasts": given}),
        f"repair of {ANSWERS} answers": ("repair", {"forecasts": given}),
        "ask_next about one event": ("ask_next", {"forecasts": given, "about": "q1 & q7"}),
        "a formula of 10 MB, refused": ("check", {"forecasts": large}),
    }
    found: dict[str, list[float]] = {}
    async with Client(server) as client:
        for words, (tool, arguments) in asked.items():
            seconds = []
            for _ in range(CALLS if "10 MB" not in words else 6):
                begun = time.perf_counter()
                await client.call_tool(tool, arguments)
                seconds.append(time.perf_counter() - begun)
            found[words] = seconds[1:]
    return found


class _Collections:
    """The longest full garbage collection, in processor time."""

    def __init__(self) -> None:
        self.begun = self.longest = 0.0

    def __call__(self, phase: str, told: dict[str, int]) -> None:
        if told["generation"] == 2:
            if phase == "start":
                self.begun = time.process_time()
            else:
                self.longest = max(self.longest, time.process_time() - self.begun)


async def waits(call: Callable[[], Awaitable[object]]) -> tuple[float, float, int]:
    """The longest wait of the event loop while a call is awaited, the longest collection, and the number of turns."""
    collections, found = _Collections(), [0.0]
    gc.callbacks.append(collections)
    task = asyncio.ensure_future(call())
    last = time.process_time()
    while not task.done():
        await asyncio.sleep(TURN)
        now = time.process_time()
        found.append(now - last)
        last = now
    await task
    gc.callbacks.remove(collections)
    return max(found), collections.longest, len(found)


async def print_waits() -> None:
    """Print the longest wait for each awaited call, on a dense panel and on a large one."""
    dense, large = co.simulate(judges=47, variables=30, seed=0), co.simulate(judges=1000, variables=200, seed=0)
    resolved = co.simulate(judges=20, variables=40, compound=0, basic=20, seed=3)
    result = await co.aio.aggregate(dense)
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "aggregate, 1,598 forecasts": lambda: co.aio.aggregate(dense),
        "aggregate, 34,000 forecasts": lambda: co.aio.aggregate(large, time_limit=5),
        "check, 1,598 forecasts": lambda: co.aio.check(dense),
        "check, 34,000 forecasts": lambda: co.aio.check(large),
        "consistency, 1,598 forecasts": lambda: co.aio.consistency(dense),
        "tune, 400 forecasts": lambda: co.aio.tune(resolved),
        "verify, 1,598 forecasts": lambda: co.aio.verify(dense, result),
        "ask_next, 1,598 forecasts": lambda: co.aio.ask_next(dense, about="contradictions", time_limit=3),
    }
    for call in calls.values():  # what is imported first is not a part of the work
        await call()
    print(f"\n| awaited call | longest wait | of that, a garbage collection | turns | target {TARGET_WAIT:.3f} s |")
    print("|---|---|---|---|---|")
    for words, call in calls.items():
        longest, collected, turns = await waits(call)
        met = "met" if longest <= TARGET_WAIT else "met but for it" if longest - collected <= TARGET_WAIT else "missed"
        print(f"| {words} | {1e3 * longest:.1f} ms | {1e3 * collected:.1f} ms | {turns:,} | {met} |")


def run() -> None:
    """Print both tables."""
    print("| call over standard streams | median | 95 % | target |\n|---|---|---|---|")
    for words, seconds in asyncio.run(timed_calls()).items():
        target = f"{1e3 * TARGET_CALL:.0f} ms" if words.startswith("check of") else ""
        middle, late = 1e3 * statistics.median(seconds), 1e3 * float(np.quantile(seconds, 0.95))
        print(f"| {words} | {middle:.0f} ms | {late:.0f} ms | {target} |")
    asyncio.run(print_waits())


if __name__ == "__main__":
    run()
