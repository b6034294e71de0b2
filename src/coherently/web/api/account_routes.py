"""`/session` and `/tokens`."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from coherently.web.access.callers import SESSION
from coherently.web.access.sessions import log_in, log_out, set_cookie
from coherently.web.api.dependencies import Bench, Facilitating, TokenId, json_only
from coherently.web.operations import tokens
from coherently.web.shapes.account_shapes import LoginDraft, NewToken, SessionView, TokenDraft, TokenList

router = APIRouter(tags=["accounts"], dependencies=[Depends(json_only)])


@router.get("/session")
def get_session(caller: Facilitating) -> SessionView:
    """Say who is logged in, and the token that changes must carry."""
    return SessionView(name=caller.name, csrf_token=caller.csrf)


@router.post("/session", status_code=201)
def begin_session(request: Request, response: Response, draft: LoginDraft) -> SessionView:
    """Log in; the session before ends, and the answer sets a new cookie."""
    caller, secret = log_in(request, draft.name, draft.password)
    set_cookie(request, response, secret)
    return SessionView(name=caller.name, csrf_token=caller.csrf)


@router.delete("/session", status_code=204, response_model=None)
def end_session(request: Request, response: Response, caller: Facilitating) -> None:
    """Log out."""
    log_out(request, caller)
    response.delete_cookie(SESSION, path="/")


@router.get("/tokens")
def list_tokens(bench: Bench, caller: Facilitating) -> TokenList:
    """List the API tokens of the account, without their secrets."""
    return tokens.list_tokens(bench, caller)


@router.post("/tokens", status_code=201)
def make_token(bench: Bench, caller: Facilitating, draft: TokenDraft) -> NewToken:
    """Make an API token; its secret is in this answer and nowhere else."""
    return tokens.make_token(bench, caller, draft)


@router.delete("/tokens/{token}", status_code=204, response_model=None)
def end_token(bench: Bench, caller: Facilitating, token: TokenId) -> None:
    """End an API token."""
    tokens.end_token(bench, caller, token)
