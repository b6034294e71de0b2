"""The independent check of a result: no solver is asked."""

from coherently.verifier.verification import Verification, verify

__all__ = ["Verification", "verify"]
