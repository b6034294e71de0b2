"""The steps of deploy/Containerfile in roots of a plain Debian, where no container engine can be had: `make container`.

Each stage is a root that debootstrap makes, with the Python of Debian in place of the image's: COPY, RUN, ENV, USER,
ENTRYPOINT and HEALTHCHECK are done as they are written there. Then an account is added, the workbench is started as
the image's user, and its own health check must pass. What is not tried: an engine's network, volumes and layers.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from setup.fresh import REPOSITORY, FailedError, connect, make_plain
from setup.roots import PATH, MountedError, Root, delete

PATIENCE = 90.0
"""Seconds until the workbench must answer."""
WITH_PYTHON = "python3-venv python3-dev python-is-python3"
"""What the image that the Containerfile begins with has, and a plain Debian has not."""


@dataclass(slots=True)
class Stage:
    """What a stage of the file has said so far."""

    root: Root
    environment: dict[str, str] = field(default_factory=dict)
    user: str = "root"
    entrypoint: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def command(self, words: list[str]) -> list[str]:
        """A program as the image runs it."""
        known = {"PATH": PATH} | self.root.environment | self.environment
        variables = [f"{name}={value}" for name, value in known.items()]
        return ["chroot", f"--userspec={self.user}:{self.user}", str(self.root.folder), "env", "-i", *variables, *words]


def read_steps(text: str) -> list[tuple[str, str]]:
    """The instructions of a Containerfile in order, each with what follows it."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def build(folder: Path, steps: list[tuple[str, str]]) -> Stage:
    """Do the steps; the last stage is the image."""
    make_plain(folder / "plain")
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    for word, rest in steps:
        if word == "FROM":
            name = rest.partition(" AS ")[2] or "image"
            subprocess.run(["cp", "-a", folder / "plain", folder / name], check=True)
            stage = stages[name] = Stage(connect(folder / name))
            run(stage, f"apt-get update -qq && apt-get install -qq --yes {WITH_PYTHON}")
            continue
        assert stage is not None, "a Containerfile begins with FROM"
        do_step(stage, stages, word, rest)
    assert stage is not None, "a Containerfile has a stage"
    return stage


def run(stage: Stage, line: str) -> None:
    """Run a line of sh as root."""
    code, _ = stage.root.run(line)
    if code:
        raise FailedError(f"{line!r} failed with exit code {code}")


def do_step(stage: Stage, stages: dict[str, Stage], word: str, rest: str) -> None:
    """Do one instruction."""
    if word == "RUN":
        run(stage, rest)
    elif word == "COPY" and (copied := re.fullmatch(r"--from=(\w+) (/\S+) (/\S+)", rest)):
        source = stages[copied[1]].root.folder / copied[2].lstrip("/")
        subprocess.run(["cp", "-a", source, stage.root.folder / copied[3].lstrip("/")], check=True)
    elif word == "COPY" and rest.startswith(". /"):
        target = stage.root.folder / rest.removeprefix(". /")
        subprocess.run(["git", "clone", "--quiet", "--no-local", REPOSITORY, target], check=True)
    elif word == "ENV":
        name, _, value = rest.partition("=")
        stage.environment[name] = value
    elif word == "USER":
        stage.user = rest
    elif word == "ENTRYPOINT":
        stage.entrypoint = json.loads(rest)
    elif word == "HEALTHCHECK":
        stage.health = json.loads(rest.removeprefix("CMD "))
    elif word not in ("VOLUME", "EXPOSE"):
        raise FailedError(f"the Containerfile has a step that is not known here: {word} {rest}")


def try_out(image: Stage) -> None:
    """Add an account, serve, and let the health check pass; stopping must end everything."""
    account = [*image.entrypoint, "--add-account", "ann"]
    typed = "a password for the container\n" * 2
    subprocess.run(image.command(account), input=typed, text=True, check=True)
    print("$", shlex.join(image.entrypoint), flush=True)
    server = subprocess.Popen(image.command(image.entrypoint), start_new_session=True)
    try:
        end = time.monotonic() + PATIENCE
        while subprocess.run(image.command(image.health), stderr=subprocess.DEVNULL, check=False).returncode:
            if server.poll() is not None or time.monotonic() > end:
                raise FailedError("the health check of the image did not pass")
            time.sleep(1)
        server.terminate()
        if server.wait(60) not in (0, -signal.SIGTERM):
            raise FailedError(f"the workbench ended with exit code {server.returncode}")
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def main() -> None:
    """Build and try the image."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that mounts are undone
    folder, begun = Path(tempfile.mkdtemp(prefix="coherently-container-")), time.monotonic()
    try:
        try_out(build(folder, read_steps((REPOSITORY / "deploy/Containerfile").read_text("utf-8"))))
    except (FailedError, MountedError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}.")
    finally:
        delete(folder)
    print(f"\nThe steps of deploy/Containerfile made an image that serves, in {time.monotonic() - begun:.0f} s.")


if __name__ == "__main__":
    main()
