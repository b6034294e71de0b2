"""Killing a process while a live panel writes its log: what was acknowledged is there when the log is opened again.

`python -m tests.live.log_checks LOG SEED` revises a panel for ever and prints the number of each revision, with a
checksum of what stands, after the call for it returned.
"""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import coherently as co

ROOT = Path(__file__).parents[2]
EVENTS = ("a", "b", "a & b", "b | c", "d -> e", "e", "f given a")
LAWS = ("c -> a", "P(e) <= 0.9", "variable w: x, y, z")


def digest(live):
    """A checksum of all that stands."""
    panel = live.panel()
    rows = [*panel.columns()["judge"], *panel.columns()["event"], *map(repr, panel.probability.tolist())]
    text = "\n".join([*rows, *map(repr, panel.weight.tolist()), *panel.laws.text, *panel.laws.pins.text])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def revise_for_ever(log, seed):
    """Revise a new panel until somebody kills this process."""
    rng = np.random.default_rng(seed)
    live = co.LivePanel(co.Panel.from_records([("Zoe", "a", 0.5)]), log=log)
    print(0, digest(live), flush=True)
    while True:
        try:
            number = revise(live, rng)
        except co.CoherentlyError:
            continue
        print(number, digest(live), flush=True)


def revise(live, rng):
    judge, event = f"judge {rng.integers(5)}", str(rng.choice(EVENTS))
    kind = rng.random()
    if kind < 0.45:
        return live.add(judge, event, float(rng.random()))
    if kind < 0.75:
        return live.revise(judge, event, float(rng.random()))
    if kind < 0.9:
        return live.withdraw(judge, event)
    return (live.add_law if rng.random() < 0.5 else live.drop_law)(str(rng.choice(LAWS)))


def check_kills(seed, count):
    """Kill so many processes at random moments; returns the largest number of revisions that one of them made."""
    rng = np.random.default_rng(seed)
    most = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            most = max(most, _kill_one(Path(folder) / f"{number}.log", int(rng.integers(2**32)), rng))
    return most


def _kill_one(log, seed, rng):
    arguments = [sys.executable, "-m", "tests.live.log_checks", str(log), str(seed)]
    child = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        first = child.stdout.readline()
        time.sleep(float(rng.uniform(0, 0.2)))
    finally:
        os.kill(child.pid, signal.SIGKILL)
        said, _ = child.communicate()
    lines = (first + said).split("\n")[:-1]  # the last line may be incomplete
    acknowledged, checksum = lines[-1].split()
    with co.LivePanel.open(log, background=False) as again:
        recorded = again.current().revision
        # The next revision may be in the log although nobody was told.
        assert int(acknowledged) <= recorded <= int(acknowledged) + 1, (seed, acknowledged, recorded)
        if recorded == int(acknowledged):
            assert digest(again) == checksum, seed
        np.testing.assert_allclose(
            again.settle().result().solution.value, co.aggregate(again.panel()).solution.value, atol=1e-7
        )
        again.add("Yan", "g", 0.5)
    with co.LivePanel.open(log, background=False) as again:
        assert again.note is None
        assert again.current().revision == recorded + 1
    return recorded


if __name__ == "__main__":
    revise_for_ever(sys.argv[1], int(sys.argv[2]))
