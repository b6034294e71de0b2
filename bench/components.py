"""Many small components: whole calls of `co.aggregate` and of bounds, as a table in Markdown, and how time grows."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import coherently as co
from bench.measure import with_one_thread
from experiments.evaluation.panels import DATA

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.panel import Panel

SIZES = (100, 1_000, 10_000, 100_000)
"""Components of two variables, over three decades."""
GROWTH = 1.1
"""Largest exponent of time in the number of components."""
ASKED = 4_000
"""Components of the panel about which bounds are asked."""
RUNS = 7


class Row(NamedTuple):
    """A piece of work, its seconds of the processor, the most that they should be, and what was found."""

    work: str
    seconds: float
    target: float
    found: str

    def line(self) -> str:
        """A line of the table."""
        met = "met" if self.seconds <= self.target else "**missed**"
        return f"| {self.work} | {1e3 * self.seconds:.2f} ms | {self.found} | {1e3 * self.target:g} ms | {met} |"


def two_variables(components: int, seed: int = 0) -> Panel:
    """Forecasts at random of two variables, both and either of them, in each component."""
    forms = ("a{0}", "b{0}", "a{0} & b{0}", "a{0} | b{0}")
    p = np.random.default_rng(seed).random((components, len(forms))).tolist()
    rows = [("A", form.format(i), q) for i in range(components) for form, q in zip(forms, p[i], strict=True)]
    return co.Panel.from_records(rows)


def single_events(events: int, judges: int = 3, seed: int = 0) -> Panel:
    """Forecasts at random of events that nothing ties together."""
    p = np.random.default_rng(seed).random((events, judges)).tolist()
    return co.Panel.from_records([(f"judge {j}", f"e{i}", p[i][j]) for i in range(events) for j in range(judges)])


def football_panel() -> Panel | None:
    """Three outcomes of each of 612 matches, and as many single events, if the file is here."""
    if not (DATA / "football_2425.csv").is_file():
        return None
    return co.read_panel(DATA / "football_2425.csv", laws=DATA / "football_2425.laws")


def least_seconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """The least seconds of the processor of several runs."""
    spent = []
    for _ in range(runs):
        begun = time.process_time()
        work()
        spent.append(time.process_time() - begun)
    return min(spent)


def aggregated(work: str, panel: Panel, loss: str, target: float) -> Row:
    """The whole of `co.aggregate`."""
    method = co.Exact(threads=1)
    result = co.aggregate(panel, method, loss)
    assert result.gap is not None
    found = f"{result.status}, {len(result.components):,} components, gap {result.gap:.0e}"
    return Row(f"{work}, {loss}", least_seconds(lambda: co.aggregate(panel, method, loss)), target, found)


def asked(components: int) -> Row:
    """The bounds of one event after the other; the index of the result is made before."""
    result = co.aggregate(two_variables(components), co.Exact(threads=1))
    result.bounds("a0 & ~b0")
    events = [f"a{i} & ~b{i}" for i in range(1, min(components, 101))]
    pairs = result.bounds_table(events).bounds
    seconds = least_seconds(lambda: result.bounds_table(events), runs=3) / len(events)
    proved = sum(pair.certified for pair in pairs)
    return Row(
        f"bounds of an event among {components:,} components", seconds, 2e-3, f"{proved} of {len(events)} certified"
    )


def growth(loss: str, sizes: tuple[int, ...] = SIZES) -> tuple[list[float], float]:
    """The seconds for each size, and the exponent from the first to the last."""
    method, spent = co.Exact(threads=1), []
    for size in sizes:
        panel = two_variables(size)
        co.aggregate(panel, method, loss)
        spent.append(least_seconds(lambda panel=panel: co.aggregate(panel, method, loss), runs=3))  # type: ignore[misc]
    return spent, math.log(spent[-1] / spent[0]) / math.log(sizes[-1] / sizes[0])


def main() -> None:
    """Print the table, and the growth."""
    print("| work | processor | found | target | |\n|---|---|---|---|---|")
    football, two, single = football_panel(), two_variables(1_000), single_events(957)
    rows = [
        ("football_2425", football, {"brier": 0.05, "log": 0.05}),
        ("1,000 components of 2 variables", two, {"brier": 0.01, "log": 0.015, "spherical": 0.015}),
        ("957 single events by three judges", single, {"brier": 0.01, "log": 0.01}),
    ]
    for work, panel, targets in rows:
        if panel is None:
            print(f"| {work} | not here | | | |")
            continue
        for loss, target in targets.items():
            print(aggregated(work, panel, loss, target).line(), flush=True)
    print(asked(ASKED).line(), flush=True)
    for loss in ("brier", "log"):
        spent, exponent = growth(loss)
        told = ", ".join(f"{size:,}: {1e3 * seconds:.3g} ms" for size, seconds in zip(SIZES, spent, strict=True))
        met = "met" if exponent <= GROWTH else "**missed**"
        print(
            f"\nComponents of 2 variables, {loss}: {told}; exponent {exponent:.2f}, target {GROWTH}: {met}", flush=True
        )


def run() -> None:
    """Measure with one thread."""
    with_one_thread("bench.components")


if __name__ == "__main__":
    main()
