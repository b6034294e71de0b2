"""Sessions and API tokens."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from coherently.web import sizes
from coherently.web.shapes.shape import Id, Shape, Time, Title, example


class LoginDraft(Shape):
    """Name and password; both are left out on a machine that has no accounts."""

    model_config = example(name="facilitator", password="correct horse battery staple")

    name: Annotated[str, Field(max_length=sizes.TITLE)] | None = None
    password: Annotated[str, Field(max_length=1_000)] | None = None


class SessionView(Shape):
    """Who is logged in, and the token that every change must carry in the header X-CSRF-Token."""

    name: str
    csrf_token: str


class TokenDraft(Shape):
    """An API token to make."""

    model_config = example(name="notebook")

    name: Title


class TokenView(Shape):
    """An API token, without its secret."""

    id: Id
    name: str
    created: Time
    expires: Time | None


class NewToken(TokenView):
    """An API token with its secret, which is shown this once."""

    secret: str


class TokenList(Shape):
    """The tokens of an account."""

    tokens: list[TokenView]


class PlaceView(Shape):
    """The place of a problem, as `co.Where` has it: `field` is the path of a value in the request."""

    file: str | None
    row: int | str | None
    column: str | None
    event: str | None
    span: list[int] | None
    field: str | None


class ListedProblemView(Shape):
    """One of the things that are wrong."""

    code: str
    message: str
    where: PlaceView | None
    remedy: str | None


class ProblemView(Shape):
    """What is wrong, where, what is allowed and what to do; `problems` has everything that is wrong."""

    code: str
    message: str
    where: PlaceView | None
    allowed: str | None
    remedy: str | None
    problems: list[ListedProblemView]


class ProblemBody(Shape):
    """The body of every refusal."""

    model_config = example(
        error={
            "code": "not-understood",
            "message": "The probability is 1.2.",
            "where": {
                "file": None,
                "row": None,
                "column": None,
                "event": None,
                "span": None,
                "field": "body.forecasts.0.probability",
            },
            "allowed": "a number from 0 to 1",
            "remedy": "Divide per cents by 100.",
            "problems": [],
        }
    )

    error: ProblemView
