"""The relaxed problem, beside general solvers of quadratic programs.

Each run of a solver on a panel is a process of its own with one thread: arrays in, arrays out. A solver gets the
loosest tolerance with which it is accurate, and its best run counts. The ratios are of processor time, which is
the time on an idle machine: what else runs would disturb a single long run more than the best of many short ones.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

import coherently as co
from bench.measure import peak_memory
from bench.peers import PEERS, facet_form
from coherently.problem import Functions, Merged, pose
from coherently.solve.relaxed.pairs import solve_pairwise

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.panel import Panel
    from coherently.problem import Problem

SIZES = {"FIN": (10, 31), "STCK": (30, 47), "BIG": (200, 1000), "HUGE": (1000, 30000)}
"""Variables and judges."""
WORKS = [("R", "natural"), ("R", "flat"), ("P", "natural"), ("P", "flat")]
DESIGNS = {"R": "logical", "P": "pairs"}
TARGETS = {
    ("R", "natural"): {"STCK": 40, "BIG": 40, "HUGE": 60},
    ("R", "flat"): {"STCK": 1, "BIG": 1, "HUGE": 5},
    ("P", "natural"): {"STCK": 5, "BIG": 10, "HUGE": 20},
    ("P", "flat"): {},
}
WHOLE_TARGETS = {("R", "STCK"): 5, ("R", "BIG"): 10, ("P", "BIG"): 3}
MEMORY_TARGET = 400
OURS = "ours"
SWEEPS = 10
OUR_TOLERANCE = 1e-9
TOLERANCES = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
LONG = 5.0
"""Seconds beyond which one run is enough."""
EVERYTHING = "COHERENTLY_BENCH_ALL"
"""Set it to 1 to have Clarabel try HUGE too, which takes minutes."""
GROUP_BYTES = 32
"""What the compiled method keeps of a group that has one event: weight, target, two literals and a coordinate."""


@dataclass(frozen=True, slots=True)
class Case:
    """A solver, the file of the problem it gets, the tolerance to begin with and the objective to reach."""

    file: str
    design: str
    flat: bool
    solver: str
    tolerance: float = TOLERANCES[0]
    objective: float = math.nan


@dataclass(frozen=True, slots=True)
class Figures:
    """What a solver did, and its seconds of the processor and of the clock; memory is in MB.

    `gap` is how far the objective is from our lower bound (ours) or from ours (peers), relative to it.
    """

    seconds: float
    clock: float
    build: float
    tolerance: float
    objective: float
    gap: float
    violation: float
    peak: float
    rise: float
    iterations: int = 0

    def is_accurate(self) -> bool:
        return self.gap <= 1e-6 and self.violation <= 1e-7


T = TypeVar("T")
ARRAYS = ("event", "weight", "mean", "origin")
FUNCTIONS = tuple(field.name for field in dataclasses.fields(Functions))
Found: TypeAlias = dict[tuple[str, str, str, str], Figures]
"""By the problem, its weights, the panel and the solver."""


def run() -> None:
    """Print the tables, each as soon as it is measured."""
    panels = {
        size: co.simulate(judges=judges, variables=variables, seed=0) for size, (variables, judges) in SIZES.items()
    }
    problems = {size: pose(panel) for size, panel in panels.items()}
    events = {size: int((problem.merged.sizes() == 2).sum()) for size, problem in problems.items()}
    found: Found = {}
    print(f"\nOne thread a solver; the load on {os.cpu_count()} processors was {os.getloadavg()[0]:.1f} at the start")
    with tempfile.TemporaryDirectory() as folder:
        for size, problem in problems.items():
            store(problem.merged, _file(folder, size))
        for work, weights in WORKS:
            _print_work(folder, work, weights, events, found)
    _print_whole(panels, found)
    _print_growth(events, found)
    _print_roofline(events["HUGE"], found["R", "natural", "HUGE", OURS])
    _print_loop(problems)


def _file(folder: str, size: str) -> str:
    return str(Path(folder) / f"{size}.npz")


def store(merged: Merged, file: str) -> None:
    """Write a problem without laws, conditionals and so on."""
    functions = {name: getattr(merged.functions, name) for name in FUNCTIONS}
    np.savez(file, **functions, **{name: getattr(merged, name) for name in ARRAYS})


def _peers(size: str) -> list[str]:
    if size != "HUGE":
        return list(PEERS)
    return ["PIQP", "Clarabel"] if os.environ.get(EVERYTHING) == "1" else ["PIQP"]


def _in_a_process(case: Case) -> Figures:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-m", "bench.relaxed", json.dumps(dataclasses.asdict(case))],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
        env=os.environ | threads,
    )
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def measure(case: Case) -> Figures:
    """Time a solver on a stored problem."""
    with np.load(case.file) as stored:
        functions = Functions(*(stored[name] for name in FUNCTIONS))
        merged = Merged(functions=functions, **{name: stored[name] for name in ARRAYS})
    if case.flat:
        merged = dataclasses.replace(merged, weight=np.ones(len(merged)))
    return _measure_ours(merged, case) if case.solver == OURS else _measure_peer(merged, case)


def _measure_ours(merged: Merged, case: Case) -> Figures:
    before = peak_memory()
    found = solve_pairwise(merged, case.design, OUR_TOLERANCE)
    peak = peak_memory()
    seconds, clock = _least_times(lambda: solve_pairwise(merged, case.design, OUR_TOLERANCE))
    facets = facet_form(merged, case.design)
    y = facets.recovered(found.x)
    objective = facets.objective(found.x)
    gap = (objective - found.lower_bound) / objective
    violation = max(facets.violation(y), float(np.abs(facets.answer(y) - found.x).max()))
    return Figures(
        seconds, clock, 0.0, OUR_TOLERANCE, objective, gap, violation, peak, peak - before, iterations=found.sweeps
    )


def _measure_peer(merged: Merged, case: Case) -> Figures:
    before = peak_memory()
    build, _ = _least_times(lambda: PEERS[case.solver](facet_form(merged, case.design)))
    facets = facet_form(merged, case.design)
    solve = PEERS[case.solver](facets)
    for tolerance in TOLERANCES[TOLERANCES.index(case.tolerance) :]:
        y, seconds, clock = _timed(lambda: solve(tolerance))  # noqa: B023
        peak = peak_memory()
        objective = facets.objective(facets.answer(y))
        # A point outside the facets may well be nearer.
        gap = abs(objective - case.objective) / case.objective
        figures = Figures(seconds, clock, build, tolerance, objective, gap, facets.violation(y), peak, peak - before)
        if figures.is_accurate():
            if clock > LONG:
                return figures
            again, clock_again = _least_times(lambda: solve(tolerance))  # noqa: B023
            return dataclasses.replace(figures, seconds=min(seconds, again), clock=min(clock, clock_again))
        if clock > 2 * LONG:
            break
    return figures


def _timed(work: Callable[[], T]) -> tuple[T, float, float]:
    """What the work gives, and its seconds of the processor and of the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    given = work()
    return given, time.process_time() - processor, time.perf_counter() - clock


def _least_times(work: Callable[[], object]) -> tuple[float, float]:
    """The best of as many runs as a second has, of 3 to 30; of one where it is long."""
    _, processor, clock = _timed(work)
    for _ in range(0 if clock > LONG else round(min(30, max(2, 1 / clock)))):
        _, another, another_clock = _timed(work)
        processor, clock = min(processor, another), min(clock, another_clock)
    return processor, clock


def _print_work(folder: str, work: str, weights: str, events: dict[str, int], found: Found) -> None:
    """Measure one kind of problem on every panel, and remember what was found."""
    print(f"\n{work}: relaxed problem, groups {DESIGNS[work]}, {weights} weights, solver alone")
    print(
        f"  {'panel':5}{'events':>9}  {'solver':9}{'clock':>11}{'processor':>11}{'peer/ours':>11}{'target':>13}"
        f"{'objective':>16}{'off by':>10}{'violation':>11}{'tolerance':>11}  peak memory (rise)"
    )
    for size in SIZES:
        case = Case(_file(folder, size), DESIGNS[work], weights == "flat", OURS)
        ours = found[work, weights, size, OURS] = _in_a_process(case)
        _print_row(size, events[size], OURS, ours, "", "")
        for peer in _peers(size):
            # What was accurate on the panel before is where to begin on the largest, which takes long.
            begin = found[work, weights, "BIG", peer].tolerance if size == "HUGE" else TOLERANCES[0]
            asked = dataclasses.replace(case, solver=peer, tolerance=begin, objective=ours.objective)
            figures = found[work, weights, size, peer] = _in_a_process(asked)
            _print_row(
                size, events[size], peer, figures, *_compare(figures, ours.seconds, TARGETS[work, weights].get(size))
            )


def _print_row(size: str, events: int, solver: str, figures: Figures, ratio: str, verdict: str) -> None:
    print(
        f"  {size:5}{events:>9,}  {solver:9}{_time(figures.clock)}{_time(figures.seconds)}{ratio:>11}{verdict:>13}"
        f"{figures.objective:>16.8f}{figures.gap:>10.0e}{figures.violation:>11.0e}{figures.tolerance:>11.0e}"
        + _memory(size, solver, figures)
        + ("" if figures.is_accurate() else "  accuracy not reached"),
        flush=True,
    )


def _memory(size: str, solver: str, figures: Figures) -> str:
    if size != "HUGE":
        return ""
    target = f", target {MEMORY_TARGET}" if solver == OURS else ""
    return f"  {figures.peak:.0f} MB (+{figures.rise:.0f}){target}"


def _print_whole(panels: dict[str, Panel], found: Found) -> None:
    print("\nWhole co.aggregate on a built panel, and a peer's build and solve, natural weights, processor time")
    for (work, size), target in WHOLE_TARGETS.items():
        method = co.AlternatingProjections(groups=DESIGNS[work], correction="dykstra")
        seconds, _ = _least_times(lambda: co.aggregate(panels[size], method))  # noqa: B023
        print(f"  {work} {size:5}{OURS:9}{_time(seconds)}")
        for peer in PEERS:
            figures = found[work, "natural", size, peer]
            both = figures.build + figures.seconds
            ratio, verdict = _compare(dataclasses.replace(figures, seconds=both), seconds, target)
            print(f"  {'':7}{peer:9}{_time(both)}{ratio:>11}{verdict:>13}")


def _print_growth(events: dict[str, int], found: Found) -> None:
    print("\nGrowth of the solver's processor time with the events: time, time an event, exponent to the next panel")
    print(f"  {'':20}" + "".join(f"{f'{size} {count:,}':>24}{'':8}" for size, count in events.items()).rstrip())
    for work, weights in WORKS:
        for solver in (OURS, "PIQP"):
            times = {size: found[work, weights, size, solver].seconds for size in events}
            line = "".join(
                f"{_time(times[size]):>12}{1e6 * times[size] / events[size]:>9.2f} us"
                + ("" if after is None else f"{_exponent(events, times, size, after):>8.2f}")
                for size, after in zip(events, [*list(events)[1:], None], strict=True)
            )
            print(f"  {work} {weights:8} {solver:9}{line}")


def _exponent(events: dict[str, int], times: dict[str, float], size: str, after: str) -> float:
    return math.log(times[after] / times[size]) / math.log(events[after] / events[size])


def _print_roofline(groups: int, figures: Figures) -> None:
    array = np.ones(1 << 25)
    target = np.empty_like(array)
    seconds, _ = _least_times(lambda: np.copyto(target, array))
    bandwidth = 2 * array.nbytes / seconds / 1e9
    load = GROUP_BYTES * groups
    passes = figures.seconds * bandwidth * 1e9 / load
    print(
        f"\nRoofline, R HUGE, natural weights: {groups:,} groups of {GROUP_BYTES} bytes are {load / 1e6:.1f} MB;\n"
        f"  {figures.iterations} iterations in {figures.seconds:.3f} s take as long as {passes:.0f} passes over them"
        f" at the {bandwidth:.1f} GB/s of copying 256 MB"
    )


def _print_loop(problems: dict[str, Problem]) -> None:
    print(f"\nThe paper's loop on the posed problem, groups logical, at most {SWEEPS} sweeps, processor time")
    method = co.AlternatingProjections(sweeps=SWEEPS)
    for size, problem in problems.items():
        groups = int((problem.merged.sizes() == 2).sum())
        sweeps = method.solve(problem).sweeps or SWEEPS
        seconds, _ = _least_times(lambda: method.solve(problem))  # noqa: B023
        each = 1e9 * seconds / sweeps / groups
        print(f"  {size:5}{groups:>9,} groups{_time(seconds)}{sweeps:>4} sweeps{each:>6.0f} ns a group and sweep")


def _compare(peer: Figures, seconds: float, target: float | None) -> tuple[str, str]:
    """How many times as long a peer took, and what that says about the target."""
    ratio = peer.seconds / seconds
    if not peer.is_accurate():
        return f">{ratio:.1f}x", ""
    return f"{ratio:.1f}x", "" if target is None else f"{target:g}x {'met' if ratio >= target else 'missed'}"


def _time(seconds: float) -> str:
    return f"{seconds:>9.2f} s" if seconds >= 1 else f"{1e3 * seconds:>8.2f} ms"


if __name__ == "__main__":
    print(json.dumps(dataclasses.asdict(measure(Case(**json.loads(sys.argv[1]))))))
