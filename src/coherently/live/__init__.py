"""A panel that changes: only what a revision touches is solved again, and nothing that was acknowledged is lost."""

from coherently.live.live_panel import LivePanel
from coherently.live.published.current import Current
from coherently.live.published.listeners import Change, Shift

__all__ = ["Change", "Current", "LivePanel", "Shift"]
