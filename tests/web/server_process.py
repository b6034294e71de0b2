"""The workbench as a process of its own, as an operator runs it."""

import re
import signal
import subprocess
from contextlib import contextmanager

from tests.cli import program


class ServerProcess:
    """`coherently serve` on a store; the port 0 is a free one."""

    def __init__(self, store_url, port=0, *, arguments=(), command=program.PROGRAM, environment=None):
        line = [*command, "serve", "--quiet", "--port", str(port), "--store", store_url, *arguments]
        self.process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=environment)

    def wait(self):
        """Wait until it answers; where it is."""
        line = self.process.stderr.readline()
        address = re.match(r"The workbench is at (http://[^/]+)/", line)
        assert address, line + self.process.stderr.read()
        return address[1]

    def stop(self):
        """Stop it as systemd does."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        assert self.process.returncode in (0, -signal.SIGTERM)

    def end(self):
        """End it, whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@contextmanager
def serving(*stores):
    """Processes on stores, one for each URL, all started at once; where they are."""
    servers = [ServerProcess(store_url) for store_url in stores]
    try:
        yield [server.wait() for server in servers]
    finally:
        for server in servers:
            server.end()
