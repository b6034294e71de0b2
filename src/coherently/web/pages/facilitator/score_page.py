"""Scores over all panels of the account: of the panels, and of their judges."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from coherently.web.catalogue import plain
from coherently.web.operations.known_scores import team_scores
from coherently.web.pages.formats import percent

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Visit


def show_scores(visit: Visit) -> Response:
    """The page."""
    found = team_scores(visit.bench, visit.caller)
    judges = [
        SimpleNamespace(
            **{name: getattr(each, name) for name in ("name", "panels", "known", "brier")},
            calibration=[
                plain("scores.step", said=percent(step.said), came=percent(step.came_true)) for step in each.calibration
            ],
        )
        for each in found.judges
    ]
    count = len(found.panels)
    lead = plain("scores.lead", count=count) if count else plain("scores.lead.none")
    return visit.show("scores.html", lead=lead, panels=found.panels, judges=judges)
