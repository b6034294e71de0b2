"""The world of the least sum, and the proof that none is lower."""
