"""The command line: words, no maths."""

from __future__ import annotations

import os
import sys

from coherently.errors import CoherentlyError, ContradictionError

BAD_INPUT, CONTRADICTION, INTERNAL_ERROR = 2, 3, 70


def main() -> None:
    """Run the command line; every error is a message and an exit code, never a traceback."""
    from coherently.cli.app import app

    try:
        app()
        sys.stdout.flush()
    except CoherentlyError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(CONTRADICTION if isinstance(error, ContradictionError) else BAD_INPUT)
    except BrokenPipeError:
        # The reader of our output has gone; leave nothing for the interpreter to flush to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(f"error: the output cannot be written: {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BAD_INPUT)
    except Exception as error:
        if os.environ.get("COHERENTLY_DEBUG"):
            raise
        print(
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a fault of Coherently, not of your input. "
            "Set COHERENTLY_DEBUG=1 and run again for the details to report.",
            file=sys.stderr,
        )
        sys.exit(INTERNAL_ERROR)
