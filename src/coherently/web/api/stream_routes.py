"""Server-Sent Events: what changes in a panel, as it changes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from coherently.web.api.change_feed import ChangeFeed, StreamListener
from coherently.web.api.dependencies import Bench, Facilitating, Judging, PanelId
from coherently.web.operations.panel_operations import own_panel
from coherently.web.store import ChangeRecord, NotFoundError, Store

router = APIRouter(tags=["streams"])
HEARTBEAT = 15.0
"""Seconds after which something is sent even if nothing happened, so that no proxy takes the connection for dead."""
LONGEST = 3_600.0
"""Seconds after which a stream ends; the browser opens it again, and who has lost the right to it does not get it."""
BACKLOG = 1_000
"""Maximum number of earlier changes that a stream begins with."""
FOR_JUDGES = frozenset({"panel", "questions", "laws", "round", "comments"})
"""Kinds of changes of which every judge hears; of all others only what is their own."""
LastSeen = Annotated[
    str | None, Header(alias="Last-Event-ID", pattern="^[0-9]{1,15}$", description="Number of the last change seen.")
]
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Changes, as they happen.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


@router.get("/panels/{panel}/stream", responses=EVENTS, response_class=StreamingResponse)
async def panel_stream(
    request: Request, bench: Bench, caller: Facilitating, panel: PanelId, last_seen: LastSeen = None
) -> StreamingResponse:
    """Tell the facilitator what changes: answers, hand-ins, comments, rounds, aggregations and their progress."""
    await run_in_threadpool(own_panel, bench, caller, panel)
    return _stream(
        request, bench.store, panel, caller.scope, last_seen=last_seen, shown=lambda change: change.data | _who(change)
    )


@router.get("/sheet/stream", responses=EVENTS, response_class=StreamingResponse)
async def sheet_stream(
    request: Request, bench: Bench, caller: Judging, last_seen: LastSeen = None
) -> StreamingResponse:
    """Tell a judge what changes: questions, rounds, comments, and the own answers in another window."""
    judge = caller.judge.id

    def shown(change: ChangeRecord) -> dict[str, Any] | None:
        if change.judge == judge:
            return change.data
        return {} if change.judge is None and change.kind in FOR_JUDGES else None

    return _stream(request, bench.store, caller.panel, judge, last_seen=last_seen, shown=shown)


def _who(change: ChangeRecord) -> dict[str, Any]:
    return {} if change.judge is None else {"judge": change.judge}


def _stream(
    request: Request,
    store: Store,
    panel: str,
    caller: str,
    last_seen: str | None,
    shown: Callable[[ChangeRecord], dict[str, Any] | None],
) -> StreamingResponse:
    feed: ChangeFeed = request.app.state.feed
    feed.check_room(caller)

    async def events() -> AsyncIterator[str]:
        with feed.listening(panel, caller) as listener:
            await feed.ready()
            async for change in _changes(store, listener, last_seen):
                if change is None:
                    yield ": still here\n\n"
                    continue
                data = shown(change)
                if data is not None:
                    yield _event(change, data)
                if await _has_ended(store, change, caller):
                    yield "event: ended\ndata: {}\n\n"
                    return

    return StreamingResponse(events(), headers={"X-Accel-Buffering": "no"}, media_type="text/event-stream")


async def _changes(store: Store, listener: StreamListener, last_seen: str | None) -> AsyncIterator[ChangeRecord | None]:
    """Changes after the last one seen; None now and then, so that something is sent.

    Where the stream begins is known before anything is sent: whoever hears from it misses nothing from then on.
    """
    seen = await run_in_threadpool(store.changes.last, listener.panel) if last_seen is None else int(last_seen)
    yield None
    for change in await run_in_threadpool(store.changes.after, listener.panel, seen, BACKLOG):
        seen = change.id
        yield change
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            news = await asyncio.wait_for(listener.changes.get(), HEARTBEAT)
        except TimeoutError:
            yield None
            continue
        if news is None:
            return
        if news.id > seen:
            seen = news.id
            yield news


def _event(change: ChangeRecord, data: dict[str, Any]) -> str:
    text = json.dumps({"kind": change.kind, "time": change.time, **data}, ensure_ascii=False)
    return f"id: {change.id}\nevent: {change.kind}\ndata: {text}\n\n"


async def _has_ended(store: Store, change: ChangeRecord, caller: str) -> bool:
    """Whether the panel was deleted, or the link of this judge withdrawn."""
    try:
        if change.kind == "panel":
            await run_in_threadpool(store.panels.get, change.panel)
        elif change.kind == "judges" and change.judge == caller:
            return (await run_in_threadpool(store.judges.get, caller)).revoked_at is not None
    except NotFoundError:
        return True
    return False
