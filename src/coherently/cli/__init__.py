"""The command line: words, no maths."""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import suppress

from coherently.errors import CoherentlyError, ContradictionError

BROKEN, BAD_INPUT, CONTRADICTION, INTERNAL_ERROR, INTERRUPTED, CLOSED_OUTPUT = 1, 2, 3, 70, 130, 141
"""Exit codes; 130 and 141 are those of shells for a program that SIGINT or SIGPIPE ended."""
COLLECTED = 50_000
"""Number of new objects after which cycles among them are looked for."""
EXIT_CODES = (
    "Exit codes: 0 fine; 1 check found incoherence, verify a broken promise, relate what nobody has decided yet, or "
    "watch raised the alarm; "
    "2 bad input or options; "
    "3 contradictory laws; 70 internal error; 130 interrupted; 141 the output was closed."
)


def main() -> None:
    """Run the command line; every error is a message and an exit code, never a traceback."""
    _open_streams()
    # Modules, which are nearly all there is to look through, are no garbage.
    gc.set_threshold(COLLECTED)
    try:
        from coherently.cli.app import COMMANDS, program

        named = [word for word in sys.argv[1:2] if word in COMMANDS]
        try:
            program(named or COMMANDS)()
        finally:
            sys.stdout.flush()
    except BaseException as error:
        if os.environ.get("COHERENTLY_DEBUG") and not isinstance(error, SystemExit | CoherentlyError):
            raise
        code = _explain(_reason(error))
    gc.freeze()  # nor is what lives until the end, through which the interpreter would look once more
    sys.exit(code)


def _open_streams() -> None:
    """Replace closed standard streams: printing an answer then fails, and messages are lost."""
    # A file opened for reading refuses to be written to, and takes descriptor 1, so that no output file gets it.
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _reason(error: BaseException) -> BaseException:
    """Find the cause that a library turned into an exit: a closed output, or an interruption."""
    link: BaseException | None = error
    while isinstance(error, SystemExit) and link is not None:
        if isinstance(link, BrokenPipeError | KeyboardInterrupt):
            return link
        link = link.__cause__ or link.__context__
    return error


def _explain(error: BaseException) -> int | str | None:
    """Say what went wrong, and give the exit code."""
    if isinstance(error, SystemExit):
        return error.code
    if isinstance(error, CoherentlyError):
        _say(f"error: {error}")
        return CONTRADICTION if isinstance(error, ContradictionError) else BAD_INPUT
    if isinstance(error, KeyboardInterrupt):
        _say("error: interrupted before an answer was written")
        return INTERRUPTED
    if isinstance(error, OSError):
        return _output_failed(error)
    _say(
        f"internal error: {type(error).__name__}: {error}\n"
        "This is a fault of Coherently, not of your input. "
        "Set COHERENTLY_DEBUG=1 and run again for the details to report."
    )
    return INTERNAL_ERROR


def _output_failed(error: OSError) -> int:
    # The rest of the buffer must not fail again when the interpreter ends.
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        os.dup2(devnull, sys.stderr.fileno())
        return CLOSED_OUTPUT
    if error.errno == errno.EBADF:
        _say("error: the standard output is closed, so nothing can be printed: write to a file with -o FILE")
        return CLOSED_OUTPUT
    _say(f"error: the output cannot be written: {error.strerror or error}")
    return BAD_INPUT


def _say(message: str) -> None:
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)
