"""A session between two nodes: each proves that it has the shared key, and frames are sealed with a key of the session.

Nonces from both sides go into the key of a session, so bytes of an older session mean nothing in a new one; within a
session, counters only go up. A session carries frames in one direction: from the node that dialled.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from dataclasses import dataclass

from coherently.network.wire import LONGEST_FRAME, VERSION, WireError

MAGIC = b"COHN"
"""The first bytes of every opening, in all versions; the version follows."""
NONCE_BYTES, PROOF_BYTES, SEAL_BYTES, COUNTER_BYTES, LENGTH_BYTES = 32, 32, 16, 8, 4
_OPENING = struct.Struct(">4sH")
_HELLO = struct.Struct(f">4sH16sII{NONCE_BYTES}s")
_WELCOME = struct.Struct(f">4sH{NONCE_BYTES}s{PROOF_BYTES}s")
HELLO_BYTES, WELCOME_BYTES, OPENING_BYTES = _HELLO.size, _WELCOME.size, _OPENING.size


@dataclass(frozen=True, slots=True)
class Introduction:
    """Who dials whom, and for which run: `run` is 16 bytes that all nodes of a run have in common."""

    run: bytes
    sender: int
    receiver: int


def write_hello(who: Introduction, nonce: bytes) -> bytes:
    """The first bytes of the node that dials."""
    return _HELLO.pack(MAGIC, VERSION, who.run, who.sender, who.receiver, nonce)


def check_opening(data: bytes) -> None:
    """Refuse whoever does not speak this protocol, or another version of it; six bytes tell."""
    magic, version = _OPENING.unpack_from(data)
    if magic != MAGIC:
        raise WireError("the other side does not speak the protocol of nodes")
    if version != VERSION:
        raise WireError(f"the other side speaks version {version} of the protocol, this node version {VERSION}")


def read_hello(data: bytes) -> Introduction:
    """Who dials, as they say; they have not proved it yet."""
    check_opening(data)
    _, _, run, sender, receiver, _ = _HELLO.unpack(data)
    return Introduction(run, sender, receiver)


def write_refusal() -> bytes:
    """What a listener says before it hangs up: which version it speaks, and nothing else."""
    return _OPENING.pack(MAGIC, VERSION)


def write_welcome(key: bytes, hello: bytes, nonce: bytes) -> bytes:
    """The listener's answer, with the proof that it has the key."""
    return _WELCOME.pack(MAGIC, VERSION, nonce, _proof(key, b"welcome", hello, nonce))


def read_welcome(key: bytes, hello: bytes, data: bytes) -> bytes:
    """The nonce of a listener that has proved to have the key."""
    check_opening(data)
    _, _, nonce, proof = _WELCOME.unpack(data)
    if not hmac.compare_digest(proof, _proof(key, b"welcome", hello, nonce)):
        raise WireError("the node that answers does not have the shared key")
    return bytes(nonce)


def write_proof(key: bytes, hello: bytes, nonce: bytes) -> bytes:
    """The proof of the node that dialled, over the nonces of both sides."""
    return _proof(key, b"proof", hello, nonce)


def check_proof(key: bytes, hello: bytes, nonce: bytes, proof: bytes) -> None:
    """Refuse a node that does not have the key."""
    if not hmac.compare_digest(proof, _proof(key, b"proof", hello, nonce)):
        raise WireError("the node that dialled does not have the shared key")


def new_nonce() -> bytes:
    """Random bytes that were never used before."""
    return secrets.token_bytes(NONCE_BYTES)


class Seal:
    """The key of a session and a counter: seals frames on one side, opens them on the other."""

    __slots__ = ("_counter", "_key")

    def __init__(self, key: bytes, hello: bytes, nonce: bytes) -> None:
        self._key, self._counter = _proof(key, b"session", hello, nonce), 0

    def close_frame(self, body: bytes) -> bytes:
        """A frame: length, counter, body, seal."""
        self._counter += 1
        length = COUNTER_BYTES + len(body) + SEAL_BYTES
        if length > LONGEST_FRAME:
            raise WireError(f"a frame of {length:,} bytes is too long; the maximum is {LONGEST_FRAME:,}")
        sealed = length.to_bytes(LENGTH_BYTES) + self._counter.to_bytes(COUNTER_BYTES) + body
        return sealed + self._tag(sealed)

    def open_frame(self, length: bytes, rest: bytes) -> bytes | None:
        """The body of a frame; None if it was seen before, or after one that was sent later."""
        sealed, tag = length + rest[:-SEAL_BYTES], rest[-SEAL_BYTES:]
        if not hmac.compare_digest(tag, self._tag(sealed)):
            raise WireError("the seal of a frame is broken")
        counter = int.from_bytes(rest[:COUNTER_BYTES])
        if counter <= self._counter:
            return None
        self._counter = counter
        return rest[COUNTER_BYTES:-SEAL_BYTES]

    def _tag(self, sealed: bytes) -> bytes:
        return hmac.digest(self._key, sealed, "sha256")[:SEAL_BYTES]


def read_length(data: bytes) -> int:
    """The length of the rest of a frame, if it may be that long."""
    length = int.from_bytes(data)
    if length > LONGEST_FRAME:
        raise WireError(f"a frame of {length:,} bytes is too long; the maximum is {LONGEST_FRAME:,}")
    if length < COUNTER_BYTES + SEAL_BYTES:
        raise WireError(f"a frame of {length} bytes is too short")
    return length


def _proof(key: bytes, purpose: bytes, hello: bytes, nonce: bytes) -> bytes:
    return hmac.new(key, purpose + b"\0" + hello + nonce, hashlib.sha256).digest()
