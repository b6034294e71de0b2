"""Tables for people."""

from coherently.report.tables import (
    calibration_table,
    forecasts_table,
    panel_table,
    row_table,
    scores_table,
    summary,
)

__all__ = ["calibration_table", "forecasts_table", "panel_table", "row_table", "scores_table", "summary"]
