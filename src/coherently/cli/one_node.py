"""`coherently node`."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coherently.cli.terminal import say

if TYPE_CHECKING:
    from coherently.network.peers.node_process import NodeProcess

OFTEN = 0.1
"""Seconds between two lines of a managed node."""


def node(
    listen: Annotated[str, typer.Option("--listen", metavar="HOST:PORT", help="Where to listen for other nodes.")],
    peers: Annotated[
        Path, typer.Option("--peers", metavar="FILE", help='Where the other nodes are: lines like Ann = "host:port".')
    ],
    events: Annotated[
        Path,
        typer.Option("--events", metavar="FILE", help="The node's own events and forecasts, by `network plan`."),
    ],
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="FILE", help="Where the node keeps its state (the events' name with .state)."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="The shared key; without it, COHERENTLY_NETWORK_KEY has the key."),
    ] = None,
    managed: Annotated[
        bool, typer.Option("--managed", help="Print JSON lines; end when the standard input ends. For programs.")
    ] = False,
) -> None:
    """Be one node of a network: talk to the others over TCP until stopped."""
    import asyncio

    from coherently.network.peers.files import NodeFile, read_address, read_peers
    from coherently.network.peers.keys import read_key
    from coherently.network.peers.node_process import NodeProcess

    logging.basicConfig(format="%(asctime)s %(message)s", stream=sys.stderr)
    file = NodeFile.read(events)
    host, port = read_address(listen)
    watcher = _Watcher(managed=managed)
    process = NodeProcess(
        file, read_key(key), read_peers(peers, file), state or events.with_suffix(".state"), watch=watcher.watch
    )
    if not managed:
        others = ", ".join(file.names[number] for number in file.peers) or "nobody"
        say(f"{file.name} listens at {listen} and talks to {others}; Ctrl-C stops it.")
    asyncio.run(_until_stopped(process, host, port, managed=managed))
    watcher.tell(process, last=True)


async def _until_stopped(process: NodeProcess, host: str, port: int, *, managed: bool) -> None:
    """Run until a signal comes or, if managed, until the input ends."""
    import asyncio

    loop = asyncio.get_running_loop()
    running = asyncio.create_task(process.run(host, port))
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, running.cancel)
    if managed:

        def wait_for_the_end() -> None:
            sys.stdin.read()
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(running.cancel)

        threading.Thread(target=wait_for_the_end, daemon=True).start()
    with contextlib.suppress(asyncio.CancelledError):
        await running


class _Watcher:
    """Says how far a node is: JSON lines for programs, one table at the end for people."""

    def __init__(self, *, managed: bool) -> None:
        self._managed, self._finished, self._said = managed, False, 0.0

    def watch(self, process: NodeProcess) -> None:
        now, finished = time.monotonic(), process.node.is_finished
        if finished is self._finished and now - self._said < OFTEN:
            return
        if self._managed or finished is not self._finished:
            self.tell(process)
        self._finished, self._said = finished, now

    def tell(self, process: NodeProcess, *, last: bool = False) -> None:
        node = process.node
        if self._managed:
            told: dict[str, object] = {"rounds": node.rounds, "finished": node.is_finished, "sent": process.sent}
            if node.is_finished or last:
                told["values"] = list(node.values().items())
            import json

            with contextlib.suppress(BrokenPipeError):
                print(json.dumps(told), flush=True)
        elif node.is_finished and not last:
            for event, value in sorted(node.values().items()):
                print(f"{value:.6f}  {process.file.texts[event]}", flush=True)
            print("This node is finished; it goes on serving others until it is stopped.", file=sys.stderr, flush=True)
