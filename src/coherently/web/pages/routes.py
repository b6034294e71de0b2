"""Where each page is, and where each form goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from coherently.web.pages.assets import serve_asset
from coherently.web.pages.facilitator import (
    board_page,
    discussion_page,
    import_page,
    influence_page,
    law_forms,
    login_page,
    next_page,
    people_page,
    question_page,
    relation_page,
    result_forms,
    result_page,
    score_page,
    sheet_preview,
    start_page,
)
from coherently.web.pages.judge_pages import judge_routes
from coherently.web.pages.shared_report import shared_routes
from coherently.web.pages.visits import route

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from coherently.web.access.workbench import Workbench
    from coherently.web.pages.visits import Visit

PANEL = "/panels/{panel}"
SHOWN: dict[str, Callable[[Visit], Response]] = {
    "/": start_page.show_start,
    "/scores": score_page.show_scores,
    PANEL: start_page.open_panel,
    f"{PANEL}/questions": question_page.show_questions,
    f"{PANEL}/relations": relation_page.show_relations,
    f"{PANEL}/preview": sheet_preview.preview,
    f"{PANEL}/board": board_page.show_board,
    f"{PANEL}/discussion": discussion_page.show_discussion,
    f"{PANEL}/results": result_page.show_results,
    f"{PANEL}/people": people_page.show_people,
    f"{PANEL}/deadline.ics": people_page.calendar,
    f"{PANEL}/aggregations/{{aggregation}}/recipe.json": result_forms.recipe,
    f"{PANEL}/influence": influence_page.show_influence,
    f"{PANEL}/next": next_page.show_next,
    f"{PANEL}/aggregations/{{aggregation}}/influence.{{ending}}": influence_page.influence_file,
    f"{PANEL}/aggregations/{{aggregation}}/certificate.json": result_forms.certificate,
    f"{PANEL}/aggregations/{{aggregation}}/accuracy.{{ending}}": result_forms.accuracy,
}
"""What is shown, by address."""
SENT: dict[str, Callable[[Visit], Response]] = {
    "/logout": login_page.leave,
    "/demo": start_page.open_demo,
    "/scores": score_page.join_people,
    "/panels": start_page.create,
    "/panels/import": import_page.read_file,
    PANEL: start_page.edit,
    f"{PANEL}/import": import_page.read_file_into,
    f"{PANEL}/questions": question_page.add,
    f"{PANEL}/questions/{{question}}": question_page.edit,
    f"{PANEL}/names": question_page.keep_name,
    f"{PANEL}/copy": start_page.copy,
    f"{PANEL}/aside": start_page.put_aside,
    f"{PANEL}/delete": start_page.delete,
    f"{PANEL}/restore": start_page.restore,
    f"{PANEL}/laws": law_forms.add_law,
    f"{PANEL}/laws/text": law_forms.save_laws,
    f"{PANEL}/laws/{{law}}/drop": law_forms.drop_law,
    f"{PANEL}/laws/{{law}}/keep": board_page.keep,
    f"{PANEL}/relations": relation_page.decide,
    f"{PANEL}/judges": law_forms.invite,
    f"{PANEL}/judges/{{judge}}/link": law_forms.renew_or_revoke,
    f"{PANEL}/addresses": people_page.save_addresses,
    f"{PANEL}/messages": people_page.send,
    f"{PANEL}/messages/{{message}}": people_page.repeat_or_cancel,
    f"{PANEL}/zone": people_page.set_zone,
    f"{PANEL}/report-links": people_page.make_link,
    f"{PANEL}/report-links/{{link}}": people_page.revoke_link,
    f"{PANEL}/rounds": board_page.advance,
    f"{PANEL}/comments": discussion_page.comment,
    f"{PANEL}/discussion/moderation": discussion_page.moderate,
    f"{PANEL}/discussion/numbers": discussion_page.show_or_hide_numbers,
    f"{PANEL}/outcomes": result_forms.save_outcomes,
    f"{PANEL}/aggregations": result_forms.request,
    f"{PANEL}/aggregations/{{aggregation}}/cancel": result_forms.cancel,
}
"""Where forms go."""


def page_routes(_: Workbench) -> list[BaseRoute]:
    """All pages and files, to stand beside the API."""
    files = Route("/static/{name}", serve_asset, methods=["GET"], name="GET /static")
    shown = [route(path, handler) for path, handler in SHOWN.items()]
    # A reload, or the history of a browser, asks for the address of a form: it gets the page of the panel.
    shown += [route(path, start_page.open_panel) for path in SENT if path.startswith(PANEL) and path not in SHOWN]
    sent = [route(path, handler, "POST") for path, handler in SENT.items()]
    return [files, *login_page.login_routes(), *judge_routes(), *shared_routes(), *shown, *sent]
