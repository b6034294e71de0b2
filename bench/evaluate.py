"""`make evaluate`: real panels, read from a folder beside the repository and never copied into it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

import coherently as co

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


def main() -> None:
    """Print what each panel holds and how its judges and their average score."""
    if not DATA.is_dir():
        sys.exit(f"{DATA} is not there: the real panels are not part of the repository (set COHERENTLY_DATA)")
    for name in PANELS:
        begun = time.perf_counter()
        panel = co.read_panel(DATA / name)
        print(f"{name}: {panel.summary()}, read in {time.perf_counter() - begun:.2f} s")
        honest = [not judge.startswith(SAW_OUTCOMES) for judge in panel.judges]
        panel = panel.select(np.array(honest)[panel.judge_index])
        if not (panel.written.outcome >= 0).any():
            print("  no outcomes")
            continue
        average = co.aggregate(panel, "linear")
        for label, scores in (("raw", co.score(panel)), ("linear average", co.score(panel, average))):
            mean = scores.average()
            print(f"  {label}: Brier {mean['brier']:.4f}, log {mean['log']:.4f}, slope {mean['slope']:.4f}")


if __name__ == "__main__":
    main()
