"""The whole workbench as one application, and how it is served."""

from __future__ import annotations

import asyncio
import errno
import socket
import tempfile
import threading
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

import coherently
from coherently.errors import CoherentlyError
from coherently.explain import judge_sheet as desk
from coherently.web.access.callers import AccountCaller, facilitator, is_this_machine
from coherently.web.access.desk_crew import DeskCrew, InlineDesk
from coherently.web.access.door import Door, internal
from coherently.web.access.error_refusals import refusal_of
from coherently.web.access.logbook import Logbook, write_logs
from coherently.web.access.slow_heads import protocol_with_deadline
from coherently.web.access.workbench import Workbench
from coherently.web.api.application import make_api
from coherently.web.api.change_feed import ChangeFeed
from coherently.web.jobs.calculator import Calculator
from coherently.web.jobs.crew import Crew
from coherently.web.jobs.postman import Postman
from coherently.web.operations.open_panels import close_panels
from coherently.web.refusals import RefusedError
from coherently.web.settings import SettingsError
from coherently.web.store import JOB_STATUSES, StoreError, open_store, restore_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from coherently.web.settings import ServiceSettings

PATIENCE = 5
"""Seconds that requests have to end when the workbench is stopped."""
KEEP_ALIVE = 15
"""Seconds for which a connection stays open without a request."""
HOUR = 3_600.0
"""Seconds between two removals of what has expired."""
THREADS = 128
"""Maximum number of requests that are worked on: those who wait for feedback must not keep others from saving."""
BACKLOG = 1_024
"""Connections that may wait to be taken."""


class WorkbenchApp(Door):
    """The workbench as an ASGI application; `bench` is what its operations are given."""

    bench: Workbench
    feed: ChangeFeed


def make_app(settings: ServiceSettings) -> WorkbenchApp:
    """The workbench: the REST API at /api/v1, pages at /, behind the door that every request passes."""
    crew_of_desk = DeskCrew(settings.desk_processes) if settings.desk_processes else None
    bench = Workbench(open_store(settings.store_url), settings, crew_of_desk or InlineDesk())
    logbook = Logbook(log_requests=settings.log_requests)
    calculator = Calculator(settings.limits)
    feed = ChangeFeed(bench.store, settings.limits.streams, logbook.streams)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        crew = Crew(settings)
        crew.start()
        postman = None if settings.mail is None else Postman(bench.store, settings.mail)
        if postman is not None:
            postman.start()
        warming = None
        if crew_of_desk is not None:
            crew_of_desk.start()
        else:
            warming = threading.Thread(target=desk.warm_up)
            warming.start()
        tasks = [asyncio.create_task(_tidy(bench)), asyncio.create_task(_make_routes(api))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            feed.close()
            if warming is not None:
                warming.join()  # a process must not end while compiled code still runs in it
            if postman is not None:
                postman.stop()
            crew.stop()
            bench.desk.close()
            calculator.close()
            close_panels(bench.store)
            bench.store.close()

    api = make_api(bench, calculator, feed)
    routes: list[BaseRoute] = [Mount("/api/v1", api), Route("/healthz", _health), Route("/metrics", _metrics)]
    inner = Starlette(routes=[*routes, *_pages(bench)], lifespan=lifespan)
    inner.router.redirect_slashes = False
    inner.state.workbench, inner.state.calculator, inner.state.logbook = bench, calculator, logbook
    inner.add_exception_handler(CoherentlyError, _refused)
    inner.add_exception_handler(HTTPException, _http)
    inner.add_exception_handler(Exception, _fault)
    app = WorkbenchApp(inner, settings, logbook)
    app.bench, app.feed = bench, feed
    return app


async def _make_routes(api: FastAPI) -> None:
    """Ask for what is not there: the first request of all makes what all routes check, which nobody should wait for."""
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": "/-", "raw_path": b"/-",
        "root_path": "", "query_string": b"", "headers": [], "state": {"request_id": ""},
    }  # fmt: skip

    async def nothing() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def nobody(_: Any) -> None:
        """Nobody reads the answer."""

    await api(scope, nothing, nobody)


async def _tidy(bench: Workbench) -> None:
    """Remove what has expired, now and then."""
    while True:
        await asyncio.sleep(HOUR)
        with suppress(StoreError):
            await run_in_threadpool(bench.store.tidy)


def _pages(bench: Workbench) -> list[BaseRoute]:
    from coherently.web.pages import page_routes

    return page_routes(bench)


async def _refused(request: Request, error: Exception) -> Response:
    from coherently.web.pages import refused_page

    assert isinstance(error, CoherentlyError)
    return refused_page(request, refusal_of(error))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: "There is nothing at this address.", 405: "This address does not know that method."}
    message = messages.get(error.status_code, str(error.detail))
    refusal = RefusedError(error.status_code, "not-found", message, headers=dict(error.headers or {}))
    return await _refused(request, refusal)


async def _fault(request: Request, _: Exception) -> Response:
    return await _refused(request, internal(request.state.request_id))


def _health(request: Request) -> Response:
    """Whether the workbench can answer: its store does."""
    try:
        request.app.state.workbench.store.ready()
    except StoreError as error:
        return JSONResponse({"status": "store unavailable", "message": str(error)}, 503)
    return JSONResponse({"status": "ok", "version": coherently.__version__})


def _metrics(request: Request) -> Response:
    """Counters for Prometheus; where others can reach the workbench, only with a token."""
    bench: Workbench = request.app.state.workbench
    if not is_this_machine(request, bench):
        try:
            facilitator(request)
        except RefusedError as error:
            return PlainTextResponse(f"{error.message}\n", error.status, error.headers)
    logbook: Logbook = request.app.state.logbook
    counts = bench.store.aggregations.counts()
    for status in JOB_STATUSES:
        logbook.jobs.labels(status).set(counts.get(status, 0))
    return Response(generate_latest(logbook.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


class _Server(uvicorn.Server):
    """A server that says when it answers, and ends open streams as soon as it is told to stop."""

    def __init__(self, config: uvicorn.Config, app: WorkbenchApp, begun: Callable[[], object]) -> None:
        super().__init__(config)
        self._app, self._begun = app, begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._begun()

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        self._app.feed.close()


def add_account(settings: ServiceSettings, name: str, password: str) -> None:
    """Add an account to the store."""
    with open_store(settings.store_url) as store:
        store.accounts.create(name, password)


def back_up(settings: ServiceSettings, path: Path) -> None:
    """Write a copy of the store while it may be in use."""
    with open_store(settings.store_url) as store:
        store.backup(path)


def restore(settings: ServiceSettings, path: Path) -> Path | None:
    """Put a backup in place of the store, which may be in use; where what was there is kept."""
    return restore_store(settings.store_url, path)


def serve(settings: ServiceSettings, *, announce: Callable[[str], None], open_browser: bool = False) -> None:
    """Serve until stopped; an address that cannot be used is an error that says what to do."""
    with _store_of(settings) as chosen, listening(chosen) as listener:
        app = make_app(chosen)
        chosen.check(app.bench.store.accounts.count())
        address = _address(chosen, listener.getsockname()[1]) + _first_page(app.bench)
        if chosen.log_requests:
            write_logs()

        def begun() -> None:
            announce(f"The workbench is at {address} (Ctrl-C stops it).")
            if open_browser:
                import webbrowser

                webbrowser.open(address)

        with suppress(KeyboardInterrupt):
            _Server(server_config(app, chosen), app, begun).run(sockets=[listener])
        announce("The workbench has stopped; everything that was saved is kept.")


def _first_page(bench: Workbench) -> str:
    """The path of the first page to look at; a demo is made and opens on its panel."""
    if not bench.settings.demo:
        return ""
    from coherently.web.demo_panel import make_demo

    account = bench.store.accounts.local()
    return f"panels/{make_demo(bench, AccountCaller(account.id, account.name))}/board"


def server_config(app: WorkbenchApp, settings: ServiceSettings) -> uvicorn.Config:
    """How the server runs: with limits on connections and on slow clients, and without headers that are not ours."""
    limits = settings.limits
    return uvicorn.Config(
        app,
        http=protocol_with_deadline(limits.head_seconds),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=PATIENCE,
        backlog=BACKLOG,
    )


@contextmanager
def _store_of(settings: ServiceSettings) -> Iterator[ServiceSettings]:
    """The settings with a store; that of a demo is thrown away."""
    if settings.store_url:
        yield settings
        return
    with tempfile.TemporaryDirectory(prefix="coherently-") as folder:
        yield replace(settings, store_url=f"sqlite:///{Path(folder) / 'demo.db'}")


@contextmanager
def listening(settings: ServiceSettings) -> Iterator[socket.socket]:
    """A socket at the address of the settings; one that cannot be used is an error that says what to do."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # The server sends answers without delay only on sockets that say that they are of TCP.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except (OSError, OverflowError) as error:
            raise SettingsError(_cannot_listen(settings, error)) from None
        yield listener


def _cannot_listen(settings: ServiceSettings, error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return f"the port {settings.port} is in use, perhaps by another workbench: choose another with --port"
    if number == errno.EACCES:
        return f"this user may not use the port {settings.port}: choose one above 1023 with --port"
    return f"the address {settings.host} cannot be used ({error}): give one of this machine's with --host"


def _address(settings: ServiceSettings, port: int) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{port}/"
