"""`make bench`: the speed targets, measured on this machine."""

from __future__ import annotations

import platform
import time

from bench import engines, exact, foundation, intake, live, losses, networks, relaxed, web


def main() -> None:
    """Run every benchmark and print its figures."""
    print(f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {platform.machine()}")
    for part in (foundation, intake, relaxed, exact, losses, live, networks, engines, web):
        part.run()


if __name__ == "__main__":
    main()
