"""Why a check ends early."""

from __future__ import annotations


class BadInputError(Exception):
    """The panel, its laws or the result cannot be read, so that there is no claim to check."""


class ProofRefusedError(Exception):
    """The result or its proof claims something false, or breaks the format; `line` is that of the proof file."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line
