"""Answers in the user's words, and the call that gives them."""

from coherently.result.aggregation import METHODS, aggregate, choose
from coherently.result.judges import individual
from coherently.result.result import Result

__all__ = ["METHODS", "Result", "aggregate", "choose", "individual"]
