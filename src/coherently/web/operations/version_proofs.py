"""The proof of a version with the files that it is about, for a checker that knows nothing of the workbench."""

from __future__ import annotations

import base64
import io
import zipfile
from typing import TYPE_CHECKING

from coherently.report.verification_code import CANONICAL, CERTIFICATE, PROOF
from coherently.web.operations.aggregation_operations import get_result
from coherently.web.operations.exports import as_json
from coherently.web.refusals import RefusedError

if TYPE_CHECKING:
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench

UNKNOWN = "it was made before proofs were kept"
"""Why an old version has no proof."""


def get_proof(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str) -> bytes:
    """An archive of three files: the panel in its canonical form, the result and its proof."""
    from coherently.panel import Panel
    from coherently.panel.canonical import canonical_text

    found = get_result(bench, caller, panel, aggregation)
    kept = bench.store.aggregations.result(aggregation)
    if not kept.get("proof"):
        raise RefusedError(
            404,
            "no-proof",
            f"Version {found.aggregation.version} has no proof: {kept.get('unproved') or UNKNOWN}.",
            remedy="Make a new version with the method auto or exact and the loss brier, log or spherical.",
        )
    files = {
        CANONICAL: canonical_text(Panel.from_records(found.forecasts, laws=found.laws)),
        CERTIFICATE: as_json(found.result).encode(),
        PROOF: base64.b64decode(kept["proof"]),
    }
    return _archive(files)


def _archive(files: dict[str, bytes]) -> bytes:
    """Files in an archive that is the same whenever it is made."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
