"""Real panels: which method is best where, and when coherence buys nothing."""
