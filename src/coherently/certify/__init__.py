"""What can be said of forecasts and results with proof: verification, implied bounds, books and contradictions."""

from coherently.certify.books import Bet, Book, dutch_book
from coherently.certify.checks import Check, check
from coherently.certify.findings import Finding

__all__ = ["Bet", "Book", "Check", "Finding", "check", "dutch_book"]
