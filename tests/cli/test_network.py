"""`coherently node` and `coherently network`: what they print, and what they refuse."""

import json
import os
import subprocess
import sys

import pytest

import coherently as co
from coherently.network.peers.keys import VARIABLE
from coherently.network.peers.spec import NetworkSpec
from tests.cli import program

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != VARIABLE}
PANEL = "event,Ann,Bob,Cid\np,0.9,0.8,NA\nq,0.7,NA,0.6\np & q,0.1,NA,0.2\np | q,NA,0.7,NA\n"


def run(folder, *arguments, **environment):
    return program.run(*arguments, cwd=folder, env={**ENVIRONMENT, **environment}, timeout=60)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "panel.csv").write_text(PANEL)
    (tmp_path / "spec.toml").write_text('panel = "panel.csv"\nsweeps = 4\npatience = 0.3\n')
    return tmp_path


def test_a_run_says_how_far_it_is_from_the_central_answer_and_goes_on_where_it_ended(folder):
    done = run(folder, "network", "run", "spec.toml", "--folder", "kept", "-o", "out.csv")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "3 nodes finished after" in said
    assert "No probability is farther than 0.0e+00 from the central loop." in said
    again = run(folder, "network", "run", "spec.toml", "--folder", "kept", "--json")
    told = json.loads(again.stdout)
    assert told["finished"]
    assert told["farthest_from_central"] <= 1e-12
    assert told["messages"] == 0, "the states say that nothing is left to do"
    central = run(folder, "aggregate", "panel.csv", "--method", "projections", "--sweeps", "4", "--json")
    expected = {row["event"]: row["probability"] for row in json.loads(central.stdout)["forecasts"]}
    assert {row["event"]: row["probability"] for row in told["forecasts"]} == pytest.approx(expected, abs=1e-12)


def test_a_plan_gives_each_node_its_own_forecasts_only(folder):
    done = run(folder, "network", "plan", "spec.toml", "-o", "nodes")
    assert done.returncode == 0, done.stderr
    files = [json.loads((folder / "nodes" / f"node-{i}.json").read_text()) for i in range(3)]
    assert [file["names"][file["plan"]["node"]] for file in files] == ["Ann", "Bob", "Cid"]
    said = [sorted(own["probability"] for own in file["plan"]["forecasts"]) for file in files]
    assert said == [[0.1, 0.7, 0.9], [0.7, 0.8], [0.2, 0.6]]
    key = folder / "nodes" / "network.key"
    assert key.stat().st_mode & 0o077 == 0
    before = key.read_text()
    run(folder, "network", "plan", "spec.toml", "-o", "nodes")
    assert key.read_text() == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sweeps = 3\n", "names no panel"),
        ('panel = "panel.csv"\nsweep = 3\n', "unknown line 'sweep'"),
        ('panel = "panel.csv"\nsweeps = "3"\n', "sweeps is '3'; it must be a whole number"),
        ('panel = "panel.csv"\nsweeps = 0\n', "sweeps is 0; it must be 1 or more"),
        ('panel = "panel.csv"\nschedule = "random"\n', "schedule is 'random'"),
        ('panel = "panel.csv"\ntime_limit = -1\n', "time_limit is -1"),
        ('panel = "none.csv"\n', "none.csv"),
        ("panel = \n", "is not TOML"),
    ],
)
def test_a_spec_that_cannot_be_used_is_refused(folder, text, says):
    (folder / "spec.toml").write_text(text)
    with pytest.raises(co.CoherentlyError, match=says):
        NetworkSpec.read(folder / "spec.toml")[0].agreement()


def test_a_node_refuses_to_start_without_what_it_needs(folder):
    run(folder, "network", "plan", "spec.toml", "-o", ".")
    (folder / "peers.toml").write_text('Bob = "127.0.0.1:9"\n')
    (folder / "spec.toml").write_text("sweeps = 3\n")
    assert "names no panel" in run(folder, "network", "run", "spec.toml").stderr
    start = ["node", "--listen", "127.0.0.1:0", "--peers", "peers.toml", "--events", "node-0.json"]
    key = {VARIABLE: "k" * 32}
    assert "nodes need a shared key" in run(folder, *start).stderr
    assert "no address for Cid" in run(folder, *start, "--key", "network.key").stderr
    (folder / "peers.toml").write_text('Bob = "127.0.0.1:9"\nCid = "nowhere"\n')
    assert "'nowhere' is not an address" in run(folder, *start, **key).stderr
    assert "does not have the events of a node" in run(folder, *start[:-1], "peers.toml", **key).stderr
    (folder / "peers.toml").write_text('Bob = "127.0.0.1:9"\nCid = "127.0.0.1:9"\n')
    (folder / "node-0.state").write_text("nonsense\n")
    done = run(folder, *start, **key)
    assert "node-0.state: line 1 is damaged" in done.stderr
    assert done.returncode == 2


def test_the_key_cannot_be_given_on_the_command_line():
    """Whoever lists processes would see it."""
    said = run(".", "node", "--help").stdout
    assert "--key" in said
    assert "FILE" in said[said.index("--key") :].splitlines()[0]


def test_a_node_for_people_prints_its_events_when_it_is_finished_and_stops_when_told_to(folder):
    """Bob alone has events of his own: a network of one."""
    (folder / "panel.csv").write_text("event,Bob\np,0.3\np & q,0.4\n")
    run(folder, "network", "plan", "spec.toml", "-o", ".")
    (folder / "peers.toml").write_text("")
    command = [sys.executable, "-m", "coherently", "node", "--listen", "127.0.0.1:0", "--peers", "peers.toml"]
    with subprocess.Popen(
        [*command, "--events", "node-0.json", "--key", "network.key"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        said = [process.stdout.readline(), process.stdout.readline()]
        process.terminate()
        _, log = process.communicate(timeout=20)
    assert said == ["0.350000  p\n", "0.350000  p & q\n"]
    assert "Bob listens at 127.0.0.1:0 and talks to nobody" in log
    assert "goes on serving others until it is stopped" in log
    assert process.returncode == 0
