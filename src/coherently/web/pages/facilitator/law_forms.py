"""What the forms for laws and for judges do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain
from coherently.web.operations import invitations, questions
from coherently.web.pages.facilitator.question_page import show_questions
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.joined_events import chips
from coherently.web.pages.forms.joined_laws import relate
from coherently.web.pages.visits import wrong
from coherently.web.refusals import RefusedError
from coherently.web.shapes.judging_shapes import JudgeDraft
from coherently.web.shapes.panel_shapes import LawDraft

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Visit


def add_law(visit: Visit) -> Response:
    """Add a law that was typed or picked as chips, or only show what the chips say."""
    panel, law = visit.part("panel"), {name: visit.form.get(name, "").strip() for name in ("statement", "title")}
    try:
        if "relation" in visit.form:
            listed = questions.list_questions(visit.bench, visit.caller, panel).questions
            law = relate(visit.form, chips(listed)).model_dump()
            if visit.form.get("show"):
                return show_questions(visit, law=law)
        questions.add_law(visit.bench, visit.caller, panel, fill(LawDraft, **law))
    except CoherentlyError as error:
        return show_questions(visit, wrong(error), law=law)
    return visit.go(f"/panels/{panel}/questions#laws", "laws.added")


def drop_law(visit: Visit) -> Response:
    """Let a law hold no longer."""
    panel = visit.part("panel")
    back = "board" if visit.form.get("back") == "board" else "questions"
    try:
        questions.drop_law(visit.bench, visit.caller, panel, visit.part("law"))
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    return visit.go(f"/panels/{panel}/{back}", "laws.dropped")


def read_laws(text: str) -> dict[str, str]:
    r"""Laws as they stand in a text, with their words.

    >>> read_laws("a -> b  # An a means a b.\n\n# nothing\nb | c")
    {'a -> b': 'An a means a b.', 'b | c': ''}
    """
    found = {}
    for line in text.splitlines():
        statement, _, words = line.partition("#")
        if statement.strip():
            found[statement.strip()] = words.strip()
    return found


def save_laws(visit: Visit) -> Response:
    """Take the laws from a text: new ones are added, missing ones dropped, all others stay."""
    panel, wanted = visit.part("panel"), read_laws(visit.form.get("text", ""))
    try:
        drafts = [fill(LawDraft, statement=statement, title=words) for statement, words in wanted.items()]
        added, dropped = questions.replace_laws(visit.bench, visit.caller, panel, drafts)
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    return visit.go(f"/panels/{panel}/questions#laws", "laws.saved", added=added, dropped=dropped)


def invite(visit: Visit) -> Response:
    """Invite judges, and show their links this once."""
    panel = visit.part("panel")
    names = [line.strip() for line in visit.form.get("names", "").splitlines() if line.strip()]
    try:
        if not names:
            raise RefusedError(422, "not-usable", plain("judges.no_names"))
        drafts = [fill(JudgeDraft, name=name) for name in names]
        invited = invitations.invite_judges(visit.bench, visit.caller, panel, drafts)
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    return show_questions(visit, links=invited)


def renew_or_revoke(visit: Visit) -> Response:
    """A new link for a judge, or none any more."""
    bench, caller, panel, judge = visit.bench, visit.caller, visit.part("panel"), visit.part("judge")
    try:
        if not visit.form.get("revoke"):
            return show_questions(visit, links=[invitations.renew_link(bench, caller, panel, judge)])
        name = invitations.own_judge(bench, caller, panel, judge).name
        invitations.revoke_link(bench, caller, panel, judge)
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    return visit.go(f"/panels/{panel}/questions#judges", "judges.revoked.note", name=name)
