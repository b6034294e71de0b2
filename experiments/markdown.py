"""Pages in Markdown that a command writes."""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING

import coherently

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DOCS = Path(__file__).parents[1] / "docs"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first column is on the left, the others on the right."""
    lines = [_row(head), "|" + "|".join(["---", *["---:"] * (len(head) - 1)]) + "|"]
    return "\n".join([*lines, *map(_row, rows)])


def stamp(command: str, seconds: float) -> str:
    """What made the page, when, with what."""
    return (
        f"Written by `{command}` on {time.strftime('%Y-%m-%d')}, coherently {coherently.__version__}, "
        f"Python {platform.python_version()}, in {seconds:,.0f} s. Seeds are fixed: a run with the same versions gives "
        "the same figures, times excepted."
    )


def write_page(name: str, parts: Iterable[str]) -> Path:
    """Write a page into the documentation, its parts a blank line apart."""
    file = DOCS / name
    file.write_text("\n\n".join(part.strip() for part in parts) + "\n", "utf-8")
    return file


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
