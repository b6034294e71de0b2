"""What whoever has a link to the report sees: the result, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse
from starlette.routing import Route

from coherently.web.access.callers import not_let_in
from coherently.web.access.report_policy import report_policy
from coherently.web.catalogue import plain
from coherently.web.operations.report_links import read_shared
from coherently.web.pages.rendered import page
from coherently.web.pages.visits import refused_page
from coherently.web.refusals import RefusedError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute


def shared_routes() -> list[BaseRoute]:
    """Where links to reports lead."""
    return [Route("/r/{secret}", show, methods=["GET"], name="GET /r")]


async def show(request: Request) -> Response:
    """The newest finished version."""
    return await run_in_threadpool(_show, request)


def _show(request: Request) -> Response:
    bench = request.app.state.workbench
    try:
        shared = read_shared(bench, request.path_params["secret"])
    except RefusedError:
        refusal = not_let_in(request, bench, plain("shared.gone"), plain("shared.gone.more"))
        if refusal.status != 401:
            return refused_page(request, refusal)
        words = plain("shared.gone.more")
        return page("message.html", 404, title=plain("shared.gone"), words=words, remedy="", tone="", back=None)
    if shared.page:
        return HTMLResponse(shared.page, headers={"Content-Security-Policy": report_policy(shared.page)})
    return page("shared.html", shared=shared)
