"""What is answered to a request that cannot be fulfilled: a status, and plain words in one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError, ListedProblem, Where

if TYPE_CHECKING:
    from collections.abc import Sequence


class RefusedError(CoherentlyError):
    """A request that is refused: what was found, where, what is allowed, and what to do.

    `where` is the path of a field of the request ("body.forecasts.0.event"), or a place.

    >>> RefusedError(404, "not-found", "There is no such panel.").body()["error"]["message"]
    'There is no such panel.'
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        where: Where | str | None = None,
        allowed: str | None = None,
        remedy: str | None = None,
        headers: dict[str, str] | None = None,
        problems: Sequence[ListedProblem] = (),
    ) -> None:
        place = Where(field=where) if isinstance(where, str) else where
        super().__init__(message, code=code, where=place, remedy=remedy, problems=problems)
        self.status, self.message, self.allowed = status, message, allowed
        self.headers = headers or {}

    def body(self) -> dict[str, Any]:
        """The JSON that is sent: what the error says, and what is allowed."""
        told = self.as_dict()
        problems = told.pop("problems")
        remedy = told.pop("remedy")
        return {"error": told | {"allowed": self.allowed, "remedy": remedy, "problems": problems}}


def not_found(what: str) -> RefusedError:
    """There is no such thing, or it belongs to somebody else: the answer is the same."""
    return RefusedError(404, "not-found", f"There is no such {what}.", remedy="Look at the address.")


NOT_FINISHED = "not-finished"


def not_finished(message: str) -> RefusedError:
    """It is being worked out, and takes longer than the seconds for which somebody waits."""
    return RefusedError(503, NOT_FINISHED, message, remedy="Ask again in a moment.")


def too_many(what: str, limit: int, remedy: str, found: str | None = None) -> RefusedError:
    """A limit on how many there may be is reached; `found` is a sentence about how many there are."""
    message = found or f"There are too many {what}."
    return RefusedError(429, "too-many", message, allowed=f"at most {limit:,} {what}", remedy=remedy)
