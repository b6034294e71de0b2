"""A file that is written whole, durably, or not at all."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from coherently.errors import PanelError

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, data: bytes, what: str) -> None:
    """Write a file whole, durably, or not at all."""
    draft = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        try:
            # The bytes are on the disk before the name is, and the name before this returns: after a crash there is
            # the old file or the new one, never a part of it.
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            if os.name == "posix":
                folder = os.open(path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise PanelError(f"{what} {path} cannot be written: {error.strerror}; nothing is left behind") from None
