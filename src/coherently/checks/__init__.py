"""Who contradicts what: each judge, and the panel's means."""

from coherently.checks.checking import Check, check
from coherently.checks.findings import Finding

__all__ = ["Check", "Finding", "check"]
