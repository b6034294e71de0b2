"""The key that the nodes of a network share: from a file or the environment, never from a command line."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from coherently.errors import NetworkError

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "COHERENTLY_NETWORK_KEY"
"""The environment variable with the key, if no file is named."""
SHORTEST = 32
"""Minimum number of characters of a key."""


def read_key(file: Path | None) -> bytes:
    """The shared key: the text of a file, or of the environment variable, without spaces at its ends."""
    if file is None:
        text, where = os.environ.get(VARIABLE, ""), f"the environment variable {VARIABLE}"
        if not text:
            raise NetworkError(f"nodes need a shared key: name its file with --key, or set {where}")
    else:
        try:
            text, where = file.read_text("utf-8"), str(file)
        except (OSError, UnicodeDecodeError) as error:
            raise NetworkError(f"the key {file} cannot be read: {error}") from None
    key = text.strip().encode()
    if len(key) < SHORTEST:
        raise NetworkError(
            f"the key in {where} has {len(key)} characters; it needs {SHORTEST} or more, all of them random: "
            "`coherently network plan` makes one"
        )
    return key


def new_key() -> str:
    """A random key as text."""
    return secrets.token_hex(32)


def write_key(file: Path) -> None:
    """Write a new key to a file that only its owner may read."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as stream:
        stream.write(new_key() + "\n")
