"""What a report may do in a browser: show itself, with the styles that are in it."""

from __future__ import annotations

import base64
import hashlib
import re

STYLES = re.compile(r'<style>(.*?)</style>|style="([^"]*)"', re.DOTALL)


def report_policy(page: str) -> str:
    """A policy that lets a report use exactly the styles that are in it, and nothing else."""
    styles = {block or attribute for block, attribute in STYLES.findall(page)}
    hashes = (base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() for style in sorted(styles))
    allowed = " ".join(f"'sha256-{value}'" for value in hashes)
    return (
        f"default-src 'none'; style-src 'unsafe-hashes' {allowed}; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; sandbox allow-same-origin"
    )
