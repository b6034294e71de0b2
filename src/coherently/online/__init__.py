"""Experts over rounds: who was right counts for more in the next one."""

from coherently.online.panel import OnlinePanel
from coherently.online.rules import ExponentialAverage, Hedge, Rule, Vovk

__all__ = ["ExponentialAverage", "Hedge", "OnlinePanel", "Rule", "Vovk"]
