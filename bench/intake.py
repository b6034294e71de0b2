"""Reading and writing: a whole aggregation beside plain averaging by Polars, and panels larger than memory."""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.measure import Cost, process

if TYPE_CHECKING:
    from collections.abc import Sequence

REPEATS = 5
VARIABLES = 1000
BLOCK = 1_000_000
ROWS, FEW_EVENTS = (2_000_000, 4_000_000, 8_000_000, 16_000_000), 200_000
EVENTS, SOME_ROWS = (125_000, 250_000, 500_000, 1_000_000), 8_000_000
MANY_ROWS, MANY_EVENTS = 50_000_000, 1_000_000
LARGE = "COHERENTLY_BENCH_LARGE"
"""Set it to 1 for 50 million forecasts and the growth of time, which take minutes and gigabytes of disk."""


def run() -> None:
    """Print a line a target."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        beside_averaging(folder)
        if os.environ.get(LARGE) == "1":
            large(folder)


def beside_averaging(folder: Path) -> None:
    """The 1,020,000 forecasts of HUGE, from and to CSV, and from and to Parquet."""
    csv, parquet = folder / "huge.csv", folder / "huge.parquet"
    ours("simulate", "--judges", "30000", "--variables", "1000", "--seed", "4", "-o", str(csv))
    ours("simulate", "--judges", "30000", "--variables", "1000", "--seed", "4", "-o", str(parquet))
    for source, limit in ((csv, 4), (parquet, 3)):
        target = str(folder / f"out{source.suffix}")
        runs = [(ours("aggregate", str(source), "-o", target), theirs(str(source), target)) for _ in range(REPEATS)]
        mine, peer = (min((pair[i] for pair in runs), key=lambda cost: cost.processor) for i in range(2))
        ratio = statistics.median(one.processor / other.processor for one, other in runs)  # the machine's speed drifts
        print(
            f"1,020,000 forecasts, {source.suffix} to coherent {source.suffix}, whole process: {mine.processor:.2f} s "
            f"of the processor, {mine.memory:.0f} MB; Polars averages in {peer.processor:.2f} s, {peer.memory:.0f} MB: "
            f"{ratio:.2f}x, the median of {REPEATS} pairs (target {limit}x)",
            flush=True,
        )


def large(folder: Path) -> None:
    """Panels that are reduced while they are read: growth of time, then 50 million forecasts."""
    rows = [aggregated(folder, count, FEW_EVENTS) for count in ROWS]
    print(f"time of {', '.join(f'{n:,}' for n in ROWS)} rows with {FEW_EVENTS:,} events: {_seconds(rows)}")
    print(f"growth with rows: exponent {exponent(ROWS, rows):.2f} (target 1.05)")
    events = [aggregated(folder, SOME_ROWS, count) for count in EVENTS]
    print(f"time of {SOME_ROWS:,} rows with {', '.join(f'{n:,}' for n in EVENTS)} events: {_seconds(events)}")
    print(f"growth with distinct events: exponent {exponent(EVENTS, events):.2f} (target 1.05)")
    cost = aggregated(folder, MANY_ROWS, MANY_EVENTS)
    print(
        f"{MANY_ROWS:,} forecasts of {MANY_EVENTS:,} distinct events, Parquet to Parquet: {cost.clock:.1f} s "
        f"({cost.processor:.1f} s of the processor), {MANY_ROWS / cost.clock / 1e6:.2f} million rows per second, "
        f"{cost.memory:.0f} MB (targets: 1 million, 4,000 MB)"
    )


def aggregated(folder: Path, rows: int, events: int) -> Cost:
    """Make a file, aggregate it out of core, and delete it."""
    file = folder / "panel"
    file.mkdir(exist_ok=True)
    draw_parquet(file / "panel.parquet", rows, events)
    try:
        return ours("aggregate", str(file), "-o", str(folder / "out.parquet"))
    finally:
        (file / "panel.parquet").unlink()


def draw_parquet(path: Path, rows: int, events: int, seed: int = 1) -> None:
    """Forecasts of random events about two variables, each event equally often, by 10,000 judges; block by block."""
    rng = np.random.default_rng(seed)
    texts = pa.array(_texts(rng, events))
    judges = pa.array([f"judge {i}" for i in range(10_000)])
    chance = rng.random(events)
    schema = pa.schema([("judge", pa.string()), ("event", pa.string()), ("probability", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, BLOCK):
            count = min(BLOCK, rows - start)
            event = (np.arange(start, start + count) * 7919) % events
            p = np.clip(chance[event] + 0.2 * rng.standard_normal(count), 0, 1)
            columns = [judges.take(rng.integers(len(judges), size=count)), texts.take(event), p]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema))


def _texts(rng: np.random.Generator, count: int) -> list[str]:
    """Distinct events: for the forms & and | the first variable has the smaller number."""
    pairs = VARIABLES * VARIABLES
    drawn = rng.permutation(4 * pairs)
    form, a, b = drawn // pairs, drawn % pairs // VARIABLES, drawn % VARIABLES
    fine = np.where(form < 2, a < b, a != b)
    forms = ("v{} & v{}", "v{} | v{}", "v{} & ~v{}", "v{} | ~v{}")
    chosen = [part[fine][:count].tolist() for part in (form, a, b)]
    return [forms[f].format(x, y) for f, x, y in zip(*chosen, strict=True)]


def exponent(sizes: Sequence[int], costs: Sequence[Cost]) -> float:
    """The slope of the processor time over the size, both as logarithms."""
    return float(np.polyfit(np.log(sizes), np.log([cost.processor for cost in costs]), 1)[0])


def ours(*arguments: str) -> Cost:
    """Run `coherently`."""
    return process("-m", "coherently", *arguments)


def theirs(*arguments: str) -> Cost:
    """Run the averaging by Polars."""
    return process("-m", "bench.averaging", *arguments)


def _seconds(costs: Sequence[Cost]) -> str:
    return ", ".join(f"{cost.processor:.1f} s" for cost in costs)


if __name__ == "__main__":
    run()
