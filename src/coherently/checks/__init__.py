"""Who contradicts what: each judge, and the panel's means."""

from coherently.checks.checking import Check, check, check_judges
from coherently.checks.findings import Finding

__all__ = ["Check", "Finding", "check", "check_judges"]
