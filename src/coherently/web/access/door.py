"""The door: every request passes it, and every answer leaves by it with the headers that keep pages safe."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers, MutableHeaders

from coherently.web.access.desk_crew import begin_request
from coherently.web.access.origins import check_host, client_address, is_encrypted
from coherently.web.access.rates import Buckets, too_fast
from coherently.web.refusals import RefusedError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from coherently.web.access.logbook import Logbook
    from coherently.web.settings import ServiceSettings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
"""Headers of every answer that does not set them itself."""
LARGE = ("/import", "/api/v1/check", "/api/v1/aggregate")
"""Ends of paths whose requests carry a whole panel."""
LINGER = 2.0
"""Seconds for which the rest of a body that is too large is read and thrown away."""
OF_ADDRESS = 10
"""How many callers' worth of requests one address may send: several people may sit behind it."""


class Door:
    """Checks host, rate and size before anything else runs, and gives each request an id."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings, logbook: Logbook) -> None:
        self.app, self.settings, self.logbook = app, settings, logbook
        rate, burst = settings.limits.rate, settings.limits.burst
        self._callers = Buckets(rate, burst)
        self._addresses = Buckets(OF_ADDRESS * rate, OF_ADDRESS * burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer why not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin_request()
        headers = Headers(scope=scope)
        peer = scope["client"][0] if scope.get("client") else "unknown"
        state = scope.setdefault("state", {})
        state["request_id"] = secrets.token_hex(8)
        state["address"] = client_address(peer, headers, self.settings)
        state["peer"] = peer
        state["encrypted"] = is_encrypted(peer, scope.get("scheme", "http"), headers, self.settings)
        answer = _Response(scope, send)
        with self.logbook.entry(scope, answer):
            try:
                check_host(headers, self.settings)
                self._check_rate(state["address"], headers)
                await self.app(scope, await self._read(scope, headers, receive), answer.send)
            except RefusedError as refusal:
                await answer.refuse(refusal, receive)
            except Exception:
                self.logbook.fault(scope)
                await answer.refuse(internal(state["request_id"]))

    def _check_rate(self, address: str, headers: Headers) -> None:
        limits = self.settings.limits
        wait = self._addresses.wait(address)
        if wait > 0:
            raise too_fast(wait, OF_ADDRESS * limits.rate, OF_ADDRESS * limits.burst)
        shown = headers.get("authorization") or headers.get("cookie") or address
        wait = self._callers.wait(hashlib.blake2b(shown.encode(), digest_size=16).hexdigest())
        if wait > 0:
            raise too_fast(wait, limits.rate, limits.burst)

    async def _read(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Read the body within its limits of size and time, and give it to the application from memory."""
        if "content-length" not in headers and "transfer-encoding" not in headers:
            return receive
        limits = self.settings.limits
        most = limits.upload if scope["path"].endswith(LARGE) else limits.body
        if _declared(headers) > most:
            raise too_large(most)
        try:
            async with asyncio.timeout(limits.body_seconds):
                body = await _collect(receive, most)
        except TimeoutError:
            raise RefusedError(
                408,
                "too-slow",
                "The body of the request did not arrive in time.",
                allowed=f"{limits.body_seconds:g} seconds",
                remedy="Send it again.",
            ) from None
        return _replay(body, receive)


async def _throw_away(receive: Receive) -> None:
    """Read on for a short while without keeping anything."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            more = True
            while more:
                message = await receive()
                more = message["type"] == "http.request" and message.get("more_body", False)


async def _collect(receive: Receive, most: int) -> bytes:
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "cut-short", "The connection ended before the request did.")
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise too_large(most)
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [body]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again


def _declared(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def too_large(most: int) -> RefusedError:
    """The body of a request is too large."""
    return RefusedError(
        413,
        "too-large",
        "The request is too large.",
        where="body",
        allowed=f"at most {most:,} bytes",
        remedy="Send less at a time.",
        headers={"Connection": "close"},
    )


def internal(request_id: str) -> RefusedError:
    """A fault of the workbench itself."""
    return RefusedError(
        500,
        "fault",
        "The workbench made a mistake; what was saved before is safe.",
        remedy=f"Try again. If it happens again, report it with the number {request_id}, which the log has too.",
    )


class _Response:
    """An answer on its way out: adds the headers, and remembers what was sent."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.scope, self._send = scope, send
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        """Send one message, the first with the headers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if self.scope["state"]["encrypted"]:
                headers.setdefault("Strict-Transport-Security", "max-age=31536000")
            headers["X-Request-Id"] = self.scope["state"]["request_id"]
        await self._send(message)

    async def refuse(self, refusal: RefusedError, receive: Receive | None = None) -> None:
        """Send a refusal, unless an answer has begun already; the rest of too large a body is thrown away first.

        A client that still sends would otherwise lose the connection before it has read why.
        """
        if self.status is not None:
            return
        kind, body = _written(refusal, self.scope)
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), **refusal.headers}
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": refusal.status, "headers": raw})
        content = b"" if self.scope["method"] == "HEAD" else body
        await self.send({"type": "http.response.body", "body": content, "more_body": True})
        if refusal.status == 413 and receive is not None:
            await _throw_away(receive)
        await self.send({"type": "http.response.body"})


def _written(refusal: RefusedError, scope: Scope) -> tuple[str, bytes]:
    if scope["path"].startswith("/api/"):
        return "application/json", json.dumps(refusal.body(), ensure_ascii=False).encode("utf-8", "replace")
    parts: list[Any] = [refusal.message, refusal.allowed and f"Allowed: {refusal.allowed}.", refusal.remedy]
    return "text/plain; charset=utf-8", "\n".join(filter(None, parts)).encode("utf-8", "replace")
