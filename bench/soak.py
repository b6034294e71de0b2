"""The workbench in use for hours: memory, open files and latency, as lines and a picture (`python -m bench.soak 2`).

Every second a judge answers, a sheet and a panel are read; every ten seconds a stream is opened and closed; every
minute another panel is aggregated. Memory and files are those of the server and of all processes that it started.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil  # type: ignore[import-untyped]

import coherently as co
from bench.web import Client, answer, fill, fill_drawn, served
from coherently.web.store import open_store
from experiments.figures import new_figure, save_figure

if TYPE_CHECKING:
    from bench.web import Panelists

WINDOW = 60.0
"""Seconds between two looks at memory and files; latencies are those in between."""
STREAM, AGGREGATION = 10, 60
"""A stream is opened every so many seconds, and a panel aggregated."""
PICTURE = "soak.svg"


@dataclass(frozen=True, slots=True)
class Look:
    """What is seen at a moment: minutes since the start, MB, open files, processes, requests, and ms of latency."""

    minute: float
    memory: float
    files: int
    processes: int
    requests: int
    median: float
    worst: float


@dataclass(slots=True)
class Soak:
    """A service in use: the seconds of requests since the last look, and all looks."""

    port: int
    pid: int
    load: Panelists
    drawn: str
    times: list[float] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)

    async def run(self, seconds: float) -> None:
        """Use the service for so long, and look at it now and then."""
        begun, looked, beat = time.perf_counter(), time.perf_counter(), 0
        while (now := time.perf_counter()) - begun < seconds:
            await asyncio.gather(self.use(beat), asyncio.sleep(1.0))
            if now - looked >= WINDOW:
                self.look((now - begun) / 60)
                looked = now
            beat += 1

    async def use(self, beat: int) -> None:
        """The requests of a second."""
        load, judge = self.load, self.load.links[beat % len(self.load.links)]
        asked = [(judge, *answer(load, beat)), (judge, "/sheet", None), (load.token, f"/panels/{load.panel}", None)]
        if beat % AGGREGATION == AGGREGATION - 1:
            asked.append((load.token, f"/panels/{self.drawn}/aggregations", {"method": "exact"}))
        work = [self.ask(*each, key=f"{beat}-{place}") for place, each in enumerate(asked)]
        if beat % STREAM == 0:
            work.append(self.listen(judge))
        await asyncio.gather(*work)

    async def ask(self, secret: str, path: str, body: object, *, key: str) -> None:
        """One request on a connection of its own."""
        client, begun = Client(self.port, secret), time.perf_counter()
        try:
            await client.ask(path, body, None if body is None else key)
            self.times.append(time.perf_counter() - begun)
        finally:
            client.close()

    async def listen(self, secret: str) -> None:
        """Open a stream, and leave it after a moment, as a closed page does."""
        client = Client(self.port, secret)

        async def follow() -> None:
            async for _ in client.events("/sheet/stream"):
                pass

        try:
            await asyncio.wait_for(follow(), 0.5)
        except TimeoutError:
            client.close()

    def look(self, minute: float) -> None:
        """Note what the service uses now, and how long requests took since the last look."""
        server = psutil.Process(self.pid)
        memory, files, count = 0, 0, 0
        for process in (server, *server.children(recursive=True)):
            try:
                memory += process.memory_info().rss
                files += process.num_fds()
            except psutil.NoSuchProcess:
                continue
            count += 1
        times = 1000 * np.array(self.times)
        seen = Look(
            minute,
            memory / 1e6,
            files,
            count,
            len(times),
            float(np.median(times)),
            float(np.percentile(times, 99)),
        )
        self.times.clear()
        self.looks.append(seen)
        print(
            f"{seen.minute:6.1f} min {seen.memory:7.1f} MB {seen.files:4d} files {seen.processes} processes"
            f" {seen.requests} requests, median {seen.median:.1f} ms, 99% {seen.worst:.0f} ms",
            flush=True,
        )


def draw(looks: list[Look]) -> None:
    """Memory, files and latency over time."""
    minutes = [each.minute for each in looks]
    figure, (memory, files, latency) = new_figure(rows=3)
    memory.plot(minutes, [each.memory for each in looks])
    memory.set(ylabel="memory, MB", ylim=(0, None))
    files.plot(minutes, [each.files for each in looks])
    files.set(ylabel="open files", ylim=(0, None))
    latency.plot(minutes, [each.median for each in looks], label="median")
    latency.plot(minutes, [each.worst for each in looks], label="99%")
    latency.set(ylabel="latency, ms", xlabel="minutes", yscale="log")
    latency.legend()
    save_figure(figure, PICTURE)


def main(hours: float) -> None:
    """Use the service for so many hours."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'soak.db'}"
        with open_store(url) as store:
            load, drawn = fill(store), fill_drawn(store, "Drawn", co.simulate(judges=5, variables=12, seed=1))
        with served(url) as (port, pid):
            soak = Soak(port, pid, load, drawn)
            asyncio.run(soak.run(3600 * hours))
    draw(soak.looks)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
