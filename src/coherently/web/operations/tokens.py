"""API tokens of an account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherently.web.refusals import not_found, too_many
from coherently.web.shapes.account_shapes import NewToken, TokenList, TokenView

if TYPE_CHECKING:
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.account_shapes import TokenDraft
    from coherently.web.store import TokenRecord


def list_tokens(bench: Workbench, caller: AccountCaller) -> TokenList:
    """The tokens of the account that hold."""
    return TokenList(tokens=[TokenView.of(record, **_times(record)) for record in _standing(bench, caller)])


def make_token(bench: Workbench, caller: AccountCaller, draft: TokenDraft) -> NewToken:
    """Make a token; its secret is answered this once."""
    most = bench.settings.limits.tokens
    if len(_standing(bench, caller)) >= most:
        raise too_many("tokens", most, "End a token that is no longer needed.")
    record, secret = bench.store.tokens.create(caller.account, draft.name)
    return NewToken.of(record, **_times(record), secret=secret)


def end_token(bench: Workbench, caller: AccountCaller, token: str) -> None:
    """End a token."""
    if token not in {record.id for record in _standing(bench, caller)}:
        raise not_found("token")
    bench.store.tokens.revoke(token)


def _standing(bench: Workbench, caller: AccountCaller) -> list[TokenRecord]:
    return [record for record in bench.store.tokens.list(caller.account) if record.revoked_at is None]


def _times(record: TokenRecord) -> dict[str, Any]:
    return {"created": record.created_at, "expires": record.expires_at}
