"""`python -m coherently.proofcheck PANEL RESULT --proof FILE`: exit code 0 if proved, 1 if not, 2 for bad input."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .check_errors import BadInputError
from .forecast_files import ReadingOptions
from .proof_verdict import ProofLimits, check_files


def main(arguments: list[str] | None = None) -> int:
    """Check a proof, print one line that begins with the verdict, and give the exit code."""
    parser = argparse.ArgumentParser(prog="proofcheck", description="Check a proof that a result is the nearest one.")
    parser.add_argument("panel", type=Path, help="CSV, JSON lines, or the canonical form of a panel")
    parser.add_argument("result", type=Path, nargs="?", help="the result, as aggregate --json wrote it")
    parser.add_argument("--proof", type=Path, required=True, help="the proof, as aggregate --proof wrote it")
    parser.add_argument("--laws", type=Path, help="laws, declarations and pins")
    parser.add_argument("--percent", action="store_true", help="plain numbers are percentages")
    parser.add_argument("--missing", choices=("error", "abstain"), default="error")
    parser.add_argument("--repeats", choices=("keep", "last", "mean", "error"), default="keep")
    parser.add_argument("--plain-events", action="store_true", help="each event cell is one name")
    parser.add_argument("--work", type=int, default=ProofLimits.work, help="maximum number of cells of tables")
    parser.add_argument("--bytes", type=int, default=ProofLimits.bytes, help="maximum length of the proof, unpacked")
    told = parser.parse_args(arguments)
    options = ReadingOptions(told.percent, told.missing, told.repeats, told.plain_events)
    limits = ProofLimits(told.work, told.bytes)
    try:
        verdict = check_files(told.panel, told.result, told.proof, laws=told.laws, options=options, limits=limits)
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(verdict.sentence)
    return 0 if verdict.word == "proved" else 1


if __name__ == "__main__":
    sys.exit(main())
