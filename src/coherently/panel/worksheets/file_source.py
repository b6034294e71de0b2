"""Where a table comes from: a path, a pipe or an open file, each as a file on this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from coherently.errors import PanelError

if TYPE_CHECKING:
    from collections.abc import Iterator

TableSource: TypeAlias = "str | os.PathLike[str] | IO[Any]"
STANDARD_INPUT = Path("/dev/stdin")
UNNAMED = "table"
"""What an open file without a name is called in messages."""


@contextmanager
def local_file(source: TableSource) -> Iterator[Path]:
    """Give the path of a source; what cannot be read twice, a pipe or an open file, is copied first.

    >>> import io
    >>> with local_file(io.StringIO("event,Ann")) as path:
    ...     path.name, path.read_text()
    ('table', 'event,Ann')
    """
    if isinstance(source, str | os.PathLike):
        path = STANDARD_INPUT if str(source) == "-" else Path(source)
        if not path.exists() or path.is_file() or path.is_dir():
            yield path
            return
        with tempfile.TemporaryDirectory(prefix="coherently-") as folder:
            copy = Path(folder) / path.name
            with path.open("rb") as piped, copy.open("wb") as file:
                shutil.copyfileobj(piped, file, 1 << 20)
            yield copy
        return
    if not hasattr(source, "read"):
        raise PanelError(
            f"{type(source).__name__} is not a source of a table: pass a path, '-', or an open file; frames go to "
            f"Panel.from_frame, records to Panel.from_records"
        )
    with tempfile.TemporaryDirectory(prefix="coherently-") as folder:
        copy = Path(folder) / (PurePath(str(getattr(source, "name", ""))).name or UNNAMED)
        with copy.open("wb") as file:
            while block := source.read(1 << 20):
                file.write(block.encode() if isinstance(block, str) else block)
        yield copy
