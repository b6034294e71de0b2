"""A whole panel as one file, and forecasts from files."""
