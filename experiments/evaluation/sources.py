"""The development panels: where they come from, and what to bear in mind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from experiments.evaluation.panels import DATA, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.panel import Panel


def by_pattern(pattern: str) -> Callable[[str], str]:
    """The part of an event's text that a pattern finds, as its cluster; other processes can take it, too."""
    return partial(_found, pattern)


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return text if found is None else found.group()


MATCH, QUESTION, WEEK = by_pattern(r"e\d_\d+"), by_pattern(r"q\d+"), by_pattern(r"ew\d+")


@dataclass(frozen=True, slots=True)
class Source:
    """A panel: its `name` (that of its file and of its page), what it is `of`, and what its page says `about` it.

    `laws` is the file of its laws, if that is not its own; `kin` is the panel of which it is another form. `cluster` and
    `over` are those of docs/evaluation-plan.md, for folds and intervals; `apart` says in words what one cluster is.
    """

    name: str
    of: str
    about: str
    laws: str | None = None
    kin: str | None = None
    cluster: Callable[[str], str] | None = None
    over: str | None = None
    apart: str = "component"

    def read(self) -> Panel:
        """The panel with its laws, all judges included."""
        laws = self.laws or f"{self.name}.laws"
        return read(f"{self.name}.csv", laws if (DATA / laws).is_file() else None)


SOURCES = (
    Source(
        "llm_panel_scraped",
        "language models on related questions",
        "Language models on questions that were scraped from prediction sites, alone and joined by not, and, or (Paleka and "
        "others, Consistency Checks for Language Model Forecasters, 2025); repeated answers are averaged, and implications "
        "between questions are laws. Questions that exclude each other are not declared to do so. Licence not stated.",
    ),
    Source(
        "llm_scraped_all",
        "the same models, with conditionals and unresolved events",
        "All that the source of `llm_panel_scraped` has, under the same laws: conditionals, repeats and unresolved events, too. "
        "A conditional whose condition failed is called off and not scored. Licence not stated.",
        laws="llm_panel_scraped.laws",
        kin="llm_panel_scraped",
    ),
    Source(
        "conditional_llm",
        "language models on conditionals",
        "Language models on P(a), P(a given b) and P(a given ~b) for questions of prediction sites (elsehow/llm-forecasting, "
        "MIT by its README). Several judges are one model under different prompts, so the judges are less independent than their "
        "number says.",
    ),
    Source(
        "llm_polymarket",
        "frontier models on partitions, option by option",
        "Frontier language models on resolved questions of a prediction market, asked option by option; each forecast is the mean "
        "of 8 answers (akotawala10/composition-incoherence-icml, MIT). The source kept only questions with exactly one yes, "
        "which favours methods that sum to 1; models may know outcomes; several questions share an election.",
        cluster=QUESTION,
        apart="question",
    ),
    Source(
        "llm_polymarket_samples",
        "the same models, every answer apart",
        "The answers of which `llm_polymarket` has the means, as repeats, under the same laws.",
        kin="llm_polymarket",
        cluster=QUESTION,
        apart="question",
    ),
    Source(
        "football_2425",
        "bookmakers, overround left in",
        "Odds of bookmakers on English league matches of 2024-25 (football-data.co.uk): home, draw, away; handicaps, of which "
        "handicap 0 is a conditional; goals. Probabilities are 1/odds, so they sum to more than 1. One exchange has stale "
        "quotes. Redistribution not stated.",
        cluster=MATCH,
        apart="match",
    ),
    Source(
        "flusight_2017",
        "influenza models, weeks and season peak",
        "Models of the influenza season 2017-18 (CDC FluSight, CC BY 4.0): thresholds of the next four weeks and of the season's "
        "peak, which cannot be lower than a week. Six forecast weeks, four regions. Thresholds of one quantity are strongly "
        "dependent; the extreme contradictions of two models may be faults of format.",
        cluster=WEEK,
        apart="forecast week",
    ),
    Source(
        "flusight_2017_bins",
        "the same models, full partitions",
        "One week and one region of `flusight_2017`, with all bins of each target as a partition, and no law between targets: every "
        "model forecasts the same full partitions, and its bins sum to 1.",
        kin="flusight_2017",
    ),
    Source(
        "flusight_2017_bins_numbers",
        "the same bins, tied to the peak by laws",
        "The bins of `flusight_2017_bins` as intervals of numbers, with laws that tie the weeks to the season's peak.",
        kin="flusight_2017",
    ),
    Source(
        "fpt_coherence",
        "people on a partition with unions and ladders",
        "People on one coherence task: a partition with unions, complement pairs, ladders of time, place and size (Forecasting "
        "Research Institute; licence not stated). Outcomes are general knowledge: the scored items are easy facts, so "
        "anything that makes forecasts bolder looks good, and there is one family of each kind.",
    ),
    Source(
        "metaculus_pros",
        "professionals, the negative control",
        "Professional forecasters on questions of the third quarter of 2024 (Metaculus; licence not stated), many of them in "
        "families of brackets, ladders and choices. They are nearly coherent: nothing is left to repair.",
    ),
    Source(
        "kalshi_books_panel",
        "order books of an exchange, every two hours",
        "Quotes on the highest temperature of three days, six brackets a day, as snapshots every two hours: a judge is a day and an "
        "hour, a forecast the middle of bid and ask, with both as its interval. Late snapshots know the answer, and an empty "
        "side makes the middle meaningless. Outcomes are the last quotes, not the exchange's record. Licence not stated.",
        over="time",
        apart="day",
    ),
)
"""The panels with outcomes that have a page."""
PLANNED = (
    *SOURCES,
    Source(
        "flusight_2526_peak",
        "influenza models, the season of 2025-26",
        "Models of the influenza season 2025-26 (CDC FluSight, MIT): admissions of the next three weeks and the season's peak at six "
        "thresholds, 16 states at 3 dates. All states share the season: what one teaches another was known to nobody at that date.",
        over="time",
        apart="date",
    ),
)
"""The panels of docs/evaluation-plan.md: those with a page, and one whose three dates leave little to say on a page."""
UNRESOLVED = {
    "human_probjudg_mean": "people on weather and politics: no outcomes, so only coherence is measured",
    "human_poker": "people on poker hands: no outcomes, but the true probabilities are known",
}
"""The panels without outcomes, and what they can show."""
