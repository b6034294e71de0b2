"""Processes on this machine: the same bytes as here, whatever happens to them."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from threading import Event, Timer

import numpy as np
import pytest

import coherently as co
from coherently.solve import Status
from tests.engine.panels_of_parts import FIRST, hard_panel, panel_of_parts, records
from tests.proofcheck.proof_cases import wide_rows


@pytest.fixture(scope="module")
def engine():
    with co.open_engine("processes:2") as pool:
        co.aggregate(panel_of_parts(20), loss="log", engine=pool)  # processes start with their first work
        yield pool


@pytest.fixture(scope="module")
def panel():
    return panel_of_parts(40)


@pytest.fixture
def sent(engine, monkeypatch):
    """What is sent to the engine."""
    every, plain = [], engine.submit

    def submit(*arguments):
        every.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(engine, "submit", submit)
    return every


@pytest.mark.parametrize("method", ["auto", "exact", "recipe"])
@pytest.mark.parametrize("loss", ["brier", "log"])
def test_processes_give_the_same_bytes(panel, engine, sent, method, loss):
    if (method, loss) == ("recipe", "log"):
        method = co.Recipe(loss="log")
    assert co.aggregate(panel, method, loss, engine=engine).to_json() == co.aggregate(panel, method, loss).to_json()
    assert sent


def test_laws_conditionals_intervals_and_pins_go_to_processes(engine):
    rows = [{"judge": j, "event": e, "probability": p} for j, e, p in records(12, most=24)]
    more = [
        {"judge": "B", "event": "c0x0 given c0x1", "probability": 0.7},
        {"judge": "B", "event": "c1x0", "probability": 0.5, "lower": 0.4, "upper": 0.6},
    ]
    panel = co.Panel.from_records([*rows, *more], laws=["c2x0 -> c2x1", "P(c3x0) <= 0.4"])
    assert co.aggregate(panel, engine=engine).to_json() == co.aggregate(panel).to_json()


@pytest.mark.parametrize("kind", ["messages", "semidefinite"])
def test_what_a_proof_needs_comes_back_from_processes(engine, sent, kind):
    dense = co.simulate(variables=30, judges=47, seed=1)
    panel = co.Panel.from_records(wide_rows(5), laws=["v0 -> v1"]) if kind == "messages" else dense
    found = co.aggregate(panel, "exact", engine=engine, proof=True)
    assert sent
    assert found.proof() == co.aggregate(panel, "exact", proof=True).proof()
    assert co.verify(panel, found, proof=found.proof()).bound_rests_on == [f"proved by {kind}"]


def test_contradictory_pins_are_the_same_error(engine):
    rows = [("A", "c0x0 & c0x1", 0.9), *((("A", f"c0x{i} | c0x{i + 1}", 0.5)) for i in range(30))]
    panel = co.Panel.from_records(rows, laws=["P(c0x0) <= 0.2", "P(c0x0 & c0x1) >= 0.4"])
    with pytest.raises(co.ContradictionError) as here:
        co.aggregate(panel)
    with pytest.raises(co.ContradictionError) as there:
        co.aggregate(panel, engine=engine)
    assert str(here.value) == str(there.value)


def test_a_killed_process_changes_nothing(panel):
    large = panel_of_parts(60, seed=1)
    killed = []

    with co.open_engine("processes:2") as engine:

        def kill_one(fraction):
            if fraction > 0.2 and not killed and (workers := list(engine._pool._processes or ())):
                killed.append(workers[0])
                os.kill(workers[0], signal.SIGKILL)

        found = co.aggregate(large, "exact", "log", progress=kill_one, engine=engine)
        assert killed
        assert found.solution == co.aggregate(large, "exact", "log").solution
        # The engine goes on.
        assert co.aggregate(panel, engine=engine).solution == co.aggregate(panel).solution


def test_processes_that_are_lost_while_work_is_sent_to_them_are_replaced():
    """On Python 3.11.2 the thread that wrote to the lost process never ended, and nor did the run."""
    with co.open_engine("processes:1") as engine:
        assert engine.submit(len, b"ready").result() == 5
        first, *_ = [engine.submit(time.sleep, 60), *(engine.submit(len, bytes(2**22)) for _ in range(4))]
        time.sleep(0.5)  # the second piece of work is larger than what a pipe holds
        (lost,) = engine._pool._processes
        writer = engine._pool._executor_manager_thread
        os.kill(lost, signal.SIGKILL)
        with pytest.raises(BrokenExecutor):
            first.result(timeout=30)
        engine.renew()
        writer.join(timeout=30)
        assert not writer.is_alive()
        assert engine.submit(len, b"again").result(timeout=30) == 5


def test_a_time_limit_holds_in_processes(engine):
    begun = time.monotonic()
    result = co.aggregate(hard_panel(), co.Exact(time_limit=1.0), engine=engine)
    assert result.status is Status.TIME_LIMIT
    assert result.objective < FIRST
    assert time.monotonic() - begun < 20


def test_cancelling_gives_the_answer_so_far_and_frees_the_processes(engine):
    button = Event()
    Timer(1.0, button.set).start()
    begun = time.monotonic()
    result = co.aggregate(hard_panel(), co.Exact(time_limit=500), cancel=button, engine=engine)
    assert result.status is Status.INTERRUPTED
    assert result.objective < FIRST
    assert co.verify(result.panel, result)
    # Both processes are free again.
    small = panel_of_parts(20, seed=5)
    assert co.aggregate(small, engine=engine).solution == co.aggregate(small).solution
    assert time.monotonic() - begun < 60


def test_cancelling_ends_threads_of_the_user(panel):
    button = Event()
    Timer(1.0, button.set).start()
    with ThreadPoolExecutor(2) as threads:
        result = co.aggregate(hard_panel(), co.Exact(time_limit=500), cancel=button, engine=threads)
        assert co.aggregate(panel, engine=threads).solution == co.aggregate(panel).solution
    assert result.status is Status.INTERRUPTED


def test_ctrl_c_in_a_terminal_ends_the_command_with_its_answer(tmp_path):
    psutil = pytest.importorskip("psutil")
    file, output = tmp_path / "panel.csv", tmp_path / "out.csv"
    columns = hard_panel().columns()
    rows = zip(columns["judge"], columns["event"], columns["probability"], strict=True)
    file.write_text("judge,event,probability\n" + "\n".join(f"{j},{e},{p}" for j, e, p in rows))
    options = ["--engine", "processes:1", "--method", "exact", "--time-limit", "500", "-o", output]
    command = [sys.executable, "-m", "coherently", "aggregate", file, *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as program:
        family = psutil.Process(program.pid)
        while not any(one.cpu_times().user > 1.5 for one in family.children(recursive=True)):
            assert program.poll() is None
            time.sleep(0.1)
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to all processes
        said = program.communicate()[1]
    assert program.returncode == 130, said
    assert "Traceback" not in said
    assert output.exists()


def test_progress_is_told(panel, engine):
    told = []
    co.aggregate(panel, progress=told.append, engine=engine)
    assert told
    assert all(0 <= one <= 1 for one in told)


def test_checks_and_individuals_use_the_engine(engine, sent):
    panel = panel_of_parts(20, seed=2, judges=2)
    assert co.check(panel, engine=engine).to_json() == co.check(panel).to_json()
    assert sent
    sent.clear()
    assert np.array_equal(co.individual(panel, engine=engine).probability, co.individual(panel).probability)
    assert sent


def test_a_check_of_quotes_and_conditionals_is_the_same(engine):
    rows = [{"judge": j, "event": e, "probability": p} for j, e, p in records(8)]
    more = [
        {"judge": "B", "event": "c0x0 given c0x1", "probability": 0.7},
        {"judge": "B", "event": "c0x0 & c0x1", "probability": 0.5, "lower": 0.4, "upper": 0.6},
        {"judge": "B", "event": "c0x1", "probability": 0.1},
    ]
    panel = co.Panel.from_records([*rows, *more])
    assert co.check(panel, engine=engine).to_json() == co.check(panel).to_json()


def test_draws_of_a_comparison_and_recipes_use_the_engine(engine, sent):
    panel = co.simulate(judges=6, variables=12, compound=8, basic=8, seed=3)
    options = {"remake": True, "bootstrap": 20}
    assert co.compare(panel, engine=engine, **options).as_dict() == co.compare(panel, **options).as_dict()
    assert sent
    apart = panel_of_parts(32, seed=4, judges=2, outcomes={f"c{i}x0": i % 3 == 0 for i in range(32)})
    sent.clear()
    assert co.tune(apart, engine=engine).as_dict() == co.tune(apart).as_dict()
    assert sent
