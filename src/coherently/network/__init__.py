"""Fusion in networks: nodes with local forecasts exchange probabilities until the whole is coherent."""
