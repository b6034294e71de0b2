"""Errors as refusals: what is answered to each kind."""

from __future__ import annotations

from coherently.errors import CoherentlyError, MissingDependencyError
from coherently.web.refusals import RefusedError
from coherently.web.store import ConflictError, IdempotencyError, NotFoundError, StoreUnavailableError

KINDS: dict[type[CoherentlyError], tuple[int, str]] = {
    NotFoundError: (404, "Look at the address."),
    IdempotencyError: (409, "Use a new key for a new request."),
    ConflictError: (409, "Look at what stands now, and try again."),
    StoreUnavailableError: (503, "Try again in a moment; what was saved before is safe."),
    MissingDependencyError: (503, "Install what the message names."),
    CoherentlyError: (422, "Change what the message names and send it again."),
}
"""Status by kind of error, and the remedy where the error has none; the first that fits counts."""


def refusal_of(error: CoherentlyError) -> RefusedError:
    """The answer to a caller whose request caused an error: the same code, place and remedy.

    >>> refusal_of(NotFoundError("there is no such panel")).message
    'There is no such panel.'
    """
    if isinstance(error, RefusedError):
        return error
    status, remedy = next(told for kind, told in KINDS.items() if isinstance(error, kind))
    text = str(error)
    end = "" if text.endswith((".", "!", "?", "^")) else "."
    return RefusedError(
        status,
        error.code,
        f"{text[:1].upper()}{text[1:]}{end}",
        where=error.where,
        remedy=error.remedy or remedy,
        problems=error.problems,
    )
