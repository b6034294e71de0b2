"""Names with spaces: several words between two operators, where the parser accepts only one word as a name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATORS = re.compile(
    r'"(?:[^"\\]|\\.)*"|<->|->|[~!¬&∧^|\u2228→↔(){}=<>,;]|:(?=\s)'
    r"|\b(?:not|and|xor|or|implies|iff|given|exactly|at_least|at_most|in(?=\s*\{))\b",
    re.IGNORECASE,
)
"""What separates names: operator signs, operator words and names in quotes."""


def parts(text: str) -> Iterator[tuple[int, str]]:
    """Give the parts of a text between its operators, stripped, each with the position where it begins.

    >>> list(parts("Supplier delay and (not Budget overrun)"))
    [(0, 'Supplier delay'), (24, 'Budget overrun')]
    """
    start = 0
    for match in [*OPERATORS.finditer(text), None]:
        part = text[start : match.start() if match else None]
        if part.strip():
            yield start + len(part) - len(part.lstrip()), part.strip()
        start = match.end() if match else start


def spaced_name(text: str, column: int) -> str | None:
    """Find the words around a column (from 1), if there are several, separated by spaces.

    >>> spaced_name("rain & Supplier delay", 17)
    'Supplier delay'
    """
    among = (part for start, part in parts(text) if start < column <= start + len(part))
    return next((part for part in among if len(part.split()) > 1), None)
