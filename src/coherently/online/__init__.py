"""Experts over rounds: who was right counts more in the next round."""

from coherently.online.experts import OnlinePanel
from coherently.online.learning_rules import ExponentialAverage, Hedge, LearningRule, Vovk

__all__ = ["ExponentialAverage", "Hedge", "LearningRule", "OnlinePanel", "Vovk"]
