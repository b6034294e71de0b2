"""All that is known about a panel, and about a result of it, as one value for terminal, JSON and page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import PanelError
from coherently.explain import check
from coherently.report.move_reasons import without_judges
from coherently.scoring import diversity, score
from coherently.values import Value
from coherently.verifier import verify

if TYPE_CHECKING:
    from coherently.engine import Engine
    from coherently.explain import Check
    from coherently.panel import Panel, Progress
    from coherently.panel.weights import Weights
    from coherently.report.move_reasons import WithoutJudges
    from coherently.result import Result
    from coherently.scoring import Diversity, Scores
    from coherently.verifier import Verification


SECONDS = 5.0
"""Time limit of the answers without each judge."""


@dataclass(frozen=True, slots=True, eq=False)
class Dossier(Value):
    """A panel, its check (None if nothing can be checked) and, with outcomes, the scores of its judges.

    With a result there is also its verification and, with outcomes, `replaced`: the scores of the result in place of
    each judge. `diversity` is None if outcomes do not show it. `without` has the answers without each judge, if there
    was time for them. `notes` say what is missing, and why. `seconds` is the time for each further look.
    """

    panel: Panel
    check: Check | None
    scores: Scores | None
    result: Result | None = None
    replaced: Scores | None = None
    verification: Verification | None = None
    notes: tuple[str, ...] = ()
    diversity: Diversity | None = None
    without: WithoutJudges | None = None
    seconds: float = SECONDS


def make_dossier(
    panel: Panel,
    result: Result | None = None,
    *,
    weights: Weights | None = None,
    time_limit: float,
    threads: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Dossier:
    """Check a panel, score it and verify its result; without a result, a panel that cannot be checked is an error."""
    try:
        found = check(panel, weights=weights, time_limit=time_limit, threads=threads, progress=progress, engine=engine)
    except PanelError as error:
        if result is None:
            raise
        missing = (f"the report has no table of judges by incoherence: {error}",)
        return put_together(panel, None, result, missing, seconds=time_limit)
    return put_together(panel if result is not None else found.panel, found, result, seconds=time_limit)


def put_together(
    panel: Panel,
    found: Check | None,
    result: Result | None = None,
    notes: tuple[str, ...] = (),
    *,
    seconds: float = SECONDS,
) -> Dossier:
    """Make the dossier with a check that exists already."""
    resolved = panel.written.outcome >= 0
    scores = score(panel) if resolved[panel.event_index].any() else None
    if result is None:
        return Dossier(panel, found, scores, notes=notes, diversity=diversity(panel))
    answered = scores is not None and bool(np.any(resolved & ~np.isnan(result.solution.value)))
    replaced = score(panel, result, by_judge=True) if answered else None
    return Dossier(
        panel,
        found,
        scores,
        result,
        replaced=replaced,
        verification=verify(panel, result),
        notes=notes,
        diversity=diversity(panel),
        without=without_judges(result, min(seconds, SECONDS)),
        seconds=min(seconds, SECONDS),
    )
