"""Who contradicts what: each judge, and the panel's means."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherently.explain.findings import Finding
    from coherently.explain.panel_check import Check, check, check_judges

__all__ = ["Check", "Finding", "check", "check_judges"]


def __getattr__(name: str) -> object:
    """Findings load what names contradictions in words, which books, in a folder of this room, do not need."""
    if name not in __all__:
        raise AttributeError(f"module 'coherently.explain' has no attribute {name!r}")
    module = "findings" if name == "Finding" else "panel_check"
    return getattr(importlib.import_module(f"coherently.explain.{module}"), name)
