"""Components whose structure gives the answer without a search among worlds."""
