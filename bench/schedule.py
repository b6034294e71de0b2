"""How long a panel takes on many machines: a simulation of the schedule, from measured costs.

`python -m bench.schedule` prints the tables of docs/explanation/scale.md. Assumptions are the constants below, each
measured on one machine (`python -m bench.engines`, docs/explanation/scale.md) or stated as a guess.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

import numpy as np

from coherently.engine.batches import batches_of
from coherently.engine.dispatch import AHEAD

SENT = 2e-4
"""Seconds of the caller for each component that is sent: split, priced, pickled, its answer read and joined."""
HERE = 9e-5
"""Seconds of the caller for each component that it solves itself, because it is too small to be sent."""
MESSAGE = 2.1e-3
"""Seconds of the caller for each batch and its result, with dask.distributed."""
ROWS = 1e6
"""Rows that one process reads, merges and writes in a second: the target of reading out of core, not measured here."""
CORES = 16
"""Workers of a machine."""
PRICE = 0.80
"""Dollars for an hour of a machine with 16 processors: a guess at list prices."""
FORECASTS_AN_EVENT, EVENTS_A_COMPONENT = 50, 20
"""As of 50 million forecasts of a million distinct events."""


@dataclass(frozen=True, slots=True)
class Load:
    """Components that are sent, by their seconds, and the number of those that are not."""

    name: str
    seconds: list[float]
    small: int

    @property
    def components(self) -> int:
        """How many components there are."""
        return len(self.seconds) + self.small

    @property
    def forecasts(self) -> int:
        """How many forecasts they would have."""
        return self.components * EVENTS_A_COMPONENT * FORECASTS_AN_EVENT

    def shard(self, count: int) -> Load:
        """One of equal shards."""
        return Load(self.name, self.seconds[::count], self.small // count)


def draw(name: str, components: int, sent: int, median: float, spread: float) -> Load:
    """Components of which some are sent, whose seconds are log-normal: one of 100 takes `spread` times the median."""
    rng = np.random.default_rng(0)
    return Load(name, (median * np.exp(rng.normal(0.0, np.log(spread) / 2.33, sent))).tolist(), components - sent)


LOADS = (
    draw("a platform, 100 million forecasts", 100_000, 10_000, 1e-3, 250),
    draw("a platform, a billion forecasts", 1_000_000, 100_000, 1e-3, 250),
    draw("dense, 10 million forecasts", 10_000, 10_000, 2.0, 20),
)
"""Of a platform, 9 of 10 components are small; of the others, half take 1 ms, one of 100 takes 0.25 s. Components of
the last load are as dense as the panels of the paper and larger: half take 2 s, one of 100 takes 40 s."""


def simulate_schedule(load: Load, workers: int) -> tuple[float, float]:
    """Seconds until all results are here, and the share of the workers' time in which they work.

    The caller is one thread: it sends batches, up to two for each worker, reads results, and solves small components
    when it has nothing else to do. Workers take batches in the order in which they are sent.
    """
    batches = batches_of(load.seconds)
    cost = [sum(load.seconds[i] for i in batch) for batch in batches]
    way = [MESSAGE + SENT * len(batch) for batch in batches]
    small, now = HERE * load.small, 0.0
    free = [0.0] * workers
    heapq.heapify(free)
    running: list[tuple[float, int]] = []
    waiting = deque(range(len(batches)))
    while waiting or running:
        if waiting and len(running) < AHEAD * workers:
            i = waiting.popleft()
            now += way[i]
            end = max(now, heapq.heappop(free)) + cost[i]
            heapq.heappush(free, end)
            heapq.heappush(running, (end, i))
        else:
            end, _ = heapq.heappop(running)
            spare = max(0.0, end - now)
            small -= min(small, spare)
            now = max(now, end)
    now += small
    return now, sum(cost) / (workers * now) if now else 0.0


def run() -> None:
    """Print the tables."""
    print("| panel | components | work, hours | machines | workers | solving | workers busy | dollars |")
    print("|---|---|---|---|---|---|---|---|")
    for load in LOADS:
        for machines in (1, 10, 100):
            seconds, busy = simulate_schedule(load, machines * CORES)
            dollars = PRICE * machines * seconds / 3600
            print(f"| {load.name} | {load.components:,} | {sum(load.seconds) / 3600:.2f} | {machines} "
                  f"| {machines * CORES:,} | {_told(seconds)} | {busy:.0%} | {dollars:.2f} |")  # fmt: skip
    print("\n| shards of a billion forecasts, one machine each | reading and writing | with solving | dollars |")
    print("|---|---|---|---|")
    for count in (1, 10, 100):
        part = LOADS[1].shard(count)
        reading = part.forecasts / ROWS
        seconds = reading + simulate_schedule(part, CORES)[0]
        print(f"| {count} | {_told(reading)} | {_told(seconds)} | {PRICE * count * seconds / 3600:.2f} |")


def _told(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


if __name__ == "__main__":
    run()
