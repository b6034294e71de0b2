"""`make evaluate`: docs/evaluation.md, and a page for each panel in docs/evaluation."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import TYPE_CHECKING

from experiments.evaluation.details import page
from experiments.evaluation.front import front
from experiments.evaluation.panels import honest, read, require_data
from experiments.evaluation.people import hands, judgements
from experiments.evaluation.scored import score
from experiments.evaluation.scraped import sections, time_exact
from experiments.evaluation.sources import PLANNED, SOURCES, UNRESOLVED
from experiments.evidence import PROCESSES, planned, write_evidence
from experiments.markdown import stamp, write_page

if TYPE_CHECKING:
    from experiments.evaluation.scored import Scored
    from experiments.evaluation.sources import Source


def main() -> None:
    """Evaluate every panel, and write the pages."""
    require_data([*(source.name for source in PLANNED), *UNRESOLVED])
    begun = time.perf_counter()
    time_and_gap = time_exact(read("llm_panel_scraped.csv"))  # alone on the machine
    with ProcessPoolExecutor(PROCESSES) as processes:
        running = processes.map(partial(evaluate, time_and_gap), SOURCES)
        pages = {"human_probjudg_mean": judgements(), "human_poker": hands()}
        found = []
        for source, (scored, parts) in zip(SOURCES, running, strict=True):
            print(f"{source.name}: {time.perf_counter() - begun:.0f} s", flush=True)
            found.append(scored)
            pages[source.name] = parts, []
    for name, (parts, _) in pages.items():
        write_page(f"evaluation/{name}.md", parts)
    head = [
        "# Real panels",
        f"{stamp('make evaluate', time.perf_counter() - begun)} Processor time: {_processor():,.0f} s.",
    ]
    told = {name: findings for name, (_, findings) in pages.items()}
    print(f"{write_page('evaluation.md', [*head, *front(found, UNRESOLVED, told)])} written")
    rest = [planned(source) for source in PLANNED if source not in SOURCES]
    print(f"{write_evidence([*found, *rest], 'make evaluate', time.perf_counter() - begun)} written")


def _processor() -> float:
    """Seconds of processor time so far, those of the processes that have ended included."""
    used = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def evaluate(time_and_gap: str, source: Source) -> tuple[Scored, list[str]]:
    """The scores of a panel and the parts of its page."""
    every = source.read()
    panel = honest(every)
    scored = score(source.name, panel, of=source.of, kin=source.kin, cluster=source.cluster, over=source.over)
    extra = sections(every, scored, time_and_gap) if source.name == "llm_panel_scraped" else []
    return scored, page(scored, source.about, every, panel, extra)


if __name__ == "__main__":
    main()
