"""A network of processes on this machine: started, watched, started again where one dies, and stopped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import NetworkError
from coherently.network.peers.keys import VARIABLE, new_key
from coherently.network.peers.node_files import node_files, write_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coherently.arrays import Vector
    from coherently.network.network import Network
    from coherently.network.peers.files import NodeFile
    from coherently.network.protocol.node_plan import Agreement

MOST_NODES = 200
"""Maximum number of processes that are started; larger networks are for the simulator."""
RESTARTS = 3
"""How often a node that died is started again."""
GOODBYE = 5.0
"""Seconds that a process has to end once it is told to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOutcome:
    """What came of a run: one value per event (NaN if unknown), whether all nodes finished, and what it took."""

    value: Vector
    finished: bool
    messages: int
    restarts: int
    seconds: float


@dataclass(slots=True)
class _Child:
    """A process of a node and the last that it said."""

    file: NodeFile
    command: list[str]
    process: asyncio.subprocess.Process | None = None
    told: dict[str, Any] = field(default_factory=dict)
    sent: int = 0
    restarts: int = 0


def run_here(
    network: Network,
    agreement: Agreement,
    folder: Path,
    *,
    time_limit: float,
    progress: Callable[[float], None] | None = None,
) -> LocalOutcome:
    """Run a network of processes that talk over the loopback interface; states and logs are kept in the folder."""
    files = node_files(network, agreement)
    if len(files) > MOST_NODES:
        raise NetworkError(
            f"the network has {len(files):,} nodes; this machine starts {MOST_NODES} processes at most: "
            "co.network.Network.run simulates larger ones"
        )
    children = _prepare(files, folder)
    begun = time.monotonic()
    total = agreement.sweeps * max(1, len(network.groups))
    asyncio.run(_supervise(children, time_limit, total, folder, progress=progress))
    value = np.full(len(network.keeper), np.nan)
    for child in children:
        for event, number in child.told.get("values", []):
            value[event] = number
    return LocalOutcome(
        value=value,
        finished=all(child.told.get("finished") for child in children),
        messages=sum(child.sent for child in children),
        restarts=sum(child.restarts for child in children),
        seconds=time.monotonic() - begun,
    )


def _prepare(files: list[NodeFile], folder: Path) -> list[_Child]:
    paths = write_files(files, folder)
    ports = free_ports(len(files))
    names = [json.dumps(file.name, ensure_ascii=False) for file in files]
    lines = [f'{name} = "127.0.0.1:{port}"\n' for name, port in zip(names, ports, strict=True)]
    peers = folder / "peers.toml"
    peers.write_text("".join(lines), "utf-8")
    return [
        _Child(
            file,
            [
                *(sys.executable, "-m", "coherently", "node", "--managed", "--listen", f"127.0.0.1:{port}"),
                *("--peers", str(peers), "--events", str(path), "--state", str(path.with_suffix(".state"))),
            ],
        )
        for file, path, port in zip(files, paths, ports, strict=True)
    ]


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody uses now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


async def _supervise(
    children: list[_Child], time_limit: float, total: int, folder: Path, progress: Callable[[float], None] | None
) -> None:
    environment = {**os.environ, VARIABLE: new_key()}
    changed = asyncio.Event()
    with (folder / "nodes.log").open("ab") as log:
        tasks = [asyncio.create_task(_mind(child, environment, log, changed)) for child in children]
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(time_limit):
                    while not all(child.told.get("finished") for child in children):
                        await changed.wait()
                        changed.clear()
                        _raise_failed(tasks)
                        if progress is not None:
                            progress(min(1.0, sum(child.told.get("rounds", 0) for child in children) / total))
        finally:
            for child in children:
                if child.process is not None and child.process.stdin is not None:
                    child.process.stdin.close()
            done, left = await asyncio.wait(tasks, timeout=GOODBYE)
            for task in left:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        if not task.cancelled() and task.exception() is not None:
            await task


def _raise_failed(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done():
            task.result()


async def _mind(child: _Child, environment: dict[str, str], log: Any, changed: asyncio.Event) -> None:
    """Run a process and read what it says, until it ends because it was told to."""
    while True:
        process = child.process = await asyncio.create_subprocess_exec(
            *child.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=environment,
            limit=1 << 24,
        )
        before = child.sent
        try:
            assert process.stdout is not None
            async for line in process.stdout:
                child.told = json.loads(line)
                child.sent = before + child.told["sent"]
                changed.set()
            code = await process.wait()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise
        if code == 0:
            return
        if code > 0 or child.restarts == RESTARTS:
            changed.set()
            raise NetworkError(f"node {child.file.name} ended with exit code {code}; {log.name} says why")
        child.restarts += 1
