"""Processes on this machine are watched: one that dies is started again, one that fails is reported, none is left."""

import asyncio
import sys
import time

import pytest

import coherently as co
from coherently.network.peers import local_run, node_files
from coherently.network.peers.files import NodeFile
from coherently.network.protocol.node_plan import Agreement, NodePlan

DIES_ONCE = """
import os, pathlib, signal, sys
print('{"rounds": 1, "finished": false, "sent": 2}', flush=True)
mark = pathlib.Path(sys.argv[1])
if not mark.exists():
    mark.touch()
    os.kill(os.getpid(), signal.SIGKILL)
print('{"rounds": 2, "finished": true, "sent": 3, "values": []}', flush=True)
sys.stdin.read()
"""
DIES_ALWAYS = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
FAILS = "import sys\nsys.exit(2)"
NEVER_ENDS = """
import time
print('{"rounds": 0, "finished": false, "sent": 0}', flush=True)
time.sleep(60)
"""


def supervised(folder, code, time_limit=20.0):
    file = NodeFile(run="00" * 16, names=("Ann",), agreement=Agreement(), plan=NodePlan(0), peers=(), texts={})
    child = local_run._Child(file, [sys.executable, "-S", "-c", code, str(folder / "mark")])
    seen = []
    asyncio.run(local_run._supervise([child], time_limit, 2, folder, seen.append))
    assert child.process.returncode is not None
    return child, seen


def test_a_node_that_is_killed_is_started_again(tmp_path):
    child, seen = supervised(tmp_path, DIES_ONCE)
    assert child.restarts == 1
    assert child.told["finished"]
    assert child.sent == 2 + 3
    assert seen[-1] == 1.0


@pytest.mark.parametrize("code", [DIES_ALWAYS, FAILS])
def test_a_node_that_cannot_run_is_reported(tmp_path, code):
    with pytest.raises(co.NetworkError, match=r"node Ann ended with exit code .*nodes\.log says why"):
        supervised(tmp_path, code)


def test_a_node_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(local_run, "GOODBYE", 0.2)
    begun = time.monotonic()
    child, _ = supervised(tmp_path, NEVER_ENDS, time_limit=0.5)
    assert not child.told["finished"]
    assert time.monotonic() - begun < 30
    assert child.process.returncode < 0


def test_messages_that_would_not_fit_into_a_frame_are_refused_before_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr(node_files, "MOST_EVENTS", 2)
    rows = [("Ann", event, 0.5) for event in ("p", "q", "r")]
    network = co.network.Network.from_panel(co.Panel.from_records(rows))
    with pytest.raises(co.NetworkError, match="Ann would keep 3 events"):
        local_run.run_here(network, Agreement(), tmp_path, time_limit=1.0)


def test_too_many_nodes_are_for_the_simulator(tmp_path):
    rows = [(f"judge {i}", "p", 0.5) for i in range(local_run.MOST_NODES + 1)]
    network = co.network.Network.from_panel(co.Panel.from_records(rows))
    with pytest.raises(co.NetworkError, match="201 nodes; this machine starts 200 processes at most"):
        local_run.run_here(network, Agreement(), tmp_path, time_limit=1.0)
