"""Both commands of the README on a plain Debian, as root and as an ordinary user: `make fresh`.

debootstrap makes a root with what the README asks for and nothing else. Each person gets a copy of it with a clean
clone of HEAD: root, for whom the commands install what is missing; and Ann, who may not install, is told what to run,
and has a folder with a space in its path. Packages come from where this machine gets its own.
`make fresh COMMANDS=demo` runs only one of the two.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from setup.roots import MountedError, Root, delete
from setup.sources import find_mirror, pip_files, read_pip_settings

SUITE = "bookworm"
GIVEN = "ca-certificates,git,make,g++,python3"
"""What the README asks for, with the certificates that pip needs."""
NEEDED_GB = 10
REPOSITORY = Path(__file__).parents[1]
AUTHORITIES = Path("usr/local/share/ca-certificates")


@dataclass(frozen=True, slots=True)
class Person:
    """Who runs the commands, and where the clone is."""

    name: str
    folder: str


PEOPLE = (Person("ann", "/home/ann/my forecasts/coherently"), Person("root", "/root/coherently"))


class FailedError(Exception):
    """A command did not do what the README promises."""


def make_plain(folder: Path) -> None:
    """A plain system in a folder, with the mirror of this machine."""
    mirror = find_mirror(SUITE)
    if mirror is None:
        raise FailedError(f"the apt sources of this machine name no mirror of {SUITE}, from which a root could be made")
    keyring = [f"--keyring={mirror.keyring}"] if mirror.keyring else []
    options = ["--variant=minbase", f"--include={GIVEN}", *keyring]
    subprocess.run(["debootstrap", *options, SUITE, folder, mirror.address], check=True, stdout=subprocess.DEVNULL)


def connect(folder: Path) -> Root:
    """Tell a root what this machine knows of the network, of apt and of pip; mount what programs need."""
    pip = read_pip_settings(pip_files(os.environ), os.environ)
    root = Root(folder, pip.environment)
    root.write("/etc/pip.conf", pip.file)
    for name in ("resolv.conf", "hosts"):
        shutil.copy(Path("/etc", name), folder / "etc" / name)
    told = subprocess.check_output(["apt-config", "dump"], text=True).splitlines()
    kept = [line for line in told if re.match(r"Acquire::(https?::|Check-Valid-Until)", line)]
    root.write("/etc/apt/apt.conf.d/machine", "\n".join(kept) + "\n")
    for path in sorted(Path("/", AUTHORITIES).glob("*.crt")):
        shutil.copy(path, folder / AUTHORITIES)
    subprocess.run(["chroot", folder, "update-ca-certificates"], check=True, capture_output=True)
    for path in pip.files:
        if not (target := folder / path.relative_to("/")).exists():
            root.write(path, path.read_text("utf-8"))
            target.chmod(0o644)
    root.mount(Path("/proc"), "-t", "proc", "proc")
    root.mount(Path("/dev/shm"), "-t", "tmpfs", "-o", "mode=1777", "tmpfs")
    for path in sorted(pip.folders):
        root.mount(path, "--bind", "-o", "ro", path)
    return root


def clone(root: Root, person: Person) -> None:
    """A clean clone of HEAD that belongs to the person."""
    if person.name != "root":
        subprocess.run(["chroot", root.folder, "useradd", "--create-home", person.name], check=True)
    target = root.folder / person.folder.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "--quiet", "--no-local", REPOSITORY, target], check=True)
    top = Path("/", *Path(person.folder).parts[:3])  # /home/ann or /root/coherently
    subprocess.run(["chroot", root.folder, "chown", "-R", f"{person.name}:{person.name}", top], check=True)


def ask(root: Root, person: Person, command: str) -> str:
    """What the sentence tells a person to run who may not install; nothing may have been made then."""
    code, printed = root.run(f"make {command}", person.name, person.folder)
    sentences = [line for line in printed.splitlines() if line.startswith("error:")]
    told = re.search(r"Run as root `(.+)`", sentences[0]) if len(sentences) == 1 else None
    if code == 0 or told is None:
        raise FailedError(f"make {command} of {person.name} did not say in one sentence what is missing")
    made = [name for name in (".venv", "build", "dist") if (root.folder / person.folder.lstrip("/") / name).exists()]
    if made:
        raise FailedError(f"make {command} of {person.name} made {', '.join(made)} before it looked at the machine")
    return told[1]


def succeed(root: Root, person: Person, command: str) -> str:
    """Run a command that must end well: how long it took, and the summary of its tests."""
    begun = time.monotonic()
    code, printed = root.run(command, person.name, person.folder)
    if code:
        raise FailedError(f"{command!r} of {person.name} failed with exit code {code}")
    summaries = re.findall(r"^=+ (.* passed.*) =+$", printed, flags=re.MULTILINE)
    return ": ".join([f"{command} {time.monotonic() - begun:.0f} s", *summaries[-1:]])


def try_out(root: Root, person: Person, commands: list[str]) -> list[str]:
    """All that a person does, one line each."""
    clone(root, person)
    lines = []
    if person.name != "root":
        told = {ask(root, person, command) for command in commands}
        lines = [f"is told to run {line}, which root does" for line in told]
        for line in told:
            succeed(root, Person("root", "/"), line)
    lines += [succeed(root, person, f"make {command}") for command in commands]
    succeed(root, person, "make --question .venv/installed")  # nothing is left to do
    return [f"{person.name}: {line}" for line in lines]


def run(commands: list[str]) -> list[str]:
    """Make the plain root, and let each person use a copy."""
    folder, lines = Path(tempfile.mkdtemp(prefix="coherently-fresh-")), []
    try:
        make_plain(folder / "plain")
        for person in PEOPLE:
            copy = folder / person.name
            subprocess.run(["cp", "-a", folder / "plain", copy], check=True)
            lines += try_out(connect(copy), person, commands)
            delete(copy)
    finally:
        delete(folder)
    return lines


def main() -> None:
    """Run what the command line names: demo, test, or both."""
    commands = sys.argv[1:] or ["demo", "test"]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that mounts are undone
    free = shutil.disk_usage(tempfile.gettempdir()).free >> 30
    if free < NEEDED_GB:
        sys.exit(
            f"error: {tempfile.gettempdir()} has {free} GB free, {NEEDED_GB} are needed: set TMPDIR to a larger disk."
        )
    try:
        lines = run(commands)
    except (FailedError, MountedError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}.")
    print("\n".join(["", "On a plain Debian:", *lines]))


if __name__ == "__main__":
    main()
