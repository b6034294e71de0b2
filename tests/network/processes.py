"""Nodes as processes, for tests: started, killed, started again, asked, and always ended."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

import coherently as co
from coherently.network.network import Network
from coherently.network.peers.keys import VARIABLE
from coherently.network.peers.node_files import node_files, write_files
from coherently.network.protocol.node_plan import Agreement

KEY = "0123456789abcdef" * 4
PROXY = Path(__file__).with_name("lossy_proxy.py")
ROWS = [
    *(("Ann", "q | ~r", 0.16), ("Ann", "p & q", 0.17), ("Ann", "p", 0.96)),
    *(("Bob", "p | q", 0.1), ("Bob", "r", 0.07), ("Bob", "p & q", 0.15)),
    *(("Cid", "p | q", 0.66), ("Cid", "p | r", 0.76), ("Cid", "q", 0.44)),
    *(("Dora", "p", 0.46), ("Dora", "q | ~r", 0.68), ("Dora", "q & r", 0.87)),
    *(("Eve", "q & r", 0.93), ("Eve", "p", 0.74), ("Eve", "r", 0.41)),
]


class Processes:
    """Five judges as five processes; `addresses` is where each listens, `reached` where the others find it."""

    def __init__(self, folder, agreement, addresses, reached=None, prefix=lambda _: []):
        self.network = Network.from_panel(co.Panel.from_records(ROWS))
        self.files = node_files(self.network, agreement)
        self.paths = write_files(self.files, folder)
        self.folder, self.addresses, self.prefix = folder, addresses, prefix
        lines = [f'{file.name} = "{at}"\n' for file, at in zip(self.files, reached or addresses, strict=True)]
        (folder / "peers.toml").write_text("".join(lines))
        self.running, self.told, self.ears = {}, {}, {}
        self.changed = threading.Condition()

    def start(self, number):
        path = self.paths[number]
        command = [*self.prefix(number), sys.executable, "-m", "coherently", "node", "--managed"]
        command += ["--listen", self.addresses[number], "--peers", str(self.folder / "peers.toml")]
        command += ["--events", str(path), "--state", str(path.with_suffix(".state"))]
        with (self.folder / f"node-{number}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, VARIABLE: KEY},
                text=True,
            )
        self.running[number] = process
        self.ears[number] = threading.Thread(target=self._listen, args=(number, process), daemon=True)
        self.ears[number].start()

    def _listen(self, number, process):
        with process.stdout:
            for line in process.stdout:
                with self.changed:
                    self.told[number] = json.loads(line)
                    self.changed.notify_all()

    def wait_until(self, reached, seconds=60.0):
        end = time.monotonic() + seconds
        with self.changed:
            while not reached(self.told):
                left = end - time.monotonic()
                assert left > 0, (self.told, [path.read_text() for path in self.folder.glob("*.log")])
                self.changed.wait(left)

    def all_finished(self, told):
        return len(told) == len(self.files) and all(one["finished"] for one in told.values())

    def kill(self, number):
        """As kill -9: nothing is tidied up."""
        process = self.running[number]
        process.kill()
        process.wait()
        process.stdin.close()
        self.ears[number].join()
        with self.changed:
            self.told.pop(number, None)

    def values(self):
        found = np.full(len(self.network.keeper), np.nan)
        for told in self.told.values():
            for event, value in told["values"]:
                found[event] = value
        return found

    def close(self):
        for process in self.running.values():
            process.stdin.close()
        for process in self.running.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for ear in self.ears.values():
            ear.join()


def agreed(correction, sweeps, schedule="sequential", patience=0.05):
    return Agreement(schedule, correction, sweeps, patience, 0)


class ProxyProcess:
    """The lossy proxy as a process of its own."""

    def __init__(self, loss, pairs, prefix=()):
        command = [*prefix, sys.executable, str(PROXY), str(loss), "1", *(f"{here}={there}" for here, there in pairs)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def close(self):
        """End it; returns how many frames it passed on and how many it lost."""
        said, _ = self.process.communicate(timeout=20)
        return tuple(map(int, said.split()))
