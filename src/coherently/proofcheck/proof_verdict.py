"""Proved, weak or refused: the whole check."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from .check_errors import BadInputError, ProofRefusedError
from .claimed_mixture import KEPT, checked_mixture, loss_above, read_claim
from .forecast_files import ReadingOptions, read_text
from .leaves import WorkLeft
from .loss_planes import LinearCost, LinearisedCost
from .numbers import decimal, rounded_down
from .posed_panel import PosedPanel, read_panel
from .proof_records import LONGEST_FILE, Checker, Goal, ProofLines
from .sign_trees import TreeRule, least_of_signs
from .stated_claims import CheckedResult, ClaimReader

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
class ProvedClaim:
    """A claim besides that of a result, in words, and whether it is proved or weak."""

    word: str
    words: str


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
    claims: tuple[ProvedClaim, ...] = ()

    @property
    def sentence(self) -> str:
        """One line that begins with the verdict."""
        if self.claims:
            weak = [one for one in self.claims if one.word == "weak"]
            return f"{self.word}: " + "; ".join(one.words for one in weak or self.claims)
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
    weights = sorted(decimal(text) for text, count in counts.items() for _ in range(count) if decimal(text) > 0)
    middle = weights[(len(weights) - 1) // 2] if weights else Fraction(1)
    power = Fraction(2) ** (middle.numerator.bit_length() - middle.denominator.bit_length())
    return power if power <= middle else Fraction(power, 2)


def check(
    panel: PosedPanel,
    result: str | None,
    proof: Path | bytes,
    limits: ProofLimits,
    signs: TreeRule = least_of_signs,
) -> ProofVerdict:
    """Check a proof, a file or its bytes, of what a result (JSON) claims about a panel, or of the claims in the proof.

    `signs` is what bounds trees of signs.
    """
    work = WorkLeft(limits.work)
    try:
        answer = None if result is None else _answer(panel, result)

        def goals(claims: Any) -> list[Goal]:
            if claims is not None:
                return ClaimReader(panel, answer, work).goals(claims)
            if answer is None:
                raise BadInputError("the proof is about a result: name its file, too")
            return [Goal(panel.terms(answer.claim.loss, work), panel.pins)]

        proved = Checker(panel, work, goals, signs).proved(ProofLines(proof, limits.bytes))
    except ProofRefusedError as error:
        return ProofVerdict("refused", str(error), line=error.line)
    if answer is not None and not proved[0].words:
        return _nearest(panel, answer, proved[0])
    claims = tuple(map(_proved_claim, proved))
    word = "weak" if any(one.word == "weak" for one in claims) else "proved"
    return ProofVerdict(word, leaves=dict(sum((goal.leaves for goal in proved), Counter())), claims=claims)


def _answer(panel: PosedPanel, result: str) -> CheckedResult:
    claim = read_claim(result)
    if claim.digest != panel.digest:
        raise ProofRefusedError("the result was made from another panel, or with other laws")
    return CheckedResult(claim, checked_mixture(panel, claim))


def _lower(goal: Goal) -> Fraction:
    """L: what records prove, and a number below what terms lose that logic settles."""
    costs = [term.cost for term in goal.terms if term.settled is not None]
    known = [one.settled(True) for one in costs if not isinstance(one, LinearisedCost | LinearCost)]
    return sum(map(rounded_down, known), goal.value)


def _proved_claim(goal: Goal) -> ProvedClaim:
    away = goal.least - _lower(goal)
    lacking = goal.linear and bool(goal.unused)
    if away <= 0 and not lacking and not goal.failed:
        return ProvedClaim("proved", goal.words)
    why = goal.failed or ("a part of it has no record" if lacking else f"{shown(away, up=True)} are missing")
    return ProvedClaim("weak", f"it is not proved that {goal.words}: {why}")


def _nearest(panel: PosedPanel, answer: CheckedResult, goal: Goal) -> ProofVerdict:
    """The verdict on the claim of a result, that no answer loses less."""
    terms, unused = goal.terms, sorted(goal.unused)
    upper, lower = loss_above(answer.mixture, terms), _lower(goal)
    if lower > upper + goal.prices * KEPT:
        return ProofVerdict("refused", FAULT)
    tolerance = answer.claim.tolerance
    proved = upper - lower <= tolerance * max(unit(panel), upper)
    why = f"nothing is proved of {len(unused)} terms, such as {terms[unused[0]].text!r}" if unused else ""
    word, leaves = "proved" if proved else "weak", dict(goal.leaves)
    return ProofVerdict(word, why, upper, lower, tolerance=tolerance, leaves=leaves)


def check_files(
    panel: Path,
    result: Path | None,
    proof: Path,
    *,
    laws: Path | None = None,
    options: ReadingOptions | None = None,
    limits: ProofLimits | None = None,
) -> ProofVerdict:
    """Check a proof of a result about the panel of a file."""
    posed = read_panel(panel, laws, options or ReadingOptions())
    return check(posed, None if result is None else read_text(result), proof, limits or ProofLimits())
