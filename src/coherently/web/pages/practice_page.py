"""Practice before the first round: ten statements at a time, and how well somebody was calibrated.

Nothing is kept here: what was guessed before goes along in the form.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from coherently.errors import CoherentlyError
from coherently.web.access.callers import judge
from coherently.web.catalogue import plain
from coherently.web.operations import practice
from coherently.web.pages.formats import percent
from coherently.web.pages.judge_forms import read_per_cent
from coherently.web.pages.judge_view import typed
from coherently.web.pages.rendered import page
from coherently.web.pages.visits import read_form, refused_page, wrong
from coherently.web.refusals import RefusedError
from coherently.web.shapes.practice_shapes import PracticeDraft, PracticeGuess

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from coherently.web.access.callers import JudgeCaller
    from coherently.web.pages.visits import Notice
    from coherently.web.shapes.practice_shapes import PracticeStatement, PracticeView

SET = 10
"""How many statements a page has."""
EVEN = 0.05
"""Who is surer than right by less than this is about as sure as right."""


async def show_practice(request: Request) -> Response:
    """The first statements."""
    return await run_in_threadpool(_answer, request, {})


async def send_practice(request: Request) -> Response:
    """What was guessed, and the next statements."""
    try:
        form, _ = await read_form(request)
    except CoherentlyError as error:
        return refused_page(request, error)
    return await run_in_threadpool(_answer, request, form)


def _answer(request: Request, form: Mapping[str, str]) -> Response:
    try:
        caller = judge(request, form.get("csrf_token", "") if request.method == "POST" else None)
    except RefusedError as error:
        return refused_page(request, error)
    statements = practice.list_statements().statements
    try:
        guesses = read_guesses(form, statements)
    except RefusedError as error:
        return _page(caller, statements, form, None, note=wrong(error))
    found = practice.look_at_guesses(PracticeDraft(guesses=guesses)) if guesses else None
    return _page(caller, statements, form, found)


def read_guesses(form: Mapping[str, str], statements: Sequence[PracticeStatement]) -> list[PracticeGuess]:
    """What the form guesses; empty fields are left out."""
    found = []
    for each in statements:
        value = read_per_cent(form.get(f"p-{each.number}", ""))
        if value is not None:
            found.append(PracticeGuess(number=each.number, probability=value))
    return found


def _page(
    caller: JudgeCaller,
    statements: Sequence[PracticeStatement],
    form: Mapping[str, str],
    found: PracticeView | None,
    *,
    note: Notice | None = None,
) -> Response:
    seen = form.get("seen", "0")
    before = min(int(seen), len(statements)) if seen.isdecimal() and len(seen) < 6 else 0
    first = before if note is not None or not form else min(before + SET, len(statements))
    asked = statements[first : first + SET]
    here = {each.number for each in asked}
    carried = {each.number: typed(each.probability) for each in found.results} if found else {}
    return page(
        "practice.html",
        200 if note is None else 422,
        csrf=caller.csrf,
        note=note,
        form=form,
        seen=first,
        asked=asked,
        carried={number: value for number, value in carried.items() if number not in here},
        result=None if found is None else shown(found, first - SET),
        count=len(statements),
    )


def shown(found: PracticeView, since: int) -> SimpleNamespace:
    """How well somebody was calibrated, in words, and the statements of the last page with their sources."""
    apart = found.sure - found.right
    key = "practice.even" if abs(apart) < EVEN else "practice.over" if apart > 0 else "practice.under"
    words = plain(key, sure=percent(found.sure), right=percent(found.right), count=len(found.results))
    return SimpleNamespace(
        words=words,
        brier=found.brier,
        few=len(found.results) <= 2 * SET,
        steps=found.calibration,
        rows=[each for each in found.results if each.number > since],
    )
