"""Letters in place of the names of judges, for pages that others read."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from coherently.panel.worksheets.sheet_grid import column_letters

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.panel.panel import Panel


def with_letters(panel: Panel) -> Panel:
    """The panel with judges called Judge A, Judge B and so on, in their order; notes call them so too.

    >>> from coherently.panel import Panel
    >>> with_letters(Panel.from_records([("Zoe", "p", 0.7), ("Ann", "p", 0.4)])).judges
    ('Judge A', 'Judge B')
    """
    lettered = lettering(panel)
    return replace(
        panel,
        judges=tuple(_letters(panel).values()),
        notes=tuple(map(lettered, panel.notes)),
        reading=None,
    )


def lettering(panel: Panel) -> Callable[[str], str]:
    """What puts letters in place of the judges' names in a text.

    >>> from coherently.panel import Panel
    >>> lettering(Panel.from_records([("Al", "p", 0.7), ("Al Roe", "p", 0.4)]))("Al Roe, Al and Alba")
    'Judge B, Judge A and Alba'
    """
    letters = _letters(panel)
    longest = sorted(filter(str.strip, letters), key=len, reverse=True)
    names = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest) or r"(?!)")
    return lambda text: names.sub(lambda found: letters[found[0]], text)


def _letters(panel: Panel) -> dict[str, str]:
    return {name: f"Judge {column_letters(number)}" for number, name in enumerate(panel.judges)}
