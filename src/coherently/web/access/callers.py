"""Who is asking: an account, by token, session or proxy, or a judge, by link; and whether they mean it."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.web.access.origins import PROXY_HEADERS, check_origin
from coherently.web.access.rates import too_fast
from coherently.web.refusals import RefusedError
from coherently.web.store.people.account_resource import LOCAL

if TYPE_CHECKING:
    from starlette.requests import Request

    from coherently.web.access.workbench import Workbench
    from coherently.web.store.store_records import JudgeRecord, SessionRecord

SESSION, JUDGE_SESSION = "coherently_session", "coherently_judge"
"""Names of the cookies of a facilitator's and of a judge's browser."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
LONGEST = 200
"""Maximum number of characters of a secret that is looked up."""


@dataclass(frozen=True, slots=True)
class AccountCaller:
    """A facilitator; `csrf` is the token for forms, empty for programs with a token of their own."""

    account: str
    name: str
    csrf: str = ""
    session: str | None = None

    @property
    def scope(self) -> str:
        """What keeps keys of one caller apart from those of another."""
        return self.account

    @property
    def is_local(self) -> bool:
        """Whether this is whoever uses the browser of this machine, without a login."""
        return self.name == LOCAL


@dataclass(frozen=True, slots=True)
class JudgeCaller:
    """A judge of one panel; `csrf` is the token for forms, empty for programs with the link's secret."""

    judge: JudgeRecord
    csrf: str = ""
    session: str | None = None

    @property
    def panel(self) -> str:
        """The only panel that this judge sees."""
        return self.judge.panel

    @property
    def scope(self) -> str:
        """What keeps keys of one caller apart from those of another."""
        return self.judge.id


def facilitator(request: Request, csrf: str | None = None) -> AccountCaller:
    """The account that asks; a change by cookie must carry the session's token, in the header or as `csrf`."""
    bench: Workbench = request.app.state.workbench
    secret = bearer(request)
    if secret is not None:
        caller = by_token(bench, secret)
        if caller is None:
            raise not_let_in(request, bench, "The token does not hold.", "Make a new one at the workbench.")
    else:
        caller = _remote_user(request, bench) or by_session(request, bench)
        if caller is None:
            raise RefusedError(401, "nobody", "Nobody is logged in.", remedy="Log in, or send an API token.")
        check_meant(request, caller.csrf, csrf)
    request.state.caller = f"account {caller.account}"
    return caller


def judge(request: Request, csrf: str | None = None) -> JudgeCaller:
    """The judge that asks, by the secret of the link or by the cookie of a browser that opened it."""
    bench: Workbench = request.app.state.workbench
    secret = bearer(request)
    if secret is not None:
        known = bench.store.judges.by_link(secret)
        if known is None:
            raise not_let_in(request, bench, "The link does not hold, or no longer.", "Ask who sent it for a new one.")
        caller = JudgeCaller(known)
    else:
        found = _judge_by_session(request, bench)
        if found is None:
            raise RefusedError(
                401, "no-link", "No link is open in this browser.", remedy="Open the link that you were sent."
            )
        caller = found
        check_meant(request, caller.csrf, csrf)
    request.state.caller = f"judge {caller.judge.id}"
    return caller


def bearer(request: Request) -> str | None:
    """The secret in the header Authorization, if there is one."""
    given = request.headers.get("authorization")
    if given is None:
        return None
    kind, _, secret = given.partition(" ")
    secret = secret.strip()
    if kind.lower() != "bearer" or not secret or len(secret) > LONGEST:
        raise RefusedError(
            401,
            "not-understood",
            "The header Authorization cannot be read.",
            where="header.authorization",
            allowed="Authorization: Bearer SECRET",
            headers={"WWW-Authenticate": "Bearer"},
        )
    return secret


def by_token(bench: Workbench, secret: str) -> AccountCaller | None:
    """The account of an API token."""
    token = bench.store.tokens.by_secret(secret)
    if token is None:
        return None
    account = bench.store.accounts.get(token.account)
    return None if account.closed_at is not None else AccountCaller(account.id, account.name)


def by_session(request: Request, bench: Workbench) -> AccountCaller | None:
    """The account of a browser that is logged in; that of this machine only while it needs no login."""
    session = session_of(request, bench, SESSION)
    if session is None or session.account is None:
        return None
    account = bench.store.accounts.get(session.account)
    if account.closed_at is not None or (not account.has_password and not _signs_in(request, bench, account.name)):
        return None
    return AccountCaller(account.id, account.name, session.csrf, session.id)


def _signs_in(request: Request, bench: Workbench, name: str) -> bool:
    """Whether an account without a password may still be used: by this machine, or by the name the proxy gives."""
    if name == LOCAL and is_this_machine(request, bench):
        return True
    return remote_name(request, bench) == name


def is_this_machine(request: Request, bench: Workbench) -> bool:
    """Whether the browser of this machine needs no login: there is no account to log in to, and no proxy."""
    if not bench.settings.is_local or any(name in request.headers for name in PROXY_HEADERS):
        return False
    return bench.store.accounts.count() == 0


def remote_name(request: Request, bench: Workbench) -> str | None:
    """The name that a trusted proxy gives; anybody else's word is not taken for it."""
    settings = bench.settings
    given = request.headers.getlist("remote-user")
    if not settings.trust_remote_user or request.state.peer not in settings.proxies or len(given) != 1:
        return None
    return given[0].strip()[:LONGEST] or None


def _remote_user(request: Request, bench: Workbench) -> AccountCaller | None:
    """The account that a proxy names, in a session of its own; another account's session does not count."""
    name = remote_name(request, bench)
    if name is None:
        return None
    caller = by_session(request, bench)
    if caller is not None and caller.name == name:
        return caller
    account = bench.store.accounts.by_name(name)
    if account is None or request.method not in SAFE:
        raise RefusedError(
            401,
            "no-session",
            "This browser has no session yet.",
            remedy="Open the start page, or POST /api/v1/session.",
        )
    return AccountCaller(account.id, account.name)


def session_of(request: Request, bench: Workbench, cookie: str) -> SessionRecord | None:
    """The session of a cookie, if it holds."""
    secret = request.cookies.get(cookie)
    return bench.store.sessions.by_secret(secret) if secret and len(secret) <= LONGEST else None


def _judge_by_session(request: Request, bench: Workbench) -> JudgeCaller | None:
    session = session_of(request, bench, JUDGE_SESSION)
    if session is None or session.judge is None:
        return None
    known = bench.store.judges.get(session.judge)
    return None if known.revoked_at is not None else JudgeCaller(known, session.csrf, session.id)


def check_meant(request: Request, token: str, csrf: str | None) -> None:
    """Refuse a change that the browser sends along with its cookie, but that its owner did not ask for."""
    if request.method in SAFE:
        return
    check_origin(request.headers)
    given = csrf if csrf is not None else request.headers.get("x-csrf-token", "")
    if not token or not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        raise RefusedError(
            403,
            "no-csrf-token",
            "The request does not carry the token of this session.",
            where="header.x-csrf-token",
            allowed="the token that the session was given",
            remedy="Load the page again. Programs use an API token and no cookie.",
        )


def not_let_in(request: Request, bench: Workbench, message: str, remedy: str) -> RefusedError:
    """What a wrong secret is answered; who tries many of them has to wait."""
    failures = bench.failures
    wait = failures.wait(request.state.address)
    if wait > 0:
        return too_fast(wait, failures.rate, failures.burst)
    return RefusedError(401, "not-let-in", message, remedy=remedy, headers={"WWW-Authenticate": "Bearer"})
