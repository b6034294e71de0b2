"""Engines by a word: processes on this machine, or a cluster by its address."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from coherently.engine.threads import count_threads
from coherently.errors import EngineError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from coherently.engine.keep import Keep

Engine: TypeAlias = "Executor | str"
"""Where work runs: any executor (see `concurrent.futures`), or the word for one that is opened for one call."""

WORDS = "processes (one per processor), processes:N, or dask://HOST:PORT"


def open_engine(word: str) -> Executor:
    """Open an engine: an executor for `engine=`, which `with` closes.

    `word` is "processes" (one per processor), "processes:4" or "dask://host:8786", the address of a scheduler of
    dask.distributed. The same words may be given as `engine=` itself; an engine that is opened here serves several
    calls.

    >>> import coherently as co
    >>> panel = co.simulate(judges=4, variables=10, seed=0)
    >>> with co.open_engine("processes:2") as engine:
    ...     result = co.aggregate(panel, engine=engine)
    >>> result.status
    'optimal'
    """
    name, _, rest = word.partition(":")
    if name == "dask" and rest.startswith("//") and len(rest) > 2:
        from coherently.engine.dask_cluster import DaskCluster

        if not rest.rpartition(":")[2].isdecimal():
            raise EngineError(f"{word} has no port; write dask://HOST:PORT (schedulers listen on 8786 by default)")
        return DaskCluster(f"tcp:{rest}")
    if name == "processes" and (not rest or (rest.isdecimal() and int(rest) > 0)):
        from coherently.engine.processes import Processes

        return Processes(int(rest) if rest else count_threads(None))
    raise EngineError(f"unknown engine {word!r}; it may be {WORDS}", code="unknown-engine")


@contextmanager
def opened(engine: Engine | None) -> Iterator[Executor | None]:
    """The executor that is given, or one that is opened by its word and closed in the end."""
    if engine is None or isinstance(engine, Executor):
        yield engine
        return
    if not isinstance(engine, str):
        raise EngineError(f"engine is a {type(engine).__name__}; it may be an executor, or a word: {WORDS}")
    executor = open_engine(engine)
    try:
        yield executor
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def opened_keep(keep: Keep | str | os.PathLike[str] | None) -> Iterator[Keep | None]:
    """What is given, or the file that is named, which is closed in the end."""
    if keep is None:
        yield None
        return
    from coherently.engine.keep import Keep

    if isinstance(keep, Keep):
        yield keep
        return
    file = Keep(keep)
    try:
        yield file
    finally:
        file.close()
