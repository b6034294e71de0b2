"""Recipes on real panels: what is learned, and what it is worth on events that did not teach it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import coherently as co
from experiments.markdown import stamp, table, write_page
from experiments.panels import DATA, honest, read

if TYPE_CHECKING:
    from coherently.scoring import Comparison, Tuned

PANELS = {
    "llm_panel_scraped": "language models, related questions",
    "llm_polymarket": "language models, partitions asked option by option",
    "llm_polymarket_samples": "the same models, five answers each",
    "football_2425": "bookmakers, overround left in",
    "metaculus_pros": "professionals, nearly coherent",
    "flusight_2017": "influenza models, thresholds",
    "fpt_coherence": "1,188 people, partitions and ladders",
}
INTRODUCTION = """\
# Recipes on real panels

What `co.tune` learns on panels that people, models and bookmakers really made, and what that is worth on events that did not
teach it. Brier scores, means over judges, lower is better; **bold** is the best row, and rows that are not shown to differ
from it (95% interval over judges and events) are marked with a tilde: they tie with it."""
ROWS = ("Raw", "Linear average", "Median", "Exact", "Default recipe", "Tuned pool", "Tuned recipe")


def main() -> None:
    """Tune on each panel that is there, and write the page."""
    begun = time.perf_counter()
    there = [name for name in PANELS if (DATA / f"{name}.csv").is_file()]
    if not there:
        raise SystemExit(f"{DATA} holds none of the panels; set COHERENTLY_DATA to the folder that has them")
    found: dict[str, Tuned] = {}
    for name in there:
        print(f"{name}: tuning", flush=True)
        laws = f"{name}.laws" if (DATA / f"{name}.laws").is_file() else None
        found[name] = co.tune(honest(read(f"{name}.csv", laws)))
    parts = [INTRODUCTION, stamp("make evaluate", time.perf_counter() - begun), _scores(found), *_learned(found)]
    print(f"{write_page('evaluation-recipes.md', parts)} written")


def _scores(found: dict[str, Tuned]) -> str:
    rows = [[name, PANELS[name], *_cells(tuned.scores)] for name, tuned in found.items()]
    return table(["panel", "of", *ROWS], rows)


def _cells(scores: Comparison) -> list[str]:
    value = {row: scores.value[scores.methods.index(row), 0] for row in ROWS}
    best = min(value, key=lambda row: value[row])
    return [f"{_mark(scores, row, best)}{value[row]:.4f}{'**' if row == best else ''}" for row in ROWS]


def _mark(scores: Comparison, row: str, best: str) -> str:
    if row == best:
        return "**"
    interval = scores.difference(row, best).interval
    return "" if interval is not None and interval[0] > 0 else "~"


def _learned(found: dict[str, Tuned]) -> list[str]:
    parts = ["## What was learned"]
    for name, tuned in found.items():
        against = [
            tuned.scores.difference("Tuned recipe", other).sentence
            for other in ("Tuned pool", "Default recipe")
            if tuned.is_learned
        ]
        default = tuned.scores.difference("Default recipe", "Linear average").sentence
        parts.append("\n".join([f"**{name}.** {tuned.sentence}", "", *(f"- {line}" for line in (*against, default))]))
    return parts


if __name__ == "__main__":
    main()
