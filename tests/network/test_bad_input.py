"""What strangers, liars and silent peers do: it is refused and logged, and the other nodes go on to their answer."""

import asyncio
import logging
import math

import pytest

import coherently as co
from coherently.network.central import central_answer
from coherently.network.network import Network
from coherently.network.peers import connections, peer_session
from coherently.network.peers.local_run import free_ports
from coherently.network.peers.node_files import node_files
from coherently.network.peers.node_process import NodeProcess
from coherently.network.protocol.messages import Message, MessageKind
from coherently.network.protocol.node_plan import Agreement
from coherently.network.wire import LONGEST_FRAME, encode_message

KEY = b"the key of these tests, which is long enough"
ROWS = [
    *(("Ann", "p", 0.9), ("Bob", "q", 0.8), ("Cid", "p & q", 0.2), ("Ann", "q", 0.6), ("Cid", "p | q", 0.7)),
    *(("Dora", "s", 0.4), ("Eve", "s & t", 0.7), ("Eve", "t", 0.5)),
]
"""Two networks in one: p and q at Ann, Bob and Cid; s and t at Dora and Eve."""


class Town:
    """Nodes in one process, each behind its own port."""

    def __init__(self, folder, absent=(), correction="none", sweeps=6, schedule="sequential"):
        self.network = Network.from_panel(co.Panel.from_records(ROWS))
        agreement = Agreement(schedule, correction, sweeps, 0.05)
        self.central, self.files = central_answer(self.network, agreement), node_files(self.network, agreement)
        self.ports = free_ports(len(self.files))
        at = {number: ("127.0.0.1", port) for number, port in enumerate(self.ports)}
        self.nodes = {
            file.plan.node: NodeProcess(
                file, KEY, {peer: at[peer] for peer in file.peers}, folder / f"{file.name}.state"
            )
            for file in self.files
            if file.name not in absent
        }
        self.run = bytes.fromhex(self.files[0].run)

    async def __aenter__(self):
        self.tasks = [asyncio.create_task(n.run("127.0.0.1", self.ports[i])) for i, n in self.nodes.items()]
        return self

    async def __aexit__(self, *_):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def finished(self, numbers, seconds=20):
        async with asyncio.timeout(seconds):
            while not all(self.nodes[number].node.is_finished for number in numbers):
                assert not any(task.done() for task in self.tasks)
                await asyncio.sleep(0.01)

    def check(self, numbers, close=1e-12):
        """The values of these nodes are those of the central answer."""
        for number in numbers:
            for event, value in self.nodes[number].node.values().items():
                assert abs(value - self.central[event]) <= close

    async def dial(self, number, key=KEY, sender=None, run=None, version=None):
        """Open a session as a node would; returns the reader, the writer and the seal."""
        for _ in range(100):
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.ports[number])
                break
            except OSError:
                await asyncio.sleep(0.02)
        who = peer_session.Introduction(
            run or self.run, self.files[number].peers[0] if sender is None else sender, number
        )
        hello = peer_session.write_hello(who, peer_session.new_nonce())
        if version is not None:
            hello = hello[:4] + version.to_bytes(2) + hello[6:]
        writer.write(hello)
        try:
            nonce = (await reader.readexactly(peer_session.WELCOME_BYTES))[6:38]
        except asyncio.IncompleteReadError as error:
            assert error.partial == peer_session.write_refusal()
            writer.close()
            return None
        writer.write(peer_session.write_proof(key, hello, nonce))
        return reader, writer, peer_session.Seal(key, hello, nonce)


async def send(town, number, *messages, **options):
    """Say something in a valid session with a node, and wait until it has been read."""
    _, writer, seal = await town.dial(number, **options)
    for message in messages:
        writer.write(message if isinstance(message, bytes) else seal.close_frame(encode_message(message)))
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.close()


def other_version(town):
    return town.dial(0, version=2)


def other_run(town):
    return town.dial(0, run=bytes(16))


def stranger(town):
    return town.dial(0, sender=77)


def wrong_key(town):
    return send(town, 0, key=b"another key, which is long enough, too")


def a_gigabyte(town):
    return send(town, 0, (10**9).to_bytes(4) + bytes(LONGEST_FRAME))


def broken_seal(town):
    return send(town, 0, (40).to_bytes(4) + bytes(40))


def garbage(town):
    return send(town, 0, b"GET / HTTP/1.1\r\n\r\n" * 10)


def about(town, **parts):
    """A report to node 0 from one that may talk to it."""
    sender = town.files[0].peers[0]
    told = {"events": (town.files[0].plan.events[0].event,), "values": (0.5,), "weights": (1.0,), **parts}
    return Message(MessageKind.REPORT, sender, 0, **told)


def not_a_number(town):
    return send(town, 0, about(town, values=(math.nan,)))


def beyond_one(town):
    return send(town, 0, about(town, values=(1.5,)))


def foreign_event(town):
    others = {kept.event for kept in town.files[4].plan.events}
    return send(town, 0, about(town, events=(min(others),)))


def an_event_it_does_not_own(town):
    """The sender reports on an event of the receiver that it does not forecast."""
    for kept in town.files[0].plan.events:
        for peer in town.files[0].peers:
            if peer not in kept.forecasters:
                message = Message(MessageKind.REPORT, peer, 0, -1, 0, (kept.event,), (0.5,), (1.0,))
                return send(town, 0, message, sender=peer)
    raise AssertionError("nobody could lie")


def another_sender(town):
    return send(town, 0, about(town)._replace(sender=1), sender=2)


def a_foreign_group(town):
    return send(town, 0, Message(MessageKind.RESULT, town.files[0].peers[0], 0, 99, 1, (), (0.5,)))


BAD = {
    other_version: "the other side speaks version 2 of the protocol, this node version 1",
    other_run: "belongs to another run",
    stranger: "node 77 has nothing to say to this node",
    wrong_key: "the node that dialled does not have the shared key",
    a_gigabyte: "a frame of 1,000,000,000 bytes is too long; the maximum is 1,048,576",
    broken_seal: "the seal of a frame is broken",
    garbage: "too long",
    not_a_number: "a number of a message is not finite",
    beyond_one: "a probability must lie between 0 and 1",
    foreign_event: "keeps no event",
    an_event_it_does_not_own: "does not forecast event",
    another_sender: "a message claims to be from node 1",
    a_foreign_group: "group 99",
}


@pytest.mark.parametrize("attack", BAD, ids=lambda attack: attack.__name__)
def test_it_is_refused_and_logged_and_the_rest_goes_on(tmp_path, caplog, attack):
    async def run():
        async with Town(tmp_path) as town:
            await attack(town)
            await town.finished(range(5))
            town.check(range(5))

    with caplog.at_level(logging.WARNING, "coherently.network"):
        asyncio.run(run())
    assert BAD[attack] in caplog.text


def test_a_frame_that_is_repeated_counts_once(tmp_path, caplog):
    async def run():
        async with Town(tmp_path) as town:
            _, writer, seal = await town.dial(0)
            frame = seal.close_frame(encode_message(about(town, values=(0.5, 0.5))))
            writer.write(frame * 3)
            await town.finished(range(5))
            writer.close()
            town.check(range(5))

    with caplog.at_level(logging.WARNING, "coherently.network"):
        asyncio.run(run())
    assert "a frame was repeated; it is ignored" in caplog.text


@pytest.mark.parametrize("manner", ["mute", "deaf"])
def test_a_peer_that_never_answers_stops_only_those_who_need_it(tmp_path, caplog, monkeypatch, manner):
    """Eve accepts connections and says nothing, or does not even listen; Ann, Bob and Cid are done all the same."""
    monkeypatch.setattr(connections, "ANSWER", 0.2)
    monkeypatch.setattr(connections, "FIRST_PAUSE", 0.01)

    async def mute(reader, writer):
        await reader.read()
        writer.close()

    async def run():
        async with Town(tmp_path, absent=("Eve",)) as town:
            server = await asyncio.start_server(mute, "127.0.0.1", town.ports[4]) if manner == "mute" else None
            await town.finished(range(3))
            town.check(range(3))
            await asyncio.sleep(0.3)
            assert not town.nodes[3].node.is_finished
            if server is not None:
                server.close()

    with caplog.at_level(logging.WARNING, "coherently.network"):
        asyncio.run(run())
    assert (
        "no answer within 0.2 seconds" if manner == "mute" else "the connection failed: Connection refused"
    ) in caplog.text


def test_connections_that_prove_nothing_are_limited_and_closed(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(connections, "ANSWER", 1.0)

    async def run():
        async with Town(tmp_path) as town:
            await town.finished(range(5))
            silent = [await asyncio.open_connection("127.0.0.1", town.ports[0]) for _ in range(40)]
            ends = await asyncio.wait_for(asyncio.gather(*(reader.read() for reader, _ in silent)), 10)
            assert ends == [b""] * 40
            for _, writer in silent:
                writer.close()

    with caplog.at_level(logging.WARNING, "coherently.network"):
        asyncio.run(run())
    assert "too many connections at once have not proved themselves" in caplog.text
    assert "nothing that proves a node within 1 seconds" in caplog.text


def test_a_flood_of_the_same_is_logged_by_doublings(tmp_path, caplog):
    async def run():
        async with Town(tmp_path) as town:
            await send(town, 0, *[about(town, values=(1.5,))] * 1000)
            await town.finished(range(5))

    with caplog.at_level(logging.WARNING, "coherently.network"):
        asyncio.run(run())
    assert caplog.text.count("a probability must lie between 0 and 1") == 10
    assert "(512 times)" in caplog.text


def test_a_node_that_is_stopped_goes_on_from_its_state(tmp_path):
    """All nodes stop at once, again and again; what was decided stays decided."""

    async def part(before):
        """Let all nodes go on from some projections until they have made eight more together, or are finished."""
        town = Town(tmp_path, correction="dykstra", sweeps=30)
        nodes = [process.node for process in town.nodes.values()]
        assert sum(node.rounds for node in nodes) >= before
        async with town, asyncio.timeout(30):
            while True:
                done, finished = sum(node.rounds for node in nodes), all(node.is_finished for node in nodes)
                if finished or done >= before + 8:
                    return done, finished, town
                await asyncio.sleep(0.001)

    counts, finished = [0], False
    while not finished:
        done, finished, town = asyncio.run(part(counts[-1]))
        counts.append(done)
    assert len(counts) > 3
    town.check(range(5), 1e-6)


@pytest.mark.parametrize("schedule", ["colours", "gossip"])
def test_other_schedules_give_the_values_of_their_loops(tmp_path, schedule):
    async def run():
        async with Town(tmp_path, schedule=schedule) as town:
            await town.finished(range(5))
            town.check(range(5))

    asyncio.run(run())
