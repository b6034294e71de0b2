"""A server's end of a connection that does not wait for ever for the headers of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

BEFORE_HEADERS = (h11.IDLE,)
"""States of a connection in which the headers of a request are not complete."""


def protocol_with_deadline(seconds: float) -> type[H11Protocol]:
    """A protocol that closes a connection whose request has no complete headers after so many seconds."""

    class HeadDeadline(H11Protocol):
        """The usual protocol with a timer."""

        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, self._too_late)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state not in BEFORE_HEADERS:
                self._stop()
            elif self._timer is None and not self.transport.is_closing():
                self._timer = self.loop.call_later(seconds, self._too_late)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _too_late(self) -> None:
            self._timer = None
            if self.conn.their_state in BEFORE_HEADERS and not self.transport.is_closing():
                self.transport.close()

    return HeadDeadline
