"""The login of those who lead panels; judges have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse
from starlette.routing import Route

from coherently.errors import CoherentlyError
from coherently.web.access.callers import SESSION
from coherently.web.access.sessions import log_in, log_out, set_cookie
from coherently.web.pages.rendered import page
from coherently.web.pages.visits import read_form, refused_page, wrong

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from coherently.web.pages.visits import Notice, Visit


def login_routes() -> list[Route]:
    """The page, and where its form goes."""
    return [
        Route("/login", _show, methods=["GET"], name="GET /login"),
        Route("/login", _enter, methods=["POST"], name="POST /login"),
    ]


def leave(visit: Visit) -> Response:
    """End the session of this browser."""
    log_out(visit.request, visit.caller)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(SESSION, path="/")
    return response


async def _show(request: Request) -> Response:
    return _form(request.query_params.get("next", "/"))


async def _enter(request: Request) -> Response:
    """Log in; the origin of the form is checked in place of a token, since there is no session yet."""
    try:
        form, _ = await read_form(request)
    except CoherentlyError as error:
        return refused_page(request, error)
    name, after = form.get("name", ""), form.get("next", "/")
    try:
        _, secret = await run_in_threadpool(log_in, request, name, form.get("password", ""))
    except CoherentlyError as error:
        return _form(after, name, wrong(error), getattr(error, "status", 401))
    response = RedirectResponse(_own(after), 303)
    set_cookie(request, response, secret)
    return response


def _form(after: str, name: str = "", note: Notice | None = None, status: int = 200) -> Response:
    return page("login.html", status, csrf="", next=_own(after), name=name, note=note)


def _own(address: str) -> str:
    r"""An address of this workbench; any other becomes the start page.

    >>> _own("/panels/p_1"), _own("//evil.example"), _own("https://evil.example"), _own("/\\evil")
    ('/panels/p_1', '/', '/', '/')
    """
    fine = address.startswith("/") and not address.startswith("//") and "\\" not in address
    return address if fine and address.isprintable() else "/"
