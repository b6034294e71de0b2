"""Proved, weak or refused: the whole check."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from .check_errors import ProofRefusedError
from .claimed_mixture import KEPT, WorldMixture, check_mixture, loss_above, read_claim
from .forecast_files import ReadingOptions, read_text
from .leaves import WorkLeft
from .loss_planes import LinearisedCost
from .numbers import decimal, rounded_down
from .posed_panel import PosedPanel, read_panel
from .proof_records import LONGEST_FILE, Checker, ProofLines
from .sign_trees import TreeRule, least_of_signs

FAULT = (
    "the bound is above what the result loses, which no proof can show: the checker itself has a fault, please report "
    "it with these files"
)


@dataclass(frozen=True)
class ProofLimits:
    """How much work a proof may ask for, in cells of tables, and how many bytes it may have."""

    work: int = 1 << 31
    bytes: int = LONGEST_FILE


@dataclass(frozen=True)
class ProofVerdict:
    """The verdict, with a number above what the result loses (`upper`) and one below what any answer loses (`lower`).

    `leaves` counts components by the kinds of rules that bound them; `line` is that of the proof that was refused.
    """

    word: str
    why: str = ""
    upper: Fraction | None = None
    lower: Fraction | None = None
    tolerance: Fraction | None = None
    line: int = 0
    leaves: dict[str, int] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """One line that begins with the verdict."""
        if self.upper is None or self.lower is None:
            place = f" (line {self.line} of the proof)" if self.line else ""
            return f"refused: {self.why}{place}"
        numbers = f"loss at most {shown(self.upper)}, least loss at least {shown(self.lower)}"
        kinds = ", ".join(f"{count} by {kind}" for kind, count in sorted(self.leaves.items())) or "none"
        gap = f"{numbers}, difference at most {shown(max(self.upper - self.lower, Fraction(0)), up=True)}"
        return f"{self.word}: {gap}; components: {kinds}{self.why and f'; {self.why}'}"


def shown(x: Fraction, *, up: bool = False) -> str:
    """A number with seven digits, by integers alone."""
    if x <= 0:
        return "0"
    power = len(str(x.numerator)) - len(str(x.denominator))
    digits = x * Fraction(10) ** (7 - power)
    whole = -(-digits.numerator // digits.denominator) if up else digits.numerator // digits.denominator
    text = str(whole)
    power += len(text) - 8
    rest = text[1:7].rstrip("0")
    return f"{text[0]}{'.' if rest else ''}{rest}{f'e{power}' if power else ''}"


def unit(panel: PosedPanel) -> Fraction:
    """The power of two at or below the median positive weight: what tolerances count as 1."""
    counts = Counter(one["weight"] for one in panel.form.forecasts)
    ordered = sorted((decimal(text), count) for text, count in counts.items())
    weights = [weight for weight, count in ordered for _ in range(count) if weight > 0]
    if not weights:
        return Fraction(1)
    middle, power = weights[(len(weights) - 1) // 2], Fraction(1)
    while power > middle:
        power = Fraction(power, 2)
    while 2 * power <= middle:
        power = 2 * power
    return power


def check(
    panel: PosedPanel, result: str, proof: Path | bytes, limits: ProofLimits, signs: TreeRule = least_of_signs
) -> ProofVerdict:
    """Check a proof, a file or its bytes, of the claim that a result (JSON) makes about a panel.

    `signs` is what bounds trees of signs.
    """
    work = WorkLeft(limits.work)
    try:
        claim = read_claim(result)
        if claim.digest != panel.digest:
            raise ProofRefusedError("the result was made from another panel, or with other laws")  # noqa: TRY301
        mixture = WorldMixture(panel.space, claim.parts)
        check_mixture(panel, mixture, claim)
        terms = panel.terms(claim.loss, work)
        upper = loss_above(mixture, terms)
        checker = Checker(panel, terms, work, signs)
        bound = checker.bound(ProofLines(proof, limits.bytes))
    except ProofRefusedError as error:
        return ProofVerdict("refused", str(error), line=error.line)
    settled = [term for term in terms if term.settled is not None and not isinstance(term.cost, LinearisedCost)]
    lower = bound.value + sum((rounded_down(term.cost.settled(True)) for term in settled), Fraction(0))  # type: ignore[union-attr]
    if lower > upper + bound.prices * KEPT:
        return ProofVerdict("refused", FAULT)
    proved = upper - lower <= claim.tolerance * max(unit(panel), upper)
    why = (
        f"nothing is proved of {len(bound.unused)} terms, such as {terms[bound.unused[0]].text!r}"
        if bound.unused
        else ""
    )
    return ProofVerdict(
        "proved" if proved else "weak", why, upper, lower, tolerance=claim.tolerance, leaves=bound.leaves
    )


def check_files(
    panel: Path,
    result: Path,
    proof: Path,
    *,
    laws: Path | None = None,
    options: ReadingOptions | None = None,
    limits: ProofLimits | None = None,
) -> ProofVerdict:
    """Check a proof of a result about the panel of a file."""
    return check(
        read_panel(panel, laws, options or ReadingOptions()), read_text(result), proof, limits or ProofLimits()
    )
