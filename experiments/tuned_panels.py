"""What `co.tune` and the default recipe are worth on the real panels, out of fold, as a table in Markdown.

`python -m experiments.tuned_panels [NAME ...]` reads the panels from the folder of COHERENTLY_DATA.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import coherently as co
from experiments.evaluation.panels import DATA, honest, read, require_data

if TYPE_CHECKING:
    from collections.abc import Sequence

PANELS = (
    "llm_panel_scraped",
    "conditional_llm",
    "llm_polymarket",
    "llm_polymarket_samples",
    "football_2425",
    "flusight_2017",
    "flusight_2526_peak",
    "fpt_coherence",
    "metaculus_pros",
    "flusight_2017_bins",
    "kalshi_books_panel",
)
ROWS = ("Median", "Log pool", "Default recipe", "Tuned pool", "Tuned recipe")
TIME_LIMIT = 10.0
"""Seconds for each answer of a candidate."""


def run(names: Sequence[str]) -> None:
    """Print the change of the Brier score against the linear average, in per cent."""
    require_data(names)
    print(f"| panel | folds | groups | linear | {' | '.join(ROWS)} | tuned less linear, 95% |")
    print("|---" * (len(ROWS) + 5) + "|")
    for name in names:
        laws = f"{name}.laws"
        panel = honest(read(f"{name}.csv", laws if (DATA / laws).is_file() else None))
        tuned = co.tune(panel, time_limit=TIME_LIMIT)
        score = dict(zip(tuned.scores.methods, tuned.scores.value[:, 0], strict=True))
        linear = score["Linear average"]
        changes = " | ".join(f"{100 * (score[row] / linear - 1):+.1f}" for row in ROWS)
        interval = tuned.scores.difference("Tuned recipe", "Linear average").interval
        shown = "too few groups" if interval is None else f"{interval[0]:+.4f} to {interval[1]:+.4f}"
        kept = "" if tuned.is_learned else " (default kept)"
        print(
            f"| {name} | {tuned.over} | {tuned.components} | {linear:.4f} | {changes}{kept} | {shown} |",
            flush=True,
        )


if __name__ == "__main__":
    run(sys.argv[1:] or PANELS)
