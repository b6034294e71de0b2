"""The bytes of messages and sessions: what is written is read, and nothing else is."""

import contextlib
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.network.peers import peer_session
from coherently.network.peers.peer_session import Introduction, Seal
from coherently.network.protocol.messages import Message, MessageKind, message_bytes
from coherently.network.wire import LONGEST_FRAME, VERSION, WireError, decode_message, encode_message

KEY = b"k" * 32
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SMALL = st.integers(0, 2**32 - 2)
MESSAGES = st.builds(
    Message,
    kind=st.sampled_from(MessageKind),
    sender=SMALL,
    receiver=SMALL,
    group=st.integers(-1, 2**32 - 2),
    round=st.integers(0, 2**64 - 1),
    events=st.lists(SMALL, max_size=5).map(tuple),
    values=st.lists(NUMBERS, max_size=5).map(tuple),
    weights=st.lists(NUMBERS, max_size=5).map(tuple),
)


@given(MESSAGES)
def test_a_message_is_read_as_it_was_written_and_has_the_size_that_is_counted(message):
    body = encode_message(message)
    assert decode_message(body) == message
    frame = Seal(KEY, b"hello", b"nonce").close_frame(body)
    assert len(frame) == message_bytes(message)


@given(MESSAGES, st.data())
def test_changed_bytes_are_refused_or_another_valid_message(message, data):
    body = bytearray(encode_message(message))
    body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    body = bytes(body[: data.draw(st.integers(0, len(body)))]) + data.draw(st.binary(max_size=3))
    try:
        found = decode_message(body)
    except WireError:
        return
    assert encode_message(found) == body
    assert all(map(math.isfinite, found.values + found.weights))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(body):
    with contextlib.suppress(WireError):
        assert encode_message(decode_message(body)) == body


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["values", "weights"])
def test_numbers_that_are_none_are_refused(number, field):
    body = encode_message(Message(MessageKind.REPORT, 1, 2, events=(3,), **{field: (0.5, number)}))
    with pytest.raises(WireError, match="not finite"):
        decode_message(body)


def test_counts_beyond_the_bytes_cost_nothing():
    """A head that claims four billion numbers is refused by its length, before anything is made for them."""
    head = struct.pack(">B3xIIIQIII", 3, 0, 1, 2, 3, 0, 2**32 - 1, 2**32 - 1)
    with pytest.raises(WireError, match="claims"):
        decode_message(head + bytes(100))


def test_reserved_bytes_and_unknown_kinds_are_refused():
    body = encode_message(Message(MessageKind.VALUE, 0, 1, 2, 3))
    with pytest.raises(WireError, match="reserved"):
        decode_message(body[:2] + b"\1" + body[3:])
    with pytest.raises(WireError, match="kind 9"):
        decode_message(b"\t" + body[1:])


def meeting(key=KEY, other=KEY):
    """The bytes of a handshake between two nodes, and the seal of each."""
    hello = peer_session.write_hello(Introduction(bytes(16), 0, 1), peer_session.new_nonce())
    nonce = peer_session.new_nonce()
    welcome = peer_session.write_welcome(other, hello, nonce)
    heard = peer_session.read_welcome(key, hello, welcome)
    peer_session.check_proof(other, hello, nonce, peer_session.write_proof(key, hello, heard))
    return Seal(key, hello, heard), Seal(other, hello, nonce)


def split(frame):
    return frame[: peer_session.LENGTH_BYTES], frame[peer_session.LENGTH_BYTES :]


def test_a_session_carries_bodies_in_order_and_gaps_do_not_matter():
    writer, reader = meeting()
    frames = [writer.close_frame(b"%d" % i) for i in range(5)]
    assert [reader.open_frame(*split(frames[i])) for i in (0, 1, 3, 4)] == [b"0", b"1", b"3", b"4"]


def test_a_repeated_or_late_frame_is_recognised():
    writer, reader = meeting()
    first, second = writer.close_frame(b"a"), writer.close_frame(b"b")
    assert reader.open_frame(*split(second)) == b"b"
    assert reader.open_frame(*split(second)) is None
    assert reader.open_frame(*split(first)) is None


def test_a_frame_of_another_session_is_refused():
    writer, reader = meeting()
    frame = writer.close_frame(b"a")
    assert reader.open_frame(*split(frame)) == b"a"
    with pytest.raises(WireError, match="seal"):
        meeting()[1].open_frame(*split(frame))


@given(st.data())
def test_no_bit_of_a_frame_can_be_changed(data):
    writer, reader = meeting()
    frame = bytearray(writer.close_frame(b"some body"))
    frame[data.draw(st.integers(0, len(frame) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(WireError):
        reader.open_frame(*split(bytes(frame)))


def test_who_has_another_key_is_refused_on_both_sides():
    with pytest.raises(WireError, match="the node that answers does not have"):
        meeting(other=b"x" * 32)
    hello = peer_session.write_hello(Introduction(bytes(16), 0, 1), peer_session.new_nonce())
    nonce = peer_session.new_nonce()
    with pytest.raises(WireError, match="the node that dialled does not have"):
        peer_session.check_proof(KEY, hello, nonce, peer_session.write_proof(b"x" * 32, hello, nonce))


def test_a_recorded_handshake_does_not_fit_a_new_nonce():
    hello = peer_session.write_hello(Introduction(bytes(16), 0, 1), peer_session.new_nonce())
    recorded = peer_session.write_proof(KEY, hello, peer_session.new_nonce())
    with pytest.raises(WireError):
        peer_session.check_proof(KEY, hello, peer_session.new_nonce(), recorded)


def test_the_version_is_checked_first():
    hello = peer_session.write_hello(Introduction(bytes(16), 0, 1), peer_session.new_nonce())
    with pytest.raises(WireError, match=f"version 7 of the protocol, this node version {VERSION}"):
        peer_session.read_hello(hello[:4] + b"\0\7" + hello[6:])
    with pytest.raises(WireError, match="does not speak"):
        peer_session.check_opening(b"GET / HTTP/1.1")
    peer_session.check_opening(peer_session.write_refusal())


@pytest.mark.parametrize("length", [0, 23, LONGEST_FRAME + 1, 10**9])
def test_lengths_are_limited(length):
    with pytest.raises(WireError, match=r"too (long|short)"):
        peer_session.read_length(length.to_bytes(4))
    assert peer_session.read_length((24).to_bytes(4)) == 24


def test_too_long_a_frame_is_not_sent():
    with pytest.raises(WireError, match="too long"):
        meeting()[0].close_frame(bytes(LONGEST_FRAME))
