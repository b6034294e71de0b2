"""The sessions on a command line that pages show: each is run, and says what the page says."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
LOOSELY = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def sessions(page):
    """Each command of a page with what follows it, up to the next one."""
    for block in BLOCK.findall(page.read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


def is_run(page):
    """Whether the page shows the files that its commands are about; one that does not only says how to write them."""
    names = {command.split()[0] for command, _ in sessions(page)}
    return {"cat", "coherently"} <= names


@pytest.mark.parametrize("page", list(filter(is_run, PAGES)), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_print_what_the_page_shows(page, tmp_path):
    checker = doctest.OutputChecker()
    for command, shown in sessions(page):
        name, *arguments = shlex.split(command)
        if name == "cat":
            (tmp_path / arguments[0]).write_text(shown, "utf-8")
        elif name == "coherently":
            done = subprocess.run(
                [sys.executable, "-m", "coherently", *arguments],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                check=False,
            )
            assert checker.check_output(shown, done.stdout, LOOSELY), f"$ {command}\n{done.stdout}"
