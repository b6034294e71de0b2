"""Reading the panel that a command works on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from coherently.cli.options import (
    ColumnRoles,
    Encoding,
    HeaderRow,
    LawsFile,
    Missing,
    MissingChoice,
    PanelFile,
    Percent,
    PlainEvents,
    Quiet,
    Repeats,
    RepeatsChoice,
    Separator,
    SheetName,
)
from coherently.cli.terminal import progress_bar, say
from coherently.errors import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coherently.panel import FileOptions, Options, Panel, Progress, Reduction

SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
"""Words for separators that a shell does not easily pass on."""
LARGE = 500_000
"""Number of rows from which on a file is reduced while it is read, where the options allow it."""
LARGEST_TIED = 5_000_000
"""The same where the result is to be tied to its panel, which needs the single forecasts."""


@dataclass(frozen=True, slots=True)
class PanelSource:
    """The panel's file, and how it is read."""

    panel_file: PanelFile
    laws: LawsFile = None
    percent: Percent = False
    missing: MissingChoice = Missing.ERROR
    repeats: RepeatsChoice = Repeats.KEEP
    plain_events: PlainEvents = False
    column_roles: ColumnRoles = None
    sheet: SheetName = None
    header: HeaderRow = None
    separator: Separator = None
    encoding: Encoding = None
    quiet: Quiet = False

    @property
    def file_options(self) -> FileOptions:
        """How the file is read, beside what its cells mean; only what was said."""
        said = {
            "sheet": self.sheet,
            "header": self.header,
            "separator": None if self.separator is None else SEPARATORS.get(self.separator, self.separator),
            "encoding": self.encoding,
        }
        return {name: value for name, value in said.items() if value is not None}  # type: ignore[return-value]

    @property
    def options(self) -> Options:
        """How the panel and its files are read."""
        return {
            "laws": self.laws,
            "percent": self.percent,
            "missing": self.missing.value,
            "repeats": self.repeats.value,
            "plain_events": self.plain_events,
        }

    @property
    def all_options(self) -> dict[str, object]:
        """Everything that says what the panel means, by the names of Python."""
        roles = {} if self.column_roles is None else {"columns": read_roles(self.column_roles)}
        return {**self.options, **self.file_options, **roles}

    def reduce(self, obstacles: Sequence[str], *, tied: bool, **more: Unpack[Options]) -> Reduction | None:
        """Read a folder, or a large file, in pieces, and show its notes; None for any other source.

        `obstacles` are the options that need the single forecasts; if the result is `tied` to its panel, only files
        that are too large for that are read in pieces.
        """
        path = self.panel_file
        if not path.is_dir() and not self._is_large(path, obstacles, LARGEST_TIED if tied else LARGE):
            return None
        from coherently.errors import PanelError
        from coherently.panel import UNUSUAL, reduce_tables

        if obstacles:
            raise PanelError(
                f"{path} is a folder, whose forecasts are added up while they are read; "
                f"{', '.join(obstacles)} needs the single forecasts: leave it out, or name a file"
            )
        options: Options = {**self.options, **more}
        try:
            with progress_bar("Reading", quiet=self.quiet) as progress:
                found = reduce_tables(path, None if progress is None else row_progress(progress), **options)
        except PanelError as error:
            if error.code == UNUSUAL and path.is_file():
                return None
            raise
        rate = found.forecasts / max(found.seconds, 1e-9)
        told = (
            f"{path.name}: {counted(found.forecasts, 'forecast')} with {counted(len(found.panel), 'distinct text')}, "
            f"read in pieces ({rate:,.0f} rows per second); repeated forecasts are kept and not counted; "
            f"averaging the forecasts of each text lowers the summed Brier penalty by {found.scatter:,.4g} "
            f"in every outcome"
        )
        for note in (told, *found.panel.notes):
            say(f"note: {note}", quiet=self.quiet)
        return found

    def _is_large(self, path: Path, obstacles: Sequence[str], rows: int) -> bool:
        said = self.column_roles is not None or bool(self.file_options)  # then the file is no plain table
        if obstacles or said or self.repeats is not Repeats.KEEP or not path.is_file():
            return False
        from coherently.panel import can_reduce

        return can_reduce(path, rows)

    def read(self, **more: Unpack[Options]) -> Panel:
        """Read the panel with a progress bar and show its notes."""
        panel = self.load(**more)
        for note in panel.notes:
            say(f"note: {note}", quiet=self.quiet)
        return panel

    def load(self, **more: Unpack[Options]) -> Panel:
        """Read the panel with a progress bar."""
        from coherently.panel import read_panel

        options: Options = {**self.options, **more}
        if self.column_roles is not None:  # of this file alone, not of others that are read beside it
            options["columns"] = read_roles(self.column_roles)
        with progress_bar("Reading", quiet=self.quiet) as progress:
            return read_panel(self.panel_file, progress=progress, **options, **self.file_options)


def read_roles(text: str) -> dict[str, list[str]]:
    """Read `event=Risk,ignore=Owner,ignore=Status`: the names of columns by their roles.

    >>> read_roles("event=Risk,ignore=Owner, Status")
    {'event': ['Risk'], 'ignore': ['Owner', 'Status']}
    """
    from coherently.errors import MethodError

    found: dict[str, list[str]] = {}
    role = ""
    for part in text.split(","):
        before, sign, after = part.partition("=")
        role = before.strip() if sign else role
        if not role:
            raise MethodError(f"--columns {text!r} has no role: write ROLE=NAME,..., such as event=Risk,judge=Name")
        found.setdefault(role, []).append((after if sign else before).strip())
    return found


def row_progress(progress: Progress) -> Callable[[int, int], None]:
    """Show the share of rows that are done, and how many there are per second."""
    begun = time.monotonic()

    def show(done: int, total: int) -> None:
        progress(done / total)
        describe = getattr(progress, "describe", None)
        if describe is not None:
            describe(f"{done / max(time.monotonic() - begun, 1e-9):,.0f} rows per second")

    return show
