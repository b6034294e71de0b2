"""What can be said of forecasts and results with proof: verification, implied bounds, books and contradictions."""

from coherently.certify.books import Bet, Book, dutch_book

__all__ = ["Bet", "Book", "dutch_book"]
