"""The nearest coherent forecasts themselves: times, gaps and targets, as a table in Markdown.

Built problems, arrays in and arrays out, one thread; a short run is repeated and its best counts. Every answer is
verified by evaluation, outside the time. Targets in seconds are judged by the clock, which is what the limits of time
are of. The ratio to a peer is of processor time: what else runs disturbs the clock of the longer work more.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import nnls

import coherently as co
from bench.draw import sparse_panel
from bench.growth import measure_growth, plot_growth, print_growth
from bench.measure import has_one_thread, in_a_row, in_turn, with_one_thread
from bench.runs import Run, solve_and_verify, verified
from coherently.problem import pose
from coherently.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.problem import Merged

TOLERANCE = 1e-6
PATIENCE = 30.0
"""Seconds after which a proof is given up."""
SLACK = 1.05
"""How far a limit of time may be overrun: work looks at the clock now and then."""
SPARSE = (2000, 6000)
SPARSE_LIMIT = 10.0
SPARSE_KINDS = ("simulated", "uniform")
ANNEALED = (((10, 31), 5), ((30, 47), 5), ((40, 70), 3))
"""Variables, judges and seeds of the panels on which simulated annealing stands beside."""


@dataclass(frozen=True, slots=True)
class Row:
    """A piece of work, a run a seed (of the seeds asked for), and what `is_met` asks of each run, `aim` in words."""

    work: str
    seeds: int
    runs: Sequence[Run]
    aim: str = "-"
    is_met: Callable[[Run], bool] | None = None

    def __str__(self) -> str:
        cells = [
            self.work,
            str(self.seeds) if len(self.runs) == self.seeds else f"{len(self.runs)} of {self.seeds}",
            _spread([run.clock for run in self.runs], _time),
            _spread([run.seconds for run in self.runs], _time),
            _spread([run.gap for run in self.runs], _share),
            self.aim,
            self._verdict(),
        ]
        return f"| {' | '.join(cells)} |"

    def _verdict(self) -> str:
        if self.is_met is None:
            return "-"
        met = sum(map(self.is_met, self.runs))
        return "met" if met == len(self.runs) else f"missed by {len(self.runs) - met} of {len(self.runs)}"


def run() -> None:
    """Print the tables, from a process of its own with one thread."""
    with_one_thread("bench.exact")


def main() -> None:
    """Measure everything, or only what the plot shows."""
    parser = argparse.ArgumentParser(description="Speed of the method exact, as tables in Markdown.")
    parser.add_argument("--plot", action="store_true", help="measure growth alone and write docs/images")
    if parser.parse_args().plot:
        growth = measure_growth()
        print_growth(growth)
        print(f"written: {plot_growth(growth)}", file=sys.stderr)
        return
    print(f"\nThe load on {os.cpu_count()} processors was {os.getloadavg()[0]:.1f} at the start.\n")
    print("| work | seeds | clock, median (worst) | processor | gap | target | |\n|---|---|---|---|---|---|---|")
    for row in _rows():
        print(row, flush=True)
    print()
    print_growth(measure_growth())


def _rows() -> Iterable[Row]:
    yield from _fin()
    for variables, judges, seeds, seconds in ((30, 47, 5, 0.3), (40, 70, 3, 2.0), (50, 100, 3, 15.0)):
        yield _proved(variables, judges, seeds, seconds)
    for variables, judges, seconds, gap in ((50, 100, 0.7, 0.05), (100, 300, 4.0, 0.04)):
        yield _stopped(variables, judges, seconds, gap)
    yield from map(_sparse, SPARSE_KINDS)
    yield from _annealed()


def _fin() -> Iterable[Row]:
    """The panel whose atoms can be listed, beside non-negative least squares over them."""
    for order, words in ((in_a_row, "runs in a row"), (in_turn, "runs in turn with NNLS")):
        pairs = [_beside_nnls(_panel(10, 31, seed), order) for seed in range(5)]
        ratio = {ours: peer.seconds / ours.seconds for ours, peer in pairs}
        aim = f"10x faster than NNLS: {statistics.median(ratio.values()):.1f}x ({min(ratio.values()):.1f}x)"
        yield Row(f"S(10,31), FIN, {words}", 5, list(ratio), aim, partial(_is_faster, ratio))
        yield Row("the same by `scipy.optimize.nnls` over 1,024 atoms", 5, [peer for _, peer in pairs])


def _is_faster(ratio: dict[Run, float], run: Run) -> bool:
    return ratio[run] >= 10 and run.gap <= TOLERANCE


def _beside_nnls(panel: Panel, order: Callable[..., Any]) -> tuple[Run, Run]:
    """Both on one panel; listing the atoms is counted for ours alone."""
    problem, method = pose(panel), co.Exact(tolerance=TOLERANCE)
    merged, atoms = problem.merged, _atoms(problem.merged)
    ours, theirs = order(lambda: method.solve(problem), lambda: _by_nnls(merged, atoms))
    run = verified(panel, Result(panel, method, problem, ours[0]), *ours[1:])
    found = float(np.sum(merged.weight * (theirs[0] - merged.mean) ** 2))
    return run, Run(theirs[1], theirs[2], found, abs(found - run.objective) / run.objective)


def _by_nnls(merged: Merged, atoms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The usual formulation: the point of a polytope that is nearest to the origin, with u for the weights of atoms.

    The least |Yu|^2 + (sum u - 1)^2 over u >= 0 has u in proportion to the weights of the nearest point.
    """
    columns = np.sqrt(merged.weight)[:, None] * (atoms - merged.mean[:, None])
    right = np.zeros(len(merged) + 1)
    right[-1] = 1.0
    u, _ = nnls(np.vstack([columns, np.ones(atoms.shape[1])]), right)
    return np.asarray(atoms @ (u / u.sum()))


def _atoms(merged: Merged) -> NDArray[np.float64]:
    """Whether each event holds in each world, a column a world; events are about one or two variables."""
    worlds = np.arange(2**merged.n_variables)
    atoms = np.empty((len(merged), len(worlds)))
    for i in range(len(merged)):
        own = merged.functions.of(i).astype(np.int64)
        entry = ((worlds[:, None] >> own & 1) << np.arange(len(own))).sum(axis=1)
        atoms[i] = int(merged.functions.words(i)[0]) >> entry & 1
    return atoms


def _proved(variables: int, judges: int, seeds: int, seconds: float) -> Row:
    runs = [_solved(variables, judges, seed) for seed in range(seeds)]
    aim = f"gap {TOLERANCE:g} within {seconds:g} s"
    return Row(f"S({variables},{judges})", seeds, runs, aim, lambda run: run.gap <= TOLERANCE and run.clock <= seconds)


def _stopped(variables: int, judges: int, seconds: float, gap: float) -> Row:
    method = co.Exact(tolerance=TOLERANCE, time_limit=seconds)
    runs = [solve_and_verify(_panel(variables, judges, seed), method) for seed in range(3)]
    work = f"S({variables},{judges}), stopped after {seconds:g} s"
    return Row(work, 3, runs, f"gap {gap:.0%}", lambda run: run.gap <= gap and run.clock <= SLACK * seconds)


def _sparse(kind: str) -> Row:
    method = co.Exact(tolerance=TOLERANCE, time_limit=SPARSE_LIMIT)
    runs: list[Run] = []
    for seed in range(3):
        runs.append(solve_and_verify(sparse_panel(*SPARSE, kind, seed), method))
        if runs[-1].clock > 2 * SPARSE_LIMIT:  # missed, and the others would take as long
            break
    variables, events = SPARSE
    work = f"{variables:,} variables, {events:,} events, {kind}, stopped after {SPARSE_LIMIT:g} s"
    aim = f"coherent within {SPARSE_LIMIT:g} s, gap as proved"
    return Row(work, 3, runs, aim, lambda run: run.clock <= SLACK * SPARSE_LIMIT)


def _annealed() -> Iterable[Row]:
    """Simulated annealing, whose gap is what its energy has over the exact objective."""
    for (variables, judges), seeds in ANNEALED:
        runs = []
        for seed in range(seeds):
            best = _solved(variables, judges, seed).objective
            annealed = solve_and_verify(_panel(variables, judges, seed), co.Annealing())
            runs.append(Run(annealed.seconds, annealed.clock, annealed.objective, annealed.objective / best - 1))
        yield Row(f"S({variables},{judges}) by annealing (SAPA), gap to exact", seeds, runs)


@lru_cache
def _solved(variables: int, judges: int, seed: int) -> Run:
    return solve_and_verify(_panel(variables, judges, seed), co.Exact(tolerance=TOLERANCE, time_limit=PATIENCE))


def _panel(variables: int, judges: int, seed: int) -> Panel:
    return co.simulate(variables=variables, judges=judges, seed=seed)


def _spread(values: Sequence[float], show: Callable[[float], str]) -> str:
    return f"{show(statistics.median(values))} ({show(max(values))})"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.2f} ms"


def _share(value: float) -> str:
    return f"{value:.2%}" if value >= 1e-4 else f"{value:.1e}"


if __name__ == "__main__":
    if has_one_thread():
        main()
    else:
        with_one_thread("bench.exact", *sys.argv[1:])
