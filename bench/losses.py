"""Every loss and every term: processor time on drawn and on real panels, as a table in Markdown.

The real panels are read from a folder beside the repository, where it is there (see `experiments.evaluation.panels`).
The peer is Clarabel through CVXPY on the same problem over all worlds, which are listed beforehand: exponential cones
for the log loss, second-order cones for conditionals.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from bench.measure import fastest, timed, with_one_thread
from coherently.panel import Panel
from coherently.problem import pose
from coherently.simulation import simulate
from experiments.evaluation.panels import DATA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.problem import Merged
    from coherently.result import Result

REAL = (
    ("llm_panel_scraped", "llm_panel_scraped", "log", 3.0),
    ("llm_panel_scraped", "llm_panel_scraped", "spherical", 3.0),
    ("flusight_2017", "flusight_2017", "log", 1.0),
    ("flusight_2017", "flusight_2017", "spherical", 1.0),
    ("kalshi_books_panel", "kalshi_books_panel", "brier", 0.02),
    ("football_2425", "football_2425", "brier", 0.2),
    ("conditional_llm", None, "brier", 0.4),
    ("llm_scraped_all", "llm_panel_scraped", "brier", 4.0),
)
"""Panel, laws, loss and target in seconds."""
SEEDS = 5
TIMES_BRIER, TIMES_CONIC = 5.0, 20.0
PINNED = 2.0
"""Target for a thousand pins, in seconds."""


def run() -> None:
    """Print the table, from a process of its own with one thread."""
    with_one_thread("bench.losses")


def main() -> None:
    """Measure everything."""
    print("\n| work | processor, median (worst) | gap | target | |\n|---|---|---|---|---|")
    for row in chain(_dense(), _conic(), _pinned(), _real()):
        print(f"| {' | '.join(row)} |", flush=True)


def _solve(panel: Panel, loss: str, seed: int = 0) -> tuple[Result, float]:
    method = co.Exact(time_limit=60, threads=1, seed=seed)
    result, seconds, _ = timed(lambda: co.aggregate(panel, method, loss))
    return result, seconds


def _gap(result: Result) -> float:
    """The gap, relative to the objective."""
    assert result.gap is not None
    assert result.objective is not None
    return result.gap / max(1.0, result.objective)


def _dense() -> Iterator[tuple[str, ...]]:
    """The paper's largest panel: the log loss beside the Brier loss."""
    panels = [simulate(judges=47, variables=30, seed=seed) for seed in range(SEEDS)]
    brier = [_solve(panel, "brier")[1] for panel in panels]
    for loss in ("log", "spherical"):
        runs = [_solve(panel, loss) for panel in panels]
        ratio = float(np.median([seconds / base for (_, seconds), base in zip(runs, brier, strict=True)]))
        worst = max(_gap(result) for result, _ in runs)
        median = float(np.median([seconds for _, seconds in runs]))
        aim = f"at most {TIMES_BRIER:g}x Brier: {ratio:.1f}x"
        yield (
            f"{loss} loss, S(30,47), {SEEDS} seeds",
            f"{median:.2f} s",
            f"{worst:.0e}",
            aim,
            _verdict(ratio <= TIMES_BRIER),
        )


def _conic() -> Iterator[tuple[str, ...]]:
    """The log loss over 1,024 worlds, beside Clarabel."""
    panel = simulate(judges=31, variables=10, seed=0)
    problem = pose(panel, co.Log())
    ours, seconds, _ = fastest(lambda: co.aggregate(panel, co.Exact(threads=1), "log"))
    theirs, peer, _ = timed(lambda: _by_clarabel(problem.merged))
    away = abs(theirs - (ours.objective or 0.0)) / theirs
    ratio = peer / seconds
    aim = f"{TIMES_CONIC:g}x faster than Clarabel ({peer:.1f} s, {away:.0e} away): {ratio:.0f}x"
    yield (
        "log loss, S(10,31), all worlds",
        f"{1e3 * seconds:.0f} ms",
        f"{_gap(ours):.0e}",
        aim,
        _verdict(ratio >= TIMES_CONIC),
    )


def _by_clarabel(merged: Merged) -> float:
    """The least sum of w (x ln x/t + (1 - x) ln (1 - x)/(1 - t)) over mixtures of all worlds."""
    import cvxpy as cp

    n = merged.n_variables
    worlds = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.uint8)
    truth = merged.functions.hold(worlds).astype(np.float64)
    share = cp.Variable(len(worlds), nonneg=True)
    x = truth.T @ share
    lost = merged.weight @ (cp.rel_entr(x, merged.mean) + cp.rel_entr(1.0 - x, 1.0 - merged.mean))
    program = cp.Problem(cp.Minimize(lost), [cp.sum(share) == 1])
    return float(program.solve(solver=cp.CLARABEL))


def _pinned() -> Iterator[tuple[str, ...]]:
    """1,000 pins on a chain of 10,000 events."""
    rng = np.random.default_rng(0)
    chance = rng.uniform([0.1, 0.05], [0.9, 0.6], (5_000, 2)).tolist()
    texts = [(f"x{i}", f"x{i} & x{i + 1}") for i in range(len(chance))]
    rows = [("A", text, p) for both, own in zip(texts, chance, strict=True) for text, p in zip(both, own, strict=True)]
    laws = [f"P(x{i}) = {rng.uniform(0.2, 0.8):.3f}" for i in range(0, len(chance), 5)]
    runs = [_solve(Panel.from_records(rows, laws=laws), "brier", seed) for seed in range(SEEDS)]
    times, gap = [seconds for _, seconds in runs], max(_gap(result) for result, _ in runs)
    shown = f"{np.median(times):.2f} s ({max(times):.2f} s)"
    aim = f"at most {PINNED:g} s"
    yield f"1,000 pins, chain of 10,000 events, {SEEDS} seeds", shown, f"{gap:.0e}", aim, _verdict(max(times) <= PINNED)


def _real() -> Iterator[tuple[str, ...]]:
    for name, laws, loss, most in REAL:
        if not (DATA / f"{name}.csv").is_file():
            continue
        panel = co.read_panel(DATA / f"{name}.csv", laws=None if laws is None else DATA / f"{laws}.laws")
        runs = [_solve(panel, loss, seed) for seed in range(SEEDS)]
        times, gap = [seconds for _, seconds in runs], max(_gap(result) for result, _ in runs)
        shown = f"{np.median(times):.2f} s ({max(times):.2f} s)"
        is_met = max(times[1:]) <= most  # the first run loads modules
        yield f"{loss} loss, {name}, {SEEDS} seeds", shown, f"{gap:.0e}", f"at most {most:g} s", _verdict(is_met)


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "missed"


if __name__ == "__main__":
    main()
