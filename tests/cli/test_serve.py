"""`coherently serve`: it answers soon, says what is wrong in plain words, and stops cleanly."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

from tests.cli import program
from tests.web.api.answer_schemas import checked_client

PROGRAM = [*program.PROGRAM, "serve"]


def run(*arguments, given="", **environment):
    return program.run("serve", *arguments, input=given, env=os.environ | environment, timeout=120)


@pytest.fixture
def begin():
    """Start the program and wait for the line that says where it is."""
    started = []

    def start(*arguments):
        process = subprocess.Popen([*PROGRAM, "--port", "0", *map(str, arguments)], stderr=subprocess.PIPE, text=True)
        started.append(process)
        line = process.stderr.readline()
        address = re.match(r"The workbench is at (http://\S+) ", line)
        assert address, line
        return process, address[1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stderr.close()


def answer(address):
    end = time.monotonic() + 60
    while True:
        try:
            return httpx.get(address, follow_redirects=True)
        except httpx.TransportError:
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_makes_jobs_and_stops(begin, tmp_path, stop):
    process, address = begin("--quiet", "--store", f"sqlite:///{tmp_path}/store.db")
    assert answer(address + "healthz").json()["status"] == "ok"
    api = checked_client(base_url=address + "api/v1", timeout=60)
    with api:
        api.headers["X-CSRF-Token"] = api.post("/session", json={}).json()["csrf_token"]
        table = "judge,event,probability\nA,p,0.4\nA,p & q,0.6\n"
        made = api.post("/panels/import", content=table, headers={"Content-Type": "text/csv"}).json()
        path = f"/panels/{made['id']}/aggregations"
        asked = api.post(path, json={}).json()
        end = time.monotonic() + 60
        while (found := api.get(f"{path}/{asked['id']}").json())["status"] in ("queued", "running"):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert (found["status"], found["summary"]["verified"]) == ("done", True)
    process.send_signal(stop)
    assert process.wait(30) in (0, -signal.SIGTERM)


def test_the_demo_opens_on_its_panel_and_leaves_nothing(begin):
    process, address = begin("--quiet", "--demo")
    assert re.search(r"/panels/p_\w+/board$", address)
    page = answer(address)
    assert page.status_code == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert "has stopped" in process.stderr.read()


def test_a_port_in_use_is_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("--port", port, "--store", f"sqlite:///{tmp_path}/store.db")
    assert done.returncode == 2
    assert (
        done.stderr == f"error: the port {port} is in use, perhaps by another workbench: choose another with --port\n"
    )


def test_other_addresses_are_refused_without_an_account(tmp_path):
    store = f"sqlite:///{tmp_path}/store.db"
    done = run("--port", 0, "--host", "0.0.0.0", "--store", store)
    assert done.returncode == 2
    assert "--add-account NAME" in done.stderr
    assert run("--add-account", "Ann", "--store", store, given="short\n").returncode == 2
    added = run("--add-account", "Ann", "--store", store, given="correct horse battery\n")
    assert added.returncode == 0
    assert "was added" in added.stderr
    again = run("--add-account", "Ann", "--store", store, given="correct horse battery\n")
    assert again.returncode == 2
    assert "already" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--store", "mysql://x"], "unknown kind of store"),
        (["--store", "sqlite:////proc/none/store.db"], "cannot be opened"),
        (["--host", "203.0.113.9", "--store", "sqlite://"], "--host"),
    ],
)
def test_what_cannot_be_served_is_told(arguments, words):
    done = run("--port", 0, *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_without_the_extra_it_says_what_to_install():
    code = (
        "import importlib.util as u, sys\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'fastapi' else find(name, *rest)\n"
        "from coherently.cli import main\n"
        "sys.argv = ['coherently', 'serve']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == 'error: the workbench needs further packages: pip install "coherently[web]"\n'
