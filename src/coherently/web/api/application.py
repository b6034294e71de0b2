"""The REST API as one application, to be mounted at /api/v1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

import coherently
from coherently.web.api import (
    account_routes,
    aggregation_routes,
    judging_routes,
    message_routes,
    panel_routes,
    refusal_answers,
    relation_routes,
    sheet_routes,
    stateless_routes,
    stream_routes,
)
from coherently.web.shapes.carried_records import with_records

if TYPE_CHECKING:
    from coherently.web.access.workbench import Workbench
    from coherently.web.api.change_feed import ChangeFeed
    from coherently.web.jobs.calculator import Calculator

DESCRIPTION = """Panels, questions, laws, judges, rounds, forecasts, outcomes and aggregations.

Who is asking: `Authorization: Bearer TOKEN` with an API token of an account, or with the secret of a judge's link;
pages use a session cookie and the header `X-CSRF-Token`. Every refusal has the same shape and says what is allowed."""
SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token, or the secret of a judge's link."},
    "session": {"type": "apiKey", "in": "cookie", "name": "coherently_session", "description": "A browser's session."},
}
ROUTERS = (
    stateless_routes.router,
    account_routes.router,
    aggregation_routes.router,
    panel_routes.router,
    relation_routes.router,
    judging_routes.router,
    message_routes.router,
    sheet_routes.router,
    stream_routes.router,
)
"""The files' routes come before the panels', whose ids they would be taken for."""
OPEN = ("/session", *(route.path for route in stateless_routes.router.routes if isinstance(route, APIRoute)))
"""Paths that ask for no caller on this machine."""


def make_api(bench: Workbench, calculator: Calculator, feed: ChangeFeed) -> FastAPI:
    """The application with all its routes."""
    app = _routed()
    app.state.workbench, app.state.calculator, app.state.feed = bench, calculator, feed
    return app


def describe_routes() -> dict[str, Any]:
    """The schema of the API, without any store behind it."""
    return _schema(_routed())


def _routed() -> FastAPI:
    app = FastAPI(
        title="Coherently",
        version=coherently.__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        responses=refusal_answers.PROBLEMS,
        redirect_slashes=False,
    )
    app.state.known_routes = [route for router in ROUTERS for route in router.routes]
    refusal_answers.install(app)
    for router in ROUTERS:
        app.include_router(router)
    app.openapi = lambda: _schema(app)  # type: ignore[method-assign]
    return app


def _schema(app: FastAPI) -> dict[str, Any]:
    """The schema, with who may call what."""
    if app.openapi_schema is None:
        schema = with_records(
            get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                servers=[{"url": "/api/v1"}],
            )
        )
        schema["components"]["securitySchemes"] = SCHEMES
        for path, item in schema["paths"].items():
            for method, operation in item.items():
                is_open = path in OPEN and method == "post"
                operation["security"] = [*([{}] if is_open else []), *({name: []} for name in SCHEMES)]
        app.openapi_schema = schema
    return app.openapi_schema
