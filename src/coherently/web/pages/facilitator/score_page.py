"""Scores over all panels of the account: of the panels, and of their judges."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain
from coherently.web.operations import same_people
from coherently.web.operations.known_scores import team_scores
from coherently.web.pages.formats import percent
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.visits import wrong
from coherently.web.shapes.aggregation_shapes import PersonDraft

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Notice, Visit


def join_people(visit: Visit) -> Response:
    """Note that the judges of a name are one person, or no longer that somebody said so."""
    try:
        draft = fill(PersonDraft, name=visit.form.get("name", ""), same="apart" not in visit.form)
        same_people.join_people(visit.bench, visit.caller, draft.name, same=draft.same)
    except CoherentlyError as error:
        return show_scores(visit, wrong(error))
    return visit.go("/scores#judges", "scores.joined" if draft.same else "scores.apart", name=draft.name)


def show_scores(visit: Visit, note: Notice | None = None) -> Response:
    """The page."""
    found = team_scores(visit.bench, visit.caller)
    judges = [
        SimpleNamespace(
            **{
                name: getattr(each, name) for name in ("name", "panels", "known", "brier", "together", "same", "joined")
            },
            calibration=[
                plain("scores.step", said=percent(step.said), came=percent(step.came_true)) for step in each.calibration
            ],
        )
        for each in found.judges
    ]
    count = len(found.panels)
    lead = plain("scores.lead", count=count) if count else plain("scores.lead.none")
    return visit.show(
        "scores.html",
        200 if note is None else 422,
        note=note or visit.notice(),
        lead=lead,
        panels=found.panels,
        judges=judges,
    )
