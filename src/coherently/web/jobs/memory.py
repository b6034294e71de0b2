"""How much memory a process takes and may take."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ADDRESSES = 8_000_000_000
"""Addresses, in bytes, that a process reserves and never fills: threads' stacks and the arenas of libraries."""


def limit_memory(most: int) -> None:
    """Let this process fail to get memory, rather than take what others need; only Linux keeps such a limit."""
    if sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = most + ADDRESSES
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


def memory_taken() -> int:
    """Bytes of memory that this process takes; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
