"""A cluster of dask.distributed, by the address of its scheduler."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import coherently
from coherently.engine.worker import Order, Withdrawals, learn_number, obey
from coherently.errors import EngineError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Client
    from distributed import Future as RemoteFuture

T = TypeVar("T")

PATIENCE = 4.0
"""Seconds to wait for a scheduler, and then for its first worker."""
FETCHING = 60.0
"""Seconds that a result may take on its way."""
COUNTING = 1.0
"""Seconds after which workers are counted again: a cluster may grow."""
GONE = (OSError, TimeoutError, RuntimeError, ValueError)
"""What a client raises once its scheduler is gone."""


CLIENT_LOG = logging.getLogger("distributed.client")
"""Where a client says that it cannot connect again, with a traceback."""


class _LostConnections(logging.Filter):
    """Lets everything pass but tracebacks of lost connections: `EngineError` says that the scheduler is gone."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, OSError | TimeoutError | asyncio.CancelledError)


class DaskCluster(Executor):
    """An executor over the workers of a cluster, which runs the work of lost workers again by itself.

    `address` is that of the scheduler, such as tcp://10.0.0.1:8786.
    """

    def __init__(self, address: str) -> None:
        self.address, self._client = address, _connect(address)
        self._quiet = _LostConnections()
        CLIENT_LOG.addFilter(self._quiet)
        self._withdrawals, self._counted, self._workers = 0, -COUNTING, 1

    @property
    def workers(self) -> int:
        """The number of threads of all workers."""
        if time.monotonic() - self._counted > COUNTING:
            with suppress(*GONE):
                self._workers = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        return self._workers

    def submit(self, work: Callable[..., T], /, *arguments: Any) -> Future[T]:  # type: ignore[override]
        """Do work on a worker."""
        order = Order(self._client.id, self._withdrawals)
        remote = self._client.submit(obey, order, work, *arguments, pure=False)
        future: Future[T] = Future()

        def withdrawn(one: Future[T]) -> None:
            if one.cancelled():
                with suppress(*GONE):
                    remote.cancel()

        future.add_done_callback(withdrawn)
        remote.add_done_callback(lambda one: self._settle(one, future))
        return future

    def _settle(self, remote: RemoteFuture, future: Future[T]) -> None:
        """Give the outcome of a remote piece of work to its future."""
        if not future.set_running_or_notify_cancel():
            return
        from distributed import KilledWorker

        try:
            future.set_result(remote.result(timeout=FETCHING))
        except (CancelledError, OSError, TimeoutError) as error:
            reason = f"the engine was lost: the scheduler at {self.address} is gone ({type(error).__name__})"
            future.set_exception(EngineError(reason))
        except KilledWorker as error:
            reason = f"workers ended several times while they had the same work: maybe it needs more memory ({error})"
            future.set_exception(EngineError(reason))
        except BaseException as error:
            future.set_exception(error)

    def withdraw(self) -> None:
        """Ask work that is under way to end."""
        self._withdrawals += 1
        with suppress(*GONE):
            if self._client.status == "running":
                self._client.run(learn_number, self._client.id, Withdrawals(self._withdrawals), on_error="ignore")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which goes on."""
        if cancel_futures:
            self.withdraw()
        self._client.close(timeout=PATIENCE if wait else 0)
        CLIENT_LOG.removeFilter(self._quiet)


def _connect(address: str) -> Client:
    """A client of the scheduler at an address, which has a worker."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingDependencyError(
            "dask:// needs the package distributed; install it with: pip install 'coherently[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except GONE as error:
        raise EngineError(
            f"no scheduler answers at {address} within {PATIENCE:g} seconds; start one with `dask scheduler`; it says "
            f"its address ({error})"
        ) from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        client.close()
        raise EngineError(
            f"the scheduler at {address} has no workers; start some with `dask worker {address}`"
        ) from None
    if reason := _mismatch(client.run(version_here, on_error="return")):
        client.close()
        raise EngineError(f"{reason}; install Coherently {version_here()} there, too")
    return client


def version_here() -> str:
    """The version of the package where this runs."""
    return coherently.__version__


def _mismatch(versions: dict[str, object]) -> str | None:
    """Why some worker cannot do the work, if that is so; what runs there must be the same as here."""
    for worker, found in versions.items():
        if isinstance(found, BaseException):
            return f"the worker at {worker} cannot load Coherently ({found})"
        if found != version_here():
            return f"the worker at {worker} has version {found}"
    return None
