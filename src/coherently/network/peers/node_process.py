"""A node as a process: messages in, state on the disk, messages out, in this order."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from coherently.errors import NetworkError
from coherently.network.peers.connections import Dialler, Identity, Reception
from coherently.network.peers.incidents import Incidents
from coherently.network.peers.state_file import StateFile
from coherently.network.protocol.node import Node

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coherently.network.peers.files import NodeFile
    from coherently.network.protocol.messages import Message

BATCH = 1_000
"""Maximum number of messages that are handled before the state is saved."""
BACKLOG = 10_000
"""Maximum number of messages that wait to be handled; more are dropped, since what matters is sent again."""


class NodeProcess:
    """Runs one node until it is cancelled; it goes on serving when its own part is finished.

    `watch` is called after every batch of messages that changed something, and once at the start.
    """

    def __init__(
        self,
        file: NodeFile,
        key: bytes,
        addresses: dict[int, tuple[str, int]],
        state: Path,
        watch: Callable[[NodeProcess], None] = lambda _: None,
    ) -> None:
        self.file, self.incidents, self._watch = file, Incidents(file.name), watch
        self._store = StateFile(state, file.run)
        try:
            self.node = Node(file.plan, file.agreement, self._store.state)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            self._store.close()
            raise NetworkError(f"{state} does not fit the plan of {file.name}: {error!r}; name another file") from None
        me = Identity(file.plan.node, bytes.fromhex(file.run), key)
        self._diallers = {peer: Dialler(me, peer, at, self.incidents) for peer, at in addresses.items()}
        self._inbox: asyncio.Queue[Message] = asyncio.Queue(BACKLOG)
        self._reception = Reception(me, frozenset(addresses), self._hear, self.incidents)
        self.sent = 0
        """Number of messages that this process has sent or tried to send."""

    async def run(self, host: str, port: int) -> None:
        """Listen, dial and work until cancelled."""
        try:
            server = await asyncio.start_server(self._reception.answer, host, port)
        except OSError as error:
            self._store.close()
            raise NetworkError(f"{self.file.name} cannot listen at {host}:{port}: {error.strerror}") from None
        links = [asyncio.create_task(dialler.run()) for dialler in self._diallers.values()]
        try:
            await self._work()
        finally:
            for link in links:
                link.cancel()
            self._reception.close()
            server.close()
            await asyncio.gather(*links, return_exceptions=True)
            self._store.close()

    async def _work(self) -> None:
        self._settle(self.node.begin(time.monotonic()))
        self._watch(self)
        while True:
            batch = await self._next()
            said, now = [], time.monotonic()
            for message in batch:
                said += self.node.handle(message, now)
            said += self.node.wake(now)
            self._settle(said)
            if batch:
                self._watch(self)

    async def _next(self) -> list[Message]:
        """The messages that have arrived, after waiting for one at most until something must be sent again."""
        wait = self.node.deadline() - time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(wait, 0.0) if wait < 3600 else None):
                batch = [await self._inbox.get()]
                while len(batch) < BATCH and not self._inbox.empty():
                    batch.append(self._inbox.get_nowait())
                return batch
        return []

    def _settle(self, messages: list[Message]) -> None:
        """What was decided is on the disk before anybody hears of it."""
        self._store.save(self.node.state())
        for message in messages:
            self._diallers[message.receiver].send(message)
        self.sent += len(messages)

    def _hear(self, message: Message) -> None:
        wrong = self.node.complaint(message)
        if wrong is not None:
            self.incidents.note(f"from node {message.sender}", f"{wrong}; the message is ignored")
        elif self._inbox.full():
            self.incidents.note(f"from node {message.sender}", "too many messages wait; one is dropped")
        else:
            self._inbox.put_nowait(message)
