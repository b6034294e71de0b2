"""Connections: dialling a peer again and again, and answering whoever dials, with a limit on everything."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.network.peers import peer_session
from coherently.network.wire import WireError, decode_message, encode_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.network.peers.incidents import Incidents
    from coherently.network.protocol.messages import Message

ANSWER = 5.0
"""Seconds within which the other side must answer while a session begins."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0
"""Seconds between two attempts to reach a peer: the first pause, which doubles up to the longest."""
SPARE = 16
"""Number of connections beyond one per peer that may be open without proof."""
WAITING = 256
"""Maximum number of messages that wait for a peer; the oldest goes, since what matters is sent again."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who this node is: its number, the 16 bytes of the run, and the key that all nodes share."""

    number: int
    run: bytes
    key: bytes


class Dialler:
    """Messages to one peer: it dials, proves itself, sends, and dials again when the connection breaks."""

    def __init__(self, me: Identity, peer: int, address: tuple[str, int], incidents: Incidents) -> None:
        self._me, self._peer, self._address, self._incidents = me, peer, address, incidents
        self._waiting: deque[Message] = deque(maxlen=WAITING)
        self._ready = asyncio.Event()

    def send(self, message: Message) -> None:
        """Send a message as soon as the peer is reached."""
        self._waiting.append(message)
        self._ready.set()

    async def run(self) -> None:
        """Dial and send until cancelled; nothing that a peer does ends it."""
        pause = FIRST_PAUSE
        while True:
            await self._ready.wait()
            writer = None
            try:
                async with asyncio.timeout(ANSWER):
                    reader, writer = await asyncio.open_connection(*self._address)
                    seal = await self._greet(reader, writer)
                pause = FIRST_PAUSE
                await self._send_all(reader, writer, seal)
            except TimeoutError:
                self._note(f"no answer within {ANSWER:g} seconds")
            except (OSError, asyncio.IncompleteReadError) as error:
                self._note(f"the connection failed: {_words(error)}")
            except WireError as error:
                self._note(str(error))
            finally:
                if writer is not None:
                    writer.close()
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _note(self, why: str) -> None:
        self._incidents.note(f"to node {self._peer} at {self._address[0]}:{self._address[1]}", why)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> peer_session.Seal:
        me = self._me
        hello = peer_session.write_hello(
            peer_session.Introduction(me.run, me.number, self._peer), peer_session.new_nonce()
        )
        writer.write(hello)
        opening = await reader.readexactly(peer_session.OPENING_BYTES)
        peer_session.check_opening(opening)
        rest = await reader.readexactly(peer_session.WELCOME_BYTES - peer_session.OPENING_BYTES)
        nonce = peer_session.read_welcome(me.key, hello, opening + rest)
        writer.write(peer_session.write_proof(me.key, hello, nonce))
        return peer_session.Seal(me.key, hello, nonce)

    async def _send_all(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seal: peer_session.Seal
    ) -> None:
        """Send what waits until the other side hangs up, which a read that ends tells."""
        gone = asyncio.create_task(reader.read(1))
        try:
            while not gone.done():
                self._ready.clear()
                while self._waiting:
                    writer.write(seal.close_frame(encode_message(self._waiting.popleft())))
                async with asyncio.timeout(ANSWER):
                    await writer.drain()
                more = asyncio.create_task(self._ready.wait())
                try:
                    await asyncio.wait({gone, more}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    more.cancel()
            raise ConnectionResetError("the peer hung up")
        finally:
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await gone


class Reception:
    """Answers whoever dials; `heard` gets each message of a peer that has proved itself."""

    def __init__(
        self,
        me: Identity,
        peers: frozenset[int],
        heard: Callable[[Message], None],
        incidents: Incidents,
    ) -> None:
        self._me, self._peers, self._heard, self._incidents = me, peers, heard, incidents
        self._open: dict[int, asyncio.StreamWriter] = {}
        self._strangers = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it ends; what goes wrong ends only this connection."""
        where, peer = f"from {(writer.get_extra_info('peername') or ['somebody'])[0]}", None
        self._strangers += 1
        try:
            try:
                async with asyncio.timeout(ANSWER):
                    peer, seal = await self._meet(reader, writer)
            finally:
                self._strangers -= 1
            where = f"from node {peer}"
            self._replace(peer, writer)
            await self._listen(reader, peer, seal, where)
        except TimeoutError:
            self._incidents.note(where, f"nothing that proves a node within {ANSWER:g} seconds")
        except (WireError, OSError) as error:
            self._incidents.note(where, _words(error))
        except asyncio.IncompleteReadError:
            if peer is None:
                self._incidents.note(where, "the connection ended before a node had proved itself")
        except asyncio.CancelledError:
            pass  # the process ends, and Python 3.11 would complain about a task of a server that was cancelled
        finally:
            if peer is not None and self._open.get(peer) is writer:
                del self._open[peer]
            writer.close()

    def close(self) -> None:
        """Hang up on everybody."""
        for writer in self._open.values():
            writer.close()

    def _replace(self, peer: int, writer: asyncio.StreamWriter) -> None:
        """A peer that dials again has lost its old connection."""
        old = self._open.pop(peer, None)
        if old is not None:
            old.close()
        self._open[peer] = writer

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[int, peer_session.Seal]:
        me = self._me
        if self._strangers > len(self._peers) + SPARE:
            raise WireError("too many connections at once have not proved themselves")
        hello = await reader.readexactly(peer_session.OPENING_BYTES)
        try:
            peer_session.check_opening(hello)
            hello += await reader.readexactly(peer_session.HELLO_BYTES - peer_session.OPENING_BYTES)
            who = peer_session.read_hello(hello)
            self._check(who)
        except WireError:
            writer.write(peer_session.write_refusal())
            raise
        nonce = peer_session.new_nonce()
        writer.write(peer_session.write_welcome(me.key, hello, nonce))
        peer_session.check_proof(me.key, hello, nonce, await reader.readexactly(peer_session.PROOF_BYTES))
        return who.sender, peer_session.Seal(me.key, hello, nonce)

    def _check(self, who: peer_session.Introduction) -> None:
        if who.run != self._me.run:
            raise WireError(f"node {who.sender} belongs to another run")
        if who.receiver != self._me.number:
            raise WireError(f"node {who.sender} wants node {who.receiver}, but this is node {self._me.number}")
        if who.sender not in self._peers:
            raise WireError(f"node {who.sender} has nothing to say to this node")

    async def _listen(self, reader: asyncio.StreamReader, peer: int, seal: peer_session.Seal, where: str) -> None:
        while True:
            length = await reader.readexactly(peer_session.LENGTH_BYTES)
            body = seal.open_frame(length, await reader.readexactly(peer_session.read_length(length)))
            if body is None:
                self._incidents.note(where, "a frame was repeated; it is ignored")
                continue
            try:
                message = decode_message(body)
            except WireError as error:
                self._incidents.note(where, str(error))
                continue
            if message.sender != peer:
                self._incidents.note(where, f"a message claims to be from node {message.sender}; it is ignored")
                continue
            self._heard(message)


def _words(error: Exception) -> str:
    if isinstance(error, asyncio.IncompleteReadError):
        return "the other side hung up"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__
