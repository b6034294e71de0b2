"""What can be said of forecasts and results with proof: verification, implied bounds, books and contradictions."""
