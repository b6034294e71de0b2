"""What moves a result: each judge, each question and each law, left out one after the other."""

from coherently.explain.influence.influence_table import Influence, Left
from coherently.explain.influence.reasons import Pull, Why

__all__ = ["Influence", "Left", "Pull", "Why"]
