"""The program as a user runs it; what `--json` prints is held against the published schema of its record."""

import json
import subprocess
import sys

from tests.published import validated

PROGRAM = [sys.executable, "-c", "from coherently.cli import main; main()"]


def run(*arguments, check=None, **options):
    """Run the installed program; options are those of `subprocess.run`."""
    command = [*PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert "Traceback" not in done.stderr
    if check is not None:
        assert done.returncode == check, done.stderr
    check_printed(arguments, done.stdout)
    return done


def check_printed(arguments, printed):
    """With --json, exactly one record is printed, or nothing where the program refuses; its name is returned."""
    if "--json" not in arguments or not printed:
        return None
    told = json.loads(printed)
    (name,) = validated([told])
    assert told["format"] == f"coherently-{name}"
    return name
