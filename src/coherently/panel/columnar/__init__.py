"""Columns that stay columns: texts as numbers of distinct texts, numbers as arrays, on their way from a file."""

from coherently.panel.columnar.coded import CodedCells, NumberCells
from coherently.panel.columnar.plans import NAME, SKIP, TEXT, Plan, Planner, number_between

__all__ = ["NAME", "SKIP", "TEXT", "CodedCells", "NumberCells", "Plan", "Planner", "number_between"]
