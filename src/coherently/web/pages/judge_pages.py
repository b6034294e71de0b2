"""The judge's pages: the link that opens the sheet, the sheet, and its form for browsers without script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from coherently.errors import CoherentlyError
from coherently.explain import judge_sheet as desk
from coherently.web.access.callers import judge
from coherently.web.access.origins import link_origin
from coherently.web.access.sessions import open_link, set_cookie
from coherently.web.catalogue import plain
from coherently.web.operations import closings, sheets
from coherently.web.operations.deadlines import sheet_calendar
from coherently.web.operations.discussions import TALKING
from coherently.web.operations.judge_drawings import axes_of
from coherently.web.operations.questions import setting_of
from coherently.web.pages.closing_sheet import ClosingSheet
from coherently.web.pages.discussion_sheet import DiscussionSheet
from coherently.web.pages.drawing_fields import drawing_of, shown_distribution
from coherently.web.pages.facilitator.people_page import calendar_file
from coherently.web.pages.facilitator.result_page import by_heading, certified
from coherently.web.pages.judge_forms import answer_form
from coherently.web.pages.judge_view import OPEN, SheetPage, typed
from coherently.web.pages.practice_page import send_practice, show_practice
from coherently.web.pages.rendered import page
from coherently.web.pages.visits import Notice, read_form, refused_page, wrong
from coherently.web.refusals import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from coherently.web.access.callers import JudgeCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.closing_shapes import ClosingView
    from coherently.web.shapes.judging_shapes import CommentView
    from coherently.web.shapes.sheet_shapes import SheetView


FEW_DIGITS = 6
"""A number of a question has fewer digits."""


def judge_routes() -> list[BaseRoute]:
    """Where judges go."""
    return [
        Route("/j/{secret}", open_sheet, methods=["GET"], name="GET /j"),
        Route("/sheet", show, methods=["GET"], name="GET /sheet"),
        Route("/sheet", send, methods=["POST"], name="POST /sheet"),
        Route("/sheet/practice", show_practice, methods=["GET"], name="GET /sheet/practice"),
        Route("/sheet/practice", send_practice, methods=["POST"], name="POST /sheet/practice"),
        Route("/sheet/answers.csv", table, methods=["GET"], name="GET /sheet/answers.csv"),
        Route("/sheet/deadline.ics", deadline, methods=["GET"], name="GET /sheet/deadline.ics"),
    ]


async def open_sheet(request: Request) -> Response:
    """Open a link: the browser gets a cookie, and the secret leaves its address."""
    return await run_in_threadpool(_open, request)


def _open(request: Request) -> Response:
    try:
        _, cookie = open_link(request, request.path_params["secret"])
    except RefusedError as error:
        return _closed_door(request, error)
    response = RedirectResponse("/sheet", 303)
    set_cookie(request, response, cookie, judge=True)
    return response


async def show(request: Request) -> Response:
    """The sheet."""
    return await run_in_threadpool(_show, request)


def _show(request: Request) -> Response:
    try:
        caller = judge(request)
        return sheet_page(request, caller, _done(request))
    except RefusedError as error:
        return _closed_door(request, error)
    except CoherentlyError as error:
        return refused_page(request, error)


async def table(request: Request) -> Response:
    """The own numbers and those of the panel, as a file, once the panel is closed."""
    return await run_in_threadpool(_table, request)


def _table(request: Request) -> Response:
    try:
        caller, bench = judge(request), _bench(request)
        text = ClosingSheet(sheets.get_sheet(bench, caller), closings.get_closing(bench, caller)).table()
    except RefusedError as error:
        return _closed_door(request, error)
    headers = {"Content-Disposition": 'attachment; filename="answers.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


async def deadline(request: Request) -> Response:
    """The end of the round as a file for calendars."""
    return await run_in_threadpool(_deadline, request)


def _deadline(request: Request) -> Response:
    bench = _bench(request)
    try:
        text = sheet_calendar(bench, judge(request), link_origin(request, bench.settings))
    except RefusedError as error:
        return _closed_door(request, error)
    return calendar_file(text)


async def send(request: Request) -> Response:
    """Keep what the form says; the script of the page uses the API instead."""
    try:
        form, _ = await read_form(request)
    except CoherentlyError as error:
        return refused_page(request, error)
    return await run_in_threadpool(_send, request, form)


def _send(request: Request, form: Mapping[str, str]) -> Response:
    try:
        caller = judge(request, form.get("csrf_token", ""))
    except RefusedError as error:
        return _closed_door(request, error)
    try:
        address = answer_form(_bench(request), caller, form)
    except CoherentlyError as error:
        return sheet_page(request, caller, wrong(error), status=422, form=form)
    return RedirectResponse(address, 303)


def _bench(request: Request) -> Workbench:
    bench: Workbench = request.app.state.workbench
    return bench


def _closed_door(request: Request, error: RefusedError) -> Response:
    """What is said to somebody whose link does not hold."""
    if error.status != 401:
        return refused_page(request, error)
    gone = error.code == "not-let-in"
    title, words = ("judge.withdrawn", "judge.withdrawn.more") if gone else ("judge.nolink", "judge.nolink.more")
    return page("message.html", 401, title=plain(title), words=plain(words), remedy="", tone="", back=None)


def _done(request: Request) -> Notice | None:
    """What the address says was done just before."""
    if request.query_params.get("done") == "handed-in":
        return Notice(plain("judge.handed"), tone="good")
    if (number := request.query_params.get("drawn", "")).isdecimal() and len(number) < FEW_DIGITS:
        return Notice(plain("draw.done", number=number), tone="good")
    return None


def sheet_page(
    request: Request,
    caller: JudgeCaller,
    note: Notice | None,
    *,
    status: int = 200,
    form: Mapping[str, str] | None = None,
) -> Response:
    """The page of a judge's sheet; `form` has what was typed, if it could not be kept."""
    bench = _bench(request)
    sheet = sheets.get_sheet(bench, caller)
    if sheet.round.phase == "closed":
        return _closing_page(sheet, closings.get_closing(bench, caller), note, status)
    comments = sheets.sheet_comments(bench, caller).comments
    rises = _rises(bench, caller.panel, sheet)
    undo = request.query_params.get("undo", "")
    return _page(
        sheet,
        rises,
        comments,
        caller.csrf,
        status=status,
        note=note,
        form=form or {},
        undo=_undo(sheet, undo),
        drawings=_drawings(bench, caller.panel, sheet),
    )


def _drawings(bench: Workbench, panel: str, sheet: SheetView) -> dict[str, Any]:
    """The fields for drawing, of each question about a number or a date, while answers are taken."""
    if sheet.round.phase not in OPEN:
        return {}
    drawn = {each.question: each for each in sheet.drawn}
    own = {each.event: each.probability for each in sheet.answers}
    events = {each.id: [own.get(event.id) for event in each.events] for each in sheet.questions}
    found = {}
    for question, axis in axes_of(bench, panel).items():
        given = [value for value in events.get(question, ()) if value is not None]
        masses = axis.masses(given) if given and len(given) == len(events[question]) else None
        if question in events:
            found[question] = drawing_of(question, axis, drawn.get(question), masses)
    return found


def _closing_page(sheet: SheetView, closing: ClosingView, note: Notice | None, status: int) -> Response:
    view = ClosingSheet(sheet, closing)
    rows = view.rows()
    return page(
        "closing.html",
        status,
        view=view,
        sheet=sheet,
        closing=closing,
        note=note,
        rows=rows,
        groups=by_heading(rows),
        lead=view.lead(rows),
        score=view.score(),
        distributions=[shown_distribution(each) for each in closing.distributions],
        certificate=None if closing.summary is None else certified(closing.summary),
    )


def _rises(bench: Workbench, panel: str, sheet: SheetView) -> dict[str, bool]:
    """Of each ladder, whether its steps get likelier."""
    ladders = [each for each in sheet.questions if each.kind == "ladder"]
    setting = setting_of(bench, panel)
    return {each.id: desk.rises(setting, [event.id for event in each.events]) for each in ladders}


def preview_page(bench: Workbench, panel: str, sheet: SheetView, csrf: str) -> Response:
    """The sheet as a judge would see it, for the facilitator; nothing is saved."""
    note = Notice(plain("judge.preview"), plain("judge.preview.more"))
    return _page(
        sheet,
        _rises(bench, panel, sheet),
        [],
        csrf,
        status=200,
        note=note,
        form={},
        undo=None,
        preview=True,
        drawings={},
    )


def _page(
    sheet: SheetView,
    rises: Mapping[str, bool],
    comments: Sequence[CommentView],
    csrf: str,
    status: int,
    *,
    preview: bool = False,
    **values: Any,
) -> Response:
    view = SheetPage(sheet, rises, comments)
    questions = view.questions()
    count = len(questions)
    talk = DiscussionSheet(view)
    talking = sheet.round.phase in TALKING and not preview
    topics, quiet = talk.topics(questions) if talking else ([], [])
    return page(
        "judge_discussion.html" if talking else "judge.html",
        status,
        talk=talk,
        topics=topics,
        quiet=quiet,
        view=view,
        sheet=sheet,
        questions=questions,
        done=view.done(questions),
        count=count,
        todo=view.todo(questions),
        csrf=csrf,
        preview=preview,
        **values,
    )


def _undo(sheet: SheetView, text: str) -> dict[str, Any] | None:
    """What "Make it fit" moved just before, by the address: pairs of an event and its old number."""
    old: dict[str, float] = {}
    for pair in filter(None, text.split(",")):
        event, _, per_cent = pair.partition(":")
        try:
            old[event] = float(per_cent) / 100
        except ValueError:
            return None
    now = {answer.event: answer.probability for answer in sheet.answers}
    moves = [f"{typed(value)} → {typed(now.get(event))}\u00a0%" for event, value in old.items() if event in now]
    number = max((each.number for each in sheet.questions for one in each.events if one.id in old), default=0)
    words = plain("judge.live.fitted", moves=", ".join(moves))
    return {"value": text, "words": words, "number": number} if moves else None
