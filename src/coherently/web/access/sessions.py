"""Sessions of browsers: begun anew at every login, ended at logout, kept in cookies that scripts cannot read."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from coherently.web.access.callers import (
    JUDGE_SESSION,
    SAFE,
    SESSION,
    AccountCaller,
    JudgeCaller,
    is_this_machine,
    not_let_in,
    remote_name,
    session_of,
)
from coherently.web.access.origins import check_origin
from coherently.web.access.rates import too_fast
from coherently.web.refusals import RefusedError
from coherently.web.store.people.account_resource import LOCAL

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from coherently.web.access.workbench import Workbench

SECONDS = 14 * 24 * 3600.0
"""How long a session of a facilitator lasts."""
JUDGE_SECONDS = 90 * 24 * 3600.0
"""How long the browser of a judge remembers the link."""

PASSWORDS = threading.BoundedSemaphore(2)
"""Passwords are slow to check on purpose, so that few are checked at the same time."""


def log_in(request: Request, name: str | None, password: str | None) -> tuple[AccountCaller, str]:
    """Begin a session of an account; what the browser had before ends, so that nobody can hand it a session.

    Without a name: the account that the proxy names, or that of this machine while there is no other. Returns the
    caller and the secret for the cookie.
    """
    bench: Workbench = request.app.state.workbench
    if request.method not in SAFE:
        check_origin(request.headers)
    account = _account(request, bench, name, password)
    old = session_of(request, bench, SESSION)
    if old is not None:
        bench.store.sessions.close(old.id)
    session, secret = bench.store.sessions.open(account=account[0], seconds=SECONDS)
    return AccountCaller(*account, session.csrf, session.id), secret


def _account(request: Request, bench: Workbench, name: str | None, password: str | None) -> tuple[str, str]:
    store = bench.store
    if name is not None and password is not None:
        wait = bench.failures.wait(request.state.address, take=False)
        if wait > 0:
            raise too_fast(wait, bench.failures.rate, bench.failures.burst)
        with PASSWORDS:
            account = store.accounts.check(name, password)
        if account is None:
            raise not_let_in(request, bench, "Name and password do not go together.", "Try again.")
        return account.id, account.name
    given = remote_name(request, bench)
    if given is None and is_this_machine(request, bench):
        given = LOCAL
    if given is None:
        raise RefusedError(401, "nobody", "Name and password are needed.", remedy="Send both.")
    known = store.write(lambda: store.accounts.by_name(given) or store.accounts.create(given))
    if known.closed_at is not None:
        raise RefusedError(403, "closed", "This account is closed.")
    return known.id, known.name


def open_link(request: Request, secret: str) -> tuple[JudgeCaller, str]:
    """Begin the session of a judge whose link was opened; returns the judge and the secret for the cookie.

    A browser in which the same judge is at work keeps its session: the pages that are open there hold its token, and
    would be refused when they save. Only who has the link could have begun it, so nobody is let in by that. The session
    of another judge ends, so that nobody can hand the browser a session.
    """
    bench: Workbench = request.app.state.workbench
    known = bench.store.judges.by_link(secret)
    if known is None:
        raise not_let_in(request, bench, "This link does not hold, or no longer.", "Ask who sent it for a new one.")
    old = session_of(request, bench, JUDGE_SESSION)
    bench.store.judges.opened(known.id)
    if old is not None and old.judge == known.id:
        bench.store.sessions.prolong(old.id, JUDGE_SECONDS)
        return JudgeCaller(known, old.csrf, old.id), request.cookies[JUDGE_SESSION]
    if old is not None:
        bench.store.sessions.close(old.id)
    session, cookie = bench.store.sessions.open(judge=known.id, seconds=JUDGE_SECONDS)
    return JudgeCaller(known, session.csrf, session.id), cookie


def set_cookie(request: Request, response: Response, secret: str, *, judge: bool = False) -> None:
    """Put the secret of a session into the browser."""
    response.set_cookie(
        JUDGE_SESSION if judge else SESSION,
        secret,
        max_age=int(JUDGE_SECONDS if judge else SECONDS),
        path="/",
        httponly=True,
        samesite="lax",
        secure=request.state.encrypted,
    )


def log_out(request: Request, caller: AccountCaller | JudgeCaller) -> None:
    """End the session of a browser."""
    bench: Workbench = request.app.state.workbench
    if caller.session is not None:
        bench.store.sessions.close(caller.session)
