"""What routes depend on: the workbench, who is asking, the kind of body, and the parameters that many share."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query
from starlette.requests import Request

from coherently.web import sizes
from coherently.web.access.callers import AccountCaller, JudgeCaller, facilitator, is_this_machine, judge
from coherently.web.access.origins import link_origin
from coherently.web.access.workbench import Workbench
from coherently.web.jobs.calculator import Calculator
from coherently.web.refusals import RefusedError
from coherently.web.shapes.shape import Moment

JSON = "application/json"


def content_type(request: Request) -> str:
    """The kind of body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def json_only(request: Request) -> None:
    """Refuse a body that is not JSON."""
    sent = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    if request.method != "GET" and sent and content_type(request) != JSON:
        raise unknown_kind(content_type(request), JSON)


def unknown_kind(found: str, allowed: str) -> RefusedError:
    """The body is of a kind that is not understood."""
    shown = repr(found[:60]) if found else "of an unknown kind"
    return RefusedError(
        415,
        "unknown-kind",
        f"The body is {shown}.",
        where="header.content-type",
        allowed=allowed,
        remedy=f"Send it with the header Content-Type: {allowed.partition(' ')[0]}.",
    )


async def _workbench(request: Request) -> Any:
    return request.app.state.workbench


def this_machine_or_account(request: Request) -> None:
    """Let this machine calculate without a caller; anybody else needs an account."""
    if not is_this_machine(request, request.app.state.workbench):
        facilitator(request)


async def _calculator(request: Request) -> Any:
    return request.app.state.calculator


def _account(request: Request) -> AccountCaller:
    return facilitator(request)


def _judge(request: Request) -> JudgeCaller:
    return judge(request)


def _origin(request: Request) -> str:
    return link_origin(request, request.app.state.workbench.settings)


def _id(letter: str, what: str) -> Any:
    return Path(pattern=f"^{letter}_[0-9A-Za-z]{{1,40}}$", description=f"Id of {what}.")


Bench = Annotated[Workbench, Depends(_workbench)]
LinkOrigin = Annotated[str, Depends(_origin)]
Calculating = Annotated[Calculator, Depends(_calculator)]
Facilitating = Annotated[AccountCaller, Depends(_account)]
Judging = Annotated[JudgeCaller, Depends(_judge)]
PanelId = Annotated[str, _id("p", "a panel")]
QuestionId = Annotated[str, _id("q", "a question")]
LawId = Annotated[str, _id("l", "a law")]
JudgeId = Annotated[str, _id("j", "a judge")]
AggregationId = Annotated[str, _id("a", "an aggregation")]
ReasonKey = Annotated[str, _id("r", "a reason")]
CommentId = Annotated[str, _id("c", "a comment")]
MessageId = Annotated[str, _id("m", "a message")]
ReportLinkId = Annotated[str, _id("k", "a link to the report")]
TokenId = Annotated[str, _id("t", "a token")]
Limit = Annotated[int, Query(ge=1, le=sizes.PAGE, description="Maximum number of records in the answer.")]
AsOf = Annotated[Moment | None, Query(description="A time: what stood then is answered.")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern="^[!-~]+$",
        description="A key of your choice: sent again with the same body, nothing is done twice.",
    ),
]
