"""Every judge of a panel left out exactly, against one aggregate: processor time, and the distance from the plain way.

`python -m bench.influence [PANEL [LAWS]]` reads ../shared/data/llm_panel_scraped.csv with its laws unless another panel
is named. With `--check`, each answer is compared with that of the panel without the judge, which takes as long as so
many aggregates.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from coherently.explain.influence.influence_table import answers_of, parts_of
from coherently.panel.left_out import PartKind, without_parts
from coherently.solve.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable

PANEL = Path("../shared/data/llm_panel_scraped.csv")
MOST = 3.0
"""Target: leaving out every judge takes at most so many times one aggregate."""
RUNS = 3


def processor_time(work: Callable[[], object]) -> float:
    """The least processor time of some runs, in seconds."""
    found = []
    for _ in range(RUNS):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def farthest(result: co.Result) -> float:
    """The largest difference from the answers to the panels without each judge."""
    panel, answers, most = result.panel, answers_of(result, Budget()), 0.0
    for part in parts_of(panel):
        if part.kind is PartKind.JUDGE:
            again = co.aggregate(without_parts(panel, [part]), "exact")
            known = dict(zip(again.panel.written.text, again.solution.value.tolist(), strict=True))
            plain = np.array([known.get(text, np.nan) for text in panel.written.text])
            most = max(most, float(np.nanmax(np.abs(answers.without(part).value - plain))))
    return most


def main(*arguments: str) -> None:
    """Print the table."""
    files = [Path(word) for word in arguments if not word.startswith("--")] or [PANEL]
    laws = files[1] if len(files) > 1 else files[0].with_suffix(".laws")
    panel = co.read_panel(files[0], laws=laws if laws.exists() else None)
    result = co.aggregate(panel, "exact")
    judges = [part for part in parts_of(panel) if part.kind is PartKind.JUDGE]

    def leave_out() -> None:
        answers = answers_of(result, Budget())
        for part in judges:
            answers.without(part)

    once, all_of_them = processor_time(lambda: co.aggregate(panel, "exact")), processor_time(leave_out)
    print(f"{panel.summary()}\n\n| measure | found | target |\n|---|---|---|")
    print(f"| one aggregate | {once:.3f} s | |")
    print(f"| {len(judges)} judges left out | {all_of_them:.3f} s | |")
    print(f"| times one aggregate | {all_of_them / once:.2f} | {MOST:g} |")
    if "--check" in arguments:
        print(f"| largest difference from the plain way | {farthest(result):.2g} | |")


if __name__ == "__main__":
    main(*sys.argv[1:])
