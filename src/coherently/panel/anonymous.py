"""Panels whose judges are letters, for pages that others read."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from coherently.panel.worksheets.sheet_grid import column_letters

if TYPE_CHECKING:
    from coherently.panel.panel import Panel


def with_letters(panel: Panel) -> Panel:
    """The panel with judges called Judge A, Judge B and so on, in their order; notes call them so too.

    >>> from coherently.panel import Panel
    >>> with_letters(Panel.from_records([("Zoe", "p", 0.7), ("Ann", "p", 0.4)])).judges
    ('Judge A', 'Judge B')
    """
    letters = {name: f"Judge {column_letters(number)}" for number, name in enumerate(panel.judges)}
    longest = sorted(letters, key=len, reverse=True)
    names = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest if name.strip()) or r"(?!)")
    notes = tuple(names.sub(lambda found: letters[found[0]], note) for note in panel.notes)
    return replace(panel, judges=tuple(letters.values()), notes=notes, reading=None)
