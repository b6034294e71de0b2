"""What all pictures share: axes, colours, and text as matplotlib shows it."""

from __future__ import annotations

from typing import Any

from coherently.errors import MissingDependencyError

BEFORE, AFTER, RULE = "#767b85", "#1f5fbf", "#b9bec7"
"""The colours of what was given, of the answer, and of lines between them."""


def axes_of(ax: Any) -> Any:
    """The axes to draw on: those given, or new ones."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError("pictures need matplotlib: pip install matplotlib") from error
    return plt.subplots(layout="constrained")[1]


def plain_text(text: str) -> str:
    """Text that matplotlib shows as it is, with control characters and dollar signs (which begin a formula) escaped."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown.replace("$", r"\$")
