"""What `co.tune` costs on about a million forecasts: seconds of the processor, and the peak of memory."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import coherently as co
from bench.measure import peak_memory, timed, with_one_thread

if TYPE_CHECKING:
    from coherently.panel import Panel

JUDGES = 30
"""Judges who all answer all events."""
EVENTS = 33_000
"""Events, so that there are 990,000 forecasts."""
SECONDS, MEMORY = 60.0, 1_000.0
"""The targets: seconds of the processor, and MB."""
PANELS = {"single events": 1, "partitions of three": 3}
"""How many events of each component are forecast, by the kind of panel."""


def made_panel(options: int, events: int = EVENTS, seed: int = 0) -> Panel:
    """Timid forecasts, each judge's with another noise, and outcomes; of several `options`, exactly one comes true."""
    rng = np.random.default_rng(seed)
    components = events // options
    odds = rng.normal(0.0, 1.5, (components, options))
    if options == 1:
        truth = 1.0 / (1.0 + np.exp(-odds))
        outcome = (rng.random(odds.shape) < truth).astype(np.int64)
        names, laws = [f"e{i}" for i in range(components)], []
    else:
        truth = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
        outcome = np.zeros(odds.shape, np.int64)
        outcome[np.arange(components), (truth.cumsum(axis=1) < rng.random((components, 1))).sum(axis=1)] = 1
        names = [f"m{i} = o{k}" for i in range(components) for k in range(options)]
        laws = [f"variable m{i}: {', '.join(f'o{k}' for k in range(options))}" for i in range(components)]
    known = np.log(truth.ravel() / (1.0 - truth.ravel()))
    noise = rng.uniform(0.3, 1.5, JUDGES)[:, None] * rng.standard_normal((JUDGES, len(known)))
    p = (1.0 / (1.0 + np.exp(-(0.8 * known + noise)))).round(3).ravel()
    frame = pl.DataFrame(
        {
            "judge": np.repeat([f"judge {j}" for j in range(JUDGES)], len(known)),
            "event": names * JUDGES,
            "probability": p,
            "outcome": np.tile(outcome.ravel(), JUDGES),
        }
    )
    return co.Panel.from_frame(frame, laws=laws)


def main(kind: str) -> None:
    """Print the row of a kind of panel; the peak is that of the process, which holds the panel."""
    panel = made_panel(PANELS[kind])
    before = peak_memory()
    tuned, processor, _ = timed(lambda: co.tune(panel))
    peak = peak_memory()
    met = "met" if processor <= SECONDS and peak <= MEMORY else "**missed**"
    print(
        f"| {kind} | {len(panel):,} | {tuned.components:,} | {processor:.1f} s | {before:,.0f} MB | {peak:,.0f} MB "
        f"| {SECONDS:g} s, {MEMORY:,.0f} MB | {met} |",
        flush=True,
    )


def run() -> None:
    """Measure with one thread, each kind of panel in a process of its own."""
    print(
        "| panel | forecasts | components | processor | before | peak | target | |\n|---|---|---|---|---|---|---|---|"
    )
    for kind in PANELS:
        with_one_thread("bench.tuning", kind)


if __name__ == "__main__":
    main(*sys.argv[1:]) if sys.argv[1:] else run()
