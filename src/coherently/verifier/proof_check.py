"""The verdict of the independent checker on a proof, for `co.verify` and `coherently verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coherently.errors import PanelError, ResultError, Where
from coherently.panel.canonical import canonical_text
from coherently.proofcheck import ProofLimits, check
from coherently.proofcheck.check_errors import BadInputError
from coherently.proofcheck.forecast_files import ReadingOptions, canonical_lines, read_text
from coherently.proofcheck.posed_panel import PosedPanel, read_panel
from coherently.verifier.compiled_signs import CompiledSigns

if TYPE_CHECKING:
    import os

    from coherently.panel import Panel
    from coherently.proofcheck import ProofVerdict
    from coherently.result import Result

TRUSTED = "the reading of the panel's file was trusted"


class ProofCheck(NamedTuple):
    """What the checker found, in one sentence that begins with the verdict."""

    verdict: ProofVerdict
    sentence: str

    @property
    def claims(self) -> list[str]:
        """The claims that are proved, besides that of a result."""
        return [one.words for one in self.verdict.claims if one.word == "proved"]

    @property
    def rests_on(self) -> list[str]:
        """For the proof of a result that holds, by which rules its components are bounded."""
        kinds = sorted(self.verdict.leaves.items())
        return [f"{self.verdict.word} by {kind}" for kind, count in kinds for _ in range(count)]


def check_proof(panel: Panel, result: Result | None, proof: bytes | str | os.PathLike[str]) -> ProofCheck:
    """Check the proof of a result about a panel that is in memory: its canonical form is what is proved."""
    source = proof if isinstance(proof, bytes) else _existing(proof)
    signs = CompiledSigns()
    try:
        found = check(
            _canonical(panel), None if result is None else result.to_json(), source, ProofLimits(), signs=signs
        )
    except BadInputError as error:
        raise ResultError(f"the proof cannot be checked: {error}") from None
    return ProofCheck(found, found.sentence + signs.sentence)


def check_proof_files(
    panel: Panel, file: Path, laws: Path | None, options: ReadingOptions | None, result: Path | None, proof: Path
) -> ProofCheck:
    """Check a proof about a file, which the checker reads by itself where it can.

    It reads plain tables of CSV and JSON lines. Other tables are read by the package, as `panel`; the sentence says so.
    Without `options` something else than the file made the panel what it is, such as weights.
    """
    source, read, trusted, signs = _existing(proof), None, False, CompiledSigns()
    try:
        if options is not None:
            read = read_panel(file, laws, options)
    except BadInputError:
        read = None
    try:
        whole = _canonical(panel)
        trusted = read is None or read.digest != whole.digest
        posed = whole if read is None or trusted else read
        found = check(posed, None if result is None else read_text(result), source, ProofLimits(), signs=signs)
    except BadInputError as error:
        raise PanelError(f"the proof cannot be checked: {error}") from None
    return ProofCheck(found, found.sentence + signs.sentence + (f"; {TRUSTED}" if trusted else ""))


def _canonical(panel: Panel) -> PosedPanel:
    return PosedPanel(canonical_lines(canonical_text(panel).decode("utf-8", "surrogatepass")))


def _existing(proof: str | os.PathLike[str]) -> Path:
    path = Path(proof)
    if not path.is_file():
        remedy = "write it with `coherently aggregate --proof FILE`"
        raise ResultError(
            f"there is no proof {path}: {remedy}", code="no-such-file", where=Where(str(path)), remedy=remedy
        )
    return path
