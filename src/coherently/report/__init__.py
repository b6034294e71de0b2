"""Tables for people."""

from coherently.report.comparison_tables import (
    comparison_html,
    comparison_latex,
    comparison_table,
    comparison_text,
    differences_table,
    judges_table,
)
from coherently.report.moved_points import influence_table, pulls_table, without_table
from coherently.report.tables import (
    book_table,
    bounds_table,
    calibration_table,
    consistency_table,
    contradictions_text,
    findings_summary,
    findings_table,
    forecasts_table,
    monitor_table,
    panel_table,
    row_table,
    scores_table,
    summary,
    verification_text,
)

__all__ = [
    "book_table",
    "bounds_table",
    "calibration_table",
    "comparison_html",
    "comparison_latex",
    "comparison_table",
    "comparison_text",
    "consistency_table",
    "contradictions_text",
    "differences_table",
    "findings_summary",
    "findings_table",
    "forecasts_table",
    "influence_table",
    "judges_table",
    "monitor_table",
    "panel_table",
    "pulls_table",
    "row_table",
    "scores_table",
    "summary",
    "verification_text",
    "without_table",
]
