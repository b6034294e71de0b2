"""A panel that changes: only what a revision touches is solved again, and nothing that was acknowledged is lost."""

from coherently.live.current import Current
from coherently.live.listeners import Change, Shift
from coherently.live.live_panel import LivePanel

__all__ = ["Change", "Current", "LivePanel", "Shift"]
