"""Bets at forecasts: the nearest coherent prices, and books that win whatever happens."""

from coherently.books.dutch import Bet, Book, dutch_book

__all__ = ["Bet", "Book", "dutch_book"]
