"""Clients of the server for agents: by the SDK, in this process, over standard streams or HTTP, and by bare lines."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from mcp import Client, StdioServerParameters

from coherently.agents import Toolbox, make_server

SOURCE = Path(__file__).parents[2] / "src"
COMMAND = ["-m", "coherently", "mcp"]


def environment():
    """The environment with the package that is tested, installed or not."""
    return {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}


def over_stdio(script, *options):
    """What a script of a client gives, with a server process of its own."""

    async def run():
        parameters = StdioServerParameters(command=sys.executable, args=[*COMMAND, *options], env=environment())
        async with Client(parameters) as client:
            return await script(client)

    return asyncio.run(run())


@contextmanager
def http_server(*options):
    """The address of a server process over HTTP, which answers when this begins."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", str(port), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    try:
        _wait_until_open(process, port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(60)


def _wait_until_open(process, port):
    end = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server does not listen")


def over_http(script, address):
    """What a script of a client gives, with the server at an address."""

    async def run():
        async with Client(address) as client:
            return await script(client)

    return asyncio.run(run())


def in_process(script, tools=None):
    """The same with a server in this process."""

    async def run():
        async with Client(make_server(tools or Toolbox())) as client:
            return await script(client)

    return asyncio.run(run())


class BareServer:
    """A server process that is written to line by line, with whatever the line is."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, *COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}}
        self.ask("initialize", info)
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()

    def send(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, number):
        """The answer to a request; others, such as those to what cannot be read, are passed over."""
        while True:
            told = json.loads(self.process.stdout.readline())
            if told.get("id") == number:
                return told

    def ask(self, method, params, number=1):
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        return self.answer(number)

    def begin(self, arguments, tool="check", number=2):
        """Call a tool with arguments as JSON text, whatever it is."""
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": "?"}}
        self.send(json.dumps(body).replace('"?"', arguments))

    def call(self, arguments, tool="check", number=2):
        """The answer to such a call."""
        self.begin(arguments, tool, number)
        return self.answer(number)
