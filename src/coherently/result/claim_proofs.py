"""Proofs of what a result implies: bounds of events, and the penalty that it saves in every world.

A claim is written a little weaker than what the solver found, so that the checker, which rounds nothing away, can
prove it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from coherently.errors import MethodError
from coherently.panel.canonical import canonical_text
from coherently.proofcheck.check_errors import BadInputError, ProofRefusedError
from coherently.proofcheck.claimed_mixture import WorldMixture, read_claim
from coherently.proofcheck.forecast_files import canonical_lines
from coherently.proofcheck.language import normal
from coherently.proofcheck.leaves import WorkLeft
from coherently.proofcheck.posed_panel import PosedPanel
from coherently.proofcheck.proof_records import FORM
from coherently.proofcheck.stated_claims import CheckedResult, ClaimReader
from coherently.result.bounds import bound_proof
from coherently.result.proof_file import packed, records
from coherently.result.touching_points import HintedPoints
from coherently.result.written_forces import WrittenForms, written_forms
from coherently.solve import Global

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.panel import Panel
    from coherently.proofcheck.posed_panel import PosedPin, PosedTerm
    from coherently.result.result import Result
    from coherently.result.touching_points import TouchingPoints
    from coherently.solve import Budget

LOOSER = 1e-7
"""By how much bounds are claimed weaker: it covers the rounding of prices. Savings are weaker by this share."""
DIGITS = 9
"""Digits after the point of the numbers of claims."""


@dataclass(frozen=True, slots=True)
class LinearPoints:
    """What is linear needs no planes; it has `prices` of pins."""

    prices: Mapping[int, float] = field(default_factory=dict)

    def at(self, term: PosedTerm) -> tuple[float, float, float]:  # noqa: ARG002
        """Nothing is touched."""
        return 0.0, 1.0, 0.0

    def price(self, pin: int) -> float:
        """The price of a pin."""
        return self.prices.get(pin, 0.0)

    def is_other_side(self, term: PosedTerm) -> bool:  # noqa: ARG002
        """Without forces it does not matter."""
        return False


@dataclass(frozen=True, slots=True)
class WrittenClaim:
    """A claim, and the hints for it."""

    told: dict[str, Any]
    points: TouchingPoints
    forms: WrittenForms = field(default_factory=WrittenForms)


def posed(panel: Panel) -> PosedPanel:
    """A panel as the checker reads it."""
    return PosedPanel(canonical_lines(canonical_text(panel).decode("utf-8", "surrogatepass")))


def claims_file(reader: ClaimReader, claims: Sequence[WrittenClaim]) -> bytes:
    """A proof of claims: the checker's own goals, with records for each."""
    lines = [
        line
        for i, claim in enumerate(claims)
        for line in records(reader.panel, reader.goal(claim.told), claim.points, claim.forms, claim=i)
    ]
    first = FORM | {"sha256": reader.panel.digest, "claims": [claim.told for claim in claims]}
    return packed(first, lines)


def written_number(value: float | Fraction, *, up: bool = False) -> str:
    """A number of a claim, rounded down, or up."""
    scaled = Fraction(value) * 10**DIGITS
    whole = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    text = f"{'-' if whole < 0 else ''}{abs(whole) // 10**DIGITS}.{abs(whole) % 10**DIGITS:0{DIGITS}d}"
    return text.rstrip("0").rstrip(".")


def exact_number(value: Fraction) -> str:
    """A number of a claim to the last digit: a decimal if it is one."""
    text = format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    return text if Fraction(text) == value else str(value)


def implied_proof(result: Result, events: Sequence[str], *, saving: bool, budget: Budget) -> bytes:
    """A proof of the implied bounds of events, and of what is saved, if that is more than rounding."""
    if not isinstance(result.solution, Global) or result.claimed is not None:
        raise MethodError(
            "what a result implies can be proved for the methods exact and auto: aggregate the panel again"
        )
    try:
        panel, claim = posed(result.panel), read_claim(result.to_json())
        reader = ClaimReader(panel, CheckedResult(claim, WorldMixture(panel.space, claim.parts)), WorkLeft())
        claims = [one for event in events for one in _bounds(result, event, reader, budget.share(1 / len(events)))]
        if saving and (result.solution.guaranteed_improvement or 0.0) > LOOSER:
            claims.append(_saving(result, result.solution, panel))
        if not claims:
            raise MethodError("nothing is claimed: name events, or prove a result that guarantees an improvement")
        return claims_file(reader, claims)
    except (BadInputError, ProofRefusedError) as error:
        raise MethodError(f"the checker of proofs cannot read this panel: {error}") from None


def _bounds(result: Result, event: str, reader: ClaimReader, budget: Budget) -> list[WrittenClaim]:
    """The claims of both ends of an event."""
    text = normal(result.panel.text_of(event))
    proof, pins = bound_proof(result, text, budget, LOOSER), reader.pins()
    sides = _sides(result.panel, pins)
    claims = []
    for end, level, prices in (("least", proof.low, proof.low_prices), ("most", proof.high, proof.high_prices)):
        told = {"kind": "bound", "event": text, end: written_number(min(max(level, 0.0), 1.0), up=end == "most")}
        points = LinearPoints(_of_pins(prices, pins, sides) if 0.0 < level < 1.0 else {})
        claims.append(WrittenClaim(told, points))
    return claims


def _sides(panel: Panel, pins: Sequence[PosedPin]) -> dict[tuple[int, int], list[tuple[int, bool]]]:
    """The checker's pins by the sides of E & H and H that they are about, or the complement of E is."""
    told, written = panel.laws.pins, panel.written
    count = len({normal(text) for text in told.text})
    stated = zip(map(normal, told.text), told.event.tolist(), told.event.tolist(), told.condition.tolist(), strict=True)
    forecast = zip(
        map(normal, written.text),
        written.event.tolist(),
        written.rest.tolist(),
        written.condition.tolist(),
        strict=True,
    )
    by_text = [{text: (*sides,) for text, *sides in rows} for rows in (stated, forecast)]
    found: dict[tuple[int, int], list[tuple[int, bool]]] = {}
    for i, pin in enumerate(pins):
        joint, rest, condition = by_text[i >= count][pin.text]
        found.setdefault((joint, condition), []).append((i, False))
        if i >= count:
            found.setdefault((rest, condition), []).append((i, True))
    return found


def _of_pins(
    prices: Mapping[tuple[int, int], float],
    pins: Sequence[PosedPin],
    sides: Mapping[tuple[int, int], Sequence[tuple[int, bool]]],
) -> dict[int, float]:
    """Prices of the checker's pins: of several about one event, the one whose end is worth most has it."""
    found: dict[int, float] = {}
    for key, price in prices.items():
        if not price or key not in sides:
            continue

        def worth(one: tuple[int, bool], price: float = price) -> float:
            low, high = pins[one[0]].low, pins[one[0]].high
            low, high = (1 - high, 1 - low) if one[1] else (low, high)
            return price * float(low if price > 0 else high)

        pin, turned = max(sides[key], key=worth)
        found[pin] = found.get(pin, 0.0) + (-price if turned else price)
    return found


def _saving(result: Result, solution: Global, panel: PosedPanel) -> WrittenClaim:
    saved, hints = solution.guaranteed_improvement, solution.hints
    assert saved is not None
    told = {"kind": "saving", "least": written_number(max(0.0, saved - LOOSER * max(1.0, saved)))}
    points = LinearPoints() if hints is None else HintedPoints(result, hints)
    return WrittenClaim(told, points, written_forms(result, panel, hints))
