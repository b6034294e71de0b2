"""Answers in the user's words, and the call that gives them."""

from coherently.result.aggregation import METHODS, aggregate, choose
from coherently.result.bounds import Bounds, read_event
from coherently.result.judges import individual
from coherently.result.result import Result

__all__ = ["METHODS", "Bounds", "Result", "aggregate", "choose", "individual", "read_event"]
