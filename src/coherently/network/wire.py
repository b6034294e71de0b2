"""Messages as bytes: the format that docs/reference/wire-format.md describes.

Whatever the bytes are, `decode_message` gives a `Message` with finite numbers or raises `WireError`, and needs memory
only in proportion to the bytes that it was given.
"""

from __future__ import annotations

import math
import struct

from coherently.network.protocol.messages import Message, MessageKind

VERSION = 1
"""The version of the format: the first thing that both sides of a connection say."""
LONGEST_FRAME = 1 << 20
"""Maximum number of bytes of a frame after its length; a longer one is refused before it is read."""
NO_GROUP = 0xFFFFFFFF
"""What stands for a message that is about no group."""

_HEAD = struct.Struct(">B3xIIIQIII")
"""Kind, three zero bytes, sender, receiver, group, round, and the numbers of events, values and weights."""


class WireError(Exception):
    """Bytes from outside that are not what they should be; the message says why, for the log of the node."""


def encode_message(message: Message) -> bytes:
    """The body of a message, without length, counter and seal.

    >>> body = encode_message(Message(MessageKind.VALUE, 0, 1, group=3, round=2, values=(0.25, 0.5)))
    >>> len(body), decode_message(body).values
    (52, (0.25, 0.5))
    """
    events, numbers = message.events, (*message.values, *message.weights)
    group = NO_GROUP if message.group < 0 else message.group
    counts = len(events), len(message.values), len(message.weights)
    head = _HEAD.pack(message.kind, message.sender, message.receiver, group, message.round, *counts)
    return head + struct.pack(f">{len(events)}I{len(numbers)}d", *events, *numbers)


def decode_message(body: bytes) -> Message:
    """The message of a body, if it is exactly one."""
    if len(body) < _HEAD.size:
        raise WireError(f"a message of {len(body)} bytes is shorter than its head")
    kind, sender, receiver, group, number, *counts = _HEAD.unpack_from(body)
    if any(body[1:4]):
        raise WireError("reserved bytes of a message are not zero")
    try:
        named = MessageKind(kind)
    except ValueError:
        raise WireError(f"the kind {kind} of a message is unknown") from None
    events, values, weights = counts
    if len(body) != _HEAD.size + 4 * events + 8 * (values + weights):
        raise WireError(f"a message of {len(body)} bytes claims {events} events and {values + weights} numbers")
    found = struct.unpack_from(f">{events}I{values + weights}d", body, _HEAD.size)
    numbers = found[events:]
    if not all(map(math.isfinite, numbers)):
        raise WireError("a number of a message is not finite")
    about = -1 if group == NO_GROUP else group
    return Message(
        kind=named,
        sender=sender,
        receiver=receiver,
        group=about,
        round=number,
        events=found[:events],
        values=tuple(numbers[:values]),
        weights=tuple(numbers[values:]),
    )
