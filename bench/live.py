"""A live panel of 100,000 forecasts in 5,000 components: how long a revision takes, as a table in Markdown."""

from __future__ import annotations

import contextlib
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import coherently as co
from bench.measure import timed, with_one_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.panel import Panel

COMPONENTS, PER_COMPONENT = 5_000, 20
REVISIONS, DRIFTING = 3_000, 10_000
MEDIAN, WORST, CLOSE = 2e-3, 50e-3, 1e-7
"""Targets: seconds of the median revision and of the 99th percentile, and the difference from scratch at the end."""


class Drawn(NamedTuple):
    """A panel, and its forecasts as judge and event."""

    panel: Panel
    forecasts: list[tuple[str, str]]


def draw(components: int, seed: int = 0) -> Drawn:
    """Components of 3 to 6 variables with events of 1 to 3 literals, by 200 judges; one in ten has a law."""
    rng = np.random.default_rng(seed)
    rows, laws = [], []
    for number in range(components):
        names = [f"q{number}_{i}" for i in range(int(rng.integers(3, 7)))]
        events = [names[0], *(_event(rng, names) for _ in range(9))]
        laws += [f"{names[0]} -> {names[1]}"] if rng.random() < 0.1 else []
        judges = rng.permutation(200)[:PER_COMPONENT]
        picked = [*rng.permutation(len(events)), *rng.integers(len(events), size=PER_COMPONENT - len(events))]
        chosen = zip(judges.tolist(), picked, rng.random(PER_COMPONENT).round(3).tolist(), strict=True)
        rows += [(f"judge {judge}", events[place], p) for judge, place, p in chosen]
    return Drawn(co.Panel.from_records(rows, laws=laws), [row[:2] for row in rows])


def _event(rng: np.random.Generator, names: list[str]) -> str:
    size = int(rng.integers(1, 4))
    literals = [str(rng.choice(["", "~"])) + str(name) for name in rng.permutation(names)[:size]]
    return str(rng.choice([" & ", " | "])).join(literals)


class Hours(NamedTuple):
    """Seconds of the clock for each revision, until the new certified answer, and of the processor in the mean."""

    clock: np.ndarray
    processor: float

    def row(self, work: str) -> tuple[str, str, str, str]:
        """A row of the table."""
        middle, worst = (float(np.quantile(self.clock, q)) for q in (0.5, 0.99))
        met = "met" if middle <= MEDIAN and worst <= WORST else "missed"
        return work, f"{1e3 * middle:.2f} / {1e3 * worst:.1f} ms", f"{1e3 * self.processor:.2f} ms", f"2 / 50 ms: {met}"


def revise(live: co.LivePanel, drawn: Drawn, count: int, seed: int = 1) -> Hours:
    """Revise forecasts, one at a time, each until its new answer is there."""
    rng = np.random.default_rng(seed)
    clock, spent = np.empty(count), time.process_time()
    for i in range(count):
        judge, event = drawn.forecasts[int(rng.integers(len(drawn.forecasts)))]
        probability = float(rng.random())
        begun = time.perf_counter()
        live.revise(judge, event, probability)
        live.settle().component(event)
        clock[i] = time.perf_counter() - begun
    return Hours(clock, (time.process_time() - spent) / count)


def drift(live: co.LivePanel, drawn: Drawn, count: int, seed: int = 2) -> float:
    """Revise at random, withdraw, add again, add and drop laws; the largest difference from scratch at the end."""
    rng = np.random.default_rng(seed)
    gone: list[tuple[str, str]] = []
    standing, laws = list(drawn.forecasts), []
    for _ in range(count):
        kind, place = rng.random(), int(rng.integers(len(standing)))
        if kind < 0.1 and len(standing) > 1:
            standing[place], standing[-1] = standing[-1], standing[place]
            gone.append(standing.pop())
            live.withdraw(*gone[-1])
        elif kind < 0.2 and gone:
            standing.append(gone.pop())
            live.add(*standing[-1], float(rng.random()))
        elif kind < 0.23:
            here, there = (standing[int(rng.integers(len(standing)))][1] for _ in range(2))
            with contextlib.suppress(co.PanelError):  # the laws may contradict each other
                live.add_law(f"({here}) -> ({there})")
                laws.append(f"({here}) -> ({there})")
        elif kind < 0.26 and laws:
            live.drop_law(laws.pop())
        else:
            live.revise(*standing[place], float(rng.random()))
        live.settle()
    panel = live.panel()
    scratch = co.aggregate(panel, co.Exact(threads=1))
    return float(np.abs(live.settle().result().solution.value - scratch.solution.value).max())


def rows(components: int, revisions: int, drifting: int) -> Iterator[tuple[str, ...]]:
    """Measure, row by row."""
    drawn = draw(components)
    size = f"{len(drawn.panel):,} forecasts in {components:,} components"
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        with co.LivePanel(drawn.panel, background=False) as live:
            _, processor, clock = timed(live.settle)
            yield f"all components, once; {size}", f"{clock:.1f} s", f"{processor:.1f} s", "-"
            yield revise(live, drawn, revisions).row(f"a revision until its certified answer; {size}")
            _, processor, clock = timed(lambda: live.current().result())
            yield "the whole result, put together", f"{clock:.2f} s", f"{processor:.2f} s", "-"
            apart, processor, clock = timed(lambda: drift(live, drawn, drifting))
            met = "met" if apart <= CLOSE else "missed"
            work = f"{drifting:,} random revisions, then from scratch: largest difference {apart:.1e}"
            yield work, f"{clock:.1f} s", f"{processor:.1f} s", f"{CLOSE:g}: {met}"
        with co.LivePanel(drawn.panel, log=Path(folder) / "book.log") as live:
            live.settle()
            yield revise(live, drawn, revisions).row("a revision with a log and a thread")


def run() -> None:
    """Print the table, from a process of its own with one thread."""
    with_one_thread("bench.live")


def main() -> None:
    """Measure everything."""
    print("\n| work | clock, median / 99% | processor, mean | target |\n|---|---|---|---|")
    for row in rows(COMPONENTS, REVISIONS, DRIFTING):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
