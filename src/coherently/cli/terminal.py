"""What a person sees while a command works."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coherently.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import Console, RenderableType

    from coherently.panel import Progress
    from coherently.values import Told

PATIENCE = 1.0
"""Seconds of work before a progress bar appears."""


def say(message: str, *, quiet: bool = False) -> None:
    """Show a message on the standard error."""
    if not quiet:
        print(message, file=sys.stderr)


def show(*parts: RenderableType) -> None:
    """Print tables and text, in colours on a terminal only."""
    console = _console()
    for part in parts:
        console.print(part)


def show_record(value: Told) -> None:
    """Print the record of a value, which its `from_json` reads."""
    print(value.to_json())


def _console() -> Console:
    from rich.console import Console

    width = None if sys.stdout.isatty() else 100
    return Console(width=width, highlight=False, markup=False, emoji=False)


@contextmanager
def progress_bar(what: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Give a function to call with the fraction done; a bar appears after a second, on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(what)
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    def __init__(self, what: str) -> None:
        self._what = what
        self._begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, fraction: float) -> None:
        if self._bar is None and time.monotonic() - self._begun > PATIENCE:
            from rich.console import Console
            from rich.progress import Progress as RichProgress

            self._bar = RichProgress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._what, total=1.0)
            self._bar.start()
        if self._bar is not None:
            self._bar.update(self._task, completed=fraction)

    def describe(self, words: str) -> None:
        """Say something beside the bar."""
        if self._bar is not None:
            self._bar.update(self._task, description=f"{self._what} ({words})")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def save_proof(data: bytes, file: Path, *, quiet: bool) -> None:
    """Write a proof, for `coherently verify --proof`."""
    from coherently.panel.writers import replacing

    with replacing(file) as draft:
        draft.write(data)
    say(f"{file}: proof of {counted(len(data), 'byte')} written", quiet=quiet)
