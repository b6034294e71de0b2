"""Who contradicts what: each judge, and the panel's means."""

from coherently.explain.findings import Finding
from coherently.explain.panel_check import Check, check, check_judges

__all__ = ["Check", "Finding", "check", "check_judges"]
