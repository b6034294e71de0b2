"""What is answered to a request that cannot be fulfilled: a status, and plain words in one shape."""

from __future__ import annotations

from typing import Any

from coherently.errors import CoherentlyError


class RefusedError(CoherentlyError):
    """A request that is refused: what was found, where, what is allowed, and what to do.

    >>> RefusedError(404, "not-found", "There is no such panel.").body()["error"]["message"]
    'There is no such panel.'
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        where: str | None = None,
        allowed: str | None = None,
        remedy: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.where, self.allowed, self.remedy = where, allowed, remedy
        self.headers = headers or {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross processes, with all that they say."""
        return _made_again, (self.status, self.code, self.message, self.where, self.allowed, self.remedy, self.headers)

    def body(self) -> dict[str, Any]:
        """The JSON that is sent."""
        names = ("code", "message", "where", "allowed", "remedy")
        return {"error": {name: getattr(self, name) for name in names}}


def _made_again(status: int, code: str, message: str, *rest: Any) -> RefusedError:
    where, allowed, remedy, headers = rest
    return RefusedError(status, code, message, where=where, allowed=allowed, remedy=remedy, headers=headers)


def not_found(what: str) -> RefusedError:
    """There is no such thing, or it belongs to somebody else: the answer is the same."""
    return RefusedError(404, "not-found", f"There is no such {what}.", remedy="Look at the address.")


def too_many(what: str, limit: int, remedy: str) -> RefusedError:
    """A limit on how many there may be is reached."""
    return RefusedError(
        429, "too-many", f"There are too many {what}.", allowed=f"at most {limit:,} {what}", remedy=remedy
    )
