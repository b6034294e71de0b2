"""`make evaluate`: real panels, read from a folder beside the repository and never copied into it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from bench.measure import timed
from bench.runs import verified

if TYPE_CHECKING:
    from coherently.panel import Panel

DATA = Path(os.environ.get("COHERENTLY_DATA", Path(__file__).parents[2] / "shared" / "data"))
PANELS = (
    "llm_panel_scraped.csv",
    "llm_scraped_all.csv",
    "conditional_llm.csv",
    "human_probjudg_mean.csv",
    "human_poker.csv",
)
SAW_OUTCOMES = "Resolver_"
"""Judges so named searched the web and may have seen outcomes."""
EXACT = "llm_panel_scraped.csv"
"""The panel on which the method exact is timed."""
EXACT_SEEDS = 12
EXACT_TARGET = 3.0
EXACT_GAP = 1e-6


def main() -> None:
    """Print what each panel holds and how its judges and their average score."""
    if not DATA.is_dir():
        sys.exit(f"{DATA} is not there: the real panels are not part of the repository (set COHERENTLY_DATA)")
    for name in PANELS:
        if not (DATA / name).is_file():
            print(f"{name}: not in {DATA}, left out")
            continue
        begun = time.perf_counter()
        panel = co.read_panel(DATA / name)
        print(f"{name}: {panel.summary()}, read in {time.perf_counter() - begun:.2f} s")
        if name == EXACT:
            _time_exact(panel)
        honest = [not judge.startswith(SAW_OUTCOMES) for judge in panel.judges]
        panel = panel.select(np.array(honest)[panel.judge_index])
        if not (panel.written.outcome >= 0).any():
            print("  no outcomes")
            continue
        average = co.aggregate(panel, "linear")
        for label, scores in (("raw", co.score(panel)), ("linear average", co.score(panel, average))):
            mean = scores.average()
            print(f"  {label}: Brier {mean['brier']:.4f}, log {mean['log']:.4f}, slope {mean['slope']:.4f}")


def _time_exact(panel: Panel) -> None:
    """Aggregate all judges' forecasts to a proved gap, with every seed of the search."""
    runs = []
    for seed in range(EXACT_SEEDS):
        method = co.Exact(tolerance=EXACT_GAP, seed=seed)
        runs.append(verified(panel, *timed(lambda: co.aggregate(panel, method))))  # noqa: B023
    met = all(run.clock <= EXACT_TARGET and run.gap <= EXACT_GAP for run in runs)
    print(
        f"  exact, seeds 0 to {EXACT_SEEDS - 1}: {' '.join(f'{run.clock:.2f}' for run in runs)} s, "
        f"gap at most {max(run.gap for run in runs):.0e}; "
        f"target {EXACT_GAP:g} within {EXACT_TARGET:g} s, every seed: {'met' if met else 'missed'}"
    )


if __name__ == "__main__":
    main()
