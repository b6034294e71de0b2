"""Every refusal of the API in the same shape and in plain words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from coherently.errors import CoherentlyError, ListedProblem, Where
from coherently.web.access.door import internal
from coherently.web.access.error_refusals import refusal_of
from coherently.web.refusals import RefusedError
from coherently.web.shapes.account_shapes import ProblemBody

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI
    from starlette.requests import Request

SENTENCES = {
    400: ("not-understood", "The body of the request cannot be read.", "Send one JSON object."),
    404: ("not-found", "There is nothing at this address.", "See /api/v1/openapi.json for what there is."),
    405: ("wrong-method", "This address does not know that method.", "See /api/v1/openapi.json for what it knows."),
}
WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a known field",
    "finite_number": "is not a finite number",
    "json_invalid": "is not JSON",
    "string_unicode": "has a character that is not Unicode",
    "string_pattern_mismatch": "is blank, or has a character that is not allowed",
}
"""What is wrong, by pydantic's kind of error, where its own sentence would not do."""
STATUSES = {
    400: "The request cannot be read.",
    401: "Nobody is logged in, or the token or link does not hold.",
    403: "This caller may not do that.",
    404: "There is no such thing, or it belongs to somebody else.",
    405: "The address does not know that method.",
    408: "The request did not arrive in time.",
    409: "It does not go together with what stands.",
    413: "The request is too large.",
    415: "The body is of a kind that is not understood.",
    422: "The values cannot be used.",
    429: "A limit on how much or how often is reached.",
    503: "The store cannot be reached.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemBody, "description": sentence} for status, sentence in STATUSES.items()
}
"""What every route may answer when it refuses."""


def install(app: FastAPI) -> None:
    """Let an application answer every refusal in the one shape."""
    app.add_exception_handler(CoherentlyError, _mended_by_the_caller)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _fault)


def answer(refusal: RefusedError) -> JSONResponse:
    """A refusal as a response."""
    return JSONResponse(refusal.body(), refusal.status, refusal.headers)


async def _mended_by_the_caller(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, CoherentlyError)
    return answer(refusal_of(error))


def _methods(request: Request) -> list[str]:
    """The methods that an address knows."""
    found: set[str] = set()
    for route in request.app.state.known_routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return sorted(found)


async def _fault(request: Request, _: Exception) -> JSONResponse:
    return answer(internal(request.state.request_id))


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code, message, remedy = SENTENCES.get(error.status_code, ("refused", str(error.detail), None))
    headers, allowed = dict(error.headers or {}), None
    if error.status_code == 405:
        headers["Allow"] = allowed = ", ".join(_methods(request))
    return answer(RefusedError(error.status_code, code, message, allowed=allowed, remedy=remedy, headers=headers))


async def _not_valid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return answer(invalid(list(error.errors())))


def invalid(errors: list[Any]) -> RefusedError:
    """What to answer to values that do not fit their fields: the first, and how many more there are."""
    first, remedy = errors[0], "Correct the value and send it again."
    more = "" if len(errors) == 1 else f" There are {len(errors):,} such places."
    return RefusedError(
        422,
        "not-usable",
        f"{_found(first)}.{more}",
        allowed=_allowed(first),
        problems=[ListedProblem(f"{_found(each)}.", "not-usable", Where(field=_path(each)), remedy) for each in errors],
    )


def _path(error: dict[str, Any]) -> str:
    return ".".join(str(part) for part in error["loc"])


def _found(error: dict[str, Any]) -> str:
    """What is wrong with a value, as the beginning of a sentence."""
    words = WORDS.get(error["type"]) or _lower(error["msg"])
    return f"{_name([str(part) for part in error['loc']])} {words}"


def _name(place: list[str]) -> str:
    named = [part for part in place[1:] if not part.isdigit()]
    return f"The field {named[-1]!r}" if named else f"The {place[0] if place else 'request'}"


def _lower(message: str) -> str:
    """A sentence of the checker as the rest of one: "Input should be at most 1" becomes "should be at most 1"."""
    text = re.sub(r"^(Input|String|List|Value error,|Field) ?", "", message)
    return text[:1].lower() + text[1:]


def _allowed(error: dict[str, Any]) -> str | None:
    names: dict[str, Callable[[Any], str]] = {
        "max_length": lambda most: f"at most {most:,} characters or entries",
        "min_length": lambda least: f"at least {least:,}",
        "le": lambda most: f"at most {most:,}",
        "ge": lambda least: f"at least {least:,}",
        "gt": lambda least: f"more than {least:,}",
        "expected": str,
        "pattern": lambda _: "one line of text without control characters, or an id as the API gives it",
    }
    context = error.get("ctx") or {}
    return next((say(context[name]) for name, say in names.items() if name in context), None)
