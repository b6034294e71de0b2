"""Machines that are not there: a folder of programs that is all of PATH, with stand-ins for what a test is about."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Done = subprocess.CompletedProcess[str]
ROOT = Path(__file__).parents[2]
TOOLS = ("awk", "cat", "find", "getconf", "ln", "ls", "make", "mkdir", "mv", "rm", "sh", "touch")
PYTHON = f"""\
case "$*" in
  *"print(sys.base_prefix)"*) echo {{prefix}} ;;
  *"print(\\""*) echo {{version}} ;;
  *"sys.exit(sys.version_info"*) {{is_old}} ;;
  *Python.h*) {{headers}} ;;
  *ensurepip*) {{venv}} ;;
  *) exec '{sys.executable}' "$@" ;;
esac
"""


def write_program(path: Path, text: str) -> None:
    """A program of sh; one that is there is replaced."""
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


class Machine:
    """A tree with the Makefile and the set-up, and programs; at first all that is needed is there."""

    def __init__(self, folder: Path, tree: str = "tree") -> None:
        self.programs, self.tree = folder / "programs", folder / tree
        self.programs.mkdir()
        self.tree.mkdir()
        for name in TOOLS:
            (self.programs / name).symlink_to(shutil.which(name))
        shutil.copy(ROOT / "Makefile", self.tree)
        for name in ("cpp", "src"):
            (self.tree / name).mkdir()
        for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "constraints.txt"):
            (self.tree / name).touch()
        shutil.copytree(ROOT / "setup", self.tree / "setup", ignore=shutil.ignore_patterns("__pycache__"))
        self.have("id", 'if [ "$1" = -u ]; then echo 1000; else echo ann; fi')
        self.have("uname", "echo Linux")
        self.have("df", "echo; echo /dev/disk 9000000 1 8000000 1% /")
        self.have("c++", "cat >/dev/null")
        self.have_python()

    def have(self, name: str, text: str = "exit 0") -> None:
        """Put a program there."""
        write_program(self.programs / name, text)

    def lose(self, name: str) -> None:
        """Take a program away."""
        (self.programs / name).unlink()

    def have_python(self, name="python3", *, version="3.11", headers=True, venv=True, prefix="/usr") -> None:
        """A Python of a version, with and without parts."""
        is_old = tuple(map(int, version.split("."))) < (3, 11)
        facts = {"headers": headers, "venv": venv, "is_old": not is_old}
        text = PYTHON.format(
            version=version, prefix=prefix, **{k: "exit 0" if v else "exit 1" for k, v in facts.items()}
        )
        self.have(name, text)

    def become_root(self) -> None:
        """Run what follows as root."""
        self.have("id", 'if [ "$1" = -u ]; then echo 0; else echo root; fi')

    def run(self, *command: str, person: Mapping[str, Any] | None = None, **variables: str) -> Done:
        """Run a command in the tree, as this user or another."""
        environment = {"PATH": str(self.programs)} | variables
        options = {"cwd": self.tree, "env": environment, "encoding": "utf-8", "capture_output": True} | (person or {})
        return subprocess.run(command, check=False, **options)

    def check(self, *what: str, **options: Any) -> Done:
        """Look at the machine."""
        return self.run("sh", "setup/machine.sh", *(what or ("build",)), **options)
