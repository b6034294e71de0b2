"""Engines: two workers of a cluster beside one process, what is idle, and how good the estimates of cost are.

`python -m bench.engines` prints the figures of docs/explanation/scale.md. Speed-ups need a machine with two idle
processors; seconds of the processor are printed beside them, because they mean the same on a busy one.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from bench.measure import best_of, timed
from coherently import _core
from coherently.engine.dask_cluster import DaskCluster
from coherently.engine.dispatch import dispatch
from coherently.problem import BRIER, find_design, find_loss, pose, split
from coherently.solve import Budget
from coherently.solve.component.component_map import Task
from coherently.solve.component.objective import goal_of
from coherently.solve.component.pace import CROSSING, estimated_seconds, pace_of
from coherently.solve.relaxed.colours import in_colours

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from coherently.problem import Groups, Loss, Merged

COMPONENTS = 2_000
WORKERS = 2
TARGET = 1.7
ROUNDS = 3
"""Each has both sides twice, in the order one, workers, workers, one: the speed of a shared machine drifts."""
MOST_SMALL = 20
FORMS = ("{} & {}", "{} & ~{}", "{} | {}", "{} | ~{}")
METHOD = co.Exact(time_limit=600, threads=1)


def mixed_panel(components: int, seed: int = 0, most: int = 60) -> co.Panel:
    """Components of 4 to `most` variables, evenly on a logarithmic scale, with 1 to 2.5 events of two literals each."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, str, float]] = []
    for c in range(components):
        variables = int(np.exp(rng.uniform(np.log(4), np.log(most))))
        names = [f"c{c}x{i}" for i in range(variables)]
        for _ in range(int(variables * rng.choice([1, 1.5, 2, 2.5]))):
            a, b = rng.choice(variables, 2, replace=False)
            names.append(FORMS[rng.integers(4)].format(names[a], names[b]))
        rows += [("panel", name, round(float(p), 3)) for name, p in zip(names, rng.random(len(names)), strict=True)]
    return co.Panel.from_records(rows)


def tasks_of(panel: co.Panel, loss: Loss = BRIER) -> list[Task]:
    """The components of a panel."""
    parts = split(pose(panel, loss).merged)
    return [Task(part.merged, goal_of(part.merged, loss, linearised=False), 0) for part in parts]


def measured_costs(tasks: list[Task]) -> NDArray[np.float64]:
    """One row for each component that is worth being sent: its estimated and its measured seconds."""
    budget, rows = Budget(tolerance=5e-7, floor=1.0 / len(tasks)), []
    for task in tasks:
        estimate = estimated_seconds(task.part, pace_of(task.part, task.objective))
        if estimate >= CROSSING:
            task.solve(budget.within(0.0))  # modules, and the core's copy of the functions
            rows.append((estimate, timed(lambda task=task: task.solve(budget.within(60.0)))[1]))  # type: ignore[misc]
    return np.array(rows)


def _show_costs() -> None:
    print("\nEstimated seconds of a component over measured seconds of the processor:")
    for word in ("brier", "log"):
        costs = measured_costs(tasks_of(mixed_panel(300, seed=1, most=44), find_loss(word)))
        ratio = costs[:, 0] / costs[:, 1]
        quantiles = ", ".join(f"{q:.0%} {np.quantile(ratio, q):.2f}" for q in (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99))
        print(f"{word}: {len(costs):,} components of {costs[:, 1].min():.1g} to {costs[:, 1].max():.2g} s: {quantiles};"
              f" in sum {costs[:, 0].sum() / costs[:, 1].sum():.2f}")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cluster:
    """The address of a scheduler, and the processes of its workers."""

    address: str
    workers: tuple[int, ...]


@contextmanager
def running_cluster(workers: int) -> Iterator[Cluster]:
    """A scheduler and workers on this machine, each in a process of its own."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{one.getsockname()[1]}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    own = ["--no-dashboard", "--host", "127.0.0.1"]
    with ExitStack() as stack:

        def start(*words: str) -> int:
            process = subprocess.Popen([*dask, *words, *own], **quiet)  # type: ignore[call-overload]
            stack.callback(process.wait)
            stack.callback(process.kill)
            return int(process.pid)

        start("scheduler", "--port", address.rpartition(":")[2], "--no-jupyter")
        yield Cluster(address, tuple(start("worker", address, "--nthreads", "1", "--no-nanny") for _ in range(workers)))


def _processor_seconds(pids: tuple[int, ...]) -> float:
    """What processes have taken of the processor so far; 0 where the system does not say."""
    total = 0.0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def _show_caller() -> None:
    """What the caller spends: the same components solved here, and sent to one process."""
    small, large = equal_panel(4_000, 5, 6), equal_panel(800, 30, 45)
    print("\nMicroseconds of the caller's processor:")
    with co.open_engine("processes:1") as engine:
        co.aggregate(equal_panel(20, 30, 45), METHOD, engine=engine)
        alone = timed(lambda: co.aggregate(small, METHOD))[1] / len(tasks_of(small))
        parts = [len(task.part) > MOST_SMALL for task in tasks_of(large)]
        rest = alone * parts.count(False)
        here = (timed(lambda: co.aggregate(large, METHOD))[1] - rest) / sum(parts)
        sent = (timed(lambda: co.aggregate(large, METHOD, engine=engine))[1] - rest) / sum(parts)
        print(f"a small component {1e6 * alone:.0f}; one of 30 variables {1e6 * here:.0f}, or {1e6 * sent:.0f} if sent;"
              f" one batch of processes {_message(engine):.0f}")  # fmt: skip
    with running_cluster(1) as cluster:
        own = _open(cluster.address, 1)
        _message(own)
        print(f"one batch of a cluster {_message(own):.0f}")
        own.shutdown()


def equal_panel(components: int, variables: int, events: int) -> co.Panel:
    """Components with so many variables and events of two literals; a few fall apart."""
    rng = np.random.default_rng(0)
    rows: list[tuple[str, str, float]] = []
    for c in range(components):
        names = [f"c{c}x{i}" for i in range(variables)]
        for _ in range(events):
            a, b = rng.choice(variables, 2, replace=False)
            names.append(FORMS[rng.integers(4)].format(names[a], names[b]))
        rows += [("panel", name, round(float(p), 3)) for name, p in zip(names, rng.random(len(names)), strict=True)]
    return co.Panel.from_records(rows)


def _message(engine: Executor) -> float:
    """The caller's microseconds for a batch that takes no time."""
    count = 300
    return 1e6 * timed(lambda: list(dispatch(engine, max, list(range(count)), Budget())))[1] / count


def _show_cluster() -> None:
    panel = mixed_panel(COMPONENTS)
    print(f"\n{COMPONENTS:,} components of mixed cost ({panel.summary()}), {METHOD}:")
    with running_cluster(WORKERS) as cluster:
        engine = _open(cluster.address)
        co.aggregate(mixed_panel(40, seed=9), METHOD, engine=engine)  # modules of the workers
        ratios = []
        for _ in range(ROUNDS):
            first, alone = _alone(panel)
            answers, together = zip(*(_together(panel, engine, cluster) for _ in range(2)), strict=True)
            last, again = _alone(panel)
            assert all(one.solution == first.solution for one in (*answers, last)), "the answers differ"
            ratios.append((alone + again) / sum(together))
            print(f"in turn: {alone:.2f}, {together[0]:.2f}, {together[1]:.2f}, {again:.2f} s: {ratios[-1]:.2f}x")
        engine.shutdown()
    middle = statistics.median(ratios)
    print(f"median: {middle:.2f}x one process; target {TARGET}x: {'met' if middle >= TARGET else 'missed'}")


def _alone(panel: co.Panel) -> tuple[co.Result, float]:
    """The result by one process, and the seconds on the clock."""
    result, processor, clock = timed(lambda: co.aggregate(panel, METHOD))
    print(f"one process {clock:.2f} s ({processor:.2f} s of the processor)")
    return result, clock


def _together(panel: co.Panel, engine: DaskCluster, cluster: Cluster) -> tuple[co.Result, float]:
    """The result by the workers, and the seconds on the clock."""
    from distributed import get_task_stream

    before = _processor_seconds(cluster.workers)
    with get_task_stream(engine._client) as stream:
        result, own, clock = timed(lambda: co.aggregate(panel, METHOD, engine=engine))
    spent = _processor_seconds(cluster.workers) - before
    busy = sum(s["stop"] - s["start"] for task in stream.data for s in task["startstops"])
    print(f"{WORKERS} workers {clock:.2f} s ({spent:.2f} s of the processor, and {own:.2f} s here); "
          f"{len(stream.data)} batches; workers idle {1 - busy / (WORKERS * clock):.0%}")  # fmt: skip
    return result, clock


def _open(address: str, workers: int = WORKERS) -> DaskCluster:
    end = time.monotonic() + 30
    while True:
        try:
            engine = DaskCluster(address)
            break
        except co.EngineError:
            if time.monotonic() > end:
                raise
    while engine.workers < workers and time.monotonic() < end:
        time.sleep(0.1)
    return engine


def _show_colours() -> None:
    print("\nOne sweep of projections over the groups logical, milliseconds, best of 5:")
    for name, merged in _large_components():
        groups = find_design("logical")(merged)
        by_colour, colours = in_colours(groups, len(merged))
        usual = _sweep(merged, groups)
        times = {n: _sweep(merged, by_colour, colours, n) for n in (1, 2)}
        print(f"{name}: {len(groups):,} groups in {len(colours) - 1:,} colours; in order of appearance {usual:.1f}; "
              f"by colour {times[1]:.1f} on one thread, {times[2]:.1f} on two: {times[1] / times[2]:.2f}x, and "
              f"{usual / times[2]:.2f}x the usual order")  # fmt: skip


def _large_components() -> Iterator[tuple[str, Merged]]:
    for variables, judges in ((200, 1000), (1000, 30000)):
        yield f"S({variables},{judges})", pose(co.simulate(judges=judges, variables=variables, seed=0)).merged
    rng = np.random.default_rng(0)
    for size, form in ((3, "x{} & (x{} | x{})"), (2, "x{} & x{}")):
        variables = 20_000 if size == 3 else 200_000
        rows = [("panel", f"x{i}", float(p)) for i, p in enumerate(rng.random(variables).round(3))]
        for _ in range(2 * variables):
            text = form.format(*rng.choice(variables, size, replace=False))
            rows.append(("panel", text, round(float(rng.random()), 3)))
        yield f"sparse, {variables:,} variables, events of {size}", pose(co.Panel.from_records(rows)).merged


def _sweep(merged: Merged, groups: Groups, *colours: object) -> float:
    arrays = groups.starts, groups.members, groups.pattern, list(groups.patterns), merged.weight
    projector = _core.GroupProjector(*arrays, *colours)  # type: ignore[arg-type]
    start = np.where(merged.weight > 0, merged.mean, 0.5)

    def sweep() -> None:
        projector.sweep(start.copy())

    return 1e3 * best_of(sweep)


def run() -> None:
    """Print all figures."""
    print("\n## Engines")
    _show_costs()
    _show_caller()
    _show_cluster()
    _show_colours()


if __name__ == "__main__":
    run()
