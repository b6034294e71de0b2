"""The page of relations that the words of questions suggest, and what its forms do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.web.operations import panel_operations as panels
from coherently.web.operations import related_questions
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.visits import wrong
from coherently.web.shapes.relation_shapes import RelationDraft

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.relation_shapes import RelationList

OFFERED = 3
"""Number of families that the page of questions offers."""


def show_relations(visit: Visit, note: Notice | None = None) -> Response:
    """The page: what waits, what is only a question, and what was decided by whom."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    found = related_questions.list_relations(bench, caller, panel)
    return visit.show(
        "relations.html",
        422 if note is not None else 200,
        note=note or visit.notice(),
        panel=panels.get_panel(bench, caller, panel),
        waiting=[each for each in found.families if each.state == "waiting"],
        asked=[each for each in found.families if each.state == "ask"],
        decided=[each for each in found.families if each.state == "decided"],
        same_occasion=found.same_occasion,
        notes=found.notes,
        decisions=found.decisions,
        by=name_of(visit, found),
    )


def offered(visit: Visit, panel: str) -> dict[str, Any]:
    """What the page of questions shows of relations: the first that wait, and how many there are."""
    found = related_questions.list_relations(visit.bench, visit.caller, panel)
    waiting = [each for each in found.families if each.state == "waiting"]
    return {
        "related": waiting[:OFFERED],
        "related_more": len(waiting[OFFERED:]),
        "has_relations": bool(found.families or found.decisions),
        "by": name_of(visit, found),
    }


def name_of(visit: Visit, found: RelationList) -> str:
    """Who decides: as the form said, the account, or on one's own machine whoever decided last."""
    last = found.decisions[0].by if found.decisions else ""
    return visit.form.get("by", "") or (last if visit.caller.is_local else visit.caller.name)


def decide(visit: Visit) -> Response:
    """Accept or reject a family, accept a law of one's own instead, or say that all is about one occasion."""
    bench, caller, panel, form = visit.bench, visit.caller, visit.part("panel"), visit.form
    is_edited = form.get("decision") == "edit"
    said: dict[str, Any] = {"decision": "accept" if is_edited else form.get("decision", "")}
    said |= {name: form[name].strip() for name in ("family", "reason", "by") if form.get(name, "").strip()}
    if is_edited:
        said["law"] = form.get("law", "").strip()
    try:
        made = related_questions.decide_relation(bench, caller, panel, fill(RelationDraft, **said))
    except CoherentlyError as error:
        return show_relations(visit, wrong(error))
    back = "questions#related" if form.get("back") == "questions" else "relations"
    if not made.added:
        return visit.go(f"/panels/{panel}/{back}", "relations.none_taken")
    return visit.go(f"/panels/{panel}/{back}", "relations.taken", count=len(made.added))
