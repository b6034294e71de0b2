"""Simple relations between a few events, and the bets that break them."""
