"""Roots to run commands in: made, mounted, used, and undone. Nothing is deleted while anything is mounted there."""

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class MountedError(Exception):
    """Something is still mounted in a folder that was to be deleted."""


def mounts_in(folder: Path, table: str) -> list[Path]:
    """What is mounted at a folder or below it, by the text of /proc/self/mountinfo, where a space is octal."""
    places = [line.split()[4] for line in table.splitlines()]
    paths = [Path(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), place)) for place in places]
    return [path for path in paths if path.is_relative_to(folder.resolve())]


def mounted_in(folder: Path) -> list[Path]:
    """What is mounted at a folder or below it now."""
    return mounts_in(folder, Path("/proc/self/mountinfo").read_text("utf-8"))


def unmount(folder: Path) -> None:
    """Undo all mounts in a folder, the last first; what is still in use for a moment gets some seconds."""
    for _ in range(10):
        for place in reversed(mounted_in(folder)):
            subprocess.run(["umount", place], check=False)
        if not mounted_in(folder):
            return
        time.sleep(1)


def delete(folder: Path) -> None:
    """Delete a folder in which nothing is mounted any more."""
    unmount(folder)
    if left := mounted_in(folder):
        places = ", ".join(map(str, left))
        raise MountedError(f"{folder} is kept, since something is still mounted there: {places}")
    subprocess.run(["rm", "-rf", "--one-file-system", "--", folder], check=True)


@dataclass(frozen=True, slots=True)
class Root:
    """A folder with a whole system in it, and the variables that its commands get beside HOME and PATH."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def mount(self, place: Path, *arguments: str | Path) -> None:
        """Mount something at a path of this root."""
        target = self.folder / place.relative_to("/")
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", *arguments, target], check=True)

    def write(self, place: str | Path, text: str) -> None:
        """Write a file of this root."""
        target = self.folder / Path(place).relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")

    def run(self, command: str, user: str = "root", folder: str = "/") -> tuple[int, str]:
        """Run a line of sh as a user in a folder, showing what it prints: what it returned, and what it printed."""
        home = "/root" if user == "root" else f"/home/{user}"
        variables = {"PATH": PATH, "HOME": home, "USER": user} | self.environment
        line = [*(f"{name}={value}" for name, value in variables.items()), "sh", "-c", 'cd "$1" && eval "$2"', "sh"]
        print(f"{user}:{folder}$ {command}", flush=True)
        process = subprocess.Popen(
            ["chroot", f"--userspec={user}:{user}", self.folder, "env", "-i", *line, folder, command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True,
        )  # fmt: skip
        printed = []
        try:
            for text in process.stdout or []:
                print(text, end="", flush=True)
                printed.append(text)
            return process.wait(), "".join(printed)
        finally:  # nothing runs on in a root that is about to be deleted
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
