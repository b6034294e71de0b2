"""A real PostgreSQL server for tests: its own folder, its own port on 127.0.0.1, gone afterwards."""

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import psycopg

MISSING = "no PostgreSQL server is installed: install the package postgresql"
COUNT = itertools.count()


def find_programs():
    """The folder with `initdb` and `postgres`, or None."""
    folders = [Path(found).parent for found in [shutil.which("postgres")] if found]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Server:
    """A server with an empty data folder; `durable=False` saves the time for writing to the disk."""

    def __init__(self, *, durable=False):
        self.programs = find_programs()
        memory = "/dev/shm" if not durable and os.access("/dev/shm", os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="coherently-postgres-", dir=memory))
        self.durable = durable
        self._as = {"cwd": self.folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        if os.geteuid() == 0:  # the server refuses to run as root
            shutil.chown(self.folder, "postgres", "postgres")
            self._as |= {"user": "postgres", "group": "postgres", "extra_groups": []}
        arguments = ["-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        subprocess.run([self.programs / "initdb", *arguments], check=True, **self._as)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()

    def start(self):
        settings = [f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}"]
        if not self.durable:
            settings += ["fsync=off", "full_page_writes=off"]
        options = itertools.chain.from_iterable(("-c", setting) for setting in settings)
        self.process = subprocess.Popen([self.programs / "postgres", "-D", "data", *options], **self._as)
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
            except psycopg.OperationalError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def url(self, database):
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def new_database(self):
        """The URL of an empty database."""
        name = f"store{next(COUNT)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def kill(self):
        """End the server as a crash of the machine would: all its processes, or sessions that are open answer on."""
        pids = (self.folder / "data/postmaster.pid").read_text().split("\n")
        every = [first := psutil.Process(int(pids[0])), *first.children(recursive=True)]
        for process in every:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()
        psutil.wait_procs(every[1:], timeout=60)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)
