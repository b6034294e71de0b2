"""A visit of a page: who asks, what their form sent, and how they are answered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse
from starlette.routing import Route

from coherently.errors import CoherentlyError
from coherently.web.access.callers import facilitator
from coherently.web.access.error_refusals import refusal_of
from coherently.web.access.sessions import log_in, set_cookie
from coherently.web.catalogue import plain
from coherently.web.pages import formats
from coherently.web.pages.rendered import page
from coherently.web.refusals import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench

LARGEST_FIELD = 20_000_000
"""Maximum number of bytes of a field, which may hold a file that was sent; the door limits the whole request."""
FIELDS = 5_000
"""Maximum number of fields of a form."""
SAYABLE = frozenset({"number", "name", "count", "added", "dropped", "questions", "forecasts"})
"""What the address of a page may tell about what was done just before."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What a page says at its top: `tone` is good, wrong or empty."""

    title: str
    words: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that a form sent."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of a facilitator, with the fields and files of its form."""

    request: Request
    caller: AccountCaller
    form: Mapping[str, str]
    files: Mapping[str, SentFile]

    @property
    def bench(self) -> Workbench:
        """The workbench."""
        bench: Workbench = self.request.app.state.workbench
        return bench

    def part(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def asked(self, name: str) -> str:
        """A value after the question mark of the address, or nothing."""
        return self.request.query_params.get(name, "")

    def asked_id(self, name: str, letter: str) -> str:
        """An id after the question mark of the address, or nothing: it becomes a part of another address."""
        given = self.asked(name)
        return given if re.fullmatch(rf"{letter}_[0-9A-Za-z]{{1,40}}", given) else ""

    def asked_all(self, name: str, letters: str) -> list[str]:
        """All ids of some kinds, by their letters, that the address has under a name."""
        given = self.request.query_params.getlist(name)
        return [each for each in given if re.fullmatch(rf"[{letters}]_[0-9A-Za-z]{{1,40}}", each)]

    def show(self, template: str, /, status: int = 200, **values: Any) -> Response:
        """Answer with a page."""
        values.setdefault("note", self.notice())
        if "panel" in values:
            values["base"] = f"/panels/{values['panel'].id}"
        local = self.caller.is_local
        who = plain("facilitator") if local else self.caller.name
        return page(template, status, csrf=self.caller.csrf, who=who, can_log_out=not local, **values)

    def notice(self) -> Notice | None:
        """What the address says was done just before; only texts of the catalogue can be said."""
        done = self.asked("done")
        sent = {name: value for name, value in self.request.query_params.items() if name in SAYABLE}
        given = {name: int(value) if value.isdecimal() and len(value) < 9 else value for name, value in sent.items()}
        try:
            return Notice(plain(done, **given), tone="good") if done else None
        except (KeyError, IndexError):
            return None

    def go(self, address: str, done: str = "", **said: object) -> Response:
        """Send the browser on to another page, which says what was done."""
        path, mark, place = address.partition("#")
        query = {"done": done, **{name: str(value) for name, value in said.items()}} if done else {}
        joined = f"{path}{'&' if '?' in path else '?'}{urlencode(query)}" if query else path
        return RedirectResponse(f"{joined}{mark}{place}", 303)


def route(path: str, handler: Callable[[Visit], Response], method: str = "GET") -> Route:
    """A page of the facilitator, or where one of its forms goes."""

    async def endpoint(request: Request) -> Response:
        try:
            form, files = await read_form(request) if method == "POST" else ({}, {})
        except CoherentlyError as error:
            return refused_page(request, error)
        return await run_in_threadpool(_answer, request, form, files, handler)

    return Route(path, endpoint, methods=[method], name=f"{method} {path}")


def _answer(
    request: Request,
    form: Mapping[str, str],
    files: Mapping[str, SentFile],
    handler: Callable[[Visit], Response],
) -> Response:
    try:
        caller, secret = _caller(request, form)
        response = handler(Visit(request, caller, form, files))
    except CoherentlyError as error:
        return refused_page(request, error)
    if secret is not None:
        set_cookie(request, response, secret)
    return response


def _caller(request: Request, form: Mapping[str, str]) -> tuple[AccountCaller, str | None]:
    """Who asks; a browser that needs no login gets its session with the first page."""
    try:
        found = facilitator(request, form.get("csrf_token", "") if request.method == "POST" else None)
    except RefusedError as error:
        if error.status != 401 or request.method == "POST":
            raise
        return log_in(request, None, None)
    else:
        return (found, None) if found.csrf else log_in(request, None, None)


async def read_form(request: Request) -> tuple[dict[str, str], dict[str, SentFile]]:
    """The fields and files of a form; a field that is sent twice counts as sent last."""
    try:
        sent = await request.form(max_fields=FIELDS, max_files=2, max_part_size=LARGEST_FIELD)
    except Exception as error:
        raise RefusedError(400, "not-understood", plain("refused.form")) from error
    fields = {name: value for name, value in sent.multi_items() if isinstance(value, str)}
    files = {
        name: SentFile(value.filename or "", await value.read())
        for name, value in sent.multi_items()
        if isinstance(value, UploadFile) and value.filename
    }
    return fields, files


def refused_page(request: Request, error: CoherentlyError) -> Response:
    """The page of a refusal; who is not logged in is sent to where they can."""
    refusal = refusal_of(error)
    if refusal.status == 401 and not request.url.path.startswith(("/j/", "/sheet", "/login")):
        return RedirectResponse(f"/login?next={quote(request.url.path)}", 303)
    back = request.headers.get("referer")
    return page(
        "message.html",
        refusal.status,
        title=plain("refused.missing" if refusal.status == 404 else "refused"),
        words=sentence(error),
        remedy="" if refusal.remedy is None or refusal is not error else refusal.remedy,
        tone="" if refusal.status in (401, 404) else "wrong",
        back=request.url.path if request.method == "GET" and back else None,
    )


def sentence(error: CoherentlyError) -> str:
    """What was wrong, and what is allowed."""
    if not isinstance(error, RefusedError):
        # What a form sent is one row of records; a row of somebody's file is worth saying.
        is_of_form = error.where is not None and error.where.file == "records"
        text = error.complaint if is_of_form else _first_sentence(str(error))
        begins = text.startswith((error.where and error.where.file) or "\n")  # the name of a file stays as it is
        return text[:1] + formats.sentence(text)[1:] if begins else formats.sentence(text)
    return f"{error.message} {plain('refused.allowed', allowed=error.allowed)}" if error.allowed else error.message


def _first_sentence(text: str) -> str:
    r"""The first line, and what it announces if it ends with a colon.

    >>> _first_sentence("these laws contradict each other:\n  a & ~b\n  b\nChange one of them.")
    'these laws contradict each other: a & ~b; b. Change one of them.'
    """
    first, _, rest = text.partition("\n")
    lines = rest.splitlines()
    named = "; ".join(line.strip() for line in lines if line.startswith(" "))
    others = [line.strip() for line in lines if not line.startswith(" ")]
    return " ".join([first, f"{named}." if named else "", *others]) if first.endswith(":") else first


def wrong(error: CoherentlyError) -> Notice:
    """A refusal as what the page says at its top, above the form that was sent."""
    remedy = error.remedy if isinstance(error, RefusedError) else None
    return Notice(plain("refused"), " ".join(filter(None, [sentence(error), remedy])), "wrong")
