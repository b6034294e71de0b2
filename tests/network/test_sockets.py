"""Nodes as processes over TCP: messages are lost, a node is killed and started again, and the answer is the same."""

import os
import shutil
import subprocess
from contextlib import ExitStack, closing

import numpy as np
import pytest

from coherently.network.central import central_answer
from coherently.network.peers.local_run import free_ports
from tests.network.processes import Processes, ProxyProcess, agreed


def central(processes, correction, sweeps):
    return central_answer(processes.network, agreed(correction, sweeps))


def run_with_a_restart(processes, victim):
    """Start all nodes, kill one when it has begun, start it again, and wait for the end."""
    for number in range(len(processes.files)):
        processes.start(number)
    processes.wait_until(lambda told: told.get(victim, {}).get("rounds", 0) >= 2)
    assert not processes.all_finished(processes.told)
    processes.kill(victim)
    processes.start(victim)
    processes.wait_until(processes.all_finished)
    return processes.values()


@pytest.mark.parametrize(("correction", "sweeps", "close"), [("none", 40, 1e-12), ("dykstra", 40, 1e-6)])
def test_five_percent_lost_and_a_node_killed_change_nothing(tmp_path, correction, sweeps, close):
    ports = free_ports(10)
    addresses = [f"127.0.0.1:{port}" for port in ports[:5]]
    reached = [f"127.0.0.1:{port}" for port in ports[5:]]
    with ExitStack() as stack:
        proxy = ProxyProcess(0.05, zip(reached, addresses, strict=True))
        stack.callback(proxy.process.kill)
        processes = stack.enter_context(closing(Processes(tmp_path, agreed(correction, sweeps), addresses, reached)))
        found = run_with_a_restart(processes, 2)
        assert np.abs(found - central(processes, correction, sweeps)).max() <= close
        passed, lost = proxy.close()
        assert 0 < lost < passed


def test_the_example_tells_the_two_answers_apart(tmp_path):
    """Otherwise a node that lost its correction would go unnoticed."""
    processes = Processes(tmp_path, agreed("none", 1), ["127.0.0.1:1"] * 5)
    loop, nearest = central(processes, "none", 1000), central(processes, "dykstra", 1000)
    assert np.abs(loop - nearest).max() > 0.1


def tool(*arguments):
    """A command of iproute2, or why it does not work."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=20)
    except FileNotFoundError:
        return f"{arguments[0]} is not installed (iproute2)"
    return done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else None


class Namespaces:
    """Two network namespaces with a cable between them, which is taken away at the end."""

    def __init__(self, name):
        self.names = f"{name}a", f"{name}b"
        self.hosts = "10.213.7.1", "10.213.7.2"
        self.trouble = next(filter(None, (tool(*step) for step in self.steps())), None)

    def steps(self):
        ends = [f"{name}-v" for name in self.names]
        for name in self.names:
            yield "ip", "netns", "add", name
        yield (
            "ip",
            "link",
            "add",
            ends[0],
            "netns",
            self.names[0],
            "type",
            "veth",
            "peer",
            ends[1],
            "netns",
            self.names[1],
        )
        for name, end, host in zip(self.names, ends, self.hosts, strict=True):
            yield "ip", "-n", name, "address", "add", f"{host}/30", "dev", end
            yield "ip", "-n", name, "link", "set", end, "up"
            yield "ip", "-n", name, "link", "set", "lo", "up"

    def lose(self, percent):
        """Let the kernel lose packets, if it can."""
        return all(
            tool("tc", "-n", name, "qdisc", "add", "dev", f"{name}-v", "root", "netem", "loss", f"{percent}%") is None
            for name in self.names
        )

    def close(self):
        for name in self.names:
            tool("ip", "netns", "delete", name)


@pytest.mark.skipif(shutil.which("ip") is None, reason="network namespaces need iproute2")
def test_nodes_in_two_network_namespaces_with_losses_between_them(tmp_path):
    """Packets are lost by tc netem where the kernel has it, otherwise frames by the proxy."""
    with ExitStack() as stack:
        spaces = stack.enter_context(closing(Namespaces(f"co{os.getpid()}")))
        if spaces.trouble is not None:
            pytest.skip(f"network namespaces cannot be made here: {spaces.trouble}")
        side = [0, 0, 1, 1, 1]
        addresses = [f"{spaces.hosts[where]}:{7100 + number}" for number, where in enumerate(side)]
        reached = addresses
        if not spaces.lose(5):
            reached = [f"{spaces.hosts[where]}:{7200 + number}" for number, where in enumerate(side)]
            for where in (0, 1):
                pairs = [(reached[i], addresses[i]) for i in range(5) if side[i] == where]
                proxy = ProxyProcess(0.05, pairs, ("ip", "netns", "exec", spaces.names[where]))
                stack.callback(proxy.close)
        processes = stack.enter_context(
            closing(
                Processes(
                    *(tmp_path, agreed("dykstra", 40), addresses, reached),
                    lambda number: ["ip", "netns", "exec", spaces.names[side[number]]],
                )
            )
        )
        found = run_with_a_restart(processes, 2)
        assert np.abs(found - central(processes, "dykstra", 1000)).max() <= 1e-6
