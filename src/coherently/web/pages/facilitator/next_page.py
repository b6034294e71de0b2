"""What to ask next: the questions whose answers would say most, and one click to ask them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.web.access.error_refusals import refusal_of
from coherently.web.catalogue import plain
from coherently.web.operations import aggregation_operations as aggregations
from coherently.web.operations import panel_operations as panels
from coherently.web.operations import questions
from coherently.web.operations.version_questions import ALL, CONTRADICTIONS, get_next_questions
from coherently.web.pages.facilitator.result_page import chosen
from coherently.web.pages.facilitator.titles import capital, name_events
from coherently.web.pages.formats import percent
from coherently.web.pages.visits import wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from coherently.web.pages.facilitator.titles import NamedEvent
    from coherently.web.pages.visits import Visit
    from coherently.web.shapes.aggregation_shapes import GainView, NextQuestionsView


def show_next(visit: Visit) -> Response:
    """The page, of the newest version or of the one that is asked for."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    view = panels.get_panel(bench, caller, panel)
    current = chosen(aggregations.list_aggregations(bench, caller, panel).aggregations, visit.asked("version"))
    if current is None:
        return visit.show("next.html", panel=view, current=None, lead=plain("next.none"))
    events = name_events(questions.list_questions(bench, caller, panel).questions)
    given = visit.asked("about")
    about = given if given in events or given == CONTRADICTIONS else ALL
    common: dict[str, Any] = {"panel": view, "current": current, "about": about, "events": list(events.values())}
    may_ask = view.round.phase != "closed" and about != CONTRADICTIONS
    calls = visit.request.app.state.calculator
    try:
        found = get_next_questions(bench, caller, panel, current.id, calls=calls, about=about)
    except CoherentlyError as error:
        status, lead = refusal_of(error).status, plain("next.refused")
        return visit.show("next.html", status, lead=lead, rows=[], notes=[], note=wrong(error), **common)
    rows = [row_of(each, found) for each in found.questions]
    lead = lead_of(found, events)
    return visit.show("next.html", lead=lead, rows=rows, notes=found.notes, may_ask=may_ask, **common)


def lead_of(found: NextQuestionsView, events: Mapping[str, NamedEvent]) -> str:
    """How much is open, and what to ask first."""
    kind = found.about if found.about in (ALL, CONTRADICTIONS) else "event"
    title = events[found.about].title if kind == "event" else ""
    if not found.questions:
        return plain(f"next.nothing.{kind}", title=title)
    first = plain(f"next.open.{kind}", count=round(100 * found.open), title=title)
    return f"{first} {plain('next.best', title=found.questions[0].title)}"


def row_of(question: GainView, found: NextQuestionsView) -> SimpleNamespace:
    """A question with what its answer brings, in words."""
    if found.about == CONTRADICTIONS:
        share = min(1.0, question.gain / found.open)
        words = plain("next.removes.small" if share < 0.005 else "next.removes", share=percent(share))
    else:
        points = round(100 * question.gain)
        words = plain("next.gain", count=points) if points else plain("next.gain.small")
    return SimpleNamespace(**question.model_dump() | {"title": capital(question.title), "words": words})
