"""Processor time of the method exact on counts over many variables with every variable forecast, as a table."""

from __future__ import annotations

import statistics
import time
from itertools import product
from typing import NamedTuple

import numpy as np

import coherently as co

SIZES = (25, 50, 100, 200, 400, 800)
COUNTS = 9
SEEDS = 5
LIMIT = 60.0
TARGETS = {100: 0.1, 400: 2.0}
"""Seconds under the Brier loss."""
EXPONENT = 2.0


class Timing(NamedTuple):
    """Processor seconds of the runs of a case, the largest relative gap, and whether all are verified."""

    seconds: list[float]
    gap: float
    verified: bool


def counted_panel(variables: int, seed: int) -> co.Panel:
    """Nine thresholds on how many variables hold, at random, and every variable."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(variables)]
    numbers = np.linspace(0.1 * variables, 0.9 * variables, COUNTS).astype(int).tolist()
    events = [*(f"at_least({number}; {', '.join(names)})" for number in numbers), *names]
    return co.Panel.from_records([("A", event, p) for event, p in zip(events, rng.random(len(events)), strict=True)])


def overlapping_panel(seed: int) -> co.Panel:
    """Two counts that share variables, 60 single variables of 200, and a law."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(200)]
    events = [f"at_least(60; {', '.join(names)})", f"exactly(20; {', '.join(names[:120])})", *names[:180:3]]
    rows = [("A", event, p) for event, p in zip(events, rng.random(len(events)), strict=True)]
    return co.Panel.from_records(rows, laws=["v0 -> v3"])


def measure(panels: list[co.Panel], loss: str) -> Timing:
    """The time of each panel, on one thread."""
    seconds, gaps, verified = [], [], True
    for panel in panels:
        begun = time.process_time()
        result = co.aggregate(panel, co.Exact(time_limit=LIMIT, threads=1), loss)
        seconds.append(time.process_time() - begun)
        gaps.append((result.gap or 0.0) / max(1.0, result.objective or 0.0))
        checked = co.verify(panel, result)
        verified = verified and bool(checked) and checked.bound_rests_on == ["own elimination of variables"]
    return Timing(seconds, max(gaps), verified)


def run() -> None:
    """Print the table, and how time grows with the variables."""
    print(f"\nCounts, {SEEDS} seeds:\n\n| work | processor, median (worst) | gap | verified | target | |")
    print("|---|---|---|---|---|---|")
    measure([counted_panel(SIZES[0], 0)], "brier")  # modules are loaded
    medians: dict[str, list[float]] = {}
    for loss, size in product(("brier", "log"), SIZES):
        found = measure([counted_panel(size, seed) for seed in range(SEEDS)], loss)
        medians.setdefault(loss, []).append(statistics.median(found.seconds))
        target = TARGETS.get(size) if loss == "brier" else None
        _show(f"{COUNTS} counts over {size} variables, {loss} loss", found, target)
    found = measure([overlapping_panel(seed) for seed in range(SEEDS)], "brier")
    _show("two counts over 200 variables, 60 of them forecast, a law", found, None)
    for loss, seconds in medians.items():
        exponent = np.polyfit(np.log(SIZES), np.log(seconds), 1)[0]
        word = "met" if exponent <= EXPONENT else "missed"
        print(
            f"\nTime grows with the variables by a power of {exponent:.2f} under the {loss} loss (2 at most: {word})."
        )


def _show(name: str, found: Timing, target: float | None) -> None:
    worst = max(found.seconds)
    goal = f"at most {target:g} s" if target else "proved"
    met = found.gap <= 1e-6 and found.verified and (target is None or worst <= target)
    times = f"{1e3 * statistics.median(found.seconds):.0f} ms ({1e3 * worst:.0f} ms)"
    verified = "yes" if found.verified else "no"
    print(f"| {name} | {times} | {found.gap:.0e} | {verified} | {goal} | {'met' if met else 'missed'} |", flush=True)


if __name__ == "__main__":
    run()
