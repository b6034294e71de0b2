"""What nodes say to each other: probabilities of events, never the data behind them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

HEADER_BYTES = 64
"""Bytes of a message beside its events and numbers: length, version, kind, addresses, group, round, proof of origin."""
EVENT_BYTES, NUMBER_BYTES = 4, 8
"""Bytes of the number of an event, and of a probability or a weight."""


class MessageKind(IntEnum):
    """The four kinds of messages."""

    CALL = 1
    """A keeper asks a node for its forecasts of `events`."""
    REPORT = 2
    """The answer: `values` are the node's forecasts of `events`, `weights` their weights."""
    VALUE = 3
    """A keeper lends a host the values of a group's events, ordered by their numbers; in round 1 with `weights`."""
    RESULT = 4
    """The host's answer: the projected values of the same events, which ends the loan."""


class Message(NamedTuple):
    """One message: who says what to whom; `round` counts the projections of `group`, from 1."""

    kind: MessageKind
    sender: int
    receiver: int
    group: int = -1
    round: int = 0
    events: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()


def message_bytes(message: Message) -> int:
    """The size of a message on the wire.

    >>> message_bytes(Message(MessageKind.VALUE, 0, 1, group=3, round=2, values=(0.25, 0.5)))
    80
    """
    numbers = len(message.values) + len(message.weights)
    return HEADER_BYTES + EVENT_BYTES * len(message.events) + NUMBER_BYTES * numbers
