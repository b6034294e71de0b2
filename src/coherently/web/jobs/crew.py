"""Worker processes: begun with the workbench, begun again when one is lost, ended with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

from coherently.web.access.logbook import LOG, write_logs
from coherently.web.jobs.calculator import NICE
from coherently.web.jobs.job_watch import run_next
from coherently.web.jobs.memory import limit_memory

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from coherently.web.settings import ServiceSettings

IDLE = 0.3
"""Seconds between two looks at an empty table of jobs."""
PATIENCE = 5.0
"""Seconds that a worker has to end before it is ended."""
SLOWEST = 30.0
"""Maximum number of seconds before a worker that is lost again and again is begun again."""


def work(settings: ServiceSettings, number: int, parent: int) -> None:
    """Take jobs until told to stop, or until the workbench that began this process is gone.

    Nothing is handed over but settings: what there is to do, and whose it is, stands in the store. So a worker may be
    killed at any moment, and those of other workbenches on the same store may take its jobs.
    """
    from coherently.web.store import StoreError, open_store

    stopping = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    os.nice(NICE)
    write_logs()
    limit_memory(settings.limits.job_memory)
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()
    with open_store(settings.store_url) as store:
        name = f"{os.uname().nodename} {os.getpid()} {number}"
        while not stopping.is_set():
            try:
                busy = run_next(store, name, stopping)
            except StoreError as error:
                LOG.warning("no job claimed", extra={"values": {"error": str(error)}})
                busy = False
            if not busy:
                stopping.wait(IDLE)


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


class Crew:
    """The worker processes of a workbench."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._context = multiprocessing.get_context("spawn")
        self._ended = threading.Event()
        self._processes: dict[int, BaseProcess] = {}
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Begin the workers."""
        for number in range(self._settings.workers):
            self._begin(number)
        self._thread.start()

    def _begin(self, number: int) -> None:
        process = self._context.Process(target=work, args=(self._settings, number, os.getpid()), daemon=True)
        process.start()
        self._processes[number] = process

    def _keep(self) -> None:
        """Begin lost workers again, at once the first time and later ever more slowly."""
        wait = dict.fromkeys(self._processes, 0.5)
        while not self._ended.wait(0.5):
            for number, process in list(self._processes.items()):
                if not process.is_alive() and not self._ended.wait(wait[number]):
                    LOG.warning("worker lost", extra={"values": {"worker": number, "code": process.exitcode}})
                    wait[number] = min(SLOWEST, 2 * wait[number])
                    self._begin(number)

    def stop(self) -> None:
        """Ask the workers to end, and end those that do not."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()  # first, or it would begin again what is ended below
        for process in self._processes.values():
            process.terminate()
        last = time.monotonic() + PATIENCE
        for process in self._processes.values():
            process.join(max(0.0, last - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
