"""A real cluster: a scheduler and two workers, each in a process of its own, some of which are killed."""

import re
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest

import coherently as co
from coherently.engine import dask_cluster
from coherently.engine.keep import Keep
from coherently.solve import Status
from tests.cli.program import run
from tests.engine.panels_of_parts import FIRST, hard_panel, panel_of_parts

pytest.importorskip("distributed")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def running(*words):
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, stack, workers):
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.word = f"dask://{self.address}"
        self.stack = stack
        self.scheduler = stack.enter_context(
            running("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-jupyter")
        )
        self.workers = [self.add_worker() for _ in range(workers)]

    def add_worker(self):
        where = f"tcp://{self.address}"
        return self.stack.enter_context(
            running("worker", where, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        )

    def open(self):
        """The engine, once both workers are there."""
        end = time.monotonic() + 30
        while True:
            try:
                engine = co.open_engine(self.word)
                break
            except co.EngineError:
                assert time.monotonic() < end
        while engine.workers < len(self.workers):
            assert time.monotonic() < end
            time.sleep(0.1)
        return engine


@pytest.fixture(scope="module")
def cluster():
    with ExitStack() as stack:
        yield Cluster(stack, 2)


@pytest.fixture(scope="module")
def engine(cluster):
    with cluster.open() as one:
        co.aggregate(panel_of_parts(20), loss="log", engine=one)  # workers load modules with their first work
        yield one


@pytest.fixture(scope="module")
def panel():
    return panel_of_parts(60, seed=1)


@pytest.fixture(scope="module")
def here(panel):
    return co.aggregate(panel, "exact", "log")


def test_a_cluster_gives_the_same_bytes(engine):
    panel = panel_of_parts(40)
    for loss in ("brier", "log"):
        assert co.aggregate(panel, loss=loss, engine=engine).to_json() == co.aggregate(panel, loss=loss).to_json()


def test_checks_use_the_cluster(engine):
    panel = panel_of_parts(10, seed=2, judges=2)
    assert co.check(panel, engine=engine).to_json() == co.check(panel).to_json()


def test_a_time_limit_holds_on_a_cluster(engine):
    result = co.aggregate(hard_panel(), co.Exact(time_limit=1.0), engine=engine)
    assert result.status is Status.TIME_LIMIT
    assert result.objective < FIRST


def test_a_cluster_is_free_again_after_an_interruption(engine):
    def stop(_):
        if time.monotonic() - begun > 1:
            raise KeyboardInterrupt

    begun = time.monotonic()
    result = co.aggregate(hard_panel(), co.Exact(time_limit=500), engine=engine, progress=stop)
    assert result.status is Status.INTERRUPTED
    assert result.objective < FIRST
    small = panel_of_parts(20, seed=5)
    assert co.aggregate(small, engine=engine).solution == co.aggregate(small).solution
    assert time.monotonic() - begun < 60


def test_a_killed_worker_changes_nothing(cluster, engine, panel, here):
    killed = []

    def kill_one(fraction):
        if fraction > 0.2 and not killed:
            killed.append(cluster.workers.pop())
            killed[0].kill()

    result = co.aggregate(panel, "exact", "log", engine=engine, progress=kill_one)
    assert killed
    assert result.solution == here.solution
    cluster.workers.append(cluster.add_worker())


@pytest.mark.usefixtures("engine")
def test_workers_with_another_version_are_refused(cluster, monkeypatch):
    monkeypatch.setattr(co, "__version__", "99.0")
    with pytest.raises(co.EngineError, match=r"the worker at tcp://.* has version .*; install Coherently 99\.0 there"):
        co.open_engine(cluster.word)


def test_workers_without_the_package_are_refused():
    reason = dask_cluster._mismatch({"tcp://a:1": co.__version__, "tcp://b:2": ModuleNotFoundError("no coherently")})
    assert reason == "the worker at tcp://b:2 cannot load Coherently (no coherently)"


@pytest.mark.usefixtures("engine")
def test_the_command_line_takes_the_address(cluster, tmp_path):
    file = tmp_path / "panel.csv"
    rows = [f"{j},{e},{p}" for j, e, p in zip(*panel_of_parts(10).columns().values(), strict=True)]
    file.write_text("judge,event,probability\n" + "\n".join(rows))
    found = [
        run("aggregate", file, "--json", *more, check=0).stdout
        for more in ([], ["--engine", cluster.word, "--keep", str(tmp_path / "finished")])
    ]
    assert found[0] == found[1]
    assert (tmp_path / "finished").exists()


@pytest.mark.parametrize("in_file", [False, True])
def test_the_death_of_the_scheduler_is_a_clear_error_and_finished_components_are_kept(panel, here, in_file, tmp_path):
    with ExitStack() as stack:
        cluster = Cluster(stack, 1)
        done = []

        def kill_scheduler(fraction):
            if fraction > 0.6 and not done:
                done.append(fraction)
                cluster.scheduler.kill()

        keep = tmp_path / "finished" if in_file else None
        with cluster.open() as engine, pytest.raises(co.EngineError) as lost:
            co.aggregate(panel, "exact", "log", engine=engine, progress=kill_scheduler, keep=keep)
    message = str(lost.value)
    assert "the engine was lost" in message
    assert "components sent there are finished and kept" in message
    assert str(keep) in message if in_file else "keep=error.keep" in message
    keep = Keep(keep) if in_file else lost.value.keep
    finished = int(re.search(r"([\d,]+) of ([\d,]+) components", message)[1])
    assert 0 < finished == len(keep)
    assert co.aggregate(panel, "exact", "log", keep=keep).solution == here.solution
    assert len(keep) > finished
    keep.close()


def test_an_address_where_nobody_listens_is_a_clear_error():
    begun = time.monotonic()
    with pytest.raises(co.EngineError, match=r"no scheduler answers at tcp://127\.0\.0\.1:"):
        co.aggregate(panel_of_parts(2), engine=f"dask://127.0.0.1:{free_port()}")
    assert time.monotonic() - begun < 15


def test_a_host_that_does_not_exist_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(dask_cluster, "PATIENCE", 1.0)
    with pytest.raises(co.EngineError, match="no scheduler answers"):
        co.open_engine("dask://nowhere.invalid:8786")


def test_an_address_without_a_port_is_a_clear_error():
    with pytest.raises(co.EngineError, match="has no port"):
        co.open_engine("dask://127.0.0.1")


def test_a_scheduler_without_workers_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(dask_cluster, "PATIENCE", 2.0)
    with ExitStack() as stack:
        cluster = Cluster(stack, 0)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with pytest.raises(co.EngineError) as error:
                co.open_engine(cluster.word)
            if "has no workers" in str(error.value):
                return
        raise AssertionError(error.value)
