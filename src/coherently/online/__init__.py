"""Experts over rounds: who was right counts more in the next round."""

from coherently.online.panel import OnlinePanel
from coherently.online.rules import ExponentialAverage, Hedge, Rule, Vovk

__all__ = ["ExponentialAverage", "Hedge", "OnlinePanel", "Rule", "Vovk"]
