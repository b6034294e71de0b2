"""Errors as refusals: what is answered to each kind."""

from __future__ import annotations

from coherently.errors import CoherentlyError, MissingDependencyError
from coherently.web.refusals import RefusedError
from coherently.web.store import ConflictError, IdempotencyError, NotFoundError, StoreUnavailableError

KINDS: dict[type[CoherentlyError], tuple[int, str, str]] = {
    NotFoundError: (404, "not-found", "Look at the address."),
    IdempotencyError: (409, "key-used", "Use a new key for a new request."),
    ConflictError: (409, "conflict", "Look at what stands now, and try again."),
    StoreUnavailableError: (503, "store-unavailable", "Try again in a moment; what was saved before is safe."),
    MissingDependencyError: (503, "not-installed", "Install what the message names."),
    CoherentlyError: (422, "not-usable", "Change what the message names and send it again."),
}
"""Status, code and remedy by kind of error; the first that fits counts."""


def refusal_of(error: CoherentlyError) -> RefusedError:
    """The answer to a caller whose request caused an error.

    >>> refusal_of(NotFoundError("there is no such panel")).message
    'There is no such panel.'
    """
    if isinstance(error, RefusedError):
        return error
    status, code, remedy = next(told for kind, told in KINDS.items() if isinstance(error, kind))
    text = str(error)
    end = "" if text.endswith((".", "!", "?", "^")) else "."
    return RefusedError(status, code, f"{text[:1].upper()}{text[1:]}{end}", remedy=remedy)
