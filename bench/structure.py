"""Components with a known structure: processor time of `co.aggregate`, and how it grows with their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import coherently as co
from bench.measure import fastest, with_one_thread
from coherently.panel import Panel
from experiments.evaluation.panels import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

REAL = "flusight_2017_bins_numbers"
"""A season of flu: 655 bins of five numbers, 520 laws."""
DECADES = (3, 30, 300, 3_000)
"""Sizes over three decades, for the exponent of the time."""


class Work(NamedTuple):
    """A panel with a name, and the targets in seconds under the Brier and the log loss."""

    name: str
    draw: Callable[[], Panel]
    targets: tuple[float, float]


def partition(count: int) -> Panel:
    """The values of a variable, at masses that sum to about 1.3."""
    rng = np.random.default_rng(1)
    values = [f"v{i}" for i in range(count)]
    mass = rng.dirichlet(np.ones(count)) * rng.uniform(0.8, 1.8, count)
    rows = [("A", f"x = {value}", p) for value, p in zip(values, mass.clip(0, 1).tolist(), strict=True)]
    return Panel.from_records(rows, laws=[f"variable x: {', '.join(values)}"])


def ladder(count: int) -> Panel:
    """Thresholds of a number, of which some are out of order."""
    rng = np.random.default_rng(2)
    p = np.clip(np.linspace(0.95, 0.05, count) + 0.1 * rng.normal(size=count), 0.01, 0.99)
    return Panel.from_records([("A", f"x >= {i}", q) for i, q in enumerate(p.tolist())], laws=["variable x: number"])


def tree(count: int) -> Panel:
    """Variables that each imply an earlier one, with forecasts at random."""
    rng = np.random.default_rng(3)
    laws = [f"e{i} -> e{rng.integers(i)}" for i in range(1, count)]
    return Panel.from_records([("A", f"e{i}", p) for i, p in enumerate(rng.random(count).tolist())], laws=laws)


def bins(count: int) -> Panel:
    """Bins of two numbers, of which one is at least the other."""
    rng = np.random.default_rng(4)
    texts = []
    for name in "ab":
        texts += [f"{name} < 1", *(f"{name} >= {i} & {name} < {i + 1}" for i in range(1, count)), f"{name} >= {count}"]
    mass = np.concatenate([rng.dirichlet(np.ones(count + 1)) for _ in "ab"]) * rng.uniform(0.5, 1.5, len(texts))
    laws = ["variable a: number", "variable b: number", *(f"a >= {i} -> b >= {i}" for i in range(1, count + 1))]
    rows = [("A", text, p) for text, p in zip(texts, mass.clip(0, 1).tolist(), strict=True)]
    return Panel.from_records(rows, laws=laws)


def tied_values(count: int) -> Panel:
    """The values of a variable, a compound event about two of them and another variable, and that variable."""
    values = [f"v{i}" for i in range(count)]
    mass = 1.2 * np.random.default_rng(8).dirichlet(np.ones(count))
    rows = [("A", f"w = {value}", p) for value, p in zip(values, mass.tolist(), strict=True)]
    rows += [("A", "w = v1 | w = v2 & x", 0.1), ("A", "x", 0.4)]
    return Panel.from_records(rows, laws=[f"variable w: {', '.join(values)}"])


def tied_ladder(count: int, noise: float = 0.0) -> Panel:
    """A ladder, in order but for noise, and two compound events that share a rung."""
    rng = np.random.default_rng(8)
    p = np.clip(np.sort(rng.random(count))[::-1] + noise * rng.normal(size=count), 0.001, 0.999)
    rows = [("A", f"r >= {i}", q) for i, q in enumerate(p.tolist())]
    rows += [("A", f"r >= {count // 2} & x", 0.6), ("A", f"r >= {count // 2} & y", 0.7)]
    return Panel.from_records(rows, laws=["variable r: number"])


def tied_bins(count: int) -> Panel:
    """Bins of a number, and a law by which some of them imply another event."""
    mass = 1.2 * np.random.default_rng(8).dirichlet(np.ones(count))
    rows = [("A", f"r >= {i} & r < {i + 1}", p) for i, p in enumerate(mass.tolist())]
    law = f"r >= {count // 3} & r < {count // 2} -> x"
    return Panel.from_records([*rows, ("A", "x", 0.3)], laws=["variable r: number", law])


def _season() -> Panel:
    return co.read_panel(DATA / f"{REAL}.csv", laws=DATA / f"{REAL}.laws")


WORK = (
    Work("a partition of 3,000 values", lambda: partition(3_000), (0.03, 0.04)),
    Work("a ladder of 420 rungs", lambda: ladder(420), (0.003, 0.005)),
    Work("a tree of 10,000 implications", lambda: tree(10_000), (0.05, 0.05)),
    Work("the bins of flusight_2017_bins_numbers", _season, (0.1, 0.1)),
)
GROWTH = {"partitions": partition, "ladders": ladder, "trees": tree, "bins of two numbers": bins}
TIED = {
    "values": tied_values,
    "rungs": tied_ladder,
    "rungs out of order": lambda count: tied_ladder(count, 0.05),
    "bins": tied_bins,
}
TIED_SIZES = (500, 1_000, 2_000, 4_000)


def run() -> None:
    """Print the tables, from a process of its own with one thread."""
    with_one_thread("bench.structure")


def main() -> None:
    """Measure everything; the first run loads modules, and is not counted."""
    co.aggregate(bins(9), "exact", "log")
    print("\n| work | Brier | log | targets | |\n|---|---|---|---|---|")
    for work in WORK:
        if work.name.endswith(REAL) and not (DATA / f"{REAL}.csv").exists():
            continue
        panel = work.draw()
        times = [_seconds(panel, loss) for loss in ("brier", "log")]
        met = all(time <= target for time, target in zip(times, work.targets, strict=True))
        told = " | ".join(f"{1e3 * time:.1f} ms" for time in times)
        targets = ", ".join(f"{1e3 * target:.0f} ms" for target in work.targets)
        print(f"| {work.name} | {told} | {targets} | {'met' if met else 'missed'} |", flush=True)
    _print_growth("structures", growth(GROWTH, DECADES, "log"), DECADES)
    for loss in ("brier", "log"):
        _print_growth(f"tied to other events, {loss}", growth(TIED, TIED_SIZES, loss), TIED_SIZES)


def _print_growth(title: str, rows: Iterator[list[str]], sizes: tuple[int, ...]) -> None:
    print(f"\n| {title} | {' | '.join(f'{size:,}' for size in sizes)} | exponent |\n|---|{'---|' * (len(sizes) + 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def growth(draws: Mapping[str, Callable[[int], Panel]], sizes: tuple[int, ...], loss: str) -> Iterator[list[str]]:
    """Times of each structure, and the exponent from the first size to the last."""
    for name, draw in draws.items():
        times = [_seconds(draw(size), loss) for size in sizes]
        exponent = np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0])
        yield [name, *(f"{1e3 * time:.2f} ms" for time in times), f"{exponent:.2f}"]


def _seconds(panel: Panel, loss: str) -> float:
    result, seconds, _ = fastest(lambda: co.aggregate(panel, co.Exact(threads=1), loss))
    if result.status != "optimal":
        raise RuntimeError(f"{result.status}: nothing is proved")
    return seconds


if __name__ == "__main__":
    main()
