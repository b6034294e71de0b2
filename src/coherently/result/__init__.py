"""Answers in the user's words, and the call that gives them."""

from coherently.result.aggregation import aggregate
from coherently.result.bounds import Bounds, read_event
from coherently.result.bounds_table import BoundsTable
from coherently.result.judges import individual
from coherently.result.result import Result

__all__ = ["Bounds", "BoundsTable", "Result", "aggregate", "individual", "read_event"]
