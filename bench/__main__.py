"""`make bench`: the speed targets, measured on this machine."""

from __future__ import annotations

import platform
import subprocess
import sys
import time

PARTS = (
    "foundation",
    "intake",
    "relaxed",
    "exact",
    "losses",
    "counts",
    "proofs",
    "components",
    "tuning",
    "structure",
    "explain",
    "live",
    "networks",
    "engines",
    "web",
    "pages",
)


def main() -> None:
    """Run every benchmark and print its figures, each in a process of its own: memory is that of its own work."""
    print(f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {platform.machine()}", flush=True)
    for part in PARTS:
        subprocess.run([sys.executable, "-c", f"from bench import {part}; {part}.run()"], check=True)


if __name__ == "__main__":
    main()
