"""Bets at forecasts: the nearest coherent prices, and books that win whatever happens."""

from coherently.explain.bets.dutch import Book, Trade, dutch_book

__all__ = ["Book", "Trade", "dutch_book"]
